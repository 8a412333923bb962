"""The best panel of a size within linear limits, by branch and bound.

A node is all panels that hold some genes and lack some others.  Its relaxation (:mod:`.relaxation`)
bounds them, and by reduced costs (:mod:`.relaxation`) more genes are in, or out, of every panel
there that is as good as the best known.  Of the rest the one of weight nearest to ½ is in, or out,
in the two nodes that follow.  The node of the least bound comes first (Land & Doig 1960; for
optimal designs: Ponte, Fampa & Lee 2023).  Panels come from weights, the largest first, and from
exchanges (:mod:`.constrained`).

A bound is above F of a panel only by more than :data:`.panel.ROUNDING`: what is proven is
that no panel is better than by rounding, and panels that are as good but for rounding are found.
"""

from __future__ import annotations

import heapq
import logging
import time
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import show_stage
from .constrained import Exchanges, select_within
from .greedy import Greedy, select
from .panel import NONE, OPEN, ROUNDING, Certificates, Panel, Proof, in_order
from .relaxation import Point, Polytope, relaxed, without_zeros

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.error import Block
    from .constraints import Mask, Rows
    from .panel import Problem

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
    """Branch and bound over panels of at most `size` genes."""

    def __init__(
        self, blocks: Sequence[Block], rows: Rows, size: int, fixed: Index, panel: Index
    ) -> None:
        """Start from a panel within limits, where each holds the genes of `fixed`."""
        self.blocks, self.rows, self.fixed = blocks, rows, fixed
        self.size, self.n_genes = min(size, rows.n_genes), rows.n_genes
        self.polytope = Polytope.of(rows, self.size)
        #: F without genes, and what of it is rounding
        self.start = self.value(panel[:0])
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
        is_open = ~np.isin(np.arange(self.n_genes), fixed)
        self._push(-np.inf, fixed, is_open, self.beta)

    @property
    def lower(self) -> float:
        """No panel is below."""
        return min(self._waiting[0].bound, self.error) if self._waiting else self.error

    def run(self, until: float) -> None:
        """Go on until everything is known, or a time of the monotonic clock has come."""
        while self._waiting and time.monotonic() < until:
            if self._waiting[0].bound > self.error + self.safe:
                self._waiting.clear()
                break
            if self.lower < self.error - self.safe:
                self._spent = self.n_nodes
            elif self.n_nodes > 2 * self._spent + _TIES:
                break
            if self.n_nodes % _OFTEN == 0 and self.n_nodes:
                gap = (self.error - self.lower) / (self.start - self.error)
                steps = f"{self.n_nodes} steps, others at most {gap:.2%} better"
                show_stage(f"proving the best panel: {steps}")
            self._branch(self._waiting[0])  # those that follow come after it
            heapq.heappop(self._waiting)

    def value(self, panel: Index) -> float:
        """F of a panel."""
        return sum(block.only(panel).value(np.ones(len(panel))) for block in self.blocks)

    def tighten(self, lacking: Array, tolerance: float, until: float) -> None:
        """Look for genes in every panel which loses at most `tolerance` of what the best preserves:
        by the relaxation without each, the most needed first.
        """
        self.lacking = lacking.copy()
        above = self.error + tolerance * (self.start - self.error) + self.safe
        undecided, failures = np.setdiff1d(self.panel, self.fixed), 0
        undecided = undecided[self.lacking[undecided] <= above]
        for gene in undecided[np.argsort(-self.lacking[undecided], kind="stable")]:
            if time.monotonic() >= until or failures == _FAILURES:
                break
            rest = np.setdiff1d(np.arange(self.n_genes), np.append(self.fixed, gene))
            relaxation = self._relaxed(self.fixed, rest, self.beta, above)
            size = self.size - len(self.fixed)
            least = np.inf if relaxation is None else relaxation[1].bound.least(size)
            self.lacking[gene] = max(self.lacking[gene], least)
            failures = 0 if least > above else failures + 1

    def certificates(self) -> Certificates:
        """What is known of each gene: by bounds, and by the panels that are left."""
        in_some, in_every = np.zeros(self.n_genes, dtype=bool), np.ones(self.n_genes, dtype=bool)
        panels = [self.panel, *(panel for _, panel in self.ties)]
        nodes = [(node.inside, self._open_genes(node)) for node in self._waiting]
        for inside, open_genes in (*((panel, panel) for panel in panels), *nodes):
            in_some[inside] = in_some[open_genes] = True
            in_every &= np.isin(np.arange(self.n_genes), inside)
        beyond = np.nextafter(self.error + self.safe, np.inf)  # as all that was left out is
        holding = np.where(in_some, self.holding, np.maximum(self.holding, beyond))
        lacking = np.where(in_every, np.maximum(self.lacking, beyond), self.lacking)
        return Certificates(holding, lacking, self.error, self.start)

    def _branch(self, node: _Node) -> None:
        """Bound the panels of a node, and part them in two."""
        self.n_nodes += 1
        inside, genes = node.inside, self._open_genes(node)
        beta = np.zeros(self.n_genes)
        beta[node.heavy] = node.weights
        if not len(genes) or len(inside) == self.size:
            self._remember(inside)
            return
        relaxation = self._relaxed(inside, genes, beta, self.error + 2.0 * self.safe, node.bound)
        if relaxation is None:
            return
        polytope, point = relaxation
        size = self.size - len(inside)
        holding, lacking = point.bound.of_genes(size)
        if node.number == 0:
            self.holding[genes], self.lacking[genes] = holding, lacking
            self.lacking[inside] = np.inf
            self.beta[genes], self.beta[inside] = without_zeros(point.beta), 1.0
            self._improve(self.panel, genes[point.beta > 0.0])
        bound = max(node.bound, point.bound.least(size))
        if bound > self.error + self.safe:
            return
        self._round(inside, genes, polytope, point, bound)
        above = self.error + self.safe
        into, out = lacking > above, holding > above
        if (into & out).any():
            return
        inside, rest = np.concatenate([inside, genes[into]]), ~into & ~out
        if node.number == 0:  # what binds none of the genes that are left binds none later
            self.polytope = self.polytope.binding(np.concatenate([inside, genes[rest]]))
        is_open = np.isin(np.arange(self.n_genes), genes[rest])
        beta[genes] = point.beta
        if not rest.any() or len(inside) >= self.size:
            self._push(bound, inside, is_open, beta)
            return
        nearest = np.flatnonzero(rest)[np.argmin(np.abs(point.beta[rest] - 0.5))]
        is_open[genes[nearest]] = False
        with_nearest = np.append(inside, genes[nearest])
        self._push(max(bound, holding[nearest]), with_nearest, is_open, beta)
        self._push(max(bound, lacking[nearest]), inside, is_open, beta)

    def _push(self, bound: float, inside: Index, is_open: Mask, beta: Array) -> None:
        """Keep the panels that hold some genes, after what limits say of the open ones."""
        while len(self.polytope.most) > 1:
            genes = np.flatnonzero(is_open)
            polytope = self.polytope.remaining(inside, genes)
            if polytope is None:
                return
            room = polytope.most - np.minimum(polytope.matrix, 0.0).sum(axis=1) + _TINY
            out = (polytope.matrix > room[:, None]).any(axis=0)
            into = (-polytope.matrix > room[:, None]).any(axis=0)
            if (into & out).any():
                return
            if not (into | out).any():
                break
            is_open = is_open.copy()
            is_open[genes[into | out]] = False
            inside = np.concatenate([inside, genes[into]])
        heavy = np.flatnonzero(is_open & (beta > 0.0))
        node = _Node(bound, next(self._numbers), inside, np.packbits(is_open), heavy, beta[heavy])
        heapq.heappush(self._waiting, node)

    def _open_genes(self, node: _Node) -> Index:
        """Return the genes that may be in or out."""
        return np.flatnonzero(np.unpackbits(node.bits, count=self.n_genes))

    def _relaxed(
        self, inside: Index, genes: Index, beta: Array, enough: float, bound: float = -np.inf
    ) -> tuple[Polytope, Point] | None:
        """Return what limits leave to some genes, and the relaxation; None: they leave nothing."""
        polytope = self.polytope.remaining(inside, genes)
        if polytope is None:
            return None
        gap = _ENOUGH * (self.error - bound) if np.isfinite(bound) else _FIRST * self.error
        gap = max(gap, 0.5 * self.safe)
        blocks = [block.only(genes).measuring(block.genes[inside]) for block in self.blocks]
        return polytope, relaxed(blocks, polytope, beta[genes], gap=gap, enough=enough)

    def _round(
        self, inside: Index, genes: Index, polytope: Polytope, point: Point, bound: float
    ) -> None:
        """Look for a better panel near the weights of a relaxation."""
        room, chosen = polytope.most.copy(), []
        heavy = np.flatnonzero(point.beta > 0.0)
        for gene in heavy[np.argsort(-point.beta[heavy], kind="stable")]:
            column = polytope.matrix[:, gene]
            if ((column <= 0) | (column <= room + _TINY)).all():
                room -= column
                chosen.append(gene)
        panel = np.sort(np.concatenate([inside, genes[chosen]]))
        key = panel.tobytes()
        if (room < -_TINY).any() or key in self._tried:
            return
        self._tried.add(key)
        self._remember(panel)
        is_near = self.value(panel) < self.error + _NEAR * (self.error - bound)
        if is_near and self.n_nodes >= self._next:
            error = self.error
            self._improve(panel, genes[heavy])
            self._in_vain = 0 if self.error < error else self._in_vain + 1
            self._next = self.n_nodes + self._in_vain

    def _remember(self, panel: Index) -> None:
        """Remember a panel if it is the best, or as good."""
        panel = np.sort(panel)
        fits = (self.polytope.matrix[:, panel].sum(axis=1) <= self.polytope.most + _TINY).all()
        value = self.value(panel)
        if not fits or value > self.error + self.safe or np.array_equal(panel, self.panel):
            return
        panels = [*self.ties, (self.error, self.panel), (value, panel)]
        self.error, self.panel = min(panels, key=lambda error_and_panel: error_and_panel[0])
        seen, self.ties = [self.panel], []
        for value, panel in panels:
            if value <= self.error + self.safe and not any(np.array_equal(panel, p) for p in seen):
                self.ties.append((value, panel))
                seen.append(panel)

    def _improve(self, panel: Index, more: Index) -> None:
        """Exchange genes of a panel for some more, and for those of the best."""
        genes = np.unique(np.concatenate([panel, more, self.panel]))
        blocks = [block.only(genes) for block in self.blocks]
        fixed = np.searchsorted(genes, self.fixed)
        start, rows = partial(Greedy, blocks), self.rows.only(genes)
        exchanges = Exchanges(start, rows, fixed, self.size, -np.inf)
        self._remember(genes[exchanges.improved(np.searchsorted(genes, panel).tolist())])


