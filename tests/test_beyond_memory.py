"""Cells beyond memory: every function gives of a file what it gives of the same cells in memory."""

from __future__ import annotations

import copy
import inspect
import logging
import re
import tempfile
import warnings
import zipfile
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from types import SimpleNamespace

import anndata as ad
import h5py
import numpy as np
import pandas as pd
import pytest
import zarr
from anndata.io import read_elem, sparse_dataset
from every_call import CALLS, cells
from matplotlib import pyplot as plt
from scipy import sparse

from glfs_bio import io, pl, pp, tl
from glfs_bio.cells import cells as sample
from glfs_bio.data import by_rows
from glfs_bio.data import matrix as rows
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import Caution
from glfs_bio.io import _sections

pytestmark = [
    pytest.mark.filterwarnings("ignore:Writing zarr v2"),
    pytest.mark.filterwarnings("ignore::glfs_bio.errors.Caution"),
]

#: Single precision, in which cells are compared, after several steps.
RELATIVE = 1e-4
PARTS = ("obs", "var", "obsm", "varm", "obsp", "uns")
#: What is of a container or of a moment, and not of the cells.
OF_THE_FILE = {"made_of", "seconds", "versions", "written"}
#: Functions that return what they find, and write nothing.
RETURNING = {
    "estimate_efficiency": lambda adata: tl.estimate_efficiency(
        *(adata, adata, "type"), counts_layer="counts", spatial_layer="counts"
    ),
    "recorded_parameters": lambda adata: pp.recorded_parameters(adata, "glfs"),
}
#: Functions that write a file, whose name is the last argument.
WRITING = {
    "write_classifier": io.write_classifier,
    "write_gene_list": io.write_gene_list,
    "write_gmt": io.write_gmt,
    "write_order": io.write_order,
    "write_reference": lambda adata, path: io.write_reference(adata, path, "type"),
    "write_report": lambda adata, path: io.write_report(adata, path, labels="type", umaps=False),
    "write_rnk": io.write_rnk,
}
PLOTS = {name: (getattr(pl, name),) for name in sorted(set(pl.__all__) - {"dotplot", "panel"})} | {
    "dotplot": (lambda adata, **options: pl.dotplot(adata, "type", **options),),
    "panel": tuple(
        partial(pl.panel, labels="type", kind=kind) for kind in ("umap", "heatmap", "dotplot")
    ),
}
#: A proof that a clock ends is another one each time.
PROVED = {"prove_panel": lambda adata: tl.prove_panel(adata, ["g1", "g12"], time_limit=None)}
EVERY = {**CALLS, **PROVED, **RETURNING}


def test_every_function_that_reads_cells_is_here():
    """A new one has to be."""
    reading = {
        name
        for module in (pp, tl, pl, io)
        for name in module.__all__
        if callable(one := getattr(module, name))
        and not inspect.isclass(one)
        and next(iter(inspect.signature(one).parameters)) in ("adata", "reference")
    }
    assert reading == {*EVERY, *WRITING, *PLOTS}


def stored(adata, folder, matrix):
    """The file of cells whose matrices are of one kind."""
    adata.X = matrix(adata.X.toarray())
    adata.layers["counts"] = matrix(adata.layers["counts"].toarray())
    return folder / "cells"


def backed(adata, folder, matrix):
    path = stored(adata, folder, matrix).with_suffix(".h5ad")
    adata.write_h5ad(path)
    return lambda: ad.read_h5ad(path, backed="r")


def lazy(adata, folder, matrix):
    path = stored(adata, folder, matrix).with_suffix(".h5ad")
    adata.write_h5ad(path)
    return lambda: ad.experimental.read_lazy(path)


def beside(adata, folder, of_group):
    """Cells of zarr whose matrices stay there."""
    path = stored(adata, folder, sparse.csr_matrix).with_suffix(".zarr")
    adata.write_zarr(path)

    def opened():
        group = zarr.open(path, mode="r")
        matrix = of_group(group["X"])
        found = ad.AnnData(
            matrix, **{part: read_elem(group[part]) for part in ("obs", "var", "obsm")}
        )
        found.layers["counts"] = of_group(group["layers/counts"])
        return found

    return opened


def in_dask(group):
    return ad.experimental.read_elem_lazy(group, chunks=(70, -1))


CONTAINERS = {
    "h5ad csr": partial(backed, matrix=sparse.csr_matrix),
    "h5ad csc": partial(backed, matrix=sparse.csc_matrix),
    "h5ad dense": partial(backed, matrix=np.asarray),
    "zarr csr": partial(beside, of_group=sparse_dataset),
    "dask csr": partial(beside, of_group=in_dask),
    "lazy csr": partial(lazy, matrix=sparse.csr_matrix),
}
#: Rows of a file, genes of a file, and cells whose columns are lazy too: for every function.
THROUGHOUT = ("h5ad csr", "h5ad csc", "lazy csr")


