"""From a matrix and a graph to the reduced problem that every method is given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .. import checks
from ..data.rows import RowMatrix
from ..data.values import is_sparse, largest
from . import graph as graphs
from . import krylov, noise, subspace
from .sample import FIRST_LOOK, look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from .._typing import Array, Index, Matrix
    from ..data.moments import Moments
    from .sample import Sample

#: Leading directions that are compared, and how much of them coordinates may miss.  Principal
#: components of log counts missed 0.05–0.09 on the one development set where their re-use costs
#: accuracy (worm neurons), and 0.0003–0.026 on the others.
_LEADING = 20
_MAY_MISS = 0.04

#: Units in which sums of squares, and squares of these, are still numbers.
_SMALLEST_UNIT = 1e-60
_FEWEST_CELLS = 3

STANDARDIZE = ("noise", "unit", None)


@dataclass(frozen=True)
class Reduction:
    """How a matrix of cells × genes becomes a problem: parameters of :class:`~glfs_bio.GLFS`.

    `whole_space` is that of :func:`~glfs_bio.core.geometry.subspace.full_rank`.

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


@dataclass(frozen=True)
class Whitened:
    """Genes in coordinates where the cells' metric is the identity.

    With ``K = Q diag(κ) Qᵀ`` gene i is ``(C Q diag(√κ))_i``: row i of `genes`, (n_genes, r).
    """

    genes: Array
    kappa: Array


@dataclass(frozen=True)
class Problem:
    """Cells, their graph, and the genes seen through a subspace V of the cells.

    Attributes
    ----------
    data
        Cells × genes in memory: all cells, or a sample of many (:mod:`.sample`).
    data_graph
        Similarities of the cells of `data`.
    graph
        Similarities S, shape (n_cells, n_cells).
    projections
        ``XᵀV`` of the centred genes in the units of `data`, shape (n_genes, r).
    stiffness
        ``K = Vᵀ (I + λ1 L) V``, shape (r, r).
    variance
        Variance of every gene in the units of `data`, shape (n_genes,).
    residuals
        ``σ_i²``, technical noise in the units of `data`, shape (n_genes,).
    assay_noise
        ``σ_0²``, the noise of the assay that will measure the panel, in the units of `data`.
    units
        What genes are multiplied with, shape (n_genes,).
    noise_level
        Mean noise of a gene in `units`: 1 where these are units of noise.
    full_rank
        Whether V spans all that the genes span.
    replaced
        Whether the coordinates and the graph that were given gave way to computed ones.
    """

    data: Matrix
    data_graph: sparse.csr_array
    graph: sparse.csr_array
    projections: Array
    stiffness: Array
    variance: Array
    residuals: Array
    assay_noise: float
    units: Array
    noise_level: float
    full_rank: bool
    replaced: bool

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(self.graph.shape[0])

    @cached_property
    def whitened(self) -> Whitened:
        """Genes in `units`, whitened by the graph."""
        kappa, basis = np.linalg.eigh(self.stiffness)
        in_units = self.projections * self.units[:, None]
        return Whitened(in_units @ (basis * np.sqrt(kappa)), kappa)

    def only(self, genes: Index) -> Problem:
        """The same cells, subspace and graph with some of the genes."""
        if len(genes) == len(self.variance):
            return self
        return replace(
            self,
            data=self.data[:, genes],
            projections=self.projections[genes],
            variance=self.variance[genes],
            residuals=self.residuals[genes],
            units=self.units[genes],
        )


