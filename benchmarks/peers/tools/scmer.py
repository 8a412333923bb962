"""Genes of SCMER: python scmer.py CELLS GENES SIZE ...

As in its authors' example on melanoma: scanpy's highly variable genes, scaled, 20 principal
components.  The strength of regularisation is the one that its own search finds for the size; of
more genes than that, the largest weights are taken, of fewer, all.
"""

import sys
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
from scmer import UmapL1

if __name__ == "__main__":
    cells, genes, *sizes = sys.argv[1:]
    adata = ad.read_h5ad(cells)
    sc.pp.highly_variable_genes(adata, min_mean=0.0125, max_mean=3, min_disp=0.5, subset=True)
    sc.pp.scale(adata, max_value=10)
    lines = []
    for size in sizes:
        # With one thread the search for the widths of the kernels has another logarithm.
        model = UmapL1.tune(int(size), adata.X, n_pcs=20, n_threads=2)
        weights = np.ravel(model.w)
        ranked = np.argsort(-weights, kind="stable")[: int(size)]
        lines.append("\t".join(adata.var_names[ranked[weights[ranked] > 0]]))
    Path(genes).write_text("\n".join(lines), encoding="utf-8")
