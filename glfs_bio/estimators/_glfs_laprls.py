"""Selection and classification in one, with the number of genes from cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core import checks
from ..core.geometry import noise
from ..core.laprls.labels import check_classes, is_labelled
from ._laprls import LapRLSClassifier
from ._supervised import SupervisedGLFS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..core._typing import Array, Index, Matrix
    from ._glfs import GLFS

_MOST_GENES = 30
_SAME_SCORE = 1e-12


class GLFSLapRLSClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by the best few genes, as few as cross-validation allows.

    In every fold the selector chooses 1, 2, 3, … genes on the training part alone and the
    classifier is fitted to them; the number with the fewest errors over all folds is kept, the
    smallest one where several tie.  Then both are fitted to all samples.

    Parameters
    ----------
    n_genes
        Numbers of genes to try, or one number, which needs no folds.  None: 1 to 30.
    selector
        A :class:`~glfs_bio.GLFS`, whose own `n_genes` is not used; None: a supervised one at full
        rank, with the paper's objective.  Where panels are nested, as with ``objective="error"``
        and without labels, one ranking a fold serves all numbers of genes.
    classifier
        Fitted to the selected genes; None: a :class:`~glfs_bio.LapRLSClassifier`.
    weighted
        Weight the genes in the classifier by ``β_i var_i``, or all alike.  β is the weight of the
        gene in the selector's solution.  With ``objective="error"`` it is 1 for every gene of the
        panel: F is that of a panel whose genes are all measured, and the selector's `weights_` are
        those of another panel, which takes genes in part.
    cv
        Number of stratified folds.
    random_state
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_genes_ : int
        Chosen number of genes.
    genes_ : ndarray of shape (n_chosen,)
        Indices of the genes, the best first.
    tried_ : ndarray of shape (n_tried,)
        Numbers of genes that were tried.
    cv_errors_ : ndarray of shape (n_tried,)
        Errors over all folds, out of `n_labelled_`; not there for a single number of genes.
    n_samples_, n_labelled_ : int
        Samples, and those with a label.
    selector_, classifier_
        Fitted to all samples.

    Notes
    -----
    The error of the chosen number is the smallest of many and so a little too good; a sample that
    had no part in the fit says more.

    Examples
    --------
    >>> import numpy as np
    >>> from glfs_bio.estimators import GLFSLapRLSClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 40))
    >>> X[:, 7] += 8.0 * y
    >>> GLFSLapRLSClassifier([1, 2, 5], cv=5).fit(X, y).genes_.tolist()
    [7]
    """

    def __init__(
        self,
        n_genes: int | Sequence[int] | None = None,
        *,
        selector: GLFS | None = None,
        classifier: LapRLSClassifier | None = None,
        weighted: bool = True,
        cv: int = 10,
        random_state: int | None = 0,
    ) -> None:
        self.n_genes = n_genes
        self.selector = selector
        self.classifier = classifier
        self.weighted = weighted
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Matrix, y: ArrayLike) -> GLFSLapRLSClassifier:
        """Choose the number of genes, then select and fit.

        Parameters
        ----------
        X
            Samples × genes, shape (n_samples, n_features); dense or sparse, never changed.
        y
            Labels; −1 means unlabelled, as for :class:`~glfs_bio.LapRLSClassifier`.  Unlabelled
            samples belong to the training part of every fold.

        Returns
        -------
        The fitted classifier.

        Raises
        ------
        ValueError
            A parameter out of range, fewer than two classes, or fewer samples in one than folds.
        """
        X, labels = validate_data(
            self,
            X,
            y,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_min_samples=3,
        )
        if X.shape[1] == 1:
            msg = "There is 1 gene (n_features = 1): there is nothing to choose from."
            raise ValueError(msg)
        checks.flags(weighted=self.weighted)
        checks.seed(self.random_state, state_too=True)
        for name, part in (("selector", self.selector), ("classifier", self.classifier)):
            if part is not None and not isinstance(part, BaseEstimator):
                msg = f"{name}={part!r} must be an estimator, or None."
                raise TypeError(msg)
        check_classification_targets(labels)
        labelled = is_labelled(labels)
        self.classes_ = check_classes(labels[labelled], at_least=2)
        self.n_samples_, self.n_labelled_ = len(labels), int(labelled.sum())
        self.tried_ = self._numbers(X.shape[1])
        self.n_genes_ = int(self.tried_[0])
        if len(self.tried_) > 1:
            errors = [self._errors(X, labels, *fold) for fold in self._folds(labels, labelled)]
            self.cv_errors_ = np.sum(errors, axis=0)
            self.n_genes_ = int(self.tried_[np.argmin(self.cv_errors_)])
        self.selector_ = self._selector().set_params(n_genes=self.n_genes_).fit(X, labels)
        self.genes_ = np.argsort(self.selector_.ranking_)[: self.n_genes_]
        self.classifier_ = self._classify(X, labels, self.genes_, _beta(self.selector_))
        return self

    def decision_function(self, X: Matrix) -> Array:
        """Decision values of the classifier."""
        X = self._selected(X)
        return self.classifier_.decision_function(X)

    def predict(self, X: Matrix) -> NDArray[np.generic]:
        """Class of the largest decision value."""
        X = self._selected(X)
        return self.classifier_.predict(X)

    def _selected(self, X: Matrix) -> Matrix:
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), reset=False
        )
        return X[:, self.genes_]

    def _numbers(self, n_features: int) -> Index:
        """Numbers of genes to try, growing, so that the first best one is the smallest."""
        if self.n_genes is None:
            return np.arange(1, min(_MOST_GENES, n_features) + 1)
        return np.unique(checks.whole_numbers("n_genes", self.n_genes, at_most=n_features))

    def _folds(
        self, y: NDArray[np.generic], labelled: NDArray[np.bool_]
    ) -> Iterator[tuple[Index, Index]]:
        checks.whole_number("cv", self.cv, at_least=2)
        rows = np.flatnonzero(labelled)
        classes, counts = np.unique(y[rows], return_counts=True)
        if counts.min() < self.cv:
            rare = classes[counts.argmin()].item()
            msg = (
                f"cv={self.cv} is more than the {counts.min()} samples of class {rare!r}: "
                "choose fewer folds, or one n_genes, which needs none."
            )
            raise ValueError(msg)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        for _, test in folds.split(rows, y[rows]):
            yield np.setdiff1d(np.arange(len(y)), rows[test]), rows[test]

    def _errors(
        self, X: Matrix, y: NDArray[np.generic], train: Index, test: Index
    ) -> NDArray[np.intp]:
        """Errors of one fold for every number of genes."""
        errors = []
        for number, (order, beta) in zip(
            self.tried_, self._panels(X[train], y[train]), strict=True
        ):
            genes = order[:number]
            model = self._classify(X[train], y[train], genes, beta)
            errors.append(np.sum(model.predict(X[test][:, genes]) != y[test]))
        return np.array(errors)

    def _panels(self, X: Matrix, y: NDArray[np.generic]) -> list[tuple[Index, Array]]:
        """Order and weights of the genes for every number of them."""
        selector = self._selector()
        if isinstance(selector, SupervisedGLFS) and selector.walks_once:
            rankings = selector.panels(X, y, self.tried_.tolist())
            return [(ranking.order, ranking.weights) for ranking in rankings]
        selector.set_params(n_genes=int(self.tried_[-1])).fit(X, y)
        return [(np.argsort(selector.ranking_), _beta(selector))] * len(self.tried_)

    def _classify(
        self, X: Matrix, y: NDArray[np.generic], genes: Index, beta: Array
    ) -> LapRLSClassifier:
        some = X[:, genes]
        weight = None
        if self.weighted:
            weight = beta[genes] * noise.variances(some)
            weight = weight / weight.mean() if weight.any() else None
        model = LapRLSClassifier() if self.classifier is None else clone(self.classifier)
        return model.fit(some, y, feature_weight=weight)

    def _selector(self) -> GLFS:
        return SupervisedGLFS(n_comps=None) if self.selector is None else clone(self.selector)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _beta(selector: GLFS) -> Array:
    """Weights of the solution that the panel is taken from: whole genes but with the paper's."""
    whole = selector.objective == "error"
    return np.ones_like(selector.weights_) if whole else selector.weights_


