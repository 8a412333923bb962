"""Sparse principal components (Zou, Hastie & Tibshirani 2004, as scikit-learn solves them)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning, dict_learning

from ..errors import Caution
from ..methods import Method
from ..panel import by_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..cells.cells import Cells
    from ..options import StructureSpec
    from ..panel import Panel


#: What scikit-learn is asked for.  Number of components, and weight of the ℓ1 norm of the loadings
#: for genes of which the largest has length 1; :class:`SparsePCA` says how both were chosen.
N_COMPONENTS, ALPHA = 20, 0.2
#: Change between two rounds, or epochs, that ends them.
TOL = 1e-4
#: Most rounds over loadings and directions, and most sweeps of a lasso within a round.
ROUNDS, SWEEPS = 300, 100_000
#: With more genes than this, components are found on batches of genes: so many in a batch, and all
#: of them gone through so often at most.
MANY_GENES, BATCH, EPOCHS = 5000, 512, 10


class SparsePCA(Method):
    """Components with few loadings, kept at their lengths."""

    name = "sparse_pca"
    title = "Sparse principal components"
    reference = "Zou, Hastie & Tibshirani 2004"

    def rank(
        self, problems: Sequence[Cells], n_genes: int, *, include: Index, spec: StructureSpec
    ) -> Panel:
        """Rank genes by their largest absolute loading on sparse principal components.

        What is decomposed is the matrix seen through the subspace of the problem, ``XVVᵀ``, in r
        dimensions a gene.  scikit-learn's ``SparsePCA``, or ``MiniBatchSparsePCA`` for many genes,
        gives the same components of that matrix itself, brought to length 1.  Here they keep their
        lengths: a component of one gene would else give it the largest loading, however little it
        varies.  That, the number of components and the weight were chosen among 16 settings by the
        AT&T faces' labels and one simulation, in this method's favour there.

        Several batches are one matrix whose batches are centred each by itself.

        Weights are the loadings, for genes of which the largest has length 1.  Genes without a
        loading are ordered, below those with one, by how near they are to having one.  ``info`` has
        ``n_iter`` and, where there are no batches of genes, ``converged``.
        """
        genes = np.hstack([p.projections * p.units[:, None] for p in problems])
        genes /= np.sqrt(np.einsum("ij,ij->i", genes, genes).max())
        loadings, directions, info = components(genes, spec.random_state)
        largest = np.abs(loadings).max(axis=1)
        missing = np.abs((genes - loadings @ directions) @ directions.T).max(axis=1) / ALPHA
        scores = np.where(largest > 0, largest, np.minimum(missing, 1.0) - 1.0)
        return replace(by_value(scores, n_genes, include, **info), weights=largest)


def components(
    genes: Array, random_state: int | None
) -> tuple[Array, Array, dict[str, int | bool]]:
    """Loadings (n_genes, k) and directions (k, r) whose product is near the genes.

    They minimise ``½ ‖genes − loadings directions‖² + α Σ |loadings|``, directions of length 1.
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
        max_iter=ROUNDS,
        tol=TOL,
        method="cd",
        random_state=random_state,
        method_max_iter=SWEEPS,
        return_n_iter=True,
    )
    converged = n_iter < ROUNDS
    if not converged:
        warnings.warn(
            Caution(f"Sparse PCA did not converge in {n_iter} rounds: its ranking is approximate."),
            stacklevel=4,
        )
    return loadings, directions, {"n_iter": int(n_iter), "converged": converged}


def _in_batches(
    genes: Array, n_components: int, random_state: int | None
) -> tuple[Array, Array, dict[str, int | bool]]:
    model = MiniBatchDictionaryLearning(
        n_components,
        alpha=ALPHA,
        max_iter=EPOCHS,
        batch_size=BATCH,
        tol=TOL,
        fit_algorithm="cd",
        transform_algorithm="lasso_cd",
        transform_max_iter=SWEEPS,
        random_state=random_state,
    ).fit(genes)
    return model.transform(genes), model.components_, {"n_iter": int(model.n_iter_)}
