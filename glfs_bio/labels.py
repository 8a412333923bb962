"""Labels of cells: which values are one, and what their classes are asked for.

Labels are categories, texts, booleans and whole numbers, also those that pandas keeps as floats
since some are missing; measurements are none.  A cell has no label where the value is missing, −1
among numbers (as of HDBSCAN), or a text that stands for a missing value in pandas.
"""

from __future__ import annotations

from collections import Counter
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from .errors import InvalidType, InvalidValue, listed, subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._typing import Array

UNLABELLED = -1
#: More whole numbers than these, of fewer cells each in the mean, are no labels.
_MANY, _FEW_CELLS = 50, 10
#: Texts that stand for a missing label.
NO_LABEL = {"", "nan", "NaN", "-nan", "-NaN", "NA", "N/A", "n/a", "<NA>"}
NO_LABEL |= {"#NA", "#N/A", "#N/A N/A", "None", "null", "NULL"}
#: What pandas says of a column of objects that are all numbers.
_NUMBERS = ("integer", "floating", "mixed-integer-float")


class Labels(NamedTuple):
    """Number of every cell's category, −1 where it is missing, and the categories that occur."""

    codes: NDArray[np.intp]
    #: Integers, booleans, or texts
    categories: NDArray[Any]

    @property
    def names(self) -> list[str]:
        """The categories as texts."""
        return [str(category) for category in self.categories]


def coded(
    values: Any, argument: str = "y", name: str | None = None
) -> tuple[Labels, dict[str, int]]:
    """Return labels, and how many cells have none for each value that stands for that.

    −1 is a label where the only other is 1.  `argument` and `name` are what messages call them.
    """
    column = pd.Series(values)
    _refuse_measurements(column, argument, name)
    if column.dtype == np.object_:
        numbers = [value for value in column if isinstance(value, Real | np.bool_)]
        if len({isinstance(value, bool | np.bool_) for value in numbers}) > 1:  # 1 and 0 in pandas
            raise InvalidValue(f"{subject(argument, name)} has flags among numbers: rename them")
    column = column.astype("category").cat.remove_unused_categories()
    labels = [_plain(label) for label in column.cat.categories]
    often = Counter(map(str, labels))
    alike = sorted(repr(label) for label in labels if often[str(label)] > 1)
    if alike:
        text = f"{subject(argument, name)} has labels that are written alike: {listed(alike)}"
        raise InvalidValue(f"{text}: make them one, or name them apart")
    is_label = np.array([not _stands_for_none(label, labels) for label in labels], dtype=bool)
    codes = column.cat.codes.to_numpy(dtype=np.intp)
    n_cells = np.bincount(codes[codes >= 0], minlength=len(labels))
    none = {repr(labels[k]): int(n_cells[k]) for k in np.flatnonzero(~is_label)}
    new_codes = np.append(np.where(is_label, np.cumsum(is_label) - 1, -1), -1)
    categories = _categories([labels[k] for k in np.flatnonzero(is_label)])
    return Labels(new_codes[codes], categories), none


def batch_names(values: Any, argument: str, name: str | None = None) -> NDArray[Any]:
    """Return the batch of every cell as a text; each cell must have one."""
    labels, _ = coded(values, argument, name)
    missing = int(np.sum(labels.codes < 0))
    if missing:
        raise InvalidValue(f"{subject(argument, name)} is missing for {missing} cells: fill it in")
    return np.array(labels.names)[labels.codes]


def as_numbers(column: pd.Series) -> Array | None:
    """Return a column of real numbers, NaN where they are missing; None of anything else."""
    kind: Any = column.dtype
    if kind == np.object_:
        is_real = pd.api.types.infer_dtype(column, skipna=True) in _NUMBERS
    else:
        is_real = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    if not is_real or pd.api.types.is_complex_dtype(kind):
        return None
    return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))


def is_whole(numbers: Array) -> bool:
    """Return whether all numbers that there are are whole."""
    numbers = numbers[~np.isnan(numbers)]
    return bool(np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all())


def check_classes(labels: NDArray[Any], name: str = "y") -> None:
    """Refuse labels of fewer than two classes."""
    classes = np.unique(labels)
    if len(classes) < 2:
        text = f"has one class, {listed(classes)}" if len(classes) else "has no label"
        raise InvalidValue(f"`{name}` {text}: at least two classes are needed")


def n_folds(counts: NDArray[np.intp], at_most: int) -> int:
    """Number of folds: as many as wanted, but no more than the largest class has samples."""
    largest = int(counts.max())
    if largest < 2:
        raise InvalidValue("`n_genes` needs a class of two samples or more: give one number")
    return min(at_most, largest)


def _refuse_measurements(column: pd.Series, argument: str, name: object) -> None:
    """Refuse numbers that are not whole, and so many whole numbers that they count something."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return
    numbers = as_numbers(column)
    if numbers is not None and is_whole(numbers):
        n_different = column.nunique()
        if n_different > _MANY and n_different * _FEW_CELLS > len(column):
            text = f"{subject(argument, name)} has {n_different} numbers for {len(column)} cells"
            raise InvalidValue(f"{text}: if they are labels, use `.astype('category')`")
        return
    if column.dtype == np.object_ and not column.map(pd.api.types.is_hashable).all():
        text = f"{subject(argument, name)} has lists, dicts or sets for labels"
        raise InvalidType(f"{text}: convert it with `.astype(str)`")
    values = column.unique() if column.dtype == np.object_ else ()
    is_measured = numbers is not None or pd.api.types.is_complex_dtype(column.dtype)
    if is_measured or any(isinstance(v, float | np.floating) and v % 1 > 0 for v in values):
        text = f"{subject(argument, name)} holds measurements, which are no labels"
        raise InvalidType(f"{text}: convert it with `.astype('category')`")


def _plain(label: Any) -> Any:
    """A label as an integer or a boolean of Python, or as a text."""
    if isinstance(label, bool | np.bool_):
        return bool(label)
    if isinstance(label, Real) and label % 1 == 0:
        return int(label)  # type: ignore[call-overload]
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def _stands_for_none(label: object, labels: list[Any]) -> bool:
    if label != UNLABELLED:
        return isinstance(label, str) and label in NO_LABEL
    return [text for text in labels if text != UNLABELLED and text not in NO_LABEL] != [1]


def _categories(labels: list[Any]) -> NDArray[Any]:
    """Labels as integers or booleans where all are, else as texts: what files can keep."""
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], str):
        numbers = np.array(labels)
        if numbers.dtype.kind in "biu":
            return numbers
    return np.array([str(label) for label in labels], dtype=object)
