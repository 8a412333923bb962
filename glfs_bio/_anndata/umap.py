"""UMAPs of the cells by a panel and by all genes: computed, kept with the cells, and found."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from anndata import AnnData
from scipy import sparse
from scipy.sparse import SparseEfficiencyWarning
from sklearn.base import BaseEstimator

from .. import codec
from .._extras import needs
from .._progress import progress
from ..cells.graph import MOST_EXACT, approximate_neighbors
from ..cells.pca import principal_components
from ..data import threads as pools
from ..data.matrix import RowMatrix
from ..errors import NO_VALUE, InvalidValue, Message, call
from ..measures.cells import coordinates, dense, evenly
from . import read, results, stale
from .all_genes import components

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from .._typing import Array, Index

log = logging.getLogger(__name__)

#: Most cells of a UMAP, and points of a picture; of more there is a sample, evenly over their
#: order.  A UMAP of so many takes a minute.
MOST_CELLS = 100_000
#: Its two axes are found among eigenvectors of the graph, of which there are more.
_FEWEST = 5


@dataclass(frozen=True)
class Maps:
    """UMAPs of the cells, and what they are of."""

    #: Coordinates by the panel, shape (cells, 2); NaN where a cell is not in the sample.
    panel: NDArray[np.float64]
    #: Coordinates by all genes; None where the panel has all of them.
    all_genes: NDArray[np.float64] | None
    #: The panel.
    genes: pd.Index
    #: `layer`, `random_state` and the number of cells, `n_cells`.
    params: dict[str, Any]


def keep(adata: AnnData, key: str, found: Maps) -> None:
    """Write UMAPs to `adata`, with what they were made of; scanpy's own ``X_umap`` stays."""
    made_of = stale.made_of(adata, codec.restored(found.params["layer"]))
    packages = ("scanpy", "umap-learn")
    if found.all_genes is not None and not _is_current(adata, "umap", "X_umap"):
        entry = results.envelope("umap", found.params, made_of, packages)
        results.store(adata, "umap", entry, obsm={"X_umap": found.all_genes})
    entry = results.envelope("umap", found.params, made_of, packages, genes=found.genes)
    results.store(adata, f"umap_{key}", entry, obsm={f"X_umap_{key}": found.panel})


def are_kept(adata: AnnData, key: str, genes: pd.Index) -> bool:
    """Whether :func:`maps` finds what it returns for these genes, with any parameters."""
    of_all = len(genes) == adata.n_vars or _is_current(adata, "umap", "X_umap")
    return of_all and _kept(adata, key, genes, None) is not None


@pools.one_thread_if_forked
def maps(
    adata: AnnData,
    key: str,
    genes: pd.Index,
    layer: str | None,
    random_state: int | None = None,
    max_cells: int | None = None,
) -> Maps:
    """Return UMAPs by these genes and by all genes: those that are kept if they are of these cells.

    With `random_state` None, a stored UMAP with any parameters is used, else one with the seed 0.
    """
    needs("A UMAP", "scanpy")
    read.row_matrix(adata, layer)  # refuses a layer, before anything is computed
    rows = evenly(adata.n_obs, max_cells or MOST_CELLS)
    params = {
        "layer": codec.storable(layer),
        "random_state": random_state or 0,
        "n_cells": len(rows),
    }
    with progress() as bar:
        task = bar.add_task(f"UMAP of {len(rows):,} cells by the panel", total=None)
        kept = _kept(adata, key, genes, None if random_state is None else params)
        if kept is not None:
            params = kept
            panel = np.asarray(adata.obsm[f"X_umap_{key}"])
        else:
            if len(rows) < adata.n_obs:
                log.info(
                    Message(
                        f"UMAPs of {len(rows)} of {adata.n_obs} cells, evenly over their order; "
                        f"{call('tl.panel_umap')} can compute them of more."
                    )
                )
            where = coordinates(values(adata, genes, layer, rows))
            panel = _in_place(_umap(where, params["random_state"]), rows, adata.n_obs)
        if len(genes) == adata.n_vars:
            return Maps(panel, None, genes, params)
        bar.update(task, description=f"UMAP of {len(rows):,} cells by all genes")
        return Maps(panel, _of_all(adata, layer, random_state or 0, rows), genes, params)


def _in_place(found: NDArray[np.float64], rows: Index, n_cells: int) -> NDArray[np.float64]:
    """Coordinates of a sample among those of all cells, which have none."""
    whole = np.full((n_cells, 2), np.nan, dtype=found.dtype)
    whole[rows] = found
    return whole


