"""Matrices, masks, graphs, coordinates and batches, out of an AnnData object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from .. import checks, codec, labels
from ..cells.graph import check_coordinates, check_graph
from ..data.matrix import IN_MEMORY, RowMatrix, check_finite, check_indices, native
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
from ..vendors.names import NAMELESS, is_control, patterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index, Matrix
    from ..cells.cells import StructureSpec
    from ..data.matrix import Sums

#: The layer that stands for ``.raw``.
RAW = "raw"
#: Column of ``.var`` in which readers of 10x keep what a feature is, and what controls are.
_TYPES = "feature_types"
_CONTROL_TYPE = re.compile(r"control|codeword|blank", re.IGNORECASE)
#: So many names of genes show whether they are of cells; a gene of all tissues, as others call it.
_FIRST_NAMES, _COMMON = 100, ("ACTB", "Actb", "ENSG00000075624", "ENSMUSG00000029580")
_CELL = re.compile("|".join([*patterns("cell")["barcodes"], *patterns("cell")["samples"]]), re.I)
#: The content of a matrix is recognised from so many values of so many rows.
_FIRST_VALUES, FIRST_ROWS = 10_000, 20
#: That of 1e9 to the base of 2.
LARGEST_LOGARITHM = 30.0
#: Natural logarithms of the bases that values may show: e, 2 and 10.
_UNITS = (1.0, float(np.log(2.0)), float(np.log(10.0)))
#: No logarithm and hardly a scaled value exceeds the first.  Larger values are expression that is
#: not log-transformed where the second share is zero; raw intensities of microarrays are nowhere 0.
_LARGEST, _ZEROS = 500.0, 0.05
#: Logarithms of logarithms of counts are smaller.
_TWICE = 3.0
#: Counts in some unit: how near to whole the ratios to the smallest of a cell are, and how many.
_WHOLE, _NEARLY_ALL = 0.05, 0.95
#: Scaled values: share of the genes whose zeros became one negative value.
_MOSTLY = 0.5
_OR_LAYER = ", or name a log-normalised matrix with `layer`"
#: Keys of what is computed on the way of something else: structures, and what all genes show.
COMPUTED = re.compile("glfs_structure_[0-9a-f]{8}|glfs_all_genes")
#: What is said of a matrix that is not log-normalised, by its state; see :func:`state`.
STATES = {
    "counts": f"looks like raw counts: run `{LOG_NORMALISE}` first{_OR_LAYER}",
    "normalised": f"looks normalised, not log-transformed: take log1p first{_OR_LAYER}",
    "twice": f"looks log-transformed twice: transform it once{_OR_LAYER}",
    "scaled": "looks scaled, which hides the difference between expressed genes and noise: select "
    f"before scaling{_OR_LAYER}",
    "intensities": "has values that are too large for log-normalised expression, like raw "
    f"microarray intensities: set values below 20 to 20 and take log2 first{_OR_LAYER}",
}


class Lean(AnnData):  # type: ignore[misc]
    """Cells with no more than a selection reads: ``X`` (None) and layers, wherever they are."""

    matrices: dict[str | None, RowMatrix]

    @classmethod
    def of(cls, cells: AnnData, matrices: Mapping[str | None, Any]) -> Self:
        """Return the cells of an object, which has no matrix, with some, or with where they are."""
        lean = cls(cells)
        lean.matrices = {layer: _opened(matrix) for layer, matrix in matrices.items()}
        return lean

    def only(self, cells: Index) -> Self:
        """Return some of the cells."""
        matrices = {layer: RowMatrix(rows, cells) for layer, rows in self.matrices.items()}
        return self.of(self[cells].copy(), matrices)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the cells for another process, which opens files of HDF5 itself."""
        matrices = {layer: _closed(rows) for layer, rows in self.matrices.items()}
        return type(self).of, (self.copy(), matrices)


def _closed(rows: RowMatrix) -> Any:
    """Return where a matrix is in a file of HDF5, and its genes; or the matrix."""
    stored = getattr(rows.source, "group", rows.source)
    if type(stored).__module__.partition(".")[0] != "h5py":
        return rows
    stored.file.flush()
    return stored.file.filename, stored.name, rows.genes


