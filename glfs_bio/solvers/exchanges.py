"""Exchanges of genes of a panel within linear limits (Fedorov 1972; Cook & Nachtsheim 1980).

Each gene in turn leaves, and the one comes in that gains most in its place and leaves no limit
broken.  Where none does, two come in: the first takes less of the limits, the second what that
leaves; if the panel may not grow, its least gene leaves too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._typing import Array, Index
    from .constraints import Mask, Rows
    from .greedy import Greedy

#: Rounds over the panel, at most, of which none takes longer than twelve greedy selections of its
#: size; the last gains less than this share of what the genes of the panel gain.
_ROUNDS, _LITTLE = 6, 1e-5
#: An exchange that gains a smaller share than this of what leaves is rounding.
_ROUNDING = 1e-6
_TINY = float(np.finfo(float).tiny)


class Exchanges:
    """A panel within limits, whose genes are exchanged for better ones.

    Parameters
    ----------
    start
        Makes the :class:`~.greedy.Greedy` without genes.
    rows
        The limits, which the panel is within; genes that are tied to others stay, in or out.
    fixed
        Genes of the panel that stay.
    size
        Most genes of the panel.
    nothing
        A gene that gains no more does not come in beside those there are.
    """

    def __init__(
        self, start: Callable[[], Greedy], rows: Rows, fixed: Index, size: int, nothing: float
    ) -> None:
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
                self._greedy.enter(gene)
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
        """Let genes leave, and one come in by each choice, and return what that gains.

        Where it gains nothing, or less if gains count by priority, nothing is changed.
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
        self._greedy.enter(gene)
        self._panel.append(gene)
        self._used = self._used + self._rows.sums([gene])

    def _leave(self, gene: int) -> None:
        self._greedy.leave(gene)
        self._panel.remove(gene)
        self._used = self._used - self._rows.sums([gene])

    def _gain(self, gene: int) -> float:
        return float(self._greedy.waiting[gene])

    def _loss(self, gene: int) -> float:
        """What the panel loses without a gene."""
        self._greedy.leave(gene)
        loss = self._gain(gene)
        self._greedy.enter(gene)
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