def build_problems(
    data: Matrix | RowMatrix,
    reduction: Reduction,
    *,
    representation: Array | None = None,
    graph: sparse.csr_array | None = None,
    batch: ArrayLike | None = None,
    provisional: bool = False,
) -> list[Problem]:
    """One problem for all cells, or one a batch, computing what was not given.

    Parameters
    ----------
    data
        Cells × genes in any form that :class:`~glfs_bio.core.data.rows.RowMatrix` takes; never
        changed.  What is in memory may have any unit that squares can be computed in.
    reduction
        How it becomes a problem.
    representation
        Coordinates of the cells whose span is V, shape (n_cells, r); None: principal components.
    graph
        Checked similarities (:func:`~glfs_bio.core.geometry.graph.check_graph`); None: nearest
        neighbours in the representation.  Batches have no graph in common.
    batch
        Batch of every cell.
    provisional
        Whether `representation` and `graph` may be replaced.  They are where genes in units of
        their noise vary in directions that the representation misses: both are then computed as if
        neither had been given.

    Raises
    ------
    ValueError
        Every gene is constant; a batch that is missing for some cells, or has too few.
    """
    every = in_range(RowMatrix(data))
    return [
        _build(
            RowMatrix(every, cells),
            reduction,
            representation=where,
            graph=near,
            provisional=provisional,
            cells_are=name,
        )
        for name, cells, where, near in _batches(every.shape[0], representation, graph, batch)
    ]


def _batches(
    n_cells: int, coordinates: Array | None, graph: Matrix | None, batch: ArrayLike | None
) -> Iterator[tuple[str, Index | None, Array | None, Matrix | None]]:
    """What to call each batch, its cells, and what was given for them."""
    if batch is None:
        yield "the cells", None, coordinates, graph
        return
    if graph is not None:
        msg = (
            "graph cannot be combined with batch: each batch has a graph of its own; leave one out."
        )
        raise ValueError(msg)
    labels = np.asarray(batch)
    if labels.shape != (n_cells,):
        msg = f"batch has shape {labels.shape}, but there are {n_cells} cells."
        raise ValueError(msg)
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        msg = f"batch is missing for {missing} cells: fill or remove them."
        raise ValueError(msg)
    labels = labels.astype(str)
    for label in np.unique(labels):
        cells = np.flatnonzero(labels == label)
        if len(cells) < _FEWEST_CELLS:
            msg = (
                f"batch {str(label)!r} has {len(cells)} cells: at least {_FEWEST_CELLS} are "
                "needed; merge or remove it."
            )
            raise ValueError(msg)
        where = None if coordinates is None else coordinates[cells]
        yield f"the cells of batch {str(label)!r}", cells, where, None


def in_range(data: RowMatrix) -> RowMatrix:
    """The matrix, or a copy in another unit where squares would be zero or infinite.

    The unit is a power of two, which changes no digit.  What is not in memory stays as it is.
    """
    if not data.in_memory:
        return data
    source = data.source
    values = source.data if sparse.issparse(source) else source  # max() of it would sort it
    extent = largest(values)
    if extent == 0 or _SMALLEST_UNIT < extent < 1.0 / _SMALLEST_UNIT:
        return data
    exponent = -int(np.frexp(extent)[1])
    source = source.astype(np.float64)
    if not sparse.issparse(source):
        return RowMatrix(np.ldexp(source, exponent))
    source.data = np.ldexp(source.data, exponent)
    return RowMatrix(source)