def _of_all(
    adata: AnnData, layer: str | None, random_state: int, rows: Index
) -> NDArray[np.float64]:
    """``X_umap``, else from the graph, which is of all cells, else from ``X_pca``, else from the
    matrix.
    """
    if _is_current(adata, "umap", "X_umap"):
        return np.asarray(adata.obsm["X_umap"])
    if "neighbors" not in adata.uns or len(rows) < adata.n_obs:
        where = read.representation(adata, "X_pca" if "X_pca" in adata.obsm else None)
        if where is None:
            where = components(RowMatrix(read.row_matrix(adata, layer), rows), random_state)
        else:
            where = where[rows]
        return _in_place(_umap(where, random_state), rows, adata.n_obs)
    pools.need_numba("UMAP")
    import scanpy as sc

    bare = AnnData(np.zeros((adata.n_obs, 1), dtype=np.float32), uns=dict(adata.uns))
    bare.obsm.update(adata.obsm)
    bare.obsp.update(adata.obsp)
    sc.tl.umap(bare, random_state=random_state)
    return np.asarray(bare.obsm["X_umap"])


def values(adata: AnnData, genes: pd.Index, layer: str | None, rows: Index | None = None) -> Array:
    """Expression of a few genes in some cells, dense, wherever the matrix is."""
    places = adata.var_names.get_indexer(genes)
    return dense(RowMatrix(read.row_matrix(adata, layer), rows, places).loaded(), np.float32)


def _kept(
    adata: AnnData, key: str, genes: pd.Index, params: dict[str, Any] | None
) -> dict[str, Any] | None:
    """Parameters of the UMAP of these genes that is kept, if they are these, or any for None."""
    entry = adata.uns.get(f"umap_{key}")
    if not isinstance(entry, Mapping) or "made_of" not in entry or "params" not in entry:
        return None
    same = set(entry.get("genes", ())) == set(genes) and params in (None, entry["params"])
    current = _is_current(adata, f"umap_{key}", f"X_umap_{key}")
    return dict(entry["params"]) if same and current else None


def _is_current(adata: AnnData, entry: str, coordinates: str) -> bool:
    """Whether there are coordinates, and of the matrix that there is, as far as that is known.

    What scanpy wrote does not say.
    """
    record = adata.uns.get(entry, {})
    known = isinstance(record, Mapping) and "made_of" in record
    return coordinates in adata.obsm and not (known and stale.stale(adata, record))


def _umap(where: NDArray[np.float64], random_state: int) -> NDArray[np.float64]:
    """Compute a UMAP of cells with these coordinates, shape (cells, 2)."""
    n_cells = len(where)
    if n_cells < _FEWEST:
        raise InvalidValue(
            "adata",
            NO_VALUE,
            f"has {n_cells} cells, but a UMAP needs at least {_FEWEST}",
            "use more cells",
        )
    pools.need_numba("UMAP")
    import scanpy as sc

    cells = AnnData(np.asarray(where, dtype=np.float32))
    exact = n_cells <= MOST_EXACT
    with warnings.catch_warnings():  # scanpy, where cells are equal in the few genes of a panel
        warnings.filterwarnings("ignore", "Changing the sparsity", SparseEfficiencyWarning)
        sc.pp.neighbors(
            cells,
            use_rep="X",
            random_state=random_state,
            transformer="sklearn" if exact else _Nearest(random_state=random_state),
        )
    if not exact:  # eigenvectors of a graph of many cells take longer than all else
        cells.obsm["axes"] = principal_components(where, 2, random_state)
    sc.tl.umap(cells, random_state=random_state, init_pos="spectral" if exact else "axes")
    return np.asarray(cells.obsm["X_umap"])


class _Nearest(BaseEstimator):  # type: ignore[misc]
    """Our nearest cells, as scanpy asks for them: half a minute before those of pynndescent, which
    is compiled first.
    """

    def __init__(self, n_neighbors: int = 15, random_state: int = 0) -> None:
        self.n_neighbors, self.random_state = n_neighbors, random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is to be learnt."""
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Distances to the nearest cells, of which a cell is the first itself, as CSR."""
        near, far = approximate_neighbors(X, self.n_neighbors - 1, self.random_state)
        pointers = np.arange(0, near.size + 1, near.shape[1])
        return sparse.csr_matrix((far.ravel(), near.ravel(), pointers), (len(X), len(X)))

    transform = fit_transform
