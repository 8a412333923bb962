"""LapDOFS: greedy D-optimal features of Laplacian-regularised regression (He et al. 2011)."""

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
    """Pick genes one by one so that ``log det Z``, which is that of M + A, grows most.

    With ``B_k = (M + A)⁻¹`` the next gene is ``argmax fᵀB_k f``.  λ2 is that of
    :mod:`~glfs_bio.rankers.lapaofs`.

    Parameters
    ----------
    problems
        One reduced problem per batch, over the same genes.  Gains ``log(1 + fᵀB_k f)`` add up over
        batches.
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
    panel = Greedy([with_lambda2(problem, "mse") for problem in problems], "determinant")
    panel.grow(len(include), among=include)
    panel.grow(n_genes)
    weights, scores = in_order(panel)
    return Ranking(weights, without_ties(scores), n_genes)
