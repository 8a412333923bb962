"""Cells with no more than a selection reads of them, whose matrices stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from anndata import AnnData

from ..data.matrix import RowMatrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._typing import Index


class Lean(AnnData):  # type: ignore[misc]
    """An object whose ``X`` (None) and layers are these, whatever holds them."""

    matrices: dict[str | None, RowMatrix]

    @classmethod
    def of(cls, cells: AnnData, matrices: Mapping[str | None, RowMatrix]) -> Self:
        """Return the cells of an object, which has no matrix, with some."""
        contents = {name: dict(getattr(cells, name)) for name in ("uns", "obsm", "obsp")}
        lean = cls(obs=cells.obs, var=cells.var, **contents)
        lean.matrices = dict(matrices)
        return lean


class Held:
    """A matrix for other processes, which open its file themselves where it is one of HDF5."""

    def __init__(self, rows: RowMatrix) -> None:
        self.rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        """Open it again, or copy it."""
        source = self.rows.source
        stored = getattr(source, "group", source)
        if type(stored).__module__.partition(".")[0] != "h5py":
            return Held, (self.rows,)
        stored.file.flush()
        return _opened, (stored.file.filename, stored.name, self.rows.genes)


def _opened(path: str, name: str, genes: Index | None) -> Held:
    import h5py  # type: ignore[import-untyped]
    from anndata.io import sparse_dataset

    stored = h5py.File(path, "r", locking=False)[name]
    source = stored if isinstance(stored, h5py.Dataset) else sparse_dataset(stored)
    return Held(RowMatrix(source, genes=genes))
