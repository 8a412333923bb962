"""A panel as it is ordered: checked gene by gene, with what replaces a gene that cannot be."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import alike as nearly
from .._anndata import columns, constraints, read, results, stale, summaries
from .._anndata import names as names_of
from .._anndata import platform as platforms
from .._anndata.names import Named
from .._docs import documented
from .._progress import tell, with_bar
from ..errors import NO_VALUE, NONE, InvalidType, InvalidValue, Message, arg, listed, shown
from ..vendors.names import NOT_FOUND
from ..vendors.orders import ABUNDANT, ORDERS
from ._draft import Draft
from ._explain import explained
from ._panel import Found, asked, basis_of, must_haves, say_overridden
from ._resolve import CHANGED, resolved
from ._sheet import completed, spares

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anndata import AnnData

    from .._anndata.names import Genes
    from ..options import Limits, Platform
    from ._resolve import Resolution

log = logging.getLogger(__name__)

_REFUSED = ("raise", "replace", "drop")
#: How orders say that a gene is to be designed whatever the checks say.
_FORCED = {"forced", "force", "true", "t", "yes", "y", "x", "1"}


@with_bar
@documented
def order_panel(
    adata: AnnData,
    panel: Any = "glfs",
    platform: str | Platform | None = None,
    *,
    genes: Any = None,
    catalogue: Any = None,
    refused: str = "raise",
    exclude: Genes | None = None,
    limits: Limits | None = None,
    labels: str | None = None,
    backups: int = 0,
    counts_layer: str | None = None,
    min_probes: int = 1,
    probe_sets: int | Mapping[str, int] | None = None,
    force: Any = None,
    symbols: str | None = None,
    ids: str | None = None,
    species: str | None = None,
    nomenclature: Any = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Make an order of a panel: check every gene, and replace those that cannot be ordered.

    A gene cannot be ordered if the platform's list has no probes for it, or too few; if its name
    may be several genes, or is damaged; if it lacks an Ensembl id that the order needs; if it is
    the same gene as one before it under another name; or if a limit rules it out beside the genes
    before it.  :func:`~glfs_bio.io.write_order` writes the order.

    Parameters
    ----------
    <adata>
    panel : str, Path or list of str, default "glfs"
        <panel>
        Names that are missing in the data are ordered too.
    platform : str or Platform, default None
        Whose order it is: ``"xenium_v1"``, ``"xenium_prime"``, ``"merscope"``, ``"cosmx"``, or
        ``"sheet"``, which is that of no vendor; or a platform of such a name, whose genes alone can
        be ordered.  None: the platform of the selection, else ``"sheet"``.
    genes : str, Path, DataFrame or list of str, default None
        Genes for which probes can be made, as in :func:`~glfs_bio.tl.resolve_genes`: the vendor's
        list.  None: whether there are probes is not checked, as a note says, except by a `platform`
        that has genes.
    catalogue : str, Path or list of str, default None
        Panel that the order adds to, such as a predesigned one: its genes are not ordered, and
        count beside those that are.
    refused : {"raise", "replace", "drop"}, default "raise"
        Genes that cannot be ordered are an error; or are replaced by those that preserve most
        beside the rest; or are left out.
    exclude : str, Pattern or list of these, default None
        Genes that cannot replace one, as in :func:`~glfs_bio.pp.select_genes`; nor can those that a
        selection could not select.
    limits : Limits, default None
        Limits that the order is checked against.  None: those of the selection.
    labels : str, default None
        Column of ``.obs`` with labels of the cells: where each gene is expressed, what it does for
        them, and its group, for ``"sheet"``.
    backups : int, default 0
        Backups to list for each gene, for ``"sheet"``: its best substitutes that can be ordered.
    counts_layer : str, default None
        Layer of raw counts, or ``"X"``: how many of the panel's molecules are those of each gene.
    min_probes : int, default 1
        Least number of probes of a gene, where the list has their numbers.
    probe_sets : int or dict of str to int, default None
        Probe sets to ask for: one number, or one for some genes by name (Xenium).  None: those of
        an order that `panel` is the file of.
    force : list of str, default None
        Genes to be designed whatever the vendor's checks say (Xenium).  None: those of an order
        that `panel` is the file of.
    <symbols>
    ids : str, default None
        Column of ``.var`` with Ensembl ids, which decide where they are known.
    species : str, default None
        Species, as in :func:`~glfs_bio.tl.resolve_genes`.
    nomenclature : str, Path or DataFrame, default None
        Present and past names, as in :func:`~glfs_bio.tl.resolve_genes`.
    key_added : str, default None
        Prefix of the columns written to ``.var``, and key of ``.uns``.  None: that of the panel and
        ``_order``, such as ``"glfs_order"``, which is also that of a list.
    <inplace>

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.uns[key_added]`` : dict
        ``table``, one row per gene that is ordered: ``rank``; ``gene`` and ``id``, as the platform
        has them; ``name``, as the data have it; ``found``, how they came together; ``replaces``,
        the gene that it is ordered in place of; ``n_probe_sets``; ``forced``; ``limits``, those
        that hold; where known ``efficiency`` and ``mean_count``; ``note``, what is to be looked at;
        and for ``"sheet"`` what :func:`~glfs_bio.tl.explain_panel` says, whose substitutes can be
        ordered, and ``group``, of the file that `panel` is, else the label with the highest mean;
        ``must_have``, a gene that had to be in; ``is_backup``, with ``backup_of``, the genes that
        it backs up; ``source``: ``"included"``, ``"selected"``, ``"added"`` to a panel,
        ``"replacement"``, ``"backup"``, or ``"listed"`` in a panel that is no selection.  Backups
        stand below the panel.  ``checks``, one row per check: ``check``; ``about``, which genes are
        named; ``checked``, whether it could be; ``n`` of them; ``genes``.  ``replaced``, one row
        per gene that was refused: ``gene``, ``reason``, ``substitute``, ``substitution_score``.
        ``platform``; ``species``; ``made_of``; ``params``; ``versions``.
    ``.var[f"{key_added}_symbol"]``, ``.var[f"{key_added}_id"]`` : str
        Symbol and Ensembl id of every gene, ``""`` where unknown.
    ``.var[f"{key_added}_orderable"]`` : bool
        Genes that could be ordered.

    Raises
    ------
    ValueError
        If genes cannot be ordered and ``refused="raise"``, or too few genes could replace them.

    See Also
    --------
    glfs_bio.io.write_order : Write the order.
    resolve_genes : Find genes in a vendor's list.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.order_panel(adata, "glfs", "xenium_v1", refused="replace")
    >>> adata.uns["glfs_order"]["table"]["gene"].tolist()[:3]
    ['CST3', 'HLA-DRA', 'FCGR3A']
    """
    if platform is not None:
        checks.one_of("platform", getattr(platform, "name", platform), ORDERS)
    checks.one_of("refused", refused, _REFUSED)
    key_added = results.key_for(adata, "order", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    checks.whole_number("min_probes", min_probes, at_least=1)
    checks.whole_number("backups", backups, at_least=0)
    if not (force is None or isinstance(force, str) or names_of.is_several(force)):
        raise InvalidType("force", force, f"must be a list of names of genes, or {NONE}")
    named = names_of.named(adata, panel, symbols=symbols)
    request = asked(adata, named.key, limits=limits, symbols=symbols, across=None)
    name, on_platform = _platform(platform, request.platform)
    form = ORDERS[name]
    if backups and not form.explains:
        raise InvalidValue(
            "backups", backups, f"is for the order sheet, and this is a {form.title}"
        )
    known = None if labels is None else columns.labels(adata, labels, "labels")
    found = resolved(
        adata,
        genes,
        symbols=symbols,
        ids=ids,
        species=species,
        nomenclature=nomenclature,
        known=named.ids_of_rows,
    )
    as_asked, request = request, names_of.settled(adata, request, "ignore")
    ignore = request.structure.ignore
    excluded = names_of.not_to_choose(adata, exclude, ignore=ignore, symbols=symbols)
    if named.key is not None:
        excluded |= adata.var[f"{named.key}_score"].isna().to_numpy()
    counts = None if counts_layer is None else read.counts(adata, counts_layer)
    layer = request.structure.layer
    rows = constraints.rows(
        adata,
        request.limits,
        layer=layer,
        allowed=~excluded,
        detection=platforms.of_genes(adata, request.platform, layer, request.symbols),
        symbols=request.symbols,
    )
    draft = Draft.of(adata, named, found, form, min_probes=min_probes)
    draft = draft.only(platforms.of_genes(adata, on_platform, layer, symbols).orderable)
    if catalogue is not None:
        draft = draft.without(adata, catalogue, symbols)
    draft = draft.checked(rows)
    bad, items = draft.refused, draft.left
    if len(bad) and refused == "raise":
        faults = [f"{one.name} {one.fault}" for one in bad.itertuples()]
        raise InvalidValue(
            "panel",
            NO_VALUE,
            f"has {len(bad)} genes that cannot be ordered ({form.title}): {listed(faults)}",
            f"correct them, or pass {arg('refused', 'replace')} or {arg('refused', 'drop')}",
        )
    basis = None
    if form.explains or (len(bad) and refused == "replace"):
        stale.check_genes(adata, named.key, "panel")
        basis = basis_of(adata, request)
    if basis is not None and len(bad) and refused == "replace":
        items = draft.replaced(adata, request, basis.criterion, excluded)
    if items.empty:
        raise InvalidValue("panel", NO_VALUE, "has no gene to order", "name other genes")
    order = items["row"].to_numpy(dtype=np.intp)
    why, spare = None, draft.every.iloc[:0]
    if form.explains and basis is not None and (order >= 0).any():
        here = order[order >= 0]
        beside = np.setdiff1d(draft.beside, here)
        whole = Found(Named.of(adata, np.append(here, beside), named.key), basis)
        barred = ~draft.free(items) | excluded
        had_to = must_haves(adata, named)
        why = explained(adata, whole, known, barred=barred, had_to=had_to)
        spare = spares(draft.every, why.instead, here, backups)
    n_ordered = len(items)
    every = pd.concat([items, spare], ignore_index=True)
    every["gene"] = every["symbol"].where(every["symbol"] != "", every["name"])
    replaced = _replaced(bad, every.iloc[:n_ordered].set_axis(items.index))
    table = every[["gene", "id", "name", "found", "replaces"]].copy()
    table.insert(0, "rank", np.arange(1, len(every) + 1))
    if form.most_probe_sets:
        probe_sets, force = _as_in_file(every, named, probe_sets, force)
    table["n_probe_sets"] = form.probe_sets(table, probe_sets)
    table["forced"] = form.forced(table, [force] if isinstance(force, str) else list(force or ()))
    table["limits"] = "" if rows is None else ", ".join(dict.fromkeys(rows.limits))
    place = every["row"].to_numpy(dtype=np.intp)
    if f"{named.key}_efficiency" in adata.var:
        efficiency = adata.var[f"{named.key}_efficiency"].to_numpy(dtype=float)
        table["efficiency"] = np.where(place >= 0, efficiency[place], np.nan)
    if counts is not None:
        means = counts.weighted_sums(np.full((adata.n_obs, 1), 1.0 / adata.n_obs))[:, 0]
        table["mean_count"] = np.where(place >= 0, means[place], np.nan)
    ordered = table.iloc[:n_ordered]
    alike, abundant = _alike(ordered, every.iloc[:n_ordered], found), _abundant(ordered)
    table["note"] = _notes(table, every, alike, abundant)
    if form.explains:
        table = completed(adata, named, table, every, why)
    say_overridden(adata, named.key, as_asked)
    if not draft.probes_checked:
        log.warning(
            Message(
                "No list of genes with probes was given, so it was not checked which genes can be "
                f"ordered: name it with {arg('genes')}. {form.where_listed}"
            )
        )
    if not inplace:
        return table
    of_genes = {f"{key_added}_{name}": found.frame[name].to_numpy() for name in ("symbol", "id")}
    of_genes[f"{key_added}_orderable"] = draft.orderable
    entry = results.envelope(
        "order",
        {
            "refused": refused,
            "min_probes": min_probes,
            "backups": backups,
            "limits": request.limits,
        },
        stale.made_of(adata, layer, [named]),
        table=table,
        checks=_checks(ordered, draft, alike, abundant),
        replaced=replaced,
        platform=name,
        species=found.resolver.species,
    )
    results.store(adata, key_added, entry, var=of_genes)
    tell(*summaries.order(entry))
    return None


def _platform(
    given: str | Platform | None, of_selection: Platform | None
) -> tuple[str, Platform | None]:
    """Whose order it is, and the platform that says which genes can be ordered."""
    of_both = of_selection if given is None or isinstance(given, str) else given
    own = getattr(of_both, "name", None)
    name: Any = getattr(given, "name", given)
    if name is None:
        name = own if own in ORDERS else "sheet"
        if own not in (None, name):
            log.warning(
                Message(
                    f"{shown(own)}, the platform of the selection, has no form, so that this is "
                    f"the order sheet: {arg('platform')} names another of {shown(*ORDERS)}."
                )
            )
    return name, of_both if own in (None, name) else None


def _as_in_file(items: pd.DataFrame, named: Named, probe_sets: Any, force: Any) -> tuple[Any, Any]:
    """Probe sets and forced genes: those that are given, else those of the order in the file."""
    forced, numbers = named.in_file("force"), named.in_file("n_probe_sets")
    if named.file is None or "force" not in named.file.table:
        return probe_sets, force
    asked = list(zip(items["gene"], items["asked"], strict=True))
    if probe_sets is None:
        probe_sets = {gene: int(numbers[name]) for gene, name in asked if name in numbers}
    if force is None:
        force = [gene for gene, name in asked if str(forced.get(name)).casefold() in _FORCED]
    return probe_sets or None, force


def _replaced(bad: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """One row per gene that was refused, with what is ordered in its place; these are logged."""
    come = items[items["replaces"] != ""].reindex(bad.index)
    replaced = pd.DataFrame(
        {
            "gene": bad["name"],
            "reason": bad["fault"],
            "substitute": come["gene"].fillna(""),
            "substitution_score": come["score"],
        }
    ).reset_index(drop=True)
    faults = [
        f"{one.gene} {one.reason}" + (f", {one.substitute} in its place" if one.substitute else "")
        for one in replaced.itertuples()
    ]
    if faults:
        log.warning(
            Message(f"{len(faults)} genes cannot be ordered: {listed(faults, len(faults))}.")
        )
    return replaced


def _alike(table: pd.DataFrame, items: pd.DataFrame, found: Resolution) -> dict[str, list[int]]:
    """Places of genes by what they share: a family of the table of genes, or nearly a sequence."""
    members: dict[str, list[int]] = {}
    families = found.resolver.genes.get("family")
    for at, place in enumerate(items["place"]):
        if families is not None and place >= 0 and families[place]:
            members.setdefault(f"the family {families[place]}", []).append(at)
        of_set = nearly.set_of(table["gene"][at]) or nearly.set_of(table["id"][at])
        if of_set is not None:
            members.setdefault(f"nearly the sequence of {of_set}", []).append(at)
    return {name: places for name, places in members.items() if len(places) > 1}


def _abundant(table: pd.DataFrame) -> dict[int, float]:
    """Share of the order's counts of genes that have a large one, by place."""
    if "mean_count" not in table:
        return {}
    share = table["mean_count"] / table["mean_count"].sum()
    return {int(at): float(share[at]) for at in np.flatnonzero(share > ABUNDANT)}


def _notes(
    table: pd.DataFrame,
    items: pd.DataFrame,
    alike: Mapping[str, list[int]],
    abundant: Mapping[int, float],
) -> list[str]:
    """What is to be looked at, for each gene of an order."""
    notes: list[list[str]] = [[] for _ in range(len(table))]
    for note, gene, item in zip(notes, table["gene"], items.itertuples(), strict=True):
        if item.found in CHANGED:
            note.append(f"{item.name} is {gene}")
        if item.place >= 0 and item.candidates:
            note.append(f"{gene} was also a symbol of {item.candidates}")
        if item.found in NOT_FOUND:
            note.append(f"{item.name} {NOT_FOUND[item.found]}")
        if item.row < 0:
            note.append("not in the data")
    for shared, places in alike.items():
        for at in places:
            notes[at].append(f"{len(places)} genes of {shared}")
    for at, share in abundant.items():
        notes[at].append(f"{share:.0%} of the counts of the order")
    return ["; ".join(note) for note in notes]


def _checks(
    table: pd.DataFrame,
    draft: Draft,
    alike: Mapping[str, list[int]],
    abundant: Mapping[int, float],
) -> pd.DataFrame:
    """What was checked, and which genes it is about: one row per check."""
    rows, bad = draft.rows, draft.refused
    short = None
    if rows is not None:
        there = draft.every["name"].isin(table["name"]) | draft.every["row"].isin(draft.beside)
        lacks = rows.sums(np.flatnonzero(there)) < rows.lower
        short = [name for name, low in zip(rows.names, lacks, strict=True) if low]
    of_family = sorted({at for places in alike.values() for at in places})
    about: dict[str, tuple[str, Sequence[str] | None]] = {
        "names": (
            "found under another name, past or present",
            list(table["gene"][table["found"].isin(CHANGED)]),
        ),
        "ids": ("without an Ensembl id", list(table["gene"][table["id"] == ""])),
        "refused": (
            "that cannot be ordered, as the list has no probes for them, or too few",
            list(bad["name"][bad["unlisted"]]) if draft.probes_checked else None,
        ),
        "doubtful": (
            "that cannot be ordered, as they are ambiguous, doubled, or out of limits",
            list(bad["name"][~bad["unlisted"]]),
        ),
        "catalogue": ("on the catalogue, and not ordered", draft.not_ordered),
        "limits": ("limits on the whole panel that are not met", short),
        "families": (
            "of nearly one sequence, which probes cannot tell apart, or of a family of the list",
            list(table["gene"][of_family]),
        ),
        "abundance": (
            f"with more than {ABUNDANT:.0%} of the counts of the order",
            list(table["gene"][list(abundant)]) if "mean_count" in table else None,
        ),
    }
    return pd.DataFrame(
        [
            (check, text, genes is not None, len(genes or ()), ", ".join(genes or ()))
            for check, (text, genes) in about.items()
        ],
        columns=["check", "about", "checked", "n", "genes"],
    )
