"""What selections on several parts of the cells have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array


def jaccard(chosen: NDArray[np.bool_]) -> Array:
    """What every two selections share, over what is in either: (parts, parts), NaN of nothing.

    `chosen`, shape (parts, genes), says which genes each part selects.
    """
    shared = chosen.astype(float) @ chosen.T.astype(float)
    sizes = np.diag(shared)
    either = sizes[:, None] + sizes - shared
    return np.asarray(shared / np.where(either > 0, either, np.nan))


def consensus(chosen: NDArray[np.bool_], ranks: Array, size: int) -> NDArray[np.bool_]:
    """The `size` genes that most parts select; of equals those of the best mean rank.

    `chosen` and `ranks` have the shape (parts, genes); genes that were not tested have rank NaN.
    """
    order = np.lexsort((ranks.mean(axis=0), -chosen.sum(axis=0)))
    panel = np.zeros(chosen.shape[1], dtype=bool)
    panel[order[:size]] = True
    return panel
