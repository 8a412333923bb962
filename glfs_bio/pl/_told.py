"""What tl left in an AnnData object, for the pictures of it; and names beside rows of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from anndata import AnnData
    from matplotlib.axes import Axes

    from .._typing import Array

#: What the measures of a panel are called, in the order to show them.
MEASURES = {
    "kept": "share kept",
    "kept_with_failures": "share kept as genes fail",
    "of_best_possible": "of the best possible, at least",
    "neighbors_kept": "nearest cells kept",
    "clusters_kept_coarse": "clusters kept, coarse",
    "clusters_kept_fine": "clusters kept, fine",
    "accuracy": "accuracy of labels",
    "macro_f1": "macro-F1 of labels",
    "rare_f1": "F1 of rare labels",
    "imputed": "R² of unmeasured genes, median",
    "counts_spearman": "follows total counts",
    "n_genes": "genes",
    "n_effective": "effective number of genes",
    "mean_correlation": "correlation between its genes",
    "counts_share": "share of all counts",
}
#: Characters of a label that there is room for.
_LETTERS = 32


def evaluation(adata: AnnData, key: str) -> dict[str, Any]:
    """What ``tl.evaluate_panel`` wrote.

    Raises
    ------
    KeyError
        It is not there.
    """
    return selection.record(adata, key, "tl.evaluate_panel", "n_genes", "kept", "most_kept")


def by_label(adata: AnnData, key: str) -> tuple[pd.DataFrame, Array]:
    """``per_label`` and ``confusion`` of ``tl.evaluate_panel``, in one order.

    Raises
    ------
    KeyError
        The panel was not judged, or without labels.
    """
    entry = evaluation(adata, key)
    if "per_label" not in entry:
        msg = (
            f"key={key!r}: the panel was judged without labels. Run "
            f"glfs_bio.tl.evaluate_panel(adata, panel, labels=..., key_added={key!r})."
        )
        raise KeyError(msg)
    return entry["per_label"], np.asarray(entry["confusion"], dtype=float)


def column(adata: AnnData, key: str, of: str, name: str) -> pd.Series:
    """A column that ``tl.evaluate_panel`` wrote to ``.obs`` or ``.var``.

    Raises
    ------
    KeyError
        It is not there.
    """
    evaluation(adata, key)
    frame: pd.DataFrame = getattr(adata, of)
    if f"{key}_{name}" not in frame:
        msg = (
            f"adata.{of} has no column {key}_{name}: "
            f"run glfs_bio.tl.evaluate_panel(adata, panel, key_added={key!r}) first."
        )
        raise KeyError(msg)
    return frame[f"{key}_{name}"]


def short(names: Sequence[str], letters: int = _LETTERS) -> list[str]:
    """Names that are no longer than there is room for; both ends may tell them from others."""
    tail = letters // 3
    return [
        name if len(name) <= letters else f"{name[: letters - tail - 1]}…{name[-tail:]}"
        for name in names
    ]


def rows(ax: Axes, names: Sequence[str], beside: Sequence[str], size: float = 9.0) -> None:
    """Name the rows of a picture from the top on the left, and tell a value of each on the right.

    A label with two dollars is no formula.
    """
    ax.set_yticks(range(len(names)), short(names), fontsize=size, parse_math=False)
    ax.set(ylim=(len(names) - 0.4, -0.6))
    ax.tick_params(axis="y", length=0)
    for place, text in enumerate(beside):
        ax.text(
            *(1.02, place, text),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=size,
            parse_math=False,
        )
