"""How far a panel is from the best of its size, and which genes are in every best panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks, codec
from .._anndata import names as names_of
from .._anndata import results, summaries
from .._anndata.names import Named
from .._anndata.tool import Result, tool
from ..data.threads import few_threads
from ..errors import InvalidValue, short, subject
from ..options import Request
from ..pp import panel_to_keep
from ..selection import best_panel, of_draws
from ..solvers.greedy import optimality
from ..solvers.panel import EVERY, OPEN, ROUNDING, TOLERANCE
from ._explain import certified
from ._panel import are_all, find, joining_problem, must_haves, one_data_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anndata import AnnData

    from .._anndata.target import Preserve as Target
    from .._typing import Index
    from ..criterion.criterion import Criterion
    from ..options import Preserve
    from ..solvers.panel import Panel, Problem, Proof
    from ._panel import GenePanel

#: A selection that preserves something else than when it was made is of another matrix.
_CHANGED = 1e-6
#: What a better panel has in common with the selection that it is stored beside.
_SHARED = ["method", "objective", "n_axes", "graph_components", "assay_noise", "batches"]
_SHARED += ["ruled_out", "missing", "absent"]


@tool("proof", summaries.proof)
def prove_panel(
    adata: AnnData,
    panel: Any = "glfs",
    *,
    tolerance: float = TOLERANCE,
    time_limit: float | None = 60.0,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Target | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> Result:
    """Search for the best panel of the size of a panel, and say which genes it must have.

    Branch and bound compares all panels of this size, within everything that the panel was chosen
    with: genes that must or cannot be in, limits, platform and batches, but for priorities.  Where
    it ends within `time_limit`, the best panel is proven.  Otherwise there is a bound.  Under
    limits panels of fewer genes are compared too, which may preserve more.

    The best panel preserves most of the structure of these cells.  It need not predict labels best,
    and other cells may have another one: :func:`stability` repeats a selection on subsamples.  Best
    panels of different sizes are not nested.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
        A panel that is no selection of the default criterion is compared with all panels of its
        size, and is left as it is.
    tolerance : float, default 0.005
        Share of what the best panel preserves that a nearly best panel may lose.
    time_limit : float, default 60.0
        Seconds after which the search ends.  None: no limit.
    <layer of a panel>
    <symbols>
    <preserve>
    <key_added by a panel> _proof
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["proven"]`` : bool
        Whether no panel preserves more than ``best_preserved``.
    ``.uns[key_added]["preserved"]``, ``["best_preserved"]``, ``["most_preserved"]`` : float
        Preserved share of the panel, of the best panel that is known, and an upper bound on that of
        any such panel.
    ``.uns[key_added]["optimality"]`` : float
        Lower bound on ``preserved`` relative to the best panel; 1 if it is proven to be the best.
        As in :func:`~glfs_bio.pp.select_genes`, genes that must be in do not count.
    ``.uns[key_added]["table"]`` : DataFrame, one row per gene of the panel and of the best known
        - ``gene``: name of the gene
        - ``in_panel``, ``in_best``: whether it is in the panel, and in the best panel known
        - ``certificate``: ``"every"`` if it is in every best panel, ``"none"`` if it is in no best
          panel, otherwise ``"open"``
        - ``certificate_within``: the same of all panels within the tolerance
    ``.uns[key_added]["n_every"]``, ``["n_open"]`` : int
        Number of genes that are in every best panel, and of those that are open; and
        ``n_every_within`` and ``n_open_within`` of all panels within the tolerance.
    ``.uns[key_added]["n_genes"]``, ``["n_tested"]``, ``["n_nodes"]`` : int
        Number of genes of the panel, of candidate genes, and of nodes of the branch and bound.
    ``.uns[key_added]["best"]`` : str
        Key of a better panel that is stored, if any.
    <params and versions>

    Of a selection under ``key`` are sharpened, where the search found more:

    ``.var[f"{key}_certificate"]``, ``.var[f"{key}_certificate_within"]`` : str
        Certificates of all genes; also those in the table of its explanation.
    ``.uns[key]["optimality"]``, ``["tolerance"]`` : float
        The last entry, which is 1 if the panel is proven to be the best; and the tolerance.

    A better panel is stored beside the selection, with the outputs of
    :func:`~glfs_bio.pp.select_genes` under ``f"{key}_best"``, and the key of the selection as
    ``best_of``; it goes once another selection has that key.

    Raises
    ------
    ValueError
        If the cells have no structure above the noise, or others than when the panel was selected.

    See Also
    --------
    glfs_bio.pp.select_genes : Select genes, with ``search="best"`` the best panel.
    stability : Repeat the selection on subsamples.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> glfs_bio.tl.prove_panel(adata)
    >>> bool(adata.uns["glfs_proof"]["proven"])
    True
    """
    checks.share("tolerance", tolerance)
    checks.number("time_limit", time_limit, above=0.0, or_none=True)
    subject = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer, across=None)
    basis, panel = subject.basis, subject.genes
    is_selection = subject.named.key in adata.uns and basis.request.ranker.by_criterion
    key = subject.named.key if is_selection and preserve is None and layer is None else None
    problem = _problem(adata, subject, time_limit=time_limit, tolerance=tolerance)
    with few_threads(basis.criterion.rank):
        criterion = of_draws(problem).criterion
        _check(adata, subject, criterion, key)
        best = best_panel(problem)
        if best.proof is None:
            raise InvalidValue("`panel` has only genes that must be in it: leave room for others")
        states = _certificates(adata, problem, best, tolerance, key)
        panels = [panel, problem.genes[best.order[: best.n_selected]]]
        recorded = _optimality(results.record(adata, key))
        if key is not None and f"{key}_best" in adata.uns:  # of an earlier search
            genes = results.ranked(adata, f"{key}_best").index
            panels.insert(1, adata.var_names.get_indexer(genes))
        must, proof = np.flatnonzero(problem.included), best.proof
        number, optimality_of_best, shares = _compared(criterion, must, proof, recorded, panels)
    content = {**shares, "table": _table(states, panel, panels[number])}
    for name, column in states.items():
        for state in (EVERY, OPEN):
            content[name.replace("certificate", f"n_{state}")] = int((column == state).sum())
    content |= {"n_genes": len(panel), "n_tested": len(problem.genes), "n_nodes": proof.n_nodes}
    if key is not None and number > 0:
        content["best"] = f"{key}_best"
    if key is not None and inplace:
        _sharpen(adata, key, states, content["optimality"], tolerance)
        if number == 0:
            results.forget_better(adata, key)
        elif number == len(panels) - 1:
            _store_beside(adata, subject, problem, best, time_limit)
        else:
            _sharpen(adata, content["best"], states, optimality_of_best, tolerance)
    return subject.result(adata, content)


def _check(adata: AnnData, panel: GenePanel, criterion: Criterion, key: str | None) -> None:
    """Refuse cells that say nothing of panels, panels without others, and other cells."""
    if not criterion.has_anything:
        raise InvalidValue("`preserve` has nothing above the noise: name another target")
    if criterion.worst:
        text = subject("panel", panel.named.key)
        raise InvalidValue(f"{text} is for the worst of batches: select it for their mean")
    if are_all(panel.basis.criterion, panel.genes)[-1]:
        raise InvalidValue("`panel` has all genes that vary: use an object with more genes")
    if key is None:
        return
    one_data_set(adata, key, "panel")
    better = results.key_for(adata, "selection", None, key, suffix="best")
    if better in adata.uns and results.record(adata, better).get("best_of") != key:
        raise InvalidValue(f"`panel={short(key)}` needs {better!r}: give what is there another key")
    recorded, preserved = np.ravel(adata.uns[key]["preserved"])[-1], panel.preserved[-1]
    if abs(preserved - recorded) > _CHANGED:
        text = f"`panel={short(key)}` preserves {preserved:.3g}, but {recorded:.3g} when selected"
        raise InvalidValue(f"{text}: run `glfs_bio.pp.select_genes(adata)` again")


def _problem(adata: AnnData, panel: GenePanel, **about: Any) -> Problem:
    """Return the problem of the best of all panels of the size of one, which has any of them."""
    request, genes = panel.basis.request, np.isin(np.arange(adata.n_vars), panel.genes)
    included = Request(include=request.include, symbols=request.symbols, missing="ignore")
    must = np.flatnonzero(names_of.choose(adata, included).included)
    problem = joining_problem(adata, panel, must)
    alike = {name: rows for name, rows in problem.alike.items() if genes[rows].sum() < 2}
    about |= {"n_genes": len(panel.genes), "search": "best"}
    return replace(problem, allowed=problem.allowed | genes, alike=alike, **about)


def _certificates(
    adata: AnnData, problem: Problem, best: Panel, tolerance: float, key: str | None
) -> pd.DataFrame:
    """Return what is known of every gene, also from an earlier search; a row per gene."""
    states = pd.DataFrame(index=adata.var_names)
    # of a selection beside genes that stayed, what is recorded is of other panels
    entry = results.record(adata, key)
    recorded = -1.0 if "dropped" in entry else float(codec.scalar(entry.get("tolerance", -1.0)))
    for name, is_within in results.CERTIFICATES.items():
        lost = tolerance if is_within else 0.0
        states[name] = results.certificates(best, problem, lost)
        if lost <= recorded and f"{key}_{name}" in adata.var:
            earlier = results.read_column(adata, key, name).astype(states[name].dtype)
            states[name] = states[name].where(states[name] != OPEN, earlier)
    return states


def _optimality(entry: Mapping[str, Any]) -> float:
    """Return the optimality of a selection; NaN where it is of other panels, or unknown."""
    last = np.ravel(entry.get("optimality", np.nan))[-1]
    return float(last) if "dropped" not in entry and last > 0 else np.nan


def _compared(
    criterion: Criterion, must: Index, proof: Proof, recorded: float, panels: Sequence[Index]
) -> tuple[int, float, dict[str, Any]]:
    """Return the best of panels by its place, its optimality, and the shares of the first.

    `recorded` is the optimality of the first that is known already, NaN if none is.
    """
    errors = np.array([criterion.errors(genes)[-1] for genes in panels])
    start, without = (criterion.errors(genes)[-1] for genes in (panels[0][:0], must))
    rounding = ROUNDING * start
    best = int(np.argmax(errors <= errors.min() + rounding))
    bound = np.fmax(proof.lower, without - (without - errors[0]) / recorded)
    proven = bool(bound >= errors[best] - rounding)
    lower = min(bound, errors[best])

    def share(error: float) -> float:
        return float(optimality(np.array([without, error]), np.array([lower]))[0])

    ends = {"preserved": errors[0], "best_preserved": errors[best], "most_preserved": lower}
    shares = {name: float(start - error) / criterion.scale for name, error in ends.items()}
    shares["optimality"] = 1.0 if proven and best == 0 else share(errors[0])
    return best, 1.0 if proven else share(errors[best]), {"proven": proven, **shares}


def _table(states: pd.DataFrame, panel: Index, best: Index) -> pd.DataFrame:
    """Return the certificates of the genes of a panel and of the best known."""
    genes = np.append(panel, best[~np.isin(best, panel)])
    table = states.iloc[genes].astype(object).rename_axis("gene").reset_index()
    table.insert(1, "in_panel", np.isin(genes, panel))
    table.insert(2, "in_best", np.isin(genes, best))
    return table


def _sharpen(
    adata: AnnData, key: str, states: pd.DataFrame, share: float, tolerance: float
) -> None:
    """Give a selection what is known of it now."""
    entry = adata.uns[key]
    changed: dict[str, Any] = {"tolerance": tolerance}
    if "optimality" in entry:
        changed["optimality"] = np.array(entry["optimality"], ndmin=1)
        changed["optimality"][-1] = np.fmax(_optimality(entry), share)
    results.store(adata, key, entry | changed, var=states.add_prefix(f"{key}_"))
    explanation = results.last(adata, "explanation", key)
    entry = results.record(adata, explanation)
    if "certificate" in entry.get("table", ()) and results.why_outdated(adata, entry) is None:
        rows = adata.var_names.get_indexer(entry["table"]["gene"])
        had_to = must_haves(adata, Named({}, key))
        columns = {name: certified(column, had_to)[rows] for name, column in states.items()}
        results.store(adata, explanation, {**entry, "table": entry["table"].assign(**columns)})


def _store_beside(
    adata: AnnData, panel: GenePanel, problem: Problem, best: Panel, seconds: float | None
) -> None:
    """Store a panel that is better than a selection."""
    of = str(panel.named.key)
    entry, key = adata.uns[of], f"{of}_best"
    about = {name: entry[name] for name in _SHARED if name in entry} | {"best_of": of}
    if "batches" in about:
        order = problem.genes[best.order[: best.n_selected]]
        about["preserved_in_batches"] = panel.basis.criterion.preserved_in_sets(order)
    request = replace(results.request_of(adata, of), search="best", time_limit=seconds)
    request = replace(request, n_genes=best.n_selected)
    frame, entry = panel_to_keep(adata, best, problem, request, key, **about)
    frame[f"{key}_included"] = must_haves(adata, panel.named)
    results.store(adata, key, entry, var=frame)
