"""Genes of GeneCover: python genecover.py CELLS GENES SIZE ...

As in its authors' tutorial: genes found in at least 100 cells, Spearman correlations, equal
weights.  Of its exact solvers, SCIP, which needs no licence.  Its search for the threshold that
gives the size goes up to a correlation of 1: its default, 0.3, still leaves 350 genes on a mixture
of cell lines.  It may end beside the size: of more genes the first are taken, of fewer, all.
"""

import sys
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
from genecover import GeneCover, gene_gene_correlation

FEWEST_CELLS = 100

cells, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
sc.pp.filter_genes(adata, min_cells=FEWEST_CELLS)
correlations = gene_gene_correlation(adata.X.toarray())
weights = np.ones(adata.n_vars)
lines = []
for size in sizes:
    chosen = GeneCover(int(size), correlations, weights, lambdaMax=1.0, solver="SCIP")
    lines.append("\t".join(adata.var_names[chosen[: int(size)]]))
Path(genes).write_text("\n".join(lines), encoding="utf-8")
