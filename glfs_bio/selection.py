"""From a matrix and a question to a ranking of the genes, by one of the methods."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import checks
from .cells.cells import STANDARDIZE, Reduction, build_problems, split
from .cells.graph import check_graph
from .cells.pca import check_coordinates, full_rank_fits
from .criterion.criterion import Criterion
from .criterion.platform import Detection, OnPlatform
from .data.threads import few_threads
from .errors import NO_VALUE, Caution, InvalidValue, warn
from .methods import METHODS, OBJECTIVES, Method, Question
from .ranking import Ranking, in_order, measured, without_ties
from .solvers.constrained import select_within
from .solvers.greedy import select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ._typing import Array, Index, Matrix
    from .cells.cells import Cells
    from .criterion.criterion import Target
    from .data.matrix import RowMatrix
    from .solvers.constraints import Rows

_FEWEST_CELLS = 3
#: Less than this share of what should be preserved is nothing.
_NOTHING = 1e-6


@dataclass(frozen=True)
class Options:
    """How genes are selected.

    Attributes
    ----------
    method, objective
        Names of :data:`~glfs_bio.methods.METHODS` and :data:`~glfs_bio.methods.OBJECTIVES`, or
        instances.
    lambda1, standardize, n_comps, n_neighbors, random_state
        Those of :class:`~glfs_bio.GLFS`.

    Raises
    ------
    InvalidType, InvalidValue
        A value out of range, or an objective beside a method that has none.
    """

    method: str | Method = "glfs"
    objective: str | Method = "error"
    lambda1: float = 100.0
    standardize: str | None = "auto"
    n_comps: int | None = 50
    n_neighbors: int | None = None
    random_state: int | None = 0

    def __post_init__(self) -> None:
        objective = OBJECTIVES.resolve("objective", self.objective)
        METHODS.resolve("method", self.method)
        if self.method != "glfs" and objective != OBJECTIVES["error"]:
            raise InvalidValue(
                "objective",
                objective.name,
                "is for {arg:method=glfs} only",
                "leave it out with another {arg:method}",
            )
        checks.one_of("standardize", self.standardize, ("auto", *STANDARDIZE))
        _ = self.reduction  # checks the rest

    @cached_property
    def ranker(self) -> Method:
        """Whoever ranks the genes: the objective, or a method that has none."""
        if self.method == "glfs":
            return OBJECTIVES.resolve("objective", self.objective)
        return METHODS.resolve("method", self.method)

    @property
    def names(self) -> dict[str, str]:
        """Names of the method and, where it has one, of the objective, for a record."""
        if self.method == "glfs":
            return {"method": "glfs", "objective": self.ranker.name}
        return {"method": self.ranker.name}

    @cached_property
    def reduction(self) -> Reduction:
        """How the matrix becomes a problem."""
        standardize = self.standardize
        if standardize == "auto":
            standardize = self.ranker.standardize(self.n_comps)
        return Reduction(
            n_comps=self.n_comps,
            n_neighbors=self.n_neighbors,
            lambda1=self.lambda1,
            standardize=standardize,
            whole_space=self.ranker.whole_space,
            random_state=self.random_state,
        )


def rank_genes(
    data: Matrix | RowMatrix,
    question: Question | int | None = None,
    options: Options | None = None,
    *,
    graph: Matrix | None = None,
    representation: ArrayLike | None = None,
    batch: ArrayLike | None = None,
    cells: Sequence[Cells] | None = None,
) -> Ranking:
    """Rank the genes of a finite matrix of cells × genes by one of the methods.

    Parameters
    ----------
    data
        In memory, in a file or a dask array (:class:`~glfs_bio.data.matrix.RowMatrix`).
    question
        What is asked for; a number, or None, is that of a plain :class:`Question`.
    options
        How; None: as :class:`Options` has it by default.
    graph, representation, batch
        Those of ``fit`` of :class:`~glfs_bio.GLFS`.
    cells
        What :func:`~glfs_bio.cells.cells.build_problems` makes of the same data by the same
        options, if it is known; None: it is made here.  With a method `by_criterion` only.

    Returns
    -------
    Ranking
        Of the candidates, in their order.

    Raises
    ------
    InvalidType, InvalidValue
        Naming the parameter, its value and what it should be.
    """
    options = Options() if options is None else options
    question = question if isinstance(question, Question) else Question(question)
    question = answerable(question, options, data.shape, one_set=batch is None)
    if cells is None:
        n_cells = data.shape[0]
        cells = build_problems(
            data,
            options.reduction,
            representation=None
            if representation is None
            else check_coordinates(representation, n_cells),
            graph=None if graph is None else check_graph(graph, n_cells),
            batch=batch,
        )
    targets = None
    if question.target is not None:
        targets = [question.target.rows(own) for _, own in split(batch, data.shape[0])]
    detection = Detection() if question.detection is None else question.detection
    criterion = criterion_of(
        cells, targets, worst=question.across == "worst", efficiency=detection.noise
    )
    with few_threads(criterion.rank):
        ranking = options.ranker.answer(question, criterion, options.reduction)
    about: dict[str, Any] = {
        **options.names,
        "n_axes": _of_sets([one.n_axes for one in cells]),
        "graph_components": max(one.graph_components for one in cells),
        "assay_noise": float(np.mean([one.assay_noise for one in cells])),
    }
    if batch is not None:
        chosen = question.candidates[ranking.order[: ranking.n_selected]]
        labels = [label for label, _ in split(batch, data.shape[0])]
        about["batches"] = np.array(labels, dtype=object)
        about["preserved_in_batches"] = criterion.preserved_in_sets(chosen)
    return replace(ranking, info={**ranking.info, **about})


def _of_sets(numbers: list[int]) -> int | Index:
    """One number of one set of cells, an array for several."""
    return numbers[0] if len(numbers) == 1 else np.array(numbers)


def criterion_of(
    cells: Sequence[Cells],
    targets: Sequence[Target] | None = None,
    *,
    worst: bool = False,
    efficiency: Array | None = None,
) -> Criterion:
    """Return F of some cells, by the arguments of ``Criterion``.

    Raises
    ------
    InvalidValue
        A platform that detects so little that even all genes preserve nothing.
    """
    with few_threads(cells[0].basis.shape[1]):
        criterion = Criterion(cells, targets, worst=worst, efficiency=efficiency)
        if efficiency is not None and criterion.reach < _NOTHING:
            raise InvalidValue(
                "platform",
                NO_VALUE,
                "detects so little that even all genes would preserve only {share:.1g} of what "
                "should be preserved",
                "correct its efficiency, which is a share of what is detected in {adata}",
                share=criterion.reach,
            )
    return criterion


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
                "is more than the {n} candidate genes",
                "ask for fewer",
                n=n_candidates,
            )
    if options.n_comps is None:
        full_rank_fits(n_cells, n_features)
    if n_cells < _FEWEST_CELLS:
        raise InvalidValue(
            "X",
            NO_VALUE,
            "has {n} cells: at least {least} are needed",
            n=n_cells,
            least=_FEWEST_CELLS,
        )
    if n_features == 1:
        raise InvalidValue(
            "X", NO_VALUE, "has 1 gene (n_features=1): there is nothing to choose from"
        )


def answerable(
    question: Question, options: Options, shape: tuple[int, int], *, one_set: bool
) -> Question:
    """Return a question for a matrix of this shape, in one set of cells or several.

    Raises
    ------
    InvalidType, InvalidValue
        What this method cannot answer, or these cells, naming the parameter.
    """
    question = question.among(shape[1])
    check_sizes(shape, options, [question.n_genes], len(question.candidates))
    method = options.ranker
    if question.n_genes is None and not method.chooses_size:
        raise InvalidValue(
            "n_genes",
            None,
            "needs a number, since {method} does not choose one",
            "give a number",
            method=method.name,
        )
    check_batches(question.across, one_set=one_set)
    if question.of_criterion and not method.by_criterion:
        raise InvalidValue(
            question.of_criterion,
            NO_VALUE,
            "needs {arg:objective=error}, the default, but the selection is by {method}",
            "remove one of the two",
            method=method.name,
        )
    detection = Detection() if question.detection is None else question.detection
    if detection.failure is not None and (detection.failure[question.candidates] >= 1.0).all():
        raise InvalidValue(
            "platform",
            NO_VALUE,
            "lets every gene to choose from fail",
            "correct its failure, a probability",
        )
    if detection.noise is not None and options.reduction.standardize != "noise":
        raise InvalidValue(
            "platform",
            NO_VALUE,
            "changes the noise of genes, and with this {arg:standardize} genes have none",
            "remove one of the two",
        )
    return question


class PosteriorVariance(Method):
    """``F = Tr(W E)``, the weighted posterior variance of a cell function given the panel.

    It has no options: W is what should be preserved.
    """

    name = "error"
    title = "GLFS: few genes that preserve the structure"
    chooses_size = True
    by_criterion = True

    def standardize(self, n_comps: int | None) -> str | None:
        """Genes are noise-standardised at full rank too."""
        return "noise"

    def answer(self, question: Question, criterion: Criterion, reduction: Reduction) -> Ranking:
        """Choose the panel that preserves most, and measure it.

        Where the cells have no structure above the noise, a warning says so, and so many genes of
        largest variance are chosen; as usual where their number is left open, where they must fit
        limits, or may fail.  Nothing is certified there.
        """
        warn_of_noise(criterion)
        drawn = question.detection is not None and question.detection.varies
        limited = question.rows is not None or drawn
        if criterion.has_anything or limited or question.n_genes is None:
            return best_panel(
                criterion,
                question.n_genes,
                include=question.include,
                candidates=question.candidates,
                rows=question.rows,
                detection=question.detection,
                random_state=reduction.random_state,
            )
        by_variance = METHODS.resolve("method", "variance")
        ranking = by_variance.answer(question, criterion, reduction)
        return replace(
            ranking,
            weights=(ranking.ranks <= ranking.n_selected).astype(float),
            info={**ranking.info, "optimality": np.full(ranking.n_selected, np.nan)},
        )


def check_batches(across: str, *, one_set: bool) -> None:
    """Refuse the worst of batches where there is one set of cells."""
    if across != "mean" and one_set:
        raise InvalidValue(
            "across",
            across,
            "needs batches",
            "name them with {arg:batch_key}, or give several datasets",
        )


def warn_of_noise(criterion: Criterion) -> None:
    """Warn where no structure of any set of cells stands above the noise."""
    if criterion.has_anything:
        return
    first = max(criterion.sets, key=lambda one: one.axes.strengths[0])
    warn(
        Caution(
            "{X} has no structure above the noise: its leading axis is {lead:.2f} times the "
            "noise edge, and {chance:.2f} times after permuting each gene over the cells. "
            "{call:pp.select_genes} therefore selects by variance, unless there are limits or "
            "failures, and gives no bound on optimality. Check that the matrix is "
            "log-normalised and has enough cells. For single informative genes, try "
            "{arg:objective=exact} with {arg:n_comps=None}.",
            lead=float(first.axes.strengths[0]),
            chance=float(first.chance),
        )
    )


def best_panel(
    criterion: Criterion,
    n_genes: int | None,
    *,
    include: Index,
    candidates: Index,
    rows: Rows | None = None,
    detection: Detection | None = None,
    random_state: int | None = 0,
) -> Ranking:
    """Choose the panel that preserves most, and measure it.

    Parameters
    ----------
    criterion
        F, over all genes of the matrix.
    n_genes, include, candidates, rows
        Those of :func:`~glfs_bio.solvers.greedy.select`.
    detection
        What the target platform detects of each gene.  Where draws of it differ, the panel is
        chosen that preserves most in their mean or in the worst of them.  What it preserves is
        measured by the efficiencies of `criterion`, and so.
    random_state
        Seed of the draws.

    Returns
    -------
    Ranking
        Of the candidates, in their order.
    """
    info: dict[str, Any] = {}
    with few_threads(criterion.rank):
        minimised = criterion
        drawn = detection is not None and detection.varies
        if detection is not None and drawn:
            minimised = OnPlatform(criterion, detection, random_state=random_state)
        choose = select if rows is None else partial(select_within, rows=rows)
        panel = choose(minimised, n_genes, include=include, candidates=candidates)
        nothing = np.full_like(panel.optimality, np.nan)
        info["optimality"] = panel.optimality if criterion.has_anything else nothing
        if drawn:
            info["preserved_on_platform"] = panel.preserved[: panel.n_selected]
        if n_genes is None and not (rows is not None and rows.budget):
            sizes = np.arange(1, len(panel.preserved) + 1)
            info["curve"] = {"n_genes": sizes, "preserved": criterion.preserved(panel.order)}
        scores = in_order(np.searchsorted(candidates, panel.order), panel.waiting[candidates])
        ranking = Ranking(panel.beta[candidates], without_ties(scores), panel.n_selected, info)
        return measured(ranking, criterion, candidates)
