"""Which selector a classifier takes where none is named, and what selectors learn from labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..laprls.class_graph import class_graph
from ..laprls.labels import is_labelled
from ._glfs import GLFS
from ._supervised import SupervisedGLFS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from .._typing import Matrix

SELECTORS: dict[str, Callable[..., GLFS]] = {
    "classes": SupervisedGLFS,
    "neighbors": GLFS,
    "labels": partial(GLFS, preserve="labels"),
}


@dataclass(frozen=True)
class Rules:
    """What was settled by trial; ``benchmarks/panels/classifiers.py`` has the trials.

    Attributes
    ----------
    full_rank
        Up to so many samples full rank takes a second.  Of cells, `n_comps` components were a
        little better at any number.
    n_comps
        Components of more samples.
    classes
        Up to so many samples the graph of the classes chose the better genes, or as good ones.
    enough
        Samples that two classes must have: folds leave some of them to be joined.
    """

    full_rank: int = 100
    n_comps: int = 50
    classes: int = 400
    enough: int = 4


RULES = Rules()


def default_selector(
    labels: NDArray[np.generic],
    *,
    graph: Literal["auto", "classes", "neighbors", "labels"] = "auto",
    n_comps: int | Literal["auto"] | None = "auto",
    random_state: int | None = 0,
) -> GLFS:
    """The selector for samples of these labels, −1 where they are missing.

    ``graph="auto"``: the graph of the classes up to 400 samples, where two classes have at least
    four; otherwise nearest neighbours, and a panel that tells the classes apart.
    ``n_comps="auto"``: full rank up to 100 samples, 50 components above.
    """
    if graph == "auto":
        counts = np.unique(labels[is_labelled(labels)], return_counts=True)[1]
        few = len(labels) <= RULES.classes and np.sum(counts >= RULES.enough) > 1
        graph = "classes" if few else "labels"
    if n_comps == "auto":
        n_comps = None if len(labels) <= RULES.full_rank else RULES.n_comps
    return SELECTORS[graph](n_comps=n_comps, random_state=random_state)


def fitted(
    selector: GLFS,
    n_genes: int,
    X: Matrix,
    y: NDArray[np.generic],
    *,
    batch: NDArray[np.generic] | None,
    include: ArrayLike | None,
) -> GLFS:
    """A copy of the selector, fitted to what it can use of the samples."""
    selector = clone(selector).set_params(n_genes=n_genes)
    given = {"batch": batch, "include": include}
    given = {name: value for name, value in given.items() if value is not None}
    if not isinstance(selector, SupervisedGLFS):
        return selector.fit(X, y, **given)
    X, cliques = in_cliques(X, y, batch)
    if include is None:
        return selector.fit(X, cliques)
    free = GLFS(**selector.get_params(deep=False))
    return free.fit(X, graph=class_graph(cliques), include=include)


def in_cliques(
    X: Matrix, y: NDArray[np.generic], batch: NDArray[np.generic] | None
) -> tuple[Matrix, NDArray[np.generic]]:
    """Samples that a graph of the classes joins to others, and the group of each.

    Groups are classes, or the classes of every batch.  With batches genes are centred within each,
    so that nothing is left of what only separates batches.

    Raises
    ------
    ValueError
        No two classes with two samples each, of one batch.
    """
    known = np.flatnonzero(is_labelled(y))
    classes, code = np.unique(y[known], return_inverse=True)
    block = (
        np.zeros_like(code) if batch is None else np.unique(batch[known], return_inverse=True)[1]
    )
    _, group, counts = np.unique(
        block * len(classes) + code, return_inverse=True, return_counts=True
    )
    joined = counts[group] > 1
    if not any(len(np.unique(code[joined & (block == b)])) > 1 for b in np.unique(block)):
        where = "" if batch is None else " in any batch"
        msg = (
            f"There are no two classes with two samples each{where}: the graph of the classes "
            "joins none; use that of nearest neighbours."
        )
        raise ValueError(msg)
    known, block, group = known[joined], block[joined], group[joined]
    X = X[known]
    if batch is None:
        return X, y[known]
    X = X.toarray() if sparse.issparse(X) else X.copy()
    for b in np.unique(block):
        X[block == b] -= X[block == b].mean(axis=0)
    return X, group
