"""Several data sets as one object with a batch for each, genes matched by name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from anndata import AnnData, concat

from . import read

if TYPE_CHECKING:
    import pandas as pd

    from .._typing import Index

log = logging.getLogger(__name__)

#: What the joined object calls its batches, its raw counts, and what names of cells end in.
_BATCH = "glfs_data_set"
_COUNTS = "counts"
_BETWEEN = "-"


@dataclass(frozen=True)
class Joined:
    """Data sets below one another, and what arguments of ``select_genes`` become for them.

    Attributes
    ----------
    adata
        The cells of all sets, the genes that all have in the order of the first set, and of each
        set what a selection reads.  Columns of ``.var`` are those of the first set that has them.
    params
        The arguments that become others.
    """

    adata: AnnData
    params: dict[str, Any]


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
        msg = "adata is empty: give one AnnData object, or several."
        raise ValueError(msg)
    found = {str(name): one for name, one in sets.items()}
    for name, one in found.items():
        if not isinstance(one, AnnData):
            msg = (
                f"adata[{name!r}] is a {type(one).__name__}: data sets must be AnnData objects of "
                "cells × genes."
            )
            raise TypeError(msg)
        read.unique_names(one)
    if len({id(one) for one in found.values()}) < len(sets):
        msg = "adata holds the same object, or the same name, twice: each data set counts once."
        raise ValueError(msg)
    return found


def join(sets: Mapping[str, AnnData], params: Mapping[str, Any]) -> Joined:
    """The data sets with a batch each, or one for every batch of each where there is a key.

    Raises
    ------
    KeyError, TypeError, ValueError
        A data set without the matrix, the batches or the counts that are named; one whose matrix is
        not in memory; no gene in common; an argument that one data set alone could have.
    """
    if isinstance(params["mask_var"], np.ndarray):
        msg = "mask_var is an array: with several data sets name a boolean column of adata.var."
        raise TypeError(msg)
    for name in ("use_rep", "neighbors_key"):
        if params[name] not in (None, "X"):
            msg = (
                f"{name}={params[name]!r}: with several data sets each has a subspace and a graph "
                f"that are computed here; leave {name} out."
            )
            raise ValueError(msg)
    genes = _in_common(sets)
    parts = {name: _lean(name, one, genes, params) for name, one in sets.items()}
    whole = concat(parts, join="outer", merge="first", index_unique=_BETWEEN)
    given = {"layer": None, "batch_key": _BATCH}
    if params["counts_layer"] is not None:
        given["counts_layer"] = _COUNTS
    return Joined(whole, given)


def _in_common(sets: Mapping[str, AnnData]) -> pd.Index:
    first, *others = (one.var_names for one in sets.values())
    genes = first
    for names in others:
        genes = genes[genes.isin(names)]
    if not len(genes):
        msg = (
            f"No gene is in all data sets ({read.listed(sets)}): give genes the same names, such "
            "as symbols, in .var_names."
        )
        raise ValueError(msg)
    most = max(one.n_vars for one in sets.values())
    if len(genes) < most:
        log.info("%d genes are in all data sets, of %d at most.", len(genes), most)
    return genes


def _lean(name: str, one: AnnData, genes: pd.Index, params: Mapping[str, Any]) -> AnnData:
    """What a selection reads of one data set."""
    try:
        places: Index = one.var_names.get_indexer(genes)
        data = read.matrix(one, params["layer"])[:, places]
        batches = read.batches(one, params["batch_key"])
        layers = {}
        counts = params["counts_layer"]
        if counts is not None:
            layers[_COUNTS] = read.matrix(one, None if counts == "X" else counts)[:, places]
    except (KeyError, TypeError, ValueError) as error:
        msg = f"In data set {name!r}: {error.args[0]}"
        raise type(error)(msg) from None
    obs = one.obs.copy()
    obs[_BATCH] = name if batches is None else [f"{name}: {batch}" for batch in batches]
    return AnnData(data, obs=obs, var=one.var.loc[genes], obsm=dict(one.obsm), layers=layers)
