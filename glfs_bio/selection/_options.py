"""Options of a selection, which check themselves."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

from .. import checks
from ..cells.cells import STANDARDIZE, Reduction
from ..glfs2014 import OBJECTIVES, VARIANCES, glfs
from ..glfs2014.descent import TOLERANCE
from ..glfs2014.path import SOLVERS
from ..rivals import lapaofs, lapdofs, laplacian_score, q_alpha, sparse_pca, variance

METHODS = {
    "glfs": glfs.METHOD,
    "lapaofs": lapaofs.METHOD,
    "lapdofs": lapdofs.METHOD,
    "laplacian_score": laplacian_score.METHOD,
    "q_alpha": q_alpha.METHOD,
    "sparse_pca": sparse_pca.METHOD,
    "variance": variance.METHOD,
}

#: Values that an earlier state of the package had, and what is there instead.
_GONE = {
    ("objective", "mse"): "'error', the default, is the mean squared error for what W keeps",
    ("standardize", "noise_always"): "'noise' is in units of noise at full rank too",
}
#: What only some selections have.
_OF_GLFS = ("objective", "lam", "swaps", "solver", "tol")
_OF_PAPER = ("lam", "solver", "tol")


@dataclass(frozen=True)
class Options:
    """How genes are selected; the attributes are the parameters of :class:`~glfs_bio.GLFS`.

    Raises
    ------
    TypeError, ValueError
        A value out of range, or one that would change nothing beside the others.
    """

    method: str = "glfs"
    objective: str = "error"
    lam: float | Literal["line_search"] | None = None
    swaps: bool = False
    lambda1: float = 100.0
    standardize: str | None = "auto"
    n_comps: int | None = 50
    n_neighbors: int = 15
    laplacian: str = "normalized"
    solver: str = "newton"
    tol: float = TOLERANCE
    random_state: int | None = 0

    def __post_init__(self) -> None:
        for (name, value), instead in _GONE.items():
            if getattr(self, name) == value:
                msg = f"{name}={value!r} is there no more: {instead}."
                raise ValueError(msg)
        checks.one_of("method", self.method, METHODS)
        checks.one_of("objective", self.objective, OBJECTIVES)
        checks.one_of("standardize", self.standardize, ("auto", *STANDARDIZE))
        checks.one_of("solver", self.solver, SOLVERS)
        checks.flags(swaps=self.swaps)
        checks.number("tol", self.tol, above=0.0)
        if isinstance(self.lam, str):
            checks.one_of("lam", self.lam, ("line_search",))
        elif self.lam is not None:
            checks.number("lam", self.lam, above=0.0)
        if self.method != "glfs":
            self._refuse(_OF_GLFS, "method='glfs' only", f"method={self.method!r}")
        elif self.is_error:
            instead = " or ".join(f"objective={name!r}" for name in VARIANCES)
            self._refuse(_OF_PAPER, instead, "objective='error', which has no λ")
        elif self.swaps:
            self._refuse(("swaps",), "objective='error' only", f"objective={self.objective!r}")
        _ = self.reduction  # checks the rest

    @property
    def is_error(self) -> bool:
        """Whether genes come from the criterion for panels."""
        return self.method == "glfs" and self.objective == "error"

    @cached_property
    def reduction(self) -> Reduction:
        """How the matrix becomes a problem: the paper's, at full rank, has genes as they are."""
        standardize = self.standardize
        if standardize == "auto":
            standardize = "noise" if self.is_error or self.n_comps is not None else None
        paper = None if self.is_error or self.method != "glfs" else VARIANCES[self.objective]
        return Reduction(
            n_comps=self.n_comps,
            n_neighbors=self.n_neighbors,
            lambda1=self.lambda1,
            laplacian=self.laplacian,
            standardize=standardize,
            whole_space=paper is not None and paper.whole_space,
            random_state=self.random_state,
        )

    def _refuse(self, names: tuple[str, ...], use: str, beside: str) -> None:
        """No option that does nothing."""
        defaults = {field.name: field.default for field in fields(self)}
        for name in names:
            value = getattr(self, name)
            if value != defaults[name]:
                msg = f"{name}={value!r} is for {use}: leave it out with {beside}."
                raise ValueError(msg)
