"""Greedy selection of genes by rank-one updates (He, Ji, Zhang & Bao 2011).

A gene enters by the formula of Sherman and Morrison, ``E ← E − E g gᵀE/(1 + gᵀE g)``, and what
gene i would gain is known for all, at the cost of one product of the genes with two vectors:

    ===========  =======================  ======================================
    criterion    falls, or grows          gain of gene i
    ===========  =======================  ======================================
    trace        Tr(W E) falls            ``g_iᵀ E W E g_i / (1 + g_iᵀ E g_i)``
    determinant  log det(I + A') grows    ``log(1 + g_iᵀ E g_i)``
    evidence     R grows                  ``Σ_p w_p log(1 + s_ip/(1 + T_p))``
    ===========  =======================  ======================================

Over several sets of cells errors add up, or the largest counts (:mod:`~glfs_bio.criterion.error`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from ..criterion.error import Evidence
from .panel import Certificates, Panel, in_order
from .relaxation import relax_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.error import Block, Largest
    from .panel import Problem

log = logging.getLogger(__name__)

#: What preferred genes may cost, as a share of what panels without them preserve.
_COST = 0.002


class Greedy:
    """Genes one by one, each the one that gains most beside those before it, by the criterion
    "trace" or "determinant", over sets of cells `across` which errors are joined (None: they add
    up).  Of genes that are `alike` one enters, and others after all the rest.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        criterion: str = "trace",
        *,
        across: Largest | None = None,
        alike: Iterable[Index] = (),
    ) -> None:
        self._evidence = [block for block in blocks if isinstance(block, Evidence)]
        self._genes = [] if self._evidence else [block.genes for block in blocks]
        #: E and E W E of each set of cells
        self._inverses = [block.inverse(np.zeros(len(block.genes))) for block in blocks]
        both = zip(blocks, self._inverses, strict=True)
        self._curved_inverses = [(inverse * block.weights) @ inverse for block, inverse in both]
        #: g_iᵀ E g_i and g_iᵀ E W E g_i of every gene, shape (n_sets, n_genes)
        self._lengths = self._forms(self._inverses)
        self._curved = self._forms(self._curved_inverses)
        self._criterion = criterion
        self._across = across
        #: No gene gains more: what it adds to R never grows while others enter (Minoux 1978)
        self._most = self.waiting
        #: Whether each gene could still enter, shape (n_genes,)
        self.can_enter = np.ones(len(blocks[0].genes), dtype=bool)
        self._alike = {int(gene): genes for genes in alike for gene in genes}
        #: Genes like one that is in, which enter last
        self.barred = np.zeros_like(self.can_enter)
        #: Genes that enter first where the first 1, 2, … gain enough with them
        self.preferred = np.zeros_like(self.can_enter)
        self.enough = np.full(len(self.can_enter), np.inf)
        #: Genes in the order in which they entered
        self.picked: list[int] = []
        #: What each of them gained
        self.gains: list[float] = []

    def grow(self, n_genes: int, among: Index | None = None) -> None:
        """Let genes enter, those of `among` only if given, until there are `n_genes` or no more."""
        allowed = self.can_enter.copy()
        if among is not None:
            allowed &= np.isin(np.arange(len(allowed)), among)
        while len(self.picked) < n_genes and allowed.any():
            first = allowed & ~self.barred if among is None else allowed
            candidates = first if first.any() else allowed
            is_lazy = self._evidence and not self.preferred.any()
            gains = self._waiting_first(candidates) if is_lazy else self.waiting
            gains = np.where(candidates, gains, -np.inf)
            is_enough = self.preferred & (sum(self.gains) + gains >= self.enough[len(self.picked)])
            gene = int(np.argmax(np.where(is_enough, gains, -np.inf) if is_enough.any() else gains))
            self.picked.append(gene)
            self.gains.append(float(gains[gene]))
            self.measure(gene)
            allowed &= self.can_enter

    def _waiting_first(self, among: NDArray[np.bool_]) -> Array:
        """What genes would gain next in R, or more: exact for the one of some that gains most."""
        gene, last = -1, -2
        while gene != last:
            gene, last = int(np.argmax(np.where(among, self._most, -np.inf))), gene
            self._most[gene] = self._by_evidence(np.array([gene]))[0]
        return self._most

    def _by_evidence(self, genes: Index | slice) -> Array:
        """What some genes would add to R."""
        both = zip(self._evidence, self._inverses, strict=True)
        return np.asarray(sum(block.only(genes).gains(inverse) for block, inverse in both))

    def _forms(self, matrices: list[Array]) -> Array:
        both = zip(self._genes, matrices, strict=False)  # evidence has no forms
        return np.array([np.einsum("ij,ij->i", genes @ matrix, genes) for genes, matrix in both])

    def measure(self, gene: int, sign: float = 1.0) -> None:
        """Measure a gene, or no more for the sign −1, ``E ← E + E g gᵀE/(1 − gᵀE g)``, where genes
        like it stay barred.
        """
        self.can_enter[gene] = sign < 0
        if gene in self._alike:
            self.barred[self._alike[gene]] = True
        changes = np.empty(len(self._inverses))
        for k, block in enumerate(self._evidence):
            self._inverses[k] = 1.0 / (1.0 / self._inverses[k] + sign * block.genes[gene])
        for k, genes in enumerate(self._genes):
            g = genes[gene]
            u, v = self._inverses[k] @ g, self._curved_inverses[k] @ g
            s, a = 1.0 + sign * (g @ u), g @ v
            gu, gv = (genes @ np.column_stack([u, v])).T
            self._lengths[k] -= gu**2 / (sign * s)
            self._curved[k] += gu * (a / s * gu - 2.0 * sign * gv) / s
            uu, uv = np.outer(u, u), sign * np.outer(u, v)
            self._inverses[k] -= uu / (sign * s)
            self._curved_inverses[k] += (a / s * uu - uv - uv.T) / s
            changes[k] = -sign * a / s  # of Tr(W E)
        if self._across is not None:
            self._across.move(changes)

    @property
    def waiting(self) -> Array:
        """What each gene would gain next, shape (n_genes,)."""
        if self._criterion == "determinant":
            return np.asarray(sum(np.log1p(self._lengths)))
        if self._evidence:
            return self._by_evidence(slice(None))
        gains = self._curved / (1.0 + self._lengths)
        joined = gains.sum(axis=0) if self._across is None else -self._across.moved(-gains)
        return np.asarray(joined)