def _opened(matrix: Any) -> RowMatrix:
    """Return the matrix that :func:`_closed` was given."""
    if isinstance(matrix, RowMatrix):
        return matrix
    import h5py  # type: ignore[import-untyped]
    from anndata.io import sparse_dataset

    path, name, genes = matrix
    stored = h5py.File(path, "r", locking=False)[name]
    source = stored if isinstance(stored, h5py.Dataset) else sparse_dataset(stored)
    return RowMatrix(source, genes=genes)


def inputs(adata: AnnData, spec: StructureSpec) -> dict[str, Any]:
    """Return what :func:`.cells.build_cells` takes; warn of values not log-normalised."""
    if adata.n_obs == 0:
        nobody = RowMatrix(sparse.csr_array(adata.shape), checked=True)
        return {"data": nobody, "representation": None, "graph": None, "batch": None}
    if spec.batch_key is not None and spec.neighbors_key is not None:
        key = short(spec.neighbors_key)
        raise InvalidValue(f"`neighbors_key={key}` conflicts with `batch_key`: remove one")
    data = without_ignored(adata, spec)
    warn_of_state(adata, data)
    rep, neighbors = spec.use_rep, spec.neighbors_key
    return {
        "data": data,
        "representation": None if rep in (None, "X") else representation(adata, rep),
        "graph": None if neighbors is None else graph(adata, neighbors),
        "batch": None if spec.batch_key is None else batches(adata, spec.batch_key),
    }


def warn_of_state(adata: AnnData, data: RowMatrix) -> None:
    """Warn of values that are not log-normalised."""
    kind = state(data.first(FIRST_ROWS))
    if kind is not None:
        has_raw = kind == "scaled" and adata.raw is not None
        caution(f"The matrix {STATES[kind]}{f', such as `layer={RAW!r}`' if has_raw else ''}.")


def check(adata: Any, names: Literal["var_names", "obs_names"] = "var_names") -> None:
    """Refuse what is no AnnData object, or has names that are no texts; load lazy tables."""
    if not isinstance(adata, AnnData):
        raise InvalidType(f"`adata` must be an AnnData object, not {type(adata).__name__}")
    if adata.is_view and adata.isbacked:  # nothing can be written to it, nor a copy be made
        raise InvalidValue("`adata` is a view of a backed object: load it, with to_memory()")
    if hasattr(adata.obs, "to_memory"):  # of anndata.experimental.read_lazy
        for name in ("obs", "var", "obsm", "varm", "obsp", "uns"):
            setattr(adata, name, _loaded(getattr(adata, name)))
    strange = [name for name in getattr(adata, names) if not isinstance(name, str)]
    if strange:
        texts = listed(map(repr, strange))
        raise InvalidType(f"`adata` has no texts in `adata.{names}`: {texts}: use `.astype(str)`")


def _loaded(value: Any) -> Any:
    load = getattr(value, "to_memory", None) or getattr(value, "compute", None)
    if load is not None:  # a lazy table is a mapping too
        return load()
    if isinstance(value, Mapping):
        return {name: _loaded(item) for name, item in value.items()}
    return value


def unique_names(adata: AnnData) -> None:
    """Refuse duplicate gene names: a list of genes would not say which is meant."""
    check(adata)
    if not adata.var_names.is_unique:
        doubled = listed(adata.var_names[adata.var_names.duplicated()].unique())
        raise InvalidValue(f"`adata` has genes twice ({doubled}): make `adata.var_names` unique")
    first = adata.var_names[:_FIRST_NAMES]
    n_cells = sum(_CELL.fullmatch(name) is not None for name in first)
    in_rows = any(gene in adata.obs_names and gene not in adata.var_names for gene in _COMMON)
    if in_rows or 2 * n_cells > len(first):
        raise InvalidValue(f"`adata` has cells in its columns ({listed(first, 3)}): transpose it")


