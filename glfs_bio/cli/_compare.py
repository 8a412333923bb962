"""``glfs-bio compare``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

import glfs_bio

from ..errors import InvalidValue
from . import _files as files
from . import _options as options
from . import _results as results
from . import _values as values
from ._command import command, given

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.compare_panels``."""

    labels: options.Labels = None
    counts_layer: options.CountsLayer = None
    symbols: options.Symbols = None
    key_added: options.KeyAdded = "glfs_comparison"


@dataclass(frozen=True, kw_only=True)
class Written(options.Written):
    """Files for cells and tables."""

    overlaps: Annotated[
        Path | None,
        "File for the overlap of each pair of panels: .csv or .tsv.",
        files.Writes(tuple(files.TABLES)),
    ] = None


def _named(words: list[str], argument: str) -> dict[str, Any]:
    """Panels by their names."""
    named: dict[str, Any] = {}
    for word in words:
        name, _, panel = word.partition("=")
        if not name or not panel:
            raise InvalidValue(
                argument, word, "has no name", "write ours=glfs, or theirs=catalogue.csv"
            )
        if name in named:
            raise InvalidValue(argument, word, "has the name of another panel", "give it its own")
        named[name] = values.panel(panel)
    if len(named) < 2:
        raise InvalidValue(argument, words, "is one panel", "name at least two")
    return named


@command
def compare(
    cells: options.Cells,
    panels: Annotated[
        Any,
        typer.Argument(
            metavar="NAME=PANEL...",
            help="Name and panel, as in `evaluate`; at least two.",
        ),
        values.As(list[str], _named),
    ],
    target: options.Target,
    arguments: Arguments,
    structure: options.Structure,
    written: Written,
) -> None:
    """Evaluate several panels by the same measures; prints one row per panel as TSV.

    Example: glfs-bio compare panel.h5ad ours=glfs theirs=catalogue.csv --labels cell_type
    """
    adata = cells.load()
    preserve = target.of_panel(adata, next(iter(panels.values())), structure)
    glfs_bio.tl.compare_panels(
        adata,
        panels,
        **given(arguments),
        **preserve,
        random_state=structure.seed,
    )
    found = adata.uns[arguments.key_added]
    pairs, measures = _pairs(found), found["table"].reset_index().convert_dtypes()
    written.put(adata, measures, *_summary(found, pairs), beside={written.overlaps: pairs})


def _pairs(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the overlap of each pair of panels, one row per pair."""
    import pandas as pd

    names = ("shared", "jaccard", "jaccard_with_substitutes")
    return pd.DataFrame(
        [
            {"panel": one, "other": other, **{name: found[name].loc[one, other] for name in names}}
            for one, other in combinations(found["shared"].index, 2)
        ]
    )


def _summary(entry: dict[str, Any], pairs: pd.DataFrame) -> list[str]:
    lines = []
    for name, row in entry["table"].iterrows():
        line = (
            f"{name}: {row['n_genes']:.0f} genes preserve "
            f"{results.preserved(entry, row['preserved'])}"
            f"{results.certified(row['optimality'])}"
        )
        lines.append(f"{line}; accuracy {row['accuracy']:.2f}" if "accuracy" in row else line)
    for _, row in pairs.iterrows():
        lines.append(
            f"{row['panel']} and {row['other']} share {row['shared']} genes: Jaccard index "
            f"{row['jaccard']:.2f}, with substitutes {row['jaccard_with_substitutes']:.2f}"
        )
    return lines
