"""Results can be written to files, and are of use when they are read again."""

from __future__ import annotations

import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from every_call import CALLS, LINES, cells, write_inputs
from typer.testing import CliRunner

from glfs_bio import pl, pp, tl
from glfs_bio._anndata import all_genes, stale, structure
from glfs_bio.cli import COMMANDS, app, with_options
from glfs_bio.errors import Caution

#: These return a table.
NOT_WRITING = {"estimate_efficiency", "recorded_parameters"}
FILES = {
    "h5ad": (ad.AnnData.write_h5ad, ad.read_h5ad),
    "zarr": (ad.AnnData.write_zarr, ad.read_zarr),
}


def test_every_function_is_called():
    assert {*tl.__all__, *pp.__all__} - NOT_WRITING == set(CALLS)


@pytest.fixture(scope="module", params=["object", "str"])
def written(request):
    """An object with the results of every function, with each of pandas' texts."""
    adata = cells()
    strings = request.param == "str"
    with pd.option_context("future.infer_string", strings), warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        warnings.simplefilter("ignore", FutureWarning)  # of the option, within pandas
        for call in CALLS.values():
            call(adata)
    assert (adata.uns["glfs_evaluation"]["per_label"]["confused_with"] == "").all()
    return adata, strings


@pytest.fixture(scope="module", params=FILES)
def read(request, written, tmp_path_factory):
    adata, strings = written
    path = tmp_path_factory.mktemp("written") / f"cells.{request.param}"
    write, read = FILES[request.param]
    with pd.option_context("future.infer_string", strings):
        write(adata.copy(), path)  # anndata makes categories of texts on the way
    return read(path)


def same(found, kept, where):
    """Compare, but for containers of numbers, which files have of their own."""
    if isinstance(kept, dict):
        assert set(found) == set(kept), where
        for name, value in kept.items():
            same(found[name], value, f"{where}[{name}]")
    elif isinstance(kept, pd.DataFrame):
        assert all(kind.kind in "biufO" for kind in map(np.dtype, kept.dtypes)), where
        # pandas 3 reads texts as strings of its own
        plain = {"check_column_type": False, "check_index_type": False}
        pd.testing.assert_frame_equal(found.astype(kept.dtypes), kept, obj=where, **plain)
    else:
        one, other = np.asarray(found), np.asarray(kept)
        assert one.dtype.kind == other.dtype.kind or {one.dtype.kind, other.dtype.kind} <= {*"OUT"}
        np.testing.assert_array_equal(one, other, err_msg=where)


def test_what_is_written_is_read(written, read):
    adata, _ = written
    for part in ("obs", "var"):
        kept, found = getattr(adata, part), getattr(read, part)
        ours = [name for name in kept if name.startswith("glfs")]
        assert len(ours) > 2
        for name in ours:
            as_kept = found[name].astype(kept[name].dtype)
            pd.testing.assert_series_equal(as_kept, kept[name], check_index_type=False)
            categories = getattr(kept[name].dtype, "categories", kept[name])
            assert np.dtype(categories.dtype).kind in "biufO"
    for part in ("obsm", "varm", "uns"):
        same(dict(getattr(read, part)), dict(getattr(adata, part)), part)


def test_results_are_of_the_object_that_is_read(read):
    """None is outdated, and functions go on with what they find."""
    for key, entry in read.uns.items():
        if key not in (structure.KEY, structure.BESIDE, all_genes.KEY) and "made_of" in entry:
            assert stale.stale(read, entry) is None, key
    matrices = {key: read.uns[key]["made_of"]["matrix"] for key in (structure.KEY,)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        for call in CALLS.values():
            call(read)
    assert {key: read.uns[key]["made_of"]["matrix"] for key in matrices} == matrices
    pl.labels(read, show=False)
    pl.stability(read, show=False)


def test_every_command_that_writes_cells_has_a_line():
    def writes_cells(name: str) -> bool:
        options = with_options(name).params
        return any("-o" in one.opts and ".h5ad" in (one.help or "") for one in options)

    assert {name for name in COMMANDS if writes_cells(name)} == set(LINES)


@pytest.mark.parametrize("command", LINES)
def test_the_shell_writes_cells(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adata = write_inputs()
    found = CliRunner().invoke(app, [command, *LINES[command].split(), "-o", "out.h5ad"])
    assert found.exit_code == 0, found.output
    same(dict(ad.read_h5ad("out.h5ad").uns["glfs"]), dict(adata.uns["glfs"]), "glfs")
