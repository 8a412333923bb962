"""Selectors of scikit-learn: GLFS, and GLFS on the graph of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from .. import checks
from ..cells.cells import build_problems
from ..criterion.criterion import Criterion, Target
from ..criterion.targets import Expression, Labels, Values
from ..errors import NO_VALUE, InvalidValue
from ..laprls import check_classes, class_graph, is_labelled
from ..methods import OBJECTIVES, Method, Question
from ..ranking import measured
from ..selection import Options, check_sizes, rank_genes
from ._input import validated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .._typing import Matrix
    from ..cells.cells import Problem
    from ..ranking import Ranking


_OF_Y = ("labels", "values")
_FEWEST = 2
_PRESERVE = ("structure", "expression", *_OF_Y)


class GLFS(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the few genes that keep the structure of the cells.

    Genes are chosen one by one.  Each is the one that lowers most what is left unexplained,
    ``F = Tr(W E)``, when it is measured beside those before it.  W stands for what should be
    preserved: the structure of the cells above the noise of genes, or labels or numbers that `y`
    gives.  ``objective="exact"`` is the selection of the paper [1]_: the variance of
    Laplacian-regularised least squares with a penalty on the weights, ``Q(β) + λ Σ β`` over β ≥ 0.

    Parameters
    ----------
    n_genes
        Genes to select.  None: the fewest that keep 90 % of the structure that all genes keep (at
        most 500); with the paper's objectives, all genes of the solution at λ.
    objective
        ``"error"``: the criterion F.  ``"exact"``: the variance ``Tr Cov(w)`` alone, the original
        GLFS; ``"printed"``: the paper's last formula for it, which equals it only when matrices
        commute.  An instance of :class:`~glfs_bio.glfs2014.Exact` or
        :class:`~glfs_bio.glfs2014.Printed` has λ, solver and tolerance too.
    preserve
        ``"structure"``: all that genes vary in; `y` is ignored.  ``"expression"``: all genes are to
        be predicted, each counting by how much it varies in X; `y` is ignored.  ``"labels"``: the
        classes `y` are to be told apart.  ``"values"``: the numbers `y` are to be predicted.
    lambda1
        Weight λ1 of the graph in ``B = I + λ1 L``.
    standardize
        ``"noise"``: genes in units of their noise, measured on the graph; ``"unit"``: unit
        variance; None: as they are; ``"auto"``: ``"noise"``, but as they are at full rank with the
        paper's objectives.
    n_comps
        Principal components that span the subspace of the cells.  None: full rank, as in the paper.
    n_neighbors
        Neighbours of a cell in the graph, where none is given to `fit`.  None: 15, of fewer than
        300 cells a twentieth of them, and at least 8.
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
    preserved_ : ndarray of shape (n_selected,)
        Share of the structure that the first 1, 2, … genes keep of what all genes keep.
    optimality_ : ndarray of shape (n_selected,)
        Panels of these sizes keep at least this share of what the best possible ones keep; with
        ``objective="error"`` only.
    curve_ : dict
        Where the number of genes was chosen: ``n_genes`` and ``preserved``, of larger panels too.
    lambda_, kkt_ : float
        With the paper's objectives only: λ of the solution, and the largest violation of the
        optimality conditions in units of λ.
    path_ : dict
        Likewise: ``lam``, ``n_genes``, ``objective`` and ``kkt`` of every solution on the way.
    converged_ : bool
        Likewise: whether `kkt_` is within the tolerance.
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
        objective: str | Method = "error",
        preserve: Literal["structure", "expression", "labels", "values"] = "structure",
        lambda1: float = 100.0,
        standardize: Literal["auto", "noise", "unit"] | None = "auto",
        n_comps: int | None = 50,
        n_neighbors: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.n_genes = n_genes
        self.objective = objective
        self.preserve = preserve
        self.lambda1 = lambda1
        self.standardize = standardize
        self.n_comps = n_comps
        self.n_neighbors = n_neighbors
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
            another size, a λ that leaves no gene, or a `y` that does not vary.
        """
        checks.one_of("preserve", self.preserve, _PRESERVE)
        X = validated(
            self,
            X,
            ensure_min_samples=3,
        )
        ranking = rank_genes(
            X,
            Question(
                self.n_genes,
                include=() if include is None else include,
                target=self._target(y, X.shape[0]),
            ),
            self._options(),
            graph=graph,
            representation=representation,
            batch=batch,
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
            raise InvalidValue(
                "X",
                NO_VALUE,
                "is sparse, and set_output(transform={container}) asks for a table, which is dense",
                "call set_output(transform='default'), or pass a dense matrix",
                container=repr(container),
            )
        return super().fit_transform(X, y, **fit_params)

    def _target(self, y: ArrayLike | None, n_cells: int) -> Target | None:
        if self.preserve == "structure":
            return None
        if self.preserve == "expression":
            return Target(((Expression(), 1.0),))
        if y is None:
            raise _no_target(self, self.preserve)
        values = np.asarray(y)
        check_consistent_length(np.empty(n_cells), values)
        if self.preserve == "labels":
            return Target(((Labels(_codes(column_or_1d(values, warn=True))), 1.0),))
        numbers = values.reshape(n_cells, -1).astype(float)
        if np.isinf(numbers).any():
            raise InvalidValue("y", NO_VALUE, "has infinite values", "make them NaN, or finite")
        return Target(((Values(numbers), 1.0),))

    @property
    def method(self) -> Method:
        """The objective, as an instance."""
        return OBJECTIVES.resolve("objective", self.objective)

    def _options(self) -> Options:
        names = ("objective", "lambda1", "standardize", "n_comps", "n_neighbors", "random_state")
        return Options(**{name: getattr(self, name) for name in names})

    def _take(self, ranking: Ranking) -> None:
        self.weights_ = ranking.weights
        self.losses_ = ranking.losses
        self.scores_ = ranking.scores
        self.ranking_ = ranking.ranks
        self.n_selected_ = ranking.n_selected
        for name in ("preserved", "optimality", "curve", "path", "kkt", "converged", "n_iter"):
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


class SupervisedGLFS(GLFS):
    """Select the few genes that keep the classes of the samples.

    :class:`~glfs_bio.GLFS` with the graph of the classes, ``S_ij = 1`` for two training samples of
    one class and 0 otherwise, in place of nearest neighbours, and the objective of the paper, as in
    its leukaemia experiment.  The labels enter through `fit` only: in a
    :class:`~sklearn.pipeline.Pipeline` every fold of a cross-validation sees just its own.

    Parameters and attributes are those of :class:`~glfs_bio.GLFS`, but that `objective` is
    ``"exact"`` unless told otherwise.  With the paper's objectives `n_genes` genes are those of the
    last solution along λ with as many, at full rank too.  The graph has an edge for any two samples
    of a class: it is meant for some thousand.

    Examples
    --------
    >>> import numpy as np
    >>> from glfs_bio.estimators import SupervisedGLFS
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 40))
    >>> X[:, 7] += 4.0 * y
    >>> SupervisedGLFS(n_genes=1, n_comps=None).fit(X, y).get_support(indices=True).tolist()
    [7]
    """

    def __init__(
        self,
        n_genes: int | None = None,
        *,
        objective: str | Method = "exact",
        lambda1: float = 100.0,
        standardize: Literal["auto", "noise", "unit"] | None = "auto",
        n_comps: int | None = 50,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            n_genes,
            objective=objective,
            lambda1=lambda1,
            standardize=standardize,
            n_comps=n_comps,
            random_state=random_state,
        )

    def fit(  # type: ignore[override]  # takes labels in place of a graph
        self, X: Matrix, y: ArrayLike | None = None
    ) -> SupervisedGLFS:
        """Select genes.

        Parameters
        ----------
        X
            Samples × genes, shape (n_samples, n_features); dense or sparse, never changed.
        y
            Labels; −1 means unlabelled, as for :class:`~glfs_bio.LapRLSClassifier`.  Such samples,
            which would be alone in the graph, are left out.

        Returns
        -------
        The fitted estimator.

        Raises
        ------
        ValueError
            As for :class:`~glfs_bio.GLFS`; fewer than two classes, or a class with one sample.
        """
        checks.no_anndata(X)
        labels = self._labels(y)
        if self.n_genes is None or not self.method.walks:
            X, labels = self._labelled(X, labels)
            super().fit(X, graph=class_graph(labels))
            return self
        problem = self._problem(*self._labelled(X, labels), [self.n_genes])
        ranking = self.method.panels(problem, [self.n_genes])[0]
        self._take(measured(ranking, Criterion([problem]), np.arange(len(problem.variance))))
        return self

    def panels(self, X: Matrix, y: ArrayLike, sizes: Sequence[int]) -> list[Ranking]:
        """Rankings for several numbers of genes, each a solution along λ, at the cost of one.

        With an objective that `walks`; `n_genes` is not used.
        """
        problem = self._problem(*self._labelled(X, self._labels(y)), sizes)
        return self.method.panels(problem, sizes)

    def _problem(self, X: Matrix, labels: NDArray[np.generic], sizes: Sequence[int]) -> Problem:
        options = self._options()
        check_sizes(X.shape, options, sizes, X.shape[1])
        return build_problems(X, options.reduction, graph=class_graph(labels))[0]

    def _labels(self, y: ArrayLike | None) -> NDArray[np.generic]:
        if y is None:
            raise _no_target(self, "labels")
        labels: NDArray[np.generic] = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        return labels

    def _labelled(
        self, X: Matrix, labels: NDArray[np.generic]
    ) -> tuple[Matrix, NDArray[np.generic]]:
        """Check both, and keep the samples whose class is known."""
        X = validated(
            self,
            X,
            ensure_min_samples=3,
            ensure_min_features=2,
        )
        check_consistent_length(X, labels)
        labelled = is_labelled(labels)
        check_classes(labels[labelled], at_least=_FEWEST)
        return (X, labels) if labelled.all() else (X[labelled], labels[labelled])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _no_target(estimator: GLFS, values: str) -> InvalidValue:
    """The refusal of a fit without `y`, with the words that scikit-learn's checks look for."""
    return InvalidValue(
        "y",
        NO_VALUE,
        "is missing: {kind} requires y to be passed, but the target y is None",
        "pass the {values}",
        kind=type(estimator).__name__,
        values=values,
    )


def _codes(labels: NDArray[np.generic]) -> NDArray[np.intp]:
    """Number of the class of every cell, −1 where it is not known."""
    known = is_labelled(labels) & ~pd.isna(labels)
    codes = np.full(len(labels), -1, dtype=np.intp)
    names = labels[known].astype(str)
    codes[known] = np.searchsorted(check_classes(names), names)
    return codes
