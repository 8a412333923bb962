"""The panel that keeps most within limits, with how far it is from the best possible."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from .bound import Relaxation, relax
from .feasible import check
from .limited import Limited
from .limited_bound import relax_within
from .select import LARGEST, SHARE, Panel, enough, of_best_possible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Index
    from ..criterion.criterion import Criterion
    from ..criterion.error import Error
    from .constraints import Rows

log = logging.getLogger(__name__)

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
    """Choose genes one by one within limits, each the one that lowers F most.

    Panels of different sizes are not nested where limits hold genes back.

    Parameters
    ----------
    criterion
        F, over all genes of the matrix.
    n_genes
        Size of the panel, which is smaller where upper limits let fewer genes in; None: the fewest
        genes that keep :data:`~glfs_bio.solvers.select.SHARE`, or, where there is a budget, as many
        as the limits let in that gain something.
    include
        Genes that are in from the start.
    candidates
        Sorted genes that may be in, those of `include` among them.
    rows
        Limits on the panel, over all genes of the matrix.  Where a budget or a total keeps genes
        out, they are chosen anew by gain for what they use up (:data:`THRIFTS`), and the best of
        these panels counts.

    Raises
    ------
    ValueError
        Limits that no panel meets (:func:`~glfs_bio.solvers.feasible.check`).
    """
    check(rows, n_genes, include=include, candidates=candidates)
    blocks = [block.only(candidates) for block in criterion.blocks]
    fixed, rows = np.searchsorted(candidates, include), rows.only(candidates)
    greedy = _grown(criterion, candidates, blocks, rows, fixed, n_genes)
    order = candidates[greedy.picked]
    kept = criterion.kept(order)
    n_selected = len(order)
    if n_genes is None and not rows.budget:
        n_selected = max(enough(kept, len(fixed), greedy.exhausted), rows.met(greedy.picked))
    elif n_genes is not None and n_selected < n_genes and greedy.exhausted is not None:
        names = n_selected, n_genes, greedy.exhausted
        log.warning("%d of the %d genes are selected: %s lets no more in.", *names)
    chosen = np.asarray(greedy.picked[:n_selected], dtype=np.intp)
    waiting = np.zeros(criterion.n_genes)
    waiting[candidates] = greedy.unlimited
    beta = np.zeros(criterion.n_genes)
    beta[include] = 1.0
    share = np.full(n_selected, np.nan)
    if n_selected > len(fixed):
        any_size = n_genes is None and rows.budget
        size = len(candidates) if any_size else n_genes or n_selected
        bounding, above = criterion.bounding(candidates[chosen])
        bounding = [block.only(candidates) for block in bounding]
        free, relaxed = _relaxed(bounding, rows, chosen, len(fixed), size)
        errors = criterion.errors(candidates[chosen])[len(fixed) :]
        share[len(fixed) :] = of_best_possible(errors, relaxed.lower - above)
        beta[candidates[free]] = relaxed.beta
    return Panel(order, n_selected, waiting, beta, kept, share)


def _grown(
    criterion: Criterion,
    candidates: Index,
    blocks: Sequence[Error],
    rows: Rows,
    fixed: Index,
    n_genes: int | None,
) -> Limited:
    """Genes that entered one by one, more than will be selected where `n_genes` is None."""
    if n_genes is not None or rows.budget:
        return _thrifty(criterion, blocks, rows, fixed, n_genes)
    greedy = Limited(blocks, rows, fixed, across=criterion.across())
    most = max(min(LARGEST, len(candidates)), len(fixed))
    if not greedy.complete:  # lower limits are met within the size that keeps enough without them
        free = Limited(blocks, rows.packing, fixed, across=criterion.across())
        free.fill(most)
        enough = np.flatnonzero(criterion.kept(candidates[free.picked]) >= SHARE)
        greedy.fill(max(int(enough[0]) + 1 if len(enough) else most, greedy.fewest()))
    greedy.fill(most)
    return greedy


def _thrifty(
    criterion: Criterion, blocks: Sequence[Error], rows: Rows, fixed: Index, n_genes: int | None
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
    blocks: Sequence[Error], rows: Rows, chosen: Index, n_fixed: int, size: int
) -> tuple[Index, Relaxation]:
    """Genes that may join those that had to be in, and their relaxed choice."""
    fixed, more = chosen[:n_fixed], chosen[n_fixed:]
    left = rows.beside(rows.sums(fixed))
    may = left.allowed
    may[fixed] = False
    free = np.flatnonzero(may)
    blocks = [block.cover(fixed).only(free) for block in blocks]
    relaxed = relax(blocks, len(more))
    if len(rows.names):
        panel = np.isin(free, more).astype(float)
        size = min(size - n_fixed, len(free))
        relaxed = relax_within(blocks, left.only(free), size, panel, relaxed)
    return free, relaxed
