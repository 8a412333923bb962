"""Panels of glfsbio and of scran's getTopHVGs on the same SingleCellExperiment."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from session import rscript

COLUMNS = [
    *("genes", "method", "time (s)", "accuracy", "macro-F1", "rare F1", "neighbours kept"),
    *("clusters kept", "structure kept"),
]


def main() -> None:
    """Needs R and the package, as make test installs them."""
    data = Path(os.environ.get("GLFS_BIO_DATA", "../shared/data")) / "pbmc3k_2638.h5ad"
    said = rscript(Path(__file__).with_suffix(".R"), data)
    table = pd.read_csv(io.StringIO(said), sep="\t", names=COLUMNS)
    report.write(
        "r_hvgs",
        "glfs_select_genes() and scran's getTopHVGs() on the same cells",
        table.sort_values("genes", kind="stable").set_index("genes").round(3),
        "pbmc3k, 2,638 cells, from logcounts: two calls with scran (modelGeneVar, getTopHVGs), one "
        "here. Time of a selection of 200 genes in a session in which each has run before, one "
        "thread; measures of glfs_evaluate_panel(): labels predicted from the 15 nearest cells in "
        "the panel, nearest cells and clusters of all genes. The structure kept is what glfsbio "
        "chooses by, so that it says nothing of scran.",
    )


if __name__ == "__main__":
    main()
