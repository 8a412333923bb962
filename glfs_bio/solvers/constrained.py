"""Panels within linear limits: from genes in parts to whole ones, and exchanges.

The best choice of genes in parts (:mod:`.relaxation`) is within the limits.  An integer programme
returns the panel within them that holds most of it, whose genes are exchanged for better ones.  So
are those of a greedy choice, where that meets the lower limits, and the better panel counts.

Exchanges (Fedorov 1972; Cook & Nachtsheim 1980): each gene in turn leaves, and the one comes in
that gains most in its place and leaves no limit broken.  Where none does, two come in: the first
takes less of the limits, the second what that leaves; if the panel may not grow, its least gene
leaves too.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from .constraints import check
from .greedy import LARGEST, SHARE, Greedy, certified, fewest_genes
from .relaxation import Polytope, relaxed, without_zeros

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._typing import Array, Index
    from .constraints import Mask, Rows
    from .panel import Panel, Problem

log = logging.getLogger(__name__)

#: A gene that gains less than this share of F without genes gains nothing.
_NOTHING = 1e-12
#: Genes add nothing to a panel if all of them add less than this share of what it preserves.
_IDLE = 1e-6
#: So many times as many genes as asked for, those of steepest slopes, are exchanged.
_STEEP = 10
#: F above its bound at the genes in parts, as a share of F without genes.
_GAP = 1e-4
#: Rounds of exchanges, at most, of which none takes longer than twelve greedy selections of the
#: panel's size; the last gains less than this share of what the genes of the panel gain.
_ROUNDS, _LITTLE = 6, 1e-5
#: An exchange that gains a smaller share than this of what leaves is rounding.
_ROUNDING = 1e-6
_TINY = float(np.finfo(float).tiny)


class Packed(Greedy):
    """Genes one by one, each the one that gains most, by its priority, of those that fit."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.blocks, across=problem.criterion.across())
        self._rows = problem.rows
        self._used = np.zeros(len(self._rows.upper))
        #: Whether an upper limit has kept out a gene that would have entered.
        self.held_back = False
        #: What gains less gains nothing.
        self.nothing = _NOTHING * float(problem.errors(problem.fixed[:0])[0])
        self.grow(len(problem.fixed), among=problem.fixed)

    def measure(self, gene: int, sign: float = 1.0) -> None:
        """Measure a gene, or no more for the sign −1."""
        super().measure(gene, sign)
        self._used += sign * self._rows.sums([gene])

    def fill(self, n_genes: int, least: float = -np.inf) -> None:
        """Let genes enter that gain more than `least`, until there are so many or none fits."""
        while len(self.picked) < n_genes:
            gains = self.waiting
            worth = np.where(self.can_enter & (gains > least), gains * self._rows.priority, -np.inf)
            worth_of_fitting = np.where(self._rows.within(self._used), worth, -np.inf)
            gene = int(np.argmax(worth_of_fitting))
            self.held_back |= gene != np.argmax(worth)
            if np.isinf(worth_of_fitting[gene]):
                return
            self.picked.append(gene)
            self.gains.append(float(gains[gene]))
            self.measure(gene)

    @property
    def is_complete(self) -> bool:
        """Whether all lower limits are met."""
        return bool((self._used >= self._rows.lower).all())

    def full(self, least: float = -np.inf) -> str | None:
        """Return the limit that keeps out most of the genes that would gain more than `least`;
        None where one of them fits, or there is none.
        """
        out = self.can_enter & (self.waiting > least)
        if (out & self._rows.allowed).any():
            out &= self._rows.allowed
        if not out.any() or (out & self._rows.within(self._used)).any():
            return None
        refused = self._rows.only(np.flatnonzero(out)).refused(self._used)
        return str(self._rows.names[np.argmax(refused)])


def select_within(problem: Problem) -> Panel:
    """Choose the panel within limits that preserves most, as far as it is found.

    It has fewer genes than were asked for where more would preserve less.  Without a number it has
    the fewest genes that preserve :data:`.greedy.SHARE`, or, where there is a budget, all that fit
    and gain something.  Panels of different sizes are nested only where limits hold no gene back.
    """
    fixed, candidates = problem.fixed, np.arange(len(problem.genes))
    check(problem.rows, problem.n_genes, include=fixed, candidates=candidates)
    greedy = Packed(problem)
    if problem.n_genes is None and not problem.has_any_size:
        greedy = _enough(problem, greedy)
        preserved = problem.preserved(greedy.picked)
        n_selected = fewest_genes(preserved, len(fixed), greedy.full())
        n_selected = size = max(n_selected, problem.rows.met(greedy.picked))
    else:
        size = problem.rows.largest_size if problem.n_genes is None else problem.n_genes
        least = greedy.nothing if problem.n_genes is None else -np.inf
        greedy.fill(size, least)
        if greedy.held_back or not greedy.is_complete:
            greedy = best_within(problem, greedy, size, least)
        preserved = problem.preserved(greedy.picked)
        n_selected = len(preserved)
        _say_what_is_full(greedy, preserved, problem.n_genes)
    return certified(problem, greedy, preserved, n_selected, size)


