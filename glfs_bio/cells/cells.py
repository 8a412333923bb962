"""How a matrix of cells × genes is reduced, and what that gives for every criterion of panels."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from .. import checks
from ..data.matrix import RowMatrix, in_range, is_sparse
from ..data.threads import one_thread_if_forked
from ..errors import NO_VALUE, InvalidValue
from . import graph as graphs
from . import noise, pca
from .batches import split, warn_of_few
from .sample import FIRST_LOOK, look

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy import sparse

    from .._typing import Array, Index, Matrix
    from ..data.matrix import Moments
    from ..data.products import Products
    from .sample import Sample

STANDARDIZE = ("noise", "unit", None)


@dataclass(frozen=True)
class Reduction:
    """How a matrix of cells × genes becomes a problem: parameters of :class:`~glfs_bio.GLFS`.

    `whole_space` is that of :func:`.pca.full_rank`.

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
class Cells:
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


#: Leading directions that are compared, and how much of them coordinates may miss.  Principal
#: components of log counts missed 0.05–0.09 on the one development set where their re-use costs
#: accuracy (worm neurons), and 0.0003–0.026 on the others.
_LEADING = 20
_MAY_MISS = 0.04


@dataclass(frozen=True, kw_only=True)
class Problem(Cells):
    """Cells and their graph, and the genes seen through a subspace of the cells.

    Attributes
    ----------
    data
        Cells × genes in memory: all cells, or a sample of many (:mod:`.sample`).
    data_graph
        Similarities of the cells of `data`.
    graph
        Similarities S, shape (n_cells, n_cells).
    full_rank
        Whether V spans all that the genes span.
    replaced
        Whether the coordinates and the graph that were given gave way to computed ones.
    """

    data: Matrix
    data_graph: sparse.csr_array
    graph: sparse.csr_array
    full_rank: bool
    replaced: bool

    def only(self, genes: Index) -> Self:
        """The same cells, subspace and graph with some of the genes."""
        if len(genes) == len(self.variance):
            return self
        return replace(super().only(genes), data=self.data[:, genes])


@one_thread_if_forked
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
        Cells × genes in any form that :class:`~glfs_bio.data.matrix.RowMatrix` takes; never
        changed.  What is in memory may have any unit that squares can be computed in.
    reduction
        How it becomes a problem.
    representation
        Coordinates of the cells whose span is V, shape (n_cells, r); None: principal components.
    graph
        Checked similarities (:func:`~glfs_bio.cells.graph.check_graph`); None: nearest
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
    if batch is not None and graph is not None:
        raise InvalidValue(
            "graph", NO_VALUE, "is of all cells, and each batch has one of its own", "leave one out"
        )
    batches = split(batch, data.shape[0])
    warn_of_few(batch, data.shape[0])
    whole = in_range(RowMatrix(data))
    problems = []
    for one in batches:
        of_batch, every, sample = _looked_at(RowMatrix(whole, one.cells), reduction, one.name)
        all_threads = reduction.n_comps is None
        with nullcontext() if all_threads else sample.products.threads():
            problems.append(
                _build(
                    of_batch,
                    every,
                    sample,
                    reduction,
                    representation=_rows(representation, one.cells),
                    graph=graph,
                    provisional=provisional,
                    cells_are=one.name,
                )
            )
    return problems


def _rows(representation: Array | None, cells: Index | None) -> Array | None:
    return representation if representation is None or cells is None else representation[cells]


def _looked_at(
    data: RowMatrix, reduction: Reduction, cells_are: str
) -> tuple[RowMatrix, Moments, Sample]:
    """The cells, in memory where all are looked at one by one, their moments and their sample."""
    every, sample = look(
        data,
        whole=reduction.n_comps is None,
        n_neighbors=reduction.n_neighbors,
        random_state=reduction.random_state,
    )
    if not every.variance.any():
        raise InvalidValue("X", NO_VALUE, "has no gene that varies over {cells}", cells=cells_are)
    return RowMatrix(sample.data) if sample.chosen is None else data, every, sample


def _build(
    data: RowMatrix,
    every: Moments,
    sample: Sample,
    reduction: Reduction,
    *,
    representation: Array | None,
    graph: sparse.csr_array | None,
    provisional: bool,
    cells_are: str,
) -> Problem:
    n_comps, n_neighbors = reduction.n_comps, reduction.n_neighbors
    all_at_hand = sample.chosen is None
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
            basis = pca.full_rank(sample.data, whole_space=reduction.whole_space)
        else:
            basis = pca.orthonormal(where)
        projections = pca.project(sample.products if all_at_hand else data, basis)
    if basis.shape[1] == 0:
        raise InvalidValue(
            "representation",
            NO_VALUE,
            "is the same for {cells}",
            "recompute it, or leave it out",
            cells=cells_are,
        )
    if representation is not None and provisional and reduction.standardize == "noise":
        scale = _inverse(np.sqrt(residuals))
        if _missed(sample.products, scale, sample.rows(basis), projections) > _MAY_MISS:
            computed = _build(
                data,
                every,
                sample,
                reduction,
                representation=None,
                graph=None,
                provisional=False,
                cells_are=cells_are,
            )
            return replace(computed, replaced=True)
    projections[every.variance == 0] = 0.0  # where rounding left some
    units, noise_level = _units(reduction.standardize, every.variance, residuals)
    form = graphs.quadratic_form(graph, basis, reduction.laplacian)
    return Problem(
        data=sample.data,
        data_graph=near,
        graph=graph,
        basis=basis,
        projections=projections,
        stiffness=basis.T @ basis + reduction.lambda1 * form,
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
    start = None
    if reduction.standardize == "unit":
        scale = _inverse(np.sqrt(every.variance))
    if reduction.standardize == "noise":
        seen, near, first = sample, graph, None
        if near is None or sample.chosen is not None:
            seen = sample.part(FIRST_LOOK)
            first = seen.coordinates(scale, n_comps, pca.RULES.leading)
            near = seen.graph(first)
        residuals = noise.measure(seen.data, every.variance, near, seen.variance)
        scale = _inverse(np.sqrt(residuals))
        if first is not None and n_comps is not None:
            start = seen.weights(scale, first)
    if n_comps is None or sample.chosen is None:
        return sample.coordinates(scale, n_comps, start=start), None
    start = sample.loadings(scale, n_comps, start)
    where, basis, projections = pca.spread(
        data, start, n_comps, every.mean, scale, mostly_zero=is_sparse(sample.data)
    )
    return where, (basis, projections)


def _near(sample: Sample, graph: sparse.csr_array | None, where: Matrix) -> sparse.csr_array:
    """Graph of the sampled cells: the given one, when they are all, or their neighbours."""
    return sample.graph(where) if graph is None or sample.chosen is not None else graph


def _missed(data: Products, scale: Array, basis: Array, projections: Array) -> float:
    """Share of one step of subspace iteration, ``X_s X_sᵀ V``, that leaves the span of V.

    It is zero where V holds principal components of the scaled genes ``X_s``.  `data` and `basis`
    may be of a sample of the cells.
    """
    step = data.times(projections[:, :_LEADING] * scale[:, None] ** 2)
    step -= step.mean(axis=0)
    within = pca.orthonormal(basis)
    return float(1.0 - np.sum((within.T @ step) ** 2) / np.sum(step**2))


def _inverse(scale: Array) -> Array:
    """``1/scale``, zero for genes without any."""
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
