"""What a panel is to keep, out of an AnnData object."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .. import _gene_files, checks
from ..criterion.criterion import Structure, Target, Term
from ..criterion.targets import Expression, Genes, Labels, Values
from . import genes as named
from . import labels, read, write

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Array, Index

log = logging.getLogger(__name__)

#: What ``preserve=`` may be; documentation shows it.
Preserve = str | Iterable[str] | Mapping[str, float]

STRUCTURE, EXPRESSION = "structure", "expression"
_OF_ALL_GENES = {STRUCTURE: Structure(), EXPRESSION: Expression()}
_FEWEST_LABELS = 2
#: Labels with fewer cells than this are named in a message.
_FEW_CELLS = 3


def wanted(
    adata: AnnData,
    preserve: Preserve,
    cell_weights: str | None,
    *,
    symbols: str | None = None,
    missing: named.Missing = "raise",
) -> Target | None:
    """What two arguments ask for; None where it is the structure, all cells counting alike.

    Genes are rows of ``.var``: :func:`seen_by` has them among those that are looked at.

    Parameters
    ----------
    adata
        Cells × genes.
    preserve, cell_weights
        Those of :func:`~glfs_bio.pp.select_genes`.
    symbols, missing
        For names of genes.

    Raises
    ------
    KeyError
        A string that names nothing; unknown genes.
    TypeError, ValueError
        Something that cannot be kept, or weights that cannot be used.
    """
    checks.texts(cell_weights=cell_weights, or_none=True)
    if isinstance(preserve, str) and preserve == STRUCTURE and cell_weights is None:
        return None
    shares = preserve if isinstance(preserve, Mapping) else {_key(preserve): 1.0}
    if not shares or () in shares:
        msg = 'preserve is empty: name what the panel is to keep, such as "structure".'
        raise ValueError(msg)
    terms = []
    for what, share in shares.items():
        if isinstance(preserve, Mapping) and not isinstance(what, str):
            msg = (
                f"preserve has the key {what!r}: it must be a string. For genes beside other "
                "things name a boolean column of adata.var, or a file."
            )
            raise TypeError(msg)
        checks.number(f"preserve[{what!r}]", share, above=0.0)
        terms.append((_term(adata, what, symbols=symbols, missing=missing), float(share)))
    if cell_weights is not None and list(shares) == [cell_weights]:
        log.warning(
            "cell_weights=%r changes nothing with preserve=%r: all pairs of labels count alike.",
            cell_weights,
            cell_weights,
        )
    return Target(tuple(terms), None if cell_weights is None else _weights(adata, cell_weights))


def seen_by(adata: AnnData, asked: Target, seen: Index) -> Target:
    """The same with genes as places among the rows of ``.var`` that are looked at.

    Raises
    ------
    ValueError
        Genes that are not looked at.
    """
    left_out = "preserve has genes that mask_var leaves out"
    terms = (
        (
            Genes(named.places(adata, seen, term.genes, left_out))
            if isinstance(term, Genes)
            else term,
            share,
        )
        for term, share in asked.terms
    )
    return replace(asked, terms=tuple(terms))


def told(entry: Mapping[str, Any]) -> str:
    """What the shares of a record are shares of, for text."""
    preserve = write.restored(entry.get("params", {}).get("preserve", STRUCTURE))
    if isinstance(preserve, str):
        return f"the {preserve}" if preserve in _OF_ALL_GENES else preserve
    if isinstance(preserve, Mapping):
        return " and ".join(preserve)
    return "the genes to preserve"


def names(preserve: Preserve, cell_weights: str | None) -> set[str]:
    """Strings that may name something of the cells."""
    shares = preserve if isinstance(preserve, Mapping) else [preserve]
    return {name for name in [*shares, cell_weights] if isinstance(name, str)}


def _key(preserve: Any) -> str | tuple[str, ...]:
    """What stands for one thing: a string, or the names of genes."""
    if isinstance(preserve, str):
        return preserve
    if not isinstance(preserve, Iterable):
        msg = (
            f"preserve={preserve!r} must be 'structure', 'expression', a name in adata.obs or "
            "adata.obsm, names of genes, or a dict of these with weights."
        )
        raise TypeError(msg)
    return tuple(preserve)


def _term(adata: AnnData, what: Any, *, symbols: str | None, missing: named.Missing) -> Term:
    if isinstance(what, str):
        if what in _OF_ALL_GENES:
            return _OF_ALL_GENES[what]
        if what in adata.obs and what in adata.obsm:
            msg = f"preserve={what!r} is both in adata.obs and in adata.obsm: rename one of them."
            raise ValueError(msg)
        if what in adata.obs:
            return _of_column(adata, what)
        if what in adata.obsm:
            return _of_space(adata, what)
        stored = what in adata.var or f"{what}_selected" in adata.var
        if not stored and Path(what).suffix.lower() not in _gene_files.ENDINGS:
            msg = (
                f"preserve={what!r} is neither 'structure' nor 'expression' nor in adata.obs "
                f"({read.listed(adata.obs.columns)}) nor in adata.obsm "
                f"({read.listed(adata.obsm.keys())}) nor a boolean column of adata.var nor a file "
                "of genes. Give genes as a list."
            )
            raise KeyError(msg)
        if not stored and what.lower().endswith(".gmt"):
            sets = _gene_files.read_gmt(what).values()
            what = tuple(dict.fromkeys(gene for genes in sets for gene in genes))
    found = named.panel(adata, what, symbols=symbols, missing=missing, argument="preserve")
    return Genes(found.genes)


def _of_column(adata: AnnData, name: str) -> Term:
    """Labels, or a number a cell."""
    column = adata.obs[name]
    if pd.api.types.is_float_dtype(column):
        return _of_numbers(column.to_numpy(dtype=float, na_value=np.nan)[:, None], name)
    if pd.api.types.is_integer_dtype(column):
        msg = (
            f"preserve={name!r} holds whole numbers: convert them with .astype('category') where "
            "they are labels, or with .astype(float) where they are measurements."
        )
        raise TypeError(msg)
    codes, categories = labels.codes(adata, name, "preserve")
    n_cells = np.bincount(codes[codes >= 0], minlength=len(categories))
    if len(categories) < _FEWEST_LABELS:
        msg = (
            f"preserve={name!r} has {len(categories)} label: at least {_FEWEST_LABELS} are needed."
        )
        raise ValueError(msg)
    few = [str(label) for label, n in zip(categories, n_cells, strict=True) if n < _FEW_CELLS]
    if few:
        log.warning(
            "preserve=%r: labels of one or two cells say little of the cells like them: %s",
            name,
            read.listed(few),
        )
    return Labels(codes)


def _of_space(adata: AnnData, name: str) -> Term:
    """All columns of a matrix with a row a cell."""
    values = adata.obsm[name]
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if values.dtype.kind not in "fiub":
        msg = f"preserve={name!r} has dtype {values.dtype}: adata.obsm[{name!r}] must hold numbers."
        raise TypeError(msg)
    return _of_numbers(values.reshape(adata.n_obs, -1).astype(float), name)


def _of_numbers(values: Array, name: str) -> Values:
    if np.isinf(values).any():
        msg = f"preserve={name!r} has infinite values: make them missing (NaN), or finite."
        raise ValueError(msg)
    known = values[np.isfinite(values).all(axis=1)]
    if not len(known) or not (np.ptp(known, axis=0) > 0).any():
        msg = f"preserve={name!r} does not vary over the {len(known)} cells that have it."
        raise ValueError(msg)
    return Values(values)


def _weights(adata: AnnData, name: str) -> Array:
    """Of each cell: numbers as they are, or the same sum for each label."""
    if name not in adata.obs:
        msg = f"cell_weights={name!r} is not in adata.obs: {read.listed(adata.obs.columns)}."
        raise KeyError(msg)
    column = adata.obs[name]
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        weights = column.to_numpy(dtype=float, na_value=np.nan)
        if not (np.isfinite(weights).all() and weights.min() >= 0 and weights.any()):
            msg = f"cell_weights={name!r} must hold finite numbers ≥ 0, and not only 0."
            raise ValueError(msg)
        return np.asarray(weights)
    codes, categories = labels.codes(adata, name, "cell_weights")
    known = codes >= 0
    if not known.any():
        msg = f"cell_weights={name!r} has no label: name another column of adata.obs."
        raise ValueError(msg)
    n_cells = np.bincount(codes[known], minlength=len(categories))
    weights = np.ones(adata.n_obs)
    weights[known] = known.sum() / (len(categories) * n_cells[codes[known]])
    return weights
