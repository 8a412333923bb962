from __future__ import annotations

import gc
import gzip
import os
import re
import signal
import sys
import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import anndata as ad
import every_call
import h5py
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from all_panels import block_of
from anndata.io import sparse_dataset, write_elem
from refusals import faults, refused
from scipy import sparse

import glfs_bio
from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.criterion.criterion import NOISE, Criterion
from glfs_bio.data import matrix as rows
from glfs_bio.errors import Caution, Refusal

# Where pytest runs in the background, processes that it starts would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Tests of what other systems do not have: R beside Python, forks, limits of a process, shells.
collect_ignore = (
    [] if sys.platform == "linux" else ["cli/test_shell.py", "rbridge", "test_faults.py"]
)


def pytest_collection_modifyitems(items):
    """Begin with the pages, which take longest: nobody waits for one of them in the end."""
    items.sort(key=lambda item: "vignettes" not in item.nodeid)


def pytest_collection_finish():
    """Leave the modules that are imported out of every later collection of garbage."""
    gc.freeze()


CONTAINERS = {
    "dense": np.asarray,
    "csr_matrix": sparse.csr_matrix,
    "csc_matrix": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
}


@pytest.fixture(params=CONTAINERS)
def container(request):
    return CONTAINERS[request.param]


@pytest.fixture(scope="session")
def real():
    """Reader of the development data; without them a test is skipped, or fails where required."""
    folder = Path(os.environ.get("GLFS_BIO_DATA", "../shared/data"))

    def load(name: str) -> ad.AnnData:
        path = folder / f"{name}.h5ad"
        if not path.exists():
            if os.environ.get("GLFS_BIO_REQUIRE_DATA"):
                pytest.fail(f"{path} is missing")
            pytest.skip(f"{path} is missing")
        return ad.read_h5ad(path)

    return load


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the development data, for what is not an h5ad."""
    return Path(os.environ.get("GLFS_BIO_DATA", "../shared/data"))


@pytest.fixture(scope="session")
def _pbmc() -> ad.AnnData:
    return sc.datasets.pbmc68k_reduced().raw.to_adata()


@pytest.fixture
def pbmc(_pbmc) -> ad.AnnData:
    """700 blood cells × 765 genes, logarithmised, with X_pca and a graph."""
    return _pbmc.copy()


@pytest.fixture
def clusters() -> np.ndarray:
    """90 cells in three groups; genes 0 to 5 tell them apart, 34 are noise."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(3), 30, axis=0)
    signal = groups @ np.hstack([np.eye(3), np.eye(3)[::-1]]) * 3.0
    return np.hstack([signal, np.zeros((90, 34))]) + rng.normal(scale=0.3, size=(90, 40)) + 1.0


@pytest.fixture(scope="session")
def four_among_noise():
    """Maker of four features among many of Gaussian noise, of four clusters or uniform."""

    def make(n_samples=400, n_noise=1000, *, sigma=0.2, clusters=True):
        rng = np.random.default_rng(0)
        if clusters:
            features = np.eye(4)[rng.permutation(np.arange(n_samples) % 4)]
        else:
            features = rng.uniform(size=(n_samples, 4))
        noise = rng.normal(scale=sigma, size=(n_samples, n_noise))
        order = rng.permutation(4 + n_noise)
        var = pd.DataFrame({"informative": order < 4}, index=[f"g{i}" for i in order])
        return ad.AnnData(np.hstack([features, noise])[:, order], var=var)

    return make


def _laid_out(cells, **_):
    found = cells.obsm.get("X_pca", cells.X)[:, :2]
    found = found.toarray() if sparse.issparse(found) else np.asarray(found)
    cells.obsm["X_umap"] = np.hstack([found, found])[:, :2]


@pytest.fixture(scope="session")
def quick_umaps():
    """Two coordinates in the place of UMAPs, which are scanpy's, and compiled for half a minute."""

    @contextmanager
    def patched():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sc.pp, "neighbors", lambda *_, **__: None)
            patch.setattr(sc.tl, "umap", _laid_out)
            yield

    return patched


