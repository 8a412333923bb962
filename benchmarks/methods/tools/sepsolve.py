"""Genes of SepSolve for given labels: python sepsolve.py CELLS LABEL GENES SIZE ...

All defaults, on 1,000 highly variable genes: its solver is Gurobi, which without a licence of one's
own takes 2,000 variables, and these are the genes and the pairs of types.
"""

import sys
from pathlib import Path

import anndata as ad
import scanpy as sc
import sepsolve

CANDIDATES = 1000

cells, label, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
sc.pp.highly_variable_genes(adata, n_top_genes=CANDIDATES, subset=True)
labels = adata.obs[label].astype(str)
lines = []
for size in sizes:
    chosen = sepsolve.get_markers(adata.X, labels, int(size))
    lines.append("\t".join(adata.var_names[chosen]))
Path(genes).write_text("\n".join(lines), encoding="utf-8")
