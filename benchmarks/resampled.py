"""Measures of a panel with what their intervals need: the same measure on resampled cells.

Some are taken with independent noise too.  In one matrix, the nearest cells by all genes share the
panel's noise as well as its signal, so that a panel of a few noisy genes of large variance seems to
keep neighbours.  There every molecule is drawn to one of two halves of the counts: Poisson noise of
the halves is independent, given what the cells express (Neufeld et al. 2024, Inference after latent
variable estimation for single-cell RNA sequencing data, Biostatistics 25:270,
doi:10.1093/biostatistics/kxac047).  The panel is seen in the first half, all genes in the second.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import scanpy as sc
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import pairwise_distances

from . import data, measures, store
from .data import Cells
from .measures import Panel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SEED = 0
#: The strength of regularisation is chosen by leave-one-out: at one strength for all sizes, large
#: panels fit the noise of the cells, and random genes seem to predict best.
STRENGTHS = np.logspace(0, 4, 9)
#: With the panel in one half of the counts, and all genes in the other.
INDEPENDENT = (
    "neighbours, independent noise",
    "imputation, independent noise",
    "cell score, independent noise",
)
#: Neighbours and components of the cell score.
AROUND, N_COMPS = 5, 50


class CellScore:
    """How near, in all genes, a cell's neighbours in the panel are, within batches.

    As `get_neighborhood_preservation_scores` has it: Missarova et al. (2021), geneBasis: an
    iterative approach for unsupervised selection of targeted gene panels from scRNA-seq, Genome
    Biology 22:333, doi:10.1186/s13059-021-02548-z.
    """

    def __init__(self, values: csr_matrix, batches: np.ndarray | None):
        batches = np.zeros(values.shape[0]) if batches is None else batches
        self.parts = []
        for batch in np.unique(batches):
            cells = np.flatnonzero(batches == batch)
            n_comps = min(N_COMPS, len(cells) - 1)
            coordinates = sc.pp.pca(values[cells], n_comps=n_comps, random_state=0)
            distances = pairwise_distances(coordinates)
            others = distances + np.diag(np.full(len(cells), np.inf))
            nearest = np.argpartition(others, AROUND, axis=1)[:, :AROUND]
            self.parts.append((cells, n_comps, distances, median_distance(distances, nearest)))

    def of(self, panel: np.ndarray) -> np.ndarray:
        """Return ``(mean − found) / (mean − least)``, a value a cell: 1 where nothing is lost.

        All are distances in all genes: the mean to all other cells, the median to the 5 cells that
        are nearest in the panel, and to those that are nearest in all genes.
        """
        scores = np.empty(len(panel))
        for cells, n_comps, distances, least in self.parts:
            coordinates = panel[cells]
            if coordinates.shape[1] > n_comps:
                coordinates = sc.pp.pca(coordinates, n_comps=n_comps, random_state=0)
            found = median_distance(distances, data.nearest(coordinates, AROUND))
            mean = distances.sum(axis=1) / (len(cells) - 1)
            scores[cells] = (mean - found) / (mean - least)
        return scores


def median_distance(distances: np.ndarray, neighbours: np.ndarray) -> np.ndarray:
    """Return the median distance of every cell to its neighbours."""
    return np.median(np.take_along_axis(distances, neighbours, axis=1), axis=1)


@dataclass(frozen=True, eq=False)
class Halves:
    """The cells twice, with half of the counts each; `imputed` are genes to be predicted."""

    panel: Cells
    whole: Cells
    imputed: np.ndarray
    cell_score: CellScore


@cache
def halves(cells: Cells) -> Halves:
    """Draw every molecule to one of two halves."""
    counts = cells.adata.layers["counts"]
    first = counts.copy()
    drawn = np.random.default_rng(SEED).binomial(counts.data.astype(np.int64), 0.5)
    first.data = drawn.astype(counts.dtype)
    panel, whole = (
        Cells(cells.name, lambda half=half: _normalised(half)) for half in (first, counts - first)
    )
    values = whole.adata.X
    imputed = np.argsort(-measures.variances(values), kind="stable")[: measures.IMPUTED]
    score = CellScore(values, cells.batches)
    return Halves(panel, whole, values[:, imputed].toarray(), score)


def _normalised(counts: csr_matrix) -> ad.AnnData:
    """Bring counts to 10,000 molecules a cell, and logarithmise them."""
    adata = ad.AnnData(counts)
    adata.X.eliminate_zeros()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


@cache
def cell_score(cells: Cells) -> CellScore:
    """Return the cell score in all genes, ready for panels."""
    return CellScore(cells.adata.X, cells.batches)


def of_types(panel: Panel) -> dict[str, np.ndarray]:
    """Return accuracy and F1 of the labels."""
    return of_labels(panel.cells, panel.predicted)


def of_labels(cells: Cells, predicted: np.ndarray) -> dict[str, np.ndarray]:
    """Return accuracy and F1 of labels that are predicted."""
    labels, drawn = cells.labels, cells.drawn
    names, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    predicted = np.searchsorted(names, predicted)
    kinds = np.eye(len(names), dtype=np.float32)
    hits = drawn @ (kinds[codes] * (codes == predicted)[:, None])
    actual, named = drawn @ kinds[codes], drawn @ kinds[predicted]
    with np.errstate(invalid="ignore"):  # a type that no resampled cell has
        f1 = 2 * hits / (actual + named)
    rare = counts <= measures.RARE * counts.sum()
    return {
        "accuracy": hits.sum(axis=1) / drawn.sum(axis=1),
        "macro-F1": np.nanmean(f1, axis=1),
        "rare-type F1": np.nanmean(f1[:, rare], axis=1) if rare.any() else np.full(len(f1), np.nan),
    }


def mean_of(cells: Cells, values: np.ndarray) -> np.ndarray:
    """Return the mean over the cells, as they are and resampled."""
    return cells.drawn @ values.astype(np.float32) / cells.adata.n_obs


def r_squared(cells: Cells, values: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return R² of every column on the tested half, as it is and resampled."""
    drawn = cells.drawn[:, measures.held_out(cells.adata.n_obs)[1]]
    values = values - values.mean(axis=0)
    total = drawn @ values**2 - (drawn @ values) ** 2 / drawn.sum(axis=1, keepdims=True)
    left = drawn @ residuals**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 1e-6, 1 - left / total, 0.0)


