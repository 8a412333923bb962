"""Laplacian-regularised least squares as a scikit-learn classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from .. import checks, laprls
from ..cells import graph as graphs
from ..cells.noise import inverse_root
from ..data.matrix import RowMatrix, moments
from ..data.threads import one_thread_of_blas
from ..errors import InvalidValue, short
from ._input import OfMatrices, labels_of, validated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._typing import Array, Index, Matrix


class LapRLSClassifier(ClassifierMixin, OfMatrices):  # type: ignore[misc]
    """Classify by Laplacian-regularised least squares (LapRLS).

    It minimises ``Σ (y − f)² + λ1 fᵀLf + λ2 ‖w‖²`` for ``f = wᵀx + b`` [1]_, in closed form, with
    as many equations as there are samples or features, whichever are fewer.  Two classes are coded
    0 and 1 with the threshold 1/2; more classes one against the rest.  Unlabelled samples belong to
    the graph only.

    There is no ``predict_proba``, since least squares gives no probabilities: use
    :class:`~sklearn.calibration.CalibratedClassifierCV` to estimate them.

    Parameters
    ----------
    lambda1 : float, default 0.1
        Weight λ1 of the graph.
    lambda2 : float, default 10.0
        Weight λ2 of ``‖w‖²``.
    graph : {"neighbors", "classes"}, default "neighbors"
        Graph of the samples, if `fit` gets none:

        - ``"neighbors"``: nearest neighbours in the features
        - ``"classes"``: all pairs of samples of a class
    n_neighbors : int, default 15
        Number of neighbours of a sample.
    class_weight : "balanced", dict or None, default "balanced"
        Weights of the classes in the squared error:

        - ``"balanced"``: equal weights of the classes
        - ``None``: equal weights of the samples; f is then near the label of a large class
        - dict of labels to weights
    standardize : bool, default True
        Divide features by their standard deviation over the training samples, so that `lambda2`
        does not depend on their units.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        Labels.
    coef_ : ndarray of float, shape (1, n_features) or (n_classes, n_features)
        w, for the features as given.
    intercept_ : ndarray of float, shape (1,) or (n_classes,)
        b − 1/2.
    n_labelled_ : int
        Number of samples with a label.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi and V. Sindhwani, Manifold Regularization, JMLR 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from glfs_bio.estimators import LapRLSClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)) + np.repeat([[-3.0, 0.0], [3.0, 0.0]], 30, axis=0)
    >>> y = np.full(60, -1)
    >>> y[[0, 59]] = 0, 1
    >>> LapRLSClassifier().fit(X, y).predict([[-3.0, 1.0], [3.0, 1.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        lambda1: float = 0.1,
        lambda2: float = 10.0,
        graph: Literal["neighbors", "classes"] = "neighbors",
        n_neighbors: int = 15,
        class_weight: Literal["balanced"] | dict[object, float] | None = "balanced",
        standardize: bool = True,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.class_weight = class_weight
        self.standardize = standardize

    def fit(
        self,
        X: Matrix,
        y: ArrayLike,
        *,
        graph: Matrix | None = None,
        feature_weight: ArrayLike | None = None,
    ) -> LapRLSClassifier:
        """Fit w and b.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × features; never changed.
        y : array, shape (n_samples,)
            Labels; −1, NaN, None and texts such as ``"nan"`` are unlabelled, as everywhere in the
            package, unless −1 and 1 are the only labels.
        graph : array or sparse matrix, shape (n_samples, n_samples), default None
            Symmetric similarities of the samples.
        feature_weight : array, shape (n_features,), default None
            Factor ≥ 0 of the square of each feature, after its standardisation.

        Returns
        -------
        LapRLSClassifier
            The fitted classifier.
        """
        checks.number("lambda1", self.lambda1)
        checks.number("lambda2", self.lambda2, above=0.0)
        checks.one_of("graph", self.graph, ("neighbors", "classes"))
        checks.whole_number("n_neighbors", self.n_neighbors, at_least=1)
        checks.flags(standardize=self.standardize)
        X = validated(self, X, ensure_min_samples=2)
        codes, self.classes_ = labels_of(self, y, X.shape[0])
        scale = self._scale(X, feature_weight)
        scaled = X @ sparse.diags_array(scale) if sparse.issparse(X) else X * scale
        is_of_class = np.asarray(codes[:, None] == np.arange(len(self.classes_)), dtype=float)
        coef, intercept = laprls.solve(
            scaled,
            is_of_class[:, 1:] if len(self.classes_) == 2 else is_of_class,
            graphs.laplacian(self._graph(scaled, codes, graph)),
            lambda1=self.lambda1,
            lambda2=self.lambda2,
            sample_weight=self._sample_weight(codes),
        )
        self.coef_ = coef.T * scale
        self.intercept_ = intercept - 0.5
        self.n_labelled_ = int((codes >= 0).sum())
        return self

    @one_thread_of_blas()
    def decision_function(self, X: Matrix) -> Array:
        """Return ``wᵀx + b − 1/2``.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × features.

        Returns
        -------
        ndarray of float, shape (n_samples,) or (n_samples, n_classes)
            One column per class; of two classes, that of the second alone.
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        decision = np.asarray(X @ self.coef_.T + self.intercept_)
        return decision.ravel() if len(self.classes_) == 2 else decision

    def predict(self, X: Matrix) -> NDArray[np.generic]:
        """Return the class with the largest decision value.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × features.

        Returns
        -------
        ndarray, shape (n_samples,)
            Labels, of ``classes_``.
        """
        decision = self.decision_function(X)
        best = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _scale(self, X: Matrix, feature_weight: ArrayLike | None) -> Array:
        scale = np.ones(X.shape[1])
        if self.standardize:
            scale = inverse_root(moments(RowMatrix(X, checked=True))[1])
        if feature_weight is None:
            return scale
        weight = checks.real("feature_weight", feature_weight)
        if weight.shape != scale.shape or weight.min() < 0:
            raise InvalidValue(f"`feature_weight={short(weight)}` must be {len(scale)} numbers ≥ 0")
        return scale * np.sqrt(weight)

    def _sample_weight(self, codes: Index) -> Array:
        weight, labelled = np.zeros(len(codes)), codes >= 0
        if not isinstance(self.class_weight, dict | None):
            checks.one_of("class_weight", self.class_weight, ("balanced",))
        labels = self.classes_[codes[labelled]]
        weight[labelled] = compute_sample_weight(self.class_weight, labels)
        if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.any()):
            raise InvalidValue("`class_weight` must give numbers ≥ 0, and not only 0")
        return weight

    def _graph(self, scaled: Matrix, codes: Index, graph: Matrix | None) -> sparse.csr_array:
        if graph is not None:
            return graphs.check_graph(graph, len(codes))
        if self.lambda1 == 0:
            return sparse.csr_array((len(codes), len(codes)))
        if self.graph == "classes":
            return laprls.class_graph(codes)
        dense = scaled.toarray() if sparse.issparse(scaled) else scaled
        return graphs.knn_graph(dense, self.n_neighbors)
