"""What a platform will measure of a panel: its counts, and a forecast of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .._anndata import spillover
from ..measures.cells import dense
from ..vendors import forecast as forecasts

if TYPE_CHECKING:
    from .._typing import Index, Matrix
    from ..criterion.platform import Detection
    from ..labels import Labels
    from ..options import Platform
    from ..vendors.forecast import Forecast, Spillover

#: Pairs of markers that exclude each other that are listed.
_PAIRS = 50


def spillover_of(platform: Platform | None, column: str | None, labels: Labels) -> Spillover | None:
    """Return the spillover of a platform, if it has any; labels are of a column."""
    if platform is None or not platform.spillover:
        return None
    return spillover.of_labels(platform, platform.spillover, str(column), labels)


def counts_there(
    detection: Detection, genes: Index, counts: Matrix
) -> tuple[float, pd.DataFrame | None]:
    """Return the mean counts of a panel in a cell, and those of each bit of a codebook."""
    means = np.asarray(counts.mean(axis=0, dtype=np.float64))
    if detection.efficiency is not None:
        means = means * detection.efficiency[genes]
    total = float(means.sum())
    if detection.codewords is None:
        return total, None
    loads = forecasts.loads(detection.codewords[genes], means).sum(axis=1)
    return total, pd.DataFrame({"bit": np.arange(len(loads)), "counts": loads})


def forecast(
    counts: Matrix,
    nearest: Index,
    labels: Labels,
    detection: Detection,
    random_state: int | None,
    spills: Spillover | None,
) -> Forecast:
    """Return how well labels can be predicted on the platform, from at most some of the cells.

    Shapes: `counts` (n_cells, n_genes), `nearest` (n_cells, n_neighbors).
    """
    cells = np.flatnonzero(labels.codes >= 0)
    if len(cells) > forecasts.CELLS:
        draw = np.random.default_rng(random_state)
        cells = np.sort(draw.choice(cells, forecasts.CELLS, replace=False))
    reference = dense(counts[cells])
    n_near = nearest.shape[1]
    ends = np.arange(0, len(cells) * n_near + 1, n_near)
    around = sparse.csr_array(
        (np.ones(len(cells) * n_near), nearest[cells].ravel(), ends), (len(cells), len(nearest))
    )
    rates = (reference + dense(around @ counts)) / (1 + n_near)
    codes = labels.codes[cells]
    return forecasts.of_labels(
        reference, rates, codes, labels.names, detection, random_state, spills
    )


def measures(predicted: Forecast) -> dict[str, dict[str, float]]:
    """Return the columns of the table of measures, by the names of these."""
    accuracy, low, high = map(float, predicted.accuracies)
    columns = {"accuracy_on_platform": {"value": accuracy, "low": low, "high": high}}
    if (spilled := predicted.spilled) is not None:
        columns["accuracy_without_spillover"] = {"value": spilled.accuracy}
        if len(spilled.pairs.first):
            shares = spilled.pairs.coexpression, spilled.coexpression
            for name, share in zip(("mecr_reference", "mecr_on_platform"), shares, strict=True):
                columns[name] = {"value": float(share.mean())}
    return columns


def tables(predicted: Forecast, genes: Any) -> dict[str, pd.DataFrame]:
    """Return the recall of labels, and what spillover does to labels and to markers."""
    frames = {"per_label": predicted.per_label.rename_axis("label").reset_index()}
    if (spilled := predicted.spilled) is None:
        return frames
    if len(spilled.leaks):
        frames["leaks"] = spilled.leaks
    pairs = spilled.pairs
    if len(pairs.first):
        table = pd.DataFrame(
            {
                "gene": genes[pairs.first],
                "other": genes[pairs.second],
                "coexpression": spilled.coexpression,
                "coexpression_reference": pairs.coexpression,
                "coexpression_without_spillover": spilled.without,
            }
        ).sort_values("coexpression", ascending=False, kind="stable")
        frames["exclusive_markers"] = table.head(_PAIRS).reset_index(drop=True)
    return frames
