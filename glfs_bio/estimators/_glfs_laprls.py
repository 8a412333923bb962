"""Selection and classification in one, with the number of genes from cross-validation."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import checks
from ..data.matrix import RowMatrix, moments
from ..errors import InvalidType, InvalidValue, short, show_stage, without_notes
from ..glfs2014 import Exact
from ..labels import coded, n_folds
from ._glfs import GLFS, SupervisedGLFS
from ._input import OfMatrices, batches_of, labels_of, rows_of
from ._laprls import LapRLSClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from .._typing import Array, Index, Matrix

log = logging.getLogger(__name__)

_MOST_GENES = 30
#: Samples that are cross-validated: with so many an error rate of 0.1 is known to 0.003.
_MOST_TRIED = 10_000


#: Thresholds of the automatic choices; ``benchmarks/ARCHIVE.md`` has the trials.  Maximum number of
#: samples for full rank, which takes a second there, and number of components for more.
_FULL_RANK, _N_COMPS = 100, 50
#: Maximum number of samples for the graph of the classes, and minimum number of samples in two
#: classes, so that folds leave some to be joined.
_CLASSES, _ENOUGH = 400, 4
#: Weight λ1 of the graph of the classes in the classifier, chosen on the 38 of the leukaemia table.
_LAMBDA1_OF_CLASSES = 1.0


def default_selector(labels: NDArray[np.generic], random_state: int | None = 0) -> GLFS:
    """Return the selector for samples with these labels, −1 for none, as the classifier says."""
    codes = coded(labels)[0].codes
    counts = np.bincount(codes[codes >= 0])
    n_comps = None if len(labels) <= _FULL_RANK else _N_COMPS
    if len(labels) <= _CLASSES and np.sum(counts >= _ENOUGH) > 1:
        return SupervisedGLFS(n_comps=n_comps, random_state=random_state)
    return GLFS(preserve="labels", n_comps=n_comps, random_state=random_state)


def default_classifier(labels: NDArray[np.generic], selector: GLFS) -> LapRLSClassifier:
    """Return the classifier of genes that a selector chooses, for samples with these labels."""
    few = isinstance(selector, SupervisedGLFS) and len(labels) <= _CLASSES
    if few and coded(labels)[0].codes.min() >= 0:
        return LapRLSClassifier(graph="classes", lambda1=_LAMBDA1_OF_CLASSES)
    return LapRLSClassifier()


class _Samples(NamedTuple):
    """Samples × genes with their classes and batches, and genes that must be selected."""

    X: RowMatrix
    #: Number of the class of each sample, −1 where it has none.
    codes: Index
    classes: NDArray[Any]
    batch: NDArray[Any] | None
    include: Index | None

    @property
    def labels(self) -> NDArray[Any]:
        """Label of each sample, None where it has none."""
        return np.array([*self.classes.tolist(), None], dtype=object)[self.codes]

    def subset(self, rows: Index) -> _Samples:
        """Return some of the samples."""
        batch = None if self.batch is None else self.batch[rows]
        return self._replace(X=RowMatrix(self.X, rows), codes=self.codes[rows], batch=batch)

    def fit(self, fit: Any, *sizes: Any) -> Any:
        """Call the method of a selector that fits it to the samples."""
        X = self.X.source if self.X.in_memory else self.X
        return fit(X, self.labels, *sizes, batch=self.batch, include=self.include)


class GLFSLapRLSClassifier(ClassifierMixin, OfMatrices):  # type: ignore[misc]
    """Classify by a few genes, as few as cross-validation allows.

    In each fold the selector ranks genes on the training part alone, and the classifier is fitted
    to 1, 2, 3, … genes.  The number with the fewest errors over all folds is chosen, the smallest
    for ties.  Then both are fitted to all samples.

    Of more than 10,000 samples so many are cross-validated, drawn at random: of every class its
    share, and at least `cv`, or all that it has.

    Parameters
    ----------
    n_genes : int or list of int, default None
        Numbers of genes to try, or one number without folds.  None: 1 to 30.
    selector : GLFS, default None
        Selector, whose `n_genes` is not used.  None: for at most 400 samples, if two classes have
        at least four, a :class:`~glfs_bio.estimators.SupervisedGLFS`, otherwise a
        :class:`~glfs_bio.GLFS`; full rank for at most 100 samples, otherwise 50 components.
    classifier : LapRLSClassifier, default None
        Classifier of the selected genes.  None: the default :class:`~glfs_bio.LapRLSClassifier`;
        for at most 400 samples, all labelled, with a :class:`~glfs_bio.estimators.SupervisedGLFS`,
        that on the graph of the classes, ``LapRLSClassifier(graph="classes", lambda1=1)``.
    weighted : bool, default True
        Weight the genes in the classifier by ``β_i var_i``.  β is 1 for all genes of a panel of the
        default criterion, and the weight of the solution of the original GLFS.
    cv : int, default 10
        Number of stratified folds; at most the number of samples of the largest class.  A class
        with fewer samples is tested in as many folds as it has samples; a class with one sample in
        none.
    random_state : int, default 0
        Seed of the folds and of the default selector.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        Labels.
    n_genes_ : int
        Chosen number of genes.
    genes_ : ndarray of int, shape (n_genes,)
        Indices of the genes, the best first.
    tried_ : ndarray of int, shape (n_tried,)
        Numbers of genes that were tried.
    cv_errors_ : ndarray of int, shape (n_tried,)
        Errors over all folds, out of `n_tested_`; missing for a single number of genes.
    n_folds_ : int
        Number of folds; missing for a single number of genes.
    n_tested_ : int
        Number of samples in test folds; missing for a single number of genes.
    n_cross_validated_ : int
        Number of samples that the folds are parts of; missing for a single number of genes.
    n_samples_ : int
        Number of samples.
    n_labelled_ : int
        Number of samples with a label.
    selector_ : GLFS
        Selector, fitted to all samples.
    classifier_ : LapRLSClassifier
        Classifier, fitted to all samples.

    Notes
    -----
    The error of the chosen number is the minimum of many, and therefore optimistic: estimate
    the accuracy on samples outside the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from glfs_bio.estimators import GLFSLapRLSClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 20))
    >>> X[:, 7] += 8.0 * y
    >>> GLFSLapRLSClassifier([1, 2, 5], cv=3).fit(X, y).genes_.tolist()
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

    def fit(
        self,
        X: Matrix,
        y: ArrayLike,
        *,
        batch: ArrayLike | None = None,
        include: ArrayLike | None = None,
    ) -> GLFSLapRLSClassifier:
        """Choose the number of genes, then select and fit.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × genes; never changed.
        y : array, shape (n_samples,)
            Labels; −1, NaN or None for unlabelled samples, which belong to the training part of
            each fold.
        batch : array, shape (n_samples,), default None
            Batch of each sample; genes that only separate batches gain nothing.  With
            :class:`~glfs_bio.estimators.SupervisedGLFS` genes are centred within each batch, and
            samples are joined to those of their class and batch.
        include : array of int, default None
            Indices of genes that must be selected; they come first.

        Returns
        -------
        GLFSLapRLSClassifier
            The fitted classifier.
        """
        rows = rows_of(self, X, ensure_min_samples=3)
        if rows.shape[1] == 1:
            raise InvalidValue("`X` has 1 gene (n_features = 1): there is nothing to choose from")
        checks.flags(weighted=self.weighted)
        checks.seed(self.random_state)
        checks.whole_number("cv", self.cv, at_least=2)
        for name, estimator in (("selector", self.selector), ("classifier", self.classifier)):
            if not isinstance(estimator, BaseEstimator | None):
                raise InvalidType(f"`{name}={short(estimator)}` must be an estimator, or `None`")
        codes, self.classes_ = labels_of(self, y, rows.shape[0])
        self.n_samples_, self.n_labelled_ = len(codes), int((codes >= 0).sum())
        included = None if include is None else np.unique(include)
        self.tried_ = self._numbers(rows.shape[1], 0 if included is None else len(included))
        self.n_genes_ = int(self.tried_[0])
        batches = None if batch is None else batches_of(batch, len(codes))
        samples = _Samples(rows, codes, self.classes_, batches, included)
        selector, classifier = self.selector, self.classifier
        if selector is None:
            selector = default_selector(samples.labels, self.random_state or 0)
        if classifier is None:
            classifier = default_classifier(samples.labels, selector)
        if len(self.tried_) > 1:
            self._choose(selector, classifier, samples)
        self.selector_, order, beta = _ranked(selector, self.n_genes_, samples)
        self.genes_ = order[: self.n_genes_]
        self.classifier_ = self._classify(classifier, samples, self.genes_, beta)
        self.classifier_.classes_ = self.classes_
        return self

    def decision_function(self, X: Matrix) -> Array:
        """Return the decision values of the classifier.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × genes, all that `fit` had.

        Returns
        -------
        ndarray of float, shape (n_samples,) or (n_samples, n_classes)
            One column per class; of two classes, that of the second alone.
        """
        check_is_fitted(self)
        X = RowMatrix(rows_of(self, X, reset=False), genes=self.genes_).loaded()
        return self.classifier_.decision_function(X)

    predict = LapRLSClassifier.predict

    def _choose(self, selector: GLFS, classifier: LapRLSClassifier, samples: _Samples) -> None:
        """Choose the number of genes by cross-validation, of a part of the samples if many."""
        if len(samples.codes) > _MOST_TRIED:
            drawn = self._drawn(samples.codes)
            text = f"The number of genes is chosen by cross-validation of {len(drawn)} samples"
            log.warning(f"{text}, drawn at random of each class; the fit is to all.")
            samples = samples.subset(drawn)
            samples = samples._replace(X=RowMatrix(samples.X.loaded(), checked=True))
        folds = self._folds(samples.codes)
        errors: list[NDArray[np.intp]] = []
        for test in folds:
            show_stage("cross-validation", len(errors), len(folds))
            with without_notes():
                errors.append(self._errors(selector, classifier, samples, test))
        self.n_cross_validated_ = len(samples.codes)
        self.n_folds_, self.n_tested_ = len(folds), sum(map(len, folds))
        self.cv_errors_ = np.sum(errors, axis=0)
        self.n_genes_ = int(self.tried_[np.argmin(self.cv_errors_)])

    def _drawn(self, codes: Index) -> Index:
        """Return samples for cross-validation: of each class its share, and one a fold, sorted."""
        rng = check_random_state(self.random_state)
        sizes = np.bincount(codes + 1)
        counts = np.maximum(sizes * (_MOST_TRIED / len(codes)), np.minimum(sizes, self.cv))
        classes = [np.flatnonzero(codes + 1 == k) for k in range(len(sizes))]
        pairs = zip(classes, counts.astype(int), strict=True)
        return np.sort(np.concatenate([rng.choice(rows, n, replace=False) for rows, n in pairs]))

    def _numbers(self, n_features: int, n_included: int) -> Index:
        """Return the numbers of genes to try, in ascending order."""
        if self.n_genes is None:
            fewest = max(1, n_included)
            return np.arange(fewest, max(fewest, min(_MOST_GENES, n_features)) + 1)
        numbers = np.unique(checks.whole_numbers("n_genes", self.n_genes, at_most=n_features))
        if numbers[0] < n_included:
            raise InvalidValue(f"`include` has {n_included} genes: increase `n_genes`")
        return numbers

    def _folds(self, codes: Index) -> list[Index]:
        """Return the test part of every fold; classes with one sample are never tested."""
        rows = np.flatnonzero(codes >= 0)
        counts = np.bincount(codes[rows])
        rows = rows[counts[codes[rows]] > 1]
        number = n_folds(counts, self.cv)
        folds = StratifiedKFold(number, shuffle=True, random_state=self.random_state)
        # of classes with fewer samples than folds
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return [rows[test] for _, test in folds.split(rows, codes[rows])]

    def _errors(
        self, selector: GLFS, classifier: LapRLSClassifier, samples: _Samples, test: Index
    ) -> NDArray[np.intp]:
        """Return the errors of one fold for every number of genes."""
        learnt = samples.subset(np.setdiff1d(np.arange(len(samples.codes)), test))
        tested = samples.subset(test)
        errors = []
        panels = _panels(selector, learnt, self.tried_)
        for number, (order, beta) in zip(self.tried_, panels, strict=True):
            genes = order[:number]
            model = self._classify(classifier, learnt, genes, beta)
            predicted = model.predict(RowMatrix(tested.X, genes=genes).loaded())
            errors.append(np.sum(predicted != tested.labels))
        return np.array(errors)

    def _classify(
        self, classifier: LapRLSClassifier, samples: _Samples, genes: Index, beta: Array
    ) -> LapRLSClassifier:
        X = RowMatrix(samples.X, genes=genes).loaded()
        weight = None
        if self.weighted:
            weight = beta[genes] * moments(RowMatrix(X, checked=True))[1]
            weight = weight / weight.mean() if weight.any() else None
        model: LapRLSClassifier = clone(classifier)
        return model.fit(X, samples.labels, feature_weight=weight)


def _panels(selector: GLFS, samples: _Samples, numbers: Index) -> list[tuple[Index, Array]]:
    """Return order and weights of the genes for every number of them."""
    method = selector.method
    if isinstance(selector, SupervisedGLFS) and isinstance(method, Exact) and method.lam is None:
        panels = samples.fit(selector.panels, numbers.tolist())
        return [(panel.order, panel.weights) for panel in panels]
    return [_ranked(selector, int(numbers[-1]), samples)[1:]] * len(numbers)


def _ranked(selector: GLFS, n_genes: int, samples: _Samples) -> tuple[GLFS, Index, Array]:
    """Return a selector that is fitted to samples, and order and β of genes, 1 by the criterion."""
    fitted: GLFS = samples.fit(clone(selector).set_params(n_genes=n_genes).fit)
    beta = np.ones_like(fitted.weights_) if fitted.method.by_criterion else fitted.weights_
    return fitted, np.argsort(fitted.ranking_), beta
