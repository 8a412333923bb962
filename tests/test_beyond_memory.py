"""Cells beyond memory: every function gives of a file what it gives of the same cells in memory."""

from __future__ import annotations

import copy
import inspect
import logging
import re
import zipfile
from functools import partial

import anndata as ad
import h5py
import numpy as np
import pytest
import zarr
from anndata.io import read_elem, sparse_dataset
from every_call import CALLS, cells, held, same
from matplotlib import pyplot as plt
from scipy import sparse

from glfs_bio import io, pl, pp, tl
from glfs_bio.cells import cells as sample
from glfs_bio.data import matrix as rows
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.io import _report

pytestmark = [
    pytest.mark.filterwarnings("ignore:Writing zarr v2"),
    pytest.mark.filterwarnings("ignore::glfs_bio.errors.Caution"),
]

#: Functions that return what they find, and write nothing.
RETURNING = {
    "estimate_efficiency": lambda adata: tl.estimate_efficiency(
        *(adata, adata, "type"), counts_layer="counts", spatial_layer="counts"
    ),
}
#: Functions that write a file, with its name and more that they ask for.
WRITING = {
    "write_genes": ("genes.csv", {}),
    "write_order": ("order.csv", {}),
    "write_reference": ("reference.zip", {"labels": "type"}),
    "write_report": ("report.html", {"labels": "type", "basis": False}),
}
#: Plots that ask for more than the object.
PLOTS = {name: {} for name in pl.__all__} | {
    "dotplot": {"labels": "type"},
    "panel": {"color": "type", "basis": "spatial"},
}
SIZES = {"DENSE_BLOCK": 2**12, "SPARSE_READ": 2**12, "SPARSE_BLOCK": 2**11}


def test_every_function_that_reads_cells_is_here():
    """A new one has to be."""
    reading = {
        name
        for module in (pp, tl, pl, io)
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        and next(iter(inspect.signature(function).parameters)) in ("adata", "reference")
    }
    assert reading == {*CALLS, *RETURNING, *WRITING, *PLOTS}


def backed(path):
    return ad.read_h5ad(path, backed="r")


def lazy(path):
    return ad.experimental.read_lazy(path)


def in_h5ad(folder, matrix, read=backed):
    """Opens cells whose matrices are of one kind, in a file of HDF5."""
    adata, path = cells(), folder / "cells.h5ad"
    adata.X = matrix(adata.X.toarray())
    adata.layers["counts"] = matrix(adata.layers["counts"].toarray())
    adata.write_h5ad(path)
    return lambda: read(path)


def in_zarr(folder, of_group):
    """Opens cells whose matrices stay in a store."""
    cells().write_zarr(folder / "cells.zarr")

    def opened():
        group = zarr.open(folder / "cells.zarr", mode="r")
        tables = {part: read_elem(group[part]) for part in ("obs", "var", "obsm")}
        adata = ad.AnnData(of_group(group["X"]), **tables)
        adata.layers["counts"] = of_group(group["layers/counts"])
        return adata

    return opened


def in_dask(group):
    return ad.experimental.read_elem_lazy(group, chunks=(70, -1))


CONTAINERS = {
    "h5ad csr": partial(in_h5ad, matrix=sparse.csr_matrix),
    "zarr csr": partial(in_zarr, of_group=sparse_dataset),
    "h5ad csc": partial(in_h5ad, matrix=sparse.csc_matrix),
    "h5ad dense": partial(in_h5ad, matrix=np.asarray),
    "dask csr": partial(in_zarr, of_group=in_dask),
    "lazy csr": partial(in_h5ad, matrix=sparse.csr_matrix, read=lazy),
}


@pytest.fixture(scope="module", autouse=True)
def _small_blocks(quick_umaps):
    """Several blocks of 200 cells; no step of a UMAP is stable."""
    with quick_umaps(), pytest.MonkeyPatch.context() as patch:
        for name, size in SIZES.items():
            patch.setattr(rows, name, size)
        patch.setattr(_report, "picture", lambda *_, **__: "data:,")  # as in plots
        yield


@pytest.fixture(scope="module")
def container(request, tmp_path_factory):
    """Opens the cells in a container."""
    if not hasattr(ad.experimental, "read_lazy") and request.param in ("dask csr", "lazy csr"):
        pytest.skip("this anndata is older than lazy objects")
    return CONTAINERS[request.param](tmp_path_factory.mktemp("cells"))


#: Sparse rows, in either kind of file.
throughout = pytest.mark.parametrize("container", ["h5ad csr", "zarr csr"], indirect=True)


def give(adata, parts):
    """Put into an object what another holds."""
    for part, values in copy.deepcopy(parts).items():
        for name, value in values.items():
            if name not in getattr(adata, part):
                getattr(adata, part)[name] = value
    return adata


