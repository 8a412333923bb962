"""LapAOFS: greedy A-optimal features of Laplacian-regularised regression (He et al. 2011)."""

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
    """Pick genes one by one so that ``Tr Z⁻¹``, the approximate variance, falls most.

    With ``B_k = (M + A)⁻¹`` the next gene is ``argmax fᵀB_k M B_k f / (1 + fᵀB_k f)``; in whitened
    genes ``g = M^(-1/2) f`` that is :class:`~glfs_bio.solvers.greedy.Greedy` on ``Tr E``.
    λ2 is that of :func:`~glfs_bio.rivals._designs.pick`.

    Gains add up over batches.

    Returns
    -------
    Ranking
        Weights are what a gene gained when it entered, zero for the others.
    """
    return pick(problems, n_genes, include, "trace")


METHOD = Method("LapAOFS: greedy A-optimal features", "He, Ji, Zhang & Bao 2011", rank)
