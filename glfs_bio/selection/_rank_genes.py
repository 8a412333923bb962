"""The one way to a ranking: check, reduce, rank, and measure what the panel keeps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import checks
from ..cells.batches import split
from ..cells.graph import check_graph
from ..cells.pca import check_coordinates
from ..criterion.failures import WithFailures
from ..data.memory import full_rank_fits
from ..data.threads import few_threads
from ..solvers.constrained import select_within
from ..solvers.greedy import select
from ._options import METHODS, Options
from ._ranking import Ranking, in_order, without_ties
from ._reduced_cells import reduce_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from .._typing import Array, Index, Matrix
    from ..criterion.criterion import Criterion, Target
    from ..data.matrix import RowMatrix
    from ..solvers.constraints import Rows
    from ._reduced_cells import ReducedCells

_FEWEST_CELLS = 3
ACROSS = ("mean", "worst")


def rank_genes(
    data: Matrix | RowMatrix,
    n_genes: int | None = None,
    options: Options | None = None,
    *,
    include: ArrayLike | None = None,
    candidates: Index | None = None,
    graph: Matrix | None = None,
    representation: ArrayLike | None = None,
    provisional: bool = False,
    batch: ArrayLike | None = None,
    rows: Rows | None = None,
    failure: Array | None = None,
    wanted: Target | None = None,
    across: Literal["mean", "worst"] = "mean",
    detection: Array | None = None,
    cells: ReducedCells | None = None,
) -> Ranking:
    """Rank the genes of a finite matrix of cells × genes by one of the methods.

    Parameters
    ----------
    data
        In memory, in a file or a dask array (:class:`~glfs_bio.data.matrix.RowMatrix`).
    options
        How; None: as :class:`~glfs_bio.selection.Options` has it by default.
    n_genes, include, graph, representation, batch
        Those of :class:`~glfs_bio.GLFS` and its ``fit``.
    candidates
        Sorted genes that may be selected; None: all.  The others are seen too: they are part of the
        structure that is to be kept.
    provisional
        See :func:`~glfs_bio.cells.cells.build_problems`.
    rows, failure
        Those of :func:`best_panel`, over all genes; with ``objective="error"`` only.
    wanted
        What is to be kept of all cells; None: the structure.
    across
        Whether F is the mean over the batches, or that of the batch of which least is kept.
    detection
        That of :class:`~glfs_bio.criterion.criterion.Criterion`, over all genes.
    cells
        What :func:`~glfs_bio.selection.reduce_cells` makes of the same data by the same options, if
        it is known; None: it is made here.  With ``objective="error"`` only.

    Returns
    -------
    Ranking
        Of the candidates, in their order.

    Raises
    ------
    ValueError, TypeError
        Naming the parameter, its value and what it should be.
    """
    how = Options() if options is None else options
    every = np.arange(data.shape[1])
    candidates = every if candidates is None else candidates
    check_sizes(data.shape, how, [n_genes], len(candidates))
    if n_genes is None and how.method != "glfs":
        msg = f"n_genes=None, but only method='glfs' chooses a number: give one for {how.method!r}."
        raise ValueError(msg)
    if n_genes is None and how.swaps:
        msg = "swaps=True exchanges genes of a panel of one size: give n_genes too."
        raise ValueError(msg)
    checks.one_of("across", across, ACROSS)
    if across != "mean" and batch is None:
        msg = (
            f"across={across!r} compares batches: name them with batch_key, or give several data "
            "sets."
        )
        raise ValueError(msg)
    given = (rows, failure, wanted, detection)
    defaults = across == "mean" and all(one is None for one in given)
    if not (how.is_error or defaults):
        msg = (
            "preserve, weights of cells, limits, costs, failures, detection and across are for "
            "method='glfs' with objective='error', the default: leave them out with "
            f"method={how.method!r}, objective={how.objective!r}."
        )
        raise ValueError(msg)
    if detection is not None and how.reduction.standardize != "noise":
        msg = (
            f"detection changes the noise of genes, and standardize={how.standardize!r} has none: "
            "leave one of them out."
        )
        raise ValueError(msg)
    included = _included(include, len(every), n_genes)
    if cells is None:
        cells = reduce_cells(
            data,
            how.reduction,
            representation=None
            if representation is None
            else check_coordinates(representation, data.shape[0]),
            graph=None if graph is None else check_graph(graph, data.shape[0]),
            batch=batch,
            provisional=provisional,
        )
    cells.note()
    batches = split(batch, data.shape[0])
    of_sets = None if wanted is None else [wanted.rows(one.cells) for one in batches]
    criterion = cells.criterion(of_sets, worst=across == "worst", detection=detection)
    if how.is_error:
        ranking = best_panel(
            criterion,
            n_genes,
            include=included,
            candidates=candidates,
            rows=rows,
            failure=failure,
            random_state=how.random_state,
        )
    else:
        ranking = METHODS[how.method].rank(
            [one.only(candidates) for one in cells.sets],
            n_genes,
            include=np.searchsorted(candidates, included),
            options=how,
        )
        ranking = measured(ranking, criterion, candidates)
    about = {
        "method": how.method,
        **({"objective": how.objective} if how.method == "glfs" else {}),
        "reused": dict(cells.reused),
        "replaced": cells.replaced,
        "graph_components": cells.graph_components,
        "assay_noise": float(np.mean([one.assay_noise for one in cells.sets])),
    }
    if batch is not None:
        chosen = candidates[ranking.order[: ranking.n_selected]]
        about["batches"] = np.array([one.label for one in batches], dtype=object)
        about["kept_in_batches"] = criterion.kept_in_sets(chosen)
    return replace(ranking, info={**ranking.info, **about})


def measured(ranking: Ranking, criterion: Criterion, candidates: Index) -> Ranking:
    """The same ranking of the candidates, with what its panels keep and lose."""
    chosen = ranking.order[: ranking.n_selected]
    losses = np.zeros(len(candidates))
    losses[chosen] = criterion.losses(candidates[chosen])
    kept = criterion.kept(candidates[chosen])
    return replace(ranking, losses=losses, info={**ranking.info, "kept": kept})


def check_sizes(
    shape: tuple[int, int], options: Options, sizes: Sequence[int | None], n_candidates: int
) -> None:
    """Refuse sizes of selections that the matrix does not allow, and matrices that are too small.

    Raises
    ------
    ValueError, TypeError
        Naming the size, and what it should be.
    """
    n_cells, n_features = shape
    for n_genes in sizes:
        checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
        if n_genes is not None and n_genes > n_candidates:
            msg = f"n_genes={n_genes} is more than the {n_candidates} genes to choose from."
            raise ValueError(msg)
    if options.n_comps is None:
        full_rank_fits(n_cells, n_features)
    if n_cells < _FEWEST_CELLS:
        msg = f"There are {n_cells} cells: at least {_FEWEST_CELLS} are needed."
        raise ValueError(msg)
    if n_features == 1:
        msg = "There is 1 gene (n_features = 1): there is nothing to choose from."
        raise ValueError(msg)


def best_panel(
    criterion: Criterion,
    n_genes: int | None,
    *,
    include: Index,
    candidates: Index,
    rows: Rows | None = None,
    failure: Array | None = None,
    random_state: int | None = 0,
) -> Ranking:
    """Choose the panel that keeps most, and measure it.

    Parameters
    ----------
    criterion
        F, over all genes of the matrix.
    n_genes, include, candidates, rows
        Those of :func:`~glfs_bio.solvers.select`.
    failure
        Probability that a gene fails, shape (n_genes,): the panel that keeps most in the mean over
        failures is chosen.  What it keeps is told without failures, and in that mean.
    random_state
        Seed of the failures.

    Returns
    -------
    Ranking
        Of the candidates, in their order.
    """
    info: dict[str, Any] = {}
    with few_threads(criterion.rank, criterion.n_genes):
        minimised = criterion
        if failure is not None:
            minimised = WithFailures(criterion, failure, random_state=random_state)
        choose = select if rows is None else partial(select_within, rows=rows)
        panel = choose(minimised, n_genes, include=include, candidates=candidates)
        info["of_best_possible"] = panel.of_best_possible
        if failure is not None:
            info["kept_with_failures"] = panel.kept[: panel.n_selected]
        if n_genes is None and not (rows is not None and rows.budget):
            sizes = np.arange(1, len(panel.kept) + 1)
            info["curve"] = {"n_genes": sizes, "kept": criterion.kept(panel.order)}
        scores = in_order(np.searchsorted(candidates, panel.order), panel.waiting[candidates])
        ranking = Ranking(panel.beta[candidates], without_ties(scores), panel.n_selected, info)
        return measured(ranking, criterion, candidates)


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
