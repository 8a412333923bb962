"""Selected genes as lists, tables, ranked lists and gene sets, for people and other programs."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import read, results
from .._docs import documented
from .._files import bad_file, check_target, replacing
from ..checks import needs
from ..errors import InvalidType, InvalidValue, quoted, short
from ..vendors import sheets

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

_TABLES = (".csv", ".tsv", ".xlsx")
#: Endings of the files that are written.
ENDINGS = (".txt", *_TABLES, ".gmt", ".rnk")


@documented
def write_genes(
    adata: AnnData,
    path: str | Path,
    *,
    key: str | Iterable[str] = "glfs",
    symbols: str | None = None,
    columns: str | Iterable[str] = (),
    selected_only: bool = True,
    overwrite: bool = False,
) -> None:
    """Write the selected genes, the best first, in the form that the ending of the file says.

    Parameters
    ----------
    <adata with a selection>
    path : str or path
        File to write:

        - ``.txt``: one name per line
        - ``.csv``, ``.tsv``, ``.xlsx``: a table with the columns ``gene``, ``weight``, ``loss``,
          ``score``, ``rank``, ``selected`` and ``included``
        - ``.gmt``: gene sets, one per selection
        - ``.rnk``: name and score of all candidate genes, without a header.  The score only orders
          the genes: run GSEA with the weight 0 (``"classic"``), as :func:`~glfs_bio.tl.enrich` does

        Names of the panel that the data lack come last in lists and tables.
    key : str or list of str, default "glfs"
        Key of the selection; for ``.gmt`` also several.
    symbols : str, default None
        Column of ``.var`` with the names to write; genes without one have that of ``.var_names``
        in lists and tables, and are left out of ``.gmt`` and ``.rnk``.  None: ``.var_names``.
    columns : str or list of str, default ()
        Further columns of ``.var`` for a table.
    selected_only : bool, default True
        Leave out of lists and tables the candidate genes that are not selected.
    <overwrite>

    Raises
    ------
    ValueError
        If a name would change when it is read again, or scores of a ``.rnk`` are tied.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "panel.txt"
    ...     glfs_bio.io.write_genes(adata, path)
    ...     genes = path.read_text().split()
    >>> len(genes)
    5
    """
    path = check_target(path, overwrite=overwrite)
    checks.flags(selected_only=selected_only)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise bad_file(path, f"must end with one of {quoted(*ENDINGS)}")
    for argument, value in (("key", key), ("columns", columns)):
        if not isinstance(value, Iterable):
            raise InvalidType(f"`{argument}={short(value)}` must be a name, or a list of names")
    keys = [key] if isinstance(key, str) else list(key)
    further = [columns] if isinstance(columns, str) else list(columns)
    if further and ending not in _TABLES:
        raise InvalidValue(f"`columns={short(further)}` are for a table {quoted(*_TABLES)}")
    if len({*keys}) < len(keys) or (len(keys) != 1 and (ending != ".gmt" or not keys)):
        raise InvalidValue(f"`key={short(keys)}` must be one key, or several for a .gmt, each once")
    if ending == ".xlsx":
        needs("An .xlsx file", "openpyxl")
    if ending == ".gmt":
        lines = _gene_sets(adata, keys, symbols, path)
    elif ending == ".rnk":
        lines = _scores(adata, keys[0], symbols, path)
    else:
        frame = _table(adata, keys[0], symbols, further, selected_only=selected_only)
        sheets.check_names(frame["gene"], path)
        if ending in _TABLES:
            sheets.write(frame, path, overwrite=overwrite)
            return
        lines = list(frame["gene"])
    with replacing(path, overwrite=overwrite) as target:
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _table(
    adata: AnnData, key: str, symbols: str | None, further: list[str], *, selected_only: bool
) -> pd.DataFrame:
    """Return one row per gene, names that are missing in the data last."""
    for name in further:
        read.find(adata, "var", name, "columns")
    frame = results.ranked(adata, key, only="selected" if selected_only else "tested")
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    frame.insert(0, "gene", names.loc[frame.index])
    frame = frame.join(adata.var[further], rsuffix="_var")
    absent = pd.DataFrame({"gene": list(results.record(adata, key).get("absent", ()))})
    frame = pd.concat([frame, absent], ignore_index=True) if len(absent) else frame
    frame["rank"] = frame["rank"].astype("Int64")
    for flags in {"selected", "included", *frame.select_dtypes(bool)}:
        # spelt so that R and pandas read it; a gene that is absent is in the panel
        frame[flags] = np.where(frame[flags].ne(other=False), "TRUE", "FALSE")
    return frame


def _scores(adata: AnnData, key: str, symbols: str | None, path: Path) -> list[str]:
    """Return lines of names and scores."""
    scores = results.scores(adata, key, symbols)
    if not scores.is_unique:
        raise InvalidValue(f"`key={short(key)}` has genes of one score: no list can rank them")
    sheets.check_names(scores.index, path)
    return [f"{gene}\t{score!r}" for gene, score in scores.items()]


def _gene_sets(adata: AnnData, keys: list[str], symbols: str | None, path: Path) -> list[str]:
    """Return lines of gene sets: name, description and genes."""
    names = read.symbols(adata, symbols)
    lines = []
    for key in keys:
        genes = list(dict.fromkeys(names.loc[results.ranked(adata, key).index].dropna()))
        if not genes:
            raise InvalidValue(f"`symbols={short(symbols)}` names no gene of {key}: name another")
        sheets.check_names([key, *genes], path)
        lines.append("\t".join([key, f"selected by glfs-bio {version('glfs-bio')}", *genes]))
    return lines
