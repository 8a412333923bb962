"""Intervals of means over sets, and paired comparisons of two methods.

Everything is an array of sets × (1 + resamples): the measure of all cells first, then of cells
drawn with replacement.  The resamples of a set are the same for all methods, so that differences
are paired.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon

LEVEL = 0.95
#: Drawing of sets.
SEED = 0


@dataclass(frozen=True)
class Estimate:
    """A mean over sets and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def over_cells(values: np.ndarray) -> Estimate:
    """Mean over these sets, of one method or of differences; the interval is over their cells."""
    resampled = values.mean(axis=0)
    return Estimate(float(resampled[0]), *_limits(resampled[1:]))


def paired(ours: np.ndarray, theirs: np.ndarray) -> Estimate:
    """Mean difference; the interval is over sets and, within these, cells."""
    difference = ours - theirs
    n_sets, n_resamples = len(difference), difference.shape[1] - 1
    drawn = np.random.default_rng(SEED).integers(n_sets, size=(n_sets, n_resamples))
    resampled = difference[drawn, 1 + np.arange(n_resamples)].mean(axis=0)
    return Estimate(float(difference[:, 0].mean()), *_limits(resampled))


def signed_rank(differences: np.ndarray) -> float:
    """P value of Wilcoxon's signed rank test, two-sided; NaN where all are zero."""
    return float(wilcoxon(differences).pvalue) if np.any(differences) else np.nan


def _limits(resampled: np.ndarray) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(resampled, [tail, 1 - tail])
    return float(low), float(high)