def cases(functions, some):
    """Names with containers, of which the others have some functions, one for each way of reading.

    What they add is in the matrix that every function reads: tests/data/test_matrix.py.
    """
    return [
        pytest.param(name, container, id=f"{container}-{name}")
        for container in CONTAINERS
        for name in functions
        if container in THROUGHOUT or name in some
    ]


SIZES = {"DENSE_BLOCK": 2**12, "SPARSE_READ": 2**12, "SPARSE_BLOCK": 2**11}


@pytest.fixture(scope="module", autouse=True)
def _small_blocks(quick_umaps):
    """Several blocks of 200 cells; no step of a UMAP is stable."""
    with quick_umaps(), pytest.MonkeyPatch.context() as patch:
        for name, size in SIZES.items():
            patch.setattr(rows, name, size)
        for draw in ("picture", "image"):
            patch.setattr(_sections, draw, lambda *_, **__: "data:,")  # as in plots
        yield


@pytest.fixture(scope="module")
def opened(request, tmp_path_factory):
    """Opens the cells in a container."""
    if not hasattr(ad.experimental, "read_lazy") and request.param in ("dask csr", "lazy csr"):
        pytest.skip("this anndata is older than lazy objects")
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "_"))
    return CONTAINERS[request.param](cells(), folder)


def held(adata):
    """What an object holds beside its matrices."""
    return {part: dict(getattr(adata, part)) for part in PARTS}


def give(adata, parts):
    """Put into an object what another holds."""
    for part, values in copy.deepcopy(parts).items():
        for name, value in values.items():
            if name not in getattr(adata, part):
                getattr(adata, part)[name] = value
    return adata


@pytest.fixture(scope="module")
def in_memory():
    """What cells in memory hold before and after every call, and what it returns."""
    adata, found = cells(), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        for name, call in EVERY.items():
            before = copy.deepcopy(held(adata))
            returned = call(adata)
            found[name] = SimpleNamespace(
                before=before, after=copy.deepcopy(held(adata)), returned=returned
            )
    return found


@pytest.fixture(scope="module")
def explored(in_memory):
    """What cells hold in the end; and a path of penalties, for its plot."""
    adata = give(cells(), in_memory[next(reversed(EVERY))].after)
    pp.select_genes(adata, 5, use_rep="X", objective="exact", key_added="path")
    return held(adata)


def same(found, expected, where):
    """Compare to rounding."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), where
        for name, value in expected.items():
            if name not in OF_THE_FILE:
                same(found[name], value, f"{where}[{name!r}]")
    elif isinstance(expected, pd.DataFrame | pd.Series):
        test = getattr(pd.testing, f"assert_{'series' if expected.ndim == 1 else 'frame'}_equal")
        kinds = {"check_categorical": False, "check_dtype": False, "check_index_type": False}
        test(found, expected, rtol=RELATIVE, atol=RELATIVE, obj=where, **kinds)
    elif sparse.issparse(expected):
        same(found.toarray(), expected.toarray(), where)
    else:
        one, other = np.asarray(found), np.asarray(expected)
        if other.dtype.kind == "f":
            least = RELATIVE * np.abs(other[np.isfinite(other)]).max(initial=0.0)
            np.testing.assert_allclose(one, other, rtol=RELATIVE, atol=least, err_msg=where)
        else:
            np.testing.assert_array_equal(one, other, err_msg=where)


@pytest.mark.parametrize(
    ("name", "opened"),
    cases(EVERY, {"select_genes", "evaluate_panel", "markers", "classify"}),
    indirect=["opened"],
)
def test_results_are_those_of_memory(name, opened, in_memory):
    expected = in_memory[name]
    adata = give(opened(), expected.before)
    kind = type(adata.X)
    same(EVERY[name](adata), expected.returned, "returned")
    assert type(adata.X) is kind
    same(held(adata), expected.after, name)


@pytest.mark.parametrize(
    ("name", "opened"), cases(PLOTS, {"dotplot", "panel"}), indirect=["opened"]
)
def test_plots_are_drawn(name, opened, explored):
    if name == "upset" and find_spec("marsilea") is None:
        pytest.skip("marsilea is not installed")
    adata = give(opened(), explored)
    for draw in PLOTS[name]:
        draw(adata, show=False, **({"key": "path"} if name == "path" else {}))
        plt.close("all")


def read_text(path):
    """Texts of a file or an archive, without its date."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return {one: archive.read(one) for one in archive.namelist()}
    return re.sub(r"\d+ (B|kB|KB|MB)", "", path.read_text("utf-8"))


ENDINGS = {"write_gmt": "gmt", "write_reference": "zip", "write_report": "html", "write_rnk": "rnk",
           "write_classifier": "json"}  # fmt: skip


