"""The one way to a ranking: check, reduce, rank."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..core import checks
from ..core.block import OBJECTIVES
from ..core.graph import LAPLACIANS, check_graph, n_components
from ..core.memory import full_rank_fits
from ..core.passes import Cells
from ..core.path import SOLVERS
from ..core.problem import STANDARDIZE, build_problem, in_range
from ..core.subspace import check_coordinates
from . import glfs, lapaofs, lapdofs, laplacian_score, q_alpha, sparse_pca, variance
from ._finish import FINISHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from ..core._typing import Array, Index, Matrix
    from ..core.problem import Problem
    from ._ranking import Ranking

log = logging.getLogger(__name__)

METHODS: dict[str, Callable[..., Ranking]] = {
    "glfs": glfs.rank,
    "lapaofs": lapaofs.rank,
    "lapdofs": lapdofs.rank,
    "laplacian_score": laplacian_score.rank,
    "q_alpha": q_alpha.rank,
    "sparse_pca": sparse_pca.rank,
    "variance": variance.rank,
}

_FEWEST_CELLS = 3


def rank_genes(
    data: Matrix | Cells,
    n_genes: int | None = None,
    *,
    method: str = "glfs",
    objective: str = "exact",
    lam: float | Literal["line_search"] | None = None,
    finish: str | None = "auto",
    include: ArrayLike | None = None,
    graph: Matrix | None = None,
    representation: ArrayLike | None = None,
    provisional: bool = False,
    batch: ArrayLike | None = None,
    lambda1: float = 100.0,
    standardize: str | None = "noise",
    n_comps: int | None = 50,
    n_neighbors: int = 15,
    laplacian: str = "normalized",
    solver: str = "newton",
    tol: float = 1e-4,
    random_state: int | None = 0,
) -> Ranking:
    """Rank the genes of a finite matrix of cells × genes by one of the methods.

    `data` may be in memory, in a file or a dask array (:class:`~glfs_bio.core.passes.Cells`).

    The parameters are those of :class:`~glfs_bio.GLFS` and its ``fit``; `provisional` is that of
    :func:`~glfs_bio.core.problem.build_problem`.

    Raises
    ------
    ValueError, TypeError
        Naming the parameter, its value and what it should be.
    """
    n_cells, n_features = data.shape
    checks.one_of("method", method, METHODS)
    check_options(
        data.shape,
        [n_genes],
        objective=objective,
        lam=lam,
        finish=finish,
        lambda1=lambda1,
        standardize=standardize,
        n_comps=n_comps,
        n_neighbors=n_neighbors,
        laplacian=laplacian,
        solver=solver,
        tol=tol,
        random_state=random_state,
    )
    own = {"objective": objective, "lam": lam, "finish": finish, "solver": solver, "tol": tol}
    if method != "glfs":
        _refuse_options_of_glfs(method, n_genes, own)
        own = {"random_state": random_state}
    chosen = _included(include, n_features, n_genes)
    similarities = None if graph is None else check_graph(graph, n_cells)
    coordinates = None if representation is None else check_coordinates(representation, n_cells)
    reduction: dict[str, Any] = {
        "n_comps": n_comps,
        "n_neighbors": n_neighbors,
        "lambda1": lambda1,
        "laplacian": laplacian,
        "standardize": standardize,
        "provisional": provisional,
        "whole_space": objective == "printed",
        "random_state": random_state,
    }
    every = in_range(Cells(data))
    problems = [
        build_problem(
            Cells(every, cells), representation=where, graph=near, cells_are=name, **reduction
        )
        for name, cells, where, near in _batches(n_cells, coordinates, similarities, batch)
    ]
    ranking = METHODS[method](problems, n_genes, include=chosen, **own)
    ranking.info["method"] = method
    ranking.info["graph_components"] = max(_pieces(problem) for problem in problems)
    ranking.info["replaced"] = any(problem.replaced for problem in problems)
    if ranking.info["replaced"]:
        log.warning(
            "The principal components and the graph that were there miss directions in which genes "
            "vary beyond their noise: both were computed anew for the selection."
        )
    return ranking


def check_options(
    shape: tuple[int, int],
    sizes: Sequence[int | None],
    *,
    objective: str,
    lam: float | Literal["line_search"] | None,
    finish: str | None,
    lambda1: float,
    standardize: str | None,
    n_comps: int | None,
    n_neighbors: int,
    laplacian: str,
    solver: str,
    tol: float,
    random_state: int | None,
) -> None:
    """Refuse options out of range, and sizes of selections that the matrix does not allow."""
    n_cells, n_features = shape
    checks.one_of("objective", objective, OBJECTIVES)
    checks.one_of("standardize", standardize, STANDARDIZE)
    checks.one_of("laplacian", laplacian, LAPLACIANS)
    checks.one_of("solver", solver, SOLVERS)
    checks.one_of("finish", finish, FINISHES)
    checks.whole_number("n_comps", n_comps, at_least=1, or_none=True)
    checks.whole_number("n_neighbors", n_neighbors, at_least=1)
    checks.seed(random_state, state_too=True)
    checks.number("lambda1", lambda1)
    checks.number("tol", tol, above=0.0)
    if isinstance(lam, str):
        checks.one_of("lam", lam, ("line_search",))
    elif lam is not None:
        checks.number("lam", lam, above=0.0)
    for n_genes in sizes:
        checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
        if n_genes is not None and n_genes > n_features:
            msg = f"n_genes={n_genes} is more than the {n_features} genes to choose from."
            raise ValueError(msg)
    if n_comps is None:
        full_rank_fits(n_cells, n_features)
    if n_cells < _FEWEST_CELLS:
        msg = f"There are {n_cells} cells: at least {_FEWEST_CELLS} are needed."
        raise ValueError(msg)
    if n_features == 1:
        msg = "There is 1 gene (n_features = 1): there is nothing to choose from."
        raise ValueError(msg)


def _refuse_options_of_glfs(method: str, n_genes: int | None, options: dict[str, Any]) -> None:
    """No option that does nothing: the other methods have neither an objective nor a λ."""
    if n_genes is None:
        msg = f"n_genes=None, but only method='glfs' chooses a number: give one for {method!r}."
        raise ValueError(msg)
    for name, value in options.items():
        if value != (glfs.rank.__kwdefaults__ or {})[name]:
            msg = f"{name}={value!r} is for method='glfs' only: leave it out with {method!r}."
            raise ValueError(msg)


def _pieces(problem: Problem) -> int:
    """Number of connected components of the graph; more than one is worth a note."""
    pieces = n_components(problem.graph)
    if pieces > 1:
        log.warning(
            "The graph of the cells has %d connected components: no similarity joins them.", pieces
        )
    return pieces


def _included(include: ArrayLike | None, n_features: int, n_genes: int | None) -> Index:
    if include is None:
        return np.empty(0, dtype=np.intp)
    genes = np.unique(include)
    if len(genes) and genes.dtype.kind not in "iu":
        msg = f"include has dtype {genes.dtype}: it must hold indices of genes."
        raise TypeError(msg)
    genes = genes.astype(np.intp)
    if len(genes) and (genes[0] < 0 or genes[-1] >= n_features):
        msg = f"include has gene {genes[-1]}, but there are {n_features} genes."
        raise ValueError(msg)
    if n_genes is not None and len(genes) > n_genes:
        msg = f"include has {len(genes)} genes, more than n_genes={n_genes}."
        raise ValueError(msg)
    return genes


def _batches(
    n_cells: int, coordinates: Array | None, graph: Matrix | None, batch: ArrayLike | None
) -> Iterator[tuple[str, Any, Array | None, Any]]:
    """Name, cells, coordinates and graph of every batch, in which one over all cannot be used."""
    if batch is None:
        yield "the cells", None, coordinates, graph
        return
    if graph is not None:
        msg = (
            "graph cannot be combined with batch: each batch has a graph of its own; leave one out."
        )
        raise ValueError(msg)
    labels = np.asarray(batch)
    if labels.shape != (n_cells,):
        msg = f"batch has shape {labels.shape}, but there are {n_cells} cells."
        raise ValueError(msg)
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        msg = f"batch is missing for {missing} cells: fill or remove them."
        raise ValueError(msg)
    labels = labels.astype(str)
    for label in np.unique(labels):
        cells = np.flatnonzero(labels == label)
        if len(cells) < _FEWEST_CELLS:
            msg = (
                f"batch {str(label)!r} has {len(cells)} cells: at least {_FEWEST_CELLS} are "
                "needed; merge or remove it."
            )
            raise ValueError(msg)
        where = None if coordinates is None else coordinates[cells]
        yield f"the cells of batch {str(label)!r}", cells, where, None
