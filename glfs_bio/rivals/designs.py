"""Greedy optimal designs of Laplacian-regularised regression (He, Ji, Zhang & Bao 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..criterion.criterion import units_of_noise
from ..criterion.error import Block
from ..methods import Method
from ..panel import Panel, in_order, without_ties
from ..solvers.greedy import Greedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Index
    from ..cells.cells import Cells
    from ..options import StructureSpec


class LapAOFS(Method):
    """Greedy A-optimal features."""

    name = "lapaofs"
    title = "LapAOFS: greedy A-optimal features"
    reference = "He, Ji, Zhang & Bao 2011"

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, spec: StructureSpec
    ) -> Panel:
        """Pick genes one by one so that ``Tr Λ⁻¹``, the approximate variance, falls most.

        ``Λ = XᵀBX + λ2 I`` is the normal matrix of LapRLS.  With whitened genes that is
        :class:`~glfs_bio.solvers.greedy.Greedy` on ``Tr E``.  λ2 is that of :func:`pick`.

        Gains add up over batches.

        Weights are what a gene gained when it entered, zero for the others.
        """
        return pick(problems, n_genes, include, "trace")


class LapDOFS(Method):
    """Greedy D-optimal features."""

    name = "lapdofs"
    title = "LapDOFS: greedy D-optimal features"
    reference = "He, Ji, Zhang & Bao 2011"

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, spec: StructureSpec
    ) -> Panel:
        """Pick genes one by one so that ``log det Λ``, which is that of I + A', grows most.

        λ2 is that of :func:`pick`.  Gains ``log(1 + gᵀEg)`` add up over batches.

        Weights are what a gene gained when it entered, zero for the others.
        """
        return pick(problems, n_genes, include, "determinant")


def pick(problems: Sequence[Cells], n_genes: int, include: Index, criterion: str) -> Panel:
    """Pick genes one by one where all directions count alike, ``W = I``.

    λ2, which the paper leaves open, is the noise of a gene against the prior of the labels,
    ``n · noise · Tr K / r``: a gene of weight 1 stands for one measurement.
    """
    panel = Greedy([alike(problem) for problem in problems], criterion)
    panel.grow(len(include), among=include)
    panel.grow(n_genes)
    weights = np.zeros(panel.n_genes)
    weights[panel.picked] = np.maximum(panel.gains, np.finfo(float).tiny)
    return Panel(weights, without_ties(in_order(panel.picked, panel.waiting)), n_genes)


def alike(problem: Cells) -> Block:
    """The criterion where all directions count alike."""
    genes = problem.whitened.genes / np.sqrt(units_of_noise(problem))
    r = genes.shape[1]
    return Block(genes, np.ones(r), np.zeros((r, r)))
