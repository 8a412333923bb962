"""GLFS on the graph of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from .. import checks
from ..cells.cells import build_problems
from ..criterion.criterion import Criterion
from ..glfs2014 import glfs
from ..glfs2014.descent import TOLERANCE
from ..laprls.class_graph import class_graph
from ..laprls.labels import check_classes, is_labelled
from ..selection import check_sizes, measured
from ._glfs import GLFS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .._typing import Matrix
    from ..cells.cells import Problem
    from ..selection import Ranking

_FEWEST = 2


class SupervisedGLFS(GLFS):
    """Select the few genes that keep the classes of the samples.

    :class:`~glfs_bio.GLFS` with the graph of the classes, ``S_ij = 1`` for two training samples of
    one class and 0 otherwise, in place of nearest neighbours, and the objective of the paper, as in
    its leukaemia experiment.  The labels enter through `fit` only: in a
    :class:`~sklearn.pipeline.Pipeline` every fold of a cross-validation sees just its own.

    Parameters and attributes are those of :class:`~glfs_bio.GLFS`, but that `objective` is
    ``"exact"`` unless told otherwise, and that `n_neighbors` is not used.  With the paper's
    objectives `n_genes` genes are those of the last solution along λ with as many, at full rank
    too.  The graph has an edge for any two samples of a class: it is meant for some thousand.

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
        objective: Literal["error", "exact", "printed"] = "exact",
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
        super().__init__(
            n_genes,
            objective=objective,
            lam=lam,
            swaps=swaps,
            lambda1=lambda1,
            standardize=standardize,
            n_comps=n_comps,
            n_neighbors=n_neighbors,
            laplacian=laplacian,
            solver=solver,
            tol=tol,
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
        if self.n_genes is None or not self.walks_once:
            X, labels = self._labelled(X, labels)
            super().fit(X, graph=class_graph(labels))
            return self
        problem = self._problem(*self._labelled(X, labels), [self.n_genes])
        ranking = glfs.panels(problem, [self.n_genes], self._options())[0]
        self._take(measured(ranking, Criterion([problem]), np.arange(len(problem.variance))))
        return self

    @property
    def walks_once(self) -> bool:
        """Whether selections of all sizes come from one walk along λ, each another solution."""
        return self.objective != "error" and self.lam is None

    def panels(self, X: Matrix, y: ArrayLike, sizes: Sequence[int]) -> list[Ranking]:
        """Rankings for several numbers of genes, each a solution along λ, at the cost of one.

        With the paper's objectives; `n_genes` is not used.
        """
        problem = self._problem(*self._labelled(X, self._labels(y)), sizes)
        return glfs.panels(problem, sizes, self._options())

    def _problem(self, X: Matrix, labels: NDArray[np.generic], sizes: Sequence[int]) -> Problem:
        options = self._options()
        check_sizes(X.shape, options, sizes, X.shape[1])
        return build_problems(X, options.reduction, graph=class_graph(labels))[0]

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
