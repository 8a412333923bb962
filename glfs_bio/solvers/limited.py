"""Genes one by one under linear limits.

A gene may enter if no upper limit is broken, and if so many places and so much of the upper limits
are left that the lower ones can still be met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .greedy import Greedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.error import Error
    from .across import Across
    from .constraints import Mask, Rows

#: A gene that uses nothing counts as if it used this share of what the least other one uses.
_FREE = 1e-9
#: A gene that gains less than this share of the error gains nothing.
_NOTHING = 1e-12


class Limited(Greedy):
    """Genes one by one, each the one that gains most among those that the limits let in.

    Parameters
    ----------
    blocks
        The criterion on each set of cells.
    rows
        The limits.
    include
        Genes that are in from the start.
    across
        What becomes of the gains on several sets; None: they add up.
    thrift
        A gene counts by its gain over this power of the share of a limit that it uses up: 0 is its
        gain, 1 its gain for its cost.

    Attributes
    ----------
    held_back : bool
        Whether a limit has kept out a gene that would have entered.
    """

    def __init__(
        self,
        blocks: Sequence[Error],
        rows: Rows,
        include: Index,
        *,
        thrift: float = 0.0,
        across: Across | None = None,
    ) -> None:
        super().__init__(blocks, across=across)
        self._rows = rows
        self._used = np.zeros(len(rows.upper))
        self._value = rows.priority
        if thrift and rows.use.any():
            free = _FREE * rows.use[rows.use > 0].min()
            self._value = rows.priority / np.maximum(rows.use, free) ** thrift
        self.held_back = False
        self._nothing = _NOTHING * sum(float(block.weights.sum()) for block in blocks)
        left = list(include)
        while left:
            gains = self.unlimited
            self._pick(left.pop(int(np.argmax(gains[left]))), gains)

    @property
    def unlimited(self) -> Array:
        """What each gene would gain next, whatever the limits, shape (n_genes,)."""
        return super().waiting

    @property
    def waiting(self) -> Array:
        """What each gene that leaves no limit broken counts next; −∞ for others."""
        fits = self._rows.within(self._used) & self._rows.enough(self._used)
        return np.where(fits, self.unlimited * self._rows.priority, -np.inf)

    def enter(self, gene: int) -> None:
        """Measure a gene."""
        super().enter(gene)
        self._used += self._rows.sums([gene])

    def leave(self, gene: int) -> float:
        """Measure a gene no more; what it counted, as in :attr:`waiting`."""
        self._used -= self._rows.sums([gene])
        return super().leave(gene) * float(self._rows.priority[gene])

    @property
    def complete(self) -> bool:
        """Whether all lower limits are met."""
        return bool((self._used >= self._rows.lower).all())

    def fewest(self) -> int:
        """Least number of genes of a panel that holds these and meets all lower limits.

        Raises
        ------
        ValueError
            There is none.
        """
        return len(self.picked) + len(self._completed(self._used, self._open, len(self._open)))

    def fill(self, n_genes: int, *, worthwhile: bool = False) -> None:
        """Let genes enter until there are `n_genes`, or none fits.

        Lower limits are met where they can be; :meth:`fewest` says whether they can.

        Parameters
        ----------
        worthwhile
            End where no gene gains anything and all lower limits are met.
        """
        barred = np.zeros(self.n_genes, dtype=bool)
        rest = self._completed(self._used, self._open, n_genes - len(self.picked))
        while len(self.picked) < n_genes:
            if self.complete:
                rest = []
            gains = self.unlimited
            may = self._open & ~barred & self._rows.within(self._used)
            if worthwhile and not rest:
                may &= gains > self._nothing
            gene = _best(gains, self._value, may)
            self.held_back |= gene is None or gene != _best(gains, self._value, self._open)
            if gene is None:
                break
            following = self._rest_after(gene, rest, n_genes)
            if following is None:  # nor could the panel be completed beside a gene no better
                barred |= self._rows.no_better(gene, self._used)
                continue
            rest = following
            self._pick(gene, gains)

    @property
    def exhausted(self) -> str | None:
        """The limit that keeps out most of the other genes; None where it is no limit."""
        out = self._open & self._rows.allowed
        if not out.any():
            out = self._open
        if not out.any() or (out & self._rows.within(self._used)).any():
            return None
        refused = self._rows.only(np.flatnonzero(out)).refused(self._used)
        return self._rows.names[int(np.argmax(refused))]

    def _pick(self, gene: int, gains: Array) -> None:
        self.picked.append(int(gene))
        self.gains.append(float(gains[gene]))
        self.enter(int(gene))

    def _completed(self, used: Array, open_: Mask, places: int) -> list[int]:
        rest = self._rows.completion(used, open_, places)
        if rest is None:
            msg = "No panel of this size meets all lower limits."
            raise ValueError(msg)
        return rest

    def _rest_after(self, gene: int, rest: list[int], n_genes: int) -> list[int] | None:
        """Genes that complete the panel once a gene has entered; None where none do."""
        if gene in rest:
            return [other for other in rest if other != gene]
        used = self._used + self._rows.sums([gene])
        places = n_genes - len(self.picked) - 1
        if len(rest) <= places and (used + self._rows.sums(rest) <= self._rows.most).all():
            return rest
        open_ = self._open.copy()
        open_[gene] = False
        return self._rows.completion(used, open_, places)


def _best(gains: Array, value: Array, may: Mask) -> int | None:
    """The gene of largest gain times value; by gain alone where no value is left."""
    genes = np.flatnonzero(may)
    if not len(genes):
        return None
    counts = gains[genes] * value[genes]
    if counts.max() <= 0:
        counts = gains[genes]
    return int(genes[np.argmax(counts)])
