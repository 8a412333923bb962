"""What a platform will measure of a panel, on numbers: efficiencies, codebooks, and a forecast.

**Efficiencies**, from two assays of the same kinds of cells.  ``y_j``, the logarithm of a gene's
mean count in the one over that in the other, has a sampling variance ``s_j²``.  True values are
taken to be normal over the genes, with mean μ and variance τ² of largest marginal likelihood
(empirical Bayes).  Off target, as probes also bind elsewhere, means over types follow ``a + b m_t``
with ``a, b ≥ 0``: a is background, and its share in the mean is the off-target share.

**A forecast**: counts of the reference as the platform would have counted them.  A molecule is
detected with the efficiency d of its gene; where ``d > 1``, further ones are drawn at the mean rate
of the cell and those nearest to it.  An off-target share is drawn at one rate for all cells.

**Spillover**: a cell keeps every molecule that is detected in it with probability ``1 − ε``, and
receives every one of each of :data:`N_NEIGHBORS` cells with probability ``ε / N_NEIGHBORS``, whose
types have the frequencies of the neighbours of its type.  Cells that follow each other around a
cell are neighbours too, and their types are drawn so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from ..data.matrix import divided
from ..measures.cells import coordinates
from ..measures.labels import label_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.platform import Detection
    from ..measures.labels import LabelScores

#: Cells around a cell: in a plane that cells fill they are six in the mean (Euler), as in squidpy.
N_NEIGHBORS = 6
#: What is added to frequencies of neighbours, so that any types can follow each other; and rounds
#: in which joint frequencies are fitted.
_SELDOM, _ROUNDS = 1e-9, 200
#: Smallest share of the cells of a type that is listed as leaking, beside the largest of each type.
_LEAST = 0.01
#: A marker is on in this share of the cells of a type; markers exclude each other where at most
#: this share of the cells that express one of them expresses both.
_MARKER, _EXCLUSIVE = 0.25, 0.05


class Spillover(NamedTuple):
    """The share ε, and the types of neighbours."""

    share: float
    #: Frequencies of types (columns) around cells of each type, shape (n_labels, n_labels).
    neighbors: Array


def around(neighbors: Array, sizes: Index) -> tuple[Array, Array]:
    """Return frequencies of types that have cells, `first` and `then`, each (n_labels, n_labels).

    Around a cell of type m, type s' follows s with a probability ``∝ first[s, s'] then[m, s']``.
    Two cells that follow each other around a cell are neighbours as well.  Of all joint frequencies
    with those around the cell as both margins, these are nearest to those of neighbours (iterative
    proportional fitting, Deming and Stephan 1940).
    """
    first = neighbors * (sizes > 0)
    first[first.sum(axis=1) == 0] = sizes
    first = first / first.sum(axis=1, keepdims=True)
    pairs, then = first + _SELDOM, np.ones_like(first)
    for _ in range(_ROUNDS):
        then = first / ((first / (then @ pairs.T)) @ pairs)
    return first, then


def mixed(counts: Array, codes: Index, spillover: Spillover, rng: np.random.Generator) -> Array:
    """Return counts with molecules of neighbouring cells, shape (n_cells, n_genes)."""
    cells_by_type = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=len(spillover.neighbors))
    starts = np.cumsum(sizes) - sizes
    first, then = around(spillover.neighbors, sizes)
    molecules = counts.astype(np.int64)
    with_neighbors = rng.binomial(molecules, 1.0 - spillover.share)
    likely = first[codes]
    for _ in range(N_NEIGHBORS):
        below = np.cumsum(likely, axis=1)
        types = (rng.random((len(codes), 1)) * below[:, -1:] >= below).sum(axis=1)
        givers = cells_by_type[starts[types] + rng.integers(sizes[types])]
        with_neighbors += rng.binomial(molecules[givers], spillover.share / N_NEIGHBORS)
        likely = (first[types] + _SELDOM) * then[codes]
    return np.asarray(with_neighbors, dtype=np.float64)


def leaks(without: Array, confusion: Array, neighbors: Array, names: Sequence[str]) -> pd.DataFrame:
    """Return pairs of types of which one is predicted for the other because of spillover."""
    more = (confusion - without) / confusion.sum(axis=1, keepdims=True)
    np.fill_diagonal(more, -np.inf)
    is_listed = (more >= _LEAST) | (more == more.max(axis=1, keepdims=True))
    rows, columns = np.nonzero(is_listed & (more > 0))
    types = np.array(names, dtype=object)
    of_types = {"label": types[rows], "predicted": types[columns]}
    shares = {"share": more[rows, columns], "neighbors": neighbors[rows, columns]}
    table = pd.DataFrame(of_types | shares)
    return table.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def coexpression(on: NDArray[np.bool_]) -> Array:
    """Share of the cells that express either gene that express both, shape (n_genes, n_genes)."""
    both = on.T.astype(float) @ on
    return divided(both, np.diag(both)[:, None] + np.diag(both) - both)


def exclusive(counts: Array, codes: Index) -> pd.DataFrame:
    """Return pairs of markers that exclude each other in the reference (Hartman and Satija 2024).

    They are the places of two genes, and the share of the cells with either that have both.
    """
    on = counts > 0
    of_types = np.array([on[codes == code].mean(axis=0) for code in np.unique(codes)])
    marker = of_types.max(axis=0) >= _MARKER
    shares = coexpression(on)
    gene, other = np.nonzero(np.triu((shares <= _EXCLUSIVE) & marker[:, None] & marker, 1))
    pairs = {"gene": gene, "other": other, "coexpression_reference": shares[gene, other]}
    return pd.DataFrame(pairs)


#: Counts that are added to those of a gene in the reference, so that its logarithm is finite.
_HALF = 0.5
#: Where τ is looked for.
_SPREADS = (1e-3, 10.0)
#: Draws of what is detected, and most cells that are looked at.
_DRAWS, CELLS = 10, 4000
#: Share of values that the interval of an efficiency or a forecast should hold.
INTERVAL = 0.9
#: Values that a recall of a draw could have had with other cells.
_RESAMPLES = 200
#: Standard deviation of the logit of a measured recall around its forecast, besides: not below what
#: 90 % of the five pairs of ``benchmarks/results/forecast.md`` ask for, any one of them left out.
DISCREPANCY = 1.7


class Means(NamedTuple):
    """Mean counts of genes over the cells of each type, and how well they are known."""

    means: Array  #: Shape (n_types, n_genes).
    variances: Array  #: The same shape.
    n_cells: Array  #: Cells of each type, shape (n_types,).

    def total(self, weights: Array) -> tuple[Array, Array]:
        """Means over types of given weights, and their sampling variances."""
        variances = np.maximum(self.variances, self.means) / self.n_cells[:, None]
        return weights @ self.means, weights**2 @ variances


class Forecast(NamedTuple):
    """What labels are forecast to be on a platform."""

    #: A row per label with its recall and the ends of its interval.
    per_label: pd.DataFrame
    #: The accuracy, and the ends of its interval.
    accuracies: Array
    #: With spillover: the accuracy without it; of :func:`leaks`; and of :func:`exclusive`, with the
    #: shares that have both on the platform, with spillover and without it.
    accuracy_without_spillover: float = np.nan
    leaks: Any = ()
    pairs: Any = ()


def shrunk(ratios: Array, variances: Array) -> tuple[Array, Array]:
    """Return means and standard deviations of logarithms of ratios, given the data.

    They are drawn to μ, the more the less is known of them; those of a gene that was not measured,
    μ and τ, come last.
    """

    def middle(tau: float) -> float:
        return float(np.average(ratios, weights=1.0 / (variances + tau**2)))

    def deviance(log_tau: float) -> float:
        total = variances + np.exp(2.0 * log_tau)
        return float(np.sum(np.log(total) + (ratios - middle(np.exp(log_tau))) ** 2 / total))

    optimum = minimize_scalar(deviance, bounds=np.log(_SPREADS), method="bounded")
    tau = float(np.exp(optimum.x))
    mu = middle(tau)
    share = tau**2 / (tau**2 + variances)
    return np.append(mu + share * (ratios - mu), mu), np.append(tau * np.sqrt(1.0 - share), tau)


def estimated(reference: Means, platform: Means, weights: Array) -> tuple[Array, Array]:
    """Return logarithms of efficiencies there as shares of those here, as :func:`shrunk` does."""
    assays = reference, platform
    totals = [assay.total(weights) for assay in assays]
    ratio = totals[1][0].sum() / totals[0][0].sum()
    added = _HALF / reference.n_cells.sum()  # draws a ratio to that of all counts
    logs, variances = [], []
    for assay, (means, sampling), share in zip(assays, totals, (1.0, ratio), strict=True):
        means = means + added * share
        logs.append(np.log(means))
        variances.append((sampling + added * share / assay.n_cells.sum()) / means**2)
    return shrunk(logs[1] - logs[0], variances[0] + variances[1])


def off_target(reference: Means, platform: Means, weights: Array) -> Array:
    """Share of what is detected of each gene there that does not follow its types here."""
    x, y = reference.means, platform.means
    precision = 1.0 / (y + (y.mean(axis=0) / np.maximum(x.mean(axis=0), _HALF * 1e-3)) * x + 1e-3)
    precision = precision / precision.sum(axis=0)
    x_mean, y_mean = (precision * x).sum(axis=0), (precision * y).sum(axis=0)
    varies = (precision * (x - x_mean) ** 2).sum(axis=0)
    slope = divided((precision * (x - x_mean) * (y - y_mean)).sum(axis=0), varies)
    background = np.maximum(y_mean - np.maximum(slope, 0.0) * x_mean, 0.0)
    return np.asarray(np.clip(divided(background, weights @ y), 0.0, 1.0))


def bits(codebook: Mapping[int, str], n_genes: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the bits of each gene, shape (n_genes, n_bits), and whether it has a codeword."""
    has_codeword = np.zeros(n_genes, dtype=bool)
    has_codeword[list(codebook)] = True
    words = np.zeros((n_genes, len(next(iter(codebook.values()), ""))), dtype=bool)
    for gene, word in codebook.items():
        words[gene] = [bit == "1" for bit in word]
    return words, has_codeword


def ends(values: Array) -> Array:
    """Both ends of the interval, over the values along the first axis."""
    tail = (1.0 - INTERVAL) / 2.0
    return np.asarray(np.quantile(values, [tail, 1.0 - tail], axis=0))


def of_labels(
    counts: Array,
    rates: Array,
    codes: Index,
    names: Sequence[str],
    detection: Detection,
    random_state: int | None,
    spillover: Spillover | None = None,
) -> Forecast:
    """Predict how well nearest cells will predict the labels on a platform.

    `counts` are those of the panel in the labelled cells of the reference, shape (n_cells,
    n_genes), and `rates` their means over each cell and those nearest to it.
    """
    rng = np.random.default_rng(random_state)
    spilling, resampling = rng.spawn(2)  # counts are the same with and without spillover
    works, drawn = detection.draws(counts.shape[1], _DRAWS, random_state)
    present, n_cells = np.unique(codes, return_counts=True)
    samples, read, plain = [], [], []
    together: Array = np.zeros(())  # then of shape (2, n_genes, n_genes)
    for work, efficiency in zip(works, drawn, strict=True):
        seen = counted(counts, rates, efficiency * work, detection.off_target, rng)
        if spillover is not None:
            plain.append(label_scores(coordinates(normalised(seen)), codes, names))
            unmixed, seen = seen, mixed(seen, codes, spillover, spilling)
            together = together + np.stack([coexpression(cells > 0) for cells in (unmixed, seen)])
        read.append(label_scores(coordinates(normalised(seen)), codes, names))
        hits = read[-1].per_label["recall"].to_numpy() * n_cells
        samples.append(possible(hits, n_cells, resampling))
    sampled = np.concatenate(samples)
    recall, confusion, accuracy = _mean_scores(read)
    low, high = ends(sampled)
    index = pd.Index([names[code] for code in present], name="label")
    recalls = {"n_cells": n_cells, "recall": recall, "recall_low": low, "recall_high": high}
    table = pd.DataFrame(recalls, index)
    accuracies = np.array([accuracy, *ends(sampled @ (n_cells / n_cells.sum()))])
    if spillover is None:
        return Forecast(table, accuracies)
    table["recall_without_spillover"], without, plain_accuracy = _mean_scores(plain)
    neighbors = spillover.neighbors[np.ix_(present, present)]
    leaking = leaks(without, confusion, neighbors, list(table.index))
    pairs = exclusive(counts, codes)
    shares = together[:, pairs["gene"], pairs["other"]] / _DRAWS
    pairs.insert(2, "coexpression", shares[1])
    pairs["coexpression_without_spillover"] = shares[0]
    return Forecast(table, accuracies, plain_accuracy, leaking, pairs)


def possible(
    hits: Array, n_cells: Index, rng: np.random.Generator, discrepancy: float = DISCREPANCY
) -> Array:
    """Recalls that as many cells could show where so many of each label were right in a draw."""
    shape = (_RESAMPLES, len(hits))
    of_cells = rng.beta(hits + 0.5, n_cells - hits + 0.5, size=shape)
    expected = expit(logit(of_cells) + discrepancy * rng.standard_normal(shape))
    return np.asarray(rng.binomial(n_cells, expected) / n_cells)


def _mean_scores(draws: list[LabelScores]) -> tuple[Array, Array, float]:
    """Return the mean recall of each label, numbers of confused cells, and accuracy of draws."""
    recall = np.mean([draw.per_label["recall"].to_numpy() for draw in draws], axis=0)
    confusion = np.mean([draw.confusion.to_numpy() for draw in draws], axis=0)
    return recall, confusion, float(np.mean([draw.accuracy for draw in draws]))


def counted(
    counts: Array,
    rates: Array,
    efficiency: Array,
    off_target: Array | None,
    rng: np.random.Generator,
) -> Array:
    """Counts of a platform of some efficiencies, shape (n_cells, n_genes)."""
    on_target = efficiency if off_target is None else efficiency * (1.0 - off_target)
    seen = rng.binomial(np.rint(counts).astype(np.int64), np.minimum(on_target, 1.0))
    seen = seen + rng.poisson(rates * np.maximum(on_target - 1.0, 0.0))
    if off_target is not None:
        wrong = efficiency * off_target * counts.mean(axis=0)
        seen = seen + rng.poisson(np.broadcast_to(wrong, counts.shape))
    return np.asarray(seen, dtype=np.float64)


def normalised(counts: Array) -> Array:
    """Logarithms of counts of a panel, with the same total in every cell that has any."""
    totals = counts.sum(axis=1, keepdims=True)
    filled = totals[totals > 0]
    most = float(np.median(filled)) if len(filled) else 1.0
    return np.asarray(np.log1p(counts * (most / np.maximum(totals, 1.0))))