def best(problem: Problem) -> Panel:
    """Choose the best panel, and prove it if there is time.

    It has as many genes as the greedy choice, or, where limits say how many there may be, any
    number within them, in the order of a greedy choice.  An interrupt returns the best so far.
    """
    time_limit, tolerance = problem.time_limit, problem.tolerance
    until = np.inf if time_limit is None else time.monotonic() + time_limit
    panel = select(problem) if problem.limits is None else select_within(problem)
    order, certificates = panel.order[: panel.n_selected], panel.certificates
    n_fixed = len(problem.fixed)
    if certificates is None or n_fixed == len(order):
        return panel
    size = problem.rows.largest_size if problem.has_any_size else problem.n_genes or len(order)

    def search_among(genes: Index, panel: Index) -> Search:
        fixed, start = np.searchsorted(genes, problem.fixed), np.searchsorted(genes, panel)
        blocks = problem.criterion.on(problem.genes[genes])
        return Search(blocks, problem.rows.only(genes), size, fixed, start)

    tested = np.flatnonzero(certificates.of() != NONE)
    search = search_among(tested, order)
    try:
        search.run(until)
        certificates = search.certificates().over(certificates, tested)
        nearly = np.flatnonzero(certificates.of(tolerance) != NONE)
        wide = search_among(nearly, tested[search.panel])
        wide.tighten(certificates.lacking[nearly], tolerance, until)
        certificates = wide.certificates().over(certificates, nearly)
    except KeyboardInterrupt:
        certificates = search.certificates().over(certificates, tested)
        log.warning("Interrupted: the best panel so far is kept, with the bound so far.")
    errors = problem.errors(order)
    gained = errors[n_fixed] - errors[1:]
    bound = float(errors[n_fixed] - gained[-1] / panel.optimality[-1])  # of the first panel
    lower = min(float(np.fmax(search.lower, bound)), search.error)
    n_open = int((certificates.of() == OPEN).sum())
    proof = Proof(search.error, search.start, lower, search.n_nodes, n_open)
    weights, share = panel.weights.copy(), panel.optimality.copy()
    if not np.array_equal(np.sort(order), tested[search.panel]):
        greedy = Greedy(problem.blocks)
        greedy.grow(n_fixed, among=problem.fixed)
        greedy.grow(len(search.panel), among=tested[search.panel])
        n = min(len(order), len(greedy.picked))  # panels with the same first genes
        gains = errors[n_fixed] - problem.errors(greedy.picked)[1 : n + 1]
        ratio = np.full(len(greedy.picked), np.nan)
        np.divide(gains * share[:n], gained[:n], out=ratio[:n], where=gained[:n] > 0)
        share = np.minimum(ratio, 1.0)
        scores = in_order(greedy.picked, greedy.waiting)
        preserved = problem.preserved(greedy.picked)
        panel = replace(panel, scores=scores, n_selected=len(preserved), preserved=preserved)
    best_gain, most_gain = errors[n_fixed] - proof.error, errors[n_fixed] - proof.lower
    share[-1] = 1.0 if proof.proven else best_gain / most_gain
    if search.n_nodes:
        weights[tested] = search.beta
    return replace(panel, weights=weights, optimality=share, certificates=certificates, proof=proof)
