"""A panel as it is ordered: checked gene by gene, with what replaces a gene that cannot be."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, constraints, expression, names, read, results, summaries
from .._anndata import platform as platforms
from .._anndata.names import Named
from .._anndata.tool import Result, tool
from ..data.threads import few_threads
from ..errors import InvalidValue, listed, note, quoted
from ..options import Platform, canonical_name
from ..selection import best_panel
from ..vendors.genes import as_genes
from ..vendors.names import NOT_FOUND, Resolver, versionless
from ._panel import (
    GenePanel,
    absent,
    basis_of,
    find_substitutes,
    in_place_of,
    joining,
    must_haves,
    no_candidates,
    request_for,
    say_overridden,
)
from ._resolve import CHANGED, names_and_ids

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Index
    from ..data.matrix import RowMatrix
    from ..labels import Labels
    from ..options import Limits, Request
    from ._panel import Basis

#: How files of orders mark a gene that is to be designed whatever the checks of the vendor say.
_FORCED = {"forced", "force", "true", "t", "yes", "y", "x", "1"}
#: A gene with a larger share of the counts of an order is noted: alone it fills an image.
_ABUNDANT = 0.2
#: The table of an order.
_COLUMNS = ["rank", "gene", "id", "name", "group", "source", "replaces", "backup_of"]
_COLUMNS += ["n_probe_sets", "forced", "mean_count", "note"]
#: Ways not to be found that say nothing of probes.
_DOUBTFUL = ("ambiguous", "double", "date", "foreign")
#: What a platform says of genes it lacks.
_NOT_OF_PLATFORM = "is no gene of the platform"
#: Which genes two checks name.
_ABOUT_DOUBTFUL = "that cannot be ordered, as they are ambiguous, doubled, or out of limits"
_ABOUT_FAMILIES = "of nearly one sequence, which no probe tells apart"
#: What no gene of human or mouse has for an id: the first digits are zeros.
_IMPOSSIBLE = r"ENS(MUS)?G(?!00000)\d{11}"


class OrderForm(NamedTuple):
    """What the orders of a platform are called, and what can be asked of them."""

    title: str
    #: Endings of its files.
    endings: tuple[str, ...] = (".csv",)
    #: Whether a gene without an Ensembl id cannot be ordered.
    needs_ids: bool = False
    #: Most probe sets of a gene; 0: they cannot be asked for, nor can a gene be forced.
    most_probe_sets: int = 0
    #: Most genes of a panel, and of an addition to one; 0: no maximum is public.
    most_genes: int = 0
    most_added: int = 0


#: By the names of platforms.  Numbers of genes: UC Davis Bioinformatics Core, Spatial
#: Transcriptomics, March 2025; of probe sets: 10x Genomics, Xenium Panel Design Concepts and Terms.
ORDERS = {
    "xenium_v1": OrderForm("10x custom gene list (Xenium v1)", (".csv",), True, 8, 480, 100),
    "xenium_prime": OrderForm("10x custom gene list (Xenium Prime)", (".csv",), True, 6, 0, 100),
    "merscope": OrderForm("MERSCOPE gene table", most_genes=1000),
    "cosmx": OrderForm("CosMx gene list", (".xlsx",)),
    "sheet": OrderForm("order sheet", (".csv", ".tsv", ".xlsx")),
}


@tool("order", summaries.order)
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
) -> Result:
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
        list.  10x Genomics publishes those of Xenium, as tables of species, Ensembl ids and
        symbols; the export of Vizgen's design portal is that of MERSCOPE.  None: whether there are
        probes is not checked, as a note says, except by a `platform` that has genes.
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
    <ids>
    <key_added by a panel> _order
        Columns in ``.var`` begin with it.
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
    if platform is not None:
        checks.one_of("platform", canonical_name(platform), ORDERS)
    checks.one_of("refused", refused, ("raise", "replace", "drop"))
    checks.whole_number("backups", backups, at_least=0)
    lookup = partial(names.panel, adata, symbols=symbols, missing=None)
    on_catalogue = Named({}) if catalogue is None else lookup(catalogue, argument="catalogue")
    panel = lookup(panel)
    request = request_for(adata, panel.key, limits=limits, symbols=symbols)
    platform_name, listing = _platform(platform, request.platform)
    types = None if labels is None else columns.labels(adata, labels)
    counts = None if counts_layer is None else read.counts(adata, counts_layer)
    form = ORDERS[platform_name]
    draft = Draft(adata, panel, request, genes, ids, listing, needs_ids=form.needs_ids)
    draft.leave_out(on_catalogue)
    draft.find_faults_beside_others()
    bad, items = draft.refused, draft.accepted
    if len(bad) and refused == "raise":
        faults = listed(bad["name"] + " " + bad["fault"])
        faults = draft.resolver.of_other_species(panel.names) or f"{faults}: correct them"
        text = f"`panel` has genes that cannot be ordered ({form.title}): {faults}"
        raise InvalidValue(f"{text}, or pass `refused='replace'` or `refused='drop'`")
    if len(bad) and refused == "replace":
        items = draft.with_replacements()
    if items.empty:
        raise InvalidValue("`panel` has no gene to order: name other genes")
    check_size(len(items), platform_name, adds=catalogue is not None)
    replaced = _replaced(bad, items)
    if backups:
        items = pd.concat([items, draft.backups(items, backups)])
    items = items.reset_index(drop=True)
    table = _table(draft, items, types, counts)
    notes = _notes(table, items, draft)
    table["note"] = ["; ".join(filter(None, row)) for row in notes.to_numpy()]
    say_overridden(adata, panel.key, request)
    if not draft.probes_checked:
        note(f"No list of genes is given ({form.title}): name it with `genes` to check for probes.")
    content = {"table": table, "checks": _checks(table, notes, draft), "replaced": replaced}
    content |= {"platform": platform_name, "species": draft.resolver.species}
    params = {"refused": refused, "backups": backups, "labels": labels, "limits": request.limits}
    made_of = results.made_of(adata, draft.layer, [panel.key_and_genes])
    order = results.envelope("order", params, made_of, **content)
    of_genes = {f"{key_added}_{name}": draft.genes[name].to_numpy() for name in ("symbol", "id")}
    return Result(order, var=of_genes | {f"{key_added}_orderable": draft.orderable})


def _platform(
    platform: str | Platform | None, of_selection: Platform | None
) -> tuple[str, Platform | None]:
    """Return whose order it is, and the platform that says which genes can be ordered."""
    listing = platform if isinstance(platform, Platform) else of_selection
    name = canonical_name(listing if platform is None else platform)
    if name not in (None, *ORDERS):
        note(f"{quoted(name)} has no form: this is the order sheet.")
        name = None
    return name or "sheet", listing if canonical_name(listing) in (None, name) else None


def check_size(n_genes: int, platform: str, *, adds: bool = False) -> None:
    """Refuse an order of more genes than a platform takes, alone or beside a catalogue."""
    form = ORDERS[platform]
    most = form.most_added if adds else form.most_genes
    if n_genes > most > 0:
        raise InvalidValue(f"`panel` has {n_genes} genes: a {form.title} takes {most} at most")


class Draft:
    """A panel before it is ordered: which genes cannot be, and which may replace them."""

    def __init__(
        self,
        adata: AnnData,
        panel: Named,
        request: Request,
        genes: Any,
        ids: str | None,
        listing: Platform | None,
        *,
        needs_ids: bool,
    ) -> None:
        """Find what keeps each gene of the data and of a panel off the order, on its own."""
        self.adata, self.panel, self.request = adata, panel, request
        self.layer, symbols = request.structure.layer, request.symbols
        ignore = names.settled(adata, request, "ignore").structure.ignore
        #: Genes that cannot replace others, shape (n_genes,)
        self.excluded = no_candidates(adata, panel.key, ignore)
        detection = platforms.of_genes(adata, request.platform, self.layer, symbols)
        self.rows = constraints.rows(adata, request, allowed=~self.excluded, detection=detection)
        listed_genes = platforms.of_genes(adata, listing, self.layer, symbols).orderable
        missing = absent(adata, panel)
        table = self._table_of_names(missing, genes, ids)
        #: Whether a list says which genes have probes
        self.probes_checked = self.resolver.is_list or listed_genes is not None
        table["fault"] = _faults(table, self.resolver, needs_ids, listed_genes)
        unlisted = self.resolver.is_list & (table["fault"] != "") & ~table["found"].isin(_DOUBTFUL)
        table["unlisted"] = unlisted | (table["fault"] == _NOT_OF_PLATFORM)
        #: One row per gene of the data: its ``row`` of ``.var``, its ``name`` there, what that is
        #: (see :meth:`.Resolver.resolve`), and ``fault``, why it cannot be ordered, or ``""``
        self.genes = table.iloc[: adata.n_vars].copy()
        rows = dict(panel.rows) | {name: [adata.n_vars + k] for k, name in enumerate(missing)}
        pairs = dict.fromkeys((row, name) for name in rows for row in rows[name])
        names_asked_for = pd.Series([name for _, name in pairs], dtype=object)
        #: The same of the panel, with ``unlisted``, whether the fault is that there are no probes,
        #: and with what its file says
        self.items = table.iloc[[row for row, _ in pairs]].reset_index(drop=True)
        for column in ("group", "n_probe_sets", "force"):
            self.items[column] = names_asked_for.map(panel.in_file(column))

    def _table_of_names(self, missing: list[str], genes: Any, ids: str | None) -> pd.DataFrame:
        """Return what the genes of the data are, and below them names that these lack."""
        adata, ids_of_file = self.adata, self.panel.in_file("id")
        by_row = {row: ids_of_file[name] for name in ids_of_file for row in self.panel.rows[name]}
        called, gene_ids = names_and_ids(adata, self.request.symbols, ids)
        gene_ids = [by_row.get(row, gene_id) for row, gene_id in enumerate(gene_ids)]
        vendor = None if genes is None else as_genes(genes, "genes")
        self.resolver = Resolver([*called, *filter(None, gene_ids)], vendor)
        of_data = self.resolver.resolve(called, gene_ids, annotated=True)
        of_data = of_data.assign(row=np.arange(adata.n_vars), name=adata.var_names)
        of_data["file_id"] = of_data["row"].map(by_row)
        tables = [of_data, self._look_up(missing, self.panel, of_data)]
        return _with_ids_of_file(pd.concat(tables, ignore_index=True), self.resolver)

    def _look_up(self, missing: list[str], panel: Named, of_data: pd.DataFrame) -> pd.DataFrame:
        """Return what names are that the data lack, and which of its genes they stand for."""
        ids = panel.in_file("id")
        ids_of_missing = [ids.get(name, "") for name in missing]
        table = self.resolver.resolve(missing, ids_of_missing).assign(file_id=ids_of_missing)
        in_table = of_data[of_data["place"] >= 0].set_index("place")
        table["row"] = table["place"].map(in_table["row"]).fillna(-1).astype(int)
        table["name"] = table["place"].map(in_table["name"]).fillna(table["name"])
        return table

    @cached_property
    def basis(self) -> Basis:
        """What genes that replace others, or back them up, are chosen by."""
        results.check_genes(self.adata, self.panel.key, "panel")
        return basis_of(self.adata, self.request)

    def leave_out(self, catalogue: Named) -> None:
        """Leave the genes of a catalogue, which may have none, out of the order."""
        missing, items = self._look_up(catalogue.absent, catalogue, self.genes), self.items
        #: Rows of ``.var`` on the catalogue, and genes of the panel that are; None: there is none
        self.catalogue = np.union1d(catalogue.genes, _rows(missing))
        is_on = items["row"].isin(self.catalogue) | items["name"].isin(catalogue.absent)
        is_on |= items["place"].isin({*missing["place"]} - {-1})
        self.not_ordered = items["name"][is_on] if catalogue.names else None
        self.items = items[~is_on].reset_index(drop=True)
        self.genes.loc[self.genes["row"].isin(self.catalogue), "fault"] = "is on the catalogue"

    def find_faults_beside_others(self) -> None:
        """Find genes that are the same as one before them, or that limits rule out."""
        items, fault = self.items, self.items["fault"].copy()
        positions = items["place"].where((fault == "") & (items["place"] >= 0))
        fault[positions.notna() & positions.duplicated()] = "is the gene of another name before it"
        of_table = items["symbol"] + " (" + items["id"] + ")"
        doubled = (fault == "") & (items["found"] == "double")
        fault[doubled & items["candidates"].isin(of_table)] = NOT_FOUND["double"]
        if self.rows is not None:
            self.rows = rows = self.rows.sparing(self.catalogue)
            used = rows.sums(self.catalogue)
            for at in items.index[(fault == "") & (items["row"] >= 0)]:
                sums = used + rows.sums([items["row"][at]])
                over = np.compress(sums > np.maximum(rows.most, used), rows.names)
                fault[at] = f"is ruled out by limits ({', '.join(over)})" if len(over) else ""
                used = used if len(over) else sums
            ruled_out = ~rows.allowed & (self.genes["fault"] == "")
            self.genes.loc[ruled_out, "fault"] = "is ruled out by limits"
        items = items.assign(fault=fault)
        #: Genes of the panel that cannot be ordered, and those that can
        self.refused, accepted = items[fault != ""], items[fault == ""]
        self.accepted = accepted.assign(replaces="", backup_of="", score=np.nan)
        #: Whether each gene of the data could be ordered
        self.orderable = np.asarray(self.genes["fault"] == "", dtype=bool)

    def can_join(self, items: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each gene of the data could be ordered beside some, and is none of them."""
        is_new = ~self.genes["place"].isin({*items["place"]} - {-1})
        return np.asarray(self.orderable & is_new) & ~self.excluded

    def with_replacements(self) -> pd.DataFrame:
        """Return the panel, each gene that is refused replaced.

        Those that come in preserve most beside the genes that stay.  Which of them is in the place
        of which gene is decided by substitution scores, in all as large as can be.
        """
        bad, items, criterion = self.refused, self.accepted, self.basis.criterion
        stay = np.union1d(_rows(items), self.catalogue)
        may = self.can_join(items)
        may[_rows(bad)] = False
        if may.sum() < len(bad):
            text = f"`refused='replace'` finds {may.sum()} of {len(bad)} genes"
            raise InvalidValue(f"{text}: pass `refused='drop'`")
        problem = names.one_of_each_set(self.adata, joining(stay, may, self.rows), self.request)
        problem = replace(problem, criterion=criterion, n_genes=len(stay) + len(bad))
        with few_threads(criterion.rank):
            panel = best_panel(problem)
        new = problem.genes[panel.order[len(stay) : panel.n_selected]]
        of, by, score = in_place_of(criterion, stay, list(bad["row"]), new)
        come = self.genes.iloc[new[by]].set_axis(bad.index[of])
        come = come.assign(replaces=bad["name"].iloc[of], backup_of="", score=score)
        return pd.concat([items, come]).sort_index()

    def backups(self, items: pd.DataFrame, n_each: int) -> pd.DataFrame:
        """Return the best substitutes of each gene of an order, each once, with what it backs up.

        The best of all genes stand before the second best.
        """
        rows = _rows(items)
        genes = np.append(rows, np.setdiff1d(self.catalogue, rows))
        panel = GenePanel(Named.of(self.adata, genes, self.panel.key), self.basis)
        with few_threads(self.basis.criterion.rank):
            table, _ = find_substitutes(self.adata, panel, ~self.can_join(items), n_each)
        table = table[table["gene"].isin(self.adata.var_names[rows])]  # not of the catalogue
        table = table.rename(columns={"gene": "backup_of", "substitution_score": "score"})
        by_substitute = table.sort_values("rank", kind="stable").groupby("substitute", sort=False)
        backed = by_substitute.agg({"backup_of": ", ".join, "score": "max"})
        spare = backed.join(self.genes.set_index("name", drop=False)).assign(replaces="")
        return spare[~((spare["place"] >= 0) & spare["place"].duplicated())]


