"""Raw counts, cells with a gene, and the smallest value, out of an AnnData object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ..data.matrix import no_rows
from . import read

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Array, Matrix
    from ..data.matrix import RowMatrix, Sums


def counts(adata: AnnData, counts_layer: str) -> RowMatrix:
    """A layer of raw counts, or ``.X`` where that is ``"X"``.

    Raises
    ------
    KeyError, TypeError, ValueError
        There is none, or its values are no counts.
    """
    if counts_layer != "X" and counts_layer not in adata.layers:
        msg = (
            f"counts_layer={counts_layer!r} is not in adata.layers: "
            f"{read.listed(adata.layers.keys())}."
        )
        raise KeyError(msg)
    found = read.row_matrix(adata, None if counts_layer == "X" else counts_layer)
    if not read.looks_like_counts(found):
        msg = (
            f"counts_layer={counts_layer!r} does not look like raw counts, which are whole numbers "
            "≥ 0: name a layer that was not normalised."
        )
        raise ValueError(msg)
    return found


def n_cells_with(data: RowMatrix) -> Array:
    """Cells in which each gene is not zero, shape (n_genes,)."""
    (found,), _ = data.sweep(_not_zero)
    return np.asarray(found)


def least(data: RowMatrix) -> float:
    """The smallest value."""
    (found,), _ = data.sweep(_least, merge=lambda left, right: (np.minimum(left[0], right[0]),))
    return float(found)


def _least(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    return (np.asarray(block.min()),), no_rows(block)


def _not_zero(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    if sparse.issparse(block):
        found = np.bincount(block.indices[block.data != 0], minlength=block.shape[1])
    else:
        found = np.count_nonzero(block, axis=0)
    return (found.astype(np.float64),), no_rows(block)
