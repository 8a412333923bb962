"""Gene lists and ranked lists, for people and for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from .._anndata import read, selection
from .._files import as_path, check_target, replacing
from ..core import checks

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_gene_list(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    symbols: str | None = None,
    columns: str | Iterable[str] = (),
    selected_only: bool = True,
    overwrite: bool = False,
) -> None:
    """Write the selected genes, the best first.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    path
        ``.txt``: one name a line; ``.csv`` and ``.tsv``: a table with the columns ``gene`` (the
        name), ``weight``, ``loss``, ``score``, ``rank``, ``selected`` and ``included``, as
        ``select_genes`` wrote them.
    key
        Which selection: the `key_added` of ``select_genes``.
    symbols
        Column of ``.var`` with the names to write; genes without a name there go by their
        ``.var_names``.  None: ``.var_names``.
    columns
        Further columns of ``.var`` for the table.
    selected_only
        Whether genes that were tested and not selected stay out.
    overwrite
        Whether a file that is there may be replaced.

    Raises
    ------
    KeyError
        No such selection or column.
    FileExistsError, FileNotFoundError
        `path` exists and `overwrite` is not set, or its folder does not exist.
    ValueError
        Another ending, no gene selected, or `columns` for a list that has none.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "panel.txt"
    ...     glfs_bio.io.write_gene_list(adata, path)
    ...     genes = path.read_text().split()
    >>> len(genes)
    5
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    ending = path.suffix.lower()
    checks.flags(selected_only=selected_only)
    if not isinstance(columns, Iterable):
        msg = f"columns={columns!r} must be names of columns of adata.var."
        raise TypeError(msg)
    further = [columns] if isinstance(columns, str) else list(columns)
    if ending not in {".txt", *_SEPARATORS}:
        msg = f"path={str(path)!r} must end with .txt, .csv or .tsv, which says what to write."
        raise ValueError(msg)
    if further and ending == ".txt":
        msg = f"columns={further!r} need a table: let path end with .csv or .tsv."
        raise ValueError(msg)
    for name in further:
        if name not in adata.var:
            msg = f"columns: {name!r} is not in adata.var: {read.listed(adata.var.columns)}."
            raise KeyError(msg)
    frame = selection.ranked(adata, key, only="selected" if selected_only else "tested")
    called = selection.names(adata, symbols).fillna(adata.var_names.to_series())
    frame.insert(0, "gene", called.loc[frame.index])
    frame["rank"] = frame["rank"].astype(int)
    with replacing(path, overwrite=overwrite) as target:
        if ending == ".txt":
            target.write_text("".join(f"{gene}\n" for gene in frame["gene"]), encoding="utf-8")
        else:
            clashing = {name: f"{name}_var" for name in further if name in frame}
            frame = frame.join(adata.var[further].rename(columns=clashing))
            for flags in frame.select_dtypes(bool):  # spelt so that R and pandas read it
                frame[flags] = np.where(frame[flags], "TRUE", "FALSE")
            frame.to_csv(target, sep=_SEPARATORS[ending], index=False, encoding="utf-8")


def write_rnk(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    symbols: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write every tested gene with its score, for a preranked enrichment analysis.

    Two columns without a header, name and score, separated by a tab, the largest score first and
    no two alike.  The score only orders the genes: its zero and its distances say nothing, so that
    GSEA should run with the weight 0 (``"classic"``), as ``glfs_bio.tl.enrich`` does.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    path
        File to write.
    key
        Which selection: the `key_added` of ``select_genes``.
    symbols
        Column of ``.var`` with the names to write; genes without a name there are left out, and of
        several with one name the best remains.  None: ``.var_names``.
    overwrite
        Whether a file that is there may be replaced.

    Raises
    ------
    KeyError
        No such selection or column.
    FileExistsError, FileNotFoundError
        `path` exists and `overwrite` is not set, or its folder does not exist.
    ValueError
        No gene is selected or has a name, or scores are tied.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "genes.rnk"
    ...     glfs_bio.io.write_rnk(adata, path)
    ...     lines = path.read_text().splitlines()
    >>> len(lines)
    765
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    scores = selection.scores(adata, key, symbols)
    if not scores.is_unique:
        msg = f"adata.var[{key + '_score'!r}] has ties: a ranked list must not."
        raise ValueError(msg)
    with replacing(path, overwrite=overwrite) as name:
        lines = (f"{gene}\t{score!r}\n" for gene, score in scores.items())
        name.write_text("".join(lines), encoding="utf-8")
