"""R objects in, R objects out: what the R package ``glfsbio`` talks to.

The package takes objects of Bioconductor and Seurat apart in R, calls Python through one function
and puts the results back.  That works from both sides: a plain R session in which reticulate has
started Python, which needs no rpy2, and a Python session in which rpy2 has started R (``%%R``
cells), after :func:`register`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .. import checks
from .._anndata import read
from ..errors import Caution
from . import calls, objects, session, values

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["from_sce", "register", "to_sce"]


def __dir__() -> list[str]:
    return __all__


def register() -> None:
    """Connect the R package ``glfsbio`` of this process with this Python.

    In a Python session it starts R, if rpy2 has not; then the functions of ``glfsbio`` work in
    ``%%R`` cells and ``robjects.r``.  In an R session ``glfs_setup()`` connects both without rpy2.

    See Also
    --------
    to_sce, from_sce

    Examples
    --------
    >>> import glfs_bio.rbridge
    >>> glfs_bio.rbridge.register()  # doctest: +SKIP
    >>> import rpy2.robjects as ro  # doctest: +SKIP
    >>> ro.r("sce <- glfsbio::glfs_select_genes(sce, n_genes = 50)")  # doctest: +SKIP
    """
    session.r_function("attach_rpy2")(session.callback(calls.answer_rpy2))


def to_sce(adata: AnnData, *, X_name: str = "X") -> Any:
    """Copy an AnnData object, cells × genes, to a SingleCellExperiment, genes × cells.

    Parameters
    ----------
    adata : AnnData
        Cells × genes.
    X_name : str, default "X"
        Name of the assay for ``adata.X``, such as ``"counts"`` or ``"logcounts"``.

    Returns
    -------
    rpy2.rinterface.SexpS4
        The R object:

        - layers are further assays
        - ``.obs`` and ``.var`` are ``colData`` and ``rowData``, with categories as factors
        - ``.obsm`` are reduced dimensions, with ``X_pca``, ``X_tsne`` and ``X_umap`` as ``PCA``,
          ``TSNE`` and ``UMAP``
        - ``.obsp`` are ``colPairs``

    Warns
    -----
    UserWarning
        If ``.uns``, ``.varm``, ``.varp``, ``.raw``, or columns of unknown types are left out.

    See Also
    --------
    from_sce

    Examples
    --------
    >>> import scanpy as sc
    >>> from glfs_bio import rbridge
    >>> adata = sc.datasets.pbmc68k_reduced()
    >>> sce = rbridge.to_sce(adata, X_name="scaled")  # doctest: +SKIP
    """
    read.check(adata)
    checks.texts(X_name=X_name)
    register()
    pieces = objects.take_apart(adata, X_name)
    if dropped := pieces.pop("left"):
        warnings.warn(Caution(f"Not carried to R: {', '.join(dropped)}."), stacklevel=2)
    return session.r_function("build_sce")(values.for_rpy2(values.write(pieces)))


def from_sce(sce: Any, *, X_name: str | None = None) -> AnnData:
    """Copy a SingleCellExperiment, genes × cells, to an AnnData object, cells × genes.

    Parameters
    ----------
    sce : rpy2 object
        SingleCellExperiment or SummarizedExperiment.
    X_name : str, default None
        Assay for ``.X``; other assays are layers.  None: ``"X"`` if it exists, else the first.

    Returns
    -------
    AnnData
        The reverse of :func:`to_sce`.  Sparse assays are CSR.  Nested tables in ``rowData`` and
        ``colData`` are columns named ``outer.inner``.

    Raises
    ------
    rpy2.rinterface_lib.embedded.RRuntimeError
        If an assay is missing or has missing values, or if gene names are missing or not unique.

    Warns
    -----
    UserWarning
        If alternative experiments, ``metadata``, or columns of unknown classes are left out.

    See Also
    --------
    to_sce

    Examples
    --------
    >>> from glfs_bio import rbridge
    >>> adata = rbridge.from_sce(sce, X_name="logcounts")  # doctest: +SKIP
    """
    checks.texts(or_none=True, X_name=X_name)
    register()
    plain = session.r_function("plain_sce_and_left")(sce, *([] if X_name is None else [X_name]))
    adata, dropped = values.read(values.from_rpy2(plain))
    if len(dropped):
        warnings.warn(Caution(f"Not carried from R: {', '.join(dropped)}."), stacklevel=2)
    return adata
