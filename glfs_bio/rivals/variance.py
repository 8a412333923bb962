"""Largest variance: the simplest rival."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..solvers.panel import Method, by_value

if TYPE_CHECKING:
    from ..solvers.panel import Panel, Problem


class LargestVariance(Method):
    """The simplest rival."""

    name = "variance"
    title = "Largest variance"

    def solve(self, problem: Problem) -> Panel:
        """Rank genes by their variance over the cells, in the units of the matrix.

        Over batches it is the variance within batches, their cells counting alike.
        """
        n_cells = [cells.n_cells for cells in problem.sets]
        values = np.average([cells.variance for cells in problem.sets], axis=0, weights=n_cells)
        return by_value(values, problem)
