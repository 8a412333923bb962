"""Raw counts, out of an AnnData object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import read

if TYPE_CHECKING:
    from anndata import AnnData

    from ..core.data.rows import RowMatrix


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
