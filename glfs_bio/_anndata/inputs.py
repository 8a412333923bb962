"""What a selection reads of the cells: the matrix, the graph, the coordinates and the batches."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import fingerprint, read

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Matrix
    from ..data.matrix import RowMatrix


@dataclass(frozen=True)
class Inputs:
    """The arguments of :func:`~glfs_bio.cells.cells.build_problems` that are data.

    The matrix is that of all genes.
    """

    data: RowMatrix
    representation: Array | None
    graph: Matrix | None
    batch: NDArray[Any] | None
    provisional: bool

    @property
    def fingerprints(self) -> dict[str, str]:
        """What tells representation and graph from others."""
        return {
            "representation": fingerprint.of_values(self.representation),
            "graph": fingerprint.of_values(self.graph),
        }


def inputs(
    adata: AnnData,
    *,
    layer: str | None,
    batch_key: str | None,
    use_rep: str | None,
    neighbors_key: str | None,
    n_comps: int | None,
    stacklevel: int,
) -> Inputs:
    """Read them; warns of raw values, on behalf of who called `stacklevel` calls above.

    Principal components and graph that were not named are left alone where they would not fit:
    with batches, at full rank, and both with ``use_rep="X"``.

    Raises
    ------
    KeyError, TypeError, ValueError
        As the functions of :mod:`.read`.
    """
    data = read.row_matrix(adata, layer)
    batch = read.batches(adata, batch_key)
    fresh = batch is not None or n_comps is None or use_rep == "X"
    coordinates = None if fresh and use_rep is None else read.representation(adata, use_rep)
    graph = None if fresh and neighbors_key is None else read.graph(adata, neighbors_key)
    raw = None
    if read.looks_like_counts(data):
        raw = (
            "The matrix holds whole numbers, like raw counts: run sc.pp.normalize_total and "
            "sc.pp.log1p first, or name a logarithmised layer."
        )
    elif read.looks_like_intensities(data):
        raw = (
            "The matrix holds values that are too large for logarithms, like raw intensities of "
            "microarrays: take logarithms first, of such intensities as "
            "np.log2(np.maximum(X, 20)), or name a logarithmised layer."
        )
    if raw is not None:
        warnings.warn(raw, UserWarning, stacklevel=stacklevel + 1)
    return Inputs(data, coordinates, graph, batch, use_rep is None and neighbors_key is None)
