"""LapDOFS: greedy D-optimal features of Laplacian-regularised regression (He et al. 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..selection._method import Method
from ._designs import pick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Index
    from ..cells.cells import Problem
    from ..selection._options import Options
    from ..selection._ranking import Ranking


def rank(problems: Sequence[Problem], n_genes: int, *, include: Index, options: Options) -> Ranking:
    """Pick genes one by one so that ``log det Z``, which is that of M + A, grows most.

    With ``B_k = (M + A)⁻¹`` the next gene is ``argmax fᵀB_k f``.  λ2 is that of
    :func:`~glfs_bio.rivals._designs.pick`.

    Gains ``log(1 + fᵀB_k f)`` add up over batches.

    Returns
    -------
    Ranking
        Weights are what a gene gained when it entered, zero for the others.
    """
    return pick(problems, n_genes, include, "determinant")


METHOD = Method("LapDOFS: greedy D-optimal features", "He, Ji, Zhang & Bao 2011", rank)
