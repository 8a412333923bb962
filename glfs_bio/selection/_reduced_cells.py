"""Cells as every ranking sees them: what depends on the data alone, and on no question."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..cells.cells import build_problems
from ..cells.graph import n_components
from ..criterion.criterion import Criterion
from ..data.threads import few_threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike
    from scipy import sparse

    from .._typing import Array, Matrix
    from ..cells.cells import Cells, Reduction
    from ..criterion.criterion import Target
    from ..data.matrix import RowMatrix

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReducedCells:
    """The cells in r dimensions, and what is to be said of how they came there.

    Attributes
    ----------
    sets
        One reduced problem for all cells, or one a batch.  The criterion for panels needs no more
        than :class:`~glfs_bio.cells.cells.Cells`, the other methods need
        :class:`~glfs_bio.cells.cells.Problem`, with the matrix.
    reused
        Whether ``representation`` and ``graph`` are those that were given.
    replaced
        Whether those that were given gave way to computed ones.
    graph_components
        Connected components of the graph, the most of a batch.
    """

    sets: tuple[Cells, ...]
    reused: Mapping[str, bool]
    replaced: bool
    graph_components: int

    def criterion(
        self,
        wanted: Sequence[Target] | None = None,
        *,
        worst: bool = False,
        detection: Array | None = None,
    ) -> Criterion:
        """F of these cells, by the arguments of ``Criterion``."""
        with few_threads(self.sets[0].basis.shape[1], len(self.sets[0].variance)):
            return Criterion(self.sets, wanted, worst=worst, detection=detection)

    def note(self) -> None:
        """Log what a user should know of the representation and the graph."""
        if self.replaced:
            log.warning(
                "The principal components and the graph that were there miss directions in which "
                "genes vary beyond their noise: both were computed anew for the selection."
            )
        if self.graph_components > 1:
            log.warning(
                "The graph of the cells has %d connected components, parts that no similarity "
                "joins. Where they should be joined n_neighbors must be larger; cells that stand "
                "alone can be removed.",
                self.graph_components,
            )


def reduce_cells(
    data: Matrix | RowMatrix,
    reduction: Reduction,
    *,
    representation: Array | None = None,
    graph: sparse.csr_array | None = None,
    batch: ArrayLike | None = None,
    provisional: bool = False,
) -> ReducedCells:
    """Reduce the cells of a matrix, by the arguments of ``build_problems``.

    Raises
    ------
    ValueError
        As :func:`~glfs_bio.cells.cells.build_problems`.
    """
    problems = build_problems(
        data, reduction, representation=representation, graph=graph, batch=batch
    )
    return ReducedCells(
        tuple(problems),
        {"representation": representation is not None, "graph": graph is not None},
        False,
        max(n_components(problem.graph) for problem in problems),
    )
