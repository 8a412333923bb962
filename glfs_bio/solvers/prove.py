"""The best panel of a size within linear limits, by branch and bound.

A node is all panels that hold some genes and lack some others.  Its relaxation (:mod:`.relaxation`)
bounds them, and by reduced costs (:mod:`.certificate`) more genes are in, or out, of every panel
there that is as good as the best known.  Of the rest the one of weight nearest to ½ is in, or out,
in the two nodes that follow.  The node of the least bound comes first (Land & Doig 1960; for
optimal designs: Ponte, Fampa & Lee 2023).  Panels come from weights, the largest first, and from
:mod:`.exchanges`.

A bound is above F of a panel only by more than :data:`.certificate.ROUNDING`: what is proven is
that no panel is better than by rounding, and panels that are as good but for rounding are found.
"""

from __future__ import annotations

import heapq
import logging
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..panel import picked
from .certificate import NONE, OPEN, ROUNDING, TOLERANCE, Certificates
from .exchanges import Exchanges
from .greedy import Greedy
from .relaxation import Point, Polytope, relaxed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.criterion import Criterion
    from ..criterion.error import Block
    from ..panel import Panel
    from .constraints import Rows

log = logging.getLogger(__name__)

#: A relaxation ends where F is above its bound by this share of the gap of its node, and the first
#: one by this share of F.
_ENOUGH, _FIRST = 0.01, 1e-5
#: A rounded panel is improved if it is above the best by less than this share of the gap.
_NEAR = 0.3
#: Nodes beyond those of a proof that are spent on panels which are as good.
_TIES = 100
#: A sum is within a limit up to this share of it, beside what the limit allows for rounding.
_TINY = 1e-12
#: After so many genes in a row that need not be in every panel no others are tried.
_FAILURES = 3
#: Nodes between two messages.
_OFTEN = 50


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


class _Node(NamedTuple):
    """Panels that hold some genes, and choose the others among some; those of least bound first."""

    bound: float
    number: int
    inside: Index
    #: Bits of the genes that are open, of all genes
    bits: NDArray[np.uint8]
    #: Genes of weight in the relaxation before, and their weights
    heavy: Index
    weights: Array


