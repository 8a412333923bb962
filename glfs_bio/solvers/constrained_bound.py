"""How far a panel is from the best possible under linear limits.

F is convex, so that at any β and for every panel s

    F(s) ≥ F(β) + ∇F(β)ᵀ(s − β),

which is smallest at a vertex of the polytope ``0 ≤ s ≤ 1, Σ s ≤ k, lower ≤ P s ≤ upper, T s = 0``,
where a row of T ties two genes that are in all or none, ``s_i = s_j``.  It is found by a linear
programme.  The bound is taken from the multipliers ζ⁺, ζ⁻ ≥ 0 and ξ of the programme, as

    ∇Fᵀs ≥ (∇F + Pᵀ(ζ⁺ − ζ⁻) − Tᵀξ)ᵀs − ζ⁺ᵀupper + ζ⁻ᵀlower

holds for every panel within the limits, however well the programme was solved.  With ζ⁻ = ξ = 0
the same multipliers bound smaller panels too, which need not meet lower limits nor hold whole
groups.  β is improved by fully corrective Frank–Wolfe steps (Holloway 1974): it is the best mean of
all vertices so far.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, minimize

from ..criterion.error import evaluate
from .bound import Relaxation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array
    from ..criterion.error import Block
    from .constraints import Rows

log = logging.getLogger(__name__)


#: How closely the relaxation is solved; the bounds hold however that is.  At most so many vertices.
_VERTICES = 20
#: F above its bound, as a share of what the best possible panel gains.
_GAP = 1e-3
#: Steps of SLSQP for the mean of the vertices.
_STEPS = 50


class _Vertex(NamedTuple):
    """The panel, in parts, of steepest gradient; multipliers of limits and of ties."""

    panel: Array
    upper: Array
    lower: Array
    ties: Array


def relax_within(
    blocks: Sequence[Block], rows: Rows, size: int, panel: Array, start: Relaxation
) -> Relaxation:
    """Bounds for panels within the limits, and the weights of the largest.

    Parameters
    ----------
    blocks
        The criterion on each set of cells, with ``covered`` genes that every panel holds besides.
    rows
        What the limits leave beside those genes; every gene fits on its own.
    size
        Largest number of genes.
    panel
        The panel of 1 and 0 that is judged, within the limits, shape (n_genes,).
    start
        The relaxation without limits, for panels of as many genes as this one.

    Returns
    -------
    Relaxation
        Its ``lower`` bounds panels of 1, 2, … genes within the upper limits; the last one bounds
        panels of at most `size` genes within all limits.
    """
    lower = start.lower.copy()
    if size > len(lower):
        lower[-1] = -np.inf
    nothing, _ = evaluate(blocks, np.zeros(len(panel)))
    inside = (start.beta.sum() <= size) and rows.hold(start.beta)
    points = [panel, start.beta] if inside else [panel]
    beta = start.beta
    for step in range(_VERTICES):
        value, gradient = evaluate(blocks, beta)
        vertex = _steepest(gradient, rows, size)
        if vertex is None:
            break
        lower = np.maximum(lower, _bounds(value, gradient, beta, rows, size, vertex, len(lower)))
        if (inside or step) and value - lower[-1] <= _GAP * (nothing - lower[-1]):
            break
        points.append(vertex.panel)
        beta = _best_mean(blocks, np.array(points))
        log.info("bound within limits: F ≥ %.4g after %d steps", lower[-1], step + 1)
    return Relaxation(lower, beta)


def _steepest(gradient: Array, rows: Rows, size: int) -> _Vertex | None:
    """The vertex where the gradient is least, in parts of genes; None where HiGHS finds none."""
    steepest = np.abs(gradient).max() or 1.0
    total = rows.matrix.sum(axis=1)
    packs = np.flatnonzero(total > rows.upper)
    covers = np.flatnonzero(rows.lower > 0)
    scale = sparse.diags_array(1.0 / rows.upper[packs])
    conditions = sparse.vstack(
        [
            sparse.csr_array(np.ones((1, len(gradient)))),
            scale @ rows.matrix[packs],
            -rows.matrix[covers],
        ],
        format="csr",
    )
    limits = np.concatenate([[size], np.ones(len(packs)), -rows.lower[covers]])
    found = linprog(
        gradient / steepest,
        conditions,
        limits,
        A_eq=rows.ties if rows.sets else None,
        b_eq=np.zeros(rows.ties.shape[0]) if rows.sets else None,
        bounds=(0.0, 1.0),
        method="highs",
    )
    if found.x is None:
        return None
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0)[1:] * steepest
    upper, lower = np.zeros(len(total)), np.zeros(len(total))
    upper[packs] = multipliers[: len(packs)] / rows.upper[packs]
    lower[covers] = multipliers[len(packs) :]
    ties = found.eqlin.marginals * steepest if rows.sets else np.zeros(0)
    return _Vertex(np.clip(found.x, 0.0, 1.0), upper, lower, ties)


def _bounds(
    value: float,
    gradient: Array,
    beta: Array,
    rows: Rows,
    size: int,
    vertex: _Vertex,
    n_sizes: int,
) -> Array:
    """Bounds for panels of 1, 2, … `n_sizes` genes; the last as :func:`relax_within` has it."""
    most = np.where(vertex.upper > 0, rows.upper, 0.0)
    level = value - gradient @ beta - vertex.upper @ most
    sloping = gradient + rows.matrix.T @ vertex.upper
    parts = level + np.cumsum(np.minimum(np.sort(sloping)[:n_sizes], 0.0))
    sloping -= rows.matrix.T @ vertex.lower
    if rows.sets:
        sloping -= rows.ties.T @ vertex.ties
    whole = level + vertex.lower @ rows.lower + np.minimum(np.sort(sloping)[:size], 0.0).sum()
    parts[-1] = whole if size > n_sizes else max(parts[-1], whole)
    return np.asarray(parts)


def _best_mean(blocks: Sequence[Block], points: Array) -> Array:
    """The mean of some points, shape (n_points, n_genes), in which F is least."""
    genes = np.flatnonzero(points.any(axis=0))
    some, corners = [block.only(genes) for block in blocks], points[:, genes]
    start, _ = evaluate(some, corners[0])

    def at(shares: Array) -> tuple[float, Array]:
        value, gradient = evaluate(some, np.maximum(shares @ corners, 0.0))
        return value / start, corners @ gradient / start

    n_points = len(points)
    found = minimize(
        at,
        np.full(n_points, 1.0 / n_points),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * n_points,
        constraints={
            "type": "eq",
            "fun": lambda shares: shares.sum() - 1.0,
            "jac": lambda shares: np.ones((1, len(shares))),
        },
        options={"maxiter": _STEPS, "ftol": _GAP**2},
    )
    shares = np.clip(found.x, 0.0, 1.0)
    return np.asarray(shares @ points / shares.sum())
