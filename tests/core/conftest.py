"""What may hold a matrix, and the error of random genes with its value by explicit inverses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.core.data import rows
from glfs_bio.core.objective import Error


class Slices:
    """The least that a file of rows offers."""

    def __init__(self, values, chunks=None):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        if chunks:
            self.chunks = chunks
        if sparse.issparse(values):
            self.format = values.format

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self.values[rows]


def in_dask(x, chunks):
    return pytest.importorskip("dask.array").from_array(x, chunks=chunks)


HOLDERS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "file": Slices,
    "chunked file": lambda x: Slices(x, (4, 2)),
    "sparse file": lambda x: Slices(sparse.csr_matrix(x)),
    "dask": lambda x: in_dask(x, (7, 3)),
    "dask of csr": lambda x: in_dask(x, (7, -1)).map_blocks(sparse.csr_array),
}


@pytest.fixture(scope="session")
def holders():
    return HOLDERS


@pytest.fixture(params=HOLDERS)
def holder(request):
    return HOLDERS[request.param]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(rows, "BLOCKS", rows.Blocks(dense=60, sparse_read=60, stored=60))


@pytest.fixture(scope="session")
def random_errors():
    """Maker of the error on one or several random sets of cells, over the same genes."""

    def make(seed, *, n_blocks=1, n_genes=12, rank=5, include=()):
        rng = np.random.default_rng(seed)
        blocks = []
        for _ in range(n_blocks):
            genes = rng.uniform(0.2, 1.5, size=(n_genes, 1)) * rng.normal(size=(n_genes, rank))
            root = rng.normal(size=(rank, rank))
            wanted = root @ root.T / np.sum(root**2) / n_blocks
            block = Error.of(genes, wanted)
            blocks.append(block.cover(np.array(include)) if len(include) else block)
        return blocks

    return make


@pytest.fixture(scope="session")
def by_inverse():
    """``Σ_b Tr(W E)`` at one β, shape (n_genes,), or at many, shape (n, n_genes)."""

    def value(blocks, beta):
        total = 0.0
        for block in blocks:
            outer = block.genes[:, :, None] * block.genes[:, None, :]
            added = np.tensordot(beta, outer, axes=1)
            inverse = np.linalg.inv(np.eye(len(block.weights)) + block.covered + added)
            total = total + np.einsum("j,...jj->...", block.weights, inverse)
        return total

    return value
