"""Cells whose matrices stay in their file, and their files, which are written part by part."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
from anndata.io import read_elem, sparse_dataset, write_elem

from .._anndata import read
from ..data.by_rows import pieces
from ..data.matrix import DENSE_BLOCK, is_here

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

#: Stored values of a part of a sparse matrix.
_PART = 2**24
#: What is read into memory.
_IN_MEMORY = ("obs", "var", "uns", "obsm", "varm", "obsp", "varp")
_SPARSE = ("csr_matrix", "csc_matrix")


def opened(group: Any, path: Path | None = None) -> ad.AnnData:
    """Return the AnnData of a group of HDF5 or zarr, whose matrices are read as they are used.

    With the `path` of an ``.h5ad`` it is backed by this file.
    """
    parts = {name: read_elem(group[name]) for name in _IN_MEMORY if name in group}
    layers = group.get("layers", {})
    parts["layers"] = {name: _left(layers[name]) for name in layers}
    own = group.get("raw")
    if hasattr(own, "keys"):  # and not written as none
        raw = {name: read_elem(own[name]) for name in ("var", "varm") if name in own}
        parts["raw"] = raw if path else raw | {"X": _left(own["X"])}
    if path is not None:
        return ad.AnnData(**parts, filename=path, filemode="r")
    return ad.AnnData(_left(group["X"]) if "X" in group else None, **parts)


def _left(element: Any) -> Any:
    """A matrix where it is."""
    kind = element.attrs.get("encoding-type")
    if kind in _SPARSE:
        return sparse_dataset(element)
    return element if kind == "array" else read_elem(element)


def size(adata: ad.AnnData) -> int:
    """Bytes of the cells with what is not in memory, before a file packs it."""
    return int(adata.__sizeof__()) + sum(map(_size, _matrices(adata).values()))


def are_in_memory(adata: ad.AnnData) -> bool:
    """Whether all matrices are, so that anndata writes them."""
    return all(map(is_here, _matrices(adata).values()))


def write(adata: ad.AnnData, path: Path) -> None:
    """Write cells to ``.h5ad`` or ``.zarr``, with matrices that are not in memory part by part."""
    adata.strings_to_categoricals()  # as anndata does
    if path.suffix.lower() == ".zarr":
        import zarr

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the setting goes with anndata 0.14
            version: Any = getattr(ad.settings, "zarr_write_format", 3)
        _fill(zarr.open_group(path, mode="w", zarr_format=version), adata)
        return
    import h5py  # type: ignore[import-untyped]

    with h5py.File(path, "w") as file:
        _fill(file, adata)


def _matrices(adata: ad.AnnData) -> dict[str, Any]:
    """Matrices of all cells by their places in a file."""
    found = {f"layers/{name}": adata.layers[name] for name in read.layers(adata)}
    if adata.X is not None:
        found["X"] = adata.X
    if adata.raw is not None:
        found["raw/X"] = adata.raw.X
    return found


def _size(matrix: Any) -> int:
    if is_here(matrix):
        return 0
    group = getattr(matrix, "group", None)
    if group is None:
        return int(np.prod(matrix.shape, dtype=np.int64) * matrix.dtype.itemsize)
    parts = (group[part] for part in ("data", "indices", "indptr"))
    return sum(int(part.shape[0]) * int(part.dtype.itemsize) for part in parts)


def _fill(root: Any, adata: ad.AnnData) -> None:
    """Write all parts to an empty file."""
    root.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    for name in _IN_MEMORY:
        own = getattr(adata, name)
        write_elem(root, name, own if name in ("obs", "var") else dict(own))
    write_elem(root, "layers", {})
    if adata.raw is not None:
        write_elem(root, "raw", {"var": adata.raw.var, "varm": dict(adata.raw.varm)})
        root["raw"].attrs.update({"encoding-type": "raw", "encoding-version": "0.1.0"})
    for place, matrix in _matrices(adata).items():
        folder, _, name = place.rpartition("/")
        _put(root[folder] if folder else root, name, matrix)


def _put(root: Any, name: str, matrix: Any) -> None:
    """Write a matrix: HDF5 copies its own, anndata what is in memory or of dask."""
    stored = getattr(matrix, "group", matrix)
    if _is_hdf5(stored) and _is_hdf5(root):
        root.copy(stored, root, name)
    elif is_here(matrix) or hasattr(matrix, "dask"):
        write_elem(root, name, matrix)
    elif hasattr(matrix, "format"):
        parts = _parts(matrix)
        write_elem(root, name, next(parts), dataset_kwargs={"indptr_dtype": np.int64})
        for part in parts:
            sparse_dataset(root[name]).append(part)
    else:
        _put_dense(root, name, matrix)


def _is_hdf5(element: Any) -> bool:
    return type(element).__module__.partition(".")[0] == "h5py"


def _parts(matrix: Any) -> Iterator[Any]:
    """A sparse matrix in a file, some rows or columns at a time."""
    by_rows = matrix.format == "csr"
    n_all = matrix.shape[0 if by_rows else 1]
    for begin, end in pieces(matrix, _PART):
        yield matrix[begin:end] if by_rows else matrix[:, begin:end]
        progress = {"stage": "writing cells", "n_done": end, "n_all": n_all}
        log.info("%d of %d written", end, n_all, extra=progress)


def _put_dense(root: Any, name: str, matrix: Any) -> None:
    rows = max(1, DENSE_BLOCK // max(1, matrix.shape[1]))
    chunks = (min(rows, matrix.shape[0]), matrix.shape[1])
    create = root.create_array if hasattr(root, "create_array") else root.create_dataset
    found = create(name, shape=matrix.shape, dtype=matrix.dtype, chunks=chunks)
    found.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    for begin in range(0, matrix.shape[0], rows):
        found[begin : begin + rows] = matrix[begin : begin + rows]
