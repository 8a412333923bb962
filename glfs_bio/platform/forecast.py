"""What a platform will measure of a panel: counts of the reference as it would have counted them.

A molecule that was counted in the reference is detected with the efficiency d of its gene.  Where
``d > 1``, further molecules are drawn at the mean rate of the cell and those nearest to it.  Of the
counts of a gene an off-target share is drawn at one rate for all cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from ..measures.cells import coordinates
from ..measures.labels import label_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._typing import Array, Index
    from ..criterion.platform import Detection


@dataclass(frozen=True)
class Settings:
    """How a forecast is made."""

    #: Draws of detection, and most cells
    draws: int = 10
    cells: int = 4000
    #: Share of values that the interval of a forecast should hold
    interval: float = 0.9
    #: Recalls of a draw with other cells
    resamples: int = 200
    #: Standard deviation of the logit of a measured recall around its forecast, besides; the same
    #: in both pairs of ``benchmarks/results/forecast.md``
    discrepancy: float = 1.7


SETTINGS = Settings()


@dataclass(frozen=True)
class Forecast:
    """Recall of labels on a platform."""

    #: One row per label: ``n_cells``, ``recall``, ``recall_low``, ``recall_high``
    per_label: pd.DataFrame
    #: Mean over draws, and the ends of its interval, shape (3,)
    accuracy: Array


def ends(values: Array, axis: int = 0) -> Array:
    """Both ends of the interval, over the values along an axis."""
    tail = (1.0 - SETTINGS.interval) / 2.0
    return np.asarray(np.quantile(values, [tail, 1.0 - tail], axis=axis))


def of_labels(
    counts: Array,
    rates: Array,
    codes: Index,
    names: Sequence[str],
    detection: Detection,
    random_state: int | None,
) -> Forecast:
    """Predict how well nearest cells will predict the labels on a platform.

    `counts` are those of the panel's genes in the reference, of cells with labels, shape (n_cells,
    n_genes), and `rates` their means over each cell and those nearest to it.
    """
    rng = np.random.default_rng(random_state)
    works, drawn = detection.draws(counts.shape[1], SETTINGS.draws, random_state)
    present = np.unique(codes)
    n_cells = np.bincount(codes)[present]
    recalls, samples, accuracies = [], [], []
    for work, efficiency in zip(works, drawn, strict=True):
        seen = counted(counts, rates, efficiency * work, detection.off_target, rng)
        where = coordinates(normalised(seen), np.arange(seen.shape[1]))
        scores = label_scores(where, codes, names)
        recall = scores.per_label["recall"].to_numpy()
        hits = recall * n_cells
        shape = (SETTINGS.resamples, len(present))
        of_cells = rng.beta(hits + 0.5, n_cells - hits + 0.5, size=shape)
        samples.append(expit(logit(of_cells) + SETTINGS.discrepancy * rng.standard_normal(shape)))
        recalls.append(recall)
        accuracies.append(scores.accuracy)
    sampled = np.concatenate(samples)
    low, high = ends(sampled)
    table = pd.DataFrame(
        {
            "n_cells": n_cells,
            "recall": np.mean(recalls, axis=0),
            "recall_low": low,
            "recall_high": high,
        },
        index=pd.Index([names[code] for code in present], name="label"),
    )
    accuracy = np.array([np.mean(accuracies), *ends(sampled @ (n_cells / n_cells.sum()))])
    return Forecast(table, accuracy)


def counted(
    counts: Array,
    rates: Array,
    efficiency: Array,
    off_target: Array | None,
    rng: np.random.Generator,
) -> Array:
    """Counts of a platform of some efficiencies, shape (n_cells, n_genes)."""
    right = efficiency if off_target is None else efficiency * (1.0 - off_target)
    seen = rng.binomial(np.rint(counts).astype(np.int64), np.minimum(right, 1.0))
    seen = seen + rng.poisson(rates * np.maximum(right - 1.0, 0.0))
    if off_target is not None:
        wrong = efficiency * off_target * counts.mean(axis=0)
        seen = seen + rng.poisson(np.broadcast_to(wrong, counts.shape))
    return np.asarray(seen, dtype=np.float64)


def normalised(counts: Array) -> Array:
    """Logarithms of counts of a panel, with the same total in every cell that has any."""
    totals = counts.sum(axis=1, keepdims=True)
    some = totals[totals > 0]
    most = float(np.median(some)) if len(some) else 1.0
    return np.asarray(np.log1p(counts * (most / np.maximum(totals, 1.0))))