class Search:
    """Branch and bound over panels of at most `size` genes.

    Parameters
    ----------
    blocks
        The criterion on each set of cells, whose sum counts.
    rows
        Limits on the panel.
    size
        Most genes of a panel.
    fixed
        Genes that every panel holds.
    panel
        A panel within the limits.
    """

    def __init__(
        self, blocks: Sequence[Block], rows: Rows, size: int, fixed: Index, panel: Index
    ) -> None:
        self.blocks, self.rows, self.fixed = blocks, rows, fixed
        self.size, self.n_genes = min(size, rows.n_genes), rows.n_genes
        self.polytope = Polytope.of(rows, self.size)
        #: F without genes, and what of it is rounding
        self.start = sum(float(block.weights.sum()) for block in blocks)
        self.safe = ROUNDING * self.start
        #: The best panel known, and F of it
        self.panel = np.sort(panel)
        self.error = self.value(self.panel)
        #: Others that are as good but for rounding, with F of them
        self.ties: list[tuple[float, Index]] = []
        #: Bounds of panels that hold each gene, and that lack it, and weights of the first node
        self.holding, self.lacking = np.full((2, self.n_genes), -np.inf)
        self.beta = np.zeros(self.n_genes)
        self.n_nodes = 0
        self._tried: set[bytes] = set()
        self._numbers = count()
        self._waiting: list[_Node] = []
        #: Nodes before the proof; improvements in vain, and nodes at which another one is tried
        self._spent = self._in_vain = self._next = 0
        free = np.ones(self.n_genes, dtype=bool)
        free[fixed] = False
        self._push(-np.inf, fixed, free, self.beta)

    @property
    def lower(self) -> float:
        """No panel is below."""
        return min(self._waiting[0].bound, self.error) if self._waiting else self.error

    def run(self, until: float) -> None:
        """Go on until everything is known, or a time of the monotonic clock has come."""
        while self._waiting and time.monotonic() < until:
            if self._waiting[0].bound > self.error + self.safe:
                self._waiting.clear()
            elif self.lower < self.error - self.safe:
                self._spent = self.n_nodes
            elif self.n_nodes > 2 * self._spent + _TIES:
                break
            if self._waiting:
                self._branch(self._waiting[0])  # those that follow come after it
                heapq.heappop(self._waiting)

    def value(self, panel: Index) -> float:
        """F of a panel."""
        every = np.ones(len(panel))
        return sum(block.only(panel).value(every) for block in self.blocks)

    def tighten(self, lacking: Array, tolerance: float, until: float) -> None:
        """Look for genes that are in every panel which loses at most `tolerance` of what the best
        one preserves: by the relaxation without each, the most needed first, by what is known.
        """
        self.lacking = lacking.copy()
        above = self.error + tolerance * (self.start - self.error) + self.safe
        undecided, failures = np.setdiff1d(self.panel, self.fixed), 0
        undecided = undecided[self.lacking[undecided] <= above]
        for gene in undecided[np.argsort(-self.lacking[undecided], kind="stable")]:
            if time.monotonic() >= until or failures == _FAILURES:
                break
            others = np.ones(self.n_genes, dtype=bool)
            others[self.fixed] = others[gene] = False
            found = self._relaxed(self.fixed, np.flatnonzero(others), self.beta, above)
            least = np.inf if found is None else found[1].bound.least(found[0].size)
            self.lacking[gene] = max(self.lacking[gene], least)
            failures = 0 if least > above else failures + 1

    def certificates(self) -> Certificates:
        """What is known of each gene: by bounds, and by the panels that are left."""
        some, every = np.zeros((2, self.n_genes), dtype=bool)
        every[:] = True
        panels = [(panel, panel[:0]) for panel in (self.panel, *(panel for _, panel in self.ties))]
        nodes = [(node.inside, self._open(node)) for node in self._waiting]
        for inside, others in (*panels, *nodes):
            some[inside] = some[others] = True
            every &= np.isin(np.arange(self.n_genes), inside)
        beyond = np.nextafter(self.error + self.safe, np.inf)  # as all that was left out is
        return Certificates(
            holding=np.where(some, self.holding, np.maximum(self.holding, beyond)),
            lacking=np.where(every, np.maximum(self.lacking, beyond), self.lacking),
            error=self.error,
            start=self.start,
        )

    def _branch(self, node: _Node) -> None:
        """Bound the panels of a node, and part them in two."""
        self._say()
        self.n_nodes += 1
        inside, others = node.inside, self._open(node)
        beta = np.zeros(self.n_genes)
        beta[node.heavy] = node.weights
        if not len(others) or len(inside) == self.size:
            self._found(inside)
            return
        found = self._relaxed(inside, others, beta, self.error + 2.0 * self.safe, node.bound)
        if found is None:
            return
        left, point = found
        holding, lacking = point.bound.of_genes(left.size)
        if node.number == 0:
            self.holding[others], self.lacking[others] = holding, lacking
            self.lacking[inside] = np.inf
            self.beta[others], self.beta[inside] = point.weights, 1.0
            self._improve(self.panel, others[point.beta > 0.0])
        bound = max(node.bound, point.bound.least(left.size))
        if bound > self.error + self.safe:
            return
        self._round(inside, others, left, point, bound)
        above = self.error + self.safe
        into, out = lacking > above, holding > above
        if (into & out).any():
            return
        inside, rest = np.concatenate([inside, others[into]]), ~into & ~out
        if node.number == 0:  # what binds none of the genes that are left binds none later
            self.polytope = self.polytope.binding(np.concatenate([inside, others[rest]]))
        open_ = np.zeros(self.n_genes, dtype=bool)
        open_[others[rest]] = True
        beta[others] = point.beta
        if not rest.any() or len(inside) >= self.size:
            self._push(bound, inside, open_, beta)
            return
        one = np.flatnonzero(rest)[np.argmin(np.abs(point.beta[rest] - 0.5))]
        open_[others[one]] = False
        self._push(max(bound, holding[one]), np.append(inside, others[one]), open_, beta)
        self._push(max(bound, lacking[one]), inside, open_, beta)

    def _push(self, bound: float, inside: Index, open_: NDArray[np.bool_], beta: Array) -> None:
        """Keep the panels that hold some genes, after what limits say of the open ones."""
        settled = self._settled(inside, open_)
        if settled is None:
            return
        inside, open_ = settled
        heavy = np.flatnonzero(open_ & (beta > 0.0))
        node = _Node(bound, next(self._numbers), inside, np.packbits(open_), heavy, beta[heavy])
        heapq.heappush(self._waiting, node)

    def _open(self, node: _Node) -> Index:
        """Genes that may be in or out."""
        return np.flatnonzero(np.unpackbits(node.bits, count=self.n_genes))

    def _settled(
        self, inside: Index, open_: NDArray[np.bool_]
    ) -> tuple[Index, NDArray[np.bool_]] | None:
        """The genes that are in, and open, after what limits alone say; None: no panel is left."""
        if len(self.polytope.most) == 1:
            return inside, open_
        while True:
            genes = np.flatnonzero(open_)
            left = self.polytope.beside(inside, genes)
            if left is None:
                return None
            room = left.most - np.minimum(left.matrix, 0.0).sum(axis=1) + _TINY
            out = (left.matrix > room[:, None]).any(axis=0)
            into = (-left.matrix > room[:, None]).any(axis=0)
            if (into & out).any():
                return None
            if not (into | out).any():
                return inside, open_
            open_ = open_.copy()
            open_[genes[into | out]] = False
            inside = np.concatenate([inside, genes[into]])

    def _relaxed(
        self,
        inside: Index,
        others: Index,
        beta: Array,
        enough: float,
        bound: float = -np.inf,
    ) -> tuple[Polytope, Point] | None:
        """What limits leave beside some genes, and the relaxation; None: no panel is left."""
        left = self.polytope.beside(inside, others)
        if left is None:
            return None
        gap = _ENOUGH * (self.error - bound) if np.isfinite(bound) else _FIRST * self.error
        point = relaxed(
            [block.only(others).beside(block.genes[inside]) for block in self.blocks],
            left,
            beta[others],
            gap=max(gap, 0.5 * self.safe),
            enough=enough,
        )
        return left, point

    def _round(
        self, inside: Index, others: Index, left: Polytope, point: Point, bound: float
    ) -> None:
        """Look for a better panel near the weights of a relaxation."""
        room, chosen = left.most.copy(), []
        some = np.flatnonzero(point.beta > 0.0)
        for gene in some[np.argsort(-point.beta[some], kind="stable")]:
            column = left.matrix[:, gene]
            if ((column <= 0) | (column <= room + _TINY)).all():
                room -= column
                chosen.append(gene)
        if (room < -_TINY).any():
            return
        panel = np.sort(np.concatenate([inside, others[chosen]]))
        key = panel.tobytes()
        if key in self._tried:
            return
        self._tried.add(key)
        self._found(panel)
        near = self.value(panel) < self.error + _NEAR * (self.error - bound)
        if near and self.n_nodes >= self._next:
            before = self.error
            self._improve(panel, others[point.beta > 0.0])
            self._in_vain = 0 if self.error < before else self._in_vain + 1
            self._next = self.n_nodes + self._in_vain

    def _found(self, panel: Index) -> None:
        """Remember a panel if it is the best, or as good."""
        panel = np.sort(panel)
        fits = (self.polytope.matrix[:, panel].sum(axis=1) <= self.polytope.most + _TINY).all()
        value = self.value(panel)
        if not fits or value > self.error + self.safe or np.array_equal(panel, self.panel):
            return
        known = [*self.ties, (self.error, self.panel), (value, panel)]
        self.error, self.panel = min(known, key=lambda one: one[0])
        self.ties = [
            (value, one)
            for place, (value, one) in enumerate(known)
            if value <= self.error + self.safe
            and not any(np.array_equal(one, other) for _, other in known[:place])
            and not np.array_equal(one, self.panel)
        ]

    def _improve(self, panel: Index, others: Index) -> None:
        """Exchange genes of a panel for some others, and for those of the best."""
        among = np.unique(np.concatenate([panel, others, self.panel]))
        blocks = [block.only(among) for block in self.blocks]
        fixed, places = np.searchsorted(among, self.fixed), np.searchsorted(among, panel)
        exchanges = Exchanges(
            lambda: Greedy(blocks), self.rows.only(among), fixed, self.size, -np.inf
        )
        self._found(among[exchanges.improved(places.tolist())])

    def _say(self) -> None:
        if self.n_nodes % _OFTEN == 0 and self.n_nodes:
            gap = (self.error - self.lower) / (self.start - self.error)
            stage = f"proving the best panel: {self.n_nodes} steps, others at most {gap:.2%} better"
            log.info("%s", stage, extra={"stage": stage, "n_done": 0, "n_all": None})


