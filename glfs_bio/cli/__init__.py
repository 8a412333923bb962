"""``glfs-bio``: gene selection from the shell."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from . import commands_files, commands_panel, commands_select
from .command import signatures

__all__ = ["COMMANDS", "app", "signatures", "with_options"]

#: click's own, and the short one.
_SETTINGS = {"help_option_names": ["-h", "--help"]}
#: How the help of all commands is written.
_MARKUP: Final = "markdown"

#: The commands, in the order of the help.
COMMANDS = {
    one.__name__: one
    for one in (
        commands_select.select,
        commands_select.rank,
        commands_panel.evaluate,
        commands_select.extend,
        commands_panel.substitutes,
        commands_panel.explain,
        commands_files.efficiency,
        commands_panel.markers,
        commands_panel.compare,
        commands_select.curve,
        commands_select.stability,
        commands_panel.classify,
        commands_panel.predict,
        commands_panel.enrich,
        commands_files.export,
        commands_files.order,
        commands_files.report,
        commands_select.demo,
    )
}


class _Commands(TyperGroup):
    """Lists the commands by their first paragraphs, and makes the options of the one that runs."""

    def __init__(self, **settings: Any) -> None:
        said = {name: (one.__doc__ or "").partition("\n\n")[0] for name, one in COMMANDS.items()}
        listed = {name: TyperCommand(name, help=text) for name, text in said.items()}
        super().__init__(**settings | {"commands": listed})

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in the order of the help."""
        return [*COMMANDS]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is to run, with its options."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else with_options(name), rest


@cache
def with_options(name: str) -> Any:
    """A command with its options."""
    alone = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    alone.command(name, context_settings=_SETTINGS)(COMMANDS[name]())
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
) -> None:
    """Select gene panels that preserve the structure of single-cell data.

    Results go to stdout or to files, messages to stderr.  A file is written completely or not at
    all.  `-` instead of a file is stdin or stdout.  Exit codes: 0 success, 1 invalid data or
    value, 2 invalid command line.
    """
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
