"""The commands, of which one is imported when it is chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from ._run import known

#: click's own, and the short one.
SETTINGS = {"help_option_names": ["-h", "--help"]}
#: How the help of all commands is written.
MARKUP: Final = "markdown"

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
    "curve": "Say what panels of 1, 2, … genes keep; prints a row a size, with tabs.",
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


class Commands(TyperGroup):
    """Lists the commands by their summaries, and imports the one that runs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": _Imported()})

    def list_commands(self, ctx: Any) -> list[str]:
        """Names, in the order of the help."""
        return [*SUMMARIES]

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """What the help says of a command."""
        summary = SUMMARIES.get(cmd_name)
        return None if summary is None else TyperCommand(cmd_name, help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is to run, with its options."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else self.commands[name], rest


class _Imported(Mapping[str, Any]):
    """Every command with its options, by its name."""

    def __getitem__(self, name: str) -> Any:
        return _imported(name)

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


@cache
def _imported(name: str) -> Any:
    function = getattr(import_module(f"._{name}", __package__), name)
    alone = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
    alone.command(name, context_settings=SETTINGS)(known(function))
    return typer.main.get_command(alone)
