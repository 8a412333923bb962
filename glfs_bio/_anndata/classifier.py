"""A classifier of a few genes as ``.uns`` and files keep it, and its genes in other data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..data.matrix import RowMatrix
from ..errors import (
    ADATA,
    NO_VALUE,
    UNS,
    Caution,
    InvalidType,
    InvalidValue,
    NotFound,
    arg,
    call,
    listed,
    warn,
)
from ..options import MISSING
from . import read
from .names import Lookup

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix
    from .names import Missing

_NUMBERS = ("coef", "intercept", "gene_means", "typical_margin")
#: What a record must have.
PARTS = ("genes", "classes", *_NUMBERS)


@dataclass(frozen=True)
class Classifier:
    """``X w + b`` on a few genes."""

    #: Names, the best first, and symbols, "" where there is none
    genes: NDArray[Any]
    symbols: NDArray[Any]
    classes: NDArray[Any]
    #: w, shape (n_genes, n_outputs), and b: an output per class, or one for two classes, positive
    #: for the second
    coef: Array
    intercept: Array
    #: Over the training cells, for genes that other data lack
    gene_means: Array
    #: Median over the labelled training cells
    typical_margin: float

    @classmethod
    def of(cls, record: Any, argument: str, value: object = NO_VALUE) -> Classifier:
        """Read it from a record, which an argument of a value names."""
        about = argument, value
        if not isinstance(record, Mapping):
            raise InvalidType(
                *about,
                f"must be a result of {call('tl.classify')} in {UNS}, or a file of "
                f"{call('io.write_classifier')}, not {type(record).__name__}",
            )
        absent = [part for part in PARTS if part not in record]
        if absent:
            raise InvalidValue(
                *about,
                f"is not a result of {call('tl.classify')}, or of an earlier version, since "
                f"{', '.join(absent)} is missing",
                "classify again",
            )
        genes, classes = _names(record["genes"], about), _names(record["classes"], about)
        coef, intercept, means, typical = (checks.real(argument, record[part]) for part in _NUMBERS)
        symbols = _names(record.get("symbols", [""] * len(genes)), about)
        outputs = 1 if len(classes) == 2 else len(classes)
        shapes = (len(genes), outputs), (outputs,), (len(genes),), (), (len(genes),)
        given = tuple(part.shape for part in (coef, intercept, means, typical, symbols))
        doubled = any(len(set(part)) < len(part) for part in (genes, classes))
        if (
            given != shapes
            or doubled
            or len(classes) < 2
            or not len(genes)
            or typical < checks.SMALLEST
        ):
            raise InvalidValue(
                *about,
                f"is damaged, since {len(genes)} genes and {len(classes)} classes do not fit its "
                "arrays or are not unique",
                "classify again",
            )
        return cls(genes, symbols, classes, coef, intercept, means, float(typical))

    def columns(
        self, adata: AnnData, *, symbols: str | None = None, missing: Missing = "raise"
    ) -> Index:
        """Row of ``.var`` of every gene, −1 where it is absent.

        A gene is looked for by its name, then by its symbol, in ``.var_names``, then in the column
        `symbols`.
        """
        checks.one_of("missing", missing, MISSING)
        read.unique_names(adata)
        lookup = Lookup(adata, symbols)
        rows = np.array(
            [_row(adata, lookup, called) for called in zip(self.genes, self.symbols, strict=True)]
        )
        absent = self.genes[rows < 0].tolist()
        if not absent or (missing == "ignore" and len(absent) < len(rows)):
            return rows
        names, hints = listed(absent), lookup.hints(absent)
        if len(absent) == len(rows):
            raise InvalidValue(
                "model",
                NO_VALUE,
                f"has no gene of {lookup.where}, but {names}",
                f"use the gene names of the training data{hints}",
            )
        how_many = f"{len(absent)} of {len(rows)} genes"
        if missing == "raise":
            raise NotFound(
                "model",
                NO_VALUE,
                f"has {how_many} that are missing in {lookup.where}: {names}",
                f"pass {arg('missing', 'warn')} to use their mean over the training cells{hints}",
            )
        warn(
            Caution(
                f"{how_many} of {arg('model')} are missing in {lookup.where}, and their mean over "
                f"the training cells is used: {names}{hints}."
            )
        )
        return rows

    def decision(self, data: RowMatrix, columns: Index) -> Array:
        """Decision values, shape (n_cells, n_outputs), in one pass over the cells."""
        there = np.flatnonzero(columns >= 0)
        there = there[np.argsort(columns[there])]
        absent = np.flatnonzero(columns < 0)
        constant = self.intercept + self.gene_means[absent] @ self.coef[absent]
        data_of_genes = RowMatrix(data, genes=columns[there])
        return np.asarray(data_of_genes.sweep(_times, self.coef[there])[1]) + constant


def best(decision: Array) -> NDArray[np.intp]:
    """Number of the class of largest decision value; `decision` has one column for two classes."""
    if decision.shape[1] == 1:
        return (decision[:, 0] > 0).astype(np.intp)
    return np.asarray(decision.argmax(axis=1), dtype=np.intp)


def margins(decision: Array) -> Array:
    """Difference between the largest decision value and the second.

    The one value of two classes is half of the difference between what each would have.
    """
    if decision.shape[1] == 1:
        return 2.0 * np.abs(decision[:, 0])
    second, first = np.partition(decision, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def _times(block: Matrix, _: slice, coef: Array) -> tuple[tuple[Array, ...], Array]:
    return (), np.asarray(block @ coef)


def _row(adata: AnnData, lookup: Lookup, called: tuple[str, str]) -> int:
    """Row of a gene that goes by two names."""
    for name in filter(None, called):
        if name in adata.var_names:
            return int(adata.var_names.get_loc(name))
        rows = sorted(set(lookup.of(name)))
        if len(rows) > 1:
            raise InvalidValue(
                "model",
                NO_VALUE,
                f"has a gene {name!r} that matches {len(rows)} genes of {ADATA}: "
                f"{listed(adata.var_names[rows])}",
                "remove all but one",
            )
        if rows:
            return rows[0]
    return -1


def _names(names: Any, about: tuple[str, object]) -> NDArray[Any]:
    array = np.asarray(names, dtype=object)
    if array.ndim != 1 or not all(isinstance(name, str) for name in array):
        raise InvalidValue(
            *about,
            "is damaged, since its genes and classes must be lists of names",
            "classify again",
        )
    return array
