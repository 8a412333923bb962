"""How a matrix of cells × genes is reduced, and what that gives for every criterion of panels."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from scipy.sparse import csgraph

from .. import checks, codec
from ..data.matrix import RowMatrix, check_unit, doubled, is_sparse, moments
from ..data.products import LEADING, SPARE, Products, ScaledGenes, principal_components, spread
from ..data.threads import few_threads
from ..errors import InvalidValue, listed, short
from ..labels import batch_names
from . import graph as graphs
from . import noise

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Array, Index, Matrix

    #: Coordinates of the cells and their graph; None: computed.
    Geometry: TypeAlias = tuple[Array | None, sparse.csr_array | None]

log = logging.getLogger(__name__)

STANDARDIZE = ("noise", "unit", None)
#: Parameters of a selection that a stored structure has itself.
OF_STORED = ("layer", "batch_key", "neighbors_key", "ignore")
#: Of more cells than the first a sample is drawn, of so many.
MANY_CELLS, SAMPLED = graphs.MOST_EXACT, 10_000
#: Cells of the first look, at plain genes: more than there were in any set that decided about it.
FIRST_LOOK = 5_000
#: Fewer cells have no structure; of a batch the second is worth a note.
FEWEST_CELLS, _FEW_CELLS = 3, 20
#: A pivot of a smaller share of the largest is rounding.
_RANK_TOLERANCE = 1e-10


def refuse_ignored(remedy: str, **arguments: object) -> None:
    """Refuse genes to ignore where the subspace or the graph is given, which may have them."""
    for name, value in arguments.items():
        if value is not None:
            text = f"`ignore` has no effect on `{name}`, which stays as it was computed"
            remedy = f"compute it without them and {remedy}, or leave `{name}` out"
            raise InvalidValue(f"{text}: {remedy}")


@dataclass(frozen=True)
class StructureSpec:
    """How the structure of the cells is computed: arguments of :func:`~glfs_bio.pp.structure`."""

    n_comps: int | None = 50
    n_neighbors: int | None = None
    lambda1: float = 100.0
    standardize: str | None = "auto"
    layer: str | None = None
    batch_key: str | None = None
    use_rep: str | None = None
    neighbors_key: str | None = None
    #: Genes that are no structure: as they are given, or names of ``.var_names``.
    ignore: Any = None
    random_state: Any = 0
    #: Key of a structure in the object that has these parameters; None: it is computed.
    stored_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        checks.whole_number("n_comps", self.n_comps, at_least=1, or_none=True)
        checks.whole_number("n_neighbors", self.n_neighbors, at_least=1, or_none=True)
        checks.number("lambda1", self.lambda1)
        checks.one_of("standardize", self.standardize, ("auto", *STANDARDIZE))
        if isinstance(self.ignore, Iterator):
            object.__setattr__(self, "ignore", list(self.ignore))
        if self.ignore is not None:
            remedy = "exclude them with `exclude`"
            refuse_ignored(remedy, use_rep=self.use_rep, neighbors_key=self.neighbors_key)
        checks.seed(self.random_state)

    def text(self) -> str:
        """Return the parameters as one text, wherever the structure is stored."""
        return codec.text_of(vars(self) | {"stored_key": None})

    @classmethod
    def restored(cls, text: Any) -> StructureSpec:
        """Return the parameters that :meth:`text` wrote."""
        return cls(**codec.value_of(text))

    def arguments(self) -> dict[str, Any]:
        """Return them as :func:`~glfs_bio.pp.select_genes` takes them."""
        names = ("n_comps", "layer", "batch_key", "use_rep", "neighbors_key", "ignore")
        arguments = {name: getattr(self, name) for name in (*names, "random_state")}
        if self.stored_key is not None:
            arguments |= dict.fromkeys(OF_STORED) | {"use_rep": self.stored_key}
        return arguments


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Cells and their graph, and the genes seen through a subspace of the cells, of r dimensions.

    Files keep what the criterion for panels needs, without the matrix and the graph.
    """

    #: V, orthonormal columns, shape (n_cells, r).
    basis: Array
    #: ``C = XᵀV`` of the centred genes in the units of the matrix, shape (n_genes, r).
    projections: Array
    #: ``K = Vᵀ (I + λ1 L) V``, shape (r, r).
    stiffness: Array
    #: Variance of every gene in the units of the matrix, shape (n_genes,).
    variance: Array
    #: ``σ_i²``, technical noise in the units of the matrix, shape (n_genes,).
    residuals: Array
    #: ``σ_0²``, the noise of the assay that will measure the panel, in the units of the matrix.
    assay_noise: float
    #: What genes are multiplied with, shape (n_genes,), and their mean noise in these units.
    units: Array
    noise_level: float
    #: Connected components of the graph of the cells.
    graph_components: int = 1
    #: Strength of the leading axis where each gene is permuted over the cells; 0: not looked at.
    chance: float = 0.0
    #: Cells × genes in memory: all cells, or a :class:`Sample` of many.
    data: Matrix = None
    #: Similarities of the cells of `data`.
    data_graph: sparse.csr_array = None
    #: Similarities, shape (n_cells, n_cells).
    graph: sparse.csr_array = None

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.basis)

    @cached_property
    def metric(self) -> tuple[Array, Array]:
        """κ, shape (r,), and Q, shape (r, r), of the cells' metric ``K = Q diag(κ) Qᵀ``."""
        kappa, basis = np.linalg.eigh(self.stiffness)
        return kappa, basis

    @cached_property
    def whitened(self) -> Array:
        """Genes in `units` where the cells' metric is the identity: ``(C Q diag(√κ))_i``."""
        kappa, basis = self.metric
        return (self.projections * self.units[:, None]) @ (basis * np.sqrt(kappa))

    @cached_property
    def scatter(self) -> Array:
        """``Σ u_j² c_j c_jᵀ`` with the `units` u, shape (r, r)."""
        in_units = self.projections * self.units[:, None]
        return np.asarray(in_units.T @ in_units)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Strengths and directions of r axes along which genes vary, the largest first.

        With ``Σ u_j² c_j c_jᵀ = U diag(α) Uᵀ`` these are ``α/ν_edge``, where ν_edge is what noise
        alone gives along its largest axis, and U.
        """
        strengths, directions = np.linalg.eigh(self.scatter)
        edge = noise.edge(self.units**2 * self.residuals, len(self.basis))
        return strengths[::-1] / max(edge, np.finfo(float).tiny), directions[:, ::-1]

    @property
    def strength(self) -> float:
        """How far the leading axis stands above the noise: 1 is what noise alone gives."""
        return float(self.axes[0][0])

    @property
    def n_axes(self) -> int:
        """Number of axes above the noise; 0, no structure, where chance reaches the leading one."""
        is_structure = self.strength > noise.MARGIN * self.chance
        return int((self.axes[0] > 1.0).sum()) if is_structure else 0

    @cached_property
    def above_noise(self) -> Array:
        """H, symmetric, (r, r), takes the noise off ``Σ u_j² c_j c_jᵀ``: genes become ``H c_j``.

        ``H = U diag(√(1 − ν_edge/α)) Uᵀ`` where ``α > ν_edge`` (:attr:`axes`), and zero along
        other axes.  It is the identity where there is no structure.
        """
        strengths, directions = self.axes
        if not self.n_axes:
            return np.eye(len(strengths))
        shares = 1.0 - 1.0 / np.maximum(strengths, 1.0)
        return np.asarray((directions * np.sqrt(shares)) @ directions.T)

    def whitened_form(self, scatter: Array, weights: Array | None = None) -> Array:
        """``Σ u_j² c_j c_jᵀ`` where the cells' metric is I; a cell of weight 2 counts as two."""
        kappa, basis = self.metric
        whitening = basis * np.sqrt(kappa)
        if weights is not None:
            within = self.basis.T @ (self.basis * weights[:, None])
            scatter = within @ scatter @ within
        return np.asarray(whitening.T @ scatter @ whitening)

    def coordinates(self, values: Array) -> Array:
        """``ZᵀY`` of values of the cells, with ``Z = V Q diag(1/√κ)``, shape (r, n_values)."""
        kappa, basis = self.metric
        within = np.asarray(self.basis.T @ values)
        return np.asarray((basis / np.sqrt(kappa)).T @ within)

    def only(self, genes: Index) -> Self:
        """The same cells, subspace and graph with some of the genes."""
        if len(genes) == len(self.variance):
            return self
        arrays = ("projections", "variance", "residuals", "units")
        of_genes: dict[str, Any] = {name: getattr(self, name)[genes] for name in arrays}
        return replace(self, data=None if self.data is None else self.data[:, genes], **of_genes)


