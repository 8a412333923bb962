"""The last formula that the paper prints for the variance, with its true gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .original import Original

if TYPE_CHECKING:
    from .._typing import Array


class Printed(Original):
    """Minimise the last formula of the paper for the variance, with an ℓ1 penalty.

    ``Tr(A (M+A)⁻² M²)``, equation (7), equals φ of equation (6) only if A and M commute.  It
    depends on all axes of the cells, not only on the subspace of the genes.

    Parameters and attributes are those of :class:`~glfs_bio.glfs2014.Exact`.

    See Also
    --------
    Exact : Minimise the variance itself.

    Examples
    --------
    >>> from glfs_bio.glfs2014 import Printed
    >>> Printed()
    Printed(lam=None, solver='newton', tol=0.0001)
    """

    name = "printed"
    title = "GLFS (2014), by the formula that the paper prints"
    whole_space = True

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array, Array]:
        """Return N, N₁ and N₂ for ``M = diag(m)``."""
        return m, m**2, 1.0 / m