@pytest.fixture(scope="module")
def written(explored, tmp_path_factory):
    """What is written of cells in memory, once for all containers."""

    @cache
    def text(name):
        return texts_of(name, cells(), explored, tmp_path_factory.mktemp(name))

    return text


def texts_of(name, adata, explored, folder):
    path = folder / f"cells.{ENDINGS.get(name, 'csv')}"
    WRITING[name](give(adata, explored), path)
    return read_text(path)


@pytest.mark.parametrize(
    ("name", "opened"), cases(WRITING, {"write_reference"}), indirect=["opened"]
)
def test_files_are_those_of_memory(name, opened, explored, written, tmp_path):
    assert texts_of(name, opened(), explored, tmp_path) == written(name)


class Stages(logging.Handler):
    """Counts records of progress, and interrupts at one of them."""

    def __init__(self, at=None):
        super().__init__()
        self.at, self.seen = at, 0

    def emit(self, record):
        self.seen += hasattr(record, "stage")
        if self.seen == self.at:
            raise KeyboardInterrupt


@contextmanager
def followed(at=None):
    """Hear what the package logs."""
    stages, logger = Stages(at), logging.getLogger("glfs_bio")
    before = logger.level
    logger.addHandler(stages)
    logger.setLevel(logging.INFO)
    try:
        yield stages
    finally:
        logger.setLevel(before)
        logger.removeHandler(stages)


@pytest.fixture
def slices(monkeypatch):
    """Shares of the stored values of X that were read at once; whether all was taken to memory."""
    found = SimpleNamespace(read=[], kept=[])
    plain, loaded = h5py.Dataset.__getitem__, RowMatrix.loaded

    def read(dataset, key, **options):
        values = plain(dataset, key, **options)
        if dataset.name == "/X/data":
            found.read.append(np.size(values) / dataset.size)
        return values

    def kept(matrix):
        all_of_file = matrix.cells is None and matrix.genes is None and not matrix.in_memory
        found.kept.append(all_of_file)
        return loaded(matrix)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", read)
    monkeypatch.setattr(RowMatrix, "loaded", kept)
    monkeypatch.setattr(by_rows, "_PART", SIZES["SPARSE_BLOCK"])
    return found


#: Kept for other calls when it is whole, even if what follows it is interrupted.
KEPT = ("glfs_structure", "glfs_all_genes")


def unexplored(parts):
    """What cells hold, without what is kept of all genes."""
    return {
        part: {name: one for name, one in values.items() if name not in KEPT}
        for part, values in parts.items()
    }


FILES = ("h5ad csr", "h5ad csc")


@pytest.fixture(scope="module", params=FILES)
def in_file(request, tmp_path_factory):
    """Opens the cells in a file of HDF5."""
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "_"))
    return CONTAINERS[request.param](cells(), folder)


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupted_call_leaves_nothing(
    name, in_file, in_memory, slices, tmp_path, monkeypatch
):
    """Whoever reads a file reads parts of it, and says how far it is; Control-C leaves no half."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    state = unexplored(in_memory[name].before)
    with followed() as stages:
        EVERY[name](give(in_file(), state))
    assert max(slices.read, default=0.0) < 1.0
    assert not any(slices.kept)
    assert bool(stages.seen) >= bool(sum(slices.read) > 1.0)
    moments = {stages.seen // 2}
    if in_file().X.format == "csc":  # whose parts wait on the disk
        moments |= {min(1, stages.seen), stages.seen}
    for at in sorted(moments - {0}):
        by_rows._last.clear()  # or a second call is spared a step of the first
        adata = give(in_file(), state)
        before = held(adata)
        with followed(at), pytest.raises(KeyboardInterrupt):
            EVERY[name](adata)
        after = unexplored(held(adata))
        assert {part: list(one) for part, one in after.items()} == {
            part: list(one) for part, one in before.items()
        }
        for part in ("obs", "var"):
            same(after.pop(part), before[part], part)
        assert all(one is before[part][key] for part in after for key, one in after[part].items())
    assert list(tmp_path.iterdir()) == []


def test_two_workers_of_dask(in_memory, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    opened = CONTAINERS["dask csr"](cells(), tmp_path)
    with (
        distributed.LocalCluster(n_workers=2, local_directory=tmp_path, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        for name in ("select_genes", "evaluate_panel", "markers"):
            adata = give(opened(), in_memory[name].before)
            EVERY[name](adata)
            same(held(adata), in_memory[name].after, name)
        monkeypatch.setattr(sample, "MANY_CELLS", 100)
        found, expected = (
            pp.select_genes(adata, 12, use_rep="X", inplace=False) for adata in (opened(), cells())
        )
        same(found, expected, "sampled")
        assert len(client.scheduler_info()["workers"]) == 2
