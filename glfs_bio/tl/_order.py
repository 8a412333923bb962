"""A panel as it is ordered: checked gene by gene, with what replaces a gene that cannot be."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks, codec
from .._anndata import columns, constraints, read, results, stale
from .._anndata import names as names_of
from .._anndata import platform as platforms
from .._docs import documented
from ..errors import NO_VALUE, NONE, InvalidType, InvalidValue, Message, NotFound, arg, listed
from ..platform import order
from ..platform.names import NOT_FOUND
from ._draft import Draft
from ._explain import explained
from ._panel import Found, asked, basis_of
from ._resolve import CHANGED, resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes
    from .._typing import Array
    from ..options import Limits, Platform
    from ._resolve import Resolution

log = logging.getLogger(__name__)

_REFUSED = ("raise", "replace", "drop")
#: Most labels that a gene is said to support.
_LABELS = 3


@documented
def order_panel(
    adata: AnnData,
    panel: Any = "glfs",
    platform: str | Platform = "sheet",
    *,
    genes: Any = None,
    catalogue: Any = None,
    refused: str = "raise",
    exclude: Genes | None = None,
    limits: Limits | None = None,
    labels: str | None = None,
    counts_layer: str | None = None,
    min_probes: int = 1,
    probe_sets: int | Mapping[str, int] | None = None,
    force: Any = None,
    symbols: str | None = None,
    ids: str | None = None,
    species: str | None = None,
    nomenclature: Any = None,
    key_added: str = "glfs_order",
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
    platform : str or Platform, default "sheet"
        Whose order it is: ``"xenium_v1"``, ``"xenium_prime"``, ``"merscope"``, ``"cosmx"``, or
        ``"sheet"``, which is that of no vendor; or a platform of such a name, whose genes alone can
        be ordered.
    genes : str, Path, DataFrame or list of str, default None
        Genes for which probes can be made, as in :func:`~glfs_bio.tl.resolve_genes`: the vendor's
        list.  None: whether there are probes is not checked, except by a `platform` that has genes.
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
        Column of ``.obs`` with labels of the cells: which of them each gene supports, for
        ``"sheet"``.
    counts_layer : str, default None
        Layer of raw counts, or ``"X"``: how many of the panel's molecules are those of each gene.
    min_probes : int, default 1
        Least number of probes of a gene, where the list has their numbers.
    probe_sets : int or dict of str to int, default None
        Probe sets to ask for: one number, or one for some genes by name (Xenium).
    force : list of str, default None
        Genes to be designed whatever the vendor's checks say (Xenium).
    <symbols>
    ids : str, default None
        Column of ``.var`` with Ensembl ids, which decide where they are known.
    species : str, default None
        Species, as in :func:`~glfs_bio.tl.resolve_genes`.
    nomenclature : str, Path or DataFrame, default None
        Present and past names, as in :func:`~glfs_bio.tl.resolve_genes`.
    key_added : str, default "glfs_order"
        Prefix of the columns written to ``.var``, and key of ``.uns``.
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
        ordered.  ``checks``, one row per check: ``check``; ``about``, which genes are named;
        ``checked``; ``n`` of them; ``genes``.  ``replaced``, one row per gene that was refused:
        ``gene``, ``reason``, ``substitute``, ``substitution_score``.  ``platform``; ``species``;
        ``made_of``; ``params``; ``versions``.
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
    form = order.ORDERS[_name(platform)]
    checks.one_of("refused", refused, _REFUSED)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    checks.whole_number("min_probes", min_probes, at_least=1)
    named = names_of.named(adata, panel, symbols=symbols)
    known = None if labels is None else columns.labels(adata, labels, "labels")
    found = resolved(
        adata, genes, symbols=symbols, ids=ids, species=species, nomenclature=nomenclature
    )
    excluded = names_of.gene_mask(adata, exclude, "exclude", symbols=symbols, missing="warn")
    if named.key is not None:
        excluded |= adata.var[f"{named.key}_score"].isna().to_numpy()
    means = None if counts_layer is None else _mean_counts(adata, counts_layer)
    request = asked(adata, named.key, limits=limits, symbols=symbols)
    layer = request.structure.layer
    rows = constraints.rows(adata, request.limits, layer=layer, allowed=~excluded)
    draft = Draft.of(adata, named, found, form, min_probes=min_probes, symbols=symbols)
    if not isinstance(platform, str):
        on_platform = platforms.of_genes(adata, platform, layer, symbols)
        draft = draft.only(on_platform.orderable)
    if catalogue is not None:
        draft = draft.without(adata, catalogue, symbols)
    draft = draft.checked(rows)
    bad = draft.refused
    if len(bad) and refused == "raise":
        faults = [f"{name} {why}" for name, why in zip(bad["name"], bad["fault"], strict=True)]
        raise InvalidValue(
            "panel",
            NO_VALUE,
            f"has {len(bad)} genes that cannot be ordered ({form.title}): {listed(faults)}",
            f"correct them, or pass {arg('refused', 'replace')} or {arg('refused', 'drop')}",
        )
    basis = None
    if form.explains or (len(bad) and refused == "replace"):
        basis = basis_of(adata, request)
    items = draft.left
    if basis is not None and len(bad) and refused == "replace":
        items = draft.replaced(basis.criterion, excluded)
    if items.empty:
        raise InvalidValue("panel", NO_VALUE, "has no gene to order", "name other genes")
    replaced = _replaced(bad, items)
    if len(bad):
        _tell(replaced)
    table = _table(items)
    table["n_probe_sets"] = _probe_sets(table, form, probe_sets)
    table["forced"] = _forced(table, form, force)
    table["limits"] = "" if rows is None else ", ".join(dict.fromkeys(rows.limits))
    efficiency = f"{named.key}_efficiency"
    if efficiency in adata.var:
        table["efficiency"] = _of_rows(adata.var[efficiency].to_numpy(dtype=float), items)
    if means is not None:
        table["mean_count"] = _of_rows(means, items)
    alike, abundant = _alike(table, items, found), _abundant(table)
    table["note"] = _notes(table, items, alike, abundant)
    order_rows = items["row"].to_numpy(dtype=np.intp)
    order_rows = order_rows[order_rows >= 0]
    if form.explains and basis is not None and len(order_rows):
        whole = np.append(order_rows, np.setdiff1d(draft.beside, order_rows))
        reasons, _ = explained(
            *(adata, Found(replace(named, genes=whole), basis), known, _LABELS),
            exclude=list(adata.var_names[~draft.orderable | excluded]),
            symbols=None,
        )
        table = table.join(reasons.iloc[: len(order_rows)].set_index("gene"), on="name")
    if not inplace:
        return table
    for column in ("symbol", "id"):
        adata.var[f"{key_added}_{column}"] = found.frame[column].to_numpy()
    adata.var[f"{key_added}_orderable"] = draft.orderable
    adata.uns[key_added] = {
        "table": table,
        "checks": _checks(table, draft, replaced, alike, abundant),
        "replaced": replaced,
        "platform": _name(platform),
        "species": found.species,
        "made_of": stale.made_of(adata, layer, [named]),
        "params": {
            "refused": refused,
            "min_probes": min_probes,
            "limits": codec.storable(request.limits),
        },
        "versions": results.versions(),
    }
    return None


def _name(platform: str | Platform) -> str:
    """The name of a platform that has a form of orders."""
    name = getattr(platform, "name", platform)
    checks.one_of("platform", name, order.ORDERS)
    return str(name)


def _replaced(bad: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """One row per gene that was refused, with what is ordered in its place."""
    come = items[items["replaces"] != ""].reindex(bad.index)
    called = come["symbol"].where(come["symbol"] != "", come["name"])
    return pd.DataFrame(
        {
            "gene": bad["name"],
            "reason": bad["fault"],
            "substitute": called.fillna(""),
            "substitution_score": come["score"],
        }
    ).reset_index(drop=True)


def _table(items: pd.DataFrame) -> pd.DataFrame:
    """One row per gene of an order."""
    called = items["symbol"].where(items["symbol"] != "", items["name"])
    columns = {
        "gene": called,
        **{name: items[name] for name in ("id", "name", "found", "replaces")},
    }
    table = pd.DataFrame(columns).reset_index(drop=True)
    table.insert(0, "rank", np.arange(1, len(items) + 1))
    return table


def _probe_sets(table: pd.DataFrame, form: order.OrderForm, asked: Any) -> Array:
    """How many probe sets are asked for, 0 where the vendor decides."""
    found = np.zeros(len(table))
    if asked is None:
        return found
    if not form.most_probe_sets:
        raise InvalidValue(
            "probe_sets", asked, f"is for orders of Xenium, and this is a {form.title}"
        )
    each = asked if isinstance(asked, dict) else dict.fromkeys(table["gene"], asked)
    for name, number in each.items():
        checks.whole_number("probe_sets", number, at_least=1)
        if number > form.most_probe_sets:
            raise InvalidValue(
                "probe_sets",
                number,
                f"is more than the {form.most_probe_sets} of a gene ({form.title})",
            )
        found[_listed(table, [name], "probe_sets")] = number
    return found


def _forced(table: pd.DataFrame, form: order.OrderForm, force: Any) -> NDArray[np.bool_]:
    """Whether each gene is to be designed whatever the checks of the vendor say."""
    if not (force is None or isinstance(force, str) or names_of.is_several(force)):
        raise InvalidType("force", force, f"must be a list of names of genes, or {NONE}")
    names = [force] if isinstance(force, str) else list(force or ())
    if names and not form.most_probe_sets:
        raise InvalidValue("force", names, f"is for orders of Xenium, and this is a {form.title}")
    return _listed(table, names, "force")


def _listed(table: pd.DataFrame, names: Iterable[str], argument: str) -> NDArray[np.bool_]:
    """Genes of an order by name, in the data or on the platform."""
    names = set(names)
    strange = names - {*table["gene"], *table["name"]}
    if strange:
        raise NotFound(
            argument,
            NO_VALUE,
            f"has genes that are not on the order: {listed(strange)}",
            "name genes of it",
        )
    return np.asarray(table["gene"].isin(names) | table["name"].isin(names))


def _mean_counts(adata: AnnData, counts_layer: str) -> Array:
    """Mean counts of each gene in a cell."""
    counts = read.counts(adata, counts_layer)
    return counts.weighted_sums(np.full((adata.n_obs, 1), 1.0 / adata.n_obs))[:, 0]


def _of_rows(values: Array, items: pd.DataFrame) -> Array:
    """Values of the genes of an order, NaN for those that are not in the data."""
    rows = items["row"].to_numpy(dtype=np.intp)
    return np.where(rows >= 0, values[rows], np.nan)


def _alike(table: pd.DataFrame, items: pd.DataFrame, found: Resolution) -> dict[str, list[int]]:
    """Places of genes of one family: of the table of genes, or of those that are alike."""
    members: dict[str, list[int]] = {}
    families = found.resolver.genes.get("family")
    for at, place in enumerate(items["place"]):
        if families is not None and place >= 0 and families[place]:
            members.setdefault(families[place], []).append(at)
        for name in order.HOMOLOGOUS:
            family = names_of.family(name)
            if table["gene"][at] in family or table["id"][at] in family:
                members.setdefault(name, []).append(at)
    return {name: places for name, places in members.items() if len(places) > 1}


def _abundant(table: pd.DataFrame) -> dict[int, float]:
    """Share of the order's counts of genes that have a large one, by place."""
    if "mean_count" not in table:
        return {}
    share = table["mean_count"] / table["mean_count"].sum()
    return {int(at): float(share[at]) for at in np.flatnonzero(share > order.ABUNDANT)}


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
        if item.place < 0:
            note.append(f"{item.name} {NOT_FOUND[item.found]}")
        if item.row < 0:
            note.append("not in the data")
    for family, places in alike.items():
        for at in places:
            notes[at].append(f"{len(places)} genes of the family {family}")
    for at, share in abundant.items():
        notes[at].append(f"{share:.0%} of the counts of the order")
    return ["; ".join(note) for note in notes]


