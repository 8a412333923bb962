"""Largest variance: the simplest rival."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._filter import by_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core._typing import Index
    from ..core.problem import Problem
    from ._ranking import Ranking


def rank(
    problems: Sequence[Problem],
    n_genes: int,
    *,
    include: Index,
    random_state: int | None = None,
) -> Ranking:
    """Rank genes by their variance over the cells, in the units of the matrix.

    Parameters
    ----------
    problems
        One problem per batch, over the same genes.  Over batches it is the variance within batches,
        their cells counting alike.
    n_genes
        Genes to select.
    include
        Genes that come first.
    random_state
        Not needed: nothing is drawn.
    """
    cells = [len(problem.basis) for problem in problems]
    values = np.average([problem.variance for problem in problems], axis=0, weights=cells)
    return by_value(values, n_genes, include)