def best(
    criterion: Criterion,
    n_genes: int | None,
    *,
    nested: Callable[..., Panel],
    rows: Rows,
    include: Index,
    candidates: Index,
    time_limit: float | None = None,
    tolerance: float = TOLERANCE,
) -> Panel:
    """Choose the best panel among sorted candidates with those of `include` among them, and prove
    it if there is time.

    It has as many genes as the panel of `nested`, a greedy choice which takes the same arguments,
    or, where limits say how many there may be, any number within them.  Panels of different sizes
    are not nested; genes are in the order of a greedy choice among them.  `time_limit` is in
    seconds, None: none; whoever interrupts it gets the best panel so far.  The criterion is a sum
    over its blocks.
    """
    until = np.inf if time_limit is None else time.monotonic() + time_limit
    first = nested(criterion, n_genes, include=include, candidates=candidates)
    before, known = first.order[: first.n_selected], first.certificates
    n_fixed = len(include)
    if known is None or n_fixed == len(before):
        return first
    size = len(candidates) if n_genes is None and rows.budget else n_genes or len(before)

    def among(here: Index, panel: Index) -> Search:
        genes = candidates[here]
        places = np.searchsorted(genes, include), np.searchsorted(here, panel)
        return Search(criterion.on(genes), rows.only(genes), size, *places)

    here = np.flatnonzero(known.of() != NONE)
    search = among(here, before)
    try:
        search.run(until)
        known = search.certificates().over(known, here)
        near = np.flatnonzero(known.of(tolerance) != NONE)
        wide = among(near, here[search.panel])
        wide.tighten(known.lacking[near], tolerance, until)
        known = wide.certificates().over(known, near)
    except KeyboardInterrupt:
        known = search.certificates().over(known, here)
        log.warning("Interrupted: the best panel so far is kept, with the bound so far.")
    errors = criterion.errors(candidates[before])[[n_fixed, -1]]
    bound = float(errors[0] - (errors[0] - errors[1]) / first.optimality[-1])  # of the first panel
    lower = min(float(np.fmax(search.lower, bound)), search.error)
    n_open = int((known.of() == OPEN).sum())
    proof = Proof(search.error, search.start, lower, search.n_nodes, n_open)
    found = first
    if not np.array_equal(np.sort(before), here[search.panel]):
        greedy = Greedy([block.only(candidates) for block in criterion.blocks])
        greedy.grow(n_fixed, among=np.searchsorted(candidates, include))
        greedy.grow(len(search.panel), among=here[search.panel])
        waiting, order = np.zeros(criterion.n_genes), candidates[greedy.picked]
        waiting[candidates] = greedy.waiting
        found = picked(
            *(order, waiting, candidates),
            weights=first.weights,
            n_selected=len(order),
            preserved=criterion.preserved(order),
            optimality=_optimality(criterion, candidates[before], first.optimality, order, n_fixed),
        )
    share = found.optimality.copy()
    share[-1] = 1.0 if proof.proven else (errors[0] - proof.error) / (errors[0] - proof.lower)
    weights = found.weights.copy()
    if search.n_nodes:
        weights[here] = search.beta
    return replace(found, weights=weights, optimality=share, certificates=known, proof=proof)


def _optimality(
    criterion: Criterion, before: Index, share: Array, order: Index, n_fixed: int
) -> Array:
    """Shares of the best possible that the first genes of a panel are, from those of another one
    with the same first genes; NaN for more genes than it has.
    """
    n = min(len(before), len(order))
    gained, gains = (
        errors[n_fixed] - errors[1 : n + 1] for errors in map(criterion.errors, (before, order))
    )
    found = np.full(len(order), np.nan)
    np.divide(gains * share[:n], gained, out=found[:n], where=gained > 0)
    return np.asarray(np.minimum(found, 1.0))
