"""Sets of cells that are reduced on their own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import NO_VALUE, InvalidValue, Message, listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
    """
    if batch is None:
        return [Batch(None, None)]
    names, codes, sizes = _counted(batch, n_cells)
    large = np.flatnonzero(sizes >= _FEWEST_CELLS)
    if not len(large):
        raise InvalidValue(
            "batch", NO_VALUE, f"has no batch of {_FEWEST_CELLS} cells", "merge batches"
        )
    return [Batch(str(names[code]), np.flatnonzero(codes == code)) for code in large]


def warn_of_few(batch: ArrayLike | None, n_cells: int) -> None:
    """Name batches that are left out, and those that say little."""
    if batch is None:
        return
    names, _, sizes = _counted(batch, n_cells)
    none = sizes < _FEWEST_CELLS
    few = (sizes < _FEW_CELLS) & ~none
    if none.any():
        log.warning(
            Message(
                "Batches of one or two cells are left out: "
                f"{_with_sizes(names[none], sizes[none])}."
            )
        )
    if few.any():
        log.warning(
            Message(
                "Batches with few cells count as much as others: "
                f"{_with_sizes(names[few], sizes[few])}. Merge or remove them."
            )
        )


def _with_sizes(names: NDArray[np.str_], sizes: Index) -> str:
    return listed(f"{name} ({size})" for name, size in zip(names, sizes, strict=True))


def _counted(batch: ArrayLike, n_cells: int) -> tuple[NDArray[np.str_], Index, Index]:
    """Names of the batches, which of them each cell is in, and how many cells each has."""
    labels = np.asarray(batch)
    if labels.shape != (n_cells,):
        raise InvalidValue(
            "batch", NO_VALUE, f"has shape {labels.shape}, but there are {n_cells} cells"
        )
    missing = sum(label is None or label != label for label in labels.tolist())
    if missing:
        raise InvalidValue(
            "batch", NO_VALUE, f"is missing for {missing} cells", "fill or remove them"
        )
    return np.unique(labels.astype(str), return_inverse=True, return_counts=True)
