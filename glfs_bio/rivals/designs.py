"""Greedy optimal designs of Laplacian-regularised regression (He, Ji, Zhang & Bao 2011)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..criterion.criterion import units_of_noise
from ..criterion.error import Block
from ..solvers.greedy import Greedy
from ..solvers.panel import Method, Panel, in_order

if TYPE_CHECKING:
    from ..cells.cells import Cells
    from ..solvers.panel import Problem


class Design(Method):
    """Greedy features that make the normal matrix of LapRLS, ``Λ = XᵀBX + λ2 I``, optimal.

    λ2, which the paper leaves open, is the noise of a gene against the prior of the labels,
    ``n · noise · Tr K / r``: a gene of weight 1 stands for one measurement.
    """

    reference = "He, Ji, Zhang & Bao 2011"
    #: What :class:`~glfs_bio.solvers.greedy.Greedy` looks at, of E of whitened genes.
    criterion: ClassVar[str]

    def solve(self, problem: Problem) -> Panel:
        """Pick genes one by one where all directions count alike, ``W = I``.

        Gains add up over batches.  Weights are what a gene gained when it entered, zero for the
        others.
        """
        n_genes: Any = problem.n_genes
        greedy = Greedy([all_directions(cells) for cells in problem.sets], self.criterion)
        greedy.grow(len(problem.fixed), among=problem.fixed)
        greedy.grow(n_genes)
        weights = np.zeros_like(greedy.waiting)
        weights[greedy.picked] = np.maximum(greedy.gains, np.finfo(float).tiny)
        return Panel(weights, in_order(greedy.picked, greedy.waiting), n_genes)


class LapAOFS(Design):
    """Greedy A-optimal features: ``Tr Λ⁻¹``, the approximate variance, falls most."""

    name = "lapaofs"
    title = "LapAOFS: greedy A-optimal features"
    criterion = "trace"


class LapDOFS(Design):
    """Greedy D-optimal features: ``log det Λ``, by gains of ``log(1 + gᵀEg)``, grows most."""

    name = "lapdofs"
    title = "LapDOFS: greedy D-optimal features"
    criterion = "determinant"


def all_directions(cells: Cells) -> Block:
    """The criterion where all directions count alike."""
    genes = cells.whitened / np.sqrt(units_of_noise(cells))
    r = genes.shape[1]
    return Block(genes, np.ones(r), np.zeros((r, r)))