@pytest.fixture(scope="session")
def every_result(quick_umaps):
    """What cells in memory hold before and after a call of every function, and what it returns."""
    adata, results = every_call.cells(), {}
    with quick_umaps(), warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        for name, call in every_call.CALLS.items():
            before = every_call.held(adata)
            returned = call(adata)
            after = every_call.held(adata)
            results[name] = SimpleNamespace(before=before, after=after, returned=returned)
    return results


@pytest.fixture(autouse=True)
def _every_message_can_be_shown():
    """Whatever the package says in a test, each door can show it."""
    found = []

    def watched(make):
        def made(self, *args: object, **options: object) -> None:
            make(self, *args, **options)
            if sys._getframe(1).f_globals.get("__name__", "").startswith("glfs_bio"):
                found.extend(faults(self))

        return made

    with pytest.MonkeyPatch.context() as patched:
        for kind in (Refusal, Caution):
            patched.setattr(kind, "__init__", watched(kind.__init__))
        yield
    assert not found, "\n".join(found)


VENDORS_LIST = """Species,Ensembl ID,Gene symbol
Homo sapiens,ENSG00000167286,CD3D
Homo sapiens,ENSG00000127054,INTS11
Homo sapiens,ENSG00000145416,MARCH1
Homo sapiens,ENSG00000183291,SELENOF
Homo sapiens,ENSG00000284770,TBCE
Homo sapiens,ENSG00000285053,TBCE
Homo sapiens,ENSG00000273045,C2orf15
Mus musculus,ENSMUSG00000032094,Cd3d
"""


@pytest.fixture
def vendor(tmp_path):
    """A list of genes, some with other names than today."""
    path = tmp_path / "vendor.csv.gz"
    path.write_bytes(gzip.compress(VENDORS_LIST.encode()))
    return path


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


def by_genes_in_a_file(x):
    file = h5py.File(f"{id(x)}.h5", "w", driver="core", backing_store=False)
    write_elem(file, "X", sparse.csc_matrix(x))
    return sparse_dataset(file["X"])


HOLDERS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "file": Slices,
    "chunked file": lambda x: Slices(x, (4, 2)),
    "sparse file": lambda x: Slices(sparse.csr_matrix(x)),
    "file by genes": by_genes_in_a_file,
    "dask": lambda x: in_dask(x, (7, 3)),
    "dask by genes": lambda x: in_dask(x, (-1, 3)).map_blocks(sparse.csc_array),
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
    for name in ("DENSE_BLOCK", "SPARSE_READ", "SPARSE_BLOCK"):
        monkeypatch.setattr(rows, name, 60)


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
            block = block_of(genes, wanted)
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


