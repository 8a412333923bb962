"""Largest variance: the simplest rival."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..methods import Method
from ..panel import by_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Index
    from ..cells.cells import Cells
    from ..options import StructureSpec
    from ..panel import Panel


class LargestVariance(Method):
    """The simplest rival."""

    name = "variance"
    title = "Largest variance"

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, spec: StructureSpec
    ) -> Panel:
        """Rank genes by their variance over the cells, in the units of the matrix.

        Over batches it is the variance within batches, their cells counting alike.
        """
        cells = [problem.n_cells for problem in problems]
        values = np.average([problem.variance for problem in problems], axis=0, weights=cells)
        return by_value(values, n_genes, include)
