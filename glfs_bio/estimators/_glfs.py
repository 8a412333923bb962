"""Feature selectors for scikit-learn: GLFS, and GLFS on the graph of the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .. import checks
from ..cells.cells import build_cells, refuse_ignored
from ..criterion.criterion import Target, TermOfCells, expression_matrix, label_matrix, value_matrix
from ..data.matrix import RowMatrix
from ..data.threads import few_threads
from ..errors import InvalidValue
from ..laprls import class_graph
from ..options import Request
from ..selection import answerable, check_sizes, rank_genes
from ..solvers.panel import NONE, Method, Problem, method_of
from ._input import OfMatrices, batches_of, labels_of, no_target, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .._typing import Matrix
    from ..cells.cells import Cells
    from ..solvers.panel import Panel


_OF_Y = ("labels", "values")
_PRESERVE = ("structure", "expression", *_OF_Y)


class GLFS(SelectorMixin, OfMatrices):  # type: ignore[misc]
    """Select the few genes that preserve the structure of the cells.

    Genes are selected one by one.  Each is the gene that lowers ``F = Tr(W E)`` most, the posterior
    variance of an unknown function on the cells once the gene is measured.  W weights the target:
    the structure of the cells above the noise of genes, or the labels or numbers of `y`.
    ``objective="exact"`` is the original GLFS [1]_: the variance of Laplacian-regularised least
    squares with a penalty on the weights, ``φ(β) + λ Σ β`` over β ≥ 0.

    Parameters
    ----------
    n_genes : int, default None
        Number of genes.  None: the fewest genes (at most 500) that preserve 90 % of what all genes
        preserve; with the original GLFS, all genes of the solution at λ.
    objective : str or instance, default "error"
        Objective, or an instance of :class:`~glfs_bio.glfs2014.Exact` or
        :class:`~glfs_bio.glfs2014.Printed` with λ and tolerance:

        - ``"error"``: F, the default criterion
        - ``"exact"``: the variance ``Tr Cov(w)``, the original GLFS
        - ``"printed"``: the last formula of that paper, equal to it only if matrices commute
    preserve : {"structure", "expression", "labels", "values"}, default "structure"
        Target of the panel:

        - ``"structure"``: variation between cells above the noise of genes; `y` is ignored
        - ``"expression"``: expression of all genes in X; `y` is ignored
        - ``"labels"``: separation of the classes `y`
        - ``"values"``: prediction of the numbers `y`
    search : {"nested", "best"}, default "nested"
        Panels that are compared, with ``objective="error"``:

        - ``"nested"``: genes one by one
        - ``"best"``: all panels of this size, by branch and bound; the panel is not nested
    time_limit : float, default 60.0
        Seconds after which the search for the best panel ends.  None: no limit.
    lambda1 : float, default 100.0
        Weight λ1 of the graph in ``B = I + λ1 L``.
    standardize : {"auto", "noise", "unit"} or None, default "auto"
        Unit of the genes:

        - ``"noise"``: noise-standardised
        - ``"unit"``: unit variance
        - ``None``: as in X
        - ``"auto"``: ``"noise"``; None at full rank with the original GLFS
    n_comps : int, default 50
        Number of principal components that span the subspace of the cells.  None: full rank.
    n_neighbors : int, default None
        Number of neighbours of a cell, if `fit` gets no graph.  None: 15; below 300 cells, 5 % of
        the cells, at least 8.
    random_state : int, default 0
        Seed of the principal components.

    Attributes
    ----------
    ranking_ : ndarray of int, shape (n_features,)
        Rank of each gene, 1 for the best.  With ``objective="error"`` and ``search="nested"`` the
        first k genes are the panel of size k.
    scores_ : ndarray of float, shape (n_features,)
        Score without ties, larger is better.
    weights_ : ndarray of float, shape (n_features,)
        β of the convex relaxation, from 0 to 1; with the original GLFS β ≥ 0.
    losses_ : ndarray of float, shape (n_features,)
        Preserved share that is lost if the gene is removed; 0 for genes that are not selected.
    n_selected_ : int
        Number of selected genes.
    preserved_ : ndarray of float, shape (n_selected,)
        Share of the target that the first 1, 2, … genes preserve, relative to all genes.
    optimality_ : ndarray of float, shape (n_selected,)
        Lower bound on ``preserved_`` relative to the best panel of the same size, with
        ``objective="error"``.  1: the panel is proven to be the best.
    certificates_ : ndarray of str, shape (n_features,)
        With ``objective="error"``: ``"every"`` for a gene of every best panel of this size,
        ``"none"`` for one of no best panel, otherwise ``"open"``.
    proof_ : Proof
        With ``search="best"``: ``error``, F of the panel; ``lower``, its lower bound; ``n_nodes``
        of branch and bound; ``n_open``, genes without a certificate; ``proven``.
    curve_ : dict of ndarray
        With ``n_genes=None``: ``n_genes`` and ``preserved``, also of larger panels.
    lambda_ : float
        With the original GLFS: λ of the solution.
    kkt_ : float
        With the original GLFS: largest violation of the optimality conditions, in units of λ.
    path_ : dict of ndarray
        With the original GLFS: ``lam``, ``n_genes``, ``objective`` and ``kkt`` of the solutions
        along λ.
    converged_ : bool
        With the original GLFS: `kkt_` is within the tolerance.
    n_iter_ : int
        With the original GLFS: accepted steps of the solver.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection, arXiv:1404.2948.

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
        search: Literal["nested", "best"] = "nested",
        time_limit: float | None = 60.0,
        lambda1: float = 100.0,
        standardize: Literal["auto", "noise", "unit"] | None = "auto",
        n_comps: int | None = 50,
        n_neighbors: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.n_genes = n_genes
        self.objective = objective
        self.preserve = preserve
        self.search = search
        self.time_limit = time_limit
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
        ignore: ArrayLike | None = None,
    ) -> GLFS:
        """Select genes.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Cells × genes; never changed.  It may stay in a file, or be a dask array: datasets of
            h5py and zarr, and sparse ones of anndata, are read by rows.
        y : array, shape (n_samples,) or (n_samples, n_values), default None
            Classes for ``preserve="labels"``, with −1, NaN or None for unlabelled cells; numbers
            for ``preserve="values"``, with NaN for unknown ones.  Otherwise ignored.
        graph : array or sparse matrix, shape (n_samples, n_samples), default None
            Symmetric similarities of the cells.
        representation : array, shape (n_samples, r), default None
            Coordinates of the cells that span the subspace, such as principal components.
        batch : array, shape (n_samples,), default None
            Batch of each cell; genes that only separate batches gain nothing.
        include : array of int, default None
            Indices of genes that must be selected; they come first.
        ignore : array of int, default None
            Indices of genes that neither count as structure nor can be selected, unless they are in
            `include`.  Not together with `representation` or `graph`.

        Returns
        -------
        GLFS
            The fitted estimator.

        Raises
        ------
        ValueError
            If λ leaves no gene.
        """
        checks.one_of("preserve", self.preserve, _PRESERVE)
        if ignore is not None:
            refuse_ignored("leave them out of X", representation=representation, graph=graph)
        rows = rows_of(self, X, ensure_min_samples=3)
        problem = Problem.of(rows.shape[1], include, ignore)
        silent = np.flatnonzero(~Problem.of(rows.shape[1], ignore=ignore).allowed)
        panel = rank_genes(
            RowMatrix(rows, silent=silent) if len(silent) else rows,
            self._request(),
            problem=problem,
            target=self._target(y, rows.shape[0]),
            graph=graph,
            representation=representation,
            batch=batch,
        )
        self._take(panel, problem)
        return self

    def _target(self, y: ArrayLike | None, n_cells: int) -> Target | None:
        if self.preserve == "structure":
            return None
        if self.preserve == "expression":
            return Target(((expression_matrix, 1.0),))
        if self.preserve == "labels":
            return Target(((TermOfCells(labels_of(self, y, n_cells)[0], label_matrix), 1.0),))
        if y is None:
            raise no_target(self, self.preserve)
        check_consistent_length(np.empty(n_cells), y)
        numbers = np.asarray(y).reshape(n_cells, -1).astype(float)
        if np.isinf(numbers).any():
            raise InvalidValue("`y` has infinite values: make them NaN, or finite")
        return Target(((TermOfCells(numbers, value_matrix), 1.0),))

    @property
    def method(self) -> Method:
        """The objective, as an instance."""
        return method_of("objective", self.objective)

    def _request(self) -> Request:
        options = {name: getattr(self, name) for name in GLFS().get_params() if name != "preserve"}
        return Request.of(**options)

    def _take(self, panel: Panel, problem: Problem) -> None:
        """Keep a panel of candidates; genes to ignore come last, below all scores."""
        genes, n_features = problem.genes, len(problem.allowed)
        self.weights_, self.losses_ = np.zeros(n_features), np.zeros(n_features)
        self.weights_[genes], self.losses_[genes] = panel.weights, panel.losses
        self.scores_ = panel.scores.min() - 1.0 - np.arange(n_features)
        self.scores_[genes] = panel.scores
        self.ranking_ = 1 + np.argsort(np.argsort(-self.scores_, kind="stable"))
        self.n_selected_ = panel.n_selected
        self.preserved_ = panel.preserved
        if len(panel.optimality):
            self.optimality_ = panel.optimality
        if panel.certificates is not None:
            self.certificates_ = np.full(n_features, NONE, dtype=object)
            self.certificates_[genes] = panel.certificates.of()
        if panel.proof is not None:
            self.proof_ = panel.proof
        for name in panel.info.keys() & {"curve", "path", "kkt", "converged", "n_iter", "lam"}:
            setattr(self, "lambda_" if name == "lam" else f"{name}_", panel.info[name])

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return np.asarray(self.ranking_ <= self.n_selected_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = getattr(self, "preserve", None) in _OF_Y
        return tags


class SupervisedGLFS(GLFS):
    """Select the few genes that separate the classes of the samples.

    It is :class:`~glfs_bio.GLFS` on the graph of the classes, ``S_ij = 1`` for two training samples
    of the same class and 0 otherwise, with the objective of the original GLFS.  Labels enter
    through `fit` only: in a :class:`~sklearn.pipeline.Pipeline` each fold uses its own.

    Parameters and attributes are those of :class:`~glfs_bio.GLFS`, with ``objective="exact"`` by
    default.  With the original GLFS the genes are those of the last solution along λ with `n_genes`
    genes.  The graph has an edge per pair of samples of a class, for at most some thousand samples.

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
            preserve="labels",
            lambda1=lambda1,
            standardize=standardize,
            n_comps=n_comps,
            random_state=random_state,
        )

    def fit(  # type: ignore[override]  # takes labels in place of a graph
        self,
        X: Matrix,
        y: ArrayLike | None = None,
        *,
        batch: ArrayLike | None = None,
        include: ArrayLike | None = None,
    ) -> SupervisedGLFS:
        """Select genes.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × genes; never changed.
        y : array, shape (n_samples,), default None
            Labels; samples with −1, NaN or None are unlabelled and left out, and so are samples
            that are alone in their class, or in that of their batch.
        batch : array, shape (n_samples,), default None
            Batch of each sample: genes are centred within each, and samples are joined to those of
            their class and batch.
        include : array of int, default None
            Indices of genes that must be selected; they come first.

        Returns
        -------
        SupervisedGLFS
            The fitted estimator.
        """
        X, cells = self._cells(X, y, batch, [self.n_genes])
        problem = Problem.of(X.shape[1], include)
        request = self._request()
        answerable(request, problem, None, X.shape, one_set=True)
        self._take(rank_genes(X, request, problem=problem, cells=[cells]), problem)
        return self

    def panels(
        self,
        X: Matrix,
        y: ArrayLike,
        sizes: Sequence[int],
        *,
        batch: ArrayLike | None = None,
        include: ArrayLike | None = None,
    ) -> list[Panel]:
        """Rank the genes for several panel sizes, each a solution along λ, at the cost of one.

        Parameters
        ----------
        X : array or sparse matrix, shape (n_samples, n_features)
            Samples × genes.
        y : array, shape (n_samples,)
            Labels.
        sizes : list of int
            Numbers of genes, instead of `n_genes`.
        batch, include : array, default None
            Batch of each sample, and indices of genes that must be selected, as in `fit`.

        Returns
        -------
        list of Panel
            One panel per size.
        """
        X, cells = self._cells(X, y, batch, sizes)
        included = Problem.of(X.shape[1], include).fixed
        method: Any = self.method
        with few_threads(cells.basis.shape[1]):
            return list(method.panels([cells], sizes, included))

    def _cells(
        self, X: Matrix, y: ArrayLike | None, batch: ArrayLike | None, sizes: Sequence[int | None]
    ) -> tuple[Matrix, Cells]:
        """Return samples that the graph of the classes joins, centred within batches, and it."""
        rows = rows_of(self, X, ensure_min_samples=3, ensure_min_features=2)
        codes, classes = labels_of(self, y, rows.shape[0])
        labelled = np.flatnonzero(codes >= 0)
        block = np.zeros(len(labelled), dtype=np.intp)
        if batch is not None:
            block = np.unique(batches_of(batch, len(codes))[labelled], return_inverse=True)[1]
        of_blocks = block * len(classes) + codes[labelled]
        groups, group, counts = np.unique(of_blocks, return_inverse=True, return_counts=True)
        if np.bincount(groups[counts > 1] // len(classes)).max(initial=0) < 2:
            raise InvalidValue("`y` lacks two classes of two samples in one batch: use `GLFS`")
        joined = counts[group] > 1
        block, graph = block[joined], class_graph(group[joined])
        X = RowMatrix(rows, labelled[joined]).loaded()
        if batch is not None:
            X = X.toarray() if sparse.issparse(X) else X.copy()
            for b in np.unique(block):
                X[block == b] -= X[block == b].mean(axis=0)
        request = self._request()
        for n_genes in sizes:
            checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
        check_sizes(X.shape, request.structure, sizes, X.shape[1])
        spec, wide = request.resolved_structure, request.ranker.whole_space
        (cells,) = build_cells(X, spec, graph=graph, of_classes=True, whole_space=wide)
        return X, cells
