"""Laplacian-regularised least squares.

In closed form, by equations (2), (3) and (11) of the paper,

    min over w, w_0:  Σ_i j_i (y_i − w_0 − wᵀx_i)² + λ1 wᵀXᵀLXw + λ2 ‖w‖²

The weights j are 1, or 0 for samples without a label, which are in L and not in the squares.  With
J their diagonal, x̄ and ȳ the means weighted by them, and X the samples × features x_i − x̄,

    w = (Xᵀ(J + λ1 L)X + λ2 I)⁻¹ Xᵀ J(y − ȳ)     primal, n_features equations
      = Xᵀ ((J + λ1 L)XXᵀ + λ2 I)⁻¹ J(y − ȳ)     dual, n_samples equations (push-through)
    w_0 = ȳ − wᵀx̄.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, sparse

from .data.threads import few_threads
from .errors import InvalidValue

if TYPE_CHECKING:
    from ._typing import Array, Index, Matrix

#: Pairs of samples that a graph may join, of 12 bytes each.
_MOST_PAIRS = 1e8
#: Entries of a product that is added up in parts.
_ENTRIES = 2**22


def solve(
    data: Matrix,
    targets: Array,
    smoother: sparse.csr_array,
    *,
    lambda1: float,
    lambda2: float,
    sample_weight: Array | None = None,
) -> tuple[Array, Array]:
    """Return w, shape (n_features, n_targets), and w_0 of all targets at once.

    `smoother` is L, and `sample_weight` j ≥ 0; rows of `targets` without weight are not looked at.
    """
    n_samples, n_features = data.shape
    j = np.ones(n_samples) if sample_weight is None else sample_weight
    values = np.where(j[:, None] > 0, targets, 0.0)
    mean, level = (data.T @ j) / j.sum(), (values.T @ j) / j.sum()
    errors = j[:, None] * (values - level)
    b = sparse.csr_array(sparse.diags_array(j) + lambda1 * smoother)
    side_of = _primal if n_features <= n_samples else _dual
    with few_threads(min(n_samples, n_features)):
        if sparse.issparse(data):
            coef = side_of(data.astype(np.float64), mean, b, lambda2, errors)
        else:
            coef = side_of(data - mean, np.zeros(n_features), b, lambda2, errors)
        return coef, level - mean @ coef


def _primal(data: Matrix, mean: Array, b: sparse.csr_array, lambda2: float, errors: Array) -> Array:
    """``(XᵀbX + λ2 I)⁻¹ Xᵀe`` for ``X = data − 1 meanᵀ``, ``b = J + λ1 L``; errors sum to zero."""
    n_samples, n_features = data.shape
    normal, at_once = np.zeros((n_features, n_features)), max(1, _ENTRIES // n_features)
    ones = b @ np.ones(n_samples)
    for begin in range(0, n_samples, at_once):  # of many samples the product has no room
        rows = slice(begin, begin + at_once)
        normal += _dense(data[rows].T @ (b[rows] @ data))
    cross = np.outer(data.T @ ones, mean)
    normal += ones.sum() * np.outer(mean, mean) - cross - cross.T
    normal[np.diag_indices_from(normal)] += lambda2
    return np.asarray(linalg.solve(normal, data.T @ errors, assume_a="pos"))


def _dual(data: Matrix, mean: Array, b: sparse.csr_array, lambda2: float, errors: Array) -> Array:
    """``Xᵀ (bXXᵀ + λ2 I)⁻¹ e`` for ``X = data − 1 meanᵀ`` and ``b = J + λ1 L``."""
    shift = data @ mean
    gram = _dense(data @ data.T) - shift[:, None] - shift + mean @ mean
    normal = b @ gram
    normal[np.diag_indices_from(normal)] += lambda2
    alpha = linalg.solve(normal, errors)
    return np.asarray(data.T @ alpha - np.outer(mean, alpha.sum(axis=0)))


def _dense(product: Matrix) -> Array:
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def held_out(
    data: Matrix,
    targets: Array,
    smoother: sparse.csr_array,
    fold: Index,
    *,
    lambda1: float,
    lambda2: float,
    sample_weight: Array,
) -> Array:
    """Return values of samples by the fit to all folds but their own, shape (n_samples, n_targets).

    The data are dense and centred.  Sums over each fold give all fits; w_0 is the weight of a
    feature that is 1, and is in no penalty.
    """
    folds = [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
    weighed = sample_weight[:, None] * targets
    n_weights = data.shape[1] + 1
    penalty, grams, sides = np.zeros((n_weights, n_weights)), [], []
    with few_threads(data.shape[1]):
        for rows in folds:
            features = np.column_stack([data[rows], np.ones(len(rows))]).astype(np.float64)
            penalty[:-1, :-1] += features[:, :-1].T @ (lambda1 * (smoother[rows] @ data))
            grams.append(features.T @ (sample_weight[rows, None] * features))
            sides.append(features.T @ weighed[rows])
        penalty[np.diag_indices(n_weights - 1)] += lambda2
        predicted = np.empty(targets.shape)
        for k, rows in enumerate(folds):
            normal = penalty + sum(grams[:k]) + sum(grams[k + 1 :])
            coef = linalg.solve(normal, sum(sides[:k]) + sum(sides[k + 1 :]), assume_a="pos")
            predicted[rows] = data[rows] @ coef[:-1] + coef[-1]
    return predicted


def class_graph(codes: Index) -> sparse.csr_array:
    """Return the graph that joins two samples of one class, and none of −1."""
    rows = np.flatnonzero(codes >= 0)
    pairs = np.square(np.bincount(codes[rows]).astype(float)).sum()
    if pairs > _MOST_PAIRS:
        raise InvalidValue(f"`y` has {pairs:.2g} pairs of a class to join: use nearest neighbours")
    shape = len(codes), codes.max() + 1
    member = sparse.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=shape)
    same = sparse.csr_array(member @ member.T)
    same.setdiag(0.0)
    same.eliminate_zeros()
    return same
