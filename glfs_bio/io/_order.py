"""Orders of panels in the forms of vendors, and the single-cell reference that goes with one."""

from __future__ import annotations

import gzip
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks
from .._anndata import columns, read, results
from .._docs import documented
from .._files import bad_file, check_target, replacing
from ..checks import needs
from ..data.matrix import RowMatrix
from ..errors import InvalidValue, listed, naming, note, short, show_stage, subject
from ..options import canonical_name, public
from ..tl import order_panel
from ..tl._order import ORDERS, check_size
from ..vendors import sheets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anndata import AnnData

    from .._typing import Index
    from ..options import Platform


#: Largest reference that 10x Genomics takes, in bytes.
_LARGEST = 2e9
#: Cells from which the size of a file is estimated, and cells that are written at once.
_ESTIMATED_FROM, _AT_ONCE = 2_000, 10_000
#: Of gzip: 9 takes several times as long for a few per cent.
_COMPRESSION = 5
#: Share of the room that cells are chosen for, as cells differ.
_ROOM = 0.95
_MARKET = "%%MatrixMarket matrix coordinate integer general\n%\n{} {} {}\n"


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
        ``Gene,Ensembl ID,Probe sets,Force``.  ``"merscope"``: ``.csv``; ``"cosmx"``: ``.xlsx``;
        both are tables of genes to send, as what these vendors take is not public.  ``"sheet"``:
        ``.csv``, ``.tsv`` or ``.xlsx`` with all that is known of each gene, and the backups.
    platform : str or Platform, default None
        Form to write, one of these.  None: that of the order.
    key : str, default None
        Key of an order, or of a selection, which is then ordered as ``tl.order_panel`` does by
        default.  None: the last order, and without one the selection ``"glfs"``.
    <overwrite>

    Raises
    ------
    ValueError
        If the order is outdated, has genes that cannot be ordered, asks for more probe sets than
        there can be, or a name would change when it is read again.

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
    (5, 'table')
    """
    path = check_target(path, overwrite=overwrite)
    read.check(adata)
    checks.texts(key=key, or_none=True)
    name: Any = canonical_name(platform)
    if name is not None:
        checks.one_of("platform", name, ORDERS)
    if key is None:
        key = results.last(adata, "order")
        key = key if key in adata.uns else results.KEY
    is_selection = f"{key}_selected" in adata.var
    order = {"platform": "sheet"} if is_selection else results.current(adata, key, "order")
    name = str(order["platform"]) if name is None else name
    form, ending = ORDERS[name], path.suffix.lower()
    if ending not in form.endings:
        raise bad_file(path, f"must end with {' or '.join(form.endings)} for a {form.title}")
    if ending == ".xlsx":
        needs("An .xlsx file", "openpyxl")
    table: Any = order_panel(adata, key, name, inplace=False) if is_selection else order["table"]
    if name != "sheet":
        table = table[table["source"] != "backup"]
        check_size(len(table), name)
    without_id = table["gene"][table["id"] == ""]
    if form.needs_ids and len(without_id):
        text = f"`platform={short(name)}` needs Ensembl ids, and {listed(without_id)} has none"
        remedy = "make the order for this platform with `glfs_bio.tl.order_panel(adata)`"
        raise InvalidValue(f"{text}: {remedy}")
    most = int(table["n_probe_sets"].max())
    if most > form.most_probe_sets > 0:
        text = f"`platform={short(name)}` has at most {form.most_probe_sets} probe sets of a gene"
        raise InvalidValue(f"{text}, not the {most} ordered: change n_probe_sets in its table")
    sheets.check_names(table["gene"], path)
    sheets.write(_content(table, name), path, overwrite=overwrite, sheet="order")


def _content(table: pd.DataFrame, platform: str) -> pd.DataFrame:
    """Return what a file of a platform holds of an order."""
    n_probe_sets = table["n_probe_sets"].astype(int).astype(str).replace("0", "")
    forced = table["forced"].astype(bool)
    if platform == "sheet":
        table = table.assign(n_probe_sets=n_probe_sets, forced=np.where(forced, "TRUE", "FALSE"))
        return table.rename(columns={"id": "ensembl_id"})
    gene = "Display Name" if platform == "cosmx" else "Gene"
    content = {gene: table["gene"], "Ensembl ID": table["id"]}
    if ORDERS[platform].most_probe_sets:
        content |= {"Probe sets": n_probe_sets, "Force": np.where(forced, "forced", "")}
    return pd.DataFrame(content)


@public
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
    path = check_target(path, overwrite=overwrite)
    checks.number("max_bytes", max_bytes, above=0.0)
    checks.seed(random_state)
    if path.suffix.lower() != ".zip":
        raise bad_file(path, "must end with .zip")
    read.unique_names(adata)
    checks.texts(ids=ids, symbols=symbols, or_none=True)
    codes, categories = columns.labels(adata, labels)
    if ids is None:
        order = results.last(adata, "order")
        ids = f"{order if order in adata.uns else results.last(adata, 'names')}_id"
    with naming(symbols="ids"):
        gene_ids = read.symbols(adata, ids).fillna("").to_numpy()
    names = adata.var_names if symbols is None else read.find(adata, "var", symbols, "symbols")
    counts = read.counts(adata, counts_layer)
    genes, cells = np.flatnonzero(gene_ids != ""), np.flatnonzero(codes >= 0)
    read.check(adata, "obs_names")
    if not len(genes):
        raise InvalidValue(f"`ids={short(ids)}` has no id of any gene: name another column")
    of_cells = {"barcode": adata.obs_names[cells], "annotation": categories[codes[cells]]}
    of_genes = {"id": gene_ids[genes], "symbol": np.asarray(names, dtype=object)[genes]}
    about_genes = pd.DataFrame(of_genes).astype(str)
    about_cells = sheets.without_formulas(pd.DataFrame(of_cells).astype(str))
    about = {"`adata`": about_cells["barcode"], subject("ids", ids): about_genes["id"]}
    for code, called in about.items():
        twice = called[called.duplicated()]
        if len(twice):
            raise InvalidValue(f"{code} has names twice ({listed(twice)}): rename them")
    turns = _by_turns(about_cells["annotation"], random_state)
    counts = RowMatrix(counts, cells, genes)
    with replacing(path, overwrite=overwrite) as target:
        n_cells = _write_cells_that_fit(counts, about_cells, about_genes, target, turns, max_bytes)
    if n_cells < len(cells):
        note(f"{n_cells} of {len(cells)} cells were drawn by type, to fit {max_bytes:g} bytes.")
    if len(cells) < adata.n_obs:
        note(f"{adata.n_obs - len(cells)} cells without a type are not in the reference.")
    if len(genes) < adata.n_vars:
        note(f"{adata.n_vars - len(genes)} genes without an id are not in the reference.")


def _write_cells_that_fit(
    counts: RowMatrix,
    cells: pd.DataFrame,
    genes: pd.DataFrame,
    target: Path,
    order: Index,
    max_bytes: float,
) -> int:
    """Write a reference of as many cells as fit into a file, and return their number."""

    def size_of(n_drawn: int) -> int:
        drawn = np.sort(order[:n_drawn])
        _write(RowMatrix(counts, drawn), cells.iloc[drawn], genes, target)
        return target.stat().st_size

    n_cells, n_types = len(cells), cells["annotation"].nunique()
    if n_cells > _ESTIMATED_FROM:
        fitting = int(_ROOM * max_bytes * _ESTIMATED_FROM / size_of(_ESTIMATED_FROM))
        n_cells = min(n_cells, max(fitting, n_types))
    while (size := size_of(n_cells)) > max_bytes:
        n_cells = int(n_cells * _ROOM * max_bytes / size)
        if n_cells < n_types:
            raise InvalidValue(f"`max_bytes={short(max_bytes)}` cannot hold each type: raise it")
    return n_cells


def _by_turns(labels: pd.Series, random_state: int | None) -> Index:
    """Return cells in the order in which they are drawn: one of each type, then another."""
    order = np.random.default_rng(random_state).permutation(len(labels))
    number = pd.Series(order).groupby(labels.to_numpy(dtype=object)[order]).cumcount()
    return order[np.argsort(number.to_numpy(), kind="stable")]


def _write(counts: RowMatrix, cells: pd.DataFrame, genes: pd.DataFrame, target: Path) -> None:
    """Write a zip file as 10x Genomics takes it; the same cells give the same file."""
    features = genes.assign(kind="Gene Expression").to_csv(sep="\t", header=False, index=False)
    barcodes = cells[["barcode"]].to_csv(header=False, index=False)
    with zipfile.ZipFile(target, "w") as archive:
        entry = zipfile.ZipInfo("matrix.mtx.gz")
        with (
            archive.open(entry, "w", force_zip64=True) as member,
            gzip.GzipFile("", "wb", _COMPRESSION, member, mtime=0) as file,
        ):
            for lines in _market(counts):
                file.write(lines.encode())
        for name, text in (("features.tsv.gz", features), ("barcodes.tsv.gz", barcodes)):
            packed = gzip.compress(text.encode(), _COMPRESSION, mtime=0)
            archive.writestr(zipfile.ZipInfo(name), packed)
        types = zipfile.ZipInfo("celltypes.csv")
        archive.writestr(types, cells.to_csv(index=False), zipfile.ZIP_DEFLATED)


def _market(counts: RowMatrix) -> Iterator[str]:
    """Yield genes × cells as a file of Matrix Market has them, some thousand cells at a time."""
    n_cells, n_genes = counts.shape
    yield _MARKET.format(n_genes, n_cells, int(read.n_cells_with(counts).sum()))
    for begin in range(0, n_cells, _AT_ONCE):
        cells = np.arange(begin, min(begin + _AT_ONCE, n_cells))
        block = sparse.coo_array(RowMatrix(counts, cells).loaded())
        cell, gene = block.coords
        if (block.data % 1).any() or (block.data < 0).any():
            raise InvalidValue("`counts_layer` has no counts in some cells: name another layer")
        entries = {"gene": gene + 1, "cell": cell + begin + 1, "count": block.data.astype(int)}
        table = pd.DataFrame(entries)
        yield table[table["count"] > 0].to_csv(sep=" ", header=False, index=False)
        show_stage("writing cells", int(cells[-1]) + 1, n_cells)
