"""What tests of plots read off a picture, and the panel that they draw."""

from __future__ import annotations

from itertools import pairwise

PANEL = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]


def names(labels):
    return [label.get_text() for label in labels]


def rows(ax):
    return names(ax.get_yticklabels())


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return chosen.sort_values(f"{key}_rank")


def apart(ax):
    """Whether names of rows, texts and the legend are inside the figure and apart."""
    figure = ax.figure
    figure.draw_without_rendering()
    legend = [ax.get_legend()] if ax.get_legend() else []
    texts = [text for text in [*ax.get_yticklabels(), *ax.texts, ax.xaxis.label] if text.get_text()]
    boxes = [text.get_window_extent().shrunk(0.95, 0.9) for text in [*legend, *texts]]
    is_inside = all(
        box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1
        for box in boxes
    )
    ordered = sorted(boxes, key=lambda box: (box.x0, box.y0))
    return is_inside and not any(one.overlaps(other) for one, other in pairwise(ordered))
