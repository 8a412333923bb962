"""What plots and the report read of an evaluation, and what its measures are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._anndata import results
from ..errors import NotFound, arg, call

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from anndata import AnnData

    from .._typing import Array

#: Measures of a panel, in the order to show them.
MEASURES = {
    "preserved": "structure preserved",
    "preserved_on_platform": "preserved, on the platform",
    "optimality": "optimality (lower bound)",
    "knn_preservation": "kNN preservation",
    "cluster_preservation_coarse": "cluster preservation, coarse",
    "cluster_preservation_fine": "cluster preservation, fine",
    "accuracy": "label accuracy",
    "accuracy_all_genes": "label accuracy, all genes",
    "macro_f1": "label macro-F1",
    "rare_f1": "F1 of rare labels",
    "imputed": "imputation R², median",
    "counts_spearman": "correlation with total counts",
    "n_genes": "number of genes",
    "n_effective": "effective number of genes",
    "mean_correlation": "mean correlation of genes",
    "counts_share": "share of total counts",
}


def preserved_label(entry: Mapping[str, Any]) -> str:
    """Return what ``preserved`` of a record is the share of: "structure preserved"."""
    return f"{results.preserved_of(entry).removeprefix('the ')} preserved"


def evaluation(adata: AnnData, key: str) -> dict[str, Any]:
    """Return what ``tl.evaluate_panel`` wrote."""
    return results.current(
        adata, key, "tl.evaluate_panel", "n_genes", "preserved", "most_preserved"
    )


def by_label(adata: AnnData, key: str) -> tuple[pd.DataFrame, Array]:
    """Return ``per_label`` and ``confusion`` of ``tl.evaluate_panel``, in one order."""
    entry = evaluation(adata, key)
    if "per_label" not in entry:
        raise NotFound(
            "key",
            key,
            "is of a panel that was evaluated without labels",
            f"run {call('tl.evaluate_panel')} with {arg('labels')}",
        )
    return entry["per_label"], np.asarray(entry["confusion"], dtype=float)


def column(adata: AnnData, key: str, where: Literal["obs", "var"], name: str) -> pd.Series:
    """Return a column that ``tl.evaluate_panel`` wrote to ``.obs`` or ``.var``."""
    evaluation(adata, key)
    frame = getattr(adata, where)
    if f"{key}_{name}" not in frame:
        raise NotFound(
            "key", key, f"has no column {key}_{name}", f"run {call('tl.evaluate_panel')} again"
        )
    return frame[f"{key}_{name}"]
