"""``glfs-bio``: gene selection from the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from ._commands import MARKUP, SETTINGS, Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=MARKUP,
    context_settings=SETTINGS,
)


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option(help="Print the version and stop.")] = False,
) -> None:
    """Find the few genes that keep the structure of an expression matrix.

    Results go to stdout or to the files that are named, everything else to stderr.  Files appear
    whole or not at all.  In place of a file `-` is stdin or stdout.  Exit codes: 0 done, 1
    the data or a value cannot be used, 2 the command line cannot be understood.
    """
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
