"""Panels within linear limits: from genes in parts to whole ones, and exchanges.

The best choice of genes in parts (:mod:`.relaxation`) is within the limits.  An integer programme
returns the panel within them that holds most of it, whose genes are exchanged for better ones
(:mod:`.exchanges`).  So are those of a greedy choice, where that meets the lower limits, and the
better panel counts.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from .constraints import check
from .exchanges import Exchanges
from .greedy import LARGEST, SHARE, Greedy, certified, fewest_genes
from .relaxation import Polytope, relaxed, without_zeros

if TYPE_CHECKING:
    from .._typing import Array
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


class Packed(Greedy):
    """Genes one by one, each the one that gains most, by its priority, of those that fit."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.blocks, across=problem.criterion.across())
        self._rows = problem.rows
        self._used = np.zeros(len(self._rows.upper))
        #: Whether an upper limit has kept out a gene that would have entered.
        self.held_back = False
        #: What gains less gains nothing.
        self.nothing = _NOTHING * sum(float(block.weights.sum()) for block in problem.blocks)
        self.grow(len(problem.fixed), among=problem.fixed)

    def enter(self, gene: int) -> None:
        """Measure a gene."""
        super().enter(gene)
        self._used += self._rows.sums([gene])

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
            self.pick(gene, gains)

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
        return self._rows.names[int(np.argmax(refused))]


def select_within(problem: Problem) -> Panel:
    """Choose the panel within limits that preserves most, as far as it is found.

    It has fewer genes than were asked for where more would preserve less.  Without a number it has
    the fewest genes that preserve :data:`.greedy.SHARE`, or, where there is a budget, all that fit
    and gain something.  Panels of different sizes are nested only where limits hold no gene back.
    Where the worst set counts, exchanges are by Ψ of :mod:`..criterion.across`.
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
    """Return the best panel that is found of at most `size` genes which gain more than `least`, in
    the order of a greedy choice among them; `greedy` is one within the upper limits.
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
        log.warning(
            f"{len(preserved)} of {n_genes} genes are selected: no other fits beside them within "
            f"{greedy.full()}."
        )
        return
    n_useful = int(np.argmax(preserved >= (1.0 - _IDLE) * preserved[-1])) + 1
    full = greedy.full(greedy.nothing)
    if n_useful < n_genes and full is not None:
        log.warning(f"From gene {n_useful + 1} on nothing is added: {full} is full.")
