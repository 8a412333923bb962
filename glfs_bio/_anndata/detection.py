"""How much of each gene the assay detects that will measure a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from anndata import AnnData

from . import counts, per_gene, read
from .per_gene import PerGene

if TYPE_CHECKING:
    from .._typing import Array
    from ..data.matrix import RowMatrix

#: What ``detection=`` may be; documentation shows it.
Detection: TypeAlias = AnnData | PerGene

#: Cells that are added to those that express a gene, and to those that do not.
_HALF = 0.5


def shares(adata: AnnData, given: Detection, layer: str | None) -> Array:
    """Detection of each gene as a share of that in `adata`, from 0 to 1, shape (n_vars,).

    From cells that were measured by that assay: with a Poisson count in each cell, a gene that a
    share s of the cells expresses has ``−log(1 − s)`` molecules in the mean.  The share is that
    mean there over the mean here, 0 for a gene that is not there, and at most 1, as the noise here
    is not only that of counting.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.per_gene.numbers`; no gene in common; negative values.
    """
    if not isinstance(given, AnnData):
        return per_gene.numbers(adata, given, "detection", most=1.0)
    read.unique_names(given)
    places = given.var_names.get_indexer(adata.var_names)
    there = places >= 0
    if not there.any():
        msg = (
            "detection has no gene of adata.var_names: give genes the same names, such as symbols."
        )
        raise ValueError(msg)
    found = np.zeros(adata.n_vars)
    here = _molecules(read.row_matrix(adata, layer), "adata")
    elsewhere = _molecules(read.row_matrix(given), "detection")
    found[there] = elsewhere[places[there]] / here[there]
    return np.minimum(found, 1.0)


def _molecules(data: RowMatrix, name: str) -> Array:
    """``−log(1 − s)`` for the share s of cells that express each gene."""
    if counts.least(data) < 0:
        msg = (
            f"detection: {name} has negative values, so that cells that express a gene cannot be "
            "told: use counts, or logarithms of them."
        )
        raise ValueError(msg)
    share = (counts.n_cells_with(data) + _HALF) / (data.shape[0] + 2.0 * _HALF)
    return np.asarray(-np.log1p(-share))
