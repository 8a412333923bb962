"""A matrix of cells × genes, some rows at a time: in memory, in a file, or of dask."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from ..errors import InvalidValue, show_stage, subject
from . import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .._typing import Array, Index, Matrix

    Sums: TypeAlias = tuple[Array, ...]
    #: ``work(block, rows, *shared)``: sums to add up, and rows of single cells, or None.
    Work: TypeAlias = Callable[..., tuple[Sums, Matrix]]
    Merge: TypeAlias = Callable[[Sums, Sums], Sums]


#: Entries of a block of a dense matrix, and of what is read at once of a sparse one, where zeros
#: count.
DENSE_BLOCK, SPARSE_READ = 2**24, 2**26
#: Stored values of a block of a sparse matrix.  Arrays of few more are not reused when freed: the
#: system's time for new ones was a third of a pass.
SPARSE_BLOCK = 2**20
#: Kinds of matrices that are in memory: nothing has to be read or computed to see them.
IN_MEMORY: Any = np.ndarray, sparse.sparray, sparse.spmatrix


def add_up(first: Sums, second: Sums) -> Sums:
    """Return the sums of both."""
    return tuple(map(add, first, second))


class _ByGenes:
    """A sparse matrix that a file stores by genes (CSC): in memory once its rows are read."""

    format = "csr"

    def __init__(self, stored: Any) -> None:
        self.stored, self.group = stored, stored.group
        self.shape: tuple[int, int] = stored.shape
        self.dtype: np.dtype[Any] = stored.dtype

    @cached_property
    def _matrix(self) -> Matrix:
        return _as_read(self.stored[:], None, None, None)

    def __getitem__(self, rows: slice) -> Matrix:
        return self._matrix[rows]


class RowMatrix:
    """Cells × genes, some rows at a time."""

    def __init__(
        self,
        source: Any,
        cells: Index | None = None,
        genes: Index | None = None,
        *,
        silent: Index | None = None,
        checked: bool = False,
    ) -> None:
        if isinstance(source, RowMatrix):
            if source.cells is not None:
                cells = source.cells if cells is None else source.cells[cells]
            if source.genes is not None:
                genes = source.genes if genes is None else source.genes[genes]
            silent = source.silent if silent is None else silent
            source, checked = source.source, True
        self.in_memory: bool = isinstance(source, IN_MEMORY)
        self.is_dask: bool = hasattr(source, "__dask_graph__") and hasattr(source, "to_delayed")
        if self.in_memory:
            if not checked:
                check_indices(source, "X")
            source, cells, genes, silent = _as_block(source, cells, genes, silent), None, None, None
        elif getattr(source, "format", None) == "csc":
            source = _ByGenes(source)
        #: NumPy array or CSR in memory, or anything with ``shape``, ``dtype`` and slices of rows
        self.source: Any = source
        #: Rows to use, sorted, and columns; None: all
        self.cells: Index | None = cells
        self.genes: Index | None = genes
        #: Columns of the source that count as zero; None: there are none
        self.silent: Index | None = silent
        n_cells = source.shape[0] if cells is None else len(cells)
        n_genes = source.shape[1] if genes is None else len(genes)
        self.shape: tuple[int, int] = (n_cells, n_genes)

    def sweep(self, work: Work, *shared: Any, merge: Merge = add_up) -> tuple[Sums, Matrix]:
        """Return the sums over all blocks, and their rows below one another, in one pass.

        ``work(block, rows, *shared)`` gets some rows, dense or CSR, and their place among all.  It
        returns arrays, which `merge` adds up in the order of the blocks, whatever the threads, and
        a matrix of rows for some cells of the block, or None.
        """
        if self.is_dask:
            return self._sweep_dask(work, shared, merge)
        total: Sums = ()
        parts: list[Matrix] = []
        blocks = _cut(self.source, 0) if self.in_memory else self._blocks()
        results = threads.in_order(lambda read: (*work(*read, *shared), read[1].stop), blocks)
        for sums, of_cells, n_read in results:
            total = merge(total, sums) if total else sums
            if of_cells is not None:
                parts.append(of_cells)
            if not self.in_memory:
                show_stage("reading cells", n_read, self.shape[0])
        return total, _stacked(parts) if parts else None

    def weighted_sums(self, weights: Array) -> Array:
        """``Xᵀ w`` for the columns of `weights`, shape (n_genes, k)."""
        (sums,), _ = self.sweep(
            lambda block, rows, weights: ((block.T @ weights[rows],), None), weights
        )
        return np.asarray(sums)

    def loaded(self) -> Matrix:
        """What is in use of the matrix, in memory, dense or CSR, of finite values: in one pass."""
        if self.in_memory:
            matrix = self.source
        elif isinstance(self.source, _ByGenes) and self.genes is not None:  # and no others
            genes, columns = np.unique(self.genes, return_inverse=True)
            silent = None if self.silent is None else np.flatnonzero(np.isin(genes, self.silent))
            matrix = _as_read(self.source.stored[:, genes], self.cells, columns, silent)
        else:
            _, matrix = self.sweep(lambda block, _: ((), block))
        check_finite(matrix.data if sparse.issparse(matrix) else matrix)
        return matrix

    def first(self, n_cells: int) -> Matrix:
        """Return the first rows of the source, in memory; of stored rows no others are read."""
        if self.in_memory:
            return self.source[:n_cells]
        block = self._read(slice(0, n_cells))
        return _as_read(block.compute() if self.is_dask else block, None, self.genes, self.silent)

    def _blocks(self) -> Iterator[tuple[Matrix, slice]]:
        """Blocks of rows that are read, and where they are among the rows in use."""
        n_cells, n_genes = self.source.shape
        entries = SPARSE_READ if hasattr(self.source, "format") else DENSE_BLOCK
        at_once = max(1, entries // max(1, n_genes))
        stored = getattr(self.source, "chunks", None)
        if stored:  # a chunk of the file is not read twice
            at_once = max(1, at_once // stored[0]) * stored[0]
        for begin in range(0, n_cells, at_once):
            end = min(begin + at_once, n_cells)
            rows, cells = self._in_use(begin, end)
            if rows.start < rows.stop:
                block = _as_read(self._read(slice(begin, end)), cells, self.genes, self.silent)
                yield from _cut(block, rows.start)

    def _read(self, rows: slice) -> Any:
        try:
            return self.source[rows]
        except (ValueError, IndexError) as error:  # indices that a library takes on trust
            raise InvalidValue(f"`X` is damaged ({error}): read or create it again") from error

    def _in_use(self, begin: int, end: int) -> tuple[slice, Index | None]:
        """Return where some rows of the source are among those in use, and which of them are."""
        if self.cells is None:
            return slice(begin, end), None
        rows = slice(*np.searchsorted(self.cells, [begin, end]).tolist())
        return rows, self.cells[rows] - begin

    def _sweep_dask(self, work: Work, shared: Sequence[Any], merge: Merge) -> tuple[Sums, Matrix]:
        import dask

        source = self.source
        if len(source.chunks[1]) > 1:
            source = source.rechunk({1: -1})
        ends = np.cumsum(source.chunks[0]).tolist()
        genes, silent, *everywhere = map(dask.delayed, (self.genes, self.silent, *shared))
        on_block = dask.delayed(_work_on, nout=2)
        results = []
        for block, begin, end in zip(source.to_delayed()[:, 0], [0, *ends[:-1]], ends, strict=True):
            rows, cells = self._in_use(begin, end)
            if rows.start < rows.stop:
                results.append(on_block(work, block, rows, (cells, genes, silent), *everywhere))
        sums = [sums_of_block for sums_of_block, _ in results]
        both = dask.delayed(merge)
        while len(sums) > 1:
            pairs = [both(*sums[k : k + 2]) for k in range(0, len(sums) - 1, 2)]
            sums = pairs + sums[2 * len(pairs) :]
        total, of_all = dask.compute(sums[0], [of_cells for _, of_cells in results])
        return total, None if of_all[0] is None else _stacked(of_all)


def _work_on(work: Work, block: Any, rows: slice, part: Any, *shared: Any) -> tuple[Sums, Matrix]:
    """Do the work of a sweep on cells, genes and silent genes of a block, wherever that is done."""
    with threads.alone():
        return work(_as_read(block, *part), rows, *shared)


def native(values: Any) -> Any:
    """Return a matrix in the byte order of the machine; files of Java and FITS have another."""
    if hasattr(values, "indptr"):
        arrays = values.data, values.indices, values.indptr
        if all(array.dtype.isnative for array in arrays):
            return values
        return type(values)(tuple(map(native, arrays)), shape=values.shape)
    kind = getattr(values, "dtype", None)
    if not isinstance(kind, np.dtype) or kind.isnative:
        return values
    return values.astype(kind.newbyteorder("="))


def _as_read(block: Any, cells: Index | None, genes: Index | None, silent: Index | None) -> Matrix:
    check_indices(block, "X")
    return _as_block(block, cells, genes, silent)


def _as_block(block: Any, cells: Index | None, genes: Index | None, silent: Index | None) -> Matrix:
    """Dense, or CSR without duplicates and in order: sums do not depend on the container."""
    block = native(block)
    if not sparse.issparse(block):
        block = np.asarray(block)
    else:
        block = block if isinstance(block, sparse.csr_array) else sparse.csr_array(block)
        if not block.has_canonical_format:
            # Sums of narrow integers may not fit.
            block = block.astype(float) if block.dtype.kind in "biu" else block.copy()
            block.sum_duplicates()
    if cells is not None and len(cells) < block.shape[0]:
        block = block[cells]
    if silent is not None:
        block = _silenced(block, silent)
    return block if genes is None else block[:, genes]


def _silenced(block: Matrix, genes: Index) -> Matrix:
    """A copy with zeros for some genes."""
    is_heard = np.ones(block.shape[1], dtype=bool)
    is_heard[genes] = False
    if not sparse.issparse(block):
        return np.where(is_heard, block, block.dtype.type(0))
    block = block.copy()
    block.data *= is_heard[block.indices]
    block.eliminate_zeros()
    return block


def _cut(source: Matrix, start: int) -> Iterator[tuple[Matrix, slice]]:
    """Yield blocks of a matrix in memory, and their rows if its first row is row `start`."""
    n_rows, n_genes = source.shape
    is_csr = sparse.issparse(source)
    block, per_row = (SPARSE_BLOCK, source.nnz // n_rows) if is_csr else (DENSE_BLOCK, n_genes)
    rows = max(1, block // max(1, per_row))
    for begin in range(0, n_rows, rows):
        end = min(begin + rows, n_rows)
        if is_csr:  # by hand, since a slice takes several times longer
            first, last = source.indptr[begin], source.indptr[end]
            pointers = source.indptr[begin : end + 1] - first
            stored = source.data[first:last], source.indices[first:last], pointers
            rows_of_block = sparse.csr_array(stored, shape=(end - begin, n_genes))
        else:
            rows_of_block = source[begin:end]
        yield rows_of_block, slice(start + begin, start + end)


def _stacked(blocks: Sequence[Matrix]) -> Matrix:
    """Return matrices below one another, sparse where one is."""
    if len(blocks) == 1:
        return blocks[0]
    if any(map(sparse.issparse, blocks)):
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))
    return np.concatenate(blocks)


def check_indices(matrix: Any, argument: str, value: object = None) -> None:
    """Refuse a sparse matrix with indices out of range, where compiled code would write."""
    if not sparse.issparse(matrix):
        return
    try:
        if matrix.format == "coo":
            sparse.coo_array((matrix.data, matrix.coords), matrix.shape)
        elif hasattr(matrix, "indptr"):
            if matrix.indices.dtype.kind != "i" or matrix.indptr.dtype.kind != "i":
                raise ValueError("its indices are no whole numbers")
            copy(matrix).check_format(full_check=True)  # which may cut what it checks
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidValue(f"{subject(argument, value)} is damaged ({error}): renew it") from error


def check_finite(values: Array, argument: str = "X", value: object = None) -> None:
    """Refuse NaN and infinite values."""
    if not np.isfinite(values).all():
        matrix_name = subject(argument, value)
        raise InvalidValue(f"{matrix_name} has NaN or infinite values: remove or impute these")


#: Share of entries that are not zero from which a matrix is worked on as a dense one.
_DENSE = 0.5
#: Squares of smaller values vanish in single precision, and those of its inverse are infinite.
_SMALLEST_UNIT = 1e-18
#: Values so many times farther from zero than from one another change a selection by rounding.
_FLAT = 1e4
#: Rows that are looked at where they are not in memory.
_ROWS = 20
#: Products of such numbers, and sums of these, are in the range of single precision.
_IN_RANGE = 1e15


def is_sparse(data: Matrix) -> bool:
    """Whether most entries are zero, stored or not."""
    n_cells, n_genes = data.shape
    values = data.data if sparse.issparse(data) else data
    return bool(np.count_nonzero(values) < _DENSE * n_cells * n_genes)


def largest(values: Array) -> float:
    """The largest absolute value, found without an array of these."""
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def divided(values: Array, by: Array, nothing: float = 0.0) -> Array:
    """Return values as shares of others, zero where these are `nothing` or less."""
    return np.asarray(np.divide(values, by, out=np.zeros_like(values), where=by > nothing))


def with_values(block: sparse.csr_array, values: Array) -> sparse.csr_array:
    """Other values in the same places, whose indices are shared."""
    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)


def doubled(block: Matrix) -> Matrix:
    """A dense matrix or CSR in double precision: itself, or a copy of its values."""
    if not sparse.issparse(block):
        return block.astype(np.float64, copy=False)
    if block.dtype == np.float64:
        return block
    return with_values(block, block.data.astype(np.float64))


def single(values: Array) -> tuple[Array, float]:
    """In single precision and its range, and their unit: a power of two, which changes no digit."""
    extent = largest(values)
    if values.dtype == np.float32 and 1.0 / _IN_RANGE < extent < _IN_RANGE:
        return values, 1.0
    unit = 2.0 ** int(np.frexp(extent)[1])
    in_unit = np.empty(values.shape, dtype=np.float32)
    return np.multiply(values, np.float64(1.0 / unit), out=in_unit, casting="same_kind"), unit


def check_unit(data: RowMatrix) -> None:
    """Refuse squares that are zero or infinite, and sparse values without a zero, nearly alike."""
    source = data.source if data.in_memory else data.first(_ROWS)
    values = source.data if sparse.issparse(source) else source  # max() of it would sort it
    if not data.in_memory:
        check_finite(values)
    extent = largest(values)
    if extent and not _SMALLEST_UNIT < extent < 1.0 / _SMALLEST_UNIT:
        raise InvalidValue(f"`X` has values up to {extent:.3g}: bring it into another unit")
    if sparse.issparse(source) and not is_sparse(source):
        low, high = float(values.min()), float(values.max())
        if max(low, -high) > _FLAT * (high - low):
            raise InvalidValue("`X` is sparse without a zero, and hardly varies: make it dense")


#: What rounding leaves of the variance of a constant gene, in units of its mean square.
_ROUNDING_SPARSE = 1e-12
_ROUNDING_DENSE = 1e-24


def moments(data: RowMatrix, sample: Index | None = None) -> tuple[Array, Array, Matrix]:
    """Mean and variance of genes, and the cells of `sample`, sorted (None: all), in one pass."""
    in_sample = None
    if not data.in_memory:
        in_sample = np.zeros(data.shape[0], dtype=bool)
        in_sample[slice(None) if sample is None else sample] = True
    (count, mean, squares, rounding), cells = data.sweep(_moments, in_sample, merge=_merge)
    if data.in_memory:
        cells = data.source if sample is None else data.source[sample]
    variance = squares / count
    check_finite(mean)
    check_finite(variance)
    return mean, np.where(variance > rounding / count, variance, 0.0), cells


def _moments(block: Matrix, rows: slice, in_sample: Array | None) -> tuple[Sums, Matrix]:
    """Number of cells, mean, squared distances from it, and what of these may be rounding."""
    n = block.shape[0]
    rounding: Array
    with np.errstate(invalid="ignore", over="ignore"):  # said once, at the end
        if sparse.issparse(block):
            ones, values = np.ones(n), block.data.astype(np.float64)
            mean = with_values(block, values).T @ ones / n
            total = with_values(block, np.square(values, out=values)).T @ ones
            squares = np.maximum(total - n * mean**2, 0.0)
            rounding = np.asarray(_ROUNDING_SPARSE * total, dtype=np.float64)
        else:
            mean = np.asarray(block.mean(axis=0, dtype=np.float64))
            differences = block - mean
            squares = np.asarray(np.square(differences, out=differences).sum(axis=0))
            rounding = _ROUNDING_DENSE * (squares + n * mean**2)
    cells = None
    if in_sample is not None:
        cells = block if in_sample[rows].all() else block[in_sample[rows]]
    return (np.array(float(n)), mean, squares, rounding), cells


def _merge(first: Sums, second: Sums) -> Sums:
    """Return the moments of two sets of cells together (Chan, Golub & LeVeque 1983)."""
    (n, mean, squares, rounding), (m, mean_of_second, more, more_rounding) = first, second
    total = n + m
    with np.errstate(invalid="ignore", over="ignore"):
        difference = mean_of_second - mean
        squares = squares + more + difference**2 * (n * m / total)
        mean = mean + difference * (m / total)
    return np.asarray(total), mean, squares, rounding + more_rounding
