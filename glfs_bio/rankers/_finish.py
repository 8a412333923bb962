"""How large a panel should be, and how it is completed where λ does not give its size.

Both follow ``Tr(M E)``, the mean squared error of LapRLS weighted by the graph: what labels that
are smooth on the graph are expected to be off by when the genes that have entered are measured with
their noise.  At λ1 = 0 it is the criterion of He et al. 2011.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.greedy import Greedy
from ._blocks import with_lambda2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core._typing import Array, Index
    from ..core.block import Block
    from ..core.problem import Problem

FINISHES = ("auto", "greedy", None)

#: An automatic panel keeps this share of what all genes together keep, in so many leading
#: directions of the cells; it has at most so many genes.
KEPT = 0.9
_LEADING = 16
_LARGEST = 500


def kept(problems: Sequence[Problem], include: Index) -> Array:
    """Share of the structure that panels of 1, 2, … genes keep, those of `include` coming first.

    ``(Tr M − Tr ME) / (Tr M − Tr ME_all)``, with ``E_all`` that of all genes together.  It ends
    where :data:`KEPT` is reached, or where the panel would grow too large.
    """
    blocks = [
        with_lambda2(problem, "exact", None if problem.full_rank else _LEADING)
        for problem in problems
    ]
    panel = Greedy(blocks)
    nothing = panel.value
    everything = _with_every_gene(blocks)
    panel.grow(len(include), among=include)
    most = max(len(include), min(_LARGEST, panel.n_genes))
    while nothing - panel.value < KEPT * (nothing - everything) and len(panel.picked) < most:
        panel.grow(len(panel.picked) + 1)
    return np.cumsum(panel.gains) / (nothing - everything)


def complete(
    problems: Sequence[Problem], n_genes: int, include: Index, support: Index
) -> tuple[Array, Array, Array]:
    """Greedily best genes after those of `include`, first in the support: weights and scores.

    Weights are what a gene of the panel gained when it entered, zero for the others.  Scores are
    1 + (its place from the end)/n, and for the others what they would gain next, relative to the
    best of these.  The third array is the share of the structure that the first 1, 2, … of them
    keep, as :func:`kept` has it, but in all directions.
    """
    blocks = [with_lambda2(problem, "exact") for problem in problems]
    panel = Greedy(blocks)
    nothing = panel.value
    panel.grow(len(include), among=include)
    panel.grow(n_genes, among=support)
    panel.grow(n_genes)
    weights, scores = in_order(panel)
    return weights, scores, np.cumsum(panel.gains) / (nothing - _with_every_gene(blocks))


def _with_every_gene(blocks: Sequence[Block]) -> float:
    """``Tr(M E)`` with all genes, each of weight 1."""
    every = np.arange(len(blocks[0].genes))
    return Greedy([block.cover(every, np.ones(len(every))) for block in blocks]).value


def in_order(panel: Greedy) -> tuple[Array, Array]:
    """Weights and scores of genes that were picked one by one, as :func:`complete` describes."""
    smallest = np.finfo(float).tiny
    weights = np.zeros(panel.n_genes)
    weights[panel.picked] = np.maximum(panel.gains, smallest)
    scores = panel.waiting
    scores /= max(np.delete(scores, panel.picked).max(initial=0.0), smallest)
    scores[panel.picked] = 2.0 - np.arange(len(panel.picked)) / len(panel.picked)
    return weights, scores
