"""Options of a selection, which check themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .. import checks
from ..cells.cells import STANDARDIZE, Reduction
from ..errors import InvalidValue
from ..methods import METHODS, OBJECTIVES, Method


@dataclass(frozen=True)
class Options:
    """How genes are selected.

    Attributes
    ----------
    method, objective
        Names of :data:`~glfs_bio.methods.METHODS` and :data:`~glfs_bio.methods.OBJECTIVES`, or
        instances.
    lambda1, standardize, n_comps, n_neighbors, random_state
        Those of :class:`~glfs_bio.GLFS`.

    Raises
    ------
    InvalidType, InvalidValue
        A value out of range, or an objective beside a method that has none.
    """

    method: str | Method = "glfs"
    objective: str | Method = "error"
    lambda1: float = 100.0
    standardize: str | None = "auto"
    n_comps: int | None = 50
    n_neighbors: int = 15
    random_state: int | None = 0

    def __post_init__(self) -> None:
        objective = OBJECTIVES.resolve("objective", self.objective)
        METHODS.resolve("method", self.method)
        if self.method != "glfs" and objective != OBJECTIVES["error"]:
            raise InvalidValue(
                "objective",
                objective.name,
                "is for {arg:method=glfs} only",
                "leave it out with another {arg:method}",
            )
        checks.one_of("standardize", self.standardize, ("auto", *STANDARDIZE))
        _ = self.reduction  # checks the rest

    @cached_property
    def ranker(self) -> Method:
        """Whoever ranks the genes: the objective, or a method that has none."""
        if self.method == "glfs":
            return OBJECTIVES.resolve("objective", self.objective)
        return METHODS.resolve("method", self.method)

    @property
    def names(self) -> dict[str, str]:
        """Names of the method and, where it has one, of the objective, for a record."""
        if self.method == "glfs":
            return {"method": "glfs", "objective": self.ranker.name}
        return {"method": self.ranker.name}

    @cached_property
    def reduction(self) -> Reduction:
        """How the matrix becomes a problem."""
        standardize = self.standardize
        if standardize == "auto":
            standardize = self.ranker.standardize(self.n_comps)
        return Reduction(
            n_comps=self.n_comps,
            n_neighbors=self.n_neighbors,
            lambda1=self.lambda1,
            standardize=standardize,
            whole_space=self.ranker.whole_space,
            random_state=self.random_state,
        )
