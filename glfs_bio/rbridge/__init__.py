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
from . import _calls, _carriers, _objects, _session

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["from_sce", "register", "to_sce"]


def register() -> None:
    """Connect the R package ``glfsbio`` of this process's R with this Python.

    In a Python session it starts R where rpy2 has not done so yet; afterwards the functions of
    ``glfsbio`` work in ``%%R`` cells and ``robjects.r``.  In an R session ``glfs_setup()`` connects
    both without rpy2, or calls this function with ``bridge = "rpy2"``.

    Raises
    ------
    ImportError
        rpy2 is missing or cannot load R, or the R package is not installed; the message says what
        to do.

    Examples
    --------
    >>> import glfs_bio.rbridge
    >>> glfs_bio.rbridge.register()  # doctest: +SKIP
    >>> import rpy2.robjects as ro  # doctest: +SKIP
    >>> ro.r("sce <- glfsbio::glfs_select_genes(sce, n_genes = 50)")  # doctest: +SKIP
    """
    _session.r_function("attach_python")(_session.callback(_calls.answer_rpy2))


def to_sce(adata: AnnData, *, X_name: str = "X") -> Any:
    """Copy cells × genes into a SingleCellExperiment, which is genes × cells.

    Parameters
    ----------
    adata
        Cells × genes.
    X_name
        Name of the assay that takes ``adata.X``, for example ``"counts"`` or ``"logcounts"``.

    Returns
    -------
    The R object, a :class:`rpy2.rinterface.SexpS4`.  Layers become further assays; ``.obs`` and
    ``.var`` become ``colData`` and ``rowData``, with categories as factors, ordered or not, and
    missing values kept; the arrays of ``.obsm`` become reduced dimensions, ``X_pca``, ``X_tsne``
    and ``X_umap`` under Bioconductor's names ``PCA``, ``TSNE`` and ``UMAP``; the matrices of
    ``.obsp`` become ``colPairs``, so that a selection in R re-uses the graph as in Python.

    Raises
    ------
    ImportError
        rpy2 or the R package is missing.
    TypeError
        A matrix that is not in memory or not numeric.

    Warns
    -----
    UserWarning
        Names what is not carried: ``.uns``, ``.varm``, ``.varp``, ``.raw``, and columns of types
        that R does not know.

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
    parts, left = _objects.take_apart(adata, X_name)
    if left:
        warnings.warn(Caution("Not carried to R: {names}.", names=", ".join(left)), stacklevel=2)
    return _session.r_function("build_sce")(_carriers.write(parts))


def from_sce(sce: Any, *, X_name: str | None = None) -> AnnData:
    """Copy a SingleCellExperiment, genes × cells, into an AnnData object, cells × genes.

    Parameters
    ----------
    sce
        SingleCellExperiment or SummarizedExperiment as an object of rpy2.
    X_name
        Assay that becomes ``.X``; the others become layers.  None: ``"X"`` where there is one, else
        the first.

    Returns
    -------
    :class:`~anndata.AnnData`, the reverse of :func:`to_sce`.  Sparse assays are CSR.  Nested tables
    in ``rowData`` and ``colData`` are flattened to columns named ``outer.inner``.

    Raises
    ------
    ImportError
        rpy2 or the R package is missing.
    rpy2.rinterface_lib.embedded.RRuntimeError
        With R's message: no such assay, missing values in one, duplicate or missing names of genes.

    Warns
    -----
    UserWarning
        Names what is not carried: alternative experiments, ``metadata``, and columns of classes
        that have no plain form.

    Examples
    --------
    >>> from glfs_bio import rbridge
    >>> adata = rbridge.from_sce(sce, X_name="logcounts")  # doctest: +SKIP
    """
    checks.texts(or_none=True, X_name=X_name)
    register()
    parts = _carriers.read(_session.r_function("plain_sce")(sce, _carriers.write(X_name)))
    left = parts.pop("left")
    if len(left):
        warnings.warn(Caution("Not carried from R: {names}.", names=", ".join(left)), stacklevel=2)
    return _objects.put_together(parts)