def find(
    adata: AnnData, attribute: Literal["layers", "obs", "obsm", "var"], name: str, argument: str
) -> Any:
    """Return what an attribute of an object has under a name."""
    checks.texts(or_none=False, **{argument: name})
    container = getattr(adata, attribute)
    if name not in container:
        names = own_names(adata, attribute)
        choices = quoted(*names[:MOST_NAMES]) if attribute == "obsm" and names else listed(names)
        raise NotFound(f"`{argument}={short(name)}` is not in `adata.{attribute}`, with: {choices}")
    value = container[name]
    if attribute in ("obs", "var") and value.ndim > 1:
        raise InvalidValue(f"`{argument}={short(name)}` stands twice: rename one column")
    return value if attribute == "layers" else native(value)


def own_names(adata: AnnData, attribute: Literal["layers", "obs", "obsm", "var"]) -> list[str]:
    """Return the names in an attribute of an object, but for what was computed by the way."""
    names = layers(adata) if attribute == "layers" else getattr(adata, attribute)
    return [name for name in names if not COMPUTED.fullmatch(str(name))]


def layers(adata: AnnData) -> list[str]:
    """Return the names of the layers, among which anndata 0.13 has ``.X``, as None."""
    return [name for name in adata.layers if name is not None]


def symbols(adata: AnnData, name: str | None) -> pd.Series:
    """Return the names of the genes, or a column of ``.var``, missing where it is empty."""
    check(adata)
    if name is None:
        return pd.Series(adata.var_names.astype(str), index=adata.var_names, dtype=object)
    column = find(adata, "var", name, "symbols")
    names = column.astype(str).str.strip().astype(object)
    return names.mask(column.isna() | (names == ""))


def need_cells(adata: AnnData, argument: str, value: object = None) -> None:
    """Refuse what is computed from cells where these were left out."""
    if adata.n_obs == 0:
        text = "needs cells, and these cells were left out"
        raise InvalidValue(f"{subject(argument, value)} {text}: use the object that has them")


def row_matrix(adata: AnnData, layer: str | None = None, argument: str = "layer") -> RowMatrix:
    """Return ``X`` or a layer, wherever it is; in memory its values are checked."""
    if argument == "counts_layer" and layer == "X":
        layer = None
    data = _stored(adata, layer, argument)
    if isinstance(data, RowMatrix):
        return data
    argument = "X" if layer is None else argument
    name = f"`{argument}`" if layer is None else subject(argument, layer)
    if data is None:
        raise InvalidValue(f"{name} is `None`: name a matrix with `layer`")
    if isinstance(data, np.ma.MaskedArray):
        raise InvalidType(f"{name} is a masked array: fill its entries, or remove them")
    if 0 in data.shape:
        need_cells(adata, "X" if layer is None else argument, layer)
        raise InvalidValue(f"{name} has no genes: its shape is {data.shape}")
    kind = data.dtype
    if kind.kind not in "biuf" or (kind.kind == "f" and kind.itemsize not in (4, 8)):
        raise InvalidType(f"{name} has dtype {kind}: convert it to float32 or float64")
    if not isinstance(data, IN_MEMORY):
        return RowMatrix(data)
    check_indices(data, argument, layer)
    check_finite(data.data if sparse.issparse(data) else data, argument, layer)
    return RowMatrix(data, checked=True)


def columns(
    adata: AnnData, genes: Index, layer: str | None = None, argument: str = "layer"
) -> Matrix:
    """Return some genes of ``X`` or a layer over all cells, in memory, in their order."""
    with nullcontext() if layer is None else naming(X=argument):
        return RowMatrix(row_matrix(adata, layer, argument), genes=genes).loaded()


def controls(adata: AnnData) -> NDArray[np.bool_]:
    """Return whether each row of ``.var`` is a control or a spike-in, by name or by type."""
    mask = np.fromiter(map(is_control, adata.var_names), dtype=bool, count=adata.n_vars)
    if _TYPES in adata.var:
        mask |= adata.var[_TYPES].astype(str).str.contains(_CONTROL_TYPE).to_numpy(bool)
    return mask


