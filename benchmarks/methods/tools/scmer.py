"""Genes of SCMER: python scmer.py CELLS GENES SIZE ...

As in its authors' example on melanoma: scanpy's highly variable genes, scaled, 20 principal
components.  Its own search looks for the strength of regularisation that leaves as many genes as
asked for, and mostly ends beside it.  Of its fits the one with the fewest genes that are enough is
taken, and of these the largest weights; where no fit has enough, all genes of the largest.
"""

import sys
from pathlib import Path

import anndata as ad
import numpy as np
import scanpy as sc
import torch
from scmer import UmapL1

#: Weights by the strength: a fit depends on nothing else, and searches have fits in common.
FITS = {}


class Remembered(UmapL1):
    """SCMER's selector, which does not repeat a fit."""

    def _fit_core(self, *data):
        if self._lasso not in FITS:
            super()._fit_core(*data)
            FITS[self._lasso] = np.ravel(self.w)
        self.w = FITS[self._lasso]
        return self


def largest(size):
    """Places of the genes with the largest weights in the fit that suits the size, best first."""
    fits = sorted(FITS.values(), key=np.count_nonzero)
    enough = [weights for weights in fits if np.count_nonzero(weights) >= size]
    weights = (enough or fits[-1:])[0]
    return np.argsort(-weights, kind="stable")[: min(size, np.count_nonzero(weights))]


if __name__ == "__main__":
    cells, genes, *sizes = sys.argv[1:]
    adata = ad.read_h5ad(cells)
    sc.pp.highly_variable_genes(adata, min_mean=0.0125, max_mean=3, min_disp=0.5, subset=True)
    sc.pp.scale(adata, max_value=10)
    # scanpy's functions set the threads of all cores, and two wait for each other.
    torch.set_num_threads(1)
    kernels = {}
    for size in map(int, sizes):
        # With one thread the search for the widths of the kernels has another logarithm.
        how = dict(n_pcs=20, n_threads=2, return_P_beta=True, **kernels)
        _, P, beta = Remembered.tune(size, adata.X, **how)
        kernels = {"P": P, "beta": beta}
        with Path(genes).open("a", encoding="utf-8") as names:
            names.write("\t".join(adata.var_names[largest(size)]) + "\n")
