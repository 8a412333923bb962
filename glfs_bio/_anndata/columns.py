"""Labels of the cells, and a number for each gene, out of an AnnData object."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .. import checks
from ..errors import (
    BOOLEAN,
    CATEGORICAL,
    NO_VALUE,
    InvalidType,
    InvalidValue,
    Message,
    NotFound,
    arg,
    listed,
)
from ..laprls import n_folds
from .read import find

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array
    from .names import Lookup

log = logging.getLogger(__name__)

#: What an argument with a number for each gene may be; documentation shows it.
PerGene = str | Mapping[str, float] | float

#: Texts that often stand for a missing label.
_MISSING = frozenset(
    (
        *("", "?", "-", "na", "n/a", "nan", "none", "null", "missing", "not assigned"),
        *("not available", "unassigned", "unclassified", "undefined", "undetermined", "unknown"),
        *("unlabeled", "unlabelled", "unsure"),
    )
)


class Labels(NamedTuple):
    """Number of every cell's category, −1 where it is missing, and the categories that occur."""

    codes: NDArray[np.intp]
    categories: NDArray[Any]

    @property
    def names(self) -> list[str]:
        """The categories as texts."""
        return [str(category) for category in self.categories]


def labels(adata: AnnData, name: str, argument: str = "labels") -> Labels:
    """A column of ``.obs`` as categories.

    `argument` is what messages call the column.
    """
    column = find(adata, "obs", name, argument)
    if pd.api.types.is_float_dtype(column):
        raise InvalidType(
            argument,
            name,
            f"holds measurements (dtype {column.dtype}), but labels must be categories, strings, "
            f"integers or {BOOLEAN}",
            f"convert it with {CATEGORICAL}",
        )
    values = column.astype("category").cat.remove_unused_categories()
    codes = values.cat.codes.to_numpy(dtype=np.intp)
    return Labels(codes, values.cat.categories.to_numpy())


def log_labels(labels: NDArray[Any], cv: int | None) -> None:
    """Log which values are classes, those that may mean a missing label, and those with few cells.

    `cv` is the number of folds that is asked for; None: none.
    """
    classes, counts = np.unique(labels.astype(str), return_counts=True)
    sizes = ", ".join(f"{name} ({n})" for name, n in zip(classes, counts, strict=True))
    log.info(Message(f"{arg('labels')} has {len(classes)} classes: {sizes}."))
    suspect = [name for name in classes.tolist() if name.strip().casefold() in _MISSING]
    if suspect:
        log.warning(
            Message(
                f"{arg('labels')}: {listed(map(repr, suspect))} is used as a class. If it stands "
                "for a missing label, set the label of these cells to missing."
            )
        )
    alone = classes[counts == 1]
    if len(alone):
        log.warning(
            Message(
                f"{arg('labels')}: {listed(map(repr, alone.tolist()))} has one labelled cell, "
                "which is used for training only: it is in no test fold and not in the graph of "
                "the classes."
            )
        )
    if cv is not None and counts.max() > 1:
        _log_folds(classes, counts, cv)


def numbers(
    genes: Lookup,
    given: PerGene,
    argument: str,
    *,
    needed: NDArray[np.bool_] | None = None,
    most: float = np.inf,
    otherwise: float = 0.0,
    unnamed: float = np.nan,
) -> Array:
    """Numbers per gene of an argument, shape (n_vars,), from 0 to `most`: one for all, a column of
    ``.var``, or a dict by name.

    Each of the genes `needed` (None: all) must have one; `otherwise` is that of the rest, and
    `unnamed` that of genes that a dict does not name.
    """
    adata = genes.adata
    if isinstance(given, str):
        values = _of_column(find(adata, "var", given, argument), argument, given)
    elif isinstance(given, Mapping):
        values = _of_column(_by_row(genes, given, argument, unnamed), argument, NO_VALUE)
    else:
        checks.number(argument, given)
        values = np.full(adata.n_vars, float(given))
    may = np.ones(adata.n_vars, dtype=bool) if needed is None else needed
    bad = np.zeros(adata.n_vars, dtype=bool)
    for wrong, what in (
        (~np.isfinite(values), "no finite number"),
        (values < 0, "a number below 0"),
        (values > most, f"a number above {most:g}"),
    ):
        bad |= wrong
        if (may & wrong).any():
            raise InvalidValue(
                argument,
                NO_VALUE,
                f"has {what} for {int((may & wrong).sum())} genes "
                f"({listed(adata.var_names[may & wrong])})",
                "correct these, or remove the genes",
            )
    return np.where(bad, otherwise, values)


def _by_row(genes: Lookup, given: Mapping[Any, Any], argument: str, unnamed: float) -> pd.Series:
    """What is given by name for each row; names that no gene has are refused."""
    strange = [name for name in given if not genes.of(str(name))]
    if strange:
        raise NotFound(
            argument,
            NO_VALUE,
            f"has genes that are missing in {genes.where}: {listed(strange)}",
            f"leave them out{genes.hints(strange)}",
        )
    by_row = genes.numbers(given)
    return pd.Series([by_row.get(row, unnamed) for row in range(genes.n_genes)], dtype=object)


def _log_folds(classes: NDArray[Any], counts: NDArray[np.intp], cv: int) -> None:
    """Log how many folds there are, and classes with fewer cells."""
    number = n_folds(counts, cv)
    if number < cv:
        log.warning(
            Message(
                f"{arg('labels')}: the largest class has {int(counts.max())} labelled cells, and "
                f"{number} folds are used instead of {arg('cv', cv)}."
            )
        )
    few = classes[(counts > 1) & (counts < number)]
    if len(few):
        log.warning(
            Message(
                f"{arg('labels')}: {listed(map(repr, few.tolist()))} has fewer labelled cells "
                f"than folds ({number}), and is in as many test folds as it has cells."
            )
        )


def _of_column(values: pd.Series, argument: str, given: object) -> Array:
    """Numbers, NaN where it is empty."""
    try:
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InvalidType(
            argument, given, f"must hold numbers, and has dtype {values.dtype}"
        ) from None
