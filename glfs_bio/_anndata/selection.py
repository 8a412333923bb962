"""Selections that are in an AnnData object, and several data sets to select from as one."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from anndata import AnnData, concat

from .. import checks
from ..errors import (
    NO_VALUE,
    UNS,
    VAR,
    VAR_NAMES,
    InvalidValue,
    Message,
    NotFound,
    Refusal,
    call,
    listed,
)
from ..options import Limits
from . import read

if TYPE_CHECKING:
    from .._typing import Index

log = logging.getLogger(__name__)

#: Parameters of a selection that say where it is written, and not which genes it has.
WHERE = frozenset({"key_added", "as_highly_variable", "subset"})
#: The seed of a stability decides on the parts of the cells too.
_FREE = WHERE | {"random_state"}
#: What an object of several data sets calls its batches, its raw counts, and what names of cells
#: end in.
_BATCH = "glfs_data_set"
_COUNTS = "counts"
_BETWEEN = "-"
#: Arguments of a selection from what :func:`join` returns.
JOINED = {"layer": None, "batch_key": _BATCH, "use_rep": None}


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
    columns = ("weight", "loss", "score", "rank", "selected", "included")
    for name in columns:
        if f"{key}_{name}" not in adata.var:
            raise NotFound(
                "key",
                key,
                f"is not a selection, since {VAR} has no column {key}_{name}",
                f"run {call('pp.select_genes')} first",
            )
    frame = pd.DataFrame({name: adata.var[f"{key}_{name}"] for name in columns})
    flags = ["selected", "included"]
    frame[flags] = frame[flags].astype(bool)
    frame = frame[frame["selected"] if only == "selected" else frame["score"].notna()]
    if frame.empty:
        raise InvalidValue(
            "key",
            key,
            "has no selected gene",
            f"run {call('pp.select_genes')} again, or choose another selection",
        )
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
        raise NotFound(argument, key, f"is not in {UNS}", f"run {call(writer)} first")
    entry: dict[str, Any] = adata.uns[key]
    missing = [name for name in needs if not (isinstance(entry, Mapping) and name in entry)]
    if missing:
        raise NotFound(
            argument,
            key,
            f"is not a result of {call(writer)}, since {', '.join(missing)} is missing",
            "run it, or choose another key",
        )
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
    column = read.find(adata, "var", symbols, "symbols")
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
        raise InvalidValue(
            "symbols", symbols, "has no name for any candidate gene", "choose another column"
        )
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
        raise NotFound(
            "key",
            key,
            f"is not a stability, since {VAR} has no column {key}_frequency",
            f"run {call('tl.stability')} first",
        )
    column = adata.var[f"{key}_frequency"].dropna()
    return column.sort_values(ascending=False, kind="stable")


def difference(adata: AnnData, key: str, stability_key: str) -> str | None:
    """What tells the selection that a stability examined from that under `key`, in words.

    None: it is the same selection, but for its seed.

    Raises
    ------
    KeyError
        No such selection or stability.
    """
    chosen = record(adata, key, "pp.select_genes", "params", "n_tested")
    entry = record(adata, stability_key, "tl.stability", "jaccard", "n_genes")
    if "of" not in entry:
        return "an earlier version did not record which selection it examined"
    differences = [
        f"{name}={_text(value)} and not {_text(chosen['params'][name])}"
        for name, value in entry["params"].items()
        if name in chosen["params"]
        and name not in _FREE
        and plain(value) != plain(chosen["params"][name])
    ]
    limited = plain(chosen["params"].get("limits", "None")) != "None"  # parts admit other genes
    if not differences and not limited and entry["n_tested"] != chosen["n_tested"]:
        differences.append(f"{entry['n_tested']} genes to choose from and not {chosen['n_tested']}")
    return ", ".join(differences) or None


def data_sets(adata: Any) -> dict[str, AnnData]:
    """Data sets by name; of a sequence the names are 0, 1, ….

    Raises
    ------
    TypeError
        Not AnnData objects.
    ValueError
        None at all, one of them twice, or gene names that are not unique.
    """
    if not isinstance(adata, Mapping | list | tuple):
        read.check(adata)
    sets = dict(adata) if isinstance(adata, Mapping) else dict(enumerate(adata))
    if not sets:
        raise InvalidValue("adata", NO_VALUE, "is empty", "give one dataset, or several")
    found = {str(name): one for name, one in sets.items()}
    for name, one in found.items():
        try:
            read.unique_names(one)
        except Refusal as refusal:
            raise refusal.within(f"dataset {name!r}") from None
    if len({id(one) for one in found.values()}) < len(sets):
        raise InvalidValue(
            "adata", NO_VALUE, "holds the same object, or the same name, twice", "give each once"
        )
    return found


def join(
    sets: Mapping[str, AnnData],
    *,
    layer: str | None,
    batch_key: str | None,
    use_rep: str | None,
    neighbors_key: str | None,
    limits: Limits | None,
) -> AnnData:
    """Return the cells of all sets, with a batch each, or one for every batch of each.

    It has the genes that all sets have, in the order of the first, and of each set what a selection
    reads.  Columns of ``.var`` are those of the first set that has them.  Arguments become
    :data:`JOINED` and :func:`limits_of_joined`.

    Raises
    ------
    KeyError, TypeError, ValueError
        A data set without the matrix, the batches or the counts that are named; one whose matrix is
        not in memory; no gene in common; an argument that one data set alone could have.
    """
    for name, value in {"use_rep": use_rep, "neighbors_key": neighbors_key}.items():
        if value not in (None, "X"):
            raise InvalidValue(
                name,
                value,
                "is not possible with several datasets, whose subspaces and graphs are "
                "computed here",
                "leave it out",
            )
    counts = limits.counts_layer if isinstance(limits, Limits) else None
    genes = _in_common(sets)
    parts = {name: _lean(name, one, genes, layer, batch_key, counts) for name, one in sets.items()}
    return concat(parts, join="outer", merge="first", index_unique=_BETWEEN)


def limits_of_joined(limits: Any) -> Any:
    """Return limits with the layer of counts of :func:`join`."""
    if not isinstance(limits, Limits) or limits.counts_layer is None:
        return limits
    return replace(limits, counts_layer=_COUNTS)


def _in_common(sets: Mapping[str, AnnData]) -> pd.Index:
    first, *others = (one.var_names for one in sets.values())
    genes = first
    for names in others:
        genes = genes[genes.isin(names)]
    if not len(genes):
        raise InvalidValue(
            "adata",
            NO_VALUE,
            f"has no gene that is in all datasets ({listed(sets)})",
            f"give genes the same names, such as symbols, in {VAR_NAMES}",
        )
    most = max(one.n_vars for one in sets.values())
    if len(genes) < most:
        log.info(Message(f"{len(genes)} genes are in all datasets, of at most {most}."))
    return genes


def _lean(
    name: str,
    one: AnnData,
    genes: pd.Index,
    layer: str | None,
    batch_key: str | None,
    counts: str | None,
) -> AnnData:
    """What a selection reads of one data set."""
    try:
        places: Index = one.var_names.get_indexer(genes)
        data = read.matrix(one, layer)[:, places]
        batches = read.batches(one, batch_key)
        layers = {}
        if counts is not None:
            named = None if counts == "X" else counts
            layers[_COUNTS] = read.matrix(one, named, "counts_layer")[:, places]
    except Refusal as refusal:
        raise refusal.within(f"dataset {name!r}") from None
    obs = one.obs.copy()
    obs[_BATCH] = name if batches is None else [f"{name}: {batch}" for batch in batches]
    return AnnData(data, obs=obs, var=one.var.loc[genes], obsm=dict(one.obsm), layers=layers)


def plain(value: Any) -> Any:
    """A stored value, whether or not it has been in a file."""
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return np.asarray(value).tolist()


def _text(value: Any) -> str:
    found = plain(value)
    if isinstance(found, list) and len(found) > 3:
        return f"{len(found)} values"
    return "None" if found == "None" else repr(found)
