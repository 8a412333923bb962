"""Matrices, masks, graphs, coordinates and batches, out of an AnnData object."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks, labels
from ..cells.graph import check_graph
from ..cells.pca import check_coordinates
from ..data.matrix import RowMatrix, check_finite, check_indices, is_here, native, no_rows
from ..errors import (
    LOG_NORMALISE,
    MOST_NAMES,
    InvalidType,
    InvalidValue,
    NotFound,
    Refusal,
    caution,
    listed,
    naming,
    quoted,
    short,
    subject,
)
from ..vendors.names import NAMELESS, is_control
from .lean import Lean

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix
    from ..cells.spec import StructureSpec
    from ..data.matrix import Sums

_ON_GPU = ("cupy", "cupyx")
#: Bytes of a real number: single and double precision.
_PRECISIONS = (4, 8)
#: The layer that stands for ``.raw``.
RAW = "raw"
#: Column of ``.var`` in which readers of 10x keep what a feature is, and what controls are.
_TYPES = "feature_types"
_CONTROL_TYPE = re.compile(r"control|codeword|blank", re.IGNORECASE)
#: Classes of objects that hold several, the attribute that does, and how they are written.
_SEVERAL = {"MuData": ("mod", "mdata"), "SpatialData": ("tables", "sdata.tables")}
_PARTS = {
    "layers": "`adata.layers`",
    "obs": "`adata.obs`",
    "obsm": "`adata.obsm`",
    "var": "`adata.var`",
}


#: The content of a matrix is recognised from so many values, of so many rows where it is not in
#: memory.
_FIRST_VALUES, FIRST_ROWS = 10_000, 20
#: That of 1e9 to the base of 2.
LARGEST_LOGARITHM = 30.0
#: No logarithm and hardly a scaled value exceeds the first.  Larger values are expression that is
#: not log-transformed where the second share is zero; raw intensities of microarrays are nowhere 0.
_LARGEST, _ZEROS = 500.0, 0.05
#: Logarithms of logarithms of counts are smaller.
_TWICE = 3.0
#: Counts in some unit: how near to a whole number the ratio of a value to the smallest of its cell
#: is, and for what share of them.
_WHOLE, _NEARLY_ALL = 0.05, 0.95
#: Scaled values: share of the genes whose zeros became one negative value.
_MOSTLY = 0.5
_OR_LAYER = ", or name a log-normalised matrix with `layer`"
#: Keys of what is computed on the way of something else: structures, and what all genes show.
COMPUTED = re.compile("glfs_structure_[0-9a-f]{8}|glfs_all_genes")
#: What is said of a matrix that is not log-normalised, by its state; see :func:`state`.
STATES = {
    "counts": f"looks like raw counts (whole numbers): run `{LOG_NORMALISE}` first{_OR_LAYER}",
    "normalised": "looks normalised and not log-transformed: transform it once with log1p"
    f"{_OR_LAYER}",
    "twice": f"looks log-transformed twice: transform it once{_OR_LAYER}",
    "scaled": "looks scaled, with negative values in place of zeros, which hides the difference "
    f"between expressed genes and noise: select before scaling{_OR_LAYER}",
    "intensities": "has values that are too large for log-normalised expression, like raw "
    f"microarray intensities: set values below 20 to 20 and take log2 first{_OR_LAYER}",
}


@dataclass(frozen=True)
class Inputs:
    """What a structure is computed from."""

    data: RowMatrix
    representation: Array | None
    graph: Matrix | None
    batch: NDArray[Any] | None
    #: One of :data:`STATES`; None: log-normalised, as far as can be seen.
    state: str | None


def inputs(adata: AnnData, spec: StructureSpec) -> Inputs:
    """Read what parameters name, `ignore` by rows; warns of values that are not log-normalised."""
    data = without_ignored(adata, row_matrix(adata, spec.layer), spec.ignore)
    kind = state(data)
    if kind is not None:
        raw = (
            f", such as `layer={short(RAW)}`" if kind == "scaled" and adata.raw is not None else ""
        )
        caution(f"The matrix {STATES[kind]}{raw}.")
    if spec.batch_key is not None and spec.neighbors_key is not None:
        raise InvalidValue(
            f"`neighbors_key={short(spec.neighbors_key)}` is a graph of all cells, but each batch "
            "of `batch_key` has its own: remove one of the two"
        )
    return Inputs(
        data,
        None if spec.use_rep is None else representation(adata, spec.use_rep),
        None if spec.neighbors_key is None else graph(adata, spec.neighbors_key),
        None if spec.batch_key is None else batches(adata, spec.batch_key),
        kind,
    )


def check(adata: object) -> None:
    """Refuse what is not an AnnData object; a lazy one is read, but for its matrices."""
    from anndata import AnnData

    if not isinstance(adata, AnnData):
        attribute, called = _SEVERAL.get(type(adata).__name__, ("", ""))
        items = list(getattr(adata, attribute, ()))
        raise InvalidType(
            f"`adata` must be an AnnData object of cells × genes, not {type(adata).__name__}: "
            f"{f'pass one of {listed(items)}, such as {called}[{items[0]!r}]' if items else ''}"
        )
    _load_annotations(adata)
    text_names(adata.var_names, "`adata.var_names`")


def _load_annotations(adata: Any) -> None:
    """Load all but the matrices of an object of ``anndata.experimental.read_lazy``."""
    if hasattr(getattr(adata, "obs", None), "to_memory"):
        for name in ("obs", "var", "obsm", "varm", "obsp", "uns"):
            setattr(adata, name, _loaded(getattr(adata, name)))


def _loaded(value: Any) -> Any:
    for load in ("to_memory", "compute"):
        if hasattr(value, load):
            return getattr(value, load)()
    if isinstance(value, Mapping):
        return {name: _loaded(item) for name, item in value.items()}
    return value


def text_names(names: pd.Index, where: str) -> None:
    """Refuse names that are no texts, such as numbers or missing ones."""
    if pd.api.types.infer_dtype(names, skipna=False) in ("string", "empty") and not names.hasnans:
        return
    strange = [name for name in names if not isinstance(name, str)]
    if strange:
        raise InvalidType(
            f"`adata` has names in {where} that are no texts: {listed(map(repr, strange))}: make "
            f"them texts: {where} = {where}.astype(str)"
        )


def unique_names(adata: AnnData) -> None:
    """Refuse duplicate gene names: a list of genes would not say which is meant."""
    check(adata)
    if not adata.var_names.is_unique:
        doubled = adata.var_names[adata.var_names.duplicated()].unique()
        raise InvalidValue(
            f"`adata` has duplicate gene names in `adata.var_names` ({listed(doubled)}): make them "
            "unique first"
        )


def writable(adata: AnnData) -> None:
    """Refuse a part of a backed object, to which nothing can be written."""
    if adata.is_view and adata.isbacked:
        raise InvalidValue(
            "`adata` is a view of a backed object, which is read-only: load it first, with "
            "to_memory()"
        )


def find(
    adata: AnnData, attribute: Literal["layers", "obs", "obsm", "var"], name: str, argument: str
) -> Any:
    """What a part of an object has under a name."""
    checks.texts(or_none=False, **{argument: name})
    names = layers(adata) if attribute == "layers" else getattr(adata, attribute).keys()
    if name not in names:
        where = f"is not in {_PARTS[attribute]}"
        if not len(names):
            raise NotFound(f"`{argument}={short(name)}` {where}, which is empty: add it first")
        names = own_names(adata, attribute)
        choices = quoted(*names[:MOST_NAMES]) if attribute == "obsm" else listed(names)
        raise NotFound(f"`{argument}={short(name)}` {where}: choose from {choices}")
    value = getattr(adata, attribute)[name]
    if attribute in ("layers", "obsm"):
        return value
    return _column(value, getattr(adata, f"{attribute}_names"))


def own_names(adata: AnnData, attribute: Literal["layers", "obs", "obsm", "var"]) -> list[str]:
    """Return the names in a part of an object, but for what was computed by the way."""
    names = layers(adata) if attribute == "layers" else getattr(adata, attribute)
    return [name for name in names if not COMPUTED.fullmatch(str(name))]


def layers(adata: AnnData) -> list[str]:
    """Return the names of the layers, among which anndata 0.13 has ``.X``, as None."""
    return [name for name in adata.layers if name is not None]


def _column(column: Any, names: pd.Index) -> pd.Series:
    """A column as pandas computes with it: in memory, in the byte order of the machine."""
    if not isinstance(column, pd.Series):  # of anndata's lazy objects
        values = column.data
        extended = isinstance(values, pd.api.extensions.ExtensionArray)
        column = pd.Series(values if extended else np.asarray(values), index=names)
    kind = column.dtype
    is_native = not isinstance(kind, np.dtype) or kind.isnative
    return column if is_native else column.astype(kind.newbyteorder("="))


def symbols(adata: AnnData, name: str | None) -> pd.Series:
    """Names of the genes: ``.var_names``, or a column of ``.var``; missing where it is empty."""
    check(adata)
    checks.texts(symbols=name, or_none=True)
    if name is None:
        return pd.Series(adata.var_names.astype(str), index=adata.var_names, dtype=object)
    column = find(adata, "var", name, "symbols")
    called = column.astype(str).str.strip().astype(object)
    return called.mask(column.isna() | (called == ""))


def matrix(adata: AnnData, layer: str | None = None, argument: str = "layer") -> Any:
    """``X`` or a layer: numeric, finite, dense or CSR/CSC."""
    data = _stored(adata, layer, argument)
    argument = "X" if layer is None else argument
    if data is None:
        raise InvalidValue(
            f"{subject(argument, layer)} is `None`, and a matrix is needed: name one with `layer`"
        )
    _check_shape(data, argument, layer)
    if isinstance(data, np.ma.MaskedArray):
        raise InvalidType(
            f"{subject(argument, layer)} is a masked array: fill its entries, or remove them"
        )
    if isinstance(data, np.matrix):
        data = np.asarray(data)
    data = native(data)
    if sparse.issparse(data):
        check_indices(data, argument, layer)
        data = data if data.format in ("csr", "csc") else data.tocsr()
    elif not isinstance(data, np.ndarray):
        raise InvalidType(
            f"{subject(argument, layer)} is a {type(data).__name__}, not in memory: load it first"
        )
    values = data.data if sparse.issparse(data) else data
    _check_real(values, argument, layer)
    check_finite(values, argument, layer)
    return data


def row_matrix(adata: AnnData, layer: str | None = None, argument: str = "layer") -> RowMatrix:
    """``X`` or a layer, in memory, in a file, or a dask array, to be gone through by rows.

    Values are looked at now only where they are in memory.
    """
    data = _stored(adata, layer, argument)
    if isinstance(data, RowMatrix):
        return data
    if not _is_lazy(data):
        return RowMatrix(matrix(adata, layer, argument), checked=True)
    argument = "X" if layer is None else argument
    _check_shape(data, argument, layer)
    _check_real(data, argument, layer)
    return RowMatrix(data)


def columns(
    adata: AnnData, genes: Index, layer: str | None = None, argument: str = "layer"
) -> Matrix:
    """Some genes of ``X`` or a layer over all cells, in memory, in their order: in one pass."""
    if not _is_lazy(_stored(adata, layer, argument)):
        return RowMatrix(matrix(adata, layer, argument)[:, genes], checked=True).source
    with naming(X=argument) if layer is not None else nullcontext():
        return RowMatrix(row_matrix(adata, layer, argument), genes=genes).loaded()


def controls(adata: AnnData) -> NDArray[np.bool_]:
    """Whether each row of ``.var`` is a control, a blank or a spike-in, by name or by type."""
    mask = np.fromiter(map(is_control, adata.var_names), dtype=bool, count=adata.n_vars)
    if _TYPES in adata.var:
        of_kind = adata.var[_TYPES].astype(str)
        kinds = [kind for kind in of_kind.unique() if _CONTROL_TYPE.search(kind)]
        mask |= of_kind.isin(kinds).to_numpy()
    return mask


def nameless(adata: AnnData) -> NDArray[np.bool_]:
    """Whether each gene is called by a clone or a locus; nowhere where most genes are."""
    mask = np.asarray(adata.var_names.str.fullmatch(NAMELESS), dtype=bool)
    return mask if 2 * mask.sum() < len(mask) else np.zeros_like(mask)


def without_ignored(adata: AnnData, data: RowMatrix, ignore: Collection[str] | None) -> RowMatrix:
    """A matrix of these genes in which controls, and genes to ignore by their names, are silent:
    they are no structure.
    """
    silent = controls(adata) | adata.var_names.isin(ignore or ())
    return RowMatrix(data, silent=np.flatnonzero(silent)) if silent.any() else data


def matrix_or_none(adata: AnnData, layer: str | None) -> Any:
    """``X`` or a layer, unchecked and wherever it is; None where it is not there."""
    try:
        return _stored(adata, layer, "layer")
    except Refusal:
        return None


def counts(adata: AnnData, counts_layer: str) -> RowMatrix:
    """A layer of raw counts, or ``.X`` where that is ``"X"``."""
    rows = row_matrix(adata, None if counts_layer == "X" else counts_layer, "counts_layer")
    if not looks_like_counts(rows):
        raise InvalidValue(
            f"`counts_layer={short(counts_layer)}` does not look like raw counts (whole numbers ≥ "
            "0): name a layer of raw counts"
        )
    return rows


def n_cells_with(data: RowMatrix) -> Array:
    """Cells in which each gene is not zero, shape (n_genes,)."""
    (n_cells,), _ = data.sweep(_not_zero)
    return np.asarray(n_cells)


def least(data: RowMatrix) -> float:
    """The smallest value."""
    (smallest,), _ = data.sweep(_least, merge=lambda a, b: (np.minimum(a[0], b[0]),))
    return float(smallest)


def state(data: Any) -> str | None:
    """Return which of :data:`STATES` the first values are in; None: log-normalised, or what cannot
    be told from it.
    """
    data = _first_rows(data)
    values = _first_values(data)
    if not len(values):
        return None
    if looks_like_counts(data):
        return "counts"
    if logged_twice(data):
        return "twice"
    if values.min() < 0:
        if _looks_scaled(data):
            return "scaled"
    elif _multiples(_expressed(data)):
        return "normalised"
    if np.abs(values).max() <= _LARGEST:
        return None
    expressed = data.nnz if sparse.issparse(data) else np.count_nonzero(data)
    zeros = 1.0 - expressed / np.prod(data.shape)
    return "normalised" if values.min() >= 0 and zeros > _ZEROS else "intensities"


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
    are_whole = (values == np.round(values)).all()
    return bool(values.min() >= 0 and (are_whole or values.max() > LARGEST_LOGARITHM))


def logged_twice(data: Any) -> bool:
    """Whether ``log1p`` was applied twice to counts: once undone, they are no multiples yet."""
    rows = [row for row in _expressed(_first_rows(data)) if row.max() < _TWICE]
    once = [np.expm1(row) for row in rows]
    return not _multiples(once) and _multiples([np.expm1(row) for row in once])


def _first_rows(data: Any) -> Matrix:
    """The first rows, in memory."""
    if isinstance(data, RowMatrix):
        return data.first(FIRST_ROWS)
    return (data.tocsr() if sparse.issparse(data) else np.asarray(data))[:FIRST_ROWS]


def _expressed(values: Matrix) -> list[Array]:
    """Positive values of each row that has several."""
    rows = np.split(values.data, values.indptr[1:-1]) if sparse.issparse(values) else values
    positive = [row[row > 0].astype(np.float64) for row in rows]
    return [row for row in positive if len(row) > 1]


def _multiples(rows: list[Array]) -> bool:
    """Whether nearly all numbers of nearly all rows are whole multiples of their smallest.

    Counts of a cell are, whatever they are normalised by.
    """
    if not rows:
        return False
    ratios = np.concatenate([row / row.min() for row in rows])
    ratios = ratios[(ratios > 1.0 + _WHOLE) & (ratios < _LARGEST)]
    are_whole = np.abs(ratios - np.round(ratios)) < _WHOLE
    return bool(len(ratios) >= FIRST_ROWS and are_whole.mean() > _NEARLY_ALL)


def _looks_scaled(values: Matrix) -> bool:
    """Whether the smallest value of most genes is negative, and that of several cells: what
    ``sc.pp.scale`` makes of zeros.
    """
    dense = values.toarray() if sparse.issparse(values) else values
    least = dense.min(axis=0)
    of_zeros = (least < 0) & ((dense == least).sum(axis=0) > 1)
    return bool(of_zeros.mean() > _MOSTLY)


def representation(adata: AnnData, use_rep: str | None) -> Array | None:
    """Coordinates of the cells, ``obsm[use_rep]``; None: they come from the matrix."""
    if use_rep in (None, "X"):
        return None
    coordinates = find(adata, "obsm", use_rep, "use_rep")
    check_indices(coordinates, "use_rep", use_rep)
    coordinates = coordinates.toarray() if sparse.issparse(coordinates) else coordinates
    return check_coordinates(coordinates, adata.n_obs, "use_rep")


def graph(adata: AnnData, neighbors_key: str | None) -> Any:
    """Connectivities of ``sc.pp.neighbors`` or ``sq.gr.spatial_neighbors``; None: none."""
    if neighbors_key is None:
        return None
    checks.texts(neighbors_key=neighbors_key)
    key = neighbors_key
    if key not in adata.uns:
        raise NotFound(
            f"`neighbors_key={short(key)}` is no `graph of adata.uns`: compute the graph first"
        )
    if not isinstance(adata.uns[key], Mapping):
        raise InvalidType(
            f"`neighbors_key={short(key)}` is {type(adata.uns[key]).__name__} in `adata.uns`, not "
            "a graph of cells: compute the graph again"
        )
    connectivities = adata.uns[key].get("connectivities_key", "connectivities")
    if connectivities not in adata.obsp:
        raise NotFound(
            f"`neighbors_key={short(key)}` refers to {connectivities!r}, which is missing in "
            "`adata.obsp`: compute the graph again"
        )
    pairs = adata.obsp[connectivities]
    if "coord_type" in (adata.uns[key].get("params") or {}) and sparse.issparse(pairs):
        pairs = pairs.maximum(pairs.T)  # squidpy joins a cell to its nearest, and not these to it
    return check_graph(pairs, adata.n_obs, "neighbors_key")


def batches(adata: AnnData, batch_key: str | None) -> NDArray[Any] | None:
    """Batch of every cell as a string."""
    if batch_key is None:
        return None
    return labels.batch_names(find(adata, "obs", batch_key, "batch_key"), "batch_key", batch_key)


def _stored(adata: AnnData, layer: str | None, argument: str) -> Any:
    """A matrix as it is; ``"raw"`` is that of ``.raw``, of these genes, where no layer is."""
    check(adata)
    if isinstance(adata, Lean):
        return adata.matrices[layer]
    if layer == RAW and layer not in adata.layers and adata.raw is not None:
        data = _of_raw(adata)
    else:
        data = adata.X if layer is None else find(adata, "layers", layer, argument)
    holds = type(getattr(data, "_meta", data))  # of dask, what its blocks are
    package = holds.__module__.partition(".")[0]
    if package in _ON_GPU:
        raise InvalidType(
            f"{subject('X' if layer is None else argument, layer)} is a {package} "
            f"{holds.__name__}, in the memory of a GPU: copy it to the CPU first, with "
            "rapids_singlecell.get.anndata_to_CPU"
        )
    return data


def _of_raw(adata: AnnData) -> Any:
    """What ``.raw`` has of the genes that there are."""
    lacks = ~adata.var_names.isin(adata.raw.var_names)
    if lacks.any():
        raise NotFound(
            f"`layer={short(RAW)}` lacks genes of `adata.var_names`: "
            f"{listed(adata.var_names[lacks])}: remove these genes from `adata`"
        )
    return adata.raw[:, adata.var_names].X


def _check_shape(data: Any, argument: str, layer: str | None) -> None:
    if 0 in data.shape:
        raise InvalidValue(
            f"{subject(argument, layer)} has no cells or no genes: its shape is {data.shape}"
        )


def _check_real(values: Any, argument: str, layer: str | None) -> None:
    if values.dtype.kind not in "biuf":
        raise InvalidType(
            f"{subject(argument, layer)} must hold real numbers, and has dtype {values.dtype}"
        )
    if values.dtype.kind == "f" and values.dtype.itemsize not in _PRECISIONS:
        raise InvalidType(
            f"{subject(argument, layer)} has the unsupported dtype {values.dtype}: convert it to "
            "float32 or float64"
        )


def _is_lazy(data: Any) -> bool:
    """Whether a matrix has a shape and rows, but is not in memory."""
    rows = all(hasattr(data, name) for name in ("shape", "dtype", "__getitem__"))
    return not is_here(data) and (rows or isinstance(data, RowMatrix))


def _first_values(data: Any) -> NDArray[Any]:
    """Some finite values; of a sparse matrix of those that are stored."""
    if isinstance(data, RowMatrix):
        data = data.first(FIRST_ROWS)
    values: NDArray[Any] = (data.data if sparse.issparse(data) else data).ravel()[:_FIRST_VALUES]
    return np.asarray(values[np.isfinite(values)])


def _least(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    return (np.asarray(block.min()),), no_rows(block)


def _not_zero(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    if sparse.issparse(block):
        n_cells = np.bincount(block.indices[block.data != 0], minlength=block.shape[1])
    else:
        n_cells = np.count_nonzero(block, axis=0)
    return (n_cells.astype(np.float64),), no_rows(block)
