"""Measures of a panel with what their intervals need: the same measure on resampled cells."""

from __future__ import annotations

import hashlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import cell_score
import independent_noise
import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
import metrics
import sets
from sklearn.linear_model import Ridge

if TYPE_CHECKING:
    from cases import Case

#: With the panel in one half of the counts, and all genes in the other.
INDEPENDENT = (
    "neighbours, independent noise",
    "imputation, independent noise",
    "cell score, independent noise",
)
#: Quantiles of R² over genes that are kept.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def of_types(case: Case, panel: metrics.Panel) -> dict[str, np.ndarray]:
    """Accuracy, F1 and recall from the predicted labels; the first value is of the cells as is."""
    names, codes, counts = np.unique(case.labels, return_inverse=True, return_counts=True)
    predicted = np.searchsorted(names, panel.predicted)
    drawn = case.drawn
    kinds = np.eye(len(names), dtype=np.float32)
    hits = drawn @ (kinds[codes] * (codes == predicted)[:, None])
    actual, named = drawn @ kinds[codes], drawn @ kinds[predicted]
    with np.errstate(invalid="ignore"):  # a type that no resampled cell has
        f1 = 2 * hits / (actual + named)
        recall = hits / actual
    rare = counts <= metrics.RARE * counts.sum()
    return {
        "accuracy": hits.sum(axis=1) / drawn.sum(axis=1),
        "macro-F1": np.nanmean(f1, axis=1),
        "rare-type F1": np.nanmean(f1[:, rare], axis=1) if rare.any() else np.full(len(f1), np.nan),
        "recall": recall[0],
    }


def mean_of(case: Case, values: np.ndarray) -> np.ndarray:
    """Mean over the cells, as is and resampled."""
    return case.drawn @ values.astype(np.float32) / case.adata.n_obs


def neighbours_kept(cells: sets.Cells, panel: metrics.Panel) -> np.ndarray:
    """Of every cell, the share of its neighbours in all genes that are neighbours in the panel."""
    pairs = zip(cells.neighbourhoods, panel.nearest, strict=True)
    return np.array([len(np.intersect1d(*pair)) for pair in pairs]) / sets.N_NEIGHBORS


def held_out(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Halves of the cells, to fit and to test: those of `metrics.imputation`."""
    first, second = np.array_split(np.random.default_rng(0).permutation(case.adata.n_obs), 2)
    return first, second


def r_squared(case: Case, values, residuals) -> np.ndarray:
    """R² of every column on the tested half, as is and resampled."""
    drawn = case.drawn[:, held_out(case)[1]]
    values = values - values.mean(axis=0)
    total = drawn @ values**2 - (drawn @ values) ** 2 / drawn.sum(axis=1, keepdims=True)
    left = drawn @ residuals**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 1e-6, 1 - left / total, 0.0)


def imputed(case: Case, genes: list[int]) -> np.ndarray:
    """R² of the genes that `metrics.imputation` measures, by ridge regression on the panel."""
    values = case.adata.X
    spread = np.asarray(values.multiply(values).mean(axis=0)).ravel()
    spread -= np.asarray(values.mean(axis=0)).ravel() ** 2
    spread[genes] = -np.inf
    wanted = np.argsort(-spread, kind="stable")[: metrics.IMPUTED]
    fitted, tested = held_out(case)
    panel, others = values[:, genes].toarray(), values[:, wanted].toarray()
    model = Ridge(alpha=1.0).fit(panel[fitted], others[fitted])
    residuals = others[tested] - model.predict(panel[tested])
    return r_squared(case, others[tested], residuals.astype(np.float32))


def with_independent_noise(case: Case, genes: list[int]) -> dict[str, np.ndarray]:
    """Neighbours kept, imputation and cell score with the panel in one half of the counts."""
    halves = case.halves
    fitted, tested = held_out(case)
    residuals = halves.wanted[tested] - halves.predicted(genes, fitted, tested)
    values = (
        mean_of(case, neighbours_kept(halves.whole, metrics.Panel(halves.panel, tuple(genes)))),
        r_squared(case, halves.wanted[tested], residuals).mean(axis=1),
        mean_of(case, halves.cell_score.of(halves.seen(genes))),
    )
    return dict(zip(INDEPENDENT, values, strict=True))


def directions(case: Case, genes: list[int]) -> np.ndarray:
    """R² of the true directions of simulated cells, by ridge regression on the panel."""
    latent = case.adata.obsm["latent"].astype(np.float32)
    panel = case.adata.X[:, genes].toarray()
    fitted, tested = held_out(case)
    model = Ridge(alpha=1.0).fit(panel[fitted], latent[fitted])
    return r_squared(case, latent[tested], latent[tested] - model.predict(panel[tested]))


def measure(case: Case, genes: list[int]) -> dict[str, np.ndarray]:
    """Everything: the value and then its resamples, but for recall by type and quantiles of R²."""
    panel = metrics.Panel(case, tuple(genes))
    r2 = imputed(case, genes)
    found = {
        **of_types(case, panel),
        "neighbours kept": mean_of(case, neighbours_kept(case, panel)),
        "imputation": r2.mean(axis=1),
        "R² quantiles": np.quantile(r2[0], QUANTILES),
        "cell score": mean_of(case, case.cell_score.of(case.adata.X[:, genes].toarray())),
        **with_independent_noise(case, genes),
    }
    if "latent" in case.adata.obsm:
        found["true directions"] = directions(case, genes).mean(axis=1)
        found["true genes"] = np.full(
            len(case.drawn), case.adata.var["true"].to_numpy()[genes].mean()
        )
    return {name: value.astype(np.float32) for name, value in found.items()}


def kept(case: Case, genes: list[int], *, compute: bool) -> dict[str, np.ndarray]:
    """What is stored of a panel, measured first where that is asked for; empty otherwise."""
    genes = sorted(genes)
    path = cache.HOME / case.name / "details" / f"{_digest(repr(genes))}-{_code()}.npz"
    if not path.exists():
        if not compute:
            return {}
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".draft.npz")
        np.savez_compressed(draft, **measure(case, genes))
        draft.replace(path)
    with np.load(path) as stored:
        return dict(stored)


def types(case: Case) -> pd.Series:
    """Share of the cells of every type, in the order of `recall`."""
    return pd.Series(case.labels).value_counts(normalize=True).sort_index()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _code() -> str:
    """Changes with the source of the measures."""
    parts = (sys.modules[__name__], cell_score, independent_noise)
    parts += (metrics.Panel, sets.load, sets.nearest, sets.Cells)
    return _digest("".join(map(inspect.getsource, parts)))
