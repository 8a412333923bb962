"""Sets of cells that are reduced on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Index

_FEWEST_CELLS = 3


class Batch(NamedTuple):
    """A set of cells: what messages call it, and its cells, None for all."""

    name: str
    cells: Index | None


def split(batch: ArrayLike | None, n_cells: int) -> list[Batch]:
    """The batches in the order of their names, or all cells.

    Raises
    ------
    ValueError
        A batch that is missing for some cells, or has too few.
    """
    if batch is None:
        return [Batch("the cells", None)]
    labels = np.asarray(batch)
    if labels.shape != (n_cells,):
        msg = f"batch has shape {labels.shape}, but there are {n_cells} cells."
        raise ValueError(msg)
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        msg = f"batch is missing for {missing} cells: fill or remove them."
        raise ValueError(msg)
    labels = labels.astype(str)
    return [_one(str(label), np.flatnonzero(labels == label)) for label in np.unique(labels)]


def _one(label: str, cells: Index) -> Batch:
    if len(cells) < _FEWEST_CELLS:
        msg = (
            f"batch {label!r} has {len(cells)} cells: at least {_FEWEST_CELLS} are needed; merge "
            "or remove it."
        )
        raise ValueError(msg)
    return Batch(f"the cells of batch {label!r}", cells)
