"""Orders of panels, and the single-cell reference that goes with one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, read, results
from .._docs import documented
from .._extras import needs
from .._files import as_path, check_target, replacing
from .._progress import with_bar
from ..data.matrix import RowMatrix
from ..errors import ADATA, NO_VALUE, OBS_NAMES, InvalidValue, Message, call, listed, naming
from ..tl import order_panel
from ..vendors import orders, sheets

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

    from ..options import Platform

log = logging.getLogger(__name__)

#: What 10x Genomics takes.
_LARGEST = 2e9


@documented
def write_order(
    adata: AnnData,
    path: str | Path,
    platform: str | Platform | None = None,
    *,
    key: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write the order of a panel, in the form that its platform has.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with an order of :func:`~glfs_bio.tl.order_panel`, or with a selection.
    path : str or Path
        File to write.  ``"xenium_v1"`` and ``"xenium_prime"``: ``.csv`` with the columns
        ``Gene,Ensembl ID,Probe sets,Force``.  ``"merscope"``: ``.csv``; ``"cosmx"``: ``.xlsx`` laid
        out as the lists that CosMx publishes; both are tables of genes to send, as what these
        vendors take is not public.  ``"sheet"``: ``.csv``, ``.tsv`` or ``.xlsx`` with all that is
        known of each gene.
    platform : str or Platform, default None
        Form to write, one of these.  None: that of the order.
    key : str, default None
        Key of an order, or of a selection, which is then ordered as ``tl.order_panel`` does by
        default.  None: the last order, and without one the selection ``"glfs"``.
    <overwrite>

    Raises
    ------
    ValueError
        If the order is outdated, has genes that cannot be ordered, or a name would change when it
        is read again.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5, exclude="ribosomal")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "order.csv"
    ...     glfs_bio.io.write_order(adata, path, "xenium_v1")
    ...     print(path.read_text().splitlines()[0])
    ...     panel = glfs_bio.io.read_panel(path)
    Gene,Ensembl ID,Probe sets,Force
    >>> len(panel), panel.form
    (5, '10x custom gene list')
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    read.check(adata)
    checks.texts(key=key, or_none=True)
    named: Any = platform
    name: str | None = getattr(named, "name", named)
    if name is not None:
        checks.one_of("platform", name, orders.ORDERS)
    if key is None:
        key = results.last(adata, "order")
        key = key if key in adata.uns else results.KEY
    stored = f"{key}_selected" not in adata.var
    if stored:
        entry = results.current(adata, key, "order")
        name = str(entry["platform"]) if name is None else name
    else:
        name = "sheet" if name is None else name
    form = orders.ORDERS[name]
    form.check_file(path)
    if path.suffix.lower() == ".xlsx":
        needs("An .xlsx file", "openpyxl")
    table: Any = entry["table"] if stored else order_panel(adata, key, name, inplace=False)
    lacking = table["gene"][table["id"] == ""]
    if form.needs_ids and len(lacking):
        raise InvalidValue(
            "platform",
            name,
            f"needs an Ensembl id of every gene, and {', '.join(lacking[:3])} has none",
            f"make the order for this platform with {call('tl.order_panel')}",
        )
    sheets.check_names(table["gene"], path)
    form.write(table, path, overwrite=overwrite)


@with_bar
@documented
def write_reference(
    adata: AnnData,
    path: str | Path,
    labels: str,
    *,
    counts_layer: str = "counts",
    ids: str | None = None,
    symbols: str | None = None,
    max_bytes: float = _LARGEST,
    random_state: int | None = 0,
    overwrite: bool = False,
) -> None:
    """Write the single-cell reference that 10x Genomics takes with an order.

    A zip file of ``matrix.mtx.gz``, ``features.tsv.gz``, ``barcodes.tsv.gz`` and ``celltypes.csv``
    (``barcode,annotation``).  Where the cells do not fit into `max_bytes`, some of them are drawn:
    of the types with most cells fewer, and of rare types all.

    Parameters
    ----------
    adata : AnnData
        Cells × genes.
    path : str or Path
        File to write, ``.zip``.
    labels : str
        Column of ``.obs`` with the cell types; cells without one are left out.
    counts_layer : str, default "counts"
        Layer of raw counts, or ``"X"``.
    ids : str, default None
        Column of ``.var`` with Ensembl ids; genes without one are left out.  None: that of the last
        :func:`~glfs_bio.tl.order_panel`, else of :func:`~glfs_bio.tl.resolve_genes`.
    symbols : str, default None
        Column of ``.var`` with symbols.  None: ``.var_names``.
    max_bytes : float, default 2e9
        Largest size of the file.
    random_state : int, default 0
        Seed of the cells that are drawn.
    <overwrite>

    Raises
    ------
    ValueError
        If two genes have one id, two cells have one name, or `max_bytes` has no room for a cell of
        every type.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, zipfile, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> adata.layers["counts"] = adata.X.ceil()  # raw counts of your own
    >>> glfs_bio.tl.resolve_genes(adata)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "reference.zip"
    ...     glfs_bio.io.write_reference(adata, path, "bulk_labels")
    ...     zipfile.ZipFile(path).namelist()
    ['matrix.mtx.gz', 'features.tsv.gz', 'barcodes.tsv.gz', 'celltypes.csv']
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    checks.number("max_bytes", max_bytes, above=0.0)
    checks.seed(random_state)
    if path.suffix.lower() != ".zip":
        raise InvalidValue("path", str(path), "must end with .zip")
    read.unique_names(adata)
    checks.texts(symbols=symbols, or_none=True)
    codes, categories = columns.labels(adata, labels)
    checks.texts(ids=ids, or_none=True)
    if ids is None:
        order = results.last(adata, "order")
        ids = f"{order if order in adata.uns else results.last(adata, 'names')}_id"
    with naming(symbols="ids"):
        gene_ids = read.symbols(adata, ids).fillna("").to_numpy()
    names = adata.var_names if symbols is None else read.find(adata, "var", symbols, "symbols")
    counts = read.counts(adata, counts_layer)
    genes, cells = np.flatnonzero(gene_ids != ""), np.flatnonzero(codes >= 0)
    read.text_names(adata.obs_names, OBS_NAMES)
    barcodes = adata.obs_names[cells]
    if not barcodes.is_unique:
        raise InvalidValue(
            "adata",
            NO_VALUE,
            f"has duplicate cell names in {OBS_NAMES} "
            f"({listed(barcodes[barcodes.duplicated()].unique())})",
            "make them unique first",
        )
    ids_of_genes = pd.Series(gene_ids[genes], dtype=object)
    repeated = ids_of_genes[ids_of_genes.duplicated()]
    if not len(genes) or len(repeated):
        raise InvalidValue(
            "ids",
            ids,
            f"has two genes of the id {repeated.min()}"
            if len(repeated)
            else "has no id of any gene",
            f"name another column, or leave genes out of {ADATA}",
        )
    with replacing(path, overwrite=overwrite) as target:
        annotation = categories[codes[cells]].astype(str)
        called = np.asarray(names, dtype=object)[genes].astype(str)
        n_cells = orders.write_reference(
            RowMatrix(counts, cells, genes),
            pd.DataFrame({"barcode": barcodes.astype(str), "annotation": annotation}),
            pd.DataFrame({"id": ids_of_genes, "symbol": called}),
            target,
            max_bytes=max_bytes,
            random_state=random_state,
        )
    if n_cells < len(cells):
        log.warning(
            Message(
                f"{n_cells} of {len(cells)} cells were drawn, by type, as a file of {max_bytes:g} "
                "bytes holds."
            )
        )
    left = {
        "cells without a type": adata.n_obs - len(cells),
        "genes without an id": adata.n_vars - len(genes),
    }
    for what, n in left.items():
        if n:
            log.warning(Message(f"{n} {what} are not in the reference."))