def _cells(seed):
    """60 cells in three groups × 12 genes, most of which tell the groups apart a little."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.eye(3), 20, axis=0)
    return groups @ rng.gamma(1.0, 1.0, size=(3, 12)) + rng.normal(scale=0.5, size=(60, 12))


@pytest.fixture(params=[1, 2], ids=["one set of cells", "two batches"])
def problems(request):
    batch = None if request.param == 1 else np.tile(["a", "b"], 30)
    return build_cells(_cells(0), StructureSpec(n_comps=6, n_neighbors=5), batch=batch)


@pytest.fixture
def criterion(problems):
    return Criterion(problems)


@pytest.fixture(scope="session")
def above_noise():
    """H of a problem by its definition, shape (r, r): what takes the noise off its genes."""

    def matrix(problem):
        genes = problem.projections * problem.units[:, None]
        noise = problem.units**2 * problem.residuals
        n_alike = noise.sum() ** 2 / (noise**2).sum()
        edge = noise.sum() * (1.0 + np.sqrt(problem.n_cells / n_alike)) ** 2
        strength, axes = np.linalg.eigh(genes.T @ genes)
        left = np.where(strength > edge, strength - edge, 0.0)
        return axes @ np.diag(np.sqrt(left / strength)) @ axes.T

    return matrix


@pytest.fixture
def by_definition(problems, above_noise):
    """F of a panel: the mean of ``Tr(W (I + Σ g gᵀ)⁻¹)``, from the pieces of the problems.

    `lengths`: what the genes that are measured are multiplied with, for each problem.
    """

    def value(panel, lengths=None):
        total = 0.0
        for block, problem in enumerate(problems):
            kappa, basis = np.linalg.eigh(problem.stiffness)
            lambda2 = NOISE * problem.n_cells * kappa.sum() / len(kappa)
            in_units, whitening = problem.projections * problem.units[:, None], basis * kappa**0.5
            genes = in_units @ whitening / np.sqrt(lambda2)
            structure = in_units @ above_noise(problem) @ whitening
            strengths, axes = np.linalg.eigh(structure.T @ structure)
            # the root of what is rounding would be 1e-8
            strengths[strengths < 1e-12 * strengths[-1]] = 0.0
            wanted = (axes * np.sqrt(strengths)) @ axes.T
            if lengths is not None:
                genes *= lengths[block][:, None]
            chosen = genes[list(panel)]
            error = np.linalg.inv(np.eye(len(kappa)) + chosen.T @ chosen)
            total += np.trace(wanted @ error) / np.trace(wanted)
        return total / len(problems)

    return value


def pytest_make_parametrize_id(val, argname):
    """Short names: functions and arrays have none of their own."""
    if argname in ("value", "call"):
        return re.sub(r"\W+", "_", getattr(val, "__name__", None) or repr(val))[:40]
    return None


def same(one, other) -> bool:
    """Whether two values are of one type and alike, to the bit."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, pd.DataFrame | pd.Series | pd.Index):
        return one.equals(other)
    if sparse.issparse(one):
        one, other = one.tocsr(), other.tocsr()
        parts = ("data", "indices", "indptr")
        return all(same(getattr(one, part), getattr(other, part)) for part in parts)
    if isinstance(one, np.ndarray):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and (one.tobytes() == other.tobytes() or bool((one == other).all()))
    return one == other


def contents(adata) -> dict:
    """All that an AnnData object holds, except the matrix."""
    mappings = ("uns", "obsm", "varm", "obsp", "varp", "layers")
    return {"obs": adata.obs, "var": adata.var} | {
        name: dict(getattr(adata, name)) for name in mappings
    }


@pytest.fixture
def unchanged():
    """A block that leaves an object as it was."""

    @contextmanager
    def block(adata):
        before = adata.copy()
        yield
        assert same(before.X, adata.X)
        assert same(contents(before), contents(adata))

    return block


@pytest.fixture
def refuses(unchanged):
    """Make a call that must fail, and look whether the object is what it was."""

    def check(call, adata, kind, argument):
        with (
            unchanged(adata) if hasattr(adata, "obsm") else nullcontext(),
            pytest.raises(kind) if argument is None else refused(kind, argument),
        ):
            call()

    return check


@pytest.fixture(scope="session")
def analysed(_pbmc):
    """Blood cells with all results of a selection, which nobody changes."""
    adata = _pbmc.copy()
    glfs_bio.pp.select_genes(adata, 10)
    glfs_bio.tl.stability(adata, n_genes=5, n_resamples=2)
    glfs_bio.tl.enrich(adata, {"T cells": ["CD3D", "CD3E"], "MHC II": ["HLA-DRA", "HLA-DRB1"]})
    glfs_bio.tl.evaluate_panel(adata, "glfs", "bulk_labels")
    glfs_bio.tl.evaluate_panel(adata, {"a": "glfs", "b": ["CD3D", "LYZ"]})
    glfs_bio.tl.evaluate_panel(adata, sizes=[2, 5], measures="preserved", key_added="glfs_curve")
    return adata