def imputed(panel: Panel) -> np.ndarray:
    """Return R² of the genes that `measures.imputation` measures."""
    others, predicted = measures.imputed(panel)
    return r_squared(panel.cells, others, (others - predicted).astype(np.float32))


def with_independent_noise(cells: Cells, genes: list[int]) -> dict[str, np.ndarray]:
    """Return neighbours, imputation and cell score with the panel in one half of the counts."""
    both = halves(cells)
    fitted, tested = measures.held_out(cells.adata.n_obs)
    coordinates = both.panel.adata.X[:, genes].toarray()
    model = RidgeCV(STRENGTHS).fit(coordinates[fitted], both.imputed[fitted])
    residuals = both.imputed[tested] - model.predict(coordinates[tested])
    near = measures.neighbours_of_cells(Panel(both.panel, tuple(genes)), both.whole)
    values = (
        mean_of(cells, near),
        r_squared(cells, both.imputed[tested], residuals).mean(axis=1),
        mean_of(cells, both.cell_score.of(coordinates)),
    )
    return dict(zip(INDEPENDENT, values, strict=True))


def directions(cells: Cells, genes: list[int]) -> np.ndarray:
    """Return R² of the true directions of simulated cells, by ridge regression on the panel."""
    latent = cells.adata.obsm["latent"].astype(np.float32)
    panel = cells.adata.X[:, genes].toarray()
    fitted, tested = measures.held_out(cells.adata.n_obs)
    model = Ridge(alpha=1.0).fit(panel[fitted], latent[fitted])
    return r_squared(cells, latent[tested], latent[tested] - model.predict(panel[tested]))


def measure(cells: Cells, genes: list[int]) -> dict[str, np.ndarray]:
    """Return every measure of the cells as they are, then of the resamples."""
    panel = Panel(cells, tuple(genes))
    values = cells.adata.X[:, genes].toarray()
    found = {
        **of_types(panel),
        "neighbours kept": mean_of(cells, measures.neighbours_of_cells(panel, cells)),
        "imputation": imputed(panel).mean(axis=1),
        "cell score": mean_of(cells, cell_score(cells).of(values)),
        **with_independent_noise(cells, genes),
    }
    if "latent" in cells.adata.obsm:
        found["true directions"] = directions(cells, genes).mean(axis=1)
        share = cells.adata.var["true"].to_numpy()[genes].mean()
        found["true genes"] = np.full(len(cells.drawn), share)
    return {name: value.astype(np.float32) for name, value in found.items()}


def measured(cells: Cells, genes: list[int], *, compute: bool) -> dict[str, np.ndarray]:
    """Return what is stored of a panel, measured first where that is asked for; or nothing."""
    genes = sorted(genes)
    name = f"{store.digest(repr(genes))}-{_code()}.npz"
    path = store.HOME / cells.name / "resampled" / name
    if not path.exists():
        if not compute:
            return {}
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft.npz")
        np.savez_compressed(draft, **measure(cells, genes))
        draft.replace(path)
    with np.load(path) as stored:
        return dict(stored)


@cache
def _code() -> str:
    """Return what changes with the source of the measures."""
    parts = (sys.modules[__name__], measures.Panel, data.prepared, data.nearest)
    return store.digest("".join(map(inspect.getsource, parts)))
