"""How a matrix of cells × genes is reduced, and what that gives for every criterion of panels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from .. import checks
from . import graph as graphs

if TYPE_CHECKING:
    from .._typing import Array, Index

STANDARDIZE = ("noise", "unit", None)


@dataclass(frozen=True)
class Reduction:
    """How a matrix of cells × genes becomes a problem: parameters of :class:`~glfs_bio.GLFS`.

    `whole_space` is that of :func:`~glfs_bio.cells.subspace.full_rank`.

    Raises
    ------
    TypeError, ValueError
        A value out of range.
    """

    n_comps: int | None = 50
    n_neighbors: int = 15
    lambda1: float = 100.0
    laplacian: str = "normalized"
    standardize: str | None = "noise"
    whole_space: bool = False
    random_state: int | None = 0

    def __post_init__(self) -> None:
        checks.whole_number("n_comps", self.n_comps, at_least=1, or_none=True)
        checks.whole_number("n_neighbors", self.n_neighbors, at_least=1)
        checks.number("lambda1", self.lambda1)
        checks.one_of("laplacian", self.laplacian, graphs.LAPLACIANS)
        checks.one_of("standardize", self.standardize, STANDARDIZE)
        checks.seed(self.random_state, state_too=True)


class Whitened(NamedTuple):
    """Genes in coordinates where the cells' metric is the identity.

    With ``K = Q diag(κ) Qᵀ`` gene i is ``(C Q diag(√κ))_i``: row i of `genes`, shape (n_genes, r).
    `basis` is Q.
    """

    genes: Array
    kappa: Array
    basis: Array


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """Genes and cells in r dimensions; the number of cells is gone but from `basis`.

    Attributes
    ----------
    basis
        V, orthonormal columns, shape (n_cells, r).
    projections
        ``C = XᵀV`` of the centred genes in the units of the matrix, shape (n_genes, r).
    stiffness
        ``K = Vᵀ (I + λ1 L) V``, shape (r, r).
    variance
        Variance of every gene in the units of the matrix, shape (n_genes,).
    residuals
        ``σ_i²``, technical noise in the units of the matrix, shape (n_genes,).
    assay_noise
        ``σ_0²``, the noise of the assay that will measure the panel, in the units of the matrix.
    units
        What genes are multiplied with, shape (n_genes,).
    noise_level
        Mean noise of a gene in `units`: 1 where these are units of noise.
    """

    basis: Array
    projections: Array
    stiffness: Array
    variance: Array
    residuals: Array
    assay_noise: float
    units: Array
    noise_level: float

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.basis)

    @cached_property
    def whitened(self) -> Whitened:
        """Genes in `units`, whitened by the graph."""
        kappa, basis = np.linalg.eigh(self.stiffness)
        in_units = self.projections * self.units[:, None]
        return Whitened(in_units @ (basis * np.sqrt(kappa)), kappa, basis)

    def only(self, genes: Index) -> Self:
        """The same cells, subspace and graph with some of the genes."""
        return replace(
            self,
            projections=self.projections[genes],
            variance=self.variance[genes],
            residuals=self.residuals[genes],
            units=self.units[genes],
        )
