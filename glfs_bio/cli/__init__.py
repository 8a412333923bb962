"""``glfs-bio``: gene selection from the shell."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from .._signatures import Parameter, kept

#: click's own, and the short one.
_SETTINGS = {"help_option_names": ["-h", "--help"]}
#: Where the words of a line are kept while it is read.
_WORDS = f"{__name__}.words"
#: How the help of all commands is written.
_MARKUP: Final = "markdown"

#: The modules of the commands, in the order of the help.
COMMANDS = {
    "select": "commands_select",
    "rank": "commands_select",
    "evaluate": "commands_panel",
    "extend": "commands_select",
    "substitutes": "commands_panel",
    "replace": "commands_panel",
    "explain": "commands_panel",
    "gene": "commands_panel",
    "prove": "commands_panel",
    "efficiency": "commands_files",
    "markers": "commands_panel",
    "stability": "commands_select",
    "classify": "commands_panel",
    "predict": "commands_panel",
    "enrich": "commands_panel",
    "export": "commands_files",
    "order": "commands_files",
    "report": "commands_files",
    "demo": "commands_select",
}


def _function(name: str) -> Any:
    return getattr(import_module(f".{COMMANDS[name]}", __package__), name)


def functions() -> dict[str, str]:
    """Return the functions whose records the commands have; empty where there is none."""
    for name in COMMANDS:
        _function(name)
    from .command import CALLED

    return {name: CALLED[name] for name in COMMANDS}


def signatures() -> str:
    """Return the text of the file that has what help knows without importing it."""
    summaries = {name: _function(name).__doc__.partition("\n\n")[0] for name in COMMANDS}
    said = {name: Parameter(name, "", "", text) for name, text in summaries.items()}
    from .command import signatures as of_functions

    return of_functions({"glfs-bio": said})


class _Commands(TyperGroup):
    """Lists the commands by their first paragraphs, and imports the one that runs."""

    def __init__(self, **settings: Any) -> None:
        listed = {name: TyperCommand(name, help=kept("glfs-bio")[name].text) for name in COMMANDS}
        super().__init__(**settings | {"commands": listed})

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in the order of the help."""
        return [*COMMANDS]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is to run, with its options."""
        ctx.meta[_WORDS] = args
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else with_options(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run a command; with ``--json`` a line that cannot be understood has its document."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            words = ctx.meta.get(_WORDS, [])
            if hasattr(error, "format_message") and "--json" in words:
                from .document import Document

                command = words[0] if words[0] in COMMANDS else None
                problem = error.format_message()
                remedy = " ".join(["see glfs-bio", *([command] if command else []), "--help"])
                Document(command).fail(
                    type(error).__name__, problem, problem=problem, remedy=remedy
                )
            raise


@cache
def with_options(name: str) -> Any:
    """A command with its options."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    alone.command(name, context_settings=_SETTINGS)(_function(name)())
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=_MARKUP,
    context_settings=_SETTINGS,
)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of --json and stop.")
    ] = False,
) -> None:
    """Select gene panels that preserve the structure of single-cell data.

    Results go to stdout or to files, messages to stderr; with `--json` stdout is one JSON document.
    A file is written completely or not at all.  `-` instead of a file is stdin or stdout.  Exit
    codes: 0 success, 1 invalid data or value, 2 invalid command line.
    """
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
    if schema:
        from . import document

        typer.echo(json.dumps(document.schema(functions()), indent=1))
        raise typer.Exit
