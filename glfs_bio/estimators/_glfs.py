"""GLFS as a scikit-learn feature selector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.descent import TOLERANCE
from ..rankers import rank_genes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..core._typing import Matrix
    from ..rankers import Ranking


class GLFS(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the few genes that keep the structure of the cells.

    Minimises the variance of Laplacian-regularised least squares with an ℓ1 penalty,
    ``Q(β) + λ Σ β`` over β ≥ 0 [1]_, where Q is the exact ``Tr Cov(w)`` of the paper's model, seen
    through a subspace of the cells.  No labels are used.

    Parameters
    ----------
    n_genes
        Genes to select.  None: as many as keep 90 % of the structure that all genes keep (at most
        500); with `lam`, all genes of the solution there.
    objective
        ``"exact"``: Tr Cov(w); ``"printed"``: the paper's last formula for it, which equals it only
        when matrices commute; ``"mse"``: variance plus bias, ``Tr E`` with 0 ≤ β ≤ 1 (the criterion
        of He et al. 2011, relaxed).
    lam
        λ; ``"line_search"``: the paper's rule, the largest λ that does not collapse; None: chosen
        along the path so that `n_genes` remain.
    finish
        What to do where no λ leaves `n_genes` genes or few more.  ``"greedy"``: complete the panel
        gene by gene, each the one that lowers ``Tr(M E)`` most, the mean squared error weighted by
        the graph; None: rank the genes of a larger or smaller solution by weight, as the paper
        does; ``"auto"``: greedy, except at full rank.
    lambda1
        Weight λ1 of the graph in ``B = I + λ1 L``.
    standardize
        ``"noise"``: weight genes by their technical noise, measured on the graph, except at full
        rank; ``"noise_always"``: at full rank too; ``"unit"``: unit variance; None: as they are.
    n_comps
        Principal components that span the subspace of the cells; the path along λ uses the first 10
        to 16 of them, or half of one a gene where `finish` is None.  None: full rank, the paper's
        problem as it stands.
    n_neighbors
        Neighbours of a cell in the graph, where none is given to `fit`.
    laplacian
        ``"normalized"`` (symmetric) or ``"unnormalized"``.
    solver
        ``"newton"``, or ``"owlqn"``: the paper's.
    tol
        Largest violation of the optimality conditions, in units of λ.
    random_state
        Seed of the principal components.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features,)
        β ≥ 0; for a panel that was completed greedily, what each gene of it added.
    finish_ : str
        Whether it was: ``"greedy"`` or ``"none"``.
    curve_ : dict or None
        Where the number of genes was chosen: ``n_genes`` and ``kept``, the share of the structure.
    scores_ : ndarray of shape (n_features,)
        Larger is better, no ties.
    ranking_ : ndarray of shape (n_features,)
        1 is the best gene.
    lambda_ : float
        λ of the solution.
    path_ : dict
        ``lam``, ``n_genes``, ``objective`` and ``kkt`` of every solution on the way.
    kkt_ : float
        Largest violation of the optimality conditions, in units of λ.
    n_selected_ : int
        Number of selected genes.
    converged_ : bool
        Whether `kkt_` is within `tol`.
    n_iter_ : int
        Accepted steps of the solver.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection.

    Examples
    --------
    >>> import numpy as np
    >>> from glfs_bio import GLFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(scale=0.3, size=(90, 40))
    >>> X[:, :3] += 3.0 * np.repeat(np.eye(3), 30, axis=0)
    >>> sorted(GLFS(n_genes=3, n_comps=None).fit(X).get_support(indices=True).tolist())
    [0, 1, 2]
    """

    def __init__(
        self,
        n_genes: int | None = None,
        *,
        objective: Literal["exact", "printed", "mse"] = "exact",
        lam: float | Literal["line_search"] | None = None,
        finish: Literal["auto", "greedy"] | None = "auto",
        lambda1: float = 100.0,
        standardize: Literal["noise", "noise_always", "unit"] | None = "noise",
        n_comps: int | None = 50,
        n_neighbors: int = 15,
        laplacian: Literal["normalized", "unnormalized"] = "normalized",
        solver: Literal["newton", "owlqn"] = "newton",
        tol: float = TOLERANCE,
        random_state: int | None = 0,
    ) -> None:
        self.n_genes = n_genes
        self.objective = objective
        self.lam = lam
        self.finish = finish
        self.lambda1 = lambda1
        self.standardize = standardize
        self.n_comps = n_comps
        self.n_neighbors = n_neighbors
        self.laplacian = laplacian
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: Matrix,
        y: object = None,
        *,
        graph: Matrix | None = None,
        representation: ArrayLike | None = None,
        batch: ArrayLike | None = None,
        include: ArrayLike | None = None,
    ) -> GLFS:
        """Select genes.

        Parameters
        ----------
        X
            Cells × genes, shape (n_samples, n_features); dense or sparse, never changed.
        y
            Ignored.
        graph
            Symmetric similarities of the cells, shape (n_samples, n_samples).
        representation
            Coordinates of the cells whose first columns span the subspace, for example principal
            components of any set of genes; shape (n_samples, r).
        batch
            Batch of every cell.  Each batch has its own subspace and graph, and all share one β, so
            that genes which only separate batches gain nothing.
        include
            Indices of genes that must be in the selection.

        Returns
        -------
        The fitted estimator.

        Raises
        ------
        ValueError
            A parameter out of range, a matrix that is not finite or has no varying gene, a graph of
            another size, or a `lam` that leaves no gene.
        """
        X = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_min_samples=3,
        )
        ranking = rank_genes(
            X,
            graph=graph,
            representation=representation,
            batch=batch,
            include=include,
            **self.get_params(deep=False),
        )
        self._take(ranking)
        return self

    def _take(self, ranking: Ranking) -> None:
        self.weights_ = ranking.weights
        self.scores_ = ranking.scores
        self.ranking_ = ranking.ranks
        self.n_selected_ = ranking.n_selected
        self.lambda_ = ranking.info["lam"]
        self.path_ = ranking.info["path"]
        self.kkt_ = ranking.info["kkt"]
        self.converged_ = ranking.info["converged"]
        self.finish_ = ranking.info["finish"]
        self.curve_ = ranking.info.get("curve")
        self.n_iter_ = ranking.info["n_iter"]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.ranking_ <= self.n_selected_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