class Sample(NamedTuple):
    """The cells that are looked at one by one, in memory: all, or, of many, a random part.

    Of these are neighbours and estimates for genes; subspace, graph and projections are of all.
    """

    #: All cells × genes, by rows.
    rows: RowMatrix
    #: Mean and variance of every gene over all cells, shape (n_genes,).
    mean: Array
    variance: Array
    #: Sampled cells × genes, in single or double precision as they were given.
    data: Matrix
    #: Which of all cells, sorted; None: all.
    chosen: Index | None = None


def take_sample(cells: RowMatrix, *, all_cells: bool, random_state: int | None) -> Sample:
    """Return a sample of the cells, or `all_cells`, and moments of all, in one pass."""
    n_cells = cells.shape[0]
    chosen = None
    if n_cells > MANY_CELLS and not all_cells:
        chosen = _drawn(n_cells, min(SAMPLED, MANY_CELLS), random_state)
    mean, variance, data = moments(cells, chosen)
    if data.dtype.kind != "f":
        data = doubled(data)
    if not all_cells and is_sparse(data):
        data = sparse.csr_array(data)
    return Sample(cells, mean, variance, data, chosen)


def _drawn(n_cells: int, n_drawn: int, random_state: int | None) -> Index:
    return np.sort(np.random.default_rng(random_state).choice(n_cells, n_drawn, replace=False))


