"""Labels of the cells, out of an AnnData object."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from ..laprls import check_classes, n_folds
from .read import listed

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

#: Texts that often stand for a missing label.
_MISSING = frozenset(
    (
        *("", "?", "-", "na", "n/a", "nan", "none", "null", "missing", "not assigned"),
        *("not available", "unassigned", "unclassified", "undefined", "undetermined", "unknown"),
        *("unlabeled", "unlabelled", "unsure"),
    )
)


def codes(
    adata: AnnData, groupby: str, argument: str = "groupby"
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Number of every cell's category, −1 where it is missing, and the categories that occur.

    `argument` is what messages call the column.

    Raises
    ------
    KeyError
        No such column.
    TypeError
        A column of measurements.
    """
    checks.texts(or_none=False, **{argument: groupby})
    if groupby not in adata.obs:
        msg = f"{argument}={groupby!r} is not in adata.obs: {listed(adata.obs.columns)}."
        raise KeyError(msg)
    column = adata.obs[groupby]
    if pd.api.types.is_float_dtype(column):
        msg = (
            f"{argument}={groupby!r} has dtype {column.dtype}: labels must be categories, strings, "
            "integers or booleans; convert it with .astype('category')."
        )
        raise TypeError(msg)
    labels = column.astype("category").cat.remove_unused_categories()
    return labels.cat.codes.to_numpy(dtype=np.intp), labels.cat.categories.to_numpy()


def check(labels: NDArray[Any], groupby: str) -> None:
    """Refuse labels that cannot be learnt from.

    Raises
    ------
    ValueError
        Fewer than two classes.
    """
    check_classes(labels.astype(str), name=f"groupby={groupby!r}")


def tell(labels: NDArray[Any], groupby: str, cv: int | None) -> None:
    """Log which values are classes, those that may mean a missing label, and those with few cells.

    `cv` is the number of folds that is asked for; None: none.
    """
    classes, counts = np.unique(labels.astype(str), return_counts=True)
    sizes = ", ".join(f"{name} ({n})" for name, n in zip(classes, counts, strict=True))
    log.info("groupby=%r has %d classes: %s.", groupby, len(classes), sizes)
    suspect = [name for name in classes.tolist() if name.strip().casefold() in _MISSING]
    if suspect:
        log.warning(
            "groupby=%r: %s is a class like the others. If it means that the label is missing, "
            "make it so: adata.obs[%r] = adata.obs[%r].astype('category')"
            ".cat.remove_categories(%s).",
            groupby,
            listed(map(repr, suspect)),
            groupby,
            groupby,
            suspect,
        )
    alone = classes[counts == 1]
    if len(alone):
        log.warning(
            "groupby=%r: %s has one labelled cell: it is learnt from, and is in no test fold and "
            "not in the graph of the classes.",
            groupby,
            listed(map(repr, alone.tolist())),
        )
    if cv is None or counts.max() < 2:
        return
    number = n_folds(counts, cv)
    if number < cv:
        log.warning(
            "groupby=%r: the largest class has %d labelled cells, so that there are %d folds in "
            "place of cv=%d.",
            groupby,
            counts.max(),
            number,
            cv,
        )
    few = classes[(counts > 1) & (counts < number)]
    if len(few):
        log.warning(
            "groupby=%r: %s has fewer labelled cells than there are folds (%d), and is in as many "
            "test folds as it has cells.",
            groupby,
            listed(map(repr, few.tolist())),
            number,
        )
