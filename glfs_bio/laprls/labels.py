"""Labels of the samples: which are missing, and whether the others can be learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

UNLABELLED = -1


def is_labelled(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Samples with a label: for numbers all but −1, unless the labels are −1 and 1.

    Those two are the other usual coding of two classes; read as one class and no label, they would
    leave nothing to tell apart.
    """
    if not np.issubdtype(labels.dtype, np.number) or np.array_equal(np.unique(labels), (-1, 1)):
        return np.ones(len(labels), dtype=bool)
    return np.asarray(labels != UNLABELLED)


def check_classes(labels: npt.NDArray[Any], at_least: int = 1, name: str = "y") -> npt.NDArray[Any]:
    """Return the classes, at least two with `at_least` samples each.

    Raises
    ------
    ValueError
        Too few classes, or samples of one.
    """
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        found = f"one class, {classes.tolist()[0]!r}" if len(classes) else "no label"
        msg = f"{name} has {found}: at least two classes are needed."
        raise ValueError(msg)
    if counts.min() < at_least:
        rare = classes[counts < at_least].tolist()
        samples = "sample" if counts.min() == 1 else "samples"
        msg = (
            f"{name}: {_names(rare)} with {counts.min()} {samples}, "
            f"but every class needs at least {at_least}: merge or remove it."
        )
        raise ValueError(msg)
    return classes


def n_folds(counts: npt.NDArray[np.intp], at_most: int) -> int:
    """Number of folds: as many as wanted, but no more than the largest class has samples.

    Every class with two samples or more is then in the training part of every fold.

    Raises
    ------
    ValueError
        No class has two samples.
    """
    largest = int(counts.max())
    if largest < 2:
        msg = (
            "No class has two samples, so that none can be held out: give n_genes one number, "
            "which needs no folds."
        )
        raise ValueError(msg)
    return min(at_most, largest)


def _names(classes: list[Any]) -> str:
    shown = ", ".join(map(repr, classes[:8])) + (", …" if len(classes) > 8 else "")
    return f"class {shown}" if len(classes) == 1 else f"classes {shown}"
