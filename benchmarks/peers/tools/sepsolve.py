"""Genes of SepSolve for given labels: python sepsolve.py CELLS LABEL GENES SIZE ...

As in its authors' example: genes found in at least ten cells, all other defaults.  Its solver is
Gurobi, which without a licence of one's own takes no more than 2,000 variables.
"""

import sys
from pathlib import Path

import anndata as ad
import scanpy as sc
import sepsolve

FEWEST_CELLS = 10

cells, label, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
sc.pp.filter_genes(adata, min_cells=FEWEST_CELLS)
labels = adata.obs[label].astype(str)
lines = []
for size in sizes:
    chosen = sepsolve.get_markers(adata.X, labels, int(size))
    lines.append("\t".join(adata.var_names[chosen]))
Path(genes).write_text("\n".join(lines), encoding="utf-8")
