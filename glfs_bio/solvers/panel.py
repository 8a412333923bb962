"""What every method is asked, and what it answers: a problem, a method, a panel."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from .. import checks
from ..criterion.platform import AS_REFERENCE
from ..errors import InvalidType, InvalidValue, short
from .constraints import Row, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..cells.cells import Cells
    from ..criterion.criterion import Criterion
    from ..criterion.error import Block
    from ..criterion.platform import Detection

#: What a panel may lose to be nearly the best, as a share of what the best one preserves.
TOLERANCE = 0.005
#: Differences of F that count as rounding, as a share of F without genes: a statement must hold by
#: more.
ROUNDING = 1e-9
#: What is known of a gene: it is in every panel that is nearly the best, that is open, or in none.
STATES = EVERY, OPEN, NONE = "every", "open", "none"
#: A gene adds nothing to a panel if less is lost without it than this share of the mean loss.
_NOTHING = 0.01


def _are_among(argument: str, genes: Any, n_features: int) -> NDArray[np.bool_]:
    """Return whether each of so many genes is among some, which are given by index."""
    genes = np.unique(() if genes is None else genes)
    if len(genes) and genes.dtype.kind not in "iu":
        raise InvalidType(f"`{argument}` has dtype {genes.dtype}: give indices of genes")
    outside = genes[(genes < 0) | (genes >= n_features)]
    if len(outside):
        raise InvalidValue(f"`{argument}` has gene {outside[-1]}, but there are {n_features} genes")
    return np.isin(np.arange(n_features), genes)


@dataclass(frozen=True)
class Problem:
    """Which genes of some candidates preserve most of what a criterion measures.

    Other genes belong to the structure too.  A panel is in the positions of the candidates: gene 0
    is the first of them.
    """

    #: Whether each gene can be selected, and whether it must be: shape (n_genes,).
    allowed: NDArray[np.bool_]
    included: NDArray[np.bool_]
    #: What a panel should preserve, of all genes; it comes with the structure of the cells.
    criterion: Criterion = None  # type: ignore[assignment]
    #: Whether each gene is taken where better ones preserve little more; None: no gene is.
    preferred: NDArray[np.bool_] | None = None
    #: Limits on the panel, over all genes; None: there are none.
    limits: Rows | None = None
    #: What the target platform is to the genes.
    detection: Detection = AS_REFERENCE
    #: Genes of nearly one sequence, by set: once one of a set is in, others enter last.
    alike: Mapping[str, Index] = field(default_factory=dict)
    #: What was named and is not there.
    missing: tuple[Any, ...] = ()
    #: Genes that a limit rules out on their own, by index, with the limit; they are not allowed.
    ruled_out: Mapping[int, str] = field(default_factory=dict)
    #: Number of genes to select; None: the method chooses it.
    n_genes: int | None = None
    #: Seed of the draws of what a platform detects.
    random_state: int | None = 0
    #: Whether panels are ``"nested"``, where limits let them be, or the ``"best"`` that is found in
    #: so many seconds; None: however long it takes.
    search: str = "nested"
    time_limit: float | None = None
    #: What the best panel may lose where the genes of panels that are nearly the best are sought.
    tolerance: float = TOLERANCE

    @classmethod
    def of(cls, n_features: int, include: Any = None, ignore: Any = None) -> Self:
        """Return the choice among so many genes, by index: of all but those to ignore."""
        included = _are_among("include", include, n_features)
        return cls(included | ~_are_among("ignore", ignore, n_features), included)

    @cached_property
    def genes(self) -> Index:
        """Indices of the candidates among all genes, sorted."""
        return np.flatnonzero(self.allowed)

    @cached_property
    def fixed(self) -> Index:
        """Positions of the genes that must be selected."""
        return np.flatnonzero(self.included[self.allowed])

    @cached_property
    def blocks(self) -> list[Block]:
        """F of the candidates, on each set of cells."""
        return [block.only(self.genes) for block in self.criterion.blocks]

    @property
    def sets(self) -> list[Cells]:
        """Each set of cells, with the candidates alone."""
        return [cells.only(self.genes) for cells in self.criterion.sets]

    @cached_property
    def rows_alike(self) -> Rows:
        """One candidate at most of each set that is alike, or those that must be in."""
        limit, rows = "nearly_identical", []
        for name, of_set in self.alike.items():
            genes = np.searchsorted(self.genes, of_set)
            upper = max(1.0, float(np.isin(genes, self.fixed).sum()))
            rows.append(Row(limit, f"{limit} ({name})", genes, np.ones(len(genes)), upper=upper))
        return Rows.of(rows, len(self.genes))

    @cached_property
    def rows(self) -> Rows:
        """Limits on the candidates, with those of genes that are alike."""
        limits = Rows.of((), len(self.allowed)) if self.limits is None else self.limits
        return limits.only(self.genes).with_rows(self.rows_alike)

    @property
    def has_any_size(self) -> bool:
        """Whether a budget, and no number, says how many genes there may be."""
        return self.n_genes is None and self.limits is not None and self.limits.budget

    def errors(self, order: Sequence[int] | Index) -> Array:
        """F of no gene, of the first, of the first two, … of some positions."""
        return self.criterion.errors(self.genes[np.asarray(order, dtype=np.intp)])

    def preserved(self, order: Sequence[int] | Index) -> Array:
        """Share that the first 1, 2, … of some positions preserve of what all genes preserve."""
        return self.criterion.preserved(self.genes[np.asarray(order, dtype=np.intp)])


@dataclass(frozen=True)
class Method:
    """A way to select genes.  A subclass has its options as fields, and checks them."""

    #: Name in a registry, and in what is recorded.
    name: ClassVar[str]
    title: ClassVar[str] = ""
    #: Authors and year.
    reference: ClassVar[str] = ""
    #: Whether it chooses the number of genes where none is given.
    chooses_size: ClassVar[bool] = False
    #: Whether genes come from the criterion: it answers every problem, without the matrix.
    by_criterion: ClassVar[bool] = False
    #: Whether it needs all directions of the cells, those too that no gene reaches.
    whole_space: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Panel:
        """Select genes of a problem."""
        raise NotImplementedError

    def standardize(self, n_comps: int | None) -> str | None:
        """Units of genes where none are asked for; at full rank (None) genes are as they are."""
        return None if n_comps is None else "noise"

    def record(self) -> str | dict[str, Any]:
        """The name, with options that are not the default, as ``.uns`` can keep them."""
        pairs = [(field, getattr(self, field.name)) for field in fields(self)]
        changed = {field.name: value for field, value in pairs if value != field.default}
        return {"name": self.name, **changed} if changed else self.name


#: Objectives of ``method="glfs"``, and methods, which with ``"glfs"`` rank by an objective.  A text
#: ``module:Class`` stands for one with its default options, which is imported when it is asked for.
OBJECTIVES: dict[str, str | Method] = {
    "error": "glfs_bio.selection:PosteriorVariance",
    "exact": "glfs_bio.glfs2014.objective:Exact",
    "printed": "glfs_bio.glfs2014.objective:Printed",
}
METHODS: dict[str, str | Method] = {
    "glfs": "glfs_bio.selection:PosteriorVariance",
    "lapaofs": "glfs_bio.rivals:LapAOFS",
    "lapdofs": "glfs_bio.rivals:LapDOFS",
    "laplacian_score": "glfs_bio.rivals:LaplacianScore",
    "q_alpha": "glfs_bio.rivals:QAlpha",
    "sparse_pca": "glfs_bio.rivals:SparsePCA",
    "variance": "glfs_bio.rivals:LargestVariance",
}
_NAMED = {"objective": OBJECTIVES, "method": METHODS}


def method_of(argument: str, value: object, **options: Any) -> Method:
    """Return an objective or a method, by its name or as an instance, with some options."""
    method = value
    if not isinstance(method, Method):
        checks.one_of(argument, value, _NAMED[argument])
        method = _NAMED[argument][str(value)]
    method = _imported(method) if isinstance(method, str) else method
    for option in options.keys() - {item.name for item in fields(method)}:
        text = f"`{option}={short(options[option])}` is no option of {method.name}"
        raise InvalidValue(f"{text}: leave it out, or choose another `objective`")
    return replace(method, **options) if options else method


@cache
def _imported(text: str) -> Method:
    """Return the method of a text ``module:Class``."""
    module, _, kind = text.partition(":")
    method: Method = getattr(import_module(module), kind)()
    return method


@dataclass(frozen=True)
class Certificates:
    """What is known of the genes of all panels that are nearly the best."""

    #: No panel that holds, or that lacks, each gene has less F; shape (n_genes,).
    holding: Array
    lacking: Array
    #: F of the best panel known, and without genes.
    error: float
    start: float

    def over(self, earlier: Certificates, genes: Index) -> Self:
        """Return these certificates of panels of some genes alone, with earlier ones of all."""
        holding, lacking = earlier.holding.copy(), earlier.lacking.copy()
        beyond = np.delete(holding, genes).min(initial=np.inf)
        holding[genes] = np.maximum(holding[genes], np.minimum(self.holding, beyond))
        lacking[genes] = np.maximum(lacking[genes], np.minimum(self.lacking, beyond))
        return replace(self, holding=holding, lacking=lacking)

    def of(self, tolerance: float = 0.0) -> NDArray[np.str_]:
        """Return one of :data:`STATES` for each gene, for panels that lose at most `tolerance`."""
        return np.array(STATES)[self.codes(tolerance)]

    def codes(self, tolerance: float) -> NDArray[np.int8]:
        """Return the index of each gene's state in :data:`STATES`."""
        above = self.error + tolerance * (self.start - self.error) + ROUNDING * self.start
        codes = np.full(len(self.holding), STATES.index(OPEN), dtype=np.int8)
        codes[self.holding > above] = STATES.index(NONE)
        codes[self.lacking > above] = STATES.index(EVERY)
        return codes


