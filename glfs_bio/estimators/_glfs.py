"""GLFS as a scikit-learn feature selector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from .. import checks
from ..criterion.criterion import Target
from ..criterion.targets import Expression, Labels, Values
from ..glfs2014.descent import TOLERANCE
from ..laprls.labels import check_classes, is_labelled
from ..selection import Options, rank_genes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .._typing import Matrix
    from ..selection import Ranking


_OF_Y = ("labels", "values")
_PRESERVE = ("structure", "expression", *_OF_Y)


class GLFS(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the few genes that keep the structure of the cells.

    Genes are chosen one by one.  Each is the one that lowers most the error of
    Laplacian-regularised least squares, ``F = Tr(W E)``, when it is measured beside those before
    it.  W stands for what is to be kept: the structure of the cells, or labels or numbers that `y`
    gives.  ``objective="exact"`` is the
    selection of the paper [1]_: the variance of the same least squares with a penalty on the
    weights, ``Q(β) + λ Σ β`` over β ≥ 0.

    Parameters
    ----------
    n_genes
        Genes to select.  None: the fewest that keep 80 % of the structure that all genes keep (at
        most 500); with the paper's objectives, all genes of the solution at `lam`.
    objective
        ``"error"``: the error, variance and squared bias; ``"exact"``: the variance ``Tr Cov(w)``
        alone, the paper's; ``"printed"``: the paper's last formula for it, which equals it only
        when matrices commute.
    preserve
        ``"structure"``: all that genes vary in; `y` is ignored.  ``"expression"``: all genes are to
        be predicted, each counting by how much it varies in X; `y` is ignored.  ``"labels"``: the
        classes `y` are to be told apart.  ``"values"``: the numbers `y` are to be predicted.
    lam
        λ of the paper's objectives; ``"line_search"``: the paper's rule, the largest λ that does
        not collapse.  None: chosen along the path so that `n_genes` remain, or the line search
        where `n_genes` is None too.
    swaps
        Exchange genes at the end, one for another, until no exchange lowers F.
    lambda1
        Weight λ1 of the graph in ``B = I + λ1 L``.
    standardize
        ``"noise"``: genes in units of their noise, measured on the graph; ``"unit"``: unit
        variance; None: as they are; ``"auto"``: ``"noise"``, but as they are at full rank with the
        paper's objectives.
    n_comps
        Principal components that span the subspace of the cells.  None: full rank, as in the paper.
    n_neighbors
        Neighbours of a cell in the graph, where none is given to `fit`.
    laplacian
        ``"normalized"`` (symmetric) or ``"unnormalized"``.
    solver
        Of the paper's objectives: ``"newton"``, or ``"owlqn"``, which is the paper's.
    tol
        Of the paper's objectives: largest violation of the optimality conditions, in units of λ.
    random_state
        Seed of the principal components.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features,)
        1 is the best gene.  With ``objective="error"`` panels are nested: the first k genes are the
        panel of k genes.
    scores_ : ndarray of shape (n_features,)
        Larger is better, no ties.
    weights_ : ndarray of shape (n_features,)
        β: between 0 and 1, the weights of the best panel of so many genes if genes could be taken
        in part; with the paper's objectives its β ≥ 0.
    losses_ : ndarray of shape (n_features,)
        What the panel loses without the gene, as a share of what all genes keep.
    n_selected_ : int
        Number of selected genes.
    kept_ : ndarray of shape (n_selected,)
        Share of the structure that the first 1, 2, … genes keep of what all genes keep.
    of_best_possible_ : ndarray of shape (n_selected,)
        Panels of these sizes keep at least this share of what the best possible ones keep; with
        ``objective="error"`` only.
    curve_ : dict
        Where the number of genes was chosen: ``n_genes`` and ``kept``, of larger panels too.
    lambda_, kkt_ : float
        With the paper's objectives only: λ of the solution, and the largest violation of the
        optimality conditions in units of λ.
    path_ : dict
        Likewise: ``lam``, ``n_genes``, ``objective`` and ``kkt`` of every solution on the way.
    converged_ : bool
        Likewise: whether `kkt_` is within `tol`.
    n_iter_ : int
        Likewise: accepted steps of the solver.

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
    >>> sorted(GLFS(n_genes=3, n_comps=10).fit(X).get_support(indices=True).tolist())
    [0, 1, 2]
    """

    def __init__(
        self,
        n_genes: int | None = None,
        *,
        objective: Literal["error", "exact", "printed"] = "error",
        preserve: Literal["structure", "expression", "labels", "values"] = "structure",
        lam: float | Literal["line_search"] | None = None,
        swaps: bool = False,
        lambda1: float = 100.0,
        standardize: Literal["auto", "noise", "unit"] | None = "auto",
        n_comps: int | None = 50,
        n_neighbors: int = 15,
        laplacian: Literal["normalized", "unnormalized"] = "normalized",
        solver: Literal["newton", "owlqn"] = "newton",
        tol: float = TOLERANCE,
        random_state: int | None = 0,
    ) -> None:
        self.n_genes = n_genes
        self.objective = objective
        self.preserve = preserve
        self.lam = lam
        self.swaps = swaps
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
        y: ArrayLike | None = None,
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
            With ``preserve="structure"`` or ``"expression"`` it is ignored.  With ``"labels"`` the
            class of every cell: −1, NaN or None where it is not known.  With ``"values"`` numbers,
            shape (n_samples,) or (n_samples, n_values), NaN where they are not known.
        graph
            Symmetric similarities of the cells, shape (n_samples, n_samples).
        representation
            Coordinates of the cells whose first columns span the subspace, for example principal
            components of any set of genes; shape (n_samples, r).
        batch
            Batch of every cell.  Each batch has its own subspace and graph, and all share one β, so
            that genes which only separate batches gain nothing.
        include
            Indices of genes that must be in the selection: they come first in the ranking.

        Returns
        -------
        The fitted estimator.

        Raises
        ------
        TypeError
            An AnnData object in place of its matrix.
        ValueError
            A parameter out of range, a matrix that is not finite or has no varying gene, a graph of
            another size, a `lam` that leaves no gene, or a `y` that does not vary.
        """
        checks.one_of("preserve", self.preserve, _PRESERVE)
        checks.no_anndata(X)
        X = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_min_samples=3,
        )
        ranking = rank_genes(
            X,
            self.n_genes,
            self._options(),
            graph=graph,
            representation=representation,
            batch=batch,
            include=include,
            wanted=self._wanted(y, X.shape[0]),
        )
        self._take(ranking)
        return self

    def fit_transform(self, X: Matrix, y: ArrayLike | None = None, **fit_params: Any) -> Any:
        """Select genes, and return their columns of X.

        Parameters
        ----------
        X, y, **fit_params
            As for :meth:`fit`.

        Returns
        -------
        Cells × selected genes, in the container that ``set_output`` asks for.

        Raises
        ------
        ValueError
            As for :meth:`fit`; a sparse X where ``set_output`` asks for a table.
        """
        default = get_config()["transform_output"]
        container = getattr(self, "_sklearn_output_config", {}).get("transform", default)
        if sparse.issparse(X) and container != "default":
            msg = (
                f"X is sparse, and set_output(transform={container!r}) asks for a table, which is "
                "dense: call set_output(transform='default'), or pass X.toarray()."
            )
            raise ValueError(msg)
        return super().fit_transform(X, y, **fit_params)

    def _wanted(self, y: ArrayLike | None, n_cells: int) -> Target | None:
        if self.preserve == "structure":
            return None
        if self.preserve == "expression":
            return Target(((Expression(), 1.0),))
        if y is None:
            msg = (
                f"{type(self).__name__} requires y to be passed, but the target y is None: pass "
                f"the {self.preserve}."
            )
            raise ValueError(msg)
        values = np.asarray(y)
        check_consistent_length(np.empty(n_cells), values)
        if self.preserve == "labels":
            return Target(((Labels(_codes(column_or_1d(values, warn=True))), 1.0),))
        numbers = values.reshape(n_cells, -1).astype(float)
        if np.isinf(numbers).any():
            msg = "y has infinite values: make them NaN, or finite."
            raise ValueError(msg)
        return Target(((Values(numbers), 1.0),))

    def _options(self) -> Options:
        options = self.get_params(deep=False)
        for name in ("n_genes", "preserve"):
            options.pop(name, None)
        return Options(**options)

    def _take(self, ranking: Ranking) -> None:
        self.weights_ = ranking.weights
        self.losses_ = ranking.losses
        self.scores_ = ranking.scores
        self.ranking_ = ranking.ranks
        self.n_selected_ = ranking.n_selected
        for name in ("kept", "of_best_possible", "curve", "path", "kkt", "converged", "n_iter"):
            if name in ranking.info:
                setattr(self, f"{name}_", ranking.info[name])
        if "lam" in ranking.info:
            self.lambda_ = ranking.info["lam"]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.ranking_ <= self.n_selected_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = getattr(self, "preserve", None) in _OF_Y
        return tags


def _codes(labels: NDArray[np.generic]) -> NDArray[np.intp]:
    """Number of the class of every cell, −1 where it is not known."""
    known = is_labelled(labels) & ~pd.isna(labels)
    codes = np.full(len(labels), -1, dtype=np.intp)
    names = labels[known].astype(str)
    codes[known] = np.searchsorted(check_classes(names), names)
    return codes
