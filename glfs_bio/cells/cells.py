"""How a matrix of cells × genes is reduced, and what that gives for every criterion of panels."""

from __future__ import annotations

import logging
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from scipy import sparse

from ..data.matrix import (
    Moments,
    RowMatrix,
    dense_if_flat,
    doubled,
    in_range,
    is_sparse,
    moments,
)
from ..data.products import ScaledGenes, products
from ..data.threads import few_threads, one_thread_if_forked
from ..errors import NO_VALUE, InvalidValue, Message
from . import chance, noise, pca
from . import graph as graphs
from .batches import split, warn_of_few

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Array, Index, Matrix
    from ..data.products import Products
    from ..options import StructureSpec

log = logging.getLogger(__name__)

#: Of more cells than this a sample is drawn.
MANY_CELLS = graphs.MOST_EXACT
#: Cells of a sample.
SAMPLED = 10_000
#: Cells of the first look, at plain genes: more than there were in any set that decided about it.
FIRST_LOOK = 5_000


class Whitened(NamedTuple):
    """Genes in coordinates where the cells' metric is the identity.

    With ``K = Q diag(κ) Qᵀ`` gene i is ``(C Q diag(√κ))_i``: row i of `genes`, shape (n_genes, r).
    `basis` is Q.
    """

    genes: Array
    kappa: Array
    basis: Array


