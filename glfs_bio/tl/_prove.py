"""How far a panel is from the best of its size, and which genes are in every best panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import names as names_of
from .._anndata import results, stale, summaries
from .._docs import documented
from .._progress import tell, with_bar
from ..errors import ADATA, MATRIX, NO_VALUE, InvalidValue, call
from ..pp import request_to_keep
from ..selection import best_panel, minimised_of
from ..solvers.certificate import EVERY, OPEN, ROUNDING, TOLERANCE
from ..solvers.greedy import optimality
from ._panel import beside, find, must_haves, one_data_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

    from .._anndata.target import Preserve as Given
    from .._typing import Index
    from ..criterion.criterion import Criterion
    from ..options import Preserve
    from ..panel import Panel
    from ..selection import Candidates
    from ..solvers.prove import Proof
    from ._panel import Found

#: A selection that preserves something else than when it was made is of another matrix.
_CHANGED = 1e-6
#: What a better panel has in common with the selection that it is stored beside.
_SHARED = (
    *("method", "objective", "n_axes", "graph_components", "assay_noise", "batches"),
    *("ruled_out", "missing", "must_have", "absent"),
)


@with_bar
@documented
def prove_panel(
    adata: AnnData,
    panel: Any = "glfs",
    *,
    tolerance: float = TOLERANCE,
    time_limit: float | None = 60.0,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
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
        <panel>  A panel that is no selection of the default criterion is compared with all panels
        of its size, and is left as it is.
    tolerance : float, default 0.005
        Share of what the best panel preserves that a nearly best panel may lose.
    time_limit : float, default 60.0
        Seconds after which the search ends.  None: no limit.
    <layer of a panel>
    <symbols>
    <preserve>
    <key_added of a panel> proof
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["proven"]`` : bool
        Whether no panel preserves more than ``best_preserved``.
    ``.uns[key_added]["preserved"]`` : float
        Preserved share of the panel.
    ``.uns[key_added]["best_preserved"]`` : float
        Preserved share of the best panel that is known.
    ``.uns[key_added]["most_preserved"]`` : float
        Upper bound on the preserved share of any such panel.
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
    ``.uns[key_added]["n_genes"]``, ``["n_tested"]`` : int
        Number of genes of the panel, and of candidate genes.
    ``.uns[key_added]["n_nodes"]`` : int
        Nodes of the branch and bound.
    ``.uns[key_added]["best"]`` : str
        Key of a better panel that is stored, if any.
    <params and versions>

    Of a selection under ``key`` are sharpened, where the search found more:

    ``.var[f"{key}_certificate"]``, ``.var[f"{key}_certificate_within"]`` : str
        Certificates of all genes; also those in the table of its explanation.
    ``.uns[key]["optimality"]`` : float
        The last entry, which is 1 if the panel is proven to be the best.
    ``.uns[key]["tolerance"]`` : float
        The tolerance.

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
    checks.seconds("time_limit", time_limit)
    key_added = results.key_for(adata, "proof", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    found = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer, across=None)
    whole = preserve is None and layer is None and found.basis.request.ranker.by_criterion
    own = found.named.key if whole and found.named.key in adata.uns else None
    candidates = _candidates(adata, found)
    with found.few_threads():
        criterion = minimised_of(
            *(found.basis.criterion, candidates.detection),
            found.basis.request.structure.random_state,
        )
        _check(adata, found, criterion, own)
    best = best_panel(
        *(found.basis.criterion, len(found.genes), candidates),
        random_state=found.basis.request.structure.random_state,
        search="best",
        time_limit=time_limit,
        tolerance=tolerance,
    )
    known = _certificates(adata, candidates, best, tolerance, own)
    new = candidates.genes[best.order[: best.n_selected]]
    others = [new] if own is None else [*_earlier(adata, found), new]
    before = np.nan if own is None else _optimality(adata.uns[own])
    said, order, share = _compared(found, criterion, candidates, best.proof, known, others, before)
    if not inplace:
        return said["table"]
    params = {"tolerance": tolerance, "time_limit": time_limit}
    made_of = stale.made_of(adata, found.layer, [found.named])
    entry = results.envelope("proof", params | found.basis.record(), made_of, **said)
    if own is not None:
        _sharpen(adata, own, known, said["optimality"], tolerance)
        if order is not found.genes:
            entry["best"] = f"{own}_best"
        if order is new:
            _store_beside(adata, found, candidates, best, time_limit)
        elif "best" in entry:
            _sharpen(adata, entry["best"], known, share, tolerance)
        else:
            results.forget_better(adata, own)
    results.store(adata, key_added, entry)
    tell(*summaries.proof(entry))
    return None


def _check(adata: AnnData, found: Found, criterion: Criterion, own: str | None) -> None:
    """Refuse cells that say nothing of panels, panels without others, and other cells."""
    key = NO_VALUE if found.named.key is None else found.named.key
    if not criterion.has_anything:
        raise InvalidValue(
            "preserve",
            NO_VALUE,
            f"has nothing above the noise of {MATRIX}, by which panels could be compared",
            "name another target",
        )
    if criterion.largest:
        raise InvalidValue(
            "panel",
            key,
            "was chosen for the worst of batches or draws, and the best panel can be found for "
            "their mean alone",
            "choose it for the mean",
        )
    if found.is_all:
        raise InvalidValue(
            "panel",
            NO_VALUE,
            f"has all genes of {ADATA} that vary, and no other is of its size",
            "use an object with more genes",
        )
    if own is None:
        return
    one_data_set(adata, own, "panel")
    beside = results.key_for(adata, "selection", None, own, suffix="best")
    if beside in adata.uns and adata.uns[beside].get("best_of") != own:
        raise InvalidValue(
            "panel",
            own,
            f"has a selection beside it, {beside!r}, in whose place the best panel would be",
            "give one of them another key",
        )
    before, now = float(np.ravel(adata.uns[own]["preserved"])[-1]), float(found.preserved[-1])
    if abs(now - before) > _CHANGED:
        raise InvalidValue(
            "panel",
            own,
            f"preserves {now:.3g} of these cells, and {before:.3g} of those it was selected from",
            f"run {call('pp.select_genes')} again, or give its genes as a list",
        )


def _candidates(adata: AnnData, found: Found) -> Candidates:
    """Return the genes of all panels that a panel is compared with, which has any of them."""
    request, genes = found.basis.request, np.isin(np.arange(adata.n_vars), found.genes)
    must = names_of.choose(
        *(adata, request.include, None), symbols=request.symbols, missing="ignore"
    ).include
    others = beside(adata, found, must)
    alike = {name: rows for name, rows in others.alike.items() if genes[rows].sum() < 2}
    return replace(others, allowed=others.allowed | genes, alike=alike)


def _certificates(
    adata: AnnData, candidates: Candidates, best: Panel, tolerance: float, own: str | None
) -> pd.DataFrame:
    """Return what is known of every gene, also from before of a selection; a row per gene."""
    known = pd.DataFrame(index=adata.var_names)
    goes_on = own is not None and _goes_on(adata.uns[own])
    before = float(adata.uns[own].get("tolerance", -1.0)) if goes_on else -1.0
    for name, lost in results.CERTIFICATES.items():
        lost = tolerance if lost else 0.0
        known[name] = results.certificates(best, candidates, lost)
        if lost <= before and f"{own}_{name}" in adata.var:
            known[name] = known[name].where(
                known[name] != OPEN, adata.var[f"{own}_{name}"].astype(known[name].dtype)
            )
    return known


def _goes_on(entry: Mapping[str, Any]) -> bool:
    """Whether a selection is known among all panels of its request, not beside some that stayed."""
    return "replaced_by" not in entry.get("table", ())


def _optimality(entry: Mapping[str, Any]) -> float:
    """The optimality that is known of a selection; NaN where it is of other panels, or unknown."""
    last = np.ravel(entry.get("optimality", np.nan))[-1] if _goes_on(entry) else np.nan
    return float(last) if last > 0 else np.nan


def _earlier(adata: AnnData, found: Found) -> list[Index]:
    """Return the better panel that an earlier search stored beside a selection, if there is one."""
    keys = str(found.named.key), f"{found.named.key}_best"
    if results.kind_of(adata.uns.get(keys[1])) != "selection":
        return []
    own, other = (
        replace(results.request_of(adata, key), n_genes=None, search="best", time_limit=None)
        for key in keys
    )
    panel = adata.var_names.get_indexer(results.ranked(adata, keys[1]).index)
    before = float(np.ravel(adata.uns[keys[1]]["preserved"])[-1])
    is_now = abs(found.basis.criterion.preserved(panel)[-1] - before) <= _CHANGED
    same = is_now and repr(own.arguments()) == repr(other.arguments())
    return [panel] if same and len(panel) <= len(found.genes) else []


def _compared(
    found: Found,
    criterion: Criterion,
    candidates: Candidates,
    proof: Proof | None,
    known: pd.DataFrame,
    others: list[Index],
    before: float,
) -> tuple[dict[str, Any], Index, float]:
    """Return a panel beside the best, for ``.uns``; the best of them all, and its optimality.

    `before` is the optimality of the panel that is known already, NaN if none is.
    """
    panel, must, rows = found.genes, candidates.include, candidates.rows
    if proof is None:
        raise InvalidValue(
            "panel", NO_VALUE, "has only genes that must be in it", "leave room for others"
        )
    must = must if rows is None else rows.with_partners(must)
    panels = [panel, *others]
    with found.few_threads():
        start, without, *errors = (
            float(criterion.errors(genes)[-1]) for genes in (panel[:0], must, *panels)
        )
    nothing = ROUNDING * start
    at = next(place for place, error in enumerate(errors) if error <= min(errors) + nothing)
    order, here, least = panels[at], errors[0], errors[at]
    bound = float(np.fmax(proof.lower, without - (without - here) / before))
    proven = bool(bound >= least - nothing)
    lower = np.array([min(bound, least)])

    def share(error: float) -> float:
        return float(optimality(np.array([without, error]), lower)[0])

    genes = np.append(panel, order[~np.isin(order, panel)])
    table = known.iloc[genes].astype(object).rename_axis("gene").reset_index()
    table.insert(1, "in_panel", np.isin(genes, panel))
    table.insert(2, "in_best", np.isin(genes, order))
    numbers = {
        f"n_{state}{name.removeprefix('certificate')}": int((column == state).sum())
        for name, column in known.items()
        for state in (EVERY, OPEN)
    }
    said = {
        "proven": proven,
        "preserved": (start - here) / criterion.scale,
        "best_preserved": (start - least) / criterion.scale,
        "most_preserved": float(start - lower[0]) / criterion.scale,
        "optimality": 1.0 if proven and not at else share(here),
        "table": table,
        **numbers,
        "n_genes": len(panel),
        "n_tested": len(candidates.genes),
        "n_nodes": proof.n_nodes,
    }
    return said, order, 1.0 if proven else share(least)


def _sharpen(adata: AnnData, key: str, known: pd.DataFrame, share: float, tolerance: float) -> None:
    """Give a selection what is known of it now."""
    entry = adata.uns[key]
    changed: dict[str, Any] = {"tolerance": tolerance}
    if "optimality" in entry:
        *before, _ = np.ravel(entry["optimality"])
        changed["optimality"] = np.array([*before, np.fmax(_optimality(entry), share)])
    results.revise(adata, key, changed, known.add_prefix(f"{key}_"))
    explained = results.last(adata, "explanation", key)
    entry = adata.uns.get(explained, {})
    if "certificate" in entry.get("table", ()) and stale.stale(adata, entry) is None:
        of_genes = {name: column[entry["table"]["gene"]] for name, column in known.items()}
        texts = {name: column.astype(str).to_numpy() for name, column in of_genes.items()}
        results.revise(adata, explained, {"table": entry["table"].assign(**texts)})


def _store_beside(
    adata: AnnData, found: Found, candidates: Candidates, best: Panel, time_limit: float | None
) -> None:
    """Store a panel that is better than a selection."""
    entry, key = adata.uns[found.named.key], f"{found.named.key}_best"
    frame = results.columns_of(best, candidates, adata.var_names, key)
    frame[f"{key}_included"] = must_haves(adata, found.named)
    about = {name: entry[name] for name in _SHARED if name in entry}
    about["best_of"] = str(found.named.key)
    if "batches" in about:
        order = candidates.genes[best.order[: best.n_selected]]
        about["preserved_in_batches"] = found.basis.criterion.preserved_in_sets(order)
    request = replace(
        results.request_of(adata, str(found.named.key)),
        n_genes=best.n_selected,
        search="best",
        time_limit=time_limit,
    )
    request = request_to_keep(adata, request, frame, key)
    results.store(adata, key, results.selected(best, request, **about), var=frame)
