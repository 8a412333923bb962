"""Selected genes as lists and tables, for people and other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import read, results
from .._docs import documented
from .._files import bad_file, check_target, replacing
from ..checks import needs
from ..errors import quoted
from ..vendors import sheets

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

_TABLES = (".csv", ".tsv", ".xlsx")
#: Endings of the files that are written.
ENDINGS = (".txt", *_TABLES)


@documented
def write_genes(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    symbols: str | None = None,
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
          ``score``, ``rank``, ``selected`` and ``included``; the others of ``.var`` are there

        Names of the panel that the data lack come last.
    <key>
    symbols : str, default None
        Column of ``.var`` with the names to write; genes without one have that of ``.var_names``.
        None: ``.var_names``.
    selected_only : bool, default True
        Leave out the candidate genes that are not selected.
    <overwrite>

    Raises
    ------
    ValueError
        If a name would change when it is read again.

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
    if ending == ".xlsx":
        needs("An .xlsx file", "openpyxl")
    frame = _table(adata, key, symbols, selected_only=selected_only)
    sheets.check_names(frame["gene"], path)
    if ending in _TABLES:
        sheets.write(frame, path, overwrite=overwrite)
        return
    with replacing(path, overwrite=overwrite) as target:
        target.write_text("".join(f"{gene}\n" for gene in frame["gene"]), encoding="utf-8")


def _table(adata: AnnData, key: str, symbols: str | None, *, selected_only: bool) -> pd.DataFrame:
    """Return one row per gene, names that are missing in the data last."""
    frame = results.ranked(adata, key, only="selected" if selected_only else "tested")
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    frame.insert(0, "gene", names.loc[frame.index])
    absent = pd.DataFrame({"gene": list(results.record(adata, key).get("absent", ()))})
    frame = pd.concat([frame, absent], ignore_index=True) if len(absent) else frame
    frame["rank"] = frame["rank"].astype("Int64")
    for flags in {"selected", "included", *frame.select_dtypes(bool)}:
        # spelt so that R and pandas read it; a gene that is absent is in the panel
        frame[flags] = np.where(frame[flags].ne(other=False), "TRUE", "FALSE")
    return frame