#: An automatic panel has as many genes as keep this share, and at most so many.
SHARE = 0.9
LARGEST = 500
#: Of the error: less than this is nothing that a panel could still keep.
_ROUNDING = 1e-12


def select(problem: Problem) -> Panel:
    """Choose genes one by one, each the one that lowers F most, and one of each set that is alike.

    Panels are nested: the first k genes are the panel of k genes, whatever the number asked for.
    `preserved` is of all genes that were tried: more than the panel where no number is given.
    """
    fixed, n_genes = problem.fixed, problem.n_genes
    most = max(min(LARGEST, len(problem.genes)), len(fixed)) if n_genes is None else n_genes
    alike = [np.searchsorted(problem.genes, genes) for genes in problem.alike.values()]
    greedy = Greedy(problem.blocks, across=problem.criterion.across(), alike=alike)
    greedy.grow(len(fixed), among=fixed)
    greedy.grow(most)
    if problem.preferred is not None and problem.preferred.any():
        enough = (1.0 - _COST) * np.cumsum(greedy.gains)
        greedy = Greedy(problem.blocks, across=problem.criterion.across(), alike=alike)
        greedy.preferred, greedy.enough[: len(enough)] = problem.preferred[problem.genes], enough
        greedy.grow(len(fixed), among=fixed)
        greedy.grow(most)
    preserved = problem.criterion.preserved(problem.genes[greedy.picked])
    n_selected = fewest_genes(preserved, len(fixed)) if n_genes is None else n_genes
    return certified(problem, greedy, preserved, n_selected, n_selected)


def certified(
    problem: Problem, greedy: Greedy, preserved: Array, n_selected: int, size: int
) -> Panel:
    """Return the panel of the first genes of a choice, and bounds on panels of at most `size`."""
    fixed, n_genes = problem.fixed, len(problem.genes)
    chosen = np.asarray(greedy.picked[:n_selected], dtype=np.intp)
    errors = problem.criterion.errors(problem.genes[chosen])
    share, beta = np.full(n_selected, np.nan), np.zeros(n_genes)
    holding, lacking = np.full(n_genes, np.inf), np.full(n_genes, -np.inf)
    if n_selected > len(fixed):
        bounding, excess = problem.criterion.bounding(problem.genes[chosen])
        blocks = [block.only(problem.genes) for block in bounding]
        genes, relaxation = relax_beside(problem, blocks, chosen, size)
        share[len(fixed) :] = optimality(errors[len(fixed) :], relaxation.lower - excess)
        beta[genes] = relaxation.beta
        holding[genes], lacking[genes] = relaxation.holding - excess, relaxation.lacking - excess
    beta[fixed], holding[fixed], lacking[fixed] = 1.0, -np.inf, np.inf
    gains = np.where(greedy.barred, 0.0, greedy.waiting)
    return Panel(
        scores=in_order(greedy.picked, gains),
        weights=beta,
        n_selected=n_selected,
        preserved=preserved,
        optimality=share,
        certificates=Certificates(holding, lacking, float(errors[-1]), float(errors[0])),
    )


def optimality(errors: Array, lower: Array) -> Array:
    """Share of the best possible of panels of 1, 2, … genes, at least; NaN where nothing is left.

    `errors` are F of no gene beside those that must be in, of the first, …; `lower` bounds F.
    """
    reach = errors[0] - lower
    reach = np.where(reach > _ROUNDING * errors[0], reach, np.nan)
    # more than 1 is rounding, where the panel is the best
    return np.asarray(np.minimum((errors[0] - errors[1:]) / reach, 1.0))


def fewest_genes(preserved: Array, at_least: int, exhausted: str | None = None) -> int:
    """Return the fewest genes that preserve :data:`SHARE`; all of them, with a note, if none do."""
    enough = np.flatnonzero(preserved >= SHARE)
    if len(enough):
        return max(int(enough[0]) + 1, at_least)
    why = "they do not reach it" if exhausted is None else f"{exhausted} is full"
    text = f"{len(preserved)} genes are selected and preserve {preserved[-1]:.0%} of the structure."
    log.warning(f"{text} Without `n_genes`, {SHARE:.0%} is the target, but {why}.")
    return len(preserved)
