"""Panels chosen from a reference, measured on the instrument that they are for.

python -m benchmarks.pairs
"""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from glfs_bio.measures.cells import coordinates
from glfs_bio.measures.labels import scores_by

from . import resampled, store
from .measures import Panel

if TYPE_CHECKING:
    from .data import Cells

N_FOLDS = 3


def nearest_cells(cells: Cells, genes: list[int]) -> np.ndarray:
    """Predict labels by the 15 nearest other cells."""
    return Panel(cells, tuple(genes)).predicted


def logistic(cells: Cells, genes: list[int]) -> np.ndarray:
    """Predict labels by logistic regression on standardised genes, in three folds."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    return cross_val_predict(model, cells.adata.X[:, genes].toarray(), cells.labels, cv=folds)


def laprls(cells: Cells, genes: list[int]) -> np.ndarray:
    """Predict labels by LapRLS, as `tl.evaluate_panel` does."""
    names, codes = np.unique(cells.labels, return_inverse=True)
    values = cells.adata.X[:, genes].toarray().astype(float)
    where = coordinates(values, np.arange(len(genes)))
    return names[scores_by(["laprls"], where, values, codes, list(names))["laprls"].predicted]


#: How labels are predicted from a panel.
READINGS = {"15-NN": nearest_cells, "logistic regression": logistic, "LapRLS": laprls}


def predicted(cells: Cells, genes: list[str], reading: str) -> np.ndarray:
    """Return the labels that a reading predicts; they are stored."""
    places = sorted(cells.adata.var_names.get_indexer(genes).tolist())
    key = store.digest(inspect.getsource(READINGS[reading]))
    path = store.HOME / cells.name / f"{store.digest(repr(places))}-{key}.npy"
    names = np.unique(cells.labels)
    if not path.exists():
        found = READINGS[reading](cells, places)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.searchsorted(names, found).astype(np.uint8))
    return names[np.load(path)]


def measure(
    cells: Cells, genes: list[str], readings: tuple[str, ...] = tuple(READINGS)
) -> dict[str, np.ndarray]:
    """Return accuracy and macro-F1 of every reading, of the cells and then of resampled ones."""
    found = {}
    for reading in readings:
        scores = resampled.of_labels(cells, predicted(cells, genes, reading))
        found |= {f"{reading}, {name}": scores[name] for name in ("accuracy", "macro-F1")}
    return found
