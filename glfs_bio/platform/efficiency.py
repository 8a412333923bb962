"""Relative detection efficiencies of genes, from two assays of the same kinds of cells.

``y_j``, the logarithm of a gene's mean count in the one over that in the other, has a sampling
variance ``s_j²``.  True values are taken to be normal over the genes, with mean μ and variance τ²
of largest marginal likelihood (empirical Bayes), so that a gene of few counts is drawn to μ, and
one that was not measured has μ and τ.

Of a gene that is measured where it is not expressed, as probes also bind elsewhere and transcripts
are taken for those of the next cell, means over types follow ``a + b m_t`` with ``a, b ≥ 0``; a is
background, and its share in the mean is the off-target share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

if TYPE_CHECKING:
    from .._typing import Array

#: Counts that are added to those of a gene in the reference, so that its logarithm is finite.
_HALF = 0.5
#: Where τ is looked for.
_SPREADS = (1e-3, 10.0)


class Means(NamedTuple):
    """Mean counts of genes and their variances, shape (n_types, n_genes); cells, shape
    (n_types,).
    """

    #: Over the cells of each type
    means: Array
    variances: Array
    #: Per type
    n_cells: Array

    def total(self, weights: Array) -> tuple[Array, Array]:
        """Means over types of given weights, and their sampling variances."""
        variances = np.maximum(self.variances, self.means) / self.n_cells[:, None]
        return weights @ self.means, weights**2 @ variances


@dataclass(frozen=True)
class Efficiencies:
    """Relative detection efficiencies, on a logarithmic scale, shape (n_genes,)."""

    #: Posterior mean and standard deviation of the logarithm
    middle: Array
    spread: Array
    #: μ and τ: those of a gene that was not measured
    prior_middle: float
    prior_spread: float


def shrunk(ratios: Array, variances: Array) -> Efficiencies:
    """Draw logarithms of ratios to their mean, the more the less is known of them."""

    def middle(tau: float) -> float:
        return float(np.average(ratios, weights=1.0 / (variances + tau**2)))

    def deviance(log_tau: float) -> float:
        total = variances + np.exp(2.0 * log_tau)
        return float(np.sum(np.log(total) + (ratios - middle(np.exp(log_tau))) ** 2 / total))

    found = minimize_scalar(deviance, bounds=np.log(_SPREADS), method="bounded")
    tau = float(np.exp(found.x))
    mu = middle(tau)
    share = tau**2 / (tau**2 + variances)
    spread = tau * np.sqrt(1.0 - share)
    return Efficiencies(mu + share * (ratios - mu), spread, mu, tau)


def estimated(here: Means, there: Means, weights: Array) -> Efficiencies:
    """Efficiencies there, as a share of those here, in cells of given shares of the types."""
    both = [one.total(weights) for one in (here, there)]
    ratio = both[1][0].sum() / both[0][0].sum()
    added = _HALF / here.n_cells.sum()  # draws a ratio to that of all counts
    logs, variances = [], []
    for (means, sampling), share, one in zip(both, (1.0, ratio), (here, there), strict=True):
        means = means + added * share
        logs.append(np.log(means))
        variances.append((sampling + added * share / one.n_cells.sum()) / means**2)
    return shrunk(logs[1] - logs[0], variances[0] + variances[1])


def off_target(here: Means, there: Means, weights: Array) -> Array:
    """Share of what is detected of each gene there that does not follow its types here."""
    x, y = here.means, there.means
    known = 1.0 / (y + (y.mean(axis=0) / np.maximum(x.mean(axis=0), _HALF * 1e-3)) * x + 1e-3)
    known = known / known.sum(axis=0)
    x_mean, y_mean = (known * x).sum(axis=0), (known * y).sum(axis=0)
    varies = (known * (x - x_mean) ** 2).sum(axis=0)
    slope = np.divide(
        (known * (x - x_mean) * (y - y_mean)).sum(axis=0),
        varies,
        out=np.zeros_like(varies),
        where=varies > 0,
    )
    background = np.maximum(y_mean - np.maximum(slope, 0.0) * x_mean, 0.0)
    total = weights @ y
    share = np.divide(background, total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(np.clip(share, 0.0, 1.0))
