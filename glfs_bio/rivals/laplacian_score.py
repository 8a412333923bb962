"""Laplacian Score (He, Cai & Niyogi 2005)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..cells.graph import laplacian
from ..cells.noise import graph_residuals
from ..data.matrix import doubled
from ..errors import InvalidValue
from ..solvers.panel import Method, by_value

if TYPE_CHECKING:
    from .._typing import Array, Matrix
    from ..cells.cells import Cells
    from ..solvers.panel import Panel, Problem

_ROUNDING = 1e-12


class LaplacianScore(Method):
    """Little variation along the graph."""

    name = "laplacian_score"
    title = "Laplacian Score: little variation along the graph"
    reference = "He, Cai & Niyogi 2005"

    def solve(self, problem: Problem) -> Panel:
        """Rank genes by how little they vary along the graph, beside how much they vary at all.

        ``L_i = f̃ᵀLf̃ / f̃ᵀDf̃`` with ``f̃`` centred by the degrees D of the cells and
        ``L = D − Γ``, whatever Laplacian the problem has.  Small is good: the score is ``−L_i``.
        Numerators and denominators are summed over batches, which is the score on the union of
        their graphs with each batch centred by itself.  Of many cells a sample is looked at
        (:class:`~glfs_bio.cells.cells.Sample`).
        """
        along, spread, smallest = np.sum([_forms(cells) for cells in problem.sets], axis=0)
        alive = spread > smallest
        if not alive.any():
            raise InvalidValue("`X` has no gene that varies over the cells that the graph joins")
        values = -np.divide(along, spread, out=np.zeros_like(along), where=alive)
        lowest = values[alive].min()
        values[~alive] = lowest - max(abs(lowest), 1.0)
        return by_value(values, problem)


def _forms(problem: Cells) -> tuple[Array, Array, Array]:
    """``f̃ᵀLf̃`` and ``f̃ᵀDf̃``, and what rounding makes of the second where a gene is constant."""
    data, graph = doubled(problem.data), problem.data_graph
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    size = _squares(data, degrees)
    if not sparse.issparse(data):
        data = data - degrees @ data / degrees.sum()
    along = len(degrees) * graph_residuals(data, laplacian(graph, "unnormalized"))
    if not sparse.issparse(data):
        return along, _squares(data, degrees), _ROUNDING**2 * size
    spread = size - np.asarray(data.T @ degrees) ** 2 / degrees.sum()
    return along, spread, _ROUNDING * size


def _squares(data: Matrix, degrees: Array) -> Array:
    """``fᵀDf`` of every gene."""
    if sparse.issparse(data):
        return np.asarray(data.multiply(data).T @ degrees)
    return np.asarray(np.einsum("i,ij,ij->j", degrees, data, data))
