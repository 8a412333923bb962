"""Labels of the cells, out of an AnnData object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..core import checks
from ..core.laprls.labels import check_classes
from .read import listed

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray


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


def check(labels: NDArray[Any], groupby: str, folds: int | None) -> None:
    """Refuse labels that cannot be learnt from, naming the classes.

    Raises
    ------
    ValueError
        Fewer than two classes, a class with one cell, or with fewer cells than folds.
    """
    classes, counts = np.unique(labels.astype(str), return_counts=True)
    check_classes(labels.astype(str), at_least=2, name=f"groupby={groupby!r}")
    if folds is not None and counts.min() < folds:
        msg = (
            f"cv={folds} is more than the {counts.min()} cells of class "
            f"{str(classes[counts.argmin()])!r}: choose fewer folds, or give n_genes one number, "
            "which needs none."
        )
        raise ValueError(msg)