def _enough(problem: Problem, greedy: Packed) -> Packed:
    """Return genes one by one of which the first preserve enough and meet all lower limits."""
    rows = problem.rows
    most = max(min(LARGEST, len(problem.genes)), len(greedy.picked))
    greedy.fill(most)
    preserved = problem.preserved(greedy.picked)
    n_enough = int(np.argmax(preserved >= SHARE)) + 1 if preserved[-1] >= SHARE else most
    is_nested = n_enough < most or not greedy.held_back
    if is_nested and greedy.is_complete and rows.met(greedy.picked) <= n_enough:
        return greedy
    smallest = rows.remaining(problem.fixed).smallest()
    n_least = len(problem.fixed) + (0 if smallest is None else len(smallest))
    greedy = best_within(problem, greedy, max(n_enough, n_least), -np.inf)
    greedy.fill(most)
    return greedy


def best_within(problem: Problem, greedy: Packed, size: int, least: float) -> Packed:
    """Return the best panel found of at most `size` genes which gain more than `least`, in the
    order of a greedy choice among them; `greedy` is one within the upper limits.
    """
    fixed = problem.fixed
    rows = problem.rows.remaining(fixed)
    candidates = np.setdiff1d(np.flatnonzero(rows.allowed), fixed)
    rows = rows.only(candidates)
    n_more = min(size - len(fixed), len(candidates))
    if not n_more:
        return greedy
    blocks = [block.cover(fixed).only(candidates) for block in problem.blocks]
    gap = _GAP * sum(block.value(np.zeros(len(candidates))) for block in blocks)
    point = relaxed(blocks, Polytope.of(rows, n_more), np.zeros(len(candidates)), gap=gap)
    panels = [greedy.picked] if greedy.is_complete and len(greedy.picked) <= size else []
    heavy = np.flatnonzero(without_zeros(point.beta))
    worth = point.beta[heavy] * rows.priority[heavy]
    vertex = rows.only(heavy).best_vertex(worth, n_more)
    chosen = rows.smallest() if vertex is None else heavy[vertex]
    if chosen is not None:
        panels.append([*fixed.tolist(), *candidates[chosen].tolist()])
    steep = candidates[np.argsort(point.bound.slopes, kind="stable")[: _STEEP * size]]
    genes = np.unique(np.concatenate([fixed, steep, *panels]).astype(np.intp))
    blocks, among = [block.only(genes) for block in problem.blocks], problem.rows.only(genes)
    stay = np.searchsorted(genes, fixed)
    exchanges = Exchanges(
        lambda: Greedy(blocks, across=problem.criterion.across()), among, stay, size, least
    )
    positions = [np.searchsorted(genes, panel).tolist() for panel in panels]
    improved = [genes[exchanges.improved(panel)] for panel in positions]
    panel = min(improved, key=lambda panel: problem.errors(panel)[-1])
    ordered = Packed(problem)
    ordered.grow(len(panel), among=panel)
    ordered.fill(size, least)
    return ordered


def _say_what_is_full(greedy: Packed, preserved: Array, n_genes: int | None) -> None:
    """Say where a limit lets fewer genes in than were asked for, or only such as add nothing."""
    if n_genes is None:
        return
    if len(preserved) < n_genes:
        text = f"{len(preserved)} of {n_genes} genes are selected"
        log.warning(f"{text}: no other fits beside them within {greedy.full()}.")
        return
    n_useful = int(np.argmax(preserved >= (1.0 - _IDLE) * preserved[-1])) + 1
    full = greedy.full(greedy.nothing)
    if n_useful < n_genes and full is not None:
        log.warning(f"From gene {n_useful + 1} on nothing is added: {full} is full.")