def split(
    batch: ArrayLike | None, n_cells: int, *, log_few: bool = False
) -> list[tuple[str | None, Index | None]]:
    """Return label and cells of every batch of three cells or more; None and None: all cells."""
    if batch is None:
        return [(None, None)]
    labels = np.asarray(batch)
    if labels.shape != (n_cells,):
        raise InvalidValue(f"`batch` has shape {labels.shape}, but there are {n_cells} cells")
    labels = batch_names(labels, "batch")
    names, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    is_large = sizes >= FEWEST_CELLS
    if not is_large.any():
        raise InvalidValue(f"`batch` has no batch of {FEWEST_CELLS} cells: merge batches")
    with_sizes = np.array([f"{name} ({size})" for name, size in zip(names, sizes, strict=True)])
    is_few = (sizes < _FEW_CELLS) & is_large
    if log_few and not is_large.all():
        log.warning(f"Batches of one or two cells are left out: {listed(with_sizes[~is_large])}.")
    if log_few and is_few.any():
        text = f"Batches with few cells count as much as others: {listed(with_sizes[is_few])}."
        log.warning(f"{text} Merge or remove them.")
    return [(str(names[code]), np.flatnonzero(codes == code)) for code in np.flatnonzero(is_large)]


def build_cells(
    data: Matrix | RowMatrix,
    spec: StructureSpec,
    *,
    representation: Array | None = None,
    graph: sparse.csr_array | None = None,
    batch: ArrayLike | None = None,
    whole_space: bool = False,
    of_classes: bool = False,
) -> list[Cells]:
    """Reduce all cells, or each batch, computing what was not given: coordinates whose span is V,
    shape (n_cells, r), and a checked graph.  A graph `of_classes` has components on purpose.
    """
    all_cells = RowMatrix(data)
    check_unit(all_cells)
    rank, n_comps = min(data.shape), spec.n_comps or 0
    if representation is None and n_comps > max(rank, StructureSpec.n_comps or 0):
        text = f"is more than {data.shape[0]} cells × {data.shape[1]} genes have"
        raise InvalidValue(f"`n_comps={short(n_comps)}` {text}: give at most {rank}, or `None`")
    if batch is not None and graph is not None:
        raise InvalidValue("`graph` is of all cells, but each batch has its own: remove one")
    sets = []
    for label, cells in split(batch, data.shape[0], log_few=True):
        rows, where = all_cells, representation
        if cells is not None:
            rows = RowMatrix(all_cells, cells)
            where = None if representation is None else representation[cells]
        sample = take_sample(rows, all_cells=spec.n_comps is None, random_state=spec.random_state)
        if not sample.variance.any():
            which = "the cells" if label is None else f"the cells of batch {label!r}"
            raise InvalidValue(f"`X` has no gene that varies over {which}")
        with few_threads(spec.n_comps or min(rows.shape)):
            sets.append(_reduced(sample, spec, (where, graph), whole_space))
    most = max(cells_of_set.graph_components for cells_of_set in sets)
    if most > 1 and not of_classes:
        remedy = "If they should be connected, use more neighbours, or remove isolated cells."
        log.warning(f"The graph of the cells has {most} connected components. {remedy}")
    return sets


def _reduced(sample: Sample, spec: StructureSpec, geometry: Geometry, whole_space: bool) -> Cells:
    """Return one set of cells, compared with chance where its structure is not evident."""
    cells = _build(sample, spec, geometry, whole_space)
    if cells.strength >= noise.EVIDENT:
        return cells
    where, graph = geometry  # those of the cells, which stay
    if where is not None and sample.chosen is not None:
        where = where[sample.chosen]
    geometry, chance = (where, None if graph is None else cells.data_graph), 0.0
    for data in noise.permutations(sample.data, spec.random_state):
        rows = RowMatrix(data, checked=True)
        permuted = take_sample(rows, all_cells=True, random_state=spec.random_state)
        chance = max(chance, _build(permuted, spec, geometry, whole_space).strength)
    return replace(cells, chance=chance)


