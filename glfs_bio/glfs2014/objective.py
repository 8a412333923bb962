"""The objectives of the original GLFS: variance of LapRLS with an ℓ1 penalty, along a path of λ."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import checks
from ..data.threads import few_threads
from ..errors import InvalidValue, caution
from ..solvers.panel import Method, Panel, without_ties
from . import path
from .variance import Phi, Variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..cells.cells import Cells
    from ..solvers.panel import Problem
    from .path import Solution

log = logging.getLogger(__name__)

#: What is recorded of each solution along λ.
_OF_PATH = ("lam", "n_genes", "objective", "kkt")
#: Weight, in its own direction, of a gene that must be in: well on the branch of selections.
_INCLUDED_WEIGHT = 12.0


@dataclass(frozen=True)
class Exact(Method):
    """Minimise the variance of LapRLS with an ℓ1 penalty: the original GLFS.

    The variance is ``φ = Tr Cov(w) = Tr(A (M+A)⁻¹ M (M+A)⁻¹ M)``, equation (6), the last line
    but one, of Wang and Goldenberg (2014), minimised by their solver, orthant-wise quasi-Newton.
    Genes are ranked by β.

    Parameters
    ----------
    lam : float, "line_search" or None, default None
        λ, the weight of the penalty:

        - a number
        - ``"line_search"``: the rule of the paper, the largest λ at which the solution does not
          collapse
        - ``None``: the λ of the path at which the number of genes is reached
    tol : float, default 1e-4
        Maximum violation of the optimality conditions, in units of λ.

    Examples
    --------
    >>> from glfs_bio.glfs2014 import Exact
    >>> Exact(lam="line_search")
    Exact(lam='line_search', tol=0.0001)
    """

    lam: float | Literal["line_search"] | None = None
    tol: float = path.TOLERANCE

    name = "exact"
    title = "GLFS (2014): ℓ1-penalised variance of LapRLS"
    reference = "Wang & Goldenberg 2014"
    chooses_size = True

    def __post_init__(self) -> None:
        checks.number("tol", self.tol, above=0.0)
        if isinstance(self.lam, str):
            checks.one_of("lam", self.lam, ("line_search",))
        elif self.lam is not None:
            checks.number("lam", self.lam, above=0.0)

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array]:
        """Return N₁ and N₂ for ``M = diag(m)``."""
        return m, np.ones_like(m)

    @classmethod
    def whitened(cls, genes: Array, kappa: Array) -> Phi:
        """φ of whitened genes, with the eigenvalues of ``K = VᵀBV``."""
        left, right = cls.diagonals(1.0 / kappa)
        return Phi(genes, left, right, np.zeros((len(kappa), len(kappa))))

    def solve(self, problem: Problem) -> Panel:
        """Select genes by the solution at λ, all of its genes where `n_genes` is None."""
        return self.panels(problem.sets, [problem.n_genes], problem.fixed)[0]

    def panels(
        self, sets: Sequence[Cells], sizes: Sequence[int | None], include: Index
    ) -> list[Panel]:
        """Select genes of several numbers: for each the last solution along λ with as many genes.

        Weights are β of genes in their units, of which the largest has length 1, so that β does not
        depend on those of the matrix; there is no λ2.  Scores are 1 + the share of Σ β for the
        genes of the solution, and the stationarity ratio ``−(∂φ/∂β)/λ ≤ 1`` for the others.
        """
        largest = np.sqrt(np.max(sum(map(_squared_norms, sets))))
        blocks = [self.whitened(cells.whitened / largest, cells.metric[0]) for cells in sets]
        norms = Variance(tuple(blocks)).squared_norms[include]
        fixed = _INCLUDED_WEIGHT / np.where(norms > 0, norms, np.inf)
        objective = Variance(tuple(block.cover(include, fixed) for block in blocks))
        if not objective.squared_norms.any():
            raise InvalidValue("`include` has all genes that vary: include fewer genes")
        with few_threads(objective.rank):
            solutions = self._solutions(objective, sizes, len(include))
        n_iter = sum(solution.n_iter for solution in solutions)
        along = {name: np.array([getattr(at, name) for at in solutions]) for name in _OF_PATH}
        panels = []
        for size in sizes:
            chosen = solutions[-1]
            if self.lam is None and size is not None:
                chosen = path.at_least(solutions, size - len(include))
            self._warn(chosen, size, len(include))
            scores = _scores(chosen, objective.squared_norms)
            scores[include] = 2.0 + norms / max(norms.max(initial=0.0), np.finfo(float).tiny)
            weights = chosen.beta.copy()
            weights[include] = fixed
            n_selected = chosen.n_genes + len(include) if size is None else size
            info = {name: getattr(chosen, name) for name in ("lam", "kkt", "converged")}
            info |= {"n_iter": n_iter, "path": along}
            panels.append(Panel(weights, without_ties(scores), n_selected, info=info))
        return panels

    def _solutions(
        self, objective: Variance, sizes: Sequence[int | None], n_included: int
    ) -> list[Solution]:
        """Solutions along λ, until the smallest number of genes or to the given λ."""
        if self.lam == "line_search" or (self.lam is None and None in sizes):
            return path.line_search(objective, tol=self.tol)
        if self.lam is not None:
            return path.walk(objective, last=float(self.lam), tol=self.tol)
        least = max(min(size or 1 for size in sizes) - n_included, 1)
        return path.walk(objective, least=least, tol=self.tol)

    def _warn(self, chosen: Solution, size: int | None, n_included: int) -> None:
        if not chosen.converged:
            text = f"{chosen.kkt:.2g}, above `tol` {self.tol:g}: raise it."
            caution(f"The solver stopped with optimality conditions violated by {text}")
        if size is not None and chosen.n_genes + n_included < size:
            text = f"Only {chosen.n_genes} genes have a weight at λ = {chosen.lam:.4g}, fewer than"
            log.warning(f"{text} {size - n_included}. The others are those nearest to one.")


class Printed(Exact):
    """Minimise the last formula of the paper for the variance, with an ℓ1 penalty.

    ``Tr(A (M+A)⁻² M²)``, equation (7), equals φ of equation (6) only if A and M commute.  It
    depends on all axes of the cells, not only on the subspace of the genes.

    Parameters and attributes are those of :class:`~glfs_bio.glfs2014.Exact`.

    Examples
    --------
    >>> from glfs_bio.glfs2014 import Printed
    >>> Printed()
    Printed(lam=None, tol=0.0001)
    """

    name = "printed"
    title = "GLFS (2014), by the formula that the paper prints"
    whole_space = True

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array]:
        """Return N₁ and N₂ for ``M = diag(m)``."""
        return m**2, 1.0 / m


def _squared_norms(cells: Cells) -> Array:
    """Return ``‖c_i‖²`` of every gene in its units."""
    c = cells.projections
    return np.asarray(np.einsum("ij,ij->i", c, c) * cells.units**2)


def _scores(chosen: Solution, squared_norms: Array) -> Array:
    """Return 1 + the share of Σ β, or the stationarity ratio; genes that are constant are last."""
    waiting = np.minimum(-chosen.gradient / chosen.lam, 1.0)
    waiting[squared_norms == 0] = waiting.min() - 1.0
    return np.where(chosen.beta > 0, 1.0 + chosen.beta / chosen.beta.sum(), waiting)
