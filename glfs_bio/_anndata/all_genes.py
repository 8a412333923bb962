"""The cells as all genes show them, which panels are compared with: kept with the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..cells.graph import MOST_EXACT
from ..data.matrix import is_sparse, moments
from ..data.products import SPARE, Products, ScaledGenes, principal_components, spread
from ..data.threads import one_thread_of_blas
from ..measures.cells import N_COMPS, View, evenly
from . import read, results, stale

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Array
    from ..cells.cells import StructureSpec
    from ..data.matrix import RowMatrix

#: Where it is kept, in ``.obsm`` and ``.uns``.
KEY = "glfs_all_genes"


def view_of_all_genes(
    adata: AnnData, spec: StructureSpec, random_state: int | None, *, clustered: bool
) -> View:
    """Return the view in principal components of all genes of a structure: the stored one, or a new
    one; `clustered` says whether its clusters are needed.
    """
    layer = spec.layer
    data = read.without_ignored(adata, read.row_matrix(adata, layer), spec.ignore)
    matrix = stale.checksum_of_matrix(adata, data, layer)
    made_of = {"matrix": matrix, "random_state": str(random_state)}
    entry = adata.uns.get(KEY)
    if KEY in adata.obsm and stale.is_of(entry, made_of):
        view = View(np.asarray(adata.obsm[KEY]), random_state)
        stored = vars(view)  # of its cached properties
        stored["nearest"] = np.asarray(entry["nearest"], dtype=np.intp)
        if "clusters" in entry:
            stored["clusters"] = {int(k): np.asarray(of) for k, of in entry["clusters"].items()}
        if not clustered or "clusters" in entry:
            return view
    else:
        view = View(components(data, random_state), random_state)
    content: dict[str, Any] = {"nearest": view.nearest}
    if clustered:
        content["clusters"] = {str(k): of for k, of in view.clusters.items()}
    params = {"layer": layer, "random_state": random_state}
    entry = results.envelope("all_genes", params, made_of, **content)
    results.store(adata, KEY, entry, obsm={KEY: view.coordinates})
    return view


@one_thread_of_blas()
def components(cells: RowMatrix, random_state: int | None) -> Array:
    """Return principal components: of many cells by two passes, from those of a part of them."""
    n_cells, n_genes = cells.shape
    few = n_cells <= MOST_EXACT or n_genes <= N_COMPS + SPARE
    mean, _, sample = moments(cells, None if few else evenly(n_cells, MOST_EXACT))
    if few:
        return np.asarray(principal_components(Products.of(sample), N_COMPS, random_state))
    scale = np.ones(n_genes)
    genes = ScaledGenes(Products.of(sample), scale)
    start = genes.loadings(N_COMPS + SPARE, random_state)
    where, _, _ = spread(cells, start, N_COMPS, mean, scale, mostly_zero=is_sparse(sample))
    return np.asarray(where)
