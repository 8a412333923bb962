"""Mean and variance of every gene, in one pass over the cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .rows import RowMatrix, no_rows, rows_of
from .values import with_values

if TYPE_CHECKING:
    from .._typing import Array, Index, Matrix
    from .rows import Sums

#: What rounding leaves of the variance of a constant gene, in units of its mean square: of zeros
#: and a mean in a sparse matrix, of differences from the mean in a dense one.
_ROUNDING_SPARSE = 1e-12
_ROUNDING_DENSE = 1e-24


@dataclass(frozen=True)
class Moments:
    """Mean and variance of every gene over the cells, shape (n_genes,) each."""

    mean: Array
    variance: Array


def moments(data: RowMatrix, sample: Index | None = None) -> tuple[Moments, Matrix]:
    """Mean and variance of every gene, and some of the cells, in one pass.

    Parameters
    ----------
    data
        Cells × genes.
    sample
        Sorted indices of the cells to return; None: all.

    Raises
    ------
    ValueError
        Values that are not finite.
    """
    wanted = None
    if not data.in_memory:
        wanted = np.zeros(data.shape[0], dtype=bool)
        wanted[slice(None) if sample is None else sample] = True
    (count, mean, squares, rounding), cells = data.sweep(_part, wanted, merge=_merge)
    if data.in_memory:
        cells = data.source if sample is None else data.source[sample]
    variance = squares / count
    if not (np.isfinite(mean) & np.isfinite(variance)).all():
        msg = "The matrix has NaN or infinite values: remove or impute these entries first."
        raise ValueError(msg)
    return Moments(mean, np.where(variance > rounding / count, variance, 0.0)), cells


def _part(block: Matrix, rows: slice, wanted: Array | None) -> tuple[Sums, Matrix]:
    """Number of cells, mean, squared distances from it, and what of these may be rounding."""
    n = block.shape[0]
    rounding: Array
    with np.errstate(invalid="ignore", over="ignore"):  # said once, at the end
        if sparse.issparse(block):
            ones, values = np.ones(n), block.data.astype(np.float64)
            mean = with_values(block, values).T @ ones / n
            total = with_values(block, np.square(values, out=values)).T @ ones
            squares = np.maximum(total - n * mean**2, 0.0)
            rounding = np.asarray(_ROUNDING_SPARSE * total, dtype=np.float64)
        else:
            mean = np.asarray(block.mean(axis=0, dtype=np.float64))
            apart = block - mean
            squares = np.asarray(np.square(apart, out=apart).sum(axis=0))
            rounding = _ROUNDING_DENSE * (squares + n * mean**2)
    cells = no_rows(block) if wanted is None else rows_of(block, wanted[rows])
    return (np.array(float(n)), mean, squares, rounding), cells


def _merge(left: Sums, right: Sums) -> Sums:
    """Of two sets of cells together (Chan, Golub & LeVeque 1983)."""
    (n, mean, squares, rounding), (m, other, more, also) = left, right
    total = n + m
    with np.errstate(invalid="ignore", over="ignore"):
        apart = other - mean
        return (
            np.asarray(total),
            mean + apart * (m / total),
            squares + more + apart**2 * (n * m / total),
            rounding + also,
        )