@dataclass(frozen=True)
class Proof:
    """How much better than the best panel known another one could be."""

    #: F of it, and of no gene; no panel is below `lower`.
    error: float
    start: float
    lower: float
    #: Nodes whose relaxation was solved, and genes that are still open.
    n_nodes: int
    n_open: int

    @property
    def proven(self) -> bool:
        """Whether no panel is better, but for rounding."""
        return self.lower >= self.error - ROUNDING * self.start


@dataclass(frozen=True)
class Panel:
    """The answer of every method: the best genes in order, with a score for every candidate."""

    #: The method's own weights, zero for what it left out; its scores where it has none.
    weights: Array
    #: One finite number a gene, larger is better, no two alike.
    scores: Array
    #: How many of the best genes are selected.
    n_selected: int
    #: Share of what all genes preserve that the first 1, 2, … genes preserve.
    preserved: Array = field(default_factory=lambda: np.empty(0))
    #: Lower bound on that share relative to the best panel of this size within limits (beginnings:
    #: upper limits); NaN where nothing is left to preserve, and up to the genes that had to be in.
    optimality: Array = field(default_factory=lambda: np.empty(0))
    #: What is known of the genes of all panels that are nearly the best; None: nothing.
    certificates: Certificates | None = None
    #: What was proven of it; None: no proof was asked for.
    proof: Proof | None = None
    #: What is lost without each selected gene, as a share of what all genes preserve; else zero.
    losses: Array = field(default_factory=lambda: np.empty(0))
    #: What else the method has to say, ready to be written to a file.
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> Index:
        """Genes from best to worst."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def ranks(self) -> Index:
        """Rank of every gene, 1 for the best."""
        ranks = np.empty(len(self.scores), dtype=np.intp)
        ranks[self.order] = np.arange(1, len(self.scores) + 1)
        return ranks


def measured(panel: Panel, problem: Problem) -> Panel:
    """Return the panel of a problem with preserved shares, if it has none, and losses."""
    chosen = panel.order[: panel.n_selected]
    losses = np.zeros(len(problem.genes))
    losses[chosen] = problem.criterion.losses(problem.genes[chosen])
    preserved = panel.preserved[: panel.n_selected]
    if not len(preserved):
        preserved = problem.preserved(chosen)
    return replace(panel, losses=losses, preserved=preserved)


def adds_nothing(losses: Array) -> NDArray[np.bool_]:
    """Return whether each gene of a panel adds nothing, by the losses of all."""
    return np.asarray(losses <= _NOTHING * losses.mean())


def by_value(values: Array, problem: Problem, **info: Any) -> Panel:
    """Return the panel of the largest values, after those that must be in, in the same order."""
    n_genes: Any = problem.n_genes
    include = problem.fixed
    lowest, highest = values.min(), values.max()
    scores = values.copy()
    scores[include] += 2.0 * (highest - lowest) + max(abs(highest), np.finfo(float).tiny)
    return Panel(values, without_ties(scores), n_genes, info=info)


def in_order(picked: Sequence[int] | Index, waiting: Array) -> Array:
    """Return scores without ties of genes that were picked one by one: 1 + (place from the end)/n.

    Those of the others are what they would gain next, relative to the best of these.
    """
    scores = waiting / max(np.delete(waiting, picked).max(initial=0.0), np.finfo(float).tiny)
    scores[picked] = 2.0 - np.arange(len(picked)) / len(picked)
    return without_ties(scores)


def without_ties(scores: Array) -> Array:
    """Spread equal scores, in the order of the genes, over half the gap to the next lower one."""
    levels, level, counts = np.unique(scores, return_inverse=True, return_counts=True)
    gaps = np.diff(levels, prepend=levels[0] - max(1.0, abs(levels[0])))
    order = np.argsort(level, kind="stable")
    firsts = np.cumsum(counts) - counts
    position = np.empty(len(scores))
    position[order] = np.arange(len(scores)) - firsts[level[order]]
    spread = scores - 0.5 * gaps[level] * position / counts[level]
    # Bits of floats, read as integers, are in their order: each becomes the nearest below or equal
    # to it that is below those before.
    best_first = np.argsort(-spread, kind="stable")
    lowest, positions = np.int64(np.iinfo(np.int64).min), np.arange(len(spread))
    bits = np.ascontiguousarray(spread[best_first], dtype=np.float64).view(np.int64)
    steps = np.where(bits < 0, lowest - bits, bits)
    steps = np.minimum.accumulate(steps + positions) - positions
    spread[best_first] = np.where(steps < 0, lowest - steps, steps).view(np.float64)
    return np.asarray(spread)
