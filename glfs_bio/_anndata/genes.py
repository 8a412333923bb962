"""Genes that an argument names: to include, to exclude, or as a panel."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .. import _gene_files, checks
from . import families, read, selection
from .lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Index

    Item = str | re.Pattern[str]
    Genes = Item | Iterable[Item]
    Missing = Literal["raise", "warn", "ignore"]

MISSING = ("raise", "warn", "ignore")


@dataclass(frozen=True)
class Choice:
    """Which genes are looked at, which of them may be selected, and which must be: masks.

    `missing` holds what was asked for and is not there.
    """

    seen: NDArray[np.bool_]
    allowed: NDArray[np.bool_]
    included: NDArray[np.bool_]
    missing: list[Item]


@dataclass(frozen=True)
class Named:
    """A panel that an argument names.

    Attributes
    ----------
    genes
        Its rows of ``.var``, each once, in the order of the names.
    names
        The names, each once.
    absent
        Those of them that are not in the data.
    key
        Key of the selection that it is, or None.
    """

    genes: NDArray[np.intp]
    names: list[str]
    absent: list[str]
    key: str | None = None


def choose(
    adata: AnnData,
    mask_var: NDArray[np.bool_] | str | None,
    include: Genes | None,
    exclude: Genes | None,
    *,
    symbols: str | None = None,
    missing: Missing = "raise",
    stacklevel: int = 2,
) -> Choice:
    """The genes that three arguments leave; warns on behalf of who called `stacklevel` calls above.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.read.mask`; as :func:`gene_mask`, in one error for `include`
        and `exclude`; no gene to choose from; a gene that must be in and cannot be.
    """
    checks.one_of("missing", missing, MISSING)
    seen = read.mask(adata.var, mask_var, "mask_var")
    if include is None and exclude is None and symbols is None:
        return Choice(seen, seen, np.zeros_like(seen), [])
    lookup = Lookup(adata, symbols)
    excluded, not_excluded = _mask(lookup, exclude, "exclude")
    included, not_included = _mask(lookup, include, "include")
    told = [*_told(lookup, not_included, "include"), *_told(lookup, not_excluded, "exclude")]
    absent = [*not_included, *not_excluded]
    _report(told, absent, _unknown(absent), lookup, missing, stacklevel + 2)
    allowed = seen & ~excluded
    if (included & ~allowed).any():
        names = read.listed(adata.var_names[included & ~allowed])
        msg = f"include has genes that mask_var or exclude rule out: {names}."
        raise ValueError(msg)
    if not allowed.any():
        msg = "exclude leaves no gene to choose from."
        raise ValueError(msg)
    return Choice(seen, allowed, included, absent)


def gene_mask(
    adata: AnnData,
    genes: Genes | None,
    argument: str,
    *,
    symbols: str | None = None,
    missing: Missing = "raise",
) -> NDArray[np.bool_]:
    """Genes by name, compiled pattern, boolean column of ``.var``, or family.

    What a string names is looked for in this order.  A name is in ``.var_names`` or in the column
    `symbols`; a family is one of :data:`~glfs_bio._anndata.families.SOURCES`.

    Raises
    ------
    KeyError
        Strings that name nothing, all of them at once; no column `symbols`.
    TypeError
        Neither strings nor patterns.
    ValueError
        Patterns and families without a gene.
    """
    checks.one_of("missing", missing, MISSING)
    if genes is None:
        return np.zeros(adata.n_vars, dtype=bool)
    lookup = Lookup(adata, symbols)
    found, absent = _mask(lookup, genes, argument)
    _report(_told(lookup, absent, argument), absent, _unknown(absent), lookup, missing)
    return found


def panel(
    adata: AnnData,
    panel: Any,
    *,
    symbols: str | None = None,
    missing: Missing = "raise",
    argument: str = "panel",
) -> Named:
    """A panel: names, a file of names, the key of a selection, or a boolean column of ``.var``.

    A name is in ``.var_names`` or in the column `symbols`, and is all rows that have it.  A
    selection is in the order of its ranks, included genes first.

    Raises
    ------
    KeyError
        Names that are not in the data, all of them at once; a string that is none of these; no
        column `symbols`.
    OSError, ImportError
        As :func:`glfs_bio.io.read_panel`.
    TypeError
        None of these.
    ValueError
        No gene, or none that is in the data; a file without names.
    """
    read.unique_names(adata)
    checks.one_of("missing", missing, MISSING)
    lookup = Lookup(adata, symbols)
    if isinstance(panel, str) and not _is_file(panel):
        return _stored(adata, lookup, panel, argument)
    names = _names(panel, argument)
    absent = [name for name in names if name not in lookup.by_name]
    genes = dict.fromkeys(row for name in names for row in lookup.by_name.get(name, ()))
    where = " or ".join(lookup.places)
    if not genes:
        msg = f"{argument} has no gene that is in {where}: {read.listed(names)}."
        raise ValueError(msg + lookup.similar(absent) + lookup.other_names(absent))
    told = [f"{argument} has names that are not in {where}: {', '.join(absent)}."]
    _report(told, absent, absent, lookup, missing)
    return Named(np.fromiter(genes, dtype=np.intp), names, absent)


def places(adata: AnnData, seen: Index, rows: Index, left_out: str) -> Index:
    """Places of rows of ``.var`` among the rows that are looked at.

    Raises
    ------
    ValueError
        Rows that are not: `left_out`, which says so, with their names after it.
    """
    place = np.full(adata.n_vars, -1)
    place[seen] = np.arange(len(seen))
    outside = rows[place[rows] < 0]
    if len(outside):
        msg = f"{left_out}: {read.listed(adata.var_names[outside])}."
        raise ValueError(msg)
    return np.asarray(place[rows])


def looks_like_a_pattern(text: str) -> bool:
    """Whether somebody may have meant a regular expression."""
    return text[:1] == "^" or text[-1:] == "$" or ".*" in text


def _mask(
    lookup: Lookup, genes: Genes | None, argument: str
) -> tuple[NDArray[np.bool_], list[Item]]:
    """Genes that are asked for, and what is not there."""
    found = np.zeros(lookup.n_genes, dtype=bool)
    absent: list[Item] = []
    if genes is None:
        return found, absent
    if not isinstance(genes, str | re.Pattern | Iterable):
        msg = f"{argument}={genes!r} must be names of genes, compiled patterns, or a list of these."
        raise TypeError(msg)
    for item in [genes] if isinstance(genes, str | re.Pattern) else genes:
        if not isinstance(item, str | re.Pattern):
            msg = f"{argument} has {item!r}: it must be a name of a gene, or a compiled pattern."
            raise TypeError(msg)
        rows = lookup.rows(item)
        if rows is not None:
            found[rows] = True
        elif item not in absent:
            absent.append(item)
    return found, absent


def _told(lookup: Lookup, absent: list[Item], argument: str) -> list[str]:
    """A sentence about names that are not there, and one about each pattern and family."""
    told = []
    if names := _unknown(absent):
        places = " nor in ".join(lookup.places)
        hint = (
            "; for a pattern pass re.compile(...)" if any(map(looks_like_a_pattern, names)) else ""
        )
        told.append(
            f"{argument}: {', '.join(map(repr, names))} {'is' if len(names) == 1 else 'are'} "
            f"neither in {places} nor a boolean column of adata.var nor a family of genes "
            f"({', '.join(families.SOURCES)}){hint}."
        )
    every = " and ".join(lookup.places)
    for item in absent:
        if isinstance(item, re.Pattern):
            told.append(f"{argument}: the pattern {item.pattern!r} matches none of {every}.")
        elif item in families.SOURCES:
            told.append(f"{argument}: no gene of the family {item!r} is among {every}.")
    return told


def _unknown(absent: Iterable[Item]) -> list[str]:
    """Names among what is not there."""
    return [item for item in absent if isinstance(item, str) and item not in families.SOURCES]


def _report(
    told: list[str],
    absent: Sequence[Item],
    unknown: list[str],
    lookup: Lookup,
    missing: Missing,
    stacklevel: int = 4,
) -> None:
    """Raise, warn, or say nothing about what is not there.

    Raises
    ------
    KeyError
        Unknown names.
    ValueError
        Nothing but patterns and families.
    """
    if missing == "ignore" or not absent:
        return
    text = " ".join(told) + lookup.similar(unknown) + lookup.other_names(absent)
    if missing == "warn":
        warnings.warn(f"{text} They are left out.", UserWarning, stacklevel=stacklevel)
        return
    raise (KeyError if unknown else ValueError)(f"{text} missing='warn' leaves them out.")


def _is_file(text: str) -> bool:
    return Path(text).suffix.lower() in _gene_files.ENDINGS and Path(text).is_file()


def _names(panel: Any, argument: str) -> list[str]:
    """Names of a list or file, each once."""
    if isinstance(panel, str | Path):
        return _gene_files.read_panel(panel)
    if isinstance(panel, Mapping) or not isinstance(panel, Iterable):
        msg = (
            f"{argument}={panel!r} must be a list of names of genes, a file, the key of a "
            "selection, or the name of a boolean column of adata.var."
        )
        raise TypeError(msg)
    names = list(panel)
    for name in names:
        if not isinstance(name, str):
            msg = f"{argument} has {name!r}: it must be a name of a gene."
            raise TypeError(msg)
    if not names:
        msg = f"{argument} is empty: give names of genes."
        raise ValueError(msg)
    return list(dict.fromkeys(map(str, names)))


def _stored(adata: AnnData, lookup: Lookup, panel: str, argument: str) -> Named:
    """A selection or a boolean column, by its name."""
    if f"{panel}_selected" in adata.var:
        chosen = selection.ranked(adata, panel).index
        return Named(adata.var_names.get_indexer(chosen), list(chosen), [], panel)
    if panel in lookup.flags:
        genes = np.asarray(lookup.rows(panel), dtype=np.intp)
        if not len(genes):
            msg = f"{argument}={panel!r} has no gene: the column is False everywhere."
            raise ValueError(msg)
        return Named(genes, list(adata.var_names[genes]), [])
    keys = [name.removesuffix("_selected") for name in lookup.flags if name.endswith("_selected")]
    told = [read.listed(names) for names in (keys, lookup.flags)]
    msg = (
        f"{argument}={panel!r} is no file, no key of a selection ({told[0]}) and no boolean column "
        f"of adata.var ({told[1]}). Give names as a list."
    )
    raise KeyError(msg)
