"""A selection that is in an AnnData object already, and the names of its genes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import checks
from . import read

if TYPE_CHECKING:
    from anndata import AnnData


def ranked(adata: AnnData, key: str, *, only: str = "selected") -> pd.DataFrame:
    """Columns that ``select_genes`` wrote under `key`, without the prefix, the best gene first.

    `only` is ``"selected"``, or ``"tested"`` for every gene that has a score.

    Raises
    ------
    KeyError
        There is no such selection.
    ValueError
        It holds no gene, or gene names are not unique.
    """
    read.unique_names(adata)
    checks.texts(key=key)
    wanted = ("weight", "loss", "score", "rank", "selected", "included")
    for name in wanted:
        if f"{key}_{name}" not in adata.var:
            msg = (
                f"adata.var has no column {key}_{name}: there is no selection under key={key!r}. "
                f"Run glfs_bio.pp.select_genes(adata, ..., key_added={key!r}) first."
            )
            raise KeyError(msg)
    frame = pd.DataFrame({name: adata.var[f"{key}_{name}"] for name in wanted})
    flags = ["selected", "included"]
    frame[flags] = frame[flags].astype(bool)
    frame = frame[frame["selected"] if only == "selected" else frame["score"].notna()]
    if frame.empty:
        msg = f"adata.var[{key + '_selected'!r}] is False everywhere: no gene is selected."
        raise ValueError(msg)
    return frame.sort_values("rank", kind="stable")


def record(
    adata: AnnData, key: str, writer: str, *needs: str, argument: str = "key"
) -> dict[str, Any]:
    """``.uns[key]``, as `writer` left it there, with the entries that are needed.

    `argument` is what named it.

    Raises
    ------
    KeyError
        It is not there, or is something else.
    """
    read.check(adata)
    checks.texts(or_none=False, **{argument: key})
    if key not in adata.uns:
        msg = f"{argument}={key!r} is not in adata.uns: run glfs_bio.{writer} first."
        raise KeyError(msg)
    entry: dict[str, Any] = adata.uns[key]
    missing = [name for name in needs if not (isinstance(entry, Mapping) and name in entry)]
    if missing:
        msg = (
            f"{argument}={key!r}: adata.uns[{key!r}] is not what glfs_bio.{writer} writes, it has "
            f"no {', '.join(missing)}."
        )
        raise KeyError(msg)
    return entry


def names(adata: AnnData, symbols: str | None) -> pd.Series:
    """What genes are called: ``.var_names``, or a column of ``.var``; missing where it is empty.

    Raises
    ------
    KeyError
        No such column.
    """
    read.check(adata)
    checks.texts(symbols=symbols, or_none=True)
    if symbols is None:
        return pd.Series(adata.var_names.astype(str), index=adata.var_names, dtype=object)
    if symbols not in adata.var:
        msg = f"symbols={symbols!r} is not a column of adata.var: {read.listed(adata.var.columns)}."
        raise KeyError(msg)
    column = adata.var[symbols]
    called = column.astype(str).str.strip().astype(object)
    return called.mask(column.isna() | (called == ""))


def scores(adata: AnnData, key: str, symbols: str | None) -> pd.Series:
    """Scores of the tested genes by name, the largest first.

    Genes without a name are left out, and of several with one name the best remains.

    Raises
    ------
    KeyError
        No such selection or column.
    ValueError
        No gene has a name.
    """
    frame = ranked(adata, key, only="tested")
    called = names(adata, symbols).loc[frame.index]
    series = pd.Series(frame["score"].to_numpy(dtype=float), index=called)
    series = series[series.index.notna()].sort_values(ascending=False, kind="stable")
    series = series[~series.index.duplicated()]
    if series.empty:
        msg = f"symbols={symbols!r} has no name for any gene that was tested."
        raise ValueError(msg)
    return series


def frequency(adata: AnnData, key: str) -> pd.Series:
    """Selection frequencies of ``tl.stability``, the largest first.

    Raises
    ------
    KeyError
        They are not there.
    """
    read.check(adata)
    checks.texts(key=key)
    if f"{key}_frequency" not in adata.var:
        msg = (
            f"adata.var has no column {key}_frequency: "
            f"run glfs_bio.tl.stability(adata, ..., key_added={key!r}) first."
        )
        raise KeyError(msg)
    column = adata.var[f"{key}_frequency"].dropna()
    return column.sort_values(ascending=False, kind="stable")