def nameless(adata: AnnData) -> NDArray[np.bool_]:
    """Return whether each gene is called by a clone or a locus; nowhere where most genes are."""
    mask = np.asarray(adata.var_names.str.fullmatch(NAMELESS), dtype=bool)
    return mask if 2 * mask.sum() < len(mask) else np.zeros_like(mask)


def without_ignored(adata: AnnData, spec: StructureSpec) -> RowMatrix:
    """Return the matrix of a structure, in which controls and genes to ignore have no values."""
    data = row_matrix(adata, spec.layer)
    silent = controls(adata) | adata.var_names.isin(spec.ignore or ())
    return RowMatrix(data, silent=np.flatnonzero(silent)) if silent.any() else data


def matrix_or_none(adata: AnnData, layer: str | None) -> Any:
    """Return ``X`` or a layer, unchecked and wherever it is; None where it is not there."""
    try:
        return _stored(adata, layer, "layer")
    except Refusal:
        return None


def counts(adata: AnnData, counts_layer: str) -> RowMatrix:
    """Return a layer of raw counts, or ``.X`` where that is ``"X"``."""
    rows = row_matrix(adata, counts_layer, "counts_layer")
    if state(rows.first(FIRST_ROWS)) != "counts":
        raise InvalidValue(f"`counts_layer={short(counts_layer)}` has no raw counts: name another")
    return rows


def n_cells_with(data: RowMatrix) -> Array:
    """Return in how many cells each gene is not zero, shape (n_genes,)."""
    (n_cells,), _ = data.sweep(_not_zero)
    return np.asarray(n_cells)


def state(block: Matrix) -> str | None:
    """Return which of :data:`STATES` the first rows of a matrix are in; None: log-normalised."""
    values = _finite_values(block)
    if not len(values):
        return None
    if values.min() >= 0 and values.max() > 1 and (values == np.round(values)).all():
        return "counts"  # and not just zero and one
    if not _multiples(block, 1, most=_TWICE) and _multiples(block, 2, most=_TWICE):
        return "twice"
    if values.min() < 0:
        dense = block.toarray() if sparse.issparse(block) else block
        least = dense.min(axis=0)
        of_zeros = (least < 0) & ((dense == least).sum(axis=0) > 1)
        if of_zeros.mean() > _MOSTLY:  # most genes have one negative value in several cells
            return "scaled"
    elif _multiples(block):
        return "normalised"
    if np.abs(values).max() <= _LARGEST:
        return None
    n_expressed = block.nnz if sparse.issparse(block) else np.count_nonzero(block)
    zeros = 1.0 - n_expressed / np.prod(block.shape)
    return "normalised" if values.min() >= 0 and zeros > _ZEROS else "intensities"


def unit_of_logarithms(adata: AnnData, data: RowMatrix) -> float:
    """Return the natural logarithm of the base, by the values or as stored; 0: maybe counts."""
    block, stored = data.first(FIRST_ROWS), adata.uns.get("log1p")
    values = _finite_values(block)
    are_whole = (values == np.round(values)).all()
    if values.min(initial=0.0) >= 0 and (are_whole or values.max() > LARGEST_LOGARITHM):
        return 0.0
    for unit in _UNITS:
        if _multiples(block, 1, unit, most=LARGEST_LOGARITHM):
            return unit
    base = codec.scalar(stored.get("base")) if isinstance(stored, Mapping) else None
    return float(np.log(base)) if isinstance(base, int | float) and base > 1 else 1.0


