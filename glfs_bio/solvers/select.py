"""The panel that keeps most: gene by gene, with how far it is from the best possible."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .bound import relax
from .greedy import Greedy

if TYPE_CHECKING:
    from .._typing import Array, Index
    from ..criterion.criterion import Criterion

log = logging.getLogger(__name__)

#: An automatic panel has as many genes as keep this share, and at most so many.
SHARE = 0.8
LARGEST = 500
#: Of the error: less than this is nothing that a panel could still keep.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Panel:
    """Genes in the order in which they were chosen, those that had to be in first.

    Attributes
    ----------
    order
        Chosen genes; the first 1, 2, … are the panels of these sizes.
    n_selected
        How many of them make up the panel.
    waiting
        What each gene would gain next, shape (n_genes,).
    beta
        Weights of the relaxed choice of as many genes, 0 ≤ β ≤ 1, shape (n_genes,).
    kept
        Share that the first 1, 2, … genes of `order` keep.
    of_best_possible
        Share of the best possible of the panels up to `n_selected`, at least; NaN up to the genes
        that had to be in, and where nothing is left to keep.  Under limits the best possible is
        that of all panels within them: of the whole panel with at most the number of genes asked
        for, of its beginnings within the upper limits.
    """

    order: Index
    n_selected: int
    waiting: Array
    beta: Array
    kept: Array
    of_best_possible: Array


def select(
    criterion: Criterion,
    n_genes: int | None,
    *,
    include: Index,
    candidates: Index,
) -> Panel:
    """Choose genes one by one, each the one that lowers F most beside those before it.

    Panels are nested: the first k genes are the panel of k genes, whatever the number asked for.

    Parameters
    ----------
    criterion
        F, over all genes of the matrix.
    n_genes
        Size of the panel; None: the fewest genes that keep :data:`SHARE`.
    include
        Genes that are in from the start.
    candidates
        Sorted genes that may be in, those of `include` among them.
    """
    blocks = [block.only(candidates) for block in criterion.blocks]
    fixed = np.searchsorted(candidates, include)
    greedy = Greedy(blocks, across=criterion.across())
    greedy.grow(len(fixed), among=fixed)
    greedy.grow(max(min(LARGEST, len(candidates)), len(fixed)) if n_genes is None else n_genes)
    order = candidates[greedy.picked]
    kept = criterion.kept(order)
    n_selected = enough(kept, len(fixed)) if n_genes is None else n_genes
    chosen = np.asarray(greedy.picked[:n_selected])
    waiting = np.zeros(criterion.n_genes)
    waiting[candidates] = greedy.waiting
    beta = np.zeros(criterion.n_genes)
    beta[include] = 1.0
    share = np.full(n_selected, np.nan)
    if n_selected > len(fixed):
        bounding, above = criterion.bounding(candidates[chosen])
        bounding = [block.only(candidates).cover(fixed) for block in bounding]
        relaxed = relax(bounding, n_selected - len(fixed))
        errors = criterion.errors(candidates[chosen])[len(fixed) :]
        share[len(fixed) :] = of_best_possible(errors, relaxed.lower - above)
        beta[candidates] += relaxed.beta
    return Panel(order, n_selected, waiting, beta, kept, share)


def of_best_possible(errors: Array, lower: Array) -> Array:
    """Share of the best possible of panels of 1, 2, … genes, at least; NaN where nothing is left.

    Parameters
    ----------
    errors
        F of no gene beside those that had to be in, of the first, of the first two, ….
    lower
        Bounds of F for 1, 2, … genes.
    """
    reach = errors[0] - lower
    share = np.full(len(lower), np.nan)
    something = reach > _ROUNDING * errors[0]
    np.divide(errors[0] - errors[1:], reach, out=share, where=something)
    return share


def enough(kept: Array, at_least: int, exhausted: str | None = None) -> int:
    """The fewest genes that keep the share of an automatic panel; all, with a word, if none do."""
    enough = np.flatnonzero(kept >= SHARE)
    if len(enough):
        return max(int(enough[0]) + 1, at_least)
    log.warning(
        "%d genes keep %.0f %% of the structure, less than the %.0f %% that n_genes=None asks for: "
        "these are selected%s.",
        len(kept),
        100.0 * kept[-1],
        100.0 * SHARE,
        "" if exhausted is None else f", as {exhausted} lets no more in",
    )
    return len(kept)