class Axes(NamedTuple):
    """Axes of the cells along which genes vary, the largest first.

    With ``Σ u_j² c_j c_jᵀ = U diag(α) Uᵀ``: `strengths` is α in units of what noise alone gives
    along its largest axis, ``α/ν_edge``, `directions` is U, both of r axes.
    """

    strengths: Array
    directions: Array


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Genes and cells in r dimensions; the number of cells is gone but from `basis`."""

    #: V, orthonormal columns, shape (n_cells, r)
    basis: Array
    #: ``C = XᵀV`` of the centred genes, in the units of the matrix, shape (n_genes, r)
    projections: Array
    #: ``K = Vᵀ (I + λ1 L) V``, shape (r, r)
    stiffness: Array
    #: Of every gene, in the units of the matrix, shape (n_genes,)
    variance: Array
    #: ``σ_i²``, technical noise in the units of the matrix, shape (n_genes,)
    residuals: Array
    #: ``σ_0²``, noise of the assay that will measure the panel, in the units of the matrix
    assay_noise: float
    #: What genes are multiplied with, shape (n_genes,)
    units: Array
    #: Mean noise of a gene in `units`: 1 where these are units of noise
    noise_level: float
    graph_components: int = 1
    #: Strength of the leading axis where genes are permuted over the cells; 0 where the axis is so
    #: strong that this was not computed
    chance: float = 0.0

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

    @cached_property
    def scatter(self) -> Array:
        """``Σ u_j² c_j c_jᵀ`` with the `units` u, shape (r, r)."""
        in_units = self.projections * self.units[:, None]
        return np.asarray(in_units.T @ in_units)

    @cached_property
    def axes(self) -> Axes:
        """Axes of the cells, by how far they stand above the noise."""
        strengths, directions = np.linalg.eigh(self.scatter)
        edge = noise.edge(self.units**2 * self.residuals, self.n_cells)
        return Axes(strengths[::-1] / max(edge, np.finfo(float).tiny), directions[:, ::-1])

    @property
    def has_structure(self) -> bool:
        """Whether the leading axis stands above the noise, and above what chance reaches."""
        return bool(self.axes.strengths[0] > max(1.0, chance.SETTINGS.margin * self.chance))

    @property
    def n_axes(self) -> int:
        """Number of axes that stand above the noise; 0 where there is no structure."""
        return int((self.axes.strengths > 1.0).sum()) if self.has_structure else 0

    @cached_property
    def above_noise(self) -> Array:
        """H, symmetric, (r, r), takes the noise off ``Σ u_j² c_j c_jᵀ``: genes become ``H c_j``.

        ``H = U diag(√(1 − ν_edge/α)) Uᵀ`` where ``α > ν_edge`` (:class:`Axes`), and zero along
        other axes.  It is the identity where there is no structure.
        """
        strengths, directions = self.axes
        if not self.has_structure:
            return np.eye(len(strengths))
        shares = 1.0 - 1.0 / np.maximum(strengths, 1.0)
        return np.asarray((directions * np.sqrt(shares)) @ directions.T)

    def only(self, genes: Index) -> Self:
        """The same cells, subspace and graph with some of the genes."""
        return replace(
            self,
            projections=self.projections[genes],
            variance=self.variance[genes],
            residuals=self.residuals[genes],
            units=self.units[genes],
        )


@dataclass(frozen=True, kw_only=True)
class Problem(Cells):
    """Cells and their graph, and the genes seen through a subspace of the cells."""

    #: Cells × genes in memory: all cells, or a :class:`Sample`
    data: Matrix
    #: Similarities of the cells of `data`
    data_graph: sparse.csr_array
    #: Shape (n_cells, n_cells)
    graph: sparse.csr_array
    #: Whether V spans all that the genes span
    full_rank: bool

    def without_matrix(self) -> Cells:
        """Return what the criterion for panels needs, which a file can keep."""
        return Cells(**{field.name: getattr(self, field.name) for field in fields(Cells)})

    def only(self, genes: Index) -> Self:
        """The same cells, subspace and graph with some of the genes."""
        if len(genes) == len(self.variance):
            return self
        return replace(super().only(genes), data=self.data[:, genes])


@dataclass(frozen=True)
class Sample:
    """The cells that are looked at one by one: all of them, or, of many, a random part.

    What needs every cell's neighbours at hand, or only estimates a number for each gene, is taken
    from these; they are in memory.  All cells make up the subspace, the graph and the projections.
    """

    #: Sampled cells × genes, in the precision that they came in
    data: Matrix
    #: Sorted indices of the sampled cells; None: all
    chosen: Index | None
    #: Of every gene over the sample; None where that is all cells
    variance: Array | None

    @cached_property
    def products(self) -> Products:
        """Products with the data, for whose transpose there is one place."""
        return products(self.data)

    def part(self, n_cells: int, random_state: int | None) -> Sample:
        """Return so many of these cells, drawn at random; all, where they are no more."""
        if self.data.shape[0] <= n_cells:
            return self
        drawn = _drawn(self.data.shape[0], n_cells, random_state)
        data, chosen = self.data[drawn], drawn if self.chosen is None else self.chosen[drawn]
        own, _ = moments(RowMatrix(data))
        return Sample(data, chosen, own.variance)

    def rows(self, of_all: Array) -> Array:
        """Return what belongs to the sampled cells."""
        return of_all if self.chosen is None else of_all[self.chosen]


def look(cells: RowMatrix, *, whole: bool, random_state: int | None) -> tuple[Moments, Sample]:
    """Return moments of all cells and a sample of them, in one pass."""
    n_cells = cells.shape[0]
    chosen = None
    if n_cells > MANY_CELLS and not whole:
        chosen = _drawn(n_cells, min(SAMPLED, MANY_CELLS), random_state)
    every, data = moments(cells, chosen)
    if data.dtype.kind != "f":
        data = doubled(data)
    if not whole and is_sparse(data):
        data = sparse.csr_array(data)
    if chosen is None:
        return every, Sample(data, None, None)
    own, _ = moments(RowMatrix(data))
    return every, Sample(data, chosen, own.variance)


def _drawn(n_cells: int, n_drawn: int, random_state: int | None) -> Index:
    return np.sort(np.random.default_rng(random_state).choice(n_cells, n_drawn, replace=False))


@one_thread_if_forked
def build_problems(
    data: Matrix | RowMatrix,
    spec: StructureSpec,
    *,
    representation: Array | None = None,
    graph: sparse.csr_array | None = None,
    batch: ArrayLike | None = None,
    whole_space: bool = False,
) -> list[Problem]:
    """Reduce all cells, or each batch, computing what was not given: coordinates whose span is V,
    shape (n_cells, r), and a checked graph (:func:`~glfs_bio.cells.graph.check_graph`).  Shapes:
    `representation` (n_cells, r).
    """
    whole = in_range(dense_if_flat(RowMatrix(data)))
    if batch is None:
        return _with_components_logged(
            [_reduced(whole, spec, representation, graph, "the cells", whole_space)]
        )
    if graph is not None:
        raise InvalidValue(
            "graph",
            NO_VALUE,
            "is a graph of all cells, but each batch has its own",
            "remove one of the two",
        )
    batches = split(batch, data.shape[0])
    warn_of_few(batch, data.shape[0])
    return _with_components_logged(
        [
            _reduced(
                RowMatrix(whole, one.cells),
                spec,
                None if representation is None else representation[one.cells],
                None,
                one.name,
                whole_space,
            )
            for one in batches
        ]
    )


def _with_components_logged(sets: list[Problem]) -> list[Problem]:
    """The same, and a message where a graph has parts that are not joined."""
    most = max(one.graph_components for one in sets)
    if most > 1:
        log.warning(
            Message(
                f"The graph of the cells has {most} connected components. If they should be "
                "connected, use more neighbours, or remove isolated cells."
            )
        )
    return sets


def _reduced(
    data: RowMatrix,
    spec: StructureSpec,
    representation: Array | None,
    graph: sparse.csr_array | None,
    cells_are: str,
    whole_space: bool,
) -> Problem:
    """One set of cells, which messages call `cells_are`."""
    full_rank = spec.n_comps is None
    every, sample = look(data, whole=full_rank, random_state=spec.random_state)
    if not every.variance.any():
        raise InvalidValue("X", NO_VALUE, f"has no gene that varies over {cells_are}")
    with few_threads(spec.n_comps or min(data.shape)):
        problem = _build(data, every, sample, spec, representation, graph, whole_space)
        if problem.axes.strengths[0] >= chance.SETTINGS.evident:
            return problem
        # Coordinates and a graph that are given are those of the cells, which stay.
        where = None if representation is None else sample.rows(representation)
        near = None if graph is None else problem.data_graph
        return replace(problem, chance=_by_chance(sample.data, spec, where, near, whole_space))


def _by_chance(
    data: Matrix,
    spec: StructureSpec,
    representation: Array | None,
    graph: sparse.csr_array | None,
    whole_space: bool,
) -> float:
    """How strong the leading axis is where genes are permuted over the cells."""
    farthest = 0.0
    for permuted in chance.draws(data, spec.random_state):
        rows = RowMatrix(permuted)
        every, sample = look(rows, whole=True, random_state=spec.random_state)
        problem = _build(rows, every, sample, spec, representation, graph, whole_space)
        farthest = max(farthest, float(problem.axes.strengths[0]))
    return farthest


def _build(
    data: RowMatrix,
    every: Moments,
    sample: Sample,
    spec: StructureSpec,
    representation: Array | None,
    graph: sparse.csr_array | None,
    whole_space: bool,
) -> Problem:
    n_comps, n_neighbors, seed = spec.n_comps, spec.n_neighbors, spec.random_state
    all_at_hand = sample.chosen is None
    spread = None
    where: Matrix = representation
    if representation is None:
        where, spread = _components(data, every, sample, graph, spec)
    near = graph  # among the sampled cells
    if graph is None or not all_at_hand:
        near = graphs.knn_graph(sample.rows(where), n_neighbors, seed)
    residuals = noise.measure(sample.data, every.variance, near, sample.variance)
    if graph is None:
        graph = near if all_at_hand else graphs.knn_graph(where, n_neighbors, seed)
    if spread is not None:
        basis, projections = spread
    else:
        if n_comps is None:
            basis = pca.full_rank(sample.data, whole_space=whole_space)
        else:
            basis = pca.orthonormal(where)
        projections = pca.project(sample.products if all_at_hand else data, basis)
    if basis.shape[1] == 0:
        raise InvalidValue(
            "representation",
            NO_VALUE,
            "is the same for all cells, or for those of a batch",
            "recompute it, or leave it out",
        )
    projections[every.variance == 0] = 0.0  # where rounding left some
    units, noise_level = _units(spec.standardize, every.variance, residuals)
    form = graphs.quadratic_form(graph, basis)
    return Problem(
        data=sample.data,
        data_graph=near,
        graph=graph,
        # In the order of rows that files keep: products of the same numbers round alike.
        basis=np.ascontiguousarray(basis),
        projections=np.ascontiguousarray(projections),
        stiffness=basis.T @ basis + spec.lambda1 * form,
        variance=every.variance,
        residuals=residuals,
        assay_noise=noise.of_assay(every.variance, residuals),
        units=units,
        noise_level=noise_level,
        graph_components=graphs.n_components(graph),
        full_rank=n_comps is None,
    )


def _units(standardize: str | None, variance: Array, residuals: Array) -> tuple[Array, float]:
    """What genes are multiplied with, and their mean noise then."""
    if standardize in ("auto", "noise"):
        return noise.gene_units(variance, residuals), 1.0
    units = np.ones_like(variance)
    if standardize == "unit":
        units = noise.inverse_root(variance)
    alive = variance > 0
    return units, float(np.mean(units[alive] ** 2 * residuals[alive]))


def _components(
    data: RowMatrix,
    every: Moments,
    sample: Sample,
    graph: sparse.csr_array | None,
    spec: StructureSpec,
) -> tuple[Matrix, tuple[Array, Array] | None]:
    """Principal components of the genes in the units asked for: of noise, these are ``1/σ_i``.

    Of all cells, from what is at hand; where that is a sample, with an orthonormal basis of the
    components and the genes' projections on it, which come out of the same passes.
    """
    n_comps, seed = spec.n_comps, spec.random_state
    scale = np.ones_like(every.variance)
    start = None
    if spec.standardize == "unit":
        scale = noise.inverse_root(every.variance)
    if spec.standardize in ("auto", "noise"):
        used, near, first = sample, graph, None
        if near is None or sample.chosen is not None:
            used = sample.part(FIRST_LOOK, seed)
            first = _coordinates(used, scale, n_comps, seed, pca.RULES.leading)
            near = graphs.knn_graph(first, spec.n_neighbors, seed)
        residuals = noise.measure(used.data, every.variance, near, used.variance)
        scale = noise.inverse_root(residuals)
        if first is not None and n_comps is not None:
            start = ScaledGenes.of(used.products, scale).weights(first - first.mean(axis=0))
    if n_comps is None or sample.chosen is None:
        return _coordinates(sample, scale, n_comps, seed, pca.RULES.every, start), None
    start = pca.loadings(sample.products, n_comps + pca.SPARE, scale, seed, start)
    where, basis, projections = pca.spread(
        data, start, n_comps, every.mean, scale, mostly_zero=is_sparse(sample.data)
    )
    return where, (basis, projections)


def _coordinates(
    sample: Sample,
    scale: Array,
    n_comps: int | None,
    random_state: int | None,
    tolerance: float,
    start: Array | None = None,
) -> Matrix:
    """Where the sampled cells are, for genes in given units."""
    if n_comps is not None:
        return pca.principal_components(
            sample.products, n_comps, random_state, scale=scale, tolerance=tolerance, start=start
        )
    if sparse.issparse(sample.data):
        return sample.data @ sparse.diags_array(scale)
    return sample.data * scale