def _multiples(block: Matrix, n_logs: int = 0, unit: float = 1.0, most: float = np.inf) -> bool:
    """Return whether nearly all numbers are multiples of the smallest of their row, as counts.

    They are so without logarithms, `n_logs` times in a unit, in rows whose values are below `most`.
    """
    rows = np.split(block.data, block.indptr[1:-1]) if sparse.issparse(block) else block
    # nor is anything so much smaller than the largest, whose ratios would overflow, a count
    positive = [row[row > 1e-9 * row.max(initial=0)].astype(np.float64) for row in rows]
    expressed = [row for row in positive if len(row) > 1 and row.max() < most]
    for _ in range(n_logs):
        expressed = [np.expm1(unit * row) for row in expressed]
    if not expressed:
        return False
    ratios = np.concatenate([row / row.min() for row in expressed])
    ratios = ratios[(ratios > 1.0 + _WHOLE) & (ratios < _LARGEST)]
    are_whole = np.abs(ratios - np.round(ratios)) < _WHOLE
    return bool(len(ratios) >= FIRST_ROWS and are_whole.mean() > _NEARLY_ALL)


def representation(adata: AnnData, use_rep: str) -> Array:
    """Return coordinates of the cells, ``obsm[use_rep]``."""
    coordinates = find(adata, "obsm", use_rep, "use_rep")
    check_indices(coordinates, "use_rep", use_rep)
    coordinates = coordinates.toarray() if sparse.issparse(coordinates) else coordinates
    return check_coordinates(coordinates, adata.n_obs, "use_rep")


def graph(adata: AnnData, neighbors_key: str) -> Matrix:
    """Return connectivities of ``sc.pp.neighbors`` or ``sq.gr.spatial_neighbors``."""
    checks.texts(neighbors_key=neighbors_key)
    name = subject("neighbors_key", neighbors_key)
    if neighbors_key not in adata.uns:
        raise NotFound(f"{name} is no `graph of adata.uns`: compute the graph first")
    entry = adata.uns[neighbors_key]
    if not isinstance(entry, Mapping):
        raise InvalidType(f"{name} is no graph, but {short(entry)}: compute the graph again")
    key = entry.get("connectivities_key", "connectivities")
    if key not in adata.obsp:
        raise NotFound(f"{name} has no {key!r} in `adata.obsp`: compute the graph again")
    pairs = adata.obsp[key]
    if "coord_type" in (entry.get("params") or {}) and sparse.issparse(pairs):
        pairs = pairs.maximum(pairs.T)  # squidpy joins a cell to its nearest, and not these to it
    return check_graph(pairs, adata.n_obs, "neighbors_key")


def batches(adata: AnnData, batch_key: str | None) -> NDArray[Any] | None:
    """Return the batch of every cell as a string; None: there are none."""
    if batch_key is None:
        return None
    return labels.batch_names(find(adata, "obs", batch_key, "batch_key"), "batch_key", batch_key)


def _stored(adata: AnnData, layer: str | None, argument: str) -> Any:
    """Return a matrix as it is; of the genes in ``.raw`` for ``"raw"``, where no layer is."""
    if isinstance(adata, Lean):
        return adata.matrices[layer]
    if layer == RAW and layer not in adata.layers and adata.raw is not None:
        missing = adata.var_names[~adata.var_names.isin(adata.raw.var_names)]
        if len(missing):
            raise NotFound(f"`layer='raw'` lacks genes of `adata`: {listed(missing)}: remove these")
        if not adata.raw.var_names.is_unique:
            raise InvalidValue("`layer='raw'` has genes twice: make `adata.raw.var_names` unique")
        genes, matrix = adata.raw.var_names.get_indexer(adata.var_names), adata.raw.X
        if not isinstance(matrix, IN_MEMORY):
            return RowMatrix(matrix, genes=genes)
        check_indices(matrix, argument, layer)  # before it is cut
        return matrix[:, genes]
    if layer is not None:
        return find(adata, "layers", layer, argument)
    with suppress(KeyError):  # of a file that is not in memory, and has none
        return adata.X
    return None


def _finite_values(block: Matrix) -> NDArray[Any]:
    """Return some finite values; of a sparse matrix of those that are stored."""
    values = (block.data if sparse.issparse(block) else block).ravel()[:_FIRST_VALUES]
    return np.asarray(values[np.isfinite(values)])


def _not_zero(block: Matrix, rows: slice) -> tuple[Sums, Matrix]:
    return (np.asarray((block != 0).sum(axis=0), dtype=np.float64),), None
