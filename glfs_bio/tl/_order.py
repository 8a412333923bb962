"""A panel as it is ordered: checked gene by gene, with what replaces a gene that cannot be."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import alike as nearly
from .._anndata import columns, constraints, expression, names, read, results, stale, summaries
from .._anndata import platform as platforms
from .._anndata.names import Named
from .._docs import documented
from .._progress import tell, with_bar
from ..errors import NO_VALUE, InvalidValue, Message, arg, listed, shown
from ..selection import best_panel
from ..vendors.names import NOT_FOUND
from ._panel import (
    Found,
    absent,
    asked,
    basis_of,
    in_place_of,
    joining,
    must_haves,
    replacements,
    say_overridden,
)
from ._resolve import CHANGED, resolved

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Index
    from ..data.matrix import RowMatrix
    from ..labels import Labels
    from ..options import Limits, Platform, Request
    from ._panel import Basis
    from ._resolve import Resolution

log = logging.getLogger(__name__)

_REFUSED = ("raise", "replace", "drop")
#: How files of orders mark a gene that is to be designed whatever the checks of the vendor say.
_FORCED = {"forced", "force", "true", "t", "yes", "y", "x", "1"}
#: A gene with a larger share of the counts of an order is noted: alone it fills an image.
_ABUNDANT = 0.2
#: Ways not to be found that say nothing of probes.
_DOUBTFUL = ("ambiguous", "double", "date")
#: Where 10x Genomics says which genes have probes.
_OF_10X = "10x Genomics publishes it for {}, as a table of species, Ensembl ids and symbols."


@dataclass(frozen=True)
class OrderForm:
    """What the orders of a platform are called, and what can be asked of them."""

    title: str
    #: Endings of its files.
    endings: tuple[str, ...] = (".csv",)
    #: Whether a gene without an Ensembl id cannot be ordered.
    needs_ids: bool = False
    #: Most probe sets of a gene; 0: they cannot be asked for, nor can a gene be forced.
    most_probe_sets: int = 0
    #: Where the list of genes with probes is, in a sentence.
    where_listed: str = "It is the list of the vendor that makes the probes."

    def check_file(self, path: Path, argument: str = "path") -> None:
        """Refuse a file that cannot have this form."""
        if path.suffix.lower() not in self.endings:
            raise InvalidValue(
                argument, str(path), f"must end with {' or '.join(self.endings)} for a {self.title}"
            )


#: By the names of platforms.
ORDERS = {
    "xenium_v1": OrderForm(
        "10x custom gene list (Xenium v1)",
        needs_ids=True,
        most_probe_sets=8,
        where_listed=_OF_10X.format("Xenium v1"),
    ),
    "xenium_prime": OrderForm(
        "10x custom gene list (Xenium Prime)",
        needs_ids=True,
        most_probe_sets=6,
        where_listed=_OF_10X.format("Xenium Prime"),
    ),
    "merscope": OrderForm(
        "MERSCOPE gene table",
        where_listed="The export of Vizgen's design portal has the target regions of each gene.",
    ),
    "cosmx": OrderForm(
        "CosMx gene list", (".xlsx",), where_listed="None is public: ask the vendor."
    ),
    "sheet": OrderForm("order sheet", (".csv", ".tsv", ".xlsx")),
}


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
    limits: Limits | None = None,
    labels: str | None = None,
    backups: int = 0,
    counts_layer: str | None = None,
    symbols: str | None = None,
    ids: str | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Make an order of a panel: check every gene, and replace those that cannot be ordered.

    A gene cannot be ordered if the platform's list has no probes for it; if its name may be several
    genes, or is damaged; if it lacks an Ensembl id that the order needs; if it is the same gene as
    one before it under another name; or if a limit rules it out beside the genes before it.
    :func:`~glfs_bio.io.write_order` writes the order, in the form of its platform or of another.

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
        beside the rest, of the genes that the selection could select; or are left out.
    limits : Limits, default None
        Limits that the order is checked against.  None: those of the selection.
    labels : str, default None
        Column of ``.obs`` with labels of the cells, which are the groups of genes.
    backups : int, default 0
        Backups to list for each gene: its best substitutes that can be ordered.
    counts_layer : str, default None
        Layer of raw counts, or ``"X"``: how many of the panel's molecules are those of each gene.
    <symbols>
    ids : str, default None
        Column of ``.var`` with Ensembl ids, which decide where they are known.
    key_added : str, default None
        Prefix of the columns written to ``.var``, and key of ``.uns``.  None: that of the panel and
        ``_order``, such as ``"glfs_order"``, which is also that of a list.
    <inplace>

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per gene, and below them one per backup
        - ``rank``: from 1
        - ``gene``, ``id``: symbol and Ensembl id, as the platform has them
        - ``name``: its name in the data
        - ``group``: group in the file that `panel` is, else the label with the highest mean
        - ``source``: ``"included"``, a gene that had to be in; ``"selected"``; ``"added"`` to a
          panel; ``"replacement"``; ``"backup"``; or ``"listed"`` in a panel that is no selection
        - ``replaces``: the gene that it is ordered in place of
        - ``backup_of``: the genes that it backs up
        - ``n_probe_sets``, ``forced``: what an order that `panel` is the file of asks for, 0 for
          the vendor's choice.  Change them here for Xenium before the order is written.
        - ``mean_count``: mean count in a cell; NaN without `counts_layer`
        - ``note``: what is to be looked at
    ``.uns[key_added]["checks"]`` : DataFrame, one row per check
        ``check``; ``about``, which genes are named; ``checked``, whether it could be; ``n`` of
        them; ``genes``.
    ``.uns[key_added]["replaced"]`` : DataFrame, one row per gene that was refused
        ``gene``, ``reason``, ``substitute``, ``substitution_score``.
    ``.uns[key_added]["platform"]``, ``["species"]`` : str
        Whose order it is, and the species of its genes.
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
    resolve_genes : Find genes in a vendor's list, by past names and numbers of probes.

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
    read.check(adata)
    if platform is not None:
        checks.one_of("platform", getattr(platform, "name", platform), ORDERS)
    checks.one_of("refused", refused, _REFUSED)
    key_added = results.key_for(adata, "order", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    checks.whole_number("backups", backups, at_least=0)
    named = names.named(adata, panel, symbols=symbols)
    on_catalogue = None
    if catalogue is not None:
        on_catalogue = names.named(adata, catalogue, symbols=symbols, argument="catalogue")
    request = asked(adata, named.key, limits=limits, symbols=symbols)
    platform_name, listing = _platform(platform, request.platform)
    types = None if labels is None else columns.labels(adata, labels)
    counts = None if counts_layer is None else read.counts(adata, counts_layer)
    draft = Draft(
        adata,
        named,
        names.settled(adata, request, "ignore"),
        ORDERS[platform_name],
        listing=listing,
        catalogue=on_catalogue,
        options={"genes": genes, "symbols": symbols, "ids": ids},
    )
    bad, items = draft.refused, draft.accepted
    if len(bad) and refused == "raise":
        faults = [f"{gene} {fault}" for gene, fault in zip(bad["name"], bad["fault"], strict=True)]
        raise InvalidValue(
            "panel",
            NO_VALUE,
            f"has {len(bad)} genes that cannot be ordered ({draft.form.title}): {listed(faults)}",
            f"correct them, or pass {arg('refused', 'replace')} or {arg('refused', 'drop')}",
        )
    if backups or (len(bad) and refused == "replace"):
        stale.check_genes(adata, named.key, "panel")
        basis = basis_of(adata, request)
    if len(bad) and refused == "replace":
        items = draft.with_replacements(basis)
    if items.empty:
        raise InvalidValue("panel", NO_VALUE, "has no gene to order", "name other genes")
    replaced = _replaced(bad, items)
    if backups:
        items = pd.concat([items, draft.backups(items, basis, backups)])
    table = _table(draft, items.reset_index(drop=True), types, counts)
    notes = _notes(table, items.reset_index(drop=True), draft)
    table["note"] = ["; ".join(filter(None, row)) for row in notes.to_numpy()]
    say_overridden(adata, named.key, request)
    if not draft.probes_checked:
        log.warning(
            Message(
                "No list of genes with probes was given, so it was not checked which genes can be "
                f"ordered: name it with {arg('genes')}. {draft.form.where_listed}"
            )
        )
    if not inplace:
        return table
    frame = draft.resolution.frame
    of_genes = {f"{key_added}_{name}": frame[name].to_numpy() for name in ("symbol", "id")}
    of_genes[f"{key_added}_orderable"] = draft.orderable
    entry = results.envelope(
        "order",
        {"refused": refused, "backups": backups, "limits": request.limits},
        stale.made_of(adata, draft.layer, [named]),
        table=table,
        checks=_checks(table, notes, draft),
        replaced=replaced,
        platform=platform_name,
        species=draft.resolution.resolver.species,
    )
    results.store(adata, key_added, entry, var=of_genes)
    tell(*summaries.order(entry))
    return None


def _platform(
    platform: str | Platform | None, of_selection: Platform | None
) -> tuple[str, Platform | None]:
    """Return whose order it is, and the platform that says which genes can be ordered."""
    listing = of_selection if platform is None or isinstance(platform, str) else platform
    listed_name = getattr(listing, "name", None)
    name: Any = getattr(platform, "name", platform)
    if name is None:
        name = listed_name if listed_name in ORDERS else "sheet"
        if listed_name not in (None, name):
            log.warning(
                Message(
                    f"{shown(listed_name)}, the platform of the selection, has no form, so that "
                    f"this is the order sheet: {arg('platform')} names another of "
                    f"{shown(*ORDERS)}."
                )
            )
    return name, listing if listed_name in (None, name) else None


class Draft:
    """A panel before it is ordered: which genes cannot be, and which may replace them."""

    def __init__(
        self,
        adata: AnnData,
        named: Named,
        request: Request,
        form: OrderForm,
        *,
        listing: Platform | None,
        catalogue: Named | None,
        options: dict[str, Any],
    ) -> None:
        """Look up the names of a panel, and find what keeps each gene off the order."""
        layer, symbols = request.structure.layer, request.symbols
        self.adata, self.named, self.request, self.form = adata, named, request, form
        #: Genes that cannot replace others, shape (n_genes,)
        self.excluded = names.not_to_choose(adata, None, ignore=request.structure.ignore)
        if named.key is not None:
            self.excluded |= adata.var[f"{named.key}_score"].isna().to_numpy()
        detection = platforms.of_genes(adata, request.platform, layer, symbols)
        self.rows = constraints.rows(
            adata,
            request.limits,
            layer=layer,
            allowed=~self.excluded,
            detection=detection,
            symbols=symbols,
        )
        orderable = platforms.of_genes(adata, listing, layer, symbols).orderable
        self.resolution = resolution = resolved(adata, **options, known=named.ids_of_rows)
        #: Whether a list says which genes have probes
        self.probes_checked = resolution.listed or orderable is not None
        missing = absent(adata, named)
        table = _looked_up(adata, named, missing, resolution, form)
        if orderable is not None:
            out = np.append(~orderable, [False])[table["row"]]  # −1: not in the data
            lacks = (table["fault"] == "") & out
            table["fault"] = table["fault"].mask(lacks, "is no gene of the platform")
            table["unlisted"] |= lacks
        place = {name: adata.n_vars + number for number, name in enumerate(missing)}
        asked_rows = [
            (row, name)
            for name in dict.fromkeys([*named.rows, *missing])
            for row in ([place[name]] if name in place else dict.fromkeys(named.rows[name]))
        ]
        items = table.iloc[[row for row, _ in asked_rows]].reset_index(drop=True)
        #: One row per gene of the data: its ``row`` of ``.var``, its ``name`` there, what that is
        #: (see :meth:`.Resolver.resolve`), and ``fault``, why it cannot be ordered, or ``""``
        self.genes = table.iloc[: adata.n_vars].copy()
        #: The same of the panel, with ``asked``, the name that was asked for, and ``unlisted``,
        #: whether the fault is that there are no probes
        self.items = items.assign(asked=[name for _, name in asked_rows])
        #: Rows of ``.var`` on the catalogue, and genes of the panel that are, if there is one
        self.catalogue: Index = np.zeros(0, dtype=np.intp)
        self.not_ordered: list[str] | None = None
        if catalogue is not None:
            self._leave_out(catalogue)
        if self.rows is not None:
            self.rows = self.rows.sparing(self.catalogue)
        self._find_faults_beside_others()

    def _leave_out(self, catalogue: Named) -> None:
        """Leave the genes of a catalogue out of the order."""
        others = self.resolution.resolver.resolve(catalogue.absent, catalogue.ids(catalogue.absent))
        row = _row_of(others, self.genes)
        self.catalogue = np.union1d(catalogue.genes, row[row >= 0]).astype(np.intp)
        items = self.items
        is_on = (
            items["row"].isin(self.catalogue)
            | items["place"].isin({*others["place"]} - {-1})
            | items["name"].isin(catalogue.absent)
        )
        self.not_ordered = list(items["name"][is_on])
        self.items = items[~is_on].reset_index(drop=True)
        self.genes.loc[self.genes["row"].isin(self.catalogue), "fault"] = "is on the catalogue"

    def _find_faults_beside_others(self) -> None:
        """Find genes that are the same as one before them, or that limits rule out."""
        items, fault = self.items, self.items["fault"].copy()
        good = (fault == "") & (items["place"] >= 0)
        again = good & items["place"].where(good, -1 - items.index.to_series()).duplicated()
        fault[again] = "is the gene of another name before it"
        of_table = items["symbol"] + " (" + items["id"] + ")"
        doubled = (fault == "") & (items["found"] == "double")
        fault[doubled & items["candidates"].isin(of_table)] = NOT_FOUND["double"]
        self.items = items.assign(fault=fault)
        if self.rows is None:
            return
        rows, used = self.rows, self.rows.sums(self.catalogue)
        for at in items.index[(fault == "") & (items["row"] >= 0)]:
            sums = used + rows.sums([items.at[at, "row"]])
            over = np.flatnonzero(sums > np.maximum(rows.most, used))
            if len(over):
                limits = ", ".join(rows.names[row] for row in over)
                self.items.loc[at, "fault"] = f"is ruled out by limits ({limits})"
            else:
                used = sums
        ruled_out = ~rows.allowed & (self.genes["fault"] == "")
        self.genes.loc[ruled_out, "fault"] = "is ruled out by limits"

    @property
    def layer(self) -> str | None:
        """Layer that genes are evaluated by."""
        return self.request.structure.layer

    @property
    def refused(self) -> pd.DataFrame:
        """Genes of the panel that cannot be ordered."""
        return self.items[self.items["fault"] != ""]

    @property
    def accepted(self) -> pd.DataFrame:
        """Genes of the panel that can be ordered."""
        columns_of_order = {"replaces": "", "backup_of": "", "score": np.nan}
        return self.items[self.items["fault"] == ""].assign(**columns_of_order)

    @property
    def orderable(self) -> NDArray[np.bool_]:
        """Whether each gene of the data could be ordered."""
        return np.asarray(self.genes["fault"] == "", dtype=bool)

    def can_join(self, items: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each gene of the data could be ordered beside some, and is none of them."""
        others = ~self.genes["place"].isin({*items["place"]} - {-1})
        return np.asarray(self.orderable & others) & ~self.excluded

    def with_replacements(self, basis: Basis) -> pd.DataFrame:
        """Return the panel, each gene that is refused replaced.

        Those that come in preserve most beside the genes that stay.  Which of them is in the place
        of which gene is decided by substitution scores, in all as large as can be.
        """
        bad, items = self.refused, self.accepted
        stay = np.union1d(_rows(items), self.catalogue)
        may = self.can_join(items)
        may[_rows(bad)] = False
        if may.sum() < len(bad):
            raise InvalidValue(
                "refused",
                "replace",
                f"finds {int(may.sum())} other genes that could be ordered, and {len(bad)} are "
                "needed",
                f"pass {arg('refused', 'drop')}",
            )
        candidates = nearly.apart(self.adata, joining(stay, may, self.rows), self.request)
        panel = best_panel(basis.criterion, len(stay) + len(bad), candidates)
        new = candidates.genes[panel.order[len(stay) : panel.n_selected]]
        of, by, score = in_place_of(basis.criterion, stay, list(bad["row"]), new)
        come = self.genes.iloc[new[by]].set_axis(bad.index[of])
        come = come.assign(
            asked=come["name"], replaces=bad["name"].iloc[of], backup_of="", score=score
        )
        return pd.concat([items, come]).sort_index()

    def backups(self, items: pd.DataFrame, basis: Basis, n_each: int) -> pd.DataFrame:
        """Return the best substitutes of each gene of an order, each once, with what it backs up.

        The best of all genes stand before the second best.
        """
        rows = _rows(items)
        beside = np.setdiff1d(self.catalogue, rows)
        panel = Found(Named.of(self.adata, np.append(rows, beside), self.named.key), basis)
        with panel.few_threads():
            instead = replacements(self.adata, panel, ~self.can_join(items))
        of_genes: dict[int, list[str]] = {}
        scores: dict[int, float] = {}
        for rank in range(n_each):
            for place, row in enumerate(rows):
                for other in instead.best(place, n_each)[rank : rank + 1].tolist():
                    of_genes.setdefault(other, []).append(self.genes["name"].iloc[row])
                    scores[other] = max(scores.get(other, 0.0), instead.score[place, other])
        genes = self.genes.iloc[list(of_genes)]
        genes = genes.assign(
            asked=genes["name"],
            replaces="",
            backup_of=[", ".join(backed) for backed in of_genes.values()],
            score=list(scores.values()),
        )
        return genes[~((genes["place"] >= 0) & genes["place"].duplicated())]


