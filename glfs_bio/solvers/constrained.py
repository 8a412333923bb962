"""Greedy selection within linear constraints, with how far it is from the best possible.

A gene may enter if no upper limit is broken, and if so many places and so much of the upper limits
are left that the lower ones can still be met.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NO_VALUE, InvalidValue, Message
from ..panel import picked
from .bound import Relaxation, relax
from .constrained_bound import relax_within
from .constraints import check
from .greedy import LARGEST, SHARE, Greedy, enough, optimality

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.across import Largest
    from ..criterion.criterion import Criterion
    from ..criterion.error import Block
    from ..panel import Panel
    from .constraints import Mask, Rows

log = logging.getLogger(__name__)

#: A gene that uses nothing counts as if it used this share of what the least other one uses.
_FREE = 1e-9
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
            free = _FREE * rows.use[rows.use > 0].min()
            self._value = rows.priority / np.maximum(rows.use, free) ** thrift
        self._set_of = {int(gene): one for one in rows.sets for gene in one}
        self._sums_of_sets = [rows.sums(one) for one in rows.sets]
        if self._set_of:
            self._value = self._value.copy()
        for one in rows.sets:
            self._value[one] = self._value[one].mean()
        #: Whether a limit has kept out a gene that would have entered
        self.held_back = False
        self._nothing = _NOTHING * sum(float(block.weights.sum()) for block in blocks)
        partners = np.setdiff1d(rows.with_partners(include), include)
        for left in (list(include), list(partners)):
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

    @property
    def complete(self) -> bool:
        """Whether all lower limits are met."""
        return bool((self._used >= self._rows.lower).all())

    def fewest(self) -> int:
        """Least number of genes of a panel that holds these and meets all lower limits."""
        return len(self.picked) + len(self._completed(self._used, self._open, len(self._open)))

    def fill(self, n_genes: int, *, worthwhile: bool = False) -> None:
        """Let genes enter until there are `n_genes`, or none fits.

        Lower limits are met where they can be; :meth:`fewest` says whether they can.  `worthwhile`
        ends it where no gene gains anything and all lower limits are met.
        """
        barred = np.zeros(self.n_genes, dtype=bool)
        rest = self._completed(self._used, self._open, n_genes - len(self.picked))
        while len(self.picked) < n_genes:
            if self.complete:
                rest = []
            gains = self._of_whole_sets(self.unlimited)
            may = self._open & ~barred & self._fits(n_genes - len(self.picked))
            if worthwhile and not rest:
                may &= gains > self._nothing
            gene = _best(gains, self._value, may)
            self.held_back |= gene is None or gene != _best(gains, self._value, self._open)
            if gene is None:
                break
            genes = self._set_of.get(gene, [gene])
            following = self._rest_after(genes, rest, n_genes)
            if following is None and len(genes) > 1:
                barred[genes] = True
                continue
            if following is None:  # nor could the panel be completed beside a gene no better
                barred |= self._rows.no_better(gene, self._used)
                continue
            rest = following
            for one in genes:
                self._pick(one, gains if len(genes) == 1 else self.unlimited)

    @property
    def exhausted(self) -> str | None:
        """The limit that keeps out most of the other genes; None where it is no limit."""
        out = self._open & self._rows.allowed
        if not out.any():
            out = self._open
        if not out.any():
            return None
        if (out & self._rows.within(self._used)).any():
            return "together" if self._set_of and not (out & self._fits(1)).any() else None
        refused = self._rows.only(np.flatnonzero(out)).refused(self._used)
        return self._rows.names[int(np.argmax(refused))]

    def _pick(self, gene: int, gains: Array) -> None:
        self.picked.append(int(gene))
        self.gains.append(float(gains[gene]))
        self.enter(int(gene))

    def _completed(self, used: Array, open_: Mask, places: int) -> list[int]:
        rest = self._rows.completion(used, open_, places)
        if rest is None:
            raise InvalidValue(
                "limits", NO_VALUE, "cannot be met by a panel of this size", "ask for more genes"
            )
        return rest

    def _of_whole_sets(self, gains: Array) -> Array:
        """Gains, of a gene that enters with others the mean of what they gain together."""
        gains = gains.copy() if self._set_of else gains
        by_size: dict[int, list[Index]] = {}
        for one in self._rows.sets:
            if self._open[one].all():
                by_size.setdefault(len(one), []).append(one)
        for size, some in by_size.items():
            sets = np.array(some)
            gains[sets] = self.together(sets)[:, None] / size
        return gains

    def _fits(self, places: int) -> Mask:
        """Whether each gene, with those that enter with it, leaves no upper limit broken."""
        fits = self._rows.within(self._used)
        left = self._rows.most - self._used
        for one, sums in zip(self._rows.sets, self._sums_of_sets, strict=True):
            fits[one] = len(one) <= places and bool((sums <= left).all())
        return fits

    def _rest_after(
        self, genes: Sequence[int] | Index, rest: list[int], n_genes: int
    ) -> list[int] | None:
        """Genes that complete the panel once some have entered; None where none do."""
        if genes[0] in rest:
            return [other for other in rest if other not in genes]
        used = self._used + self._rows.sums(genes)
        places = n_genes - len(self.picked) - len(genes)
        if len(rest) <= places and (used + self._rows.sums(rest) <= self._rows.most).all():
            return rest
        open_ = self._open.copy()
        open_[genes] = False
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


#: Where limits keep genes out, so many powers of what a gene uses up are tried.
THRIFTS = 5


def select_within(
    criterion: Criterion,
    n_genes: int | None,
    *,
    include: Index,
    candidates: Index,
    rows: Rows,
) -> Panel:
    """Choose genes one by one within limits, each the one that lowers F most, among sorted
    candidates with those of `include` among them.

    The panel is smaller than `n_genes` where upper limits let fewer genes in; None: the fewest
    genes that preserve :data:`.greedy.SHARE`, or, where there is a budget, all that fit and gain
    something.  Panels of different sizes are not nested where limits hold genes back.  Where a
    budget or a total keeps genes out, they are chosen anew by gain for what they use up
    (:data:`THRIFTS`), and the best of these panels counts.
    """
    given = candidates
    candidates = np.flatnonzero(rows.whole(np.isin(np.arange(rows.n_genes), candidates)))
    check(rows, n_genes, include=include, candidates=candidates)
    blocks = [block.only(candidates) for block in criterion.blocks]
    fixed, rows = np.searchsorted(candidates, include), rows.only(candidates)
    greedy = _grown(criterion, candidates, blocks, rows, fixed, n_genes)
    fixed = rows.with_partners(fixed)
    order = candidates[greedy.picked]
    preserved = criterion.preserved(order)
    n_selected = len(order)
    if n_genes is None and not rows.budget:
        n_selected = max(enough(preserved, len(fixed), greedy.exhausted), rows.met(greedy.picked))
        n_selected = rows.closed(greedy.picked, n_selected)
    elif n_genes is not None and n_selected < n_genes and greedy.exhausted is not None:
        log.warning(
            Message(
                f"{n_selected} of {n_genes} genes are selected: {greedy.exhausted} admits no more."
            )
        )
    chosen = np.asarray(greedy.picked[:n_selected], dtype=np.intp)
    waiting = np.zeros(criterion.n_genes)
    waiting[candidates] = greedy.unlimited
    beta = np.zeros(criterion.n_genes)
    beta[candidates[fixed]] = 1.0
    share = np.full(n_selected, np.nan)
    if n_selected > len(fixed):
        any_size = n_genes is None and rows.budget
        size = len(candidates) if any_size else n_genes or n_selected
        bounding, above = criterion.bounding(candidates[chosen])
        bounding = [block.only(candidates) for block in bounding]
        free, relaxed = _relaxed(bounding, rows, chosen, len(fixed), size)
        errors = criterion.errors(candidates[chosen])[len(fixed) :]
        share[len(fixed) :] = optimality(errors, relaxed.lower - above)
        beta[candidates[free]] = relaxed.beta
    return picked(
        *(order, waiting, given),
        weights=beta[given],
        n_selected=n_selected,
        preserved=preserved,
        optimality=share,
    )


def _grown(
    criterion: Criterion,
    candidates: Index,
    blocks: Sequence[Block],
    rows: Rows,
    fixed: Index,
    n_genes: int | None,
) -> Limited:
    """Genes that entered one by one, more than will be selected where `n_genes` is None."""
    if n_genes is not None or rows.budget:
        return _thrifty(criterion, blocks, rows, fixed, n_genes)
    greedy = Limited(blocks, rows, fixed, across=criterion.across())
    most = max(min(LARGEST, len(candidates)), len(greedy.picked))
    if not greedy.complete:  # lower limits are met within the size that keeps enough without them
        free = Limited(blocks, rows.packing, fixed, across=criterion.across())
        free.fill(most)
        enough = np.flatnonzero(criterion.preserved(candidates[free.picked]) >= SHARE)
        greedy.fill(max(int(enough[0]) + 1 if len(enough) else most, greedy.fewest()))
    greedy.fill(most)
    return greedy


def _thrifty(
    criterion: Criterion, blocks: Sequence[Block], rows: Rows, fixed: Index, n_genes: int | None
) -> Limited:
    """The best of several choices, by gain and by gain for what a gene uses up of the limits.

    The power of what it uses grows where the limits let too few genes in, and falls where all that
    were asked for came in.
    """
    size = rows.n_genes if n_genes is None else n_genes
    plain = Limited(blocks, rows, fixed, across=criterion.across())
    plain.fill(size, worthwhile=n_genes is None)
    ways, least, thrift, most = [plain], 0.0, 1.0, 1.0
    while plain.held_back and rows.use.any() and len(ways) < THRIFTS:
        way = Limited(blocks, rows, fixed, thrift=thrift, across=criterion.across())
        way.fill(size, worthwhile=n_genes is None)
        ways.append(way)
        least, most = (
            (thrift, most) if len(way.picked) < size and thrift < most else (least, thrift)
        )
        thrift = (least + most) / 2.0
    return max(ways, key=lambda way: sum(way.gains))


def _relaxed(
    blocks: Sequence[Block], rows: Rows, chosen: Index, n_fixed: int, size: int
) -> tuple[Index, Relaxation]:
    """Genes that may join those that had to be in, and their relaxed choice."""
    fixed, more = chosen[:n_fixed], chosen[n_fixed:]
    left = rows.remaining(rows.sums(fixed))
    may = left.allowed
    may[fixed] = False
    free = np.flatnonzero(left.whole(may))
    blocks = [block.cover(fixed).only(free) for block in blocks]
    relaxed = relax(blocks, len(more))
    if len(rows.names) or rows.groups is not None:
        panel = np.isin(free, more).astype(float)
        size = min(size - n_fixed, len(free))
        relaxed = relax_within(blocks, left.only(free), size, panel, relaxed)
    return free, relaxed
