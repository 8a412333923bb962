"""Genes of NS-Forest for given labels: python nsforest.py CELLS LABEL GENES SIZE ...

Its markers of every type, then the genes of the type that it ranks by binary score, the types
taking turns.  It has at most ten such genes a type: a large panel may be smaller than asked for.
"""

import sys
from itertools import zip_longest
from pathlib import Path

import anndata as ad
import nsforest

cells, label, genes, *sizes = sys.argv[1:]
adata = ad.read_h5ad(cells)
adata.obs[label] = adata.obs[label].astype(str).astype("category")
adata.X = adata.X.toarray()
adata = nsforest.pp.prep_medians(adata, label)
adata = nsforest.pp.prep_binary_scores(adata, label)
table = nsforest.nsforesting.NSForest(adata, label, n_jobs=1, output_folder="./")
in_turn = [
    gene
    for column in ("NSForest_markers", "binary_genes")
    for genes_of_types in zip_longest(*table[column])
    for gene in genes_of_types
    if gene is not None
]
ranked = list(dict.fromkeys(in_turn))
lines = ["\t".join(ranked[: int(size)]) for size in sizes]
Path(genes).write_text("\n".join(lines), encoding="utf-8")