@pytest.fixture(scope="module")
def explored(every_result):
    """What cells hold in the end; and a path of penalties, for its plot."""
    adata = give(cells(), every_result["enrich"].after)
    pp.select_genes(adata, 5, use_rep="X", objective="exact", key_added="path")
    return held(adata)


@pytest.mark.parametrize("container", [*CONTAINERS][1:], indirect=True)
def test_other_containers(container, every_result):
    """What they add is in the matrix that every function reads: tests/data/test_matrix.py."""
    for name in ("select_genes", "evaluate_panel", "explain_panel"):
        adata = give(container(), every_result[name].before)
        kind = type(adata.X)
        CALLS[name](adata)
        assert type(adata.X) is kind
        same(held(adata), every_result[name].after, name)


@throughout
def test_what_is_returned(container, explored):
    for name, call in RETURNING.items():
        same(call(give(container(), explored)), call(give(cells(), explored)), name)


@throughout
def test_plots_are_drawn(container, explored):
    adata = give(container(), explored)
    for name in PLOTS if adata.isbacked else ("dotplot", "panel"):
        getattr(pl, name)(adata, show=False, **PLOTS[name])
        assert plt.get_fignums(), name
        plt.close("all")


def read_text(path):
    """Texts of a file or an archive, without its date."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    return re.sub(r"\d+ (B|kB|KB|MB)", "", path.read_text("utf-8"))


@throughout
def test_files_are_those_of_memory(container, explored, tmp_path):
    opened, in_memory = give(container(), explored), give(cells(), explored)
    for name, (ending, options) in WRITING.items():
        path, other = tmp_path / ending, tmp_path / f"other_{ending}"
        getattr(io, name)(opened, path, **options)
        getattr(io, name)(in_memory, other, **options)
        assert read_text(path) == read_text(other), name


class Stages(logging.Handler):
    """Hears what the package logs: counts records of progress, and interrupts at one of them."""

    def __init__(self, at=None):
        super().__init__()
        self.at, self.seen, self.logger = at, 0, logging.getLogger("glfs_bio")

    def emit(self, record):
        self.seen += record.funcName == "show_stage"
        if self.seen == self.at:
            raise KeyboardInterrupt

    def __enter__(self):
        self.logger.addHandler(self)
        self.logger.setLevel(logging.INFO)
        return self

    def __exit__(self, *_):
        self.logger.removeHandler(self)
        self.logger.setLevel(logging.NOTSET)


@pytest.fixture
def read_at_once(monkeypatch):
    """Shares of the stored values of X that are read at once, or taken to memory."""
    shares = []
    plain, loaded = h5py.Dataset.__getitem__, RowMatrix.loaded

    def read(dataset, key, **options):
        values = plain(dataset, key, **options)
        if dataset.name == "/X/data":
            shares.append(np.size(values) / dataset.size)
        return values

    def load(matrix):
        if matrix.cells is None and matrix.genes is None and not matrix.in_memory:
            shares.append(1.0)
        return loaded(matrix)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", read)
    monkeypatch.setattr(RowMatrix, "loaded", load)
    return shares


def unexplored(parts):
    """What cells hold, without what stays for other calls even if what follows is interrupted."""
    of_all = ("glfs_structure", "glfs_all_genes")
    return {
        part: {name: value for name, value in values.items() if not name.startswith(of_all)}
        for part, values in parts.items()
    }


@pytest.mark.parametrize("container", ["h5ad csr"], indirect=True)
@pytest.mark.parametrize("name", CALLS)
def test_results_of_a_file_are_those_of_memory(container, name, every_result, read_at_once):
    """Parts of it are read, and it is said how far it is; Control-C leaves no half."""
    before = unexplored(every_result[name].before)
    adata = give(container(), before)
    with Stages() as stages:
        same(CALLS[name](adata), every_result[name].returned, "returned")
    assert adata.isbacked
    same(unexplored(held(adata)), unexplored(every_result[name].after), name)
    assert max(read_at_once, default=0.0) < 1.0
    assert stages.seen or sum(read_at_once) <= 1.0
    if stages.seen > 1:
        adata = give(container(), before)
        there = held(adata)
        with Stages(stages.seen // 2), pytest.raises(KeyboardInterrupt):
            CALLS[name](adata)
        same(unexplored(held(adata)), there, name)


def test_a_worker_of_dask(every_result, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    opened = CONTAINERS["dask csr"](tmp_path)
    with (
        distributed.LocalCluster(n_workers=1, local_directory=tmp_path, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        adata = opened()
        CALLS["select_genes"](adata)
        same(held(adata), every_result["select_genes"].after, "select_genes")
        monkeypatch.setattr(sample, "MANY_CELLS", 100)
        of_store, of_memory = (
            pp.select_genes(adata, 12, use_rep="X", inplace=False) for adata in (opened(), cells())
        )
        same(of_store, of_memory, "sampled")
        assert len(client.scheduler_info()["workers"]) == 1
