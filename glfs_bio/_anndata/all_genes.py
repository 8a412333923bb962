"""The cells as all genes show them, which panels are compared with: kept with the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import codec
from ..cells import pca
from ..cells.graph import MOST_EXACT
from ..data.matrix import is_sparse, moments
from ..data.products import ScaledGenes, products
from ..data.threads import one_thread_of_blas
from ..measures.cells import N_COMPS, View, evenly
from . import read, results, stale

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Array
    from ..data.matrix import RowMatrix
    from ..options import StructureSpec

#: Where it is kept, in ``.obsm`` and ``.uns``.
KEY = "glfs_all_genes"


def view_of_all_genes(adata: AnnData, spec: StructureSpec, random_state: int | None) -> View:
    """Return the view in principal components of all genes of a structure: the stored one, or a new
    one.
    """
    layer = spec.layer
    data = read.heard(adata, read.row_matrix(adata, layer), spec.ignore)
    made_of = {
        "matrix": stale.checksum_of_matrix(adata, data, layer),
        "random_state": codec.storable(random_state),
    }
    entry = adata.uns.get(KEY)
    is_whole = KEY in adata.obsm and entry is not None and "by_split" in entry  # not of long ago
    if is_whole and not stale.stale(adata, entry, made_of):
        clusters = {int(k): np.asarray(own) for k, own in entry["clusters"].items()}
        near, by_split = (np.asarray(entry[name]) for name in ("nearest", "by_split"))
        return View(np.asarray(adata.obsm[KEY]), near, clusters, by_split)
    where = components(data, random_state)
    view = View.of(where, random_state)
    entry = results.envelope(
        "all_genes",
        {"layer": layer, "random_state": random_state},
        made_of,
        nearest=view.nearest,
        clusters={str(k): own for k, own in view.clusters.items()},
        by_split=view.by_split,
    )
    results.store(adata, KEY, entry, obsm={KEY: view.coordinates})
    return view


@one_thread_of_blas()
def components(cells: RowMatrix, random_state: int | None) -> Array:
    """Return principal components: of many cells by two passes, from those of a part of them."""
    n_cells, n_genes = cells.shape
    few = n_cells <= MOST_EXACT or n_genes <= N_COMPS + pca.SPARE
    mean, _, part = moments(cells, None if few else evenly(n_cells, MOST_EXACT))
    if few:
        return pca.principal_components(part, N_COMPS, random_state)
    scale = np.ones(n_genes)
    genes = ScaledGenes(products(part), scale)
    start = pca.loadings(genes, N_COMPS + pca.SPARE, random_state)
    where, _, _ = pca.spread(cells, start, N_COMPS, mean, scale, mostly_zero=is_sparse(part))
    return np.asarray(where)
