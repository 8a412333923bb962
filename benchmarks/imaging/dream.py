"""Scores of DREAM's single-cell challenge for a panel: where cells are placed by some genes.

Tanevski et al. (2020), Gene selection for optimal prediction of cell position in tissues from
single-cell transcriptomics data, Life Science Alliance 3:e202000867.  A cell is placed where the
genes of the panel correlate best (Matthews), by ten places.  The truth is where all 84 place it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from . import Embryo, embryo

SIZES = (60, 40, 20)
N_PLACES = 10
DRAWS = 500


def matthews(hits, ones, others, n) -> np.ndarray:
    """Return Matthews correlations: `hits` are ones in both, `ones` and `others` in each; or 0."""
    covariance = n * hits - ones * others
    spread = np.sqrt(ones * (n - ones) * others * (n - others))
    return np.divide(covariance, spread, out=np.zeros_like(spread), where=spread > 0)


def correlations(data: Embryo, genes: np.ndarray) -> np.ndarray:
    """Return the correlation of every cell with every place, over some genes."""
    on, places = data.cells.X[:, genes].toarray().astype(float), data.places[:, genes]
    ones, others = on.sum(axis=1)[:, None], places.sum(axis=1)[None]
    return matthews(on @ places.T, ones, others, len(genes))


def best(scores: np.ndarray) -> np.ndarray:
    """Return the ten best places of every cell."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :N_PLACES]


@cache
def truth() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the place of every cell, how far its ten are from it, and whether it is certain."""
    data = embryo()
    scores = correlations(data, np.arange(data.cells.n_vars))
    places = best(scores)
    first_two = np.sort(scores, axis=1)[:, :-3:-1]
    return places[:, 0], distance(data, places, places[:, 0]), first_two[:, 0] != first_two[:, 1]


def distance(data: Embryo, places: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Return the mean distance of ten places from one, for every cell."""
    apart = data.geometry[places] - data.geometry[true][:, None]
    return np.linalg.norm(apart, axis=2).mean(axis=1)


def scores(genes: list[int]) -> dict[str, np.ndarray]:
    """Return s1, s2 and s3, of all cells and then of cells drawn with replacement."""
    data, chosen = embryo(), np.array(genes)
    true, known, certain = truth()
    places = best(correlations(data, chosen))
    precision = known / distance(data, places, true)
    panel = data.places[:, chosen]
    there, told = panel[true], panel[places[:, 0]]
    alike = matthews(
        (there * told).sum(axis=1), there.sum(axis=1), told.sum(axis=1), float(len(chosen))
    )
    n_cells = int(certain.sum())
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(n_cells, np.full(n_cells, 1 / n_cells), DRAWS)
    drawn = np.vstack([np.ones(n_cells), drawn]).astype(float)
    weight, alike = precision[certain], alike[certain]
    on = data.cells.X[:, chosen].toarray()[certain].astype(float)
    of_genes = [
        matthews(drawn @ (seen * on), drawn @ seen, drawn @ on, float(n_cells))
        for seen in (there[certain], told[certain])
    ]
    # The organisers divide s1 by the precision of all cells, those of uncertain place too.
    every = precision.sum() * drawn @ weight / weight.sum()
    return {
        "s1": drawn @ (weight * alike) / every,
        "s2": drawn @ weight / n_cells,
        "s3": (of_genes[0] * of_genes[1]).sum(axis=1) / of_genes[0].sum(axis=1),
    }
