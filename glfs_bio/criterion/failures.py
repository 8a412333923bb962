"""Panels some of whose genes may fail: the mean of F over failures that are drawn at random.

F at the mean weight of each gene would be a lower bound of that mean (F is convex), and too good.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .criterion import Criterion

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .error import Block

#: Draws of failures.
N_DRAWS = 20


class WithFailures(Criterion):
    """The mean of F over draws in which each gene fails with its own probability.

    A draw is a set of blocks in which the genes that fail carry nothing, so that everything that
    minimises or bounds a sum of blocks does so here.  `scale` is that without failures: what a
    panel keeps is on the same scale as without.

    Parameters
    ----------
    criterion
        F without failures.
    probability
        That each gene fails, shape (n_genes,), from 0 to 1.
    n_draws
        Number of draws.
    random_state
        Seed of the draws.
    """

    def __init__(
        self,
        criterion: Criterion,
        probability: Array,
        *,
        n_draws: int = N_DRAWS,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            criterion.sets,
            criterion.targets,
            worst=criterion.worst,
            detection=criterion.detection,
        )
        works = np.random.default_rng(random_state).random((n_draws, criterion.n_genes))
        self.blocks = [
            replace(
                block,
                genes=block.genes * (draw >= probability)[:, None],
                weights=block.weights / n_draws,
            )
            for draw in works
            for block in criterion.blocks
        ]

    def on(self, genes: Index | slice) -> list[Block]:
        """Every draw, of some genes."""
        return [block.only(genes) for block in self.blocks]
