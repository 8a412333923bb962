"""The one way to a ranking: check, reduce, rank, and measure what the panel preserves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..cells.batches import Batch, split
from ..cells.graph import check_graph
from ..cells.subspace import check_coordinates
from ..data.memory import full_rank_fits
from ..errors import NO_VALUE, InvalidValue
from ..methods import Question
from ._options import Options
from ._reduced_cells import reduce_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from .._typing import Matrix
    from ..criterion.criterion import Criterion
    from ..data.rows import RowMatrix
    from ..ranking import Ranking
    from ._reduced_cells import ReducedCells

_FEWEST_CELLS = 3


def rank_genes(
    data: Matrix | RowMatrix,
    question: Question | int | None = None,
    options: Options | None = None,
    *,
    graph: Matrix | None = None,
    representation: ArrayLike | None = None,
    provisional: bool = False,
    batch: ArrayLike | None = None,
    cells: ReducedCells | None = None,
) -> Ranking:
    """Rank the genes of a finite matrix of cells × genes by one of the methods.

    Parameters
    ----------
    data
        In memory, in a file or a dask array (:class:`~glfs_bio.data.rows.RowMatrix`).
    question
        What is asked for; a number, or None, is that of a plain :class:`Question`.
    options
        How; None: as :class:`~glfs_bio.selection.Options` has it by default.
    graph, representation, batch
        Those of ``fit`` of :class:`~glfs_bio.GLFS`.
    provisional
        See :func:`~glfs_bio.cells.problem.build_problems`.
    cells
        What :func:`~glfs_bio.selection.reduce_cells` makes of the same data by the same options, if
        it is known; None: it is made here.  With a method `by_criterion` only.

    Returns
    -------
    Ranking
        Of the candidates, in their order.

    Raises
    ------
    InvalidType, InvalidValue
        Naming the parameter, its value and what it should be.
    """
    how = Options() if options is None else options
    asked = question if isinstance(question, Question) else Question(question)
    asked = asked.among(data.shape[1])
    check_sizes(data.shape, how, [asked.n_genes], len(asked.candidates))
    _check_answerable(asked, how, one_set=batch is None)
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
    of_sets = None if asked.wanted is None else [asked.wanted.rows(one.cells) for one in batches]
    criterion = cells.criterion(of_sets, worst=asked.across == "worst", detection=asked.detection)
    ranking = how.ranker.answer(asked, criterion, how.reduction)
    about = {
        **how.names,
        "reused": dict(cells.reused),
        "replaced": cells.replaced,
        "graph_components": cells.graph_components,
        "assay_noise": float(np.mean([one.assay_noise for one in cells.sets])),
    }
    if batch is not None:
        about |= _of_batches(ranking, asked, criterion, batches)
    return replace(ranking, info={**ranking.info, **about})


def check_sizes(
    shape: tuple[int, int], options: Options, sizes: Sequence[int | None], n_candidates: int
) -> None:
    """Refuse sizes of selections that the matrix does not allow, and matrices that are too small.

    Raises
    ------
    InvalidType, InvalidValue
        Naming the size, and what it should be.
    """
    n_cells, n_features = shape
    for n_genes in sizes:
        checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
        if n_genes is not None and n_genes > n_candidates:
            raise InvalidValue(
                "n_genes",
                n_genes,
                "is more than the {n} genes to choose from",
                "ask for fewer",
                n=n_candidates,
            )
    if options.n_comps is None:
        full_rank_fits(n_cells, n_features)
    if n_cells < _FEWEST_CELLS:
        raise InvalidValue(
            "data",
            NO_VALUE,
            "has {n} cells: at least {least} are needed",
            n=n_cells,
            least=_FEWEST_CELLS,
        )
    if n_features == 1:
        raise InvalidValue(
            "data", NO_VALUE, "has 1 gene (n_features = 1): there is nothing to choose from"
        )


def _check_answerable(asked: Question, options: Options, *, one_set: bool) -> None:
    """Refuse what this method cannot answer, or these cells."""
    method = options.ranker
    if asked.n_genes is None and not method.chooses_size:
        raise InvalidValue(
            "n_genes",
            None,
            "leaves the number to the method, and {method} chooses none",
            "give one",
            method=method.name,
        )
    if asked.across != "mean" and one_set:
        raise InvalidValue(
            "across",
            asked.across,
            "compares batches",
            "name them with {arg:batch_key}, or give several data sets",
        )
    if asked.of_criterion and not method.by_criterion:
        raise InvalidValue(
            asked.of_criterion,
            NO_VALUE,
            "is for {arg:objective=error}, the default, and the selection is by {method}",
            "leave one of them out",
            method=method.name,
        )
    if asked.detection is not None and options.reduction.standardize != "noise":
        raise InvalidValue(
            "detection",
            NO_VALUE,
            "changes the noise of genes, and with this {arg:standardize} genes have none",
            "leave one of them out",
        )


def _of_batches(
    ranking: Ranking, asked: Question, criterion: Criterion, batches: Sequence[Batch]
) -> dict[str, object]:
    """Names of the batches, and how much of each the panel preserves."""
    chosen = asked.candidates[ranking.order[: ranking.n_selected]]
    return {
        "batches": np.array([one.label for one in batches], dtype=object),
        "kept_in_batches": criterion.kept_in_sets(chosen),
    }
