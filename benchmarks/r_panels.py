"""Panels of glfsbio, of scran and of geneBasis on the same SingleCellExperiment.

    python -m benchmarks.r_panels

Needs R and the package as `python -m benchmarks.r` does.  The panels of geneBasis are those that
are stored (`python -m benchmarks.peers` chooses them).
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import anndata as ad
import pandas as pd

from . import compared, tables
from .compared import SIZES
from .data import DATASETS, LABEL
from .r import rscript

SCRIPT = Path(__file__).with_suffix(".R")
TITLES = ("pbmc3k_2638", "baron_human1_1937")
GENEBASIS = "geneBasis"
ACCURACY, MACRO_F1, KNN = "accuracy", "macro-F1", "kNN preservation"
MEASURES = [ACCURACY, MACRO_F1, "rare F1", KNN, "cluster agreement", "preserved"]


def row_of(genes, method):
    """Return what a panel is called in the tables, by text or texts."""
    return genes + " genes, " + method


def panels(title: str) -> pd.DataFrame:
    """Compare the panels of all methods on a dataset."""
    cells = DATASETS[title]
    stored = compared.panels(GENEBASIS, cells)
    found = {size: stored.panel(size) for size in SIZES}
    with tempfile.TemporaryDirectory() as folder:
        counts, genes = Path(folder) / "counts.h5ad", Path(folder) / "genes.txt"
        raw, obs = cells.adata.layers["counts"], cells.adata.obs[[LABEL]]
        ad.AnnData(raw, obs, cells.adata.var[[]]).write_h5ad(counts)
        names = ["\t".join(cells.adata.var_names[one["genes"]]) for one in found.values()]
        genes.write_text("\n".join(names), encoding="utf-8")
        printed = rscript(counts, genes, script=SCRIPT)
    columns = ["method", "genes", "time (s)", *MEASURES]
    table = pd.read_csv(io.StringIO(printed), sep="\t", names=columns)
    table.loc[table["method"] == GENEBASIS, "time (s)"] = found[max(SIZES)]["seconds"]
    table["time (s)"] = table["time (s)"].map("{:.3g}".format)
    table = table.sort_values("genes", kind="stable").round(3)
    table.index = pd.Index(row_of(table["genes"].astype(str), table["method"]), name="panel")
    return table.drop(columns=["method", "genes"])


def main() -> None:
    """Run R on every dataset, write."""
    tables.parser(__doc__).parse_args()
    first, *others = TITLES
    more = [tables.section(title, panels(title)) for title in others]
    tables.write("r_panels", panels(first), *more, first=first, largest=max(SIZES))


if __name__ == "__main__":
    main()