class Exchanges:
    """A panel within limits, whose genes are exchanged for better ones."""

    def __init__(
        self, start: Callable[[], Greedy], rows: Rows, fixed: Index, size: int, nothing: float
    ) -> None:
        """Exchange in panels of at most `size` genes within `rows`, where those of `fixed` stay and
        none comes in besides that gains no more than `nothing`; `start` makes an empty one.
        """
        self._start, self._rows, self._size, self._nothing = start, rows, size, nothing
        self._may_leave = ~np.isin(np.arange(rows.n_genes), fixed)
        bounded = np.flatnonzero(np.isfinite(rows.upper) & (rows.upper > 0))
        #: What each gene takes of all upper limits, as shares of them
        self._taken = np.asarray((1.0 / rows.upper[bounded]) @ rows.matrix[bounded])
        self._thrifty = rows.priority / np.maximum(self._taken, _TINY)

    def improved(self, panel: Sequence[int]) -> list[int]:
        """Return the panel after as many rounds as gain something."""
        self._panel = list(panel)
        for _ in range(_ROUNDS):
            self._greedy = self._start()  # anew, as E takes up rounding where genes leave
            for gene in self._panel:
                self._greedy.measure(gene)
            self._used = self._rows.sums(self._panel)
            if self._round() <= _LITTLE:
                break
        return self._panel

    def _round(self) -> float:
        """Exchange each gene of the panel, and return what share that gains."""
        gained = 0.0
        while len(self._panel) < self._size and (more := self._attempt([], [self._best])):
            gained += more
        losses = {gene: self._loss(gene) for gene in self._panel if self._may_leave[gene]}
        for gene in sorted(losses, key=losses.__getitem__):
            if gene in self._panel:
                gained += self._attempt([gene], [self._best]) or self._two_for(gene, losses)
        return gained / max(sum(losses.values()), _TINY)

    def _two_for(self, gene: int, losses: dict[int, float]) -> float:
        """Exchange a gene for two, and return what that gains."""
        taken, out = self._taken[gene], [gene]
        if len(self._panel) == self._size:
            may_leave = [second for second in losses if second != gene and second in self._panel]
            out += sorted(may_leave, key=losses.__getitem__)[:1]
        if not taken or len(self._panel) + 2 - len(out) > self._size:
            return 0.0
        return self._attempt(out, [lambda: self._lighter(taken), self._best])

    def _attempt(self, out: list[int], choices: list[Callable[[], int | None]]) -> float:
        """Let genes leave, and one come in by each choice, and return what that gains; where that
        is nothing, or less if gains count by priority, nothing is changed.
        """
        gained = worth = lost = 0.0
        into: list[int] = []
        for gene in out:
            self._leave(gene)
            lost += self._gain(gene)
            worth -= self._gain(gene) * self._rows.priority[gene]
        for number, choose in enumerate(choices, start=1):
            gene_in = choose()
            if gene_in is None or gene_in in out:
                break
            gained += self._gain(gene_in)
            worth += self._gain(gene_in) * self._rows.priority[gene_in]
            is_last = number == len(choices)
            if is_last and not (gained > lost * (1.0 + _ROUNDING) and worth >= 0):
                break
            self._enter(gene_in)
            if is_last:
                return gained - lost
            into.append(gene_in)
        for gene in reversed(into):
            self._leave(gene)
        for gene in reversed(out):
            self._enter(gene)
        return 0.0

    def _enter(self, gene: int) -> None:
        self._greedy.measure(gene)
        self._panel.append(gene)
        self._used = self._used + self._rows.sums([gene])

    def _leave(self, gene: int) -> None:
        self._greedy.measure(gene, -1.0)
        self._panel.remove(gene)
        self._used = self._used - self._rows.sums([gene])

    def _gain(self, gene: int) -> float:
        return float(self._greedy.waiting[gene])

    def _loss(self, gene: int) -> float:
        """What the panel loses without a gene."""
        self._greedy.measure(gene, -1.0)
        loss = self._gain(gene)
        self._greedy.measure(gene)
        return loss

    def _best(self) -> int | None:
        """The gene that gains most of those with which all limits hold."""
        fits = self._rows.within(self._used) & self._rows.meets_lower(self._used)
        return self._most(self._rows.priority, fits)

    def _lighter(self, taken: float) -> int | None:
        """The gene that gains most for what it takes of the limits, if that is less."""
        return self._most(self._thrifty, self._rows.within(self._used) & (self._taken < taken))

    def _most(self, value: Array, among: Mask) -> int | None:
        """The gene of some that gains most, times its value; None where none gains anything."""
        gains = self._greedy.waiting
        fits = self._may_leave & self._greedy.can_enter & among
        genes = np.flatnonzero(fits & (gains > self._nothing))
        return int(genes[np.argmax((gains * value)[genes])]) if len(genes) else None