def _rows(items: pd.DataFrame) -> Index:
    """Return the rows of ``.var`` of genes that are in the data."""
    return np.asarray(items["row"][items["row"] >= 0], dtype=np.intp)


def _with_ids_of_file(table: pd.DataFrame, resolver: Resolver) -> pd.DataFrame:
    """Return what genes are with the ids of a file, and ``other_id``, where the table has another.

    Ids are those of Ensembl for the species, or such as the table has; any other text is none.
    """
    ids = table["file_id"].astype(object).fillna("")
    other_ids = ids.where((ids.map(versionless) != "") & (ids != table["id"]), "")
    is_id = (other_ids != "") & ~other_ids.str.fullmatch(_IMPOSSIBLE) & (table["found"] != "double")
    is_id &= ~other_ids.map(resolver.is_of_other_species) & (not resolver.is_list)
    ways = table["found"].mask(is_id, "id")
    return table.assign(other_id=other_ids, id=table["id"].mask(is_id, other_ids), found=ways)


def _faults(
    table: pd.DataFrame, resolver: Resolver, needs_ids: bool, listed_genes: NDArray[np.bool_] | None
) -> pd.Series:
    """Return why names that were looked up cannot be ordered, ``""`` where they can."""
    fault = pd.Series("", index=table.index, dtype=object)
    if listed_genes is not None:  # −1: not in the data
        fault[~np.append(listed_genes, [True])[table["row"]]] = _NOT_OF_PLATFORM
    if resolver.n_probes is not None:  # −1: in no table
        fault[np.append(resolver.n_probes, [np.inf])[table["place"]] < 1] = "has no probes"
    no_id, has_other = needs_ids & (table["id"] == ""), table["other_id"] != ""
    fault[no_id] = "has no Ensembl id"
    hints = table["candidates"].where(table["candidates"] != table["name"], "")
    meaning = table["found"].map(NOT_FOUND) + (" (" + hints + ")").where(hints != "", "")
    is_checked = resolver.is_list | needs_ids | (table["found"] == "date")
    fault = fault.mask(meaning.notna() & is_checked, meaning)
    other_id = "has the id " + table["other_id"]
    fault = fault.mask(no_id & has_other, other_id + ", which it cannot have")
    return fault.mask(resolver.is_list & has_other, other_id + ", which is not on the list")


