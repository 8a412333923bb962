"""The objective of the original GLFS: ``Tr Cov(w)``, the variance of LapRLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .original import Original

if TYPE_CHECKING:
    from .._typing import Array


class Exact(Original):
    """Minimise the variance of LapRLS with an ℓ1 penalty: the original GLFS.

    The variance is ``φ = Tr Cov(w) = Tr(A (M+A)⁻¹ M (M+A)⁻¹ M)``, equation (6), fourth line, of
    Wang and Goldenberg (2014).

    Parameters
    ----------
    lam : float, "line_search" or None, default None
        λ, the weight of the penalty:

        - a number
        - ``"line_search"``: the rule of the paper, the largest λ at which the solution does not
          collapse
        - ``None``: the λ of the path at which the number of genes is reached
    solver : {"newton", "owlqn"}, default "newton"
        Solver; ``"owlqn"`` is that of the paper.
    tol : float, default 1e-4
        Maximum violation of the optimality conditions, in units of λ.

    See Also
    --------
    Printed : Minimise the last formula of the paper.

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
        """Return N, N₁ and N₂ for ``M = diag(m)``."""
        return m, m, np.ones_like(m)
