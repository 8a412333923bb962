"""Genes of scGeneFit for given labels: python scgenefit.py CELLS LABEL GENES SIZE ..."""

import sys
from pathlib import Path

import anndata as ad
import numpy as np
from scGeneFit.functions import get_markers

cells, label, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
values = adata.X.toarray()
codes = adata.obs[label].astype("category").cat.codes.to_numpy()
lines = []
for size in sizes:
    np.random.seed(0)  # noqa: NPY002  the package draws from it
    chosen = get_markers(values, codes, int(size), verbose=False)
    lines.append("\t".join(adata.var_names[chosen]))
Path(genes).write_text("\n".join(lines), encoding="utf-8")
