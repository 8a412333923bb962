"""From a matrix and a graph to the reduced problem that every method is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from . import graph as graphs
from . import krylov, noise, subspace
from .passes import Cells
from .sample import FIRST_LOOK, look
from .values import is_sparse, largest

if TYPE_CHECKING:
    from ._typing import Array, Matrix
    from .moments import Moments
    from .sample import Sample

#: Leading directions that are compared, and how much of them coordinates may miss.  Principal
#: components of log counts missed 0.05–0.09 on the one development set where their re-use costs
#: accuracy (worm neurons), and 0.0003–0.026 on the others.
_LEADING = 20
_MAY_MISS = 0.04

#: Units in which sums of squares, and squares of these, are still numbers.
_SMALLEST_UNIT = 1e-60

STANDARDIZE = ("noise", "noise_always", "unit", None)


@dataclass(frozen=True)
class Reduced:
    """Genes seen through some directions of the cells, in given units.

    Attributes
    ----------
    genes
        C, one row a gene, shape (n_genes, r).
    stiffness
        ``K = Vᵀ (I + λ1 L) V``, shape (r, r).
    """

    genes: Array
    stiffness: Array


@dataclass(frozen=True)
class Problem:
    """Cells, their graph, and the genes seen through a subspace of the cells.

    Attributes
    ----------
    data
        Cells × genes in memory: all cells, or a sample of many (:mod:`glfs_bio.core.sample`).
    data_graph
        Similarities of the cells of `data`.
    graph
        Similarities S, shape (n_cells, n_cells).
    basis
        V, orthonormal, shape (n_cells, r).  In a subspace the directions come first in which the
        genes vary most, in units of their noise or those of `unit`.
    projections
        ``XV`` of the centred genes in the units of `data`, shape (n_genes, r).
    stiffness
        ``K = Vᵀ (I + λ1 L) V``, shape (r, r).
    variance
        Variance of every gene in the units of `data`, shape (n_genes,).
    noise
        ``σ_i²``, technical noise in the units of `data`; None when genes are not weighted by it.
    unit
        What genes are multiplied with when they are not, shape (n_genes,).
    full_rank
        Whether V spans all that the genes span.
    replaced
        Whether provisional coordinates and graph gave way to computed ones.
    """

    data: Matrix
    data_graph: sparse.csr_array
    graph: sparse.csr_array
    basis: Array
    projections: Array
    stiffness: Array
    variance: Array
    noise: Array | None
    unit: Array
    full_rank: bool
    replaced: bool

    def reduced(self, n_directions: int | None = None, *, in_noise: bool = False) -> Reduced:
        """Genes in the units of the selection, ``h_i/√σ_i``, or of their noise, ``h_i/σ_i``.

        Parameters
        ----------
        n_directions
            How many of the leading directions; None: all.
        in_noise
            Units of the noise.  Without `noise` there is one unit only.
        """
        weights = self.unit
        if self.noise is not None:
            exponent = 0.5 if in_noise else 0.25
            weights = noise.gene_weights(self.variance, self.noise, exponent)
        r = slice(n_directions)
        return Reduced(self.projections[:, r] * weights[:, None], self.stiffness[r, r])

    def noise_level(self) -> float:
        """Mean noise variance of the genes in the units of ``reduced(in_noise=True)``."""
        if self.noise is not None:
            return 1.0
        residuals = noise.measure(
            self.data, self.variance, self.data_graph, noise.variances(self.data)
        )
        alive = self.variance > 0
        return float(np.mean(self.unit[alive] ** 2 * residuals[alive]))


def in_range(cells: Cells) -> Cells:
    """The cells, or a copy in another unit where squares would be zero or infinite.

    The unit is a power of two, which changes no digit.  What is not in memory stays as it is.
    """
    if not cells.in_memory:
        return cells
    data = cells.source
    values = data.data if sparse.issparse(data) else data  # max() of a sparse matrix would sort it
    extent = largest(values)
    if extent == 0 or _SMALLEST_UNIT < extent < 1.0 / _SMALLEST_UNIT:
        return cells
    exponent = -int(np.frexp(extent)[1])
    data = data.astype(np.float64)
    if not sparse.issparse(data):
        return Cells(np.ldexp(data, exponent))
    data.data = np.ldexp(data.data, exponent)
    return Cells(data)


def build_problem(
    data: Matrix | Cells,
    *,
    representation: Array | None = None,
    graph: sparse.csr_array | None = None,
    provisional: bool = False,
    n_comps: int | None = 50,
    n_neighbors: int = 15,
    lambda1: float = 100.0,
    laplacian: str = "normalized",
    standardize: str | None = "noise",
    whole_space: bool = False,
    random_state: int | None = 0,
    cells_are: str = "the cells",
) -> Problem:
    """Assemble the reduced problem, computing what was not given.

    Parameters
    ----------
    data
        Cells × genes in any form that :class:`~glfs_bio.core.passes.Cells` takes; never changed.
    representation
        Coordinates of the cells whose span is V, shape (n_cells, r); None: principal components.
    graph
        Checked similarities (:func:`~glfs_bio.core.graph.check_graph`); None: nearest neighbours
        in the representation.
    provisional
        Replace both, by what is computed where neither is given, where genes in units of their
        noise vary in directions that they do not hold.
    n_comps
        Number of principal components; None is full rank, the problem as the paper states it.
    n_neighbors
        Neighbours of a cell where the graph is computed here.
    lambda1
        λ1 of ``B = I + λ1 L``.
    laplacian
        Which Laplacian B uses.
    standardize
        ``"noise"``: weight genes by noise and reliability, except at full rank;
        ``"noise_always"``: at full rank too; ``"unit"``: unit variance; None: as they are.
    whole_space
        At full rank, see :func:`~glfs_bio.core.subspace.full_rank`.
    random_state
        Seed of the principal components, of the neighbours and of the sample of many cells.
    cells_are
        What messages call the cells.

    Raises
    ------
    ValueError
        Every gene is constant.
    """
    cells = Cells(data)
    every, sample = look(
        cells, whole=n_comps is None, n_neighbors=n_neighbors, random_state=random_state
    )
    if not every.variance.any():
        msg = f"No gene varies over {cells_are}: there is nothing to select."
        raise ValueError(msg)
    all_at_hand = sample.chosen is None
    if all_at_hand:
        cells = Cells(sample.data)
    variance = every.variance
    unit = _inverse(np.sqrt(variance)) if standardize == "unit" else np.ones_like(variance)
    noisy = standardize == "noise_always" or (standardize == "noise" and n_comps is not None)
    scale, residuals, spread = unit, None, None
    if representation is not None:
        where: Matrix = representation
    else:
        where, spread = _components(cells, every, sample, graph, unit, n_comps, noisy=noisy)
    near = _near(sample, graph, sample.rows(where))
    if noisy:
        residuals = noise.measure(sample.data, variance, near, sample.variance)
        scale = _inverse(np.sqrt(residuals))
        given = representation is not None and provisional
        if given and _missed(sample.data, scale, sample.rows(where)) > _MAY_MISS:
            computed = build_problem(
                data,
                n_comps=n_comps,
                n_neighbors=n_neighbors,
                lambda1=lambda1,
                laplacian=laplacian,
                standardize=standardize,
                whole_space=whole_space,
                random_state=random_state,
                cells_are=cells_are,
            )
            return replace(computed, replaced=True)
    if graph is None:
        graph = near if all_at_hand else graphs.knn_graph(where, n_neighbors, random_state)
    if spread is not None:
        basis, projections = spread
    else:
        if n_comps is None:
            basis = subspace.full_rank(sample.data, whole_space=whole_space)
        else:
            basis = subspace.orthonormal(where)
        projections = subspace.project(cells, basis)
    if basis.shape[1] == 0:
        msg = f"The coordinates of {cells_are} are all alike: recompute them, or leave them out."
        raise ValueError(msg)
    if representation is not None and n_comps is not None:
        turn = _leading_first(projections, scale)
        basis, projections = basis @ turn, projections @ turn
    projections[variance == 0] = 0.0  # where rounding left some
    smooth = graphs.laplacian(graph, laplacian)
    stiffness = basis.T @ basis + lambda1 * (basis.T @ (smooth @ basis))
    return Problem(
        data=sample.data,
        data_graph=near,
        graph=graph,
        basis=basis,
        projections=projections,
        stiffness=(stiffness + stiffness.T) / 2.0,
        variance=variance,
        noise=residuals,
        unit=unit,
        full_rank=n_comps is None,
        replaced=False,
    )


def _components(
    cells: Cells,
    every: Moments,
    sample: Sample,
    graph: sparse.csr_array | None,
    unit: Array,
    n_comps: int | None,
    *,
    noisy: bool,
) -> tuple[Matrix, tuple[Array, Array] | None]:
    """Principal components of the genes in `unit`, or, where that is noisy, in units of noise.

    Of all cells, from what is at hand; where that is a sample, with an orthonormal basis of the
    components and the genes' projections on it, which come out of the same passes.
    """
    scale = unit
    if noisy:
        seen, near = sample, graph
        if near is None or sample.chosen is not None:
            seen = sample.part(FIRST_LOOK)
            near = seen.graph(seen.coordinates(unit, n_comps, krylov.LEADING))
        residuals = noise.measure(seen.data, every.variance, near, seen.variance)
        scale = _inverse(np.sqrt(residuals))
    if n_comps is None or sample.chosen is None:
        return sample.coordinates(scale, n_comps), None
    start = sample.loadings(scale, n_comps)
    where, basis, projections = subspace.spread(
        cells, start, n_comps, every.mean, scale, mostly_zero=is_sparse(sample.data)
    )
    return where, (basis, projections)


def _near(sample: Sample, graph: sparse.csr_array | None, where: Matrix) -> sparse.csr_array:
    """Graph of the sampled cells: the given one, when they are all, or their neighbours."""
    return sample.graph(where) if graph is None or sample.chosen is not None else graph


def _leading_first(projections: Array, scale: Array) -> Array:
    """Rotation, shape (r, r), to the directions in which scaled genes vary most first."""
    _, turn = np.linalg.eigh(projections.T @ (projections * scale[:, None] ** 2))
    return np.asarray(turn[:, ::-1])


def _missed(data: Matrix, scale: Array, cells: Array) -> float:
    """Share of one step of subspace iteration, ``X_s X_sᵀ V``, that leaves the span of V.

    It is zero where V holds principal components of the scaled genes ``X_s``.
    """
    basis = subspace.orthonormal(cells)
    leading = subspace.project(data, basis[:, :_LEADING]) * scale[:, None] ** 2
    step = data @ leading
    step -= step.mean(axis=0)
    return float(1.0 - np.sum((basis.T @ step) ** 2) / np.sum(step**2))


def _inverse(scale: Array) -> Array:
    """``1/scale``, zero for genes without any."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
