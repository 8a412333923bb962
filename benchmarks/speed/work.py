"""The work that parts of a selection must do, counted from the sizes of what they are called with.

Each function is given what a part returned and its arguments.  What is small beside these parts is
left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Work:
    """Floating-point operations in single and double precision, and bytes read and written."""

    single: float = 0.0
    double: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.single + other.single, self.double + other.double, self.bytes + other.bytes
        )


def _size(matrix) -> int:
    """Bytes of a matrix."""
    if sparse.issparse(matrix):
        return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return matrix.nbytes


def _in_precision(flop: float, dtype: np.dtype, moved: float = 0.0) -> Work:
    return Work(flop, 0.0, moved) if dtype == np.float32 else Work(0.0, flop, moved)


def read(_, cells, **options) -> Work:
    """A pass over the cells."""
    return Work(bytes=_size(cells.source))


def transposed(transpose, products) -> Work:
    """A sparse matrix is read and written."""
    return Work(bytes=_size(products.matrix) + _size(transpose))


def drawn(part, sample, n_cells: int) -> Work:
    """Some cells are copied, and read for their moments; nothing where they are all."""
    return Work() if part is sample else Work(bytes=3 * _size(part.data))


def product(result, matrix, block, *precision) -> Work:
    """A sparse matrix times a block."""
    flop = 2 * matrix.nnz * block.shape[1]
    return _in_precision(flop, result.dtype, _size(matrix) + block.nbytes + result.nbytes)


def directions(_, outside, basis, scale) -> Work:
    """One step of block Lanczos but the product: QR, and twice all directions times the new."""
    n, width = outside.shape
    return Work(double=4 * n * width**2 + 4 * n * width * (basis.shape[1] + width))


def distances(_, sample, coordinates) -> Work:
    """All distances between the cells."""
    n, r = coordinates.shape
    return _in_precision(2 * n**2 * r, coordinates.dtype)


def forms(_, data, form) -> Work:
    """For each edge the entries of a cell, multiplied and added; the matrix is read once."""
    data, form = sparse.csr_array(data), sparse.csr_array(form)
    edges = sparse.triu(form, format="csr")
    entries = np.diff(data.indptr)[edges.indices].sum()
    return Work(double=2.0 * (entries + data.nnz), bytes=_size(data) + _size(form))


def orthonormal(_, representation) -> Work:
    """Triangle with pivots, and Q."""
    n, r = representation.shape
    return _in_precision(6 * n * r**2, representation.dtype)


def whitened(_, cells, *arguments) -> Work:
    """Genes in the eigenbasis of K."""
    return Work(double=sum(2 * one.projections.size * len(one.stiffness) for one in cells.sets))


def turned(blocks, *arguments) -> Work:
    """Genes in the eigenbasis of W."""
    return Work(double=sum(2 * one.genes.size * one.genes.shape[1] for one in blocks))


def first_gains(_, measured, block) -> Work:
    """Genes times E and times E W E."""
    return Work(double=4 * block.genes.size * block.genes.shape[1])


def update(_, measured, gene: int, sign: float) -> Work:
    """Genes times two vectors."""
    return Work(double=4 * measured.genes.size)


def inverse(result, error, beta) -> Work:
    """A' of the genes with a weight, and its inverse."""
    r = len(result)
    return Work(double=2 * np.count_nonzero(beta) * r**2 + r**3)


def gradient(_, error, inverse) -> Work:
    """Genes times E √W, and their squared norms."""
    return Work(double=2 * error.genes.size * (len(inverse) + 1))