def _build(
    data: RowMatrix,
    reduction: Reduction,
    *,
    representation: Array | None,
    graph: sparse.csr_array | None,
    provisional: bool,
    cells_are: str,
) -> Problem:
    n_comps, n_neighbors = reduction.n_comps, reduction.n_neighbors
    every, sample = look(
        data, whole=n_comps is None, n_neighbors=n_neighbors, random_state=reduction.random_state
    )
    if not every.variance.any():
        msg = f"No gene varies over {cells_are}: there is nothing to select."
        raise ValueError(msg)
    all_at_hand = sample.chosen is None
    if all_at_hand:
        data = RowMatrix(sample.data)
    spread = None
    if representation is not None:
        where: Matrix = representation
    else:
        where, spread = _components(data, every, sample, graph, reduction)
    near = _near(sample, graph, sample.rows(where))
    residuals = noise.measure(sample.data, every.variance, near, sample.variance)
    if graph is None:
        graph = (
            near if all_at_hand else graphs.knn_graph(where, n_neighbors, reduction.random_state)
        )
    if spread is not None:
        basis, projections = spread
    else:
        if n_comps is None:
            basis = subspace.full_rank(sample.data, whole_space=reduction.whole_space)
        else:
            basis = subspace.orthonormal(where)
        projections = subspace.project(data, basis)
    if basis.shape[1] == 0:
        msg = f"The coordinates of {cells_are} are all alike: recompute them, or leave them out."
        raise ValueError(msg)
    if representation is not None and provisional and reduction.standardize == "noise":
        scale = _inverse(np.sqrt(residuals))
        if _missed(sample.data, scale, sample.rows(basis), projections) > _MAY_MISS:
            computed = _build(
                data,
                reduction,
                representation=None,
                graph=None,
                provisional=False,
                cells_are=cells_are,
            )
            return replace(computed, replaced=True)
    projections[every.variance == 0] = 0.0  # where rounding left some
    units, noise_level = _units(reduction.standardize, every.variance, residuals)
    smooth = graphs.laplacian(graph, reduction.laplacian)
    stiffness = basis.T @ basis + reduction.lambda1 * (basis.T @ (smooth @ basis))
    return Problem(
        data=sample.data,
        data_graph=near,
        graph=graph,
        projections=projections,
        stiffness=(stiffness + stiffness.T) / 2.0,
        variance=every.variance,
        residuals=residuals,
        assay_noise=noise.of_assay(every.variance, residuals),
        units=units,
        noise_level=noise_level,
        full_rank=n_comps is None,
        replaced=False,
    )


def _units(standardize: str | None, variance: Array, residuals: Array) -> tuple[Array, float]:
    """What genes are multiplied with, and their mean noise then."""
    if standardize == "noise":
        return noise.gene_units(variance, residuals), 1.0
    units = np.ones_like(variance)
    if standardize == "unit":
        units = _inverse(np.sqrt(variance))
    alive = variance > 0
    return units, float(np.mean(units[alive] ** 2 * residuals[alive]))


def _components(
    data: RowMatrix,
    every: Moments,
    sample: Sample,
    graph: sparse.csr_array | None,
    reduction: Reduction,
) -> tuple[Matrix, tuple[Array, Array] | None]:
    """Principal components of the genes in the units asked for: of noise, these are ``1/σ_i``.

    Of all cells, from what is at hand; where that is a sample, with an orthonormal basis of the
    components and the genes' projections on it, which come out of the same passes.
    """
    n_comps = reduction.n_comps
    scale = np.ones_like(every.variance)
    if reduction.standardize == "unit":
        scale = _inverse(np.sqrt(every.variance))
    if reduction.standardize == "noise":
        seen, near = sample, graph
        if near is None or sample.chosen is not None:
            seen = sample.part(FIRST_LOOK)
            near = seen.graph(seen.coordinates(scale, n_comps, krylov.LEADING))
        residuals = noise.measure(seen.data, every.variance, near, seen.variance)
        scale = _inverse(np.sqrt(residuals))
    if n_comps is None or sample.chosen is None:
        return sample.coordinates(scale, n_comps), None
    start = sample.loadings(scale, n_comps)
    where, basis, projections = subspace.spread(
        data, start, n_comps, every.mean, scale, mostly_zero=is_sparse(sample.data)
    )
    return where, (basis, projections)


def _near(sample: Sample, graph: sparse.csr_array | None, where: Matrix) -> sparse.csr_array:
    """Graph of the sampled cells: the given one, when they are all, or their neighbours."""
    return sample.graph(where) if graph is None or sample.chosen is not None else graph


def _missed(data: Matrix, scale: Array, basis: Array, projections: Array) -> float:
    """Share of one step of subspace iteration, ``X_s X_sᵀ V``, that leaves the span of V.

    It is zero where V holds principal components of the scaled genes ``X_s``.  `data` and `basis`
    may be of a sample of the cells.
    """
    step = data @ (projections[:, :_LEADING] * scale[:, None] ** 2)
    step -= step.mean(axis=0)
    within = subspace.orthonormal(basis)
    return float(1.0 - np.sum((within.T @ step) ** 2) / np.sum(step**2))


def _inverse(scale: Array) -> Array:
    """``1/scale``, zero for genes without any."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
