"""Exchanges of one gene for another until none lowers the criterion (Fedorov 1972)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import Array
    from .greedy import Greedy

#: An exchange gains at least this share of what the panel loses without the gene that leaves.
_WORTH = 1e-9
_MOST_ROUNDS = 20


def exchange(panel: Greedy, allowed: Array, n_fixed: int) -> int:
    """Replace picked genes, each by the best of those allowed, as long as the criterion falls.

    Parameters
    ----------
    panel
        A panel that was picked; its ``picked`` is changed in place.
    allowed
        Whether each gene may be in the panel, shape (n_genes,).
    n_fixed
        So many of the first genes stay.

    Returns
    -------
    Number of exchanges.
    """
    exchanged = 0
    for _ in range(_MOST_ROUNDS):
        before = exchanged
        for place in range(n_fixed, len(panel.picked)):
            gene = panel.picked[place]
            lost = panel.leave(gene)
            others = allowed.copy()
            others[panel.picked] = False
            gains = np.where(others, panel.waiting, -np.inf)
            best = int(np.argmax(gains))
            if gains[best] > (1.0 + _WORTH) * lost:
                panel.picked[place] = gene = best
                exchanged += 1
            panel.enter(gene)
        if exchanged == before:
            break
    return exchanged
