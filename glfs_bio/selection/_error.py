"""The default objective: the panel of which the criterion F leaves least unexplained."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..criterion.failures import WithFailures
from ..data.threads import few_threads
from ..methods import Method, Question
from ..ranking import Ranking, in_order, measured, without_ties
from ..solvers.constrained import select_within
from ..solvers.greedy import select

if TYPE_CHECKING:
    from .._typing import Array, Index
    from ..cells.cells import Reduction
    from ..criterion.criterion import Criterion
    from ..solvers.constraints import Rows


class Error(Method):
    """``F = Tr(W E)``, the weighted posterior variance of a cell function given the panel.

    It has no options: W is what is to be preserved.
    """

    name = "error"
    title = "GLFS: few genes that preserve the structure"
    chooses_size = True
    by_criterion = True

    def standardize(self, n_comps: int | None) -> str | None:
        """Genes are noise-standardised at full rank too."""
        return "noise"

    def answer(self, question: Question, criterion: Criterion, reduction: Reduction) -> Ranking:
        """Choose the panel that preserves most, and measure it."""
        return best_panel(
            criterion,
            question.n_genes,
            include=question.include,
            candidates=question.candidates,
            rows=question.rows,
            failure=question.failure,
            random_state=reduction.random_state,
        )


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
