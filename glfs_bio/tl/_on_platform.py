"""What a platform will measure of a panel: what it preserves there, its counts, and a forecast."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from .._anndata import spillover
from ..criterion.platform import OnPlatform
from ..errors import Message, arg
from ..measures import cells as measures
from ..vendors import forecast as forecasts

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Index, Matrix
    from ..data.matrix import RowMatrix
    from ..labels import Labels
    from ..options import Platform
    from ..vendors.forecast import Spilled, Spillover
    from ._evaluate import Asked
    from ._panel import Found

log = logging.getLogger(__name__)

#: Pairs of markers that exclude each other that are listed.
_PAIRS = 50


def kept(adata: AnnData, found: Found, inputs: Asked, counts: Matrix | None) -> dict[str, Any]:
    """Return what the panel preserves on the platform, its counts, and genes not orderable."""
    detection, genes = found.basis.detection, found.genes
    entry: dict[str, Any] = {}
    if detection.orderable is not None:
        out = genes[~detection.orderable[genes]]
        entry["not_orderable"] = adata.var_names[out].to_numpy(dtype=object)
    if detection.varies:
        drawn = OnPlatform(found.basis.criterion, detection, random_state=inputs.random_state)
        entry["preserved_on_platform"] = float(drawn.preserved(genes)[-1])
        low, high = forecasts.ends(drawn.preserved_in_draws(genes))
        entry["preserved_on_platform_low"] = float(low)
        entry["preserved_on_platform_high"] = float(high)
    if found.basis.request.platform is not None and counts is not None:
        means = np.asarray(counts.mean(axis=0, dtype=np.float64))
        if detection.efficiency is not None:
            means = means * detection.efficiency[genes]
        entry["counts_on_platform"] = float(means.sum())
        if detection.codewords is not None:
            entry["counts_per_bit"] = forecasts.loads(detection.codewords[genes], means).sum(axis=1)
    return entry


def forecast(
    adata: AnnData, found: Found, inputs: Asked, counts: Matrix | None, near: Index
) -> dict[str, Any]:
    """Return how well labels can be predicted on the platform."""
    detection, spills = found.basis.detection, inputs.spillover
    if counts is None or inputs.labels is None:
        return {}
    if spills is None and found.basis.request.platform is not None:  # that of the selection
        spills = spillover_of(
            found.basis.request.platform, inputs.column, inputs.labels, inputs.counts
        )
    if not (detection.differs or spills):
        return {}
    codes = inputs.labels.codes
    cells = np.flatnonzero(codes >= 0)
    if len(cells) > forecasts.CELLS:
        draw = np.random.default_rng(inputs.random_state)
        cells = np.sort(draw.choice(cells, forecasts.CELLS, replace=False))
    own = measures.dense(counts[cells])
    n_near = near.shape[1]
    ends = np.arange(0, len(cells) * n_near + 1, n_near)
    around = sparse.csr_array(
        (np.ones(len(cells) * n_near), near[cells].ravel(), ends), (len(cells), len(near))
    )
    rates = (own + measures.dense(around @ counts)) / (1 + n_near)
    predicted = forecasts.of_labels(
        own,
        rates,
        codes[cells],
        inputs.labels.names,
        detection.only(found.genes),
        inputs.random_state,
        spills,
    )
    accuracy, low, high = map(float, predicted.accuracies)
    entry: dict[str, Any] = {
        "forecast": predicted.per_label,
        "accuracy_on_platform": accuracy,
        "accuracy_on_platform_low": low,
        "accuracy_on_platform_high": high,
    }
    if spills is not None and predicted.spilled is not None:
        names = adata.var_names[found.genes].to_numpy(dtype=object)
        entry |= {"neighbor_frequencies": spills.neighbors, **_spilled(names, predicted.spilled)}
    return entry


def _spilled(names: Any, spilled: Spilled) -> dict[str, Any]:
    """Return what spillover does to labels, and to markers that exclude each other."""
    entry: dict[str, Any] = {"accuracy_without_spillover": spilled.accuracy}
    if len(spilled.leaks):
        entry["leaks"] = spilled.leaks
    pairs = spilled.pairs
    if len(pairs.first):
        entry["mecr_reference"] = float(pairs.coexpression.mean())
        entry["mecr_on_platform"] = float(spilled.coexpression.mean())
        table = pd.DataFrame(
            {
                "gene": names[pairs.first],
                "other": names[pairs.second],
                "coexpression": spilled.coexpression,
                "coexpression_reference": pairs.coexpression,
                "coexpression_without_spillover": spilled.without,
            }
        ).sort_values("coexpression", ascending=False, kind="stable")
        entry["exclusive_markers"] = table.head(_PAIRS).reset_index(drop=True)
    return entry


def spillover_of(
    platform: Platform | None, column: str | None, labels: Labels | None, counts: RowMatrix | None
) -> Spillover | None:
    """Return the spillover of a platform, if anything can be forecast; labels are of a column."""
    if platform is None or not platform.spillover:
        return None
    if labels is None or column is None or counts is None:
        log.warning(
            Message(
                f"{arg('spillover')} is part of the forecast of labels, which needs "
                f"{arg('labels')} and {arg('counts_layer')}."
            )
        )
        return None
    return spillover.of_labels(platform, platform.spillover, column, labels)
