"""What well-known markers cost a panel.

python -m benchmarks.prefer
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glfs_bio
from glfs_bio._anndata.names import is_member

from . import instruments, tables
from .data import KANG, LABEL, SETS, load, prepared, read
from .measures import neighbour_accuracy
from .tables import say, section

if TYPE_CHECKING:
    from anndata import AnnData

SIZE = 120
#: Two of blood, sorted blood, pancreas, and cortex of mouse.
DATASETS = {
    KANG: partial(load, KANG),
    SETS[0]: partial(load, SETS[0]),
    "pbmc_facs3774": lambda: prepared(read("pbmc_facs3774")),
    SETS[1]: partial(load, SETS[1]),
    "cortex_zeisel": lambda: instruments.prepared(instruments.counts("cortex_zeisel_ref", "pairs")),
}
TARGETS = {"structure": {}, "labels": {"preserve": LABEL}}
MARKERS = "common_markers"
#: Genes that an immunologist looks for in blood.
T_CELLS = ["CD8A", "CD4", "IL7R", "GZMK"]


def measured(adata: AnnData, **options) -> dict:
    """Return what a panel holds, and how well labels are predicted from it."""
    glfs_bio.pp.select_genes(adata, SIZE, **options)
    genes = np.flatnonzero(adata.var["glfs_selected"])
    panel = adata.var_names[genes]
    values, labels = adata.X[:, genes].toarray(), np.asarray(adata.obs[LABEL].astype(str))
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    return {
        "markers": sum(is_member(gene, MARKERS) for gene in panel),
        "preserved": adata.uns["glfs"]["preserved"][-1],
        "15-NN": neighbour_accuracy(adata.X[:, genes], labels),
        "logistic": cross_val_score(logistic, values, labels, cv=3).mean(),
        "of T cells": ", ".join(gene for gene in T_CELLS if gene in panel) or "–",
    }


def compared(name: str, adata: AnnData, prefer: str | list[str]) -> list[dict[str, str]]:
    """Return a row per target: the panel without preferred genes, and what these change."""
    rows = []
    for target, options in TARGETS.items():
        plain, preferring = measured(adata, **options), measured(adata, **options, prefer=prefer)
        row = {"dataset": name, "target": target}
        for measure, value in plain.items():
            if isinstance(value, float):
                row[measure] = f"{value:.3f} ({preferring[measure] - value:+.4f})"
            else:
                row[measure] = f"{value} → {preferring[measure]}"
        rows.append(row)
        say(f"{name}, {target}: done")
    return rows


def main() -> None:
    """Write the tables."""
    tables.parser(__doc__).parse_args()
    rows = [row for name, cells in DATASETS.items() for row in compared(name, cells(), MARKERS)]
    of_kang = pd.DataFrame(compared(KANG, prepared(read(KANG)), T_CELLS)).set_index("dataset")
    table = pd.DataFrame(rows).set_index("dataset")
    few = section("Four genes of T cells, all cells of Kang", of_kang)
    tables.write("panels_prefer", table, few, n_genes=SIZE)


if __name__ == "__main__":
    main()