def _checks(
    table: pd.DataFrame,
    draft: Draft,
    replaced: pd.DataFrame,
    alike: Mapping[str, list[int]],
    abundant: Mapping[int, float],
) -> pd.DataFrame:
    """What was checked, and which genes it is about: one row per check."""
    rows = draft.rows
    short: Iterable[str] | None = None
    if rows is not None:
        there = draft.every["name"].isin(table["name"]) | draft.every["row"].isin(draft.beside)
        lacks = rows.sums(np.flatnonzero(there)) < rows.lower
        short = [name for name, low in zip(rows.names, lacks, strict=True) if low]
    of_family = sorted({at for places in alike.values() for at in places})
    concerned: dict[str, Iterable[str] | None] = {
        "names": table["gene"][table["found"].isin(CHANGED)],
        "ids": table["gene"][table["id"] == ""],
        "refused": replaced["gene"],
        "catalogue": draft.not_ordered,
        "limits": short,
        "families": table["gene"][of_family],
        "abundance": table["gene"][list(abundant)] if "mean_count" in table else None,
    }
    return pd.DataFrame(
        [
            (
                check,
                about,
                genes is not None,
                len(named := list(genes if genes is not None else ())),
                ", ".join(named),
            )
            for (check, about), genes in zip(order.CHECKS.items(), concerned.values(), strict=True)
        ],
        columns=["check", "about", "checked", "n", "genes"],
    )


def _tell(replaced: pd.DataFrame) -> None:
    """Say which genes are not ordered, and what is in their place."""
    faults = [
        f"{one.gene} {one.reason}" + (f", {one.substitute} in its place" if one.substitute else "")
        for one in replaced.itertuples()
    ]
    log.warning(Message(f"{len(faults)} genes cannot be ordered: {listed(faults, len(faults))}."))
