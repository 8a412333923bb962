"""From a matrix and a request to a panel, by one of the methods."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .cells.cells import FEWEST_CELLS, build_cells, split
from .cells.graph import check_coordinates, check_graph
from .criterion.criterion import Criterion, OnPlatform
from .criterion.platform import AS_REFERENCE
from .data.threads import few_threads
from .errors import InvalidValue, caution, listed, note, short
from .solvers.constrained import select_within
from .solvers.greedy import Greedy, select
from .solvers.panel import Method, Panel, Problem, measured, method_of
from .solvers.prove import best

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from ._typing import Matrix
    from .cells.cells import Cells, StructureSpec
    from .criterion.criterion import Target
    from .data.matrix import RowMatrix
    from .options import Request

#: So many of the genes that limits rule out are listed.
_STRONGEST = 20
#: Copies, at the least, of genes × rank and of cells × rank that full rank takes.
_OF_GENES, _OF_CELLS = 4, 8


def rank_genes(
    data: Matrix | RowMatrix,
    request: Request,
    *,
    problem: Problem | None = None,
    target: Target | None = None,
    graph: Matrix | None = None,
    representation: ArrayLike | None = None,
    batch: ArrayLike | None = None,
    cells: Sequence[Cells] | None = None,
) -> Panel:
    """Rank the genes of a finite matrix of cells × genes by the method of a request.

    `problem` has the candidates (None: all genes), and gets its criterion here.  With `cells`, the
    structure of the same data, the request is known to be :func:`answerable`.
    """
    if problem is None:
        problem = Problem.of(data.shape[1])
    ranker, n_cells = request.ranker, data.shape[0]
    if cells is None:
        answerable(request, problem, target, data.shape, one_set=batch is None)
        spec, whole_space, where = request.resolved_structure, ranker.whole_space, representation
        where = None if where is None else check_coordinates(where, n_cells)
        graph = None if graph is None else check_graph(graph, n_cells)
        cells = build_cells(
            data, spec, representation=where, graph=graph, batch=batch, whole_space=whole_space
        )
    rows_of_sets = [rows for _, rows in split(batch, n_cells)] if n_cells else [None] * len(cells)
    targets = None if target is None else [target.rows(rows) for rows in rows_of_sets]
    instrument = None
    if problem.detection is not AS_REFERENCE:
        instrument = problem.detection.instrument(request.resolved_structure.standardize)
    with few_threads(sum(of_batch.basis.shape[1] for of_batch in cells)):
        is_worst = request.across == "worst"
        criterion = Criterion(cells, targets, worst=is_worst, instrument=instrument)
        problem = replace(
            problem,
            criterion=criterion,
            n_genes=request.n_genes,
            random_state=request.structure.random_state,
            search=request.search,
            time_limit=request.time_limit,
        )
        panel = ranker.solve(problem)
        if not ranker.by_criterion:
            panel = measured(panel, problem)
    n_axes = [of_batch.n_axes for of_batch in cells]
    about: dict[str, Any] = {
        "method": ranker.name if request.method != "glfs" else "glfs",
        **({"objective": ranker.name} if request.method == "glfs" else {}),
        "n_axes": n_axes[0] if len(n_axes) == 1 else np.array(n_axes),
        "graph_components": max(of_batch.graph_components for of_batch in cells),
        "assay_noise": float(np.mean([of_batch.assay_noise for of_batch in cells])),
    }
    if cells[0].label:
        chosen = problem.genes[panel.order[: panel.n_selected]]
        about["batches"] = np.array([of_batch.label for of_batch in cells], dtype=object)
        if criterion.worst and criterion.has_anything and not criterion.has_target.all():
            idle = listed(about["batches"][~criterion.has_target])
            note(f"`across='worst'` does not count batches without structure: {idle}.")
        about["preserved_in_batches"] = criterion.preserved_in_sets(chosen)
    if problem.ruled_out:
        about["ruled_out"] = strongest_out(criterion, problem.ruled_out)
    return replace(panel, info={**panel.info, **about})


def strongest_out(criterion: Criterion, ruled_out: Mapping[int, str]) -> pd.DataFrame:
    """Return the genes that limits rule out which alone would preserve most, by index."""
    genes = np.array(list(ruled_out))
    gains = Greedy(criterion.on(genes), across=criterion.across()).waiting
    genes = genes[np.argsort(-gains, kind="stable")[:_STRONGEST]]
    alone = [float(criterion.preserved(genes[[position]])[0]) for position in range(len(genes))]
    limits = [ruled_out[gene] for gene in genes.tolist()]
    return pd.DataFrame({"gene": genes, "limit": limits, "preserved": alone})


def check_sizes(
    shape: tuple[int, int], spec: StructureSpec, sizes: Sequence[int | None], n_candidates: int
) -> None:
    """Refuse sizes that the matrix does not allow, and matrices that are too small."""
    n_cells, n_features = shape
    for n_genes in sizes:
        if n_genes is not None and n_genes > n_candidates:
            raise InvalidValue(f"`n_genes={short(n_genes)}` exceeds the {n_candidates} candidates")
    if spec.n_comps is None:
        check_memory(n_cells, n_features)
    check_n_cells(n_cells)
    if n_features == 1:
        raise InvalidValue("`X` has 1 gene (n_features=1): there is nothing to choose from")


def check_n_cells(n_cells: int) -> None:
    """Refuse one cell or two; a reference has none."""
    if 0 < n_cells < FEWEST_CELLS:
        raise InvalidValue(f"`X` has {n_cells} cells: at least {FEWEST_CELLS} are needed")


def check_memory(n_cells: int, n_genes: int) -> None:
    """Refuse the problem at full rank where it would need more memory than there is."""
    try:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # the system does not say
        return
    rank = min(n_cells, n_genes)
    needed = 8 * rank * (_OF_GENES * n_genes + _OF_CELLS * n_cells)
    if needed > available:
        memory = f"about {needed / 1e9:.0f} GB for {n_cells} cells × {n_genes} genes"
        text = f"`n_comps=None` needs {memory}, but {available / 1e9:.0f} GB are available"
        raise InvalidValue(f"{text}: give it a number, such as 50")


def answerable(
    request: Request,
    problem: Problem,
    target: Target | None,
    shape: tuple[int, int],
    *,
    one_set: bool,
) -> None:
    """Refuse what the method cannot answer, or a matrix of this shape, in one set or several."""
    n_genes, n_included = request.n_genes, len(problem.fixed)
    if n_genes is not None and n_included > n_genes:
        raise InvalidValue(f"`include` has {n_included} genes: ask for so many `n_genes` or more")
    check_sizes(shape, request.structure, [n_genes], len(problem.genes))
    method, detection = request.ranker, problem.detection
    if request.across != "mean":
        check_batches(request.across, one_set=one_set)
    of_criterion = {
        "limits": problem.limits is not None,
        "platform": detection is not AS_REFERENCE and detection.differs,
        "preserve": target is not None,
        "across": request.across != "mean",
        "search": request.search != "nested",
        "prefer": request.prefer is not None,
    }
    options = [name for name, is_asked in of_criterion.items() if is_asked]
    if options and not method.by_criterion:
        raise InvalidValue(f"`{options[0]}` is not for selection by {method.name}: leave one out")
    if request.search == "best" and request.across == "worst":
        raise InvalidValue("`search='best'` is for the mean over batches: leave `across` out")
    if request.prefer is not None and (request.search == "best" or problem.limits is not None):
        raise InvalidValue("`prefer` is for nested panels: leave it, or `limits` and `search`, out")
    if detection is AS_REFERENCE:
        return
    if detection.failure is not None and (detection.failure[problem.genes] >= 1.0).all():
        raise InvalidValue("`platform` lets every candidate fail: correct its failure")
    if detection.has_efficiency and request.resolved_structure.standardize != "noise":
        raise InvalidValue("`platform` changes the noise of genes: leave it or `standardize` out")


class PosteriorVariance(Method):
    """``F = Tr(W E)``, the weighted posterior variance of a cell function given the panel."""

    name = "error"
    title = "GLFS: few genes that preserve the structure"
    chooses_size = True
    by_criterion = True

    def standardize(self, n_comps: int | None) -> str | None:
        """Genes are noise-standardised at full rank too."""
        return "noise"

    def solve(self, problem: Problem) -> Panel:
        """Choose the panel that preserves most, and measure it.

        Without structure above the noise genes of largest variance are chosen, with a warning,
        unless their number is open, or they must fit limits or may fail.
        """
        criterion = problem.criterion
        if criterion.has_anything:
            return best_panel(problem)
        warn_of_noise(criterion)
        is_limited = problem.limits is not None or of_draws(problem) is not problem
        if problem.n_genes is None or is_limited:
            return best_panel(problem)
        panel = measured(method_of("method", "variance").solve(problem), problem)
        weights = (panel.ranks <= panel.n_selected).astype(float)
        return replace(panel, weights=weights, optimality=np.full(panel.n_selected, np.nan))


def check_batches(across: str, *, one_set: bool) -> None:
    """Refuse the worst of batches where there is one set of cells."""
    if across != "mean" and one_set:
        raise InvalidValue(f"`across={short(across)}` needs batches: name them with `batch_key`")


def warn_of_noise(criterion: Criterion) -> None:
    """Warn that no structure of any set of cells stands above the noise."""
    first = max(criterion.sets, key=lambda block: block.strength)
    strength, chance = first.strength, float(first.chance)
    caution(
        f"`adata.X` has no structure above the noise: its leading axis is {strength:.2f} times the "
        f"noise edge, and {chance:.2f} times after permuting each gene over the cells. Nothing is "
        "certified, and genes are selected by variance where nothing limits them. Check that the "
        "matrix is log-normalised. For single genes, try `objective='exact'` with `n_comps=None`."
    )


def of_draws(problem: Problem) -> Problem:
    """Return the problem over draws of what the platform detects, where these differ."""
    detection, seed = problem.detection, problem.random_state
    if not detection.varies:
        return problem
    return replace(problem, criterion=OnPlatform(problem.criterion, detection, random_state=seed))


def best_panel(problem: Problem) -> Panel:
    """Choose the panel that preserves most, in the mean of draws of a platform, and measure it."""
    criterion, info = problem.criterion, dict[str, Any]()
    minimised = problem if problem.detection is AS_REFERENCE else of_draws(problem)
    if problem.search == "best" and criterion.has_anything:
        panel = best(minimised)
    else:
        panel = select(minimised) if problem.limits is None else select_within(minimised)
    n_tried = len(panel.preserved)
    if minimised is not problem:
        info["preserved_on_platform"] = panel.preserved[: panel.n_selected]
        panel = replace(panel, preserved=np.empty(0))
    if problem.n_genes is None and not problem.has_any_size:
        along = problem.preserved(panel.order[:n_tried])
        info["curve"] = {"n_genes": np.arange(1, n_tried + 1), "preserved": along}
    if not criterion.has_anything:
        unknown = np.full(panel.n_selected, np.nan)
        panel = replace(panel, optimality=unknown, certificates=None)
    return measured(replace(panel, info=info), problem)
