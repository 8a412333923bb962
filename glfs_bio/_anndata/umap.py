"""UMAPs of the cells by a panel and by all genes: computed, kept with the cells, and found."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from anndata import AnnData
from scipy import sparse
from scipy.sparse import SparseEfficiencyWarning

from .. import codec
from .._extras import needs
from .._progress import progress
from ..cells.graph import MOST_EXACT
from ..data import threads as pools
from ..data.matrix import RowMatrix
from ..errors import NO_VALUE, InvalidValue
from ..measures.cells import coordinates
from . import read, results, stale
from .all_genes import components

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Its two axes are found among eigenvectors of the graph, of which there are more.
_FEWEST = 5


@dataclass(frozen=True)
class Maps:
    """UMAPs of the cells, and what they are of."""

    #: Coordinates by the panel, shape (cells, 2).
    panel: NDArray[np.float64]
    #: Coordinates by all genes; None where the panel has all of them.
    all_genes: NDArray[np.float64] | None
    #: The panel.
    genes: pd.Index
    #: `layer` and `random_state`.
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
) -> Maps:
    """Return UMAPs by these genes and by all genes: those that are kept if they are of these cells.

    With `random_state` None, a stored UMAP with any parameters is used, else one with the seed 0.
    """
    needs("A UMAP", "scanpy")
    read.row_matrix(adata, layer)  # refuses a layer, before anything is computed
    params = {"layer": codec.storable(layer), "random_state": random_state or 0}
    with progress() as bar:
        task = bar.add_task("UMAP by the panel", total=None)
        kept = _kept(adata, key, genes, None if random_state is None else params)
        if kept is not None:
            params = kept
            panel = np.asarray(adata.obsm[f"X_umap_{key}"])
        else:
            where = coordinates(values(adata, genes, layer))
            panel = _umap(where, params["random_state"])
        if len(genes) == adata.n_vars:
            return Maps(panel, None, genes, params)
        bar.update(task, description="UMAP by all genes")
        return Maps(panel, _of_all(adata, layer, random_state or 0), genes, params)


def _of_all(adata: AnnData, layer: str | None, random_state: int) -> NDArray[np.float64]:
    """``X_umap``, else from the graph, else from ``X_pca``, else from the matrix."""
    if _is_current(adata, "umap", "X_umap"):
        return np.asarray(adata.obsm["X_umap"])
    if "neighbors" not in adata.uns:
        where = read.representation(adata, "X_pca" if "X_pca" in adata.obsm else None)
        if where is None:
            where = components(read.row_matrix(adata, layer), random_state)
        return _umap(where, random_state)
    pools.need_numba("UMAP")
    import scanpy as sc

    bare = AnnData(np.zeros((adata.n_obs, 1), dtype=np.float32), uns=dict(adata.uns))
    bare.obsm.update(adata.obsm)
    bare.obsp.update(adata.obsp)
    sc.tl.umap(bare, random_state=random_state)
    return np.asarray(bare.obsm["X_umap"])


def values(adata: AnnData, genes: pd.Index, layer: str | None) -> NDArray[np.float32]:
    """Expression of a few genes, dense, wherever the matrix is."""
    places = adata.var_names.get_indexer(genes)
    order = np.argsort(places)
    cells = RowMatrix(read.row_matrix(adata, layer), genes=places[order])
    _, found = cells.sweep(lambda block, _: ((), block))
    dense = np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float32)
    return dense[:, np.argsort(order)]


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
    with warnings.catch_warnings():  # scanpy, where cells are equal in the few genes of a panel
        warnings.filterwarnings("ignore", "Changing the sparsity", SparseEfficiencyWarning)
        sc.pp.neighbors(
            cells,
            use_rep="X",
            random_state=random_state,
            transformer="sklearn" if n_cells <= MOST_EXACT else None,
        )
    sc.tl.umap(cells, random_state=random_state)
    return np.asarray(cells.obsm["X_umap"])
