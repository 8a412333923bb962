"""``Tr Cov(w)``, the variance of LapRLS: the objective of GLFS as the paper derives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .variance import Variance

if TYPE_CHECKING:
    from .._typing import Array


class Exact(Variance):
    """``Q = Tr(A (M+A)⁻¹ M (M+A)⁻¹ M)``, the trace of the covariance of w.

    Equation (6) of the paper, fourth line.
    """

    whole_space = False

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array, Array]:
        """N, N₁ and N₂ for ``M = diag(m)``."""
        return m, m, np.ones_like(m)
