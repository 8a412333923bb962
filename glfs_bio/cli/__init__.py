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

#: Summary of each command in ``glfs-bio --help``: the first paragraph of its docstring.
SUMMARIES = {
    "select": "Select genes; prints them, best first, unless --genes names a file.",
    "rank": "Rank all genes by one method; prints gene, score, rank, weight and loss, best first.",
    "evaluate": "Evaluate a panel: preserved structure, unexplained axes; prints measures as TSV.",
    "extend": "Add genes to a panel; prints gene, added share and preserved share as TSV.",
    "substitutes": "Find genes that can replace a gene of a panel; prints them as TSV, best first.",
    "explain": "Explain each gene of a panel: contribution, labels, substitute; prints TSV.",
    "efficiency": "Estimate the detection efficiency of each gene; prints a table as TSV.",
    "markers": "Find the markers of each label in a panel; prints them with their scores as TSV.",
    "compare": "Evaluate several panels by the same measures; prints one row per panel as TSV.",
    "curve": "Compute the preserved structure of every panel size; prints a table as TSV.",
    "stability": "Repeat a selection on subsamples of the cells; prints frequencies as TSV.",
    "classify": "Classify cells by a few genes; prints cell, label and prediction as TSV.",
    "predict": "Predict labels by a classifier; prints cell, prediction and margin as TSV.",
    "enrich": "Find the gene sets that are enriched in a selection; prints a table as TSV.",
    "export": "Write the selected genes to files; their endings are the formats.",
    "order": "Order a panel, every gene checked; prints the genes as TSV.",
    "report": "Write a selection as one HTML file that needs no network.",
    "demo": "Select 25 genes of 700 blood cells from scanpy; prints a table, needs no network.",
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
    """Select gene panels that preserve the structure of single-cell data.

    Results go to stdout or to files, messages to stderr.  A file is written completely or not at
    all.  `-` instead of a file is stdin or stdout.  Exit codes: 0 success, 1 invalid data or
    value, 2 invalid command line.
    """
    if version:
        from .. import __version__

        typer.echo(__version__)
        raise typer.Exit
