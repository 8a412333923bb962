"""Greedy selection within linear constraints, with how far it is from the best possible.

A gene may enter if no upper limit is broken, and if so many places and so much of the upper limits
are left that the lower ones can still be met.  The number of genes is a lower limit where the
panel would be too small without.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidValue
from .bound import relax_beside
from .constraints import check, smallest_conflict
from .exchanges import Exchanges
from .greedy import LARGEST, SHARE, Greedy, certified, fewest_genes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.across import Largest
    from ..criterion.criterion import Criterion
    from ..criterion.error import Block
    from ..panel import Panel
    from .bound import Relaxation
    from .constraints import Mask, Rows

log = logging.getLogger(__name__)

#: A gene that uses nothing counts as if it used this share of what the least other one uses.
_LEAST_USE = 1e-9
#: Where fewer genes preserve more than those that were asked for by this share, it is said.
_NOTABLE = 0.01
#: A gene that gains less than this share of the error gains nothing.
_NOTHING = 1e-12


class Limited(Greedy):
    """Genes one by one, each the one that gains most among those that the limits let in.

    A gene counts by its gain over the power `thrift` of the share of a limit that it uses up: 0 is
    its gain, 1 its gain for its cost.
    """

    def __init__(
        self,
        blocks: Sequence[Block],
        rows: Rows,
        include: Index,
        *,
        thrift: float = 0.0,
        across: Largest | None = None,
    ) -> None:
        super().__init__(blocks, across=across)
        self._rows = rows
        self._used = np.zeros(len(rows.upper))
        self._value = rows.priority
        if thrift and rows.use.any():
            least = _LEAST_USE * rows.use[rows.use > 0].min()
            self._value = rows.priority / np.maximum(rows.use, least) ** thrift
        #: Whether a limit has kept out a gene that would have entered
        self.held_back = False
        self.thrift = thrift
        #: What gains less gains nothing
        self.nothing = _NOTHING * sum(float(block.weights.sum()) for block in blocks)
        self.grow(len(include), among=include)

    def enter(self, gene: int) -> None:
        """Measure a gene."""
        super().enter(gene)
        self._used += self._rows.sums([gene])

    @property
    def complete(self) -> bool:
        """Whether all lower limits are met."""
        return bool((self._used >= self._rows.lower).all())

    def fewest(self) -> int:
        """Least number of genes of a panel that holds these and meets all lower limits."""
        return len(self.picked) + len(self._completion(self.n_genes))

    def fill(
        self, n_genes: int, *, worthwhile: bool = False, rest: list[int] | None = None
    ) -> None:
        """Let genes enter until there are `n_genes`, or none fits.

        Lower limits are met where they can be; :meth:`fewest` says whether they can.  `worthwhile`
        ends it where no gene gains anything and all lower limits are met.  `rest` is known to
        complete the panel; then these genes enter, and others that can be in the place of one.
        """
        barred, has_rest = np.zeros(self.n_genes, dtype=bool), rest is not None
        if rest is None:
            rest = self._completion(n_genes - len(self.picked))
        while len(self.picked) < n_genes:
            if self.complete:
                rest = []
            gains = self.waiting
            may = self.can_enter & ~barred & self._rows.within(self._used)
            if worthwhile and not rest:
                may &= gains > self.nothing
            gene = _best(gains, self._value, may)
            self.held_back |= gene is None or gene != _best(gains, self._value, self.can_enter)
            if gene is None:
                break
            following = self._rest_with(gene, rest, n_genes)
            if following is None:
                following = self._rest_after(gene, n_genes, cheapest=has_rest)
            if following is None:  # nor could the panel be completed beside a gene no better
                barred |= self._rows.no_better(gene, self._used)
                barred[rest] = False
                continue
            rest = following
            self.pick(gene, gains)

    def arrange(self, panel: Sequence[int]) -> None:
        """Let the genes of a panel within the limits enter, each the best of those left."""
        outside = self.can_enter.copy()
        outside[np.asarray(panel, dtype=np.intp)] = False
        self.can_enter &= ~outside
        self.fill(len(panel))
        self.can_enter |= outside

    @property
    def exhausted(self) -> str | None:
        """The limit that keeps out most of the other genes; None where it is no limit."""
        out = self.can_enter & self._rows.allowed
        if not out.any():
            out = self.can_enter
        if not out.any() or (out & self._rows.within(self._used)).any():
            return None
        refused = self._rows.only(np.flatnonzero(out)).refused(self._used)
        return self._rows.names[int(np.argmax(refused))]

    def _completion(self, n_more: int) -> list[int]:
        """Return the fewest genes that meet all lower limits beside those that are in."""
        rest = self._rows.completion(self._used, self.can_enter, n_more)
        if rest is None:
            raise InvalidValue("`limits` cannot be met by a panel of this size: ask for more genes")
        return rest

    def _rest_with(self, gene: int, rest: list[int], n_genes: int) -> list[int] | None:
        """Return those of `rest` that complete the panel beside a gene, but for one at most."""
        if gene in rest:
            return [needed for needed in rest if needed != gene]
        n_more = n_genes - len(self.picked) - 1
        used = self._used + self._rows.sums([gene]) + self._rows.sums(rest)
        if len(rest) <= n_more and (used <= self._rows.most).all():
            return rest
        if not rest or len(rest) > n_more + 1:
            return None
        without = used[:, None] - self._rows.columns(rest)
        fine = (without <= self._rows.most[:, None]).all(axis=0)
        fine &= (without >= self._rows.lower[:, None]).all(axis=0)
        if not fine.any():
            return None
        out = int(np.argmax(np.where(fine, self._rows.use[rest], -1.0)))
        return [*rest[:out], *rest[out + 1 :]]

    def _rest_after(self, gene: int, n_genes: int, *, cheapest: bool) -> list[int] | None:
        """Return genes that complete the panel once one has entered; None where none do, or not the
        `cheapest`.
        """
        can_enter = self.can_enter.copy()
        can_enter[gene] = False
        used = self._used + self._rows.sums([gene])
        complete = self._rows.cheapest if cheapest else self._rows.completion
        return complete(used, can_enter, n_genes - len(self.picked) - 1)


def _best(gains: Array, value: Array, may: Mask) -> int | None:
    """The gene of largest gain times value; by gain alone where no value is left."""
    genes = np.flatnonzero(may)
    if not len(genes):
        return None
    counts = gains[genes] * value[genes]
    if counts.max() <= 0:
        counts = gains[genes]
    return int(genes[np.argmax(counts)])


#: Where limits keep genes out, so many powers of what a gene uses up are tried.
THRIFTS = 5


def select_within(
    criterion: Criterion, n_genes: int | None, *, include: Index, candidates: Index, rows: Rows
) -> Panel:
    """Choose genes one by one within limits, each the one that lowers F most, among sorted
    candidates with those of `include` among them.

    The panel is smaller than `n_genes` where no panel of so many is found within the limits; None:
    the fewest genes that preserve :data:`.greedy.SHARE`, or, where there is a budget, all that fit
    and gain something.  Panels of different sizes are not nested where limits hold genes back:
    there genes are chosen anew by gain for what they use up of a budget or a total
    (:data:`THRIFTS`), with places kept where too few come in, and the genes of the best panel are
    exchanged (:mod:`.exchanges`), where the worst set counts by Ψ of :mod:`..criterion.across`.
    """
    check(rows, n_genes, include=include, candidates=candidates)
    fixed, rows = np.searchsorted(candidates, include), rows.only(candidates)
    greedy = _Search(criterion, candidates, rows, fixed).grown(n_genes)
    preserved = criterion.preserved(candidates[greedy.picked])
    n_selected = len(preserved)
    if n_genes is None and not rows.budget:
        n_selected = max(
            fewest_genes(preserved, len(fixed), greedy.exhausted), rows.met(greedy.picked)
        )
    size = len(candidates) if n_genes is None and rows.budget else n_genes or n_selected

    def relax_choice(bounding: list[Block], chosen: Index) -> tuple[Index, Relaxation]:
        return relax_beside(bounding, rows, chosen, len(fixed), size)

    return certified(criterion, candidates, greedy, preserved, n_selected, fixed, relax_choice)


class _Search:
    """Panels of some candidates within limits, of which the best counts."""

    def __init__(self, criterion: Criterion, candidates: Index, rows: Rows, fixed: Index) -> None:
        self.criterion, self.candidates, self.rows, self.fixed = criterion, candidates, rows, fixed
        self.blocks = [block.only(candidates) for block in criterion.blocks]

    def grown(self, n_genes: int | None) -> Limited:
        """Return genes that entered one by one, more than will be selected for None."""
        if n_genes is not None or self.rows.budget:
            return self.best(n_genes)
        greedy = self.start()
        most = max(min(LARGEST, len(self.candidates)), len(greedy.picked))
        if not greedy.complete:  # lower limits are met within the size that keeps enough without
            without = self.start(self.rows.packing)
            without.fill(most)
            preserved = self.criterion.preserved(self.candidates[without.picked])
            enough = np.flatnonzero(preserved >= SHARE)
            greedy.fill(max(int(enough[0]) + 1 if len(enough) else most, greedy.fewest()))
        greedy.fill(most)
        too_few = len(greedy.picked) < most and greedy.held_back
        if too_few and self.criterion.preserved(self.candidates[greedy.picked])[-1] < SHARE:
            return self.best(None, most)
        return greedy

    def start(self, rows: Rows | None = None, *, thrift: float = 0.0) -> Limited:
        """The genes that must be in, within limits (None: all)."""
        rows = self.rows if rows is None else rows
        across = self.criterion.across()
        return Limited(self.blocks, rows, self.fixed, thrift=thrift, across=across)

    def best(self, n_genes: int | None, most: int | None = None) -> Limited:
        """The best panel that is found of `n_genes`, of fewer where limits allow no more, or of any
        size (None), up to `most`; its genes in the order of a greedy choice among them.
        """
        size = n_genes or most or self.rows.n_genes
        ways = self._choices(size, worthwhile=n_genes is None)
        if not ways[0].held_back:
            return ways[0]
        panels = (
            [way.picked for way in ways] if n_genes is None else self._largest_panels(ways, size)
        )
        nothing = ways[0].nothing if n_genes is None else -np.inf
        exchanges = Exchanges(self._unlimited, self.rows, self.fixed, size, nothing)
        start = min(panels, key=self._error)
        improved = exchanges.improved(start)
        best = self.start(self.rows.packing)
        best.arrange(min(start, improved, key=self._error))
        if n_genes is not None:
            self._compare(best.picked, min((way.picked for way in ways), key=self._error))
        return best

    def _compare(self, panel: list[int], fewer: list[int]) -> None:
        """Say where fewer genes preserve more than as many as were asked for."""
        if len(fewer) == len(panel) or not fewer:
            return
        of_panel = self.criterion.preserved(self.candidates[panel])[-1]
        of_fewer = self.criterion.preserved(self.candidates[fewer])[-1]
        if of_fewer - of_panel > _NOTABLE * of_panel:
            log.warning(
                f"{len(panel)} genes within the limits preserve {of_panel:.1%}, and {len(fewer)} "
                f"gene{'s' if len(fewer) > 1 else ''} {of_fewer:.1%}: ask for fewer."
            )

    def _unlimited(self) -> Greedy:
        return Greedy(self.blocks, across=self.criterion.across())

    def _error(self, panel: Sequence[int]) -> float:
        """F of a panel."""
        return float(self.criterion.errors(self.candidates[np.asarray(panel)])[-1])

    def _choices(self, size: int, *, worthwhile: bool) -> list[Limited]:
        """Several choices, by gain and by gain for what a gene uses up of the limits.

        The power of what it uses grows where the limits let too few genes in, and falls where all
        that were asked for came in.
        """
        plain = self.start()
        plain.fill(size, worthwhile=worthwhile)
        ways, least, thrift, most = [plain], 0.0, 1.0, 1.0
        while plain.held_back and self.rows.use.any() and len(ways) < THRIFTS:
            way = self.start(thrift=thrift)
            way.fill(size, worthwhile=worthwhile)
            ways.append(way)
            if len(way.picked) < size and thrift < most:
                least = thrift
            else:
                most = thrift
            thrift = (least + most) / 2.0
        return ways

    def _largest_panels(self, ways: Sequence[Limited], n_genes: int) -> list[list[int]]:
        """The panels of some choices, made anew with places kept where they are too small, that are
        as large as limits allow; what cannot be had is said.
        """
        largest = max((way.picked for way in ways), key=len)
        size = most = len(largest)
        if size < n_genes:
            larger, most = self._largest(self.rows, n_genes)
            largest = max(largest, larger, key=len)
        size = len(largest)
        panels = [way.picked for way in ways]
        for way in ways:
            if len(way.picked) < size:
                anew = self.start(self.rows.of_size(size), thrift=way.thrift)
                anew.fill(size, rest=[gene for gene in largest if anew.can_enter[gene]])
                panels.append(anew.picked)
        if size < n_genes:
            blamed = self._blamed(n_genes, most)
            reason = f"no panel of {size + 1} is" if most == size else "no larger panel was found"
            log.warning(f"{size} of {n_genes} genes are selected: {reason} within {blamed}.")
        return [panel for panel in panels if len(panel) == size]

    def _largest(self, rows: Rows, n_genes: int) -> tuple[list[int], int]:
        """The largest panel that is found of at most `n_genes`, and how large one could be."""
        fixed = self.fixed
        can_enter = ~np.isin(np.arange(rows.n_genes), fixed)
        genes, most = rows.largest(rows.sums(fixed), can_enter, n_genes - len(fixed))
        return [*fixed.tolist(), *genes], most + len(fixed)

    def _blamed(self, n_genes: int, most: int) -> str:
        """Return the limits without any of which a larger panel than of `most` genes might be."""

        def conflict(rows: list[int]) -> bool:
            return self._largest(self.rows.subset(rows), n_genes)[1] <= most

        blamed = smallest_conflict(self.rows.limits, conflict)
        return " and ".join(dict.fromkeys(self.rows.limits[row] for row in blamed))
