"""Panels for another technology: with what it detects of each gene, without, and from 0 and 1.

python benchmarks/panels/detection.py

The pairs and the measures of `labels_transfer.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import metrics
import numpy as np
import pandas as pd
from labels_transfer import PARTS, trials
from trials import LABEL, SIZES, Trial, logistic_regression

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

WAYS = {
    "as it is": {},
    "with detection": {"detection": True},
    "from 0 and 1": {"layer": "expressed"},
    "from 0 and 1, with detection": {"layer": "expressed", "detection": True},
}


def chosen(trial: Trial, preserve: str, options: dict) -> list[int]:
    """Genes of the largest panel, best first."""
    adata = trial.chosen.adata
    adata.layers["expressed"] = (adata.X > 0).astype(np.float64)
    options = dict(options)
    if options.pop("detection", False):
        options["detection"] = trial.measured.adata
    frame = glfs_bio.pp.select_genes(
        adata, max(SIZES), preserve=preserve, use_rep="X", inplace=False, **options
    )
    ranks = frame.loc[frame["glfs_selected"], "glfs_rank"].sort_values()
    return list(adata.var_names.get_indexer(ranks.index))


def rows(name: str):
    """Every pair of parts of one set, and every way."""
    for (_, *pair), trial in trials(name).items():
        for kept, preserve in (("labels", LABEL), ("structure", "structure")):
            for way, options in WAYS.items():
                genes = chosen(trial, preserve, options)
                for size in SIZES:
                    panel = metrics.Panel(trial.measured, genes[:size])
                    yield {
                        "set": name,
                        "pair": " → ".join(pair),
                        "kept": kept,
                        "way": way,
                        "genes": size,
                        "accuracy": metrics.accuracy(panel),
                        "macro-F1": metrics.macro_f1(panel),
                        "logistic regression": logistic_regression(trial, genes[:size]),
                    }


def main() -> None:
    """Choose, measure, write."""
    values = pd.DataFrame([row for name in PARTS for row in rows(name)])
    marks = ["accuracy", "macro-F1", "logistic regression"]
    keys = ["kept", "way"]
    of_sets = values.groupby([*keys, "genes", "set"], sort=False)[marks].mean()
    overall = of_sets.groupby(keys, sort=False).mean().round(4)
    parts = []
    for mark in marks:
        table = of_sets[mark].groupby([*keys, "genes"], sort=False).mean().unstack("genes")
        parts.append(f"## {mark}\n\n{table.round(3).to_markdown()}")
    report.write(
        "panels_detection",
        "Panels for another technology, with and without what it detects of each gene",
        overall,
        "Means over the sizes 10, 25, 50 and 100, over pairs of protocols (mixture of cell lines) "
        "or controls and stimulated cells (Kang), and over the two sets. `detection` is the object "
        "of the cells that the panel is measured on, without their labels. 0 and 1: whether a cell "
        "expresses a gene is all that the selection sees; what is measured are logarithms all the "
        "same. Logistic regression is fitted where the genes were chosen.",
        *parts,
    )


if __name__ == "__main__":
    main()
