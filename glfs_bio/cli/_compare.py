"""``glfs-bio compare``."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _results as results
from . import _values as values
from ._grouped import grouped
from ._preserve import Preserve  # noqa: TC001 - grouped reads it
from ._structure import Structure  # noqa: TC001 - grouped reads it

if TYPE_CHECKING:
    import pandas as pd


@grouped
def compare(
    source: options.Source,
    panels: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=PANEL...",
            help="What to call each panel, and the panel as in `evaluate`; at least two.",
        ),
    ],
    structure: Structure,
    preserve: Preserve,
    labels: options.Labels = None,
    output: options.Output = None,
    table: options.Table = None,
    overlaps: Annotated[
        Path | None, typer.Option(help="Table of what every two panels share: .csv or .tsv.")
    ] = None,
    counts_layer: options.CountsLayer = None,
    share: options.Share = 0.25,
    symbols: options.Symbols = None,
    missing: options.Missing = "warn",
    key_added: options.KeyAdded = "glfs_comparison",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Judge two or more panels by the same measures; prints a row a panel, with tabs.

    Example: glfs-bio compare panel.h5ad ours=glfs theirs=catalogue.csv --labels cell_type
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, overlaps=overlaps, overwrite=overwrite)
        named = _named(panels)
        kept = preserve.arguments()
        adata = files.load(source, transpose=transpose, log1p=log1p)
        structure.prepare(adata, next(iter(named.values())), kept=output is not None)
        glfs_bio.tl.compare_panels(
            adata,
            named,
            labels,
            counts_layer=counts_layer,
            share=share,
            symbols=symbols,
            missing=cast("Any", missing),  # compare_panels checks it
            **kept,
            structure_key=structure.structure_key,
            key_added=key_added,
            random_state=structure.random_state,
            show_progress=messages.errors.is_terminal,
        )
        found = adata.uns[key_added]
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        pairs, measures = _pairs(found), found["measures"].reset_index().convert_dtypes()
        for line in _summary(found, pairs):
            messages.note(line)
        if overlaps is not None:
            files.put_table(pairs, overlaps, overwrite=overwrite)
        files.put_table(measures, table, overwrite=overwrite)


def _named(words: list[str]) -> dict[str, Any]:
    """Panels by their names.

    Raises
    ------
    ValueError
        No name, one that occurs twice, or fewer than two panels.
    OSError, ImportError
        As :func:`glfs_bio.io.read_panel`.
    """
    named: dict[str, Any] = {}
    for word in words:
        name, _, panel = word.partition("=")
        if not name or not panel:
            msg = f"{word} must be NAME=PANEL, such as ours=glfs or theirs=catalogue.csv."
            raise ValueError(msg)
        if name in named:
            msg = f"{name} is the name of two panels: give each its own."
            raise ValueError(msg)
        named[name] = values.panel(panel)
    if len(named) < 2:
        msg = f"There is one panel ({words[0]}): at least two can be compared."
        raise ValueError(msg)
    return named


def _pairs(found: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """What every two panels share, a row a pair."""
    import pandas as pd

    names = ("shared", "jaccard", "jaccard_with_substitutes")
    return pd.DataFrame(
        [
            {"panel": one, "other": other, **{name: found[name].loc[one, other] for name in names}}
            for one, other in combinations(found["shared"].index, 2)
        ]
    )


def _summary(entry: dict[str, Any], pairs: pd.DataFrame) -> list[str]:
    told = []
    for name, row in entry["measures"].iterrows():
        line = (
            f"{name}: {row['n_genes']:.0f} genes keep {results.kept(entry, row['kept'])}, "
            f"at least {results.percent(row['of_best_possible'])} of the best possible"
        )
        told.append(f"{line}; accuracy {row['accuracy']:.2f}" if "accuracy" in row else line)
    for _, row in pairs.iterrows():
        told.append(
            f"{row['panel']} and {row['other']} share {row['shared']} genes: Jaccard index "
            f"{row['jaccard']:.2f}, with substitutes {row['jaccard_with_substitutes']:.2f}"
        )
    return told
