"""The nearest of many cells: looked for in single precision, measured and proven in double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from ..data import threads
from ..data.products import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix

#: Cells that are measured beyond those wanted, at least: rounding may have put any behind others.
_SPARE = 8
#: With more dimensions than these the bound of rounding is too wide.
_MOST_DIMENSIONS = 128
#: Cells whose distances are computed at once, and cells of which the nearest is found at once.
_ROWS, _TOGETHER = 128, 32


def nearest(cells: Matrix, among: Matrix, n_neighbors: int) -> tuple[Array, Index]:
    """Distances of `cells` to their nearest in `among`, the nearest first, and which these are.

    Products of all in single precision take half the time of double.  Those that are near by these
    are measured; where one that is not might be nearer, by what rounding can do, scikit-learn looks
    at a cell again.

    Shapes: `cells` (n, r), `among` (m, r).  Two of shape (n, n_neighbors).
    """
    n_near = n_neighbors + _SPARE
    few = sparse.issparse(among) or len(among) < n_near * _TOGETHER
    if few or among.shape[1] > _MOST_DIMENSIONS:
        return _by_double(cells, among, n_neighbors)
    cells, among = np.ascontiguousarray(cells), np.ascontiguousarray(among)
    centre = among.mean(axis=0, dtype=np.float64)
    apart = among - centre
    unit = np.abs(apart).max() or 1.0
    apart /= unit
    squares = np.einsum("ij,ij->i", apart, apart)
    right = np.column_stack([apart, squares]).astype(np.float32).T
    # Of |a − b|² as its terms are added up in single precision, in units of (|a| + |b|)².
    rounding, largest = (among.shape[1] + 4) * 2.0**-23, np.sqrt(squares.max())
    far = np.full((len(cells), n_neighbors), np.inf)
    near: Index = np.zeros(far.shape, dtype=np.intp)
    sure = np.empty(len(cells), dtype=bool)

    def find(part: int) -> None:
        rows = slice(part * _ROWS, (part + 1) * _ROWS)
        of = (cells[rows] - centre) / unit
        products = np.column_stack([-2.0 * of, np.ones(len(of))]).astype(np.float32) @ right
        least = np.empty((len(of), -(-len(among) // _TOGETHER)), dtype=np.float32)
        _least(products, least)
        limits = np.partition(least, n_near - 1, axis=1)[:, n_near - 1]
        _measure(products, least, limits, cells[rows], among, far[rows], near[rows])
        own = np.einsum("ij,ij->i", of, of)
        left_out = limits + own - rounding * (np.sqrt(own) + largest) ** 2
        sure[rows] = far[rows, -1] <= left_out * unit**2

    with threads.one_thread_of_blas():
        threads.work(find, range(-(-len(cells) // _ROWS)))
    np.sqrt(far, out=far)
    if not sure.all():
        again = np.flatnonzero(~sure)
        far[again], near[again] = _by_double(cells[again], among, n_neighbors)
    return far, near


def _by_double(cells: Matrix, among: Matrix, n_neighbors: int) -> tuple[Any, Any]:
    found: tuple[Any, Any] = NearestNeighbors(n_neighbors=n_neighbors).fit(among).kneighbors(cells)
    return found


@compiled()
def _least(products: NDArray[Any], least: NDArray[Any]) -> None:
    """The least of several successive columns."""
    for i in range(len(products)):
        row = products[i]
        for place in range(least.shape[1]):
            begin = place * _TOGETHER
            found = row[begin]
            for j in range(begin + 1, min(begin + _TOGETHER, len(row))):
                found = row[j] if row[j] < found else found
            least[i, place] = found


@compiled(fastmath={"contract", "reassoc"})
def _measure(
    products: NDArray[Any],
    least: NDArray[Any],
    limits: NDArray[Any],
    cells: Array,
    among: Array,
    far: Array,
    near: Index,
) -> None:
    """Squared distances of the nearest of all whose product is within a limit, sorted."""
    for i in range(len(products)):
        row, of, lengths, places = products[i], cells[i], far[i], near[i]
        for part in range(least.shape[1]):
            if least[i, part] > limits[i]:
                continue
            begin = part * _TOGETHER
            for j in range(begin, min(begin + _TOGETHER, len(row))):
                if row[j] > limits[i]:
                    continue
                to, length = among[j], 0.0
                for k in range(len(of)):
                    apart = np.float64(of[k]) - np.float64(to[k])
                    length += apart * apart
                if length < lengths[-1]:
                    p = len(lengths) - 1
                    while p > 0 and lengths[p - 1] > length:
                        lengths[p], places[p] = lengths[p - 1], places[p - 1]
                        p -= 1
                    lengths[p], places[p] = length, j
