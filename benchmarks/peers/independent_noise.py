"""What a panel keeps where its own noise and that of all genes are independent.

In one matrix, the nearest cells by all genes share the panel's noise as well as its signal, so that
a panel of a few noisy genes of large variance seems to keep neighbours.  Here every molecule is
drawn to one of two halves of the counts: Poisson noise of the halves is independent, given what the
cells express (Neufeld et al. 2024, Inference after latent variable estimation for single-cell RNA
sequencing data, Biostatistics 25:270, doi:10.1093/biostatistics/kxac047).  The panel is seen in the
first half, and all genes in the second.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import scanpy as sc
from cell_score import CellScore
from sklearn.linear_model import RidgeCV

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import metrics
from sets import Cells

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SEED = 0
#: The strength of regularisation is chosen by leave-one-out: at one strength for all sizes, large
#: panels fit the noise of the cells, and random genes seem to predict best.
STRENGTHS = np.logspace(0, 4, 9)


@dataclass(frozen=True, eq=False)
class Half(Cells):
    """The cells with half of their counts, logarithmised."""

    adata: ad.AnnData


@dataclass(frozen=True, eq=False)
class Halves:
    """The cells twice; `batch` has those that the cell score compares with one another only."""

    panel: Half
    whole: Half
    batch: np.ndarray | None

    @classmethod
    def of(cls, name: str, counts: csr_matrix, batch: np.ndarray | None) -> Halves:
        """Draw every molecule to one of the halves, with seed 0."""
        first = counts.copy()
        drawn = np.random.default_rng(SEED).binomial(counts.data.astype(np.int64), 0.5)
        first.data = drawn.astype(counts.dtype)
        return cls(*(Half(name, _normalised(half)) for half in (first, counts - first)), batch)

    @cached_property
    def wanted(self) -> np.ndarray:
        """The genes of largest variance in the second half: the same for every panel."""
        values = self.whole.adata.X
        mean = np.asarray(values.mean(axis=0)).ravel()
        spread = np.asarray(values.multiply(values).mean(axis=0)).ravel() - mean**2
        wanted = np.argsort(-spread, kind="stable")[: metrics.IMPUTED]
        return values[:, wanted].toarray()

    @cached_property
    def cell_score(self) -> CellScore:
        """The score of geneBasis, in all genes of the second half."""
        return CellScore(self.whole.adata.X, self.batch)

    def seen(self, genes: list[int]) -> np.ndarray:
        """The panel's genes in the first half."""
        return self.panel.adata.X[:, genes].toarray()

    def predicted(self, genes: list[int], fitted: np.ndarray, tested: np.ndarray) -> np.ndarray:
        """The wanted genes of the tested cells, by ridge regression on the panel."""
        values = self.seen(genes)
        return RidgeCV(STRENGTHS).fit(values[fitted], self.wanted[fitted]).predict(values[tested])


def _normalised(counts: csr_matrix) -> ad.AnnData:
    """To 10,000 molecules a cell, and logarithmised."""
    adata = ad.AnnData(counts)
    adata.X.eliminate_zeros()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata
