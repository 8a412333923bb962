"""``glfs-bio evaluate``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any, cast

import numpy as np
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

#: Labels that the summary names.
_WORST = 3


@grouped
def evaluate(
    source: options.Source,
    panel: options.Panel,
    structure: Structure,
    preserve: Preserve,
    labels: options.Labels = None,
    output: options.Output = None,
    table: options.Table = None,
    per_label: Annotated[
        Path | None, typer.Option(help="Table of the labels, with --labels: .csv or .tsv.")
    ] = None,
    missed: Annotated[
        Path | None, typer.Option(help="Table of what the panel misses: .csv or .tsv.")
    ] = None,
    counts_layer: options.CountsLayer = None,
    failure: options.Failure = None,
    n_random: Annotated[int, typer.Option(help="Random panels of the same size.")] = 20,
    n_directions: Annotated[int, typer.Option(help="Directions that --missed lists.")] = 5,
    symbols: options.Symbols = None,
    missing: options.Missing = "warn",
    key_added: options.KeyAdded = "glfs_evaluation",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Judge a panel: what it keeps of the cells, and what it misses; prints measures, with tabs.

    Example: glfs-bio evaluate pbmc.h5ad catalogue.csv --labels cell_type --table measures.tsv
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(
            source,
            cells=output,
            table=table,
            per_label=per_label,
            missed=missed,
            overwrite=overwrite,
        )
        if per_label is not None and labels is None:
            msg = f"--per-label {per_label} needs --labels: name their column of obs."
            raise ValueError(msg)
        named = values.panel(panel)
        kept = preserve.arguments()
        adata = files.load(source, transpose=transpose, log1p=log1p)
        structure.prepare(adata, named, kept=output is not None)
        glfs_bio.tl.evaluate_panel(
            adata,
            named,
            labels,
            counts_layer=counts_layer,
            failure=None if failure is None else values.number_or_name(failure),
            n_random=n_random,
            n_directions=n_directions,
            symbols=symbols,
            missing=cast("Any", missing),  # evaluate_panel checks it
            **kept,
            structure_key=structure.structure_key,
            key_added=key_added,
            random_state=structure.random_state,
            show_progress=messages.errors.is_terminal,
        )
        entry = adata.uns[key_added]
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        for line in _summary(entry):
            messages.note(line)
        if per_label is not None:
            frame = entry["per_label"].reset_index()
            files.put_table(frame, per_label, overwrite=overwrite)
        if missed is not None:
            files.put_table(entry["missed"], missed, overwrite=overwrite)
        import pandas as pd

        measures = pd.DataFrame(_measures(entry), columns=["measure", "value"], dtype=object)
        files.put_table(measures, table, overwrite=overwrite)


def _measures(entry: dict[str, Any]) -> list[tuple[str, float]]:
    """Every number, and of the random panels the mean."""
    found = []
    for name, value in entry.items():
        if isinstance(value, int | float):
            found.append((name, value))
        elif name == "random_kept" and len(value):
            found.append(("random_kept_mean", value.mean()))
    return found


def _summary(entry: dict[str, Any]) -> list[str]:
    """What matters most, a line each."""
    percent = results.percent
    random = entry["random_kept"]
    beside = f"; random panels keep {percent(random.mean())}" if len(random) else ""
    told = [
        f"{entry['n_genes']} genes keep {results.kept(entry, entry['kept'])}, at least "
        f"{percent(entry['of_best_possible'])} of the best possible{beside}"
    ]
    if "kept_with_failures" in entry:
        told.append(f"with failures they keep {percent(entry['kept_with_failures'])} on average")
    if "batches" in entry:
        kept = entry["kept_in_batches"]
        least = int(np.nanargmin(kept))
        told.append(
            f"of the {len(kept)} batches least is kept of {entry['batches'][least]}: "
            f"{percent(kept[least])}"
        )
    if "accuracy" in entry:
        worst = entry["per_label"].sort_values("f1", kind="stable").head(_WORST)
        names = ", ".join(f"{name} ({f1:.2f})" for name, f1 in worst["f1"].items())
        told.append(
            f"accuracy {entry['accuracy']:.2f}, macro-F1 {entry['macro_f1']:.2f}; least F1: {names}"
        )
    told.append(
        f"{percent(entry['neighbors_kept'])} of the nearest cells kept; median R² of the "
        f"structure of unmeasured genes {entry['imputed']:.2f}"
    )
    if "counts_share" in entry:
        told.append(f"the panel takes {percent(entry['counts_share'])} of all counts")
    first = entry["missed"].iloc[0]
    genes = " against ".join(first[side] for side in ("genes_up", "genes_down") if first[side])
    where = f", in {first['labels']}" if first.get("labels") else ""
    told.append(f"it misses most {genes}{where}")
    return told
