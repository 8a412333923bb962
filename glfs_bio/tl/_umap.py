"""The UMAP of the cells by a panel alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import checks
from .._anndata import read, results, umap
from .._docs import documented

if TYPE_CHECKING:
    from anndata import AnnData


@documented
def panel_umap(
    adata: AnnData,
    key: str = "glfs",
    *,
    n_genes: int | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    max_cells: int | None = None,
    random_state: int = 0,
) -> None:
    """Compute the UMAP of the cells by a panel alone, and store it in `adata`.

    :func:`~glfs_bio.pl.panel` and :func:`~glfs_bio.io.write_report` draw this UMAP next to that of
    all genes.  They compute both at each call unless they find them in `adata`, which takes minutes
    for many cells.  UMAPs that are there are not computed again for the same genes, matrix, layer,
    number of cells and seed.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, log-normalised, with a selection of :func:`~glfs_bio.pp.select_genes`: in
        memory, backed, zarr or dask.
    <key>
    n_genes : int, default None
        Number of genes, the best first.  None: every selected gene.
    <layer>
    <use_raw>
    max_cells : int, default None
        Number of cells, evenly over their order, that the UMAPs are of; time and memory grow with
        it.  None: 100,000.
    random_state : int, default 0
        Seed of the UMAPs.

    Returns
    -------
    None.  Written:

    ``.obsm[f"X_umap_{key}"]`` : float, shape (cells, 2)
        Coordinates by the panel, NaN of cells beyond `max_cells`.  Above 50 genes its principal
        components are used.
    ``.uns[f"umap_{key}"]`` : dict
        ``genes``: those of the panel; ``params``: `layer`, `random_state` and ``n_cells``, the
        number of cells; ``made_of``: a fingerprint of the matrix; ``versions``.
    ``.obsm["X_umap"]`` : float, shape (cells, 2)
        Coordinates by all genes of the same cells, where there are none: from the graph of
        ``sc.pp.neighbors``, which is of all cells, else from ``X_pca``, else from principal
        components that are computed.  They are not computed where the panel has all genes of
        `adata`.
    ``.uns["umap"]`` : dict
        ``params`` and ``made_of`` of these, if they were computed here.

    See Also
    --------
    glfs_bio.pl.panel : Plot the UMAP of the panel next to that of all genes.

    References
    ----------
    L. McInnes, J. Healy and J. Melville, UMAP: Uniform manifold approximation and projection,
    arXiv:1802.03426.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> glfs_bio.tl.panel_umap(adata)
    >>> adata.obsm["X_umap_glfs"].shape
    (700, 2)
    """
    checks.keys(key=key)
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    checks.whole_number("max_cells", max_cells, at_least=1, or_none=True)
    checks.seed(random_state)
    genes = results.ranked(adata, key).index[:n_genes]
    layer = read.layer_or_raw(adata, layer, use_raw)
    umap.keep(adata, key, umap.maps(adata, key, genes, layer, random_state, max_cells))
