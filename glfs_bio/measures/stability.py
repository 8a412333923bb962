"""What selections on several parts of the cells have in common."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..criterion.panel import MeasuredPanel, n_matched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.criterion import Criterion


def jaccard(chosen: NDArray[np.bool_]) -> Array:
    """What every two selections share, over what is in either: (parts, parts).

    `chosen`, shape (parts, genes), says which genes each part selects.
    """
    return _over_either(chosen.astype(float) @ chosen.T.astype(float))


def jaccard_with_substitutes(
    criterion: Criterion, panels: Sequence[Index], included: NDArray[np.bool_]
) -> Array:
    """The same where a gene may be matched with one that stands in for it: (parts, parts).

    A gene stands in for another in one of the two panels, as the cells of `criterion` have it.
    Genes that are `included`, shape (genes,), are of each panel and not counted.
    """
    stands_in = [MeasuredPanel(criterion, panel).substitutes() for panel in panels]
    counted = [panel[~included[panel]] for panel in panels]
    shared = np.diag([float(len(panel)) for panel in counted])
    for i, j in combinations(range(len(panels)), 2):
        both = stands_in[i] + stands_in[j]
        shared[i, j] = shared[j, i] = n_matched(counted[i], counted[j], both)
    return _over_either(shared)


def mean_of_pairs(jaccard: Array) -> float:
    """Return the mean over the pairs of different selections."""
    return float(jaccard[np.triu_indices(len(jaccard), 1)].mean())


def _over_either(shared: Array) -> Array:
    """Return what pairs share over what is in either, NaN of nothing; sizes are on the diagonal."""
    sizes = np.diag(shared)
    either = sizes[:, None] + sizes - shared
    return np.divide(shared, either, out=np.full_like(shared, np.nan), where=either > 0)


def with_substitutes(criterion: Criterion, panel: Index, chosen: NDArray[np.bool_]) -> Array:
    """Share of the parts that select each gene of a panel or one that stands in for it.

    `chosen`, shape (parts, genes), says which genes each part selects.
    """
    counts = MeasuredPanel(criterion, panel).substitutes()[panel] @ chosen.T.astype(np.int64)
    return np.asarray(np.mean((counts > 0) | chosen[:, panel].T, axis=1))


def consensus(chosen: NDArray[np.bool_], ranks: Array, size: int) -> NDArray[np.bool_]:
    """The `size` genes that most parts select; of equals those of the best mean rank.

    `chosen` and `ranks` have the shape (parts, genes); genes that were not tested have rank NaN.
    """
    order = np.lexsort((ranks.mean(axis=0), -chosen.sum(axis=0)))
    panel = np.zeros(chosen.shape[1], dtype=bool)
    panel[order[:size]] = True
    return panel
