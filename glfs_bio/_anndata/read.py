"""Matrices, graphs, representations and masks, out of an AnnData object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .. import checks
from ..cells.graph import check_graph
from ..cells.pca import check_coordinates
from ..data.matrix import RowMatrix

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from anndata import AnnData
    from numpy.typing import NDArray

_ON_GPU = ("cupy", "cupyx")


@dataclass(frozen=True)
class Look:
    """How a matrix is told from its first values.

    Attributes
    ----------
    values
        Values that are looked at.
    rows
        Rows that they are taken from, where the matrix is not in memory.
    largest_logarithm
        No logarithm exceeds it: that of 1e9 to the base of 2.
    largest
        No logarithm and hardly a scaled value exceeds it.
    """

    values: int = 10_000
    rows: int = 20
    largest_logarithm: float = 30.0
    largest: float = 500.0


LOOK = Look()


def check(adata: object) -> None:
    """Refuse what is not an AnnData object.

    Raises
    ------
    TypeError
        Saying what it is.
    """
    from anndata import AnnData

    if not isinstance(adata, AnnData):
        msg = f"adata is a {type(adata).__name__}: it must be an AnnData object of cells × genes."
        raise TypeError(msg)


def matrix(adata: AnnData, layer: str | None = None) -> Any:
    """``X`` or a layer: numeric, finite, dense or CSR/CSC.

    Raises
    ------
    KeyError
        No such layer.
    TypeError
        Not a numeric matrix in memory; one on a GPU.
    ValueError
        No matrix, no cells or genes, or values that are not finite.
    """
    name, data = _stored(adata, layer)
    if data is None:
        msg = f"{name} is None: there is no expression matrix; name one with layer=."
        raise ValueError(msg)
    if 0 in data.shape:
        msg = f"{name} has shape {data.shape}: there are no cells, or no genes."
        raise ValueError(msg)
    if isinstance(data, np.ma.MaskedArray):
        msg = f"{name} is a masked array: fill its entries, or remove cells or genes."
        raise TypeError(msg)
    if isinstance(data, np.matrix):
        data = np.asarray(data)
    if sparse.issparse(data):
        data = data if data.format in ("csr", "csc") else data.tocsr()
    elif not isinstance(data, np.ndarray):
        msg = (
            f"{name} is a {type(data).__name__}: load it first, for example with adata.to_memory()."
        )
        raise TypeError(msg)
    values = data.data if sparse.issparse(data) else data
    if not (np.issubdtype(values.dtype, np.number) or values.dtype == np.bool_):
        msg = f"{name} has dtype {values.dtype}: it must hold real numbers."
        raise TypeError(msg)
    if np.issubdtype(values.dtype, np.complexfloating):
        msg = f"{name} has dtype {values.dtype}: it must hold real numbers."
        raise TypeError(msg)
    if not np.isfinite(values).all():
        msg = f"{name} has NaN or infinite values: remove or impute these entries first."
        raise ValueError(msg)
    return data


def row_matrix(adata: AnnData, layer: str | None = None) -> RowMatrix:
    """``X`` or a layer, in memory, in a file, or a dask array, to be gone through by rows.

    Values are looked at now only where they are in memory.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`matrix`; a file that cannot be read by rows.
    """
    name, data = _stored(adata, layer)
    if not _is_lazy(data):
        return RowMatrix(matrix(adata, layer))
    if 0 in data.shape:
        msg = f"{name} has shape {data.shape}: there are no cells, or no genes."
        raise ValueError(msg)
    if data.dtype.kind not in "biuf":
        msg = f"{name} has dtype {data.dtype}: it must hold real numbers."
        raise TypeError(msg)
    return RowMatrix(data)


def _is_lazy(data: Any) -> bool:
    """Whether a matrix has a shape and rows, but is not in memory."""
    if isinstance(data, np.ndarray) or sparse.issparse(data):
        return False
    return all(hasattr(data, name) for name in ("shape", "dtype", "__getitem__"))


def _stored(adata: AnnData, layer: str | None) -> tuple[str, Any]:
    """A matrix as it is, and what to call it."""
    check(adata)
    checks.texts(layer=layer, or_none=True)
    if layer is not None and layer not in adata.layers:
        msg = f"layer={layer!r} is not in adata.layers: {listed(adata.layers.keys())}."
        raise KeyError(msg)
    if layer is None:
        name, data = "adata.X", adata.X
    else:
        name, data = f"adata.layers[{layer!r}]", adata.layers[layer]
    _refuse_gpu(name, data)
    return name, data


def _refuse_gpu(name: str, data: Any) -> None:
    """Arrays of CuPy, and dask arrays of these."""
    holds = type(getattr(data, "_meta", data))
    package = holds.__module__.partition(".")[0]
    if package in _ON_GPU:
        msg = (
            f"{name} holds a {package} {holds.__name__}, which is in the memory of a GPU: copy it "
            "to the CPU first, with rapids_singlecell.get.anndata_to_CPU(adata)."
        )
        raise TypeError(msg)


def looks_like_counts(data: Any) -> bool:
    """Whether the first values are whole, not negative, and not just zero and one."""
    values = _first_values(data)
    return bool(
        len(values)
        and values.min() >= 0
        and values.max() > 1
        and (values == np.round(values)).all()
    )


def may_be_counts(data: Any) -> bool:
    """Whether logarithms of the first values can be taken, and were not taken before.

    Expected counts of RSEM and the like are no whole numbers, and are large.
    """
    values = _first_values(data)
    if not len(values):
        return True
    whole = (values == np.round(values)).all()
    return bool(values.min() >= 0 and (whole or values.max() > LOOK.largest_logarithm))


def looks_like_intensities(data: Any) -> bool:
    """Whether the first values are too far from zero for logarithms, and for units of noise."""
    values = _first_values(data)
    return bool(len(values) and np.abs(values).max() > LOOK.largest)


def _first_values(data: Any) -> NDArray[Any]:
    """Some values; of a sparse matrix those that are stored."""
    if isinstance(data, RowMatrix):
        data = data.first(LOOK.rows)
    values: NDArray[Any] = (data.data if sparse.issparse(data) else data).ravel()[: LOOK.values]
    return values


def unique_names(adata: AnnData) -> None:
    """Refuse duplicate gene names: a list of genes would not say which is meant."""
    check(adata)
    if not adata.var_names.is_unique:
        doubled = adata.var_names[adata.var_names.duplicated()].unique()
        msg = (
            f"adata.var_names has duplicates ({listed(doubled)}): "
            "call adata.var_names_make_unique() first."
        )
        raise ValueError(msg)


def mask(
    frame: pd.DataFrame, chosen: NDArray[np.bool_] | str | None, argument: str
) -> NDArray[np.bool_]:
    """Rows of ``.obs`` or ``.var``: all, a boolean column, or a boolean array, as in scanpy.

    Raises
    ------
    KeyError
        No such column.
    ValueError
        Not boolean, of another length, or False everywhere.
    """
    if chosen is None:
        return np.ones(len(frame), dtype=bool)
    if isinstance(chosen, str):
        if chosen not in frame:
            msg = f"{argument}={chosen!r} is not a column of the table: {listed(frame.columns)}."
            raise KeyError(msg)
        chosen = frame[chosen].to_numpy()
    values = np.asarray(chosen)
    if values.dtype != np.bool_ or values.shape != (len(frame),):
        msg = (
            f"{argument} must be boolean with {len(frame)} entries; "
            f"got dtype {values.dtype}, shape {values.shape}."
        )
        raise ValueError(msg)
    if not values.any():
        msg = f"{argument} leaves nothing: every entry is False."
        raise ValueError(msg)
    return values


def representation(adata: AnnData, use_rep: str | None) -> NDArray[np.float64] | None:
    """Coordinates of the cells: ``obsm[use_rep]``, else ``X_pca`` when it is there.

    Raises
    ------
    KeyError
        No such array.
    TypeError, ValueError
        Not finite real numbers, in columns.
    """
    checks.texts(use_rep=use_rep, or_none=True)
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep == "X":
        return None
    if use_rep not in adata.obsm:
        msg = f"use_rep={use_rep!r} is not in adata.obsm: {listed(adata.obsm.keys())}; or use 'X'."
        raise KeyError(msg)
    found = adata.obsm[use_rep]
    found = found.toarray() if sparse.issparse(found) else found
    return check_coordinates(found, adata.n_obs, f"adata.obsm[{use_rep!r}]")


def graph(adata: AnnData, neighbors_key: str | None) -> Any:
    """Connectivities of ``sc.pp.neighbors``; None where there are none and none are named.

    Raises
    ------
    KeyError
        No such graph.
    TypeError, ValueError
        Not symmetric, finite similarities ≥ 0 of these cells.
    """
    checks.texts(neighbors_key=neighbors_key, or_none=True)
    key = "neighbors" if neighbors_key is None else neighbors_key
    if key not in adata.uns:
        if neighbors_key is None:
            return None
        msg = (
            f"neighbors_key={key!r} is not in adata.uns: "
            f"run sc.pp.neighbors(adata, key_added={key!r})."
        )
        raise KeyError(msg)
    if not isinstance(adata.uns[key], Mapping):
        msg = (
            f"adata.uns[{key!r}] is a {type(adata.uns[key]).__name__}, not what sc.pp.neighbors "
            "writes: rerun it."
        )
        raise TypeError(msg)
    connectivities = adata.uns[key].get("connectivities_key", "connectivities")
    if connectivities not in adata.obsp:
        msg = (
            f"adata.uns[{key!r}] names obsp[{connectivities!r}], which is missing: "
            "rerun sc.pp.neighbors."
        )
        raise KeyError(msg)
    return check_graph(adata.obsp[connectivities], adata.n_obs, f"adata.obsp[{connectivities!r}]")


def batches(adata: AnnData, batch_key: str | None) -> NDArray[Any] | None:
    """Batch of every cell as a string."""
    checks.texts(batch_key=batch_key, or_none=True)
    if batch_key is None:
        return None
    if batch_key not in adata.obs:
        msg = f"batch_key={batch_key!r} is not in adata.obs: {listed(adata.obs.columns)}."
        raise KeyError(msg)
    column = adata.obs[batch_key]
    if column.isna().any():
        msg = (
            f"batch_key={batch_key!r} is missing for {column.isna().sum()} cells: "
            "fill or remove them."
        )
        raise ValueError(msg)
    return np.asarray(column.astype(str).to_numpy())


def listed(names: Iterable[str]) -> str:
    """The first names, for a message."""
    every = [str(name) for name in names]
    shown = ", ".join(every[:8]) if every else "there is none"
    return shown + (", …" if len(every) > 8 else "")
