"""What tests of plots read off a picture, and what they draw."""

from __future__ import annotations

import io
from itertools import pairwise

from matplotlib import pyplot as plt

PANEL = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
SETS = {
    "MHC class II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1", "HLA-DPB1"],
    "cytotoxic": ["NKG7", "GNLY", "GZMB", "PRF1", "GZMA"],
    "a set whose name is so long that it has to be broken twice, and then to be cut off, as in "
    "Reactome": ["CD3D", "CD3E", "IL32"],
}


def names(labels):
    return [label.get_text() for label in labels]


def rows(ax):
    return names(ax.get_yticklabels())


def apart(ax):
    """Whether no texts of the figure lie over one another, and all are inside it."""
    figure = ax.figure
    figure.draw_without_rendering()
    low, high = sorted(ax.get_ylim())
    ticks = [tick.label1 for tick in ax.yaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    beside = [*ax.texts, ax.xaxis.label, *ticks]
    legend = ax.get_legend()
    boxes = [text.get_window_extent() for text in beside if text.get_text()]
    boxes += [legend.get_window_extent()] if legend else []
    inside = all(
        box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1
        for box in boxes
    )
    return inside and not any(
        box.shrunk(0.95, 0.9).overlaps(other.shrunk(0.95, 0.9))
        for i, box in enumerate(boxes)
        for other in boxes[:i]
    )


def labels_apart(*columns):
    """Whether no label lies over the next one in its column."""
    columns[0][0].figure.draw_without_rendering()
    return not any(
        above.get_window_extent().overlaps(below.get_window_extent())
        for labels in columns
        for above, below in pairwise(label for label in labels if label.get_text())
    )


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return chosen.sort_values(f"{key}_rank")


def drawn():
    plt.gcf().savefig(io.BytesIO(), format="png")
    plt.close("all")
