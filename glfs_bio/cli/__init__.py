"""``glfs-bio``: gene selection from the shell; a command is imported when it is chosen."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

#: click's own, and the short one.
_SETTINGS = {"help_option_names": ["-h", "--help"]}
#: How the help of all commands is written.
_MARKUP: Final = "markdown"

#: What ``glfs-bio --help`` says of each command: the first paragraph of its docstring.
SUMMARIES = {
    "select": "Select genes; prints them, best first, unless --genes names a file.",
    "rank": "Rank every gene by one method; prints gene, score, rank, weight and loss, best first.",
    "evaluate": (
        "Judge a panel: what it keeps of the cells, and what it misses; prints measures, with tabs."
    ),
    "extend": (
        "Find the genes that add most to a panel; prints gene, what it adds and what is kept."
    ),
    "substitutes": (
        "Find genes that can replace a gene of a panel; prints them for every gene, the best first."
    ),
    "explain": (
        "Say why each gene is in a panel: what is lost without it, whom it serves, its substitute."
    ),
    "markers": "Say for every label which genes of a panel mark it, and how well.",
    "compare": "Judge two or more panels by the same measures; prints a row a panel, with tabs.",
    "curve": "Say what panels of 1, 2, … genes preserve; prints a row a size, with tabs.",
    "stability": (
        "Repeat a selection on parts of the cells; prints how often each gene is selected, with "
        "tabs."
    ),
    "classify": "Predict labels from a few genes; prints cell, label and prediction, with tabs.",
    "predict": (
        "Predict labels of other cells by a classifier; prints cell, prediction and margin, with "
        "tabs."
    ),
    "enrich": "Find the gene sets that a selection is rich in; prints a table with tabs.",
    "export": "Write the selected genes; the endings of the files say in which formats.",
    "report": "Write a selection as one HTML file that needs no network.",
    "demo": (
        "Select 25 genes of 700 blood cells that scanpy ships; prints a table, needs no network."
    ),
}


class _Commands(TyperGroup):
    """Lists the commands by their summaries, and imports the one that runs."""

    def __init__(self, **settings: Any) -> None:
        listed = {name: TyperCommand(name, help=said) for name, said in SUMMARIES.items()}
        super().__init__(**settings | {"commands": listed})

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in the order of the help."""
        return [*SUMMARIES]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is to run, with its options."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else imported(name), rest


@cache
def imported(name: str) -> Any:
    """A command with its options."""
    function = getattr(import_module(f"._{name}", __package__), name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=_MARKUP)
    alone.command(name, context_settings=_SETTINGS)(function)
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
    """Find the few genes that keep the structure of an expression matrix.

    Results go to stdout or to the files that are named, everything else to stderr.  Files appear
    whole or not at all.  In place of a file `-` is stdin or stdout.  Exit codes: 0 done, 1
    the data or a value cannot be used, 2 the command line cannot be understood.
    """
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
