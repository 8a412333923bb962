"""Gene lists, ranked lists and gene sets (GMT), for people and for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import read, results
from .._anndata.names import Lookup
from .._docs import documented
from .._extras import needs
from .._files import as_path, check_target, replacing
from ..errors import (
    NO_VALUE,
    VAR,
    InvalidType,
    InvalidValue,
    NotFound,
    arg,
    call,
    listed,
)
from ..vendors import sheets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anndata import AnnData

    #: The argument that it comes from, its name, its description and its genes.
    GeneSet = tuple[str, str, str, Iterable[str]]

#: Columns of an explanation that a gene list does not have of its own.
_EXPLAINED = (
    *("role", "expressed", "expressed_in", "axis", "supports", "substitute"),
    *("substitution_score", "acceptable", "loss_with_substitute"),
)


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
    if ending not in (".txt", ".csv", ".tsv", ".xlsx"):
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
    sheets.check_names(frame["gene"], path)
    if ending == ".txt":
        _write_lines(path, frame["gene"], overwrite=overwrite)
        return
    for flags in {"selected", "included", *frame.select_dtypes(bool)}:
        # spelt so that R and pandas read it; a gene that is absent is in the panel
        frame[flags] = np.where(frame[flags].ne(other=False), "TRUE", "FALSE")
    sheets.write(frame, path, overwrite=overwrite)


def _write_lines(path: Path, lines: Iterable[str], *, overwrite: bool) -> None:
    with replacing(path, overwrite=overwrite) as target:
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _explained(adata: AnnData, key: str, explanation_key: str) -> pd.DataFrame:
    """Return the columns of an explanation of the genes of a selection."""
    entry = results.current(adata, explanation_key, "explanation", argument="explanation_key")
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
    sheets.check_names(scores.index, path)
    lines = (f"{gene}\t{score!r}" for gene, score in scores.items())
    _write_lines(path, lines, overwrite=overwrite)


@documented
def write_gmt(
    adata: AnnData,
    path: str | Path,
    *,
    key: str | Iterable[str] | None = "glfs",
    groups: Mapping[str, Iterable[str]] | None = None,
    thresholds: float | Iterable[float] = (),
    stability_key: str | None = None,
    symbols: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write selections as gene sets to a GMT file.

    Parameters
    ----------
    <adata with a selection>
    path : str or path
        File to write.
    key : str or list of str, default "glfs"
        Keys of selections, each a gene set with the best gene first.  None: only `groups` and
        `thresholds`.
    groups : dict of str to list, default None
        Further gene sets: genes, by name of the set.
    thresholds : float or list of float, default ()
        Frequencies in (0, 1].  Each gives a gene set ``f"{stability_key}_{threshold:g}"`` of the
        genes with at least this frequency in :func:`~glfs_bio.tl.stability`, the most frequent
        first.
    stability_key : str, default None
        Key of the stability.  None: that of the last.
    symbols : str, default None
        Column of ``.var`` with the names to write; genes without a name are left out.  None:
        ``.var_names``.
    <overwrite>

    See Also
    --------
    read_gmt : Read gene sets.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "panels.gmt"
    ...     glfs_bio.io.write_gmt(adata, path, groups={"T cells": ["CD3D", "CD3E"]})
    ...     sets = glfs_bio.io.read_gmt(path)
    >>> list(sets)
    ['glfs', 'T cells']
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    for name, value, kinds in (
        ("key", key, Iterable | None),
        ("groups", groups, Mapping | None),
        ("thresholds", thresholds, Iterable | Real),
    ):
        if not isinstance(value, kinds):
            raise InvalidType(name, value, f"cannot be a {type(value).__name__}")
    checks.texts(stability_key=stability_key, or_none=True)
    keys = [] if key is None else [key] if isinstance(key, str) else list(key)
    cuts = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    called = read.symbols(adata, symbols)
    about = f"selected by glfs-bio {version('glfs-bio')}"
    lines: dict[str, str] = {}
    for argument, name, description, genes in [
        *(("key", one, about, results.ranked(adata, one).index) for one in keys),
        *_groups(Lookup(adata, symbols), groups or {}),
        *_frequent(adata, cuts, results.last(adata, "stability", stability_key)),
    ]:
        if name in lines:
            raise InvalidValue(argument, name, "names two gene sets", "give each a name of its own")
        named = dict.fromkeys(called.loc[list(genes)].dropna())
        if not named:
            raise InvalidValue(argument, name, "is a gene set without a gene that has a name")
        fields = [name, description, *named]
        if wrong := [
            field
            for field in fields
            if not field.strip() or field != field.strip() or not field.isprintable()
        ] or [gene for gene in named if not sheets.comes_back(gene)]:
            raise InvalidValue(
                argument,
                name,
                f"has the name {wrong[0]!r}, which is empty, has blanks around it or a tab, or is "
                "several names to who reads it",
                "rename it",
            )
        lines[name] = "\t".join(fields)
    if not lines:
        raise InvalidValue(
            "key", key, "leaves nothing to write", f"give {arg('groups')} or {arg('thresholds')}"
        )
    _write_lines(path, lines.values(), overwrite=overwrite)


def _groups(lookup: Lookup, groups: Mapping[str, Iterable[str]]) -> Iterator[GeneSet]:
    for group, genes in groups.items():
        if not isinstance(genes, Iterable):
            raise InvalidType("groups", genes, f"must be a list of gene names for {group!r}")
        members = [genes] if isinstance(genes, str) else list(genes)
        if unknown := [gene for gene in members if not lookup.of(gene)]:
            raise NotFound(
                "groups",
                NO_VALUE,
                f"has genes in {group!r} that are not in {lookup.where}",
                f"leave out {listed(unknown)}{lookup.hints(unknown)}",
            )
        rows = [row for gene in members for row in lookup.of(gene)]
        yield "groups", str(group), "group of genes", lookup.adata.var_names[rows]


def _frequent(adata: AnnData, thresholds: list[float], key: str) -> Iterator[GeneSet]:
    for threshold in thresholds:
        checks.number("thresholds", threshold, above=0.0)
        if threshold > 1:
            raise InvalidValue("thresholds", threshold, "must be in (0, 1], a share of resamples")
        frequency = results.frequency(adata, key)
        genes = frequency[frequency >= threshold - np.finfo(float).eps].index
        if genes.empty:
            raise InvalidValue(
                "thresholds",
                threshold,
                "leaves no gene",
                f"the largest frequency is {float(frequency.max()):g}",
            )
        description = f"selected in at least {threshold:g} of resamples"
        yield "thresholds", f"{key}_{threshold:g}", description, genes