def _replaced(bad: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return one row per gene that was refused, with what is ordered in its place; log these."""
    come = items[items["replaces"] != ""].reindex(bad.index)
    table = pd.DataFrame({"gene": bad["name"], "reason": bad["fault"]})
    table["substitute"] = come["symbol"].where(come["symbol"] != "", come["name"]).fillna("")
    table["substitution_score"] = come["score"]
    if len(bad):
        in_place = (", " + table["substitute"] + " in its place").where(come["name"].notna(), "")
        texts = table["gene"] + " " + table["reason"] + in_place
        note(f"Genes that cannot be ordered: {listed(texts, len(bad))}.")
    return table.reset_index(drop=True)


def _table(
    draft: Draft, items: pd.DataFrame, types: Labels | None, counts: RowMatrix | None
) -> pd.DataFrame:
    """Return the order but for its notes: one row per gene, and below them one per backup."""
    adata, panel = draft.adata, draft.panel
    mean_count = np.full(adata.n_vars + 1, np.nan)
    if counts is not None:
        mean_count[:-1] = counts.weighted_sums(np.full((adata.n_obs, 1), 1.0 / adata.n_obs))[:, 0]
    is_order = "force" in panel.table
    return items.assign(
        rank=np.arange(1, len(items) + 1),
        gene=items["symbol"].where(items["symbol"] != "", items["name"]),
        group=_groups(draft, items, types),
        source=_sources(draft, items),
        n_probe_sets=items["n_probe_sets"].fillna(0).astype(int) if is_order else 0,
        forced=items["force"].astype(str).str.casefold().isin(_FORCED),
        mean_count=mean_count[items["row"]],
        note="",
    )[_COLUMNS]


def _groups(draft: Draft, items: pd.DataFrame, types: Labels | None) -> pd.Series:
    """Return the group of each gene: of the file, its highest mean, or the gene it backs up."""
    group = items["group"].astype(object).fillna("").astype(str)
    to_name = (items["row"] >= 0) & (group == "")
    if types is not None and to_name.any():
        rows = items["row"][to_name].to_numpy(dtype=np.intp)
        where = expression.of_genes(draft.adata, rows, types, draft.layer)
        if not where.negative:
            group[to_name] = np.array(where.labels, dtype=object)[where.means[:, 1:].argmax(axis=1)]
    of_names = dict(zip(items["name"], group, strict=True))
    first = items["backup_of"].str.partition(", ")[0]
    return group.mask(first != "", first.map(of_names))


def _sources(draft: Draft, items: pd.DataFrame) -> pd.Series:
    """Return where each gene is from."""
    key = draft.panel.key
    table = results.record(draft.adata, key).get("table", ())
    source = pd.Series("listed" if key is None else "selected", index=items.index, dtype=object)
    if "adds" in table:
        source[items["name"].isin(table["gene"])] = "added"
    source[np.append(must_haves(draft.adata, draft.panel), [False])[items["row"]]] = "included"
    if "replaces" in table:
        in_place = table["gene"][table["replaces"] != ""]
        source[items["name"].isin(in_place)] = "replacement"
    source[items["replaces"] != ""] = "replacement"
    source[items["backup_of"] != ""] = "backup"
    return source


def _notes(table: pd.DataFrame, items: pd.DataFrame, draft: Draft) -> pd.DataFrame:
    """Return what is to be looked at: a row per gene, a column per kind, ``""`` for nothing."""
    is_backup, gene = table["source"] == "backup", table["gene"]
    share = table["mean_count"] / table["mean_count"][~is_backup].sum()
    way, candidates, other_id = items["found"], items["candidates"], items["other_id"]
    had_symbol = (items["place"] >= 0) & (candidates != "")
    shares = share.map("{:.0%} of the counts of the order".format)
    impossible = other_id.str.fullmatch(_IMPOSSIBLE)
    sets = gene.map(names.set_alike).fillna(table["id"].map(names.set_alike))
    n_alike = sets.map(sets[~is_backup].value_counts())
    alike = n_alike.map("{:.0f} genes of nearly the sequence of ".format) + sets.astype(str)
    notes: dict[str, tuple[Any, pd.Series | str]] = {
        "names": (way.isin(CHANGED), items["name"] + " is " + gene),
        "symbols": (had_symbol, gene + " was also a symbol of " + candidates),
        "unknown": (way.isin(NOT_FOUND), items["name"] + " " + way.map(NOT_FOUND)),
        "ids": (impossible, other_id + " is no id that Ensembl can have"),
        "data": (items["row"] < 0, "not in the data"),
        "families": (~is_backup & (n_alike > 1), alike),
        "abundance": (~is_backup & (share > _ABUNDANT), shares),
        "backups": (is_backup, items["score"].map("substitution score {:.2f}".format)),
    }
    return pd.DataFrame({kind: np.where(holds, text, "") for kind, (holds, text) in notes.items()})


def _checks(table: pd.DataFrame, notes: pd.DataFrame, draft: Draft) -> pd.DataFrame:
    """Return what was checked, and which genes it is about: one row per check."""
    gene = table["gene"][table["source"] != "backup"]
    bad, limits = draft.refused, None
    if draft.rows is not None:
        is_in_panel = draft.genes["name"].isin(gene) | draft.genes["row"].isin(draft.catalogue)
        sums = draft.rows.sums(np.flatnonzero(is_in_panel))
        limits = np.compress(sums < draft.rows.lower, draft.rows.names)
    loud = gene[notes["abundance"] != ""] if table["mean_count"].notna().any() else None
    unlisted = bad["name"][bad["unlisted"]] if draft.probes_checked else None
    checks_made = [
        ("names", "found under another name, past or present", gene[notes["names"] != ""]),
        ("ids", "without an Ensembl id", gene[table["id"] == ""]),
        ("refused", "that cannot be ordered, as the list has no probes for them", unlisted),
        ("doubtful", _ABOUT_DOUBTFUL, bad["name"][~bad["unlisted"]]),
        ("catalogue", "on the catalogue, and not ordered", draft.not_ordered),
        ("limits", "limits on the whole panel that are not met", limits),
        ("families", _ABOUT_FAMILIES, gene[notes["families"] != ""]),
        ("abundance", f"with more than {_ABUNDANT:.0%} of the counts of the order", loud),
    ]
    rows = []
    for check, about, genes in checks_made:
        texts = [] if genes is None else list(genes)
        rows.append((check, about, genes is not None, len(texts), ", ".join(texts)))
    return pd.DataFrame(rows, columns=["check", "about", "checked", "n", "genes"])
