"""Genes of Spapros for given labels: python spapros.py CELLS LABEL GENES SIZE ...

Its whole pipeline on 1,000 highly variable genes, as in its authors' tutorial.
"""

import sys
from pathlib import Path

import anndata as ad
import scanpy as sc
import spapros as sp

CANDIDATES = 1000

cells, label, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
adata.obs[label] = adata.obs[label].astype(str).astype("category")
sc.pp.highly_variable_genes(adata, flavor="cell_ranger", n_top_genes=CANDIDATES)
for size in sizes:
    selector = sp.se.ProbesetSelector(adata, celltype_key=label, n=int(size), verbosity=0)
    selector.select_probeset()
    chosen = selector.probeset.query("selection").sort_values("rank", kind="stable").index
    with Path(genes).open("a", encoding="utf-8") as names:
        names.write("\t".join(chosen) + "\n")
