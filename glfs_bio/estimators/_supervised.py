"""GLFS on the graph of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from ..core.class_graph import class_graph
from ..core.labels import check_classes, is_labelled
from ..core.problem import build_problem
from ..rankers import check_options, glfs
from ._glfs import GLFS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..core._typing import Matrix
    from ..rankers import Ranking

_FEWEST = 2


class SupervisedGLFS(GLFS):
    """Select the few genes that keep the classes of the samples.

    :class:`~glfs_bio.GLFS` with the graph of the classes, ``S_ij = 1`` for two training samples of
    one class and 0 otherwise, in place of nearest neighbours.  The labels enter through `fit` only:
    in a :class:`~sklearn.pipeline.Pipeline` every fold of a cross-validation sees just its own.

    Parameters and attributes are those of :class:`~glfs_bio.GLFS`, but that `n_neighbors` is not
    used, and that `n_genes` genes are those of the last solution along λ with as many, at full rank
    too, unless `finish` is ``"greedy"``.  The graph has an edge for any two samples of a class: it
    is meant for some thousand.

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
        labels = self._labels(y)
        if self.n_genes is None or self.lam is not None or self.finish == "greedy":
            X, labels = self._labelled(X, labels)
            super().fit(X, graph=class_graph(labels))
            return self
        self._take(self.panels(X, labels, [self.n_genes])[0])
        return self

    def panels(self, X: Matrix, y: ArrayLike, sizes: Sequence[int]) -> list[Ranking]:
        """Rankings for several numbers of genes, each a solution along λ, at the cost of one.

        Neither `n_genes` nor `finish` is used.
        """
        X, labels = self._labelled(X, self._labels(y))
        options = self.get_params(deep=False)
        del options["n_genes"]
        check_options(X.shape, sizes, **options)
        problem = build_problem(
            X,
            graph=class_graph(labels),
            n_comps=self.n_comps,
            lambda1=self.lambda1,
            laplacian=self.laplacian,
            standardize=self.standardize,
            random_state=self.random_state,
        )
        return glfs.panels(
            problem, sizes, objective=self.objective, solver=self.solver, tol=self.tol
        )

    def _labels(self, y: ArrayLike | None) -> NDArray[np.generic]:
        if y is None:
            msg = "requires y to be passed, but the target y is None: pass the labels."
            raise ValueError(f"{type(self).__name__} {msg}")
        labels: NDArray[np.generic] = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        return labels

    def _labelled(
        self, X: Matrix, labels: NDArray[np.generic]
    ) -> tuple[Matrix, NDArray[np.generic]]:
        """Check both, and keep the samples whose class is known."""
        X = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
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
