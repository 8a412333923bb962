"""Sets of cells that are reduced on their own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Index

log = logging.getLogger(__name__)

#: Fewer have no structure.
_FEWEST_CELLS = 3
#: A batch of fewer is worth a note.
_FEW_CELLS = 20


class Batch(NamedTuple):
    """A set of cells: its label, None where there are no batches, and its cells, None for all."""

    label: str | None
    cells: Index | None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "the cells" if self.label is None else f"the cells of batch {self.label!r}"


def split(batch: ArrayLike | None, n_cells: int) -> list[Batch]:
    """The batches in the order of their names, or all cells.

    Batches of one or two cells have no structure, and are left out.

    Raises
    ------
    ValueError
        A batch that is missing for some cells, or no batch of three cells.
    """
    if batch is None:
        return [Batch(None, None)]
    labels = np.asarray(batch)
    if labels.shape != (n_cells,):
        msg = f"batch has shape {labels.shape}, but there are {n_cells} cells."
        raise ValueError(msg)
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        msg = f"batch is missing for {missing} cells: fill or remove them."
        raise ValueError(msg)
    names, codes = np.unique(labels.astype(str), return_inverse=True)
    every = [Batch(str(name), np.flatnonzero(codes == code)) for code, name in enumerate(names)]
    large = [one for one in every if _size(one) >= _FEWEST_CELLS]
    if not large:
        msg = (
            f"No batch has {_FEWEST_CELLS} cells: these are too few. Merge batches, or leave them "
            "out."
        )
        raise ValueError(msg)
    return large


def warn_of_few(batch: ArrayLike | None) -> None:
    """Name batches that are left out, and those that say little."""
    if batch is None:
        return
    names, sizes = np.unique(np.asarray(batch).astype(str), return_counts=True)
    for few, what in (
        (sizes < _FEWEST_CELLS, "Batches of one or two cells are left out"),
        (
            (sizes >= _FEWEST_CELLS) & (sizes < _FEW_CELLS),
            "Batches of few cells say little and count as much as others; merge or remove them",
        ),
    ):
        if few.any():
            told = zip(names[few], sizes[few], strict=True)
            log.warning(
                "%s: %s.", what, ", ".join(f"{str(name)!r} ({size})" for name, size in told)
            )


def _size(batch: Batch) -> int:
    return 0 if batch.cells is None else len(batch.cells)
