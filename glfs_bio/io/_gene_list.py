"""Gene lists and ranked lists, for people and for other programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import read, results
from .._docs import documented
from .._extras import needs
from .._files import as_path, check_target, replacing
from ..errors import VAR, InvalidType, InvalidValue, NotFound, arg, call, listed
from ..platform.sheets import check_names, without_formula

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_TABLES = {*_SEPARATORS, ".xlsx"}
#: Columns of an explanation that a gene list does not have of its own.
_EXPLAINED = ("axis", "supports", "substitute", "substitution_score", "loss_with_substitute")


@documented
def write_gene_list(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    symbols: str | None = None,
    columns: str | Iterable[str] = (),
    explanation_key: str | None = None,
    selected_only: bool = True,
    overwrite: bool = False,
) -> None:
    """Write the selected genes to a list or a table, the best first.

    Parameters
    ----------
    <adata with a selection>
    path : str or path
        File to write:

        - ``.txt``: one name per line
        - ``.csv``, ``.tsv``, ``.xlsx``: a table with the columns ``gene``, ``weight``, ``loss``,
          ``score``, ``rank``, ``selected`` and ``included``

        Missing names of a panel of :func:`~glfs_bio.tl.extend_panel` come last.
    <key>
    symbols : str, default None
        Column of ``.var`` with the names to write.  None: ``.var_names``, as for genes without a
        name.
    columns : str or list of str, default ()
        Further columns of ``.var`` for the table.
    explanation_key : str, default None
        Key of a result of :func:`~glfs_bio.tl.explain_panel`, which adds the supported labels and
        the substitute of each gene to the table.
    selected_only : bool, default True
        Leave out candidate genes that are not selected.
    <overwrite>

    Raises
    ------
    ValueError
        If the explanation is of another panel, or a name would change when it is read again.

    See Also
    --------
    read_panel : Read a panel.
    write_gmt : Write selections as gene sets.

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
        raise InvalidType("columns", columns, f"must be names of columns of {VAR}")
    further = [columns] if isinstance(columns, str) else list(columns)
    checks.texts(explanation_key=explanation_key, or_none=True)
    if ending not in {".txt", *_TABLES}:
        raise InvalidValue("path", str(path), "must end with .txt, .csv, .tsv or .xlsx")
    if (further or explanation_key) and ending == ".txt":
        argument, value = ("columns", further) if further else ("explanation_key", explanation_key)
        raise InvalidValue(
            argument, value, "is for a table", f"let {arg('path')} end with .csv, .tsv or .xlsx"
        )
    if ending == ".xlsx":
        needs("An .xlsx file", "openpyxl")
    for name in further:
        if name not in adata.var:
            raise NotFound("columns", name, f"is not in {VAR}", f"choose from {listed(adata.var)}")
    frame = results.ranked(adata, key, only="selected" if selected_only else "tested")
    called = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    frame.insert(0, "gene", called.loc[frame.index])
    clashing = {name: f"{name}_var" for name in further if name in frame}
    frame = frame.join(adata.var[further].rename(columns=clashing))
    if explanation_key is not None:
        explained = _explained(adata, key, explanation_key)
        clashing = {name: f"{name}_explained" for name in explained if name in frame}
        frame = frame.join(explained.rename(columns=clashing))
    absent = pd.DataFrame({"gene": list(adata.uns.get(key, {}).get("absent", ()))})
    frame = pd.concat([frame, absent], ignore_index=True) if len(absent) else frame
    frame["rank"] = frame["rank"].astype("Int64")
    check_names(frame["gene"], path)
    with replacing(path, overwrite=overwrite) as target:
        if ending == ".txt":
            target.write_text("".join(f"{gene}\n" for gene in frame["gene"]), encoding="utf-8")
            return
        for flags in {"selected", "included", *frame.select_dtypes(bool)}:
            # spelt so that R and pandas read it; a gene that is absent is in the panel
            frame[flags] = np.where(frame[flags].ne(other=False), "TRUE", "FALSE")
        frame = frame.map(without_formula)
        if ending == ".xlsx":
            with target.open("wb") as file:
                frame.to_excel(file, engine="openpyxl", index=False)
        else:
            frame.to_csv(target, sep=_SEPARATORS[ending], index=False, encoding="utf-8")


def _explained(adata: AnnData, key: str, explanation_key: str) -> pd.DataFrame:
    """Return the columns of an explanation of the genes of a selection."""
    entry = results.current(
        adata, explanation_key, "tl.explain_panel", "table", argument="explanation_key"
    )
    table = entry["table"].set_index("gene")
    selected = results.ranked(adata, key).index
    if set(table.index) != set(selected):
        raise InvalidValue(
            "explanation_key",
            explanation_key,
            f"is not of the panel {arg('key', key)}",
            f"run {call('tl.explain_panel')} for this one",
        )
    table = table.assign(substitute=table["substitute"].replace("", "none"))
    return table[[name for name in _EXPLAINED if name in table]]


@documented
def write_rnk(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    symbols: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write the scores of all candidate genes to an RNK file, for preranked enrichment analysis.

    The file has two columns without a header, name and score, separated by a tab, the largest score
    first.  The score only orders the genes: run GSEA with the weight 0 (``"classic"``), as
    :func:`~glfs_bio.tl.enrich` does.

    Parameters
    ----------
    <adata with a selection>
    path : str or path
        File to write.
    <key>
    symbols : str, default None
        Column of ``.var`` with the names to write.  Genes without a name are left out; of genes
        with the same name the best is written.  None: ``.var_names``.
    <overwrite>

    Raises
    ------
    ValueError
        If scores are tied, or a name would change when it is read again.

    See Also
    --------
    glfs_bio.tl.enrich : Find enriched gene sets.

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
    scores = results.scores(adata, key, symbols)
    if not scores.is_unique:
        raise InvalidValue("key", key, "has genes of the same score, and a ranked list must not")
    check_names(scores.index, path)
    with replacing(path, overwrite=overwrite) as name:
        lines = (f"{gene}\t{score!r}\n" for gene, score in scores.items())
        name.write_text("".join(lines), encoding="utf-8")
