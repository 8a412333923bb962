"""LapAOFS: greedy A-optimal features of Laplacian-regularised regression (He et al. 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.greedy import Greedy
from ._blocks import with_lambda2
from ._finish import in_order
from ._ranking import Ranking, without_ties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core._typing import Index
    from ..core.problem import Problem


def rank(
    problems: Sequence[Problem],
    n_genes: int,
    *,
    include: Index,
    random_state: int | None = None,
) -> Ranking:
    """Pick genes one by one so that ``Tr Z⁻¹``, the approximate variance, falls most.

    With ``B_k = (M + A)⁻¹`` the next gene is ``argmax fᵀB_k M B_k f / (1 + fᵀB_k f)``; in whitened
    genes ``g = M^(-1/2) f`` that is :class:`~glfs_bio.core.greedy.Greedy` on ``Tr E``.  The paper
    leaves λ2 open: see :func:`~glfs_bio.rankers._blocks.with_lambda2`.

    Parameters
    ----------
    problems
        One reduced problem per batch, over the same genes.  Gains add up over batches.
    n_genes
        Genes to pick.
    include
        Genes that enter first, as covered structure.
    random_state
        Not needed: nothing is drawn.

    Returns
    -------
    Ranking
        Weights are what a gene gained when it entered, zero for the others.
    """
    panel = Greedy([with_lambda2(problem, "mse") for problem in problems], "trace")
    panel.grow(len(include), among=include)
    panel.grow(n_genes)
    weights, scores = in_order(panel)
    return Ranking(weights, without_ties(scores), n_genes)
