"""``glfs-bio``: gene panels from the shell."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .call import Call, door, print_text
from .commands import COMMANDS, run_function
from .options import check_files, signature

_HELP = {"help_option_names": ["-h", "--help"]}


@cache
def with_options(name: str) -> Any:
    """Return a command with its options, which are read from the source of its function."""
    command, options = COMMANDS[name], COMMANDS[name].options()
    by_name = {option.name: option for option in options}
    commands = {row.function: f"glfs-bio {name}" for name, row in reversed(COMMANDS.items())}

    def run(*, json: bool, debug: bool, **line: Any) -> None:
        call = Call(name, command, door(by_name, commands), as_json=json)
        with call.reporting(debug=debug):
            check_files(options, line)
            if json:
                print_text("")  # is refused where stdout is closed
            call.values = {
                argument: by_name[argument].read(value, argument)
                for argument, value in line.items()
                if value not in (None, [], by_name[argument].default)
            }
            (command.run or run_function)(call)
            for option in options:
                for path in option.paths(line) if option.file == "w" else []:
                    call.wrote(option.spelling, path)

    run.__signature__ = signature(options)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False)
    text = f"{command.summary}\n\nExample: glfs-bio {name} {command.example}"
    app.command(name, help=text, context_settings=_HELP)(run)
    return typer.main.get_command(app)


class _Commands(TyperGroup):
    """Lists the commands, and makes the options of the one that runs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": dict.fromkeys(COMMANDS)})

    def get_command(self, _: Any, name: str) -> Any:
        """Return a command as the help lists it, or None."""
        return TyperCommand(name, help=COMMANDS[name].summary) if name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is to run, with its options."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and with_options(str(name)), rest


app = typer.Typer(
    cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False, context_settings=_HELP
)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the schema of --json.")] = False,
) -> None:
    """Select gene panels that preserve the structure of single-cell data.

    Results go to stdout, tables as TSV, or to files, messages to stderr; with
    --json stdout is one JSON document. A file is written completely or not at
    all. Exit codes: 0 success, 1 invalid data or value, 2 invalid command line.
    """
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
    if schema:
        typer.echo(Path(__file__).with_name("schema.json").read_text("utf-8"), nl=False)
        raise typer.Exit
