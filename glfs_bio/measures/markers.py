"""Genes of a panel as markers of labels: how well "this gene is on" tells the cells of a label.

As NS-Forest (Aevermann et al. 2021) has it: each gene is on from a threshold up, a label is told by
a few genes that are all on, and the F-beta score with β = ½ weighs precision over recall.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import fbeta_score, precision_recall_curve, precision_score, recall_score

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .._typing import Array, Index

#: So many of the best single genes of a label are combined.
CONSIDERED = 6


@dataclass(frozen=True)
class Single:
    """Every gene as a marker of every label, arrays of shape (n_labels, n_genes).

    Attributes
    ----------
    threshold
        Expression from which the gene is on; NaN where it is the same in all cells.
    f_beta
        Largest F-beta over thresholds.
    precision, recall
        Share of the cells with the gene on that have the label, and of the cells of the label that
        have the gene on.
    on_target
        Mean expression in the label as a share of its sum over the means of all labels.
    """

    threshold: Array
    f_beta: Array
    precision: Array
    recall: Array
    on_target: Array


@dataclass(frozen=True)
class Combination:
    """The best few genes of a label, which are all on.

    Attributes
    ----------
    genes
        Places in the panel, the best single marker first.
    f_beta, precision, recall
        Of the cells in which all are on.
    """

    genes: Index
    f_beta: float
    precision: float
    recall: float


def singles(values: Array, codes: Index, n_labels: int, beta: float) -> Single:
    """Every gene alone.

    Parameters
    ----------
    values
        Expression of the panel's genes, ≥ 0, shape (n_cells, n_genes).
    codes
        Label of every cell.
    n_labels
        Number of labels, each with a cell.
    beta
        β of the F-beta score.
    """
    shape = (n_labels, values.shape[1])
    found = {name: np.full(shape, np.nan) for name in ("threshold", "f", "precision", "recall")}
    means = np.array([values[codes == label].mean(axis=0) for label in range(n_labels)])
    total = means.sum(axis=0)
    on_target = np.divide(means, total, out=np.zeros_like(means), where=total > 0)
    for gene in np.flatnonzero(np.ptp(values, axis=0) > 0):
        for label in range(n_labels):
            precision, recall, thresholds = precision_recall_curve(codes == label, values[:, gene])
            # The lowest threshold has all cells on, and the last point none.
            f = _f(precision[1:-1], recall[1:-1], beta)
            best = int(np.argmax(f))
            found["threshold"][label, gene] = thresholds[1:][best]
            found["f"][label, gene] = f[best]
            found["precision"][label, gene] = precision[1 + best]
            found["recall"][label, gene] = recall[1 + best]
    return Single(found["threshold"], found["f"], found["precision"], found["recall"], on_target)


def combination(
    values: Array, belongs: NDArray[np.bool_], single: Single, label: int, most: int, beta: float
) -> Combination:
    """The genes, at most so many, that tell a label best when all are on; the fewest of the best.

    Parameters
    ----------
    values
        As for :func:`singles`.
    belongs
        Whether each cell has the label.
    single
        Every gene alone.
    label
        Which label.
    most
        Most genes.
    beta
        β of the F-beta score.
    """
    order = np.argsort(-np.nan_to_num(single.f_beta[label], nan=-1.0), kind="stable")
    order = order[np.isfinite(single.threshold[label, order])][:CONSIDERED]
    best, on = np.empty(0, dtype=np.intp), np.zeros(len(values), dtype=bool)
    score = 0.0
    for genes in _some(order, most):
        all_on = (values[:, genes] >= single.threshold[label, genes]).all(axis=1)
        f = fbeta_score(belongs, all_on, beta=beta, zero_division=0.0)
        if f > score:
            best, on, score = genes, all_on, float(f)
    return Combination(
        best,
        score,
        float(precision_score(belongs, on, zero_division=0.0)),
        float(recall_score(belongs, on, zero_division=0.0)),
    )


def _some(genes: Index, most: int) -> Iterator[Index]:
    """Sets of genes, those of fewer genes first."""
    for size in range(1, min(most, len(genes)) + 1):
        for some in combinations(genes, size):
            yield np.array(some)


def _f(precision: Array, recall: Array, beta: float) -> Array:
    weighed = beta**2 * precision + recall
    product = (1.0 + beta**2) * precision * recall
    return np.asarray(np.divide(product, weighed, out=np.zeros_like(weighed), where=weighed > 0))
