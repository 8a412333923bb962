"""Leading eigenvectors of a large symmetric matrix by a few products with blocks of vectors.

Block Lanczos with full orthogonalisation, and a Rayleigh–Ritz step after each product.  A product
with a block reads the matrix once for all of its columns, where ARPACK reads it for each vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._typing import Array

_RANK_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Rules:
    """When the iteration ends, and how wide its blocks are.

    Attributes
    ----------
    leading, every
        Share of the sum of the eigenvalues that the last product may still add: where the leading
        directions matter, and where all do.
    most
        Products at most.
    few
        So few products that span all there is are all made.
    lanes
        Columns of a block are the multiple of this nearest to the vectors asked for: what registers
        and lines of a cache hold.
    sure
        Directions that are longer, in units of the longest, are no rounding.
    """

    leading: float = 5e-3
    every: float = 3e-4
    most: int = 20
    few: int = 10
    lanes: int = 16
    sure: float = 1e-6


RULES = Rules()


def leading_eigenvectors(
    times: Callable[[Array], Array],
    size: int,
    n_vectors: int,
    random_state: int | None,
    tolerance: float = RULES.every,
    rounding: float = _RANK_TOLERANCE,
    start: Array | None = None,
) -> tuple[Array, Array]:
    """Approximately the largest eigenvalues, shape (n_vectors,), and their eigenvectors.

    Parameters
    ----------
    times
        Product with the matrix, symmetric and positive semi-definite.
    size
        Its number of rows.
    n_vectors
        How many; fewer are returned where the rank is smaller.
    random_state
        Seed of the first block.
    tolerance
        Share of the sum of the eigenvalues: no more products are made once one adds less.
    rounding
        Eigenvalues up to this share of the largest are what rounding in `times` left.
    start
        Vectors near the leading ones, these first, shape (size, k); None: a random block.

    Returns
    -------
    Eigenvalues in descending order, and eigenvectors, shape (size, n_vectors).
    """
    width = min(max(1, round(n_vectors / RULES.lanes)) * RULES.lanes, size)
    spanning = -(-size // width)
    if spanning <= RULES.few:
        tolerance = 0.0
    steps = min(max(RULES.most, -(-n_vectors // width) + 1), spanning)
    outside = np.random.default_rng(random_state).normal(size=(size, width))
    if start is not None:  # of the length of the others, whatever its unit
        given = start[:, :width]
        lengths = np.linalg.norm(given, axis=0)
        some = np.flatnonzero(lengths)
        outside[:, some] = given[:, some] * (np.sqrt(size) / lengths[some])
    basis = np.empty((size, steps * width), order="F")
    small = np.zeros((steps * width, steps * width))
    scale, known, found = 0.0, 0, 0.0
    for _ in range(steps):
        block = _directions(outside, basis[:, :known], scale)[:, : size - known]
        if block.shape[1] == 0:
            break
        new = slice(known, known + block.shape[1])
        basis[:, new], known = block, new.stop
        image = times(block)
        scale = max(scale, float(np.linalg.norm(image, axis=0).max()))
        within = basis[:, :known].T @ image
        small[:known, new], small[new, :known] = within, within.T
        before, found = found, float(np.linalg.eigvalsh(small[:known, :known])[-n_vectors:].sum())
        if known > n_vectors and found - before < tolerance * found:
            break
        outside = image - basis[:, :known] @ within
    values, vectors = np.linalg.eigh(small[:known, :known])
    kept = np.flatnonzero(values > rounding * values[-1])[::-1][:n_vectors]
    return values[kept], np.asarray(basis[:, :known] @ vectors[:, kept])


def _directions(outside: Array, basis: Array, scale: float) -> Array:
    """Orthonormal basis of vectors that are outside the span of `basis`, up to rounding."""
    directions, triangle = qr(outside, mode="economic", check_finite=False)
    lengths = np.abs(np.diag(triangle))
    if lengths.min() > RULES.sure * max(scale, lengths.max()):
        return np.asarray(directions)
    outside = outside - basis @ (basis.T @ outside)
    directions, triangle, _ = qr(outside, mode="economic", pivoting=True, check_finite=False)
    lengths = np.abs(np.diag(triangle))
    fresh = np.asarray(directions[:, lengths > _RANK_TOLERANCE * max(scale, lengths[0])])
    fresh -= basis @ (basis.T @ fresh)  # what rounding left, and short directions make longer
    return np.asarray(qr(fresh, mode="economic", overwrite_a=True, check_finite=False)[0])