def _rows(items: pd.DataFrame) -> Index:
    """Return the rows of ``.var`` of genes that are in the data."""
    return np.asarray(items["row"][items["row"] >= 0], dtype=np.intp)


def _row_of(frame: pd.DataFrame, genes: pd.DataFrame) -> pd.Series:
    """Return rows of the genes of the data that names stand for, −1 for none."""
    rows = genes[genes["place"] >= 0].set_index("place")["row"]
    return frame["place"].map(rows).fillna(-1).astype(int)


def _looked_up(
    adata: AnnData, named: Named, missing: list[str], resolution: Resolution, form: OrderForm
) -> pd.DataFrame:
    """Return what the genes of the data are, then names that are missing there, with faults."""
    ids_of_rows = named.ids_of_rows
    ids = [ids_of_rows.get(row, "") for row in range(adata.n_vars)] + named.ids(missing)
    others = resolution.resolver.resolve(missing, named.ids(missing))
    table = pd.concat([resolution.frame, others], ignore_index=True)
    of_data = resolution.frame.assign(row=np.arange(adata.n_vars))
    table["row"] = np.append(of_data["row"], _row_of(others, of_data))
    asked_ids = pd.Series(ids, index=table.index, dtype=object)
    other_id = (asked_ids != "") & (table["id"] != asked_ids)
    if not resolution.listed:
        table["id"] = table["id"].mask(other_id, asked_ids)
        table["found"] = table["found"].mask(other_id, "id")
    table["fault"] = _faults(table, resolution, form)
    if resolution.listed:
        not_listed = "has the id " + asked_ids + ", which is not on the list"
        table["fault"] = table["fault"].mask(other_id, not_listed)
    doubtful = table["found"].isin(_DOUBTFUL)
    table["unlisted"] = resolution.listed & (table["fault"] != "") & ~doubtful
    in_data = table["row"] >= 0
    table.loc[in_data, "name"] = adata.var_names[table["row"][in_data]].astype(object)
    return table


