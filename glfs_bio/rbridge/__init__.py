"""R objects in, R objects out: what the R package ``glfsbio`` talks to.

The package takes objects of Bioconductor and Seurat apart in R, calls Python through one function
and puts the results back.  That works from both sides: a plain R session in which reticulate has
started Python, which needs no rpy2, and a Python session in which rpy2 has started R (``%%R``
cells), after :func:`register`.
"""

from __future__ import annotations

import atexit
import functools
import os
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import read
from ..errors import Caution, PackageMissing
from . import calls, objects, values

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["from_sce", "register", "to_sce"]
__dir__ = __all__.copy
_WITH_OLD_R = 'RPY2_CFFI_MODE=ABI pip install --no-cache-dir "rpy2-rinterface<3.6.6" rpy2'
_INSTALL = f"pip install rpy2; where R is older than 4.5 {_WITH_OLD_R}"


def register() -> None:
    """Connect the R package ``glfsbio`` of this process with this Python.

    In a Python session it starts R, if rpy2 has not; then the functions of ``glfsbio`` work in
    ``%%R`` cells and ``robjects.r``.  In an R session ``glfs_setup()`` connects both without rpy2.

    Examples
    --------
    >>> import glfs_bio.rbridge
    >>> glfs_bio.rbridge.register()  # doctest: +SKIP
    >>> import rpy2.robjects as ro  # doctest: +SKIP
    >>> ro.r("sce <- glfsbio::glfs_select_genes(sce, n_genes = 50)")  # doctest: +SKIP
    """
    _r_function("attach_rpy2")(_callback())


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
        - results of this package are ``metadata``, as R has them, and are of use there as here

    Warns
    -----
    UserWarning
        If others of ``.uns``, ``.varm``, ``.varp``, ``.raw``, or columns of unknown types are left
        out.

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
    return _r_function("build_sce")(_for_rpy2(*values.packed(pieces)))


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
        If alternative experiments, other ``metadata``, or columns of unknown classes are left out.

    Examples
    --------
    >>> from glfs_bio import rbridge
    >>> adata = rbridge.from_sce(sce, X_name="logcounts")  # doctest: +SKIP
    """
    checks.texts(or_none=True, X_name=X_name)
    register()
    plain = _r_function("plain_sce")(sce, *([] if X_name is None else [X_name]))
    pieces = values.read(*_from_rpy2(plain))
    if len(pieces["left"]):
        warnings.warn(Caution(f"Not carried from R: {', '.join(pieces['left'])}."), stacklevel=2)
    return objects.put_together(pieces, is_copy=True)


@functools.cache
def _rinterface() -> Any:
    """Return rpy2's low-level interface, with R running."""
    if find_spec("_rinterface_cffi_api") is None:
        # rpy2 was built without a compiler; it says so on the console unless told.
        os.environ.setdefault("RPY2_CFFI_MODE", "ABI")
    libraries = os.environ.get("LD_LIBRARY_PATH")
    try:
        import rpy2.rinterface as ri
    except (AttributeError, ImportError, OSError, ValueError) as error:
        text = "The bridge to R needs `R`, and the package `rpy2` for it, which cannot be loaded"
        remedy = f"install R (Debian: apt install r-base-core), and then {_INSTALL}"
        raise PackageMissing(f"{text} ({error}): {remedy}") from error
    with calls.interruptible():
        ri.initr()
    # What rpy2 set is of no use here, and processes of Python would load the system's libpython.
    os.environ.pop("LD_LIBRARY_PATH", None)
    if libraries is not None:
        os.environ["LD_LIBRARY_PATH"] = libraries
    # Later, with half of the interpreter gone, rpy2 cannot release them.
    atexit.register(_callback.cache_clear)
    return ri


def _r_function(name: str) -> Any:
    """Return a function of the R package that is not exported."""
    ri = _rinterface()
    from rpy2.rinterface_lib.embedded import RRuntimeError

    try:
        return ri.evalr(f"glfsbio:::{name}")
    except RRuntimeError as error:
        text = f"The bridge to R needs the R package `glfsbio` ({error})"
        remedy = "in a copy of the glfs_bio repository run R CMD INSTALL r_bridge/glfsbio"
        raise PackageMissing(f"{text}: {remedy}") from error


@functools.cache
def _callback() -> Any:
    """Return an R function that calls Python; without a reference to it R would abort."""
    return _rinterface().rternalize(_answer)


def _answer(target: Any, arguments: Any, of: Any) -> Any:
    """Return the answer of Python to a call of R through rpy2."""
    return _for_rpy2(*calls.answer(target[0], *_from_rpy2(arguments), of[0]))


def _from_rpy2(packed: Any) -> tuple[str, list[bytearray]]:
    """Return a plain value of R: its JSON, and the bytes that this names."""
    text, blocks = packed
    return text[0], [bytearray(np.asarray(block).data) for block in blocks]


def _for_rpy2(text: str, blocks: list[bytearray]) -> Any:
    """Return the reverse."""
    ri = _rinterface()
    vectors = [ri.ByteSexpVector.from_memoryview(memoryview(block)) for block in blocks]
    return ri.ListSexpVector([ri.StrSexpVector([text]), ri.ListSexpVector(vectors)])
