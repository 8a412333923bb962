"""``glfs-bio evaluate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import numpy as np

import glfs_bio

from ..errors import OBS, InvalidValue, arg
from . import _files as files
from . import _options as options
from . import _results as results
from ._command import command, given

#: Labels that the summary names.
_WORST = 3


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.evaluate_panel``."""

    labels: options.Labels = None
    counts_layer: options.CountsLayer = None
    n_random: Annotated[int, "Number of random panels of the same size."] = 20
    n_axes: Annotated[int, "Number of axes for --unexplained."] = 5
    symbols: options.Symbols = None
    key_added: options.KeyAdded = "glfs_evaluation"


@dataclass(frozen=True, kw_only=True)
class Tables(options.Written):
    """Files for cells and tables."""

    per_label: Annotated[
        Path | None,
        "File for the table of labels, with --labels: .csv or .tsv.",
        files.Writes(tuple(files.TABLES)),
    ] = None
    unexplained: Annotated[
        Path | None,
        "File for the unexplained axes: .csv or .tsv.",
        files.Writes(tuple(files.TABLES)),
    ] = None


@command
def evaluate(
    cells: options.Cells,
    panel: options.Panel,
    target: options.Target,
    arguments: Arguments,
    structure: options.Structure,
    platform: glfs_bio.Platform,
    tables: Tables,
) -> None:
    """Evaluate a panel: preserved structure, unexplained axes; prints measures as TSV.

    Example: glfs-bio evaluate pbmc.h5ad catalogue.csv --labels cell_type --table measures.tsv
    """
    if tables.per_label is not None and arguments.labels is None:
        raise InvalidValue(
            "per_label", tables.per_label, f"needs {arg('labels')}", f"name their column of {OBS}"
        )
    adata = cells.load()
    glfs_bio.tl.evaluate_panel(
        adata,
        panel,
        **given(arguments),
        **target.of_panel(adata, panel, structure),
        platform=platform,
        random_state=structure.seed,
    )
    import pandas as pd

    entry = adata.uns[arguments.key_added]
    measures = pd.DataFrame(_measures(entry), columns=["measure", "value"], dtype=object)
    beside = {tables.unexplained: entry["unexplained"]}
    if arguments.labels is not None:
        beside[tables.per_label] = entry["per_label"].reset_index()
    tables.put(adata, measures, *_summary(entry), beside=beside)


def _measures(entry: dict[str, Any]) -> list[tuple[str, float]]:
    """Return all numbers, and the mean of the random panels."""
    found = []
    for name, value in entry.items():
        if isinstance(value, int | float):
            found.append((name, value))
        elif name == "random_preserved" and len(value):
            found.append(("random_preserved_mean", value.mean()))
    return found


def _summary(entry: dict[str, Any]) -> list[str]:
    """Return the most important results, one line each."""
    percent = results.percent
    random = entry["random_preserved"]
    beside = f"; random panels preserve {percent(random.mean())}" if len(random) else ""
    lines = [
        f"{entry['n_genes']} genes preserve {results.preserved(entry, entry['preserved'])}"
        f"{results.certified(entry['optimality'])}{beside}"
    ]
    if "preserved_on_platform" in entry:
        lines.append(
            f"on the platform they preserve {_with_interval(entry, 'preserved_on_platform')}"
        )
    if "accuracy_on_platform" in entry:
        lines.append(f"accuracy there: {_with_interval(entry, 'accuracy_on_platform')}")
    if "batches" in entry:
        kept = entry["preserved_in_batches"]
        least = int(np.nanargmin(kept))
        lines.append(
            f"of {len(kept)} batches, {entry['batches'][least]} is preserved least: "
            f"{percent(kept[least])}"
        )
    if "accuracy" in entry:
        worst = entry["per_label"].sort_values("f1", kind="stable").head(_WORST)
        names = ", ".join(f"{name} ({f1:.2f})" for name, f1 in worst["f1"].items())
        lines.append(
            f"accuracy {entry['accuracy']:.2f} (all genes {entry['accuracy_all_genes']:.2f}), "
            f"macro-F1 {entry['macro_f1']:.2f}; lowest F1: {names}"
        )
    lines.append(
        f"{percent(entry['knn_preservation'])} of the nearest cells preserved; median R² of the "
        f"structure of unmeasured genes {entry['imputed']:.2f}"
    )
    if "counts_share" in entry:
        lines.append(f"{percent(entry['counts_share'])} of all counts are of the panel")
    first = entry["unexplained"].iloc[0]
    genes = " against ".join(first[side] for side in ("genes_up", "genes_down") if first[side])
    where = f", in {first['labels']}" if first.get("labels") else ""
    lines.append(f"largest unexplained axis: {genes}{where}")
    return lines


def _with_interval(entry: dict[str, Any], name: str) -> str:
    """Return a number and the ends of its interval."""
    value, low, high = (results.percent(entry[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{value} ({low} to {high})"
