"""Genes of Spapros' selection by principal components: python spapros_pca.py CELLS GENES SIZE ...

On 1,000 highly variable genes, as in its authors' tutorial and pipeline, with all its defaults.
"""

import sys
from pathlib import Path

import anndata as ad
import scanpy as sc
import spapros as sp

CANDIDATES = 1000

cells, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
sc.pp.highly_variable_genes(adata, flavor="cell_ranger", n_top_genes=CANDIDATES, subset=True)
table = sp.se.select_pca_genes(adata, n=max(map(int, sizes)), inplace=False, verbosity=0)
ranked = table[table["selection"]].sort_values("selection_score", ascending=False).index
lines = ["\t".join(ranked[: int(size)]) for size in sizes]
Path(genes).write_text("\n".join(lines), encoding="utf-8")
