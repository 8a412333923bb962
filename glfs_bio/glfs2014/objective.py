"""The objectives of the original GLFS: variance of LapRLS with an ℓ1 penalty, along a path of λ."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from .. import checks
from ..cells import noise
from ..cells.graph import knn_graph
from ..data.matrix import doubled
from ..data.threads import few_threads
from ..errors import NO_VALUE, Caution, InvalidValue, arg
from ..methods import Method
from ..panel import Panel, without_ties
from . import path
from .solvers import TOLERANCE
from .variance import Phi, Variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..cells.cells import Cells
    from ..options import StructureSpec
    from .solvers import Solution


#: What the paper leaves open, settled by trial on its images and simulations.  Weight, in its own
#: direction, of a gene that must be in: well on the branch of selections.
_INCLUDED_WEIGHT = 12.0
#: At full rank the best genes are those of largest weight among more: so many times their number at
#: most, and less where there are fewer genes for each direction.
_MOST_ROOM = 2.0
#: There the path begins with this times as many, and at least so many: before that a step costs a
#: cube of the number of directions.
_AHEAD, _FEWEST_FIRST = 1.25, 150
#: A gene so near to stationary may be the twin, at zero, of one with a weight.
_TWIN = 1e-2


@dataclass(frozen=True)
class Original(Method):
    """Genes by ``φ(β) + λ Σ β`` over β ≥ 0; a subclass has the :meth:`diagonals` of its φ.

    Its parameters are described in :class:`~glfs_bio.glfs2014.Exact`.
    """

    lam: float | Literal["line_search"] | None = None
    solver: str = "newton"
    tol: float = TOLERANCE

    reference = "Wang & Goldenberg 2014"
    chooses_size = True

    def __post_init__(self) -> None:
        checks.one_of("solver", self.solver, path.SOLVERS)
        checks.number("tol", self.tol, above=0.0)
        if isinstance(self.lam, str):
            checks.one_of("lam", self.lam, ("line_search",))
        elif self.lam is not None:
            checks.number("lam", self.lam, above=0.0)

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array, Array]:
        """N, N₁ and N₂ for ``M = diag(m)``."""
        raise NotImplementedError

    @classmethod
    def block(cls, genes: Array, stiffness: Array) -> Phi:
        """φ of reduced genes C, (n_genes, r), with ``K = VᵀBV``, positive definite, (r, r)."""
        kappa, basis = np.linalg.eigh(stiffness)
        return cls.whitened(genes @ (basis * np.sqrt(kappa)), kappa)

    @classmethod
    def whitened(cls, genes: Array, kappa: Array) -> Phi:
        """φ of whitened genes, with the eigenvalues of K."""
        covered = np.zeros((len(kappa), len(kappa)))
        return Phi(genes, *cls.diagonals(1.0 / kappa), covered=covered)

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, spec: StructureSpec
    ) -> Panel:
        """Select genes by the solution at λ, all of its genes where `n_genes` is None.

        Weights are β.  Scores are 1 + the share of Tr A, or at full rank of ``Σ √h_i β_i`` with the
        :func:`_reliability` h, for the genes of the solution, and the stationarity ratio
        ``−(∂φ/∂β)/λ ≤ 1`` for the others.
        """
        full_rank = spec.n_comps is None
        blocks = self._blocks(problems)
        norms = Variance(*blocks).squared_norms[include]
        fixed = _INCLUDED_WEIGHT / np.where(norms > 0, norms, np.inf)
        objective = Variance(*(block.cover(include, fixed) for block in blocks))
        if not objective.squared_norms.any():
            raise InvalidValue(
                "include", NO_VALUE, "has all genes that vary", "include fewer genes"
            )
        solutions, chosen = self._walk(objective, n_genes, len(include), full_rank=full_rank)
        chosen = _share_among_twins(objective, chosen)
        if not chosen.converged:
            warnings.warn(
                Caution(
                    "The solver stopped with a violation of the optimality conditions of "
                    f"{chosen.kkt:.2g}, above {arg('tol')} {self.tol:g}: raise it, or try another "
                    f"{arg('solver')}."
                ),
                stacklevel=2,
            )
        total = _squared_norms(problems)
        worth = total
        if full_rank and self.lam is None and spec.standardize is None:
            worth = np.sqrt(_reliability(problems, np.flatnonzero(chosen.beta), spec))
        scores = _scores(total, chosen, worth)
        scores[include] = 2.0 + total[include] / total.max()
        weights = chosen.beta.copy()
        weights[include] = fixed
        n_selected = chosen.n_genes + len(include) if n_genes is None else n_genes
        report = _report(solutions, chosen)
        return Panel(weights, without_ties(scores), n_selected, info=report)

    @property
    def walks(self) -> bool:
        """Whether selections of all sizes come from one walk along λ."""
        return self.lam is None

    def panels(self, problem: Cells, numbers: Sequence[int]) -> list[Panel]:
        """Selections of several sizes: for each the last solution along λ with as many genes.

        At full rank too, and without room for more: with a graph of classes the directions that λ
        takes first are those within a class.
        """
        objective = Variance(*self._blocks([problem]))
        walk = path.walk(objective, solver=self.solver, tol=self.tol)
        with few_threads(objective.rank):
            solutions = path.until(walk, min(numbers))
        total = _squared_norms([problem])
        rankings = []
        for number in numbers:
            chosen = path.at_least(solutions, number)
            scores = without_ties(_scores(total, chosen, total))
            report = _report(solutions, chosen)
            rankings.append(Panel(chosen.beta, scores, number, info=report))
        return rankings

    def _blocks(self, problems: Sequence[Cells]) -> list[Phi]:
        """φ on each set of cells.

        It has no λ2: the largest gene has length 1, so that β does not depend on units.
        """
        return [
            self.whitened(
                problem.whitened.genes / np.sqrt(_squared_norms([problem]).max()),
                problem.whitened.kappa,
            )
            for problem in problems
        ]

    def _walk(
        self, objective: Variance, n_genes: int | None, n_included: int, *, full_rank: bool
    ) -> tuple[list[Solution], Solution]:
        """Solutions along λ, and the one that is the answer."""
        how: dict[str, Any] = {"solver": self.solver, "tol": self.tol}
        if self.lam == "line_search" or (self.lam is None and n_genes is None):
            solutions = path.line_search(objective, **how)
            return solutions, solutions[-1]
        if self.lam is not None:
            solutions = path.walk_to(objective, float(self.lam), **how)
            return solutions, solutions[-1]
        n_free = max((n_genes or 0) - n_included, 1)
        if full_rank:
            return _with_room(objective, n_free, how)
        solutions = path.until(path.walk(objective, least=n_free, **how), n_free)
        return solutions, path.at_least(solutions, n_free)


class Exact(Original):
    """Minimise the variance of LapRLS with an ℓ1 penalty: the original GLFS.

    The variance is ``φ = Tr Cov(w) = Tr(A (M+A)⁻¹ M (M+A)⁻¹ M)``, equation (6), fourth line, of
    Wang and Goldenberg (2014).

    Parameters
    ----------
    lam : float, "line_search" or None, default None
        λ, the weight of the penalty:

        - a number
        - ``"line_search"``: the rule of the paper, the largest λ at which the solution does not
          collapse
        - ``None``: the λ of the path at which the number of genes is reached
    solver : {"newton", "owlqn"}, default "newton"
        Solver; ``"owlqn"`` is that of the paper.
    tol : float, default 1e-4
        Maximum violation of the optimality conditions, in units of λ.

    See Also
    --------
    Printed : Minimise the last formula of the paper.

    Examples
    --------
    >>> from glfs_bio.glfs2014 import Exact
    >>> Exact(lam="line_search")
    Exact(lam='line_search', solver='newton', tol=0.0001)
    """

    name = "exact"
    title = "GLFS (2014): ℓ1-penalised variance of LapRLS"

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array, Array]:
        """Return N, N₁ and N₂ for ``M = diag(m)``."""
        return m, m, np.ones_like(m)


class Printed(Original):
    """Minimise the last formula of the paper for the variance, with an ℓ1 penalty.

    ``Tr(A (M+A)⁻² M²)``, equation (7), equals φ of equation (6) only if A and M commute.  It
    depends on all axes of the cells, not only on the subspace of the genes.

    Parameters and attributes are those of :class:`~glfs_bio.glfs2014.Exact`.

    See Also
    --------
    Exact : Minimise the variance itself.

    Examples
    --------
    >>> from glfs_bio.glfs2014 import Printed
    >>> Printed()
    Printed(lam=None, solver='newton', tol=0.0001)
    """

    name = "printed"
    title = "GLFS (2014), by the formula that the paper prints"
    whole_space = True

    @staticmethod
    def diagonals(m: Array) -> tuple[Array, Array, Array]:
        """Return N, N₁ and N₂ for ``M = diag(m)``."""
        return m, m**2, 1.0 / m


def _squared_norms(problems: Sequence[Cells]) -> Array:
    """``Σ_b ‖c_i‖²`` of every gene in its units."""
    total = np.zeros(len(problems[0].variance))
    for problem in problems:
        c = problem.projections
        total += np.einsum("ij,ij->i", c, c) * problem.units**2
    return total


def _with_room(
    objective: Variance, n_free: int, how: dict[str, Any]
) -> tuple[list[Solution], Solution]:
    """At full rank: walk until there is room for the genes asked for and for more.

    Each direction that λ takes there is one of the data's own, so that the answer may be a larger
    solution than the last with enough genes; unless an avalanche leaves enough genes that last,
    which are then the signal in the noise.
    """
    room = n_free * np.clip(
        np.count_nonzero(objective.squared_norms) / objective.rank, 1.0, _MOST_ROOM
    )
    most = max(int(_AHEAD * room), _FEWEST_FIRST)
    walk = path.walk(objective, least=n_free, most=most, **how)
    solutions = path.until(walk, int(room))
    chosen = solutions[-1]
    if chosen.n_genes < n_free:
        chosen = path.at_least(solutions, n_free)
    survivor = path.through_avalanche(walk, solutions)
    return solutions, survivor if survivor is not None and survivor.n_genes >= n_free else chosen


def _share_among_twins(objective: Variance, solution: Solution) -> Solution:
    """The same point with equal weights for equal genes.

    A holds only the sum of their weights, so that rounding would decide how they divide it.
    """
    beta = solution.beta.copy()
    stationary = -solution.gradient >= (1.0 - _TWIN) * solution.lam
    candidates = np.flatnonzero((beta > 0) | stationary)
    rows = np.hstack([block.genes[candidates] for block in objective.blocks])
    alike = np.unique(np.round(rows / np.abs(rows).max(), 9), axis=0, return_inverse=True)[1]
    alike = alike.ravel()
    beta[candidates] = (np.bincount(alike, beta[candidates]) / np.bincount(alike))[alike]
    return replace(solution, beta=beta)


def _reliability(problems: Sequence[Cells], support: Index, spec: StructureSpec) -> Array:
    """Share of every gene's variance that is structure on the graph of the genes of a support.

    The graph of all genes hardly shows the structure where most of them are noise; the genes that
    are left in a solution show it.  A mean over the problems.
    """
    shares = []
    for problem in problems:
        values = doubled(problem.data[:, support])
        graph = knn_graph(
            values.toarray() if sparse.issparse(values) else values,
            spec.n_neighbors,
            spec.random_state,
        )
        residuals = noise.measure(problem.data, problem.variance, graph)
        shares.append(noise.reliability(problem.variance, residuals))
    return np.asarray(np.mean(shares, axis=0))


def _scores(squared_norms: Array, chosen: Solution, worth: Array) -> Array:
    share = chosen.beta * worth
    waiting = np.minimum(-chosen.gradient / chosen.lam, 1.0)
    waiting[squared_norms == 0] = waiting.min() - 1.0
    return np.where(share > 0, 1.0 + share / share.sum(), waiting)


def _report(solutions: list[Solution], chosen: Solution) -> dict[str, Any]:
    return {
        "lam": chosen.lam,
        "kkt": chosen.kkt,
        "converged": chosen.converged,
        "n_iter": sum(solution.n_iter for solution in solutions),
        "path": {
            "lam": np.array([solution.lam for solution in solutions]),
            "n_genes": np.array([solution.n_genes for solution in solutions]),
            "objective": np.array([solution.value for solution in solutions]),
            "kkt": np.array([solution.kkt for solution in solutions]),
        },
    }
