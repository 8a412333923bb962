"""Sparse principal components (Zou, Hastie & Tibshirani 2004, as scikit-learn solves them)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning, dict_learning
from sklearn.exceptions import ConvergenceWarning

from ._filter import by_value
from ._method import Method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core._typing import Array, Index
    from ..core.geometry.problem import Problem
    from ._options import Options
    from ._ranking import Ranking

#: Number of components.
N_COMPONENTS = 20
#: Weight of the ℓ1 norm of the loadings, for genes of which the largest has length 1.
ALPHA = 0.2
#: With more genes than this, components are found on batches of genes.
MANY_GENES = 5000
_TOLERANCE = 1e-4
_MOST_ROUNDS = 300
_BATCH = 512
_MOST_EPOCHS = 10
_MOST_SWEEPS = 100_000


def rank(problems: Sequence[Problem], n_genes: int, *, include: Index, options: Options) -> Ranking:
    """Rank genes by their largest absolute loading on sparse principal components.

    What is decomposed is the matrix seen through the subspace of the problem, ``XVVᵀ``, in r
    dimensions a gene.  scikit-learn's ``SparsePCA``, or ``MiniBatchSparsePCA`` above
    :data:`MANY_GENES` genes, gives the same components of that matrix itself, brought to length 1.
    Here they keep their lengths: a component of one gene would else give it the largest loading,
    however little it varies.  That, the number of components and the weight were chosen among 16
    settings by the AT&T faces' labels and one simulation, in this method's favour there.

    Several batches are one matrix whose batches are centred each by itself.

    Returns
    -------
    Ranking
        Weights are the loadings, for genes of which the largest has length 1.  Genes without a
        loading are ordered, below those with one, by how near they are to having one.  ``info`` has
        ``n_iter`` and, where there are no batches of genes, ``converged``.
    """
    genes = np.hstack([p.projections * p.units[:, None] for p in problems])
    genes /= np.sqrt(np.einsum("ij,ij->i", genes, genes).max())
    loadings, directions, info = components(genes, options.random_state)
    largest = np.abs(loadings).max(axis=1)
    missing = np.abs((genes - loadings @ directions) @ directions.T).max(axis=1) / ALPHA
    scores = np.where(largest > 0, largest, np.minimum(missing, 1.0) - 1.0)
    return replace(by_value(scores, n_genes, include, **info), weights=largest)


METHOD = Method("Sparse principal components", "Zou, Hastie & Tibshirani 2004", rank)


def components(
    genes: Array, random_state: int | None
) -> tuple[Array, Array, dict[str, int | bool]]:
    """Loadings (n_genes, k) and directions (k, r) whose product is near the genes.

    They minimise ``½ ‖genes − loadings directions‖² + ALPHA Σ |loadings|``, directions of length 1.
    """
    n_components = min(N_COMPONENTS, *genes.shape)
    if len(genes) > MANY_GENES:
        return _in_batches(genes, n_components, random_state)
    return _at_once(genes, n_components, random_state)


def _at_once(
    genes: Array, n_components: int, random_state: int | None
) -> tuple[Array, Array, dict[str, int | bool]]:
    loadings, directions, _, n_iter = dict_learning(
        genes,
        n_components,
        alpha=ALPHA,
        max_iter=_MOST_ROUNDS,
        tol=_TOLERANCE,
        method="cd",
        random_state=random_state,
        method_max_iter=_MOST_SWEEPS,
        return_n_iter=True,
    )
    converged = n_iter < _MOST_ROUNDS
    if not converged:
        warnings.warn(
            f"Sparse PCA did not settle in {n_iter} rounds: its ranking is approximate.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return loadings, directions, {"n_iter": int(n_iter), "converged": converged}


def _in_batches(
    genes: Array, n_components: int, random_state: int | None
) -> tuple[Array, Array, dict[str, int | bool]]:
    model = MiniBatchDictionaryLearning(
        n_components,
        alpha=ALPHA,
        max_iter=_MOST_EPOCHS,
        batch_size=_BATCH,
        tol=_TOLERANCE,
        fit_algorithm="cd",
        transform_algorithm="lasso_cd",
        transform_max_iter=_MOST_SWEEPS,
        random_state=random_state,
    ).fit(genes)
    return model.transform(genes), model.components_, {"n_iter": int(model.n_iter_)}
