"""A number for each gene: one for all, a column of ``.var``, or a dict by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import checks
from .read import listed

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array

#: What such an argument may be; documentation shows it.
PerGene = str | Mapping[str, float] | float


def numbers(
    adata: AnnData,
    given: PerGene,
    argument: str,
    *,
    needed: NDArray[np.bool_] | None = None,
    most: float = np.inf,
    otherwise: float = 0.0,
) -> Array:
    """The numbers, shape (n_vars,), from 0 to `most`.

    Parameters
    ----------
    adata
        Cells × genes.
    given
        What the argument is.
    argument
        What messages call it.
    needed
        Genes that must have a number; None: all.
    most
        Largest number that makes sense.
    otherwise
        Of the genes that need none.

    Raises
    ------
    KeyError
        No such column.
    TypeError, ValueError
        No numbers, numbers out of range, or genes without one.
    """
    if isinstance(given, str):
        values = of_column(column(adata, given, argument), f"{argument}={given!r}")
    elif isinstance(given, Mapping):
        values = of_column(pd.Series(dict(given), dtype=object).reindex(adata.var_names), argument)
    else:
        checks.number(argument, given)
        values = np.full(adata.n_vars, float(given))
    may = np.ones(adata.n_vars, dtype=bool) if needed is None else needed
    refuse(
        adata,
        may & ~np.isfinite(values),
        f"{argument} has no finite value for {{}}: give each a number",
    )
    refuse(adata, may & (values < 0), f"{argument} is negative for {{}}: it must be ≥ 0")
    refuse(adata, may & (values > most), f"{argument} is above {most:g} for {{}}")
    return np.where(may, values, otherwise)


def probabilities(adata: AnnData, given: PerGene, argument: str) -> Array:
    """Numbers from 0 to 1; 0 for genes that a dict does not name.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`numbers`.
    """
    if isinstance(given, Mapping):
        strange = [str(name) for name in given if name not in adata.var_names]
        if strange:
            msg = f"{argument} names genes that are not in adata.var_names: {listed(strange)}."
            raise KeyError(msg)
        given = dict.fromkeys(adata.var_names, 0.0) | dict(given)
    return numbers(adata, given, argument, most=1.0)


def column(adata: AnnData, name: str, argument: str) -> pd.Series:
    """A column of ``.var``.

    Raises
    ------
    KeyError
        It is not there.
    """
    if name not in adata.var:
        msg = f"{argument}={name!r} is not a column of adata.var: {listed(adata.var.columns)}."
        raise KeyError(msg)
    return adata.var[name]


def of_column(values: pd.Series, argument: str) -> Array:
    """Numbers, NaN where it is empty.

    Raises
    ------
    TypeError
        Something else.
    """
    try:
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        msg = f"{argument} must hold numbers, not {values.dtype}."
        raise TypeError(msg) from None


def refuse(adata: AnnData, wrong: NDArray[np.bool_], what: str) -> None:
    """Say for which genes something is wrong; ``{}`` in `what` stands for them.

    Raises
    ------
    ValueError
        There are some.
    """
    if wrong.any():
        names = f"{wrong.sum()} genes ({listed(adata.var_names[wrong])})"
        msg = f"{what.format(names)}."
        raise ValueError(msg)
