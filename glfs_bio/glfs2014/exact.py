"""``Tr Cov(w)``, the variance of LapRLS: the objective of GLFS as the paper derives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .original import Original

if TYPE_CHECKING:
    from .._typing import Array


class Exact(Original):
    """``φ = Tr(A (M+A)⁻¹ M (M+A)⁻¹ M)``, the trace of the covariance of w.

    Equation (6) of the paper, fourth line: the original GLFS.

    Parameters
    ----------
    lam : float, "line_search" or None, default None
        A value of λ; ``"line_search"``: the paper's rule, the largest λ that does not collapse.
        None: chosen along the path so that as many genes remain as are asked for.
    solver : {"newton", "owlqn"}, default "newton"
        ``"owlqn"`` is the paper's.
    tol : float, default 1e-4
        Largest violation of the optimality conditions, in units of λ.

    Examples
    --------
    >>> from glfs_bio.glfs2014 import Exact
    >>> Exact(lam="line_search")
    Exact(lam='line_search', solver='newton', tol=0.0001)
    """

    name = "exact"
    title = "GLFS (2014): ℓ1-penalised variance of LapRLS"

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array, Array]:
        """N, N₁ and N₂ for ``M = diag(m)``."""
        return m, m, np.ones_like(m)
