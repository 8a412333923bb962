"""What tests of plots read off a picture, and the panel that they draw."""

from __future__ import annotations

from itertools import combinations

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
    low, high = sorted(ax.get_ylim())
    ticks = [label for label in ax.get_yticklabels() if low <= label.get_position()[1] <= high]
    texts = [text for text in [*ticks, *ax.texts, ax.xaxis.label] if text.get_text()]
    shown = [*texts, ax.get_legend()] if ax.get_legend() else texts
    boxes = [text.get_window_extent().shrunk(0.95, 0.9) for text in shown]
    is_inside = all(
        box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0 and box.y1 <= figure.bbox.y1
        for box in boxes
    )
    return is_inside and not any(one.overlaps(other) for one, other in combinations(boxes, 2))