def _faults(table: pd.DataFrame, resolution: Resolution, form: OrderForm) -> pd.Series:
    """Return why names that were looked up cannot be ordered, ``""`` where they can."""
    meaning = table["found"].map(NOT_FOUND)
    hints = table["candidates"].where(table["candidates"] != table["name"], "")
    meaning += (" (" + hints + ")").where(hints != "", "")
    counts = resolution.listed or form.needs_ids
    fault = meaning.where(meaning.notna() & (counts | (table["found"] == "date")), "")
    if form.needs_ids:
        fault = fault.mask((fault == "") & (table["id"] == ""), "has no Ensembl id")
    if resolution.n_probes is not None:
        n_probes = np.append(resolution.n_probes, [np.inf])[table["place"]]  # −1: in no table
        fault = fault.mask((fault == "") & (n_probes < 1), "has no probes")
    return fault


def _replaced(bad: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row per gene that was refused, with what is ordered in its place; log these."""
    come = items[items["replaces"] != ""].reindex(bad.index)
    replaced = pd.DataFrame(
        {
            "gene": bad["name"],
            "reason": bad["fault"],
            "substitute": come["symbol"].where(come["symbol"] != "", come["name"]).fillna(""),
            "substitution_score": come["score"],
        }
    ).reset_index(drop=True)
    faults = [
        f"{row.gene} {row.reason}" + (f", {row.substitute} in its place" if row.substitute else "")
        for row in replaced.itertuples()
    ]
    if faults:
        log.warning(
            Message(f"{len(faults)} genes cannot be ordered: {listed(faults, len(faults))}.")
        )
    return replaced


def _table(
    draft: Draft, items: pd.DataFrame, types: Labels | None, counts: RowMatrix | None
) -> pd.DataFrame:
    """Return the order: one row per gene, and below them one per backup."""
    adata, named = draft.adata, draft.named
    mean_count = np.full(adata.n_vars + 1, np.nan)
    if counts is not None:
        shares = np.full((adata.n_obs, 1), 1.0 / adata.n_obs)
        mean_count[:-1] = counts.weighted_sums(shares)[:, 0]
    n_probe_sets: dict[str, Any] = {}
    forced: dict[str, Any] = {}
    if named.file is not None and "force" in named.file.table:
        n_probe_sets, forced = named.in_file("n_probe_sets"), named.in_file("force")
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(items) + 1),
            "gene": items["symbol"].where(items["symbol"] != "", items["name"]),
            "id": items["id"],
            "name": items["name"],
            "group": _groups(draft, items, types),
            "source": _sources(draft, items),
            "replaces": items["replaces"],
            "backup_of": items["backup_of"],
            "n_probe_sets": [int(n_probe_sets.get(name, 0)) for name in items["asked"]],
            "forced": [str(forced.get(name)).casefold() in _FORCED for name in items["asked"]],
            "mean_count": mean_count[items["row"]],
        }
    )


def _groups(draft: Draft, items: pd.DataFrame, types: Labels | None) -> pd.Series:
    """Return the group of each gene: that of the file, else the label of its highest mean, else "".

    A backup is in the group of the first gene that it backs up.
    """
    in_file = draft.named.in_file("group")
    group = items["asked"].map(lambda name: str(in_file.get(name, "")))
    is_in_data = items["row"] >= 0
    where = None
    if types is not None and is_in_data.any():
        where = expression.of_genes(draft.adata, _rows(items), types, draft.layer)
    if where is not None:
        highest = np.array(where.labels, dtype=object)[where.means_in.argmax(axis=1)]
        group[is_in_data & (group == "")] = highest[(group == "")[is_in_data]]
    of_names = dict(zip(items["name"], group, strict=True))
    first = items["backup_of"].str.partition(", ")[0]
    return group.mask(first != "", first.map(of_names))


def _sources(draft: Draft, items: pd.DataFrame) -> pd.Series:
    """Return where each gene is from."""
    key = draft.named.key
    source = pd.Series("listed" if key is None else "selected", index=items.index)
    entry = {} if key is None else draft.adata.uns.get(key, {})
    for column, word in (("adds", "added"), ("replaced_by", "replacement")):
        if column in entry.get("table", ()):
            new = entry["table"]["gene" if column == "adds" else column]
            source = source.mask(items["name"].isin(np.atleast_1d(new)), word)
    included = np.append(must_haves(draft.adata, draft.named), [False])[items["row"]]
    source = source.mask(included, "included").mask(items["replaces"] != "", "replacement")
    return source.mask(items["backup_of"] != "", "backup")


def _notes(table: pd.DataFrame, items: pd.DataFrame, draft: Draft) -> pd.DataFrame:
    """Return what is to be looked at: a row per gene, a column per kind, ``""`` for nothing."""
    share = table["mean_count"] / table["mean_count"][table["source"] != "backup"].sum()
    texts = {
        "names": items["name"] + " is " + table["gene"],
        "symbols": table["gene"] + " was also a symbol of " + items["candidates"],
        "unknown": items["name"] + " " + items["found"].map(NOT_FOUND),
        "data": pd.Series("not in the data", index=items.index),
        "families": _families(table, items, draft),
        "abundance": share.map("{:.0%} of the counts of the order".format),
        "backups": items["score"].map("substitution score {:.2f}".format),
    }
    is_backup = table["source"] == "backup"
    holds = {
        "names": items["found"].isin(CHANGED),
        "symbols": (items["place"] >= 0) & (items["candidates"] != ""),
        "unknown": items["found"].isin(NOT_FOUND),
        "data": items["row"] < 0,
        "families": [True] * len(items),
        "abundance": ~is_backup & (share > _ABUNDANT),
        "backups": is_backup,
    }
    return pd.DataFrame({kind: text.where(holds[kind], "") for kind, text in texts.items()})


def _families(table: pd.DataFrame, items: pd.DataFrame, draft: Draft) -> pd.Series:
    """Return which genes of the order share a family of the list, or nearly a sequence."""
    members: dict[str, list[int]] = {}
    families = draft.resolution.resolver.genes.get("family")
    for row in np.flatnonzero(table["source"] != "backup").tolist():
        place = items["place"][row]
        if families is not None and place >= 0 and families[place]:
            members.setdefault(f"the family {families[place]}", []).append(row)
        of_set = nearly.set_of(table["gene"][row]) or nearly.set_of(table["id"][row])
        if of_set is not None:
            members.setdefault(f"nearly the sequence of {of_set}", []).append(row)
    notes: list[list[str]] = [[] for _ in range(len(table))]
    for shared, rows in members.items():
        for row in rows if len(rows) > 1 else ():
            notes[row].append(f"{len(rows)} genes of {shared}")
    return pd.Series(["; ".join(note) for note in notes], index=table.index)


def _checks(table: pd.DataFrame, notes: pd.DataFrame, draft: Draft) -> pd.DataFrame:
    """Return what was checked, and which genes it is about: one row per check."""
    ordered = table[table["source"] != "backup"]
    noted = {kind: list(ordered["gene"][notes[kind][ordered.index] != ""]) for kind in notes}
    rows, bad = draft.rows, draft.refused
    short = None
    if rows is not None:
        panel = draft.genes["name"].isin(ordered["name"])
        panel |= draft.genes["row"].isin(draft.catalogue)
        lacks = rows.sums(np.flatnonzero(panel)) < rows.lower
        short = [name for name, low in zip(rows.names, lacks, strict=True) if low]
    about: dict[str, tuple[str, Sequence[str] | None]] = {
        "names": ("found under another name, past or present", noted["names"]),
        "ids": ("without an Ensembl id", list(ordered["gene"][ordered["id"] == ""])),
        "refused": (
            "that cannot be ordered, as the list has no probes for them",
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
            noted["families"],
        ),
        "abundance": (
            f"with more than {_ABUNDANT:.0%} of the counts of the order",
            noted["abundance"] if table["mean_count"].notna().any() else None,
        ),
    }
    lines = [
        (check, text, genes is not None, len(genes or ()), ", ".join(genes or ()))
        for check, (text, genes) in about.items()
    ]
    return pd.DataFrame(lines, columns=["check", "about", "checked", "n", "genes"])