def fewest_genes(cv_results: Mapping[str, Any]) -> int:
    """Among the best of a grid search, the one with the fewest genes.

    Pass it as ``GridSearchCV(..., refit=fewest_genes)``; the score is ``mean_test_score``.

    Parameters
    ----------
    cv_results
        That of :class:`~sklearn.model_selection.GridSearchCV`, over a grid with one `n_genes`.

    Returns
    -------
    Index of the candidate.

    Raises
    ------
    TypeError, ValueError
        Not the results of a search; no `n_genes` in the grid, or several; no score at all.

    Examples
    --------
    >>> from glfs_bio.estimators import fewest_genes
    >>> fewest_genes({"param_n_genes": [1, 5, 10], "mean_test_score": [0.7, 0.9, 0.9]})
    1
    """
    if not isinstance(cv_results, Mapping) or "mean_test_score" not in cv_results:
        msg = "cv_results must be those of GridSearchCV: it has no mean_test_score."
        raise TypeError(msg)
    names = [name for name in cv_results if name.startswith("param_") and name.endswith("n_genes")]
    if len(names) != 1:
        msg = f"The grid must hold one parameter n_genes; it holds {names}."
        raise ValueError(msg)
    score = np.asarray(cv_results["mean_test_score"])
    n_genes = np.asarray(cv_results[names[0]], dtype=float)
    if n_genes.shape != score.shape or not np.isfinite(score).any():
        msg = f"mean_test_score must hold a number for each of the {len(n_genes)} candidates."
        raise ValueError(msg)
    best = np.flatnonzero(score >= np.nanmax(score) - _SAME_SCORE)
    n_genes = n_genes[best]
    return int(best[np.argmin(n_genes)])