def _build(sample: Sample, spec: StructureSpec, geometry: Geometry, whole_space: bool) -> Cells:
    representation, graph = geometry
    n_comps, n_neighbors, seed = spec.n_comps, spec.n_neighbors, spec.random_state
    all_at_hand = sample.chosen is None
    where: Matrix = representation
    seen = None
    if representation is None or all_at_hand:
        products = Products.of(sample.data)  # whose transpose is kept for both uses
    if representation is None:
        where, seen = _components(sample, products, graph, spec)
    sample_graph = graph  # among the sampled cells
    if graph is None or not all_at_hand:
        sampled = where if all_at_hand else where[sample.chosen]
        sample_graph = graphs.knn_graph(sampled, n_neighbors, seed)
    residuals = noise.measure(sample.data, sample.variance, sample_graph, of_all=all_at_hand)
    if graph is None:
        graph = sample_graph if all_at_hand else graphs.knn_graph(where, n_neighbors, seed)
    if seen is None:
        basis = orthonormal(where) if n_comps is not None else full_rank(sample.data, whole_space)
        times = products.transposed.times if all_at_hand else sample.rows.weighted_sums
        seen = basis, times(basis - basis.mean(axis=0))
    basis, projections = seen
    if basis.shape[1] == 0:
        raise InvalidValue("`representation` is the same for all cells, or a batch: recompute it")
    projections[sample.variance == 0] = 0.0  # where rounding left some
    units, noise_level = np.ones_like(sample.variance), 1.0
    if spec.standardize in ("auto", "noise"):
        units = noise.gene_units(sample.variance, residuals)
    else:
        if spec.standardize == "unit":
            units = noise.inverse_root(sample.variance)
        alive = sample.variance > 0
        noise_level = float(np.mean(units[alive] ** 2 * residuals[alive]))
    form = graphs.quadratic_form(graph, basis)
    components = csgraph.connected_components(graph, directed=False, return_labels=False)
    return Cells(
        data=sample.data,
        data_graph=sample_graph,
        graph=graph,
        # In the order of rows that files keep: products of the same numbers round alike.
        basis=np.ascontiguousarray(basis),
        projections=np.ascontiguousarray(projections),
        stiffness=basis.T @ basis + spec.lambda1 * form,
        variance=sample.variance,
        residuals=residuals,
        assay_noise=noise.ASSAY * noise.mean(sample.variance, residuals),
        units=units,
        noise_level=noise_level,
        graph_components=int(components),
    )


def _components(
    sample: Sample, products: Products, graph: sparse.csr_array | None, spec: StructureSpec
) -> tuple[Matrix, tuple[Array, Array] | None]:
    """Principal components of all cells in the units asked for, ``1/σ_i`` those of noise; from a
    sample with an orthonormal basis and the genes' projections on it, out of the same passes.
    """
    n_comps, seed = spec.n_comps, spec.random_state
    scale = np.ones_like(sample.variance)
    start = None
    if spec.standardize == "unit":
        scale = noise.inverse_root(sample.variance)
    if spec.standardize in ("auto", "noise"):
        data, of_data, sample_graph, first = sample.data, products, graph, None
        if sample_graph is None or sample.chosen is not None:
            if data.shape[0] > FIRST_LOOK:
                data = data[_drawn(data.shape[0], FIRST_LOOK, seed)]
                of_data = Products.of(data)
            first = principal_components(of_data, n_comps, seed, scale=scale, tolerance=LEADING)
            sample_graph = graphs.knn_graph(first, spec.n_neighbors, seed)
        of_all = data.shape[0] == sample.rows.shape[0]
        residuals = noise.measure(data, sample.variance, sample_graph, of_all=of_all)
        scale = noise.inverse_root(residuals)
        if first is not None and n_comps is not None:
            start = ScaledGenes(of_data, scale).weights(first - first.mean(axis=0))
    if n_comps is None or sample.chosen is None:
        where = principal_components(products, n_comps, seed, scale=scale, start=start)
        return where, None
    genes = ScaledGenes(products, scale)
    start = genes.loadings(n_comps + SPARE, seed, start=start)
    where, basis, projections = spread(
        sample.rows, start, n_comps, sample.mean, scale, mostly_zero=is_sparse(sample.data)
    )
    return where, (basis, projections)


def orthonormal(representation: Array) -> Array:
    """Orthonormal basis of centred columns; the first span what the first independent ones do."""
    centred = representation - representation.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    centred = centred[:, scale > 0] / scale[scale > 0]
    triangle, order = qr(centred, mode="r", pivoting=True, check_finite=False)
    pivots = np.abs(np.diag(triangle))
    independent = np.sort(order[: len(pivots)][pivots > _RANK_TOLERANCE * pivots.max(initial=0.0)])
    return np.asarray(np.linalg.qr(centred[:, independent])[0])


def full_rank(data: Matrix, whole_space: bool) -> Array:
    """Basis of the row space of the centred genes; the identity where no larger, or if asked."""
    n_cells, n_genes = data.shape
    if whole_space or n_genes >= n_cells:
        return np.eye(n_cells)
    return orthonormal(doubled(data.toarray() if sparse.issparse(data) else data))
