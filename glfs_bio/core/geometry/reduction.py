"""How a matrix of cells × genes becomes a problem."""

from __future__ import annotations

from dataclasses import dataclass

from .. import checks
from . import graph as graphs

STANDARDIZE = ("noise", "unit", None)


@dataclass(frozen=True)
class Reduction:
    """How a matrix of cells × genes becomes a problem: parameters of :class:`~glfs_bio.GLFS`.

    `whole_space` is that of :func:`~glfs_bio.core.geometry.subspace.full_rank`.

    Raises
    ------
    TypeError, ValueError
        A value out of range.
    """

    n_comps: int | None = 50
    n_neighbors: int = 15
    lambda1: float = 100.0
    laplacian: str = "normalized"
    standardize: str | None = "noise"
    whole_space: bool = False
    random_state: int | None = 0

    def __post_init__(self) -> None:
        checks.whole_number("n_comps", self.n_comps, at_least=1, or_none=True)
        checks.whole_number("n_neighbors", self.n_neighbors, at_least=1)
        checks.number("lambda1", self.lambda1)
        checks.one_of("laplacian", self.laplacian, graphs.LAPLACIANS)
        checks.one_of("standardize", self.standardize, STANDARDIZE)
        checks.seed(self.random_state, state_too=True)
