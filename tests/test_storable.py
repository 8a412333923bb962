"""Results can be written to files, and are of use when they are read again."""

from __future__ import annotations

import re
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from every_call import CALLS, LINES, cells, held, same, write_inputs
from typer.testing import CliRunner

from glfs_bio import codec, io, pl, pp, tl
from glfs_bio._anndata import results, structure
from glfs_bio.cli import COMMANDS, app, with_options
from glfs_bio.errors import Caution
from glfs_bio.options import Limits

#: These return a table.
NOT_WRITING = {"estimate_efficiency"}


def test_every_function_is_called():
    assert {*tl.__all__, *pp.__all__} - NOT_WRITING == set(CALLS)


def tables(value):
    if isinstance(value, pd.DataFrame):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from tables(entry)


@pytest.fixture(autouse=True)
def _quick_umaps(quick_umaps):
    with quick_umaps():
        yield


def test_what_is_written_is_read_and_of_use(tmp_path):
    """With the texts of pandas 3, in HDF5; others, and zarr, are those of test_attacks.py."""
    adata = cells()
    with pd.option_context("future.infer_string", True), warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        warnings.simplefilter("ignore", FutureWarning)  # of the option, within pandas
        for call in CALLS.values():
            call(adata)
        adata.copy().write_h5ad(tmp_path / "cells.h5ad")  # which makes categories of texts
    other = ad.read_h5ad(tmp_path / "cells.h5ad")
    for table in tables(held(adata)["uns"]):
        assert all(np.dtype(kind).kind in "biufO" for kind in table.dtypes)
    of_labels = adata.uns["glfs_evaluation"]["per_label"].iloc[:4]  # domains follow
    assert (of_labels["confused_with"] == "").all()
    same(held(other), held(adata), "cells", 0.0)
    for key, entry in other.uns.items():
        if "matrix" in entry["made_of"] and entry["kind"] not in {"structure", "all_genes"}:
            assert results.why_outdated(other, entry) is None, key
    matrix = other.uns[structure.KEY]["made_of"]["matrix"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        for name in ("evaluate_panel", "explain_panel", "extend_panel", "prove_panel"):
            CALLS[name](other)
    assert other.uns[structure.KEY]["made_of"]["matrix"] == matrix
    pl.labels(other, show=False)
    pl.stability(other, show=False)


def test_every_command_that_writes_cells_has_a_line():
    def writes_cells(name: str) -> bool:
        options = with_options(name).params
        return any("-o" in option.opts and ".h5ad" in (option.help or "") for option in options)

    assert {name for name in COMMANDS if writes_cells(name)} - {"demo"} == set(LINES)


def test_the_shell_writes_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    adata = write_inputs()
    warnings.simplefilter("ignore", Caution)
    for command, line in LINES.items():
        done = CliRunner().invoke(app, [command, *line.split(), "-o", f"{command}.h5ad"])
        assert done.exit_code == 0, done.output
        same(ad.read_h5ad(f"{command}.h5ad").uns["glfs"], adata.uns["glfs"], command, 0.0)


def test_values_survive_as_text():
    """Of a request; in files an array of one text stands for it, as R's writers have it."""
    patterns = [re.compile("^mt-", re.IGNORECASE), re.compile("^RP[SL]")]
    values = {"none": None, "names": ["A", *patterns], "shares": {"a/b": 0.1}, "yes": True, "n": 3}
    assert codec.value_of(np.array([codec.text_of(values)], dtype=object)) == values
    numbers = {"rows": np.array([1, 2]), "n": np.int64(3), "share": np.float32(0.5)}
    assert codec.value_of(codec.text_of(numbers)) == {"rows": [1, 2], "n": 3, "share": 0.5}
    limits = Limits(cost={"g0": 1.5}, budget=3, groups={"a/b": ["g0", "g1"]}, per_group=1)
    assert Limits(**codec.value_of(codec.text_of(limits))) == limits
    for value in (None, "name", 5, 0.5, True, {"a": 1.0, "b/c": 2.0}):
        assert codec.restored(codec.storable(value)) == value


def as_others_write(value):
    """What writers in R make of a result: doubles, and arrays of one."""
    if isinstance(value, dict):
        return {name: as_others_write(item) for name, item in value.items()}
    if isinstance(value, str):
        return np.array([value], dtype=object)
    if isinstance(value, int | float | bool | np.number):
        return np.array([float(value)])
    is_whole = isinstance(value, np.ndarray) and value.dtype.kind in "biu"
    return value.astype(float) if is_whole else value


def test_what_other_writers_make_of_it_is_read(pbmc, tmp_path, monkeypatch):
    adata = pbmc[::2, ::3].copy()
    pp.structure(adata, n_neighbors=7)
    options = {"use_rep": structure.KEY, "exclude": re.compile("^HLA", re.IGNORECASE)}
    pp.select_genes(adata, 6, **options)
    tl.evaluate_panel(adata, "glfs", "bulk_labels")
    tl.stability(adata, n_resamples=2)
    tl.order_panel(adata, "glfs", "sheet")
    request, selected = results.request_of(adata, "glfs"), adata.var["glfs_rank"].copy()
    kinds = {key: entry["kind"] for key, entry in adata.uns.items() if "written" in entry}
    for key in kinds:
        adata.uns[key] = as_others_write(adata.uns[key])
    adata.write_h5ad(tmp_path / "cells.h5ad")
    other = ad.read_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.setattr("glfs_bio._anndata.structure.compute", None)
    assert {key: results.kind_of(other.uns[key]) for key in kinds} == kinds
    for key in ("glfs_evaluation", "glfs_stability"):
        assert results.why_outdated(other, other.uns[key], "glfs") is None
    assert repr(results.request_of(other, "glfs")) == repr(request)
    tl.explain_panel(other)
    tl.prove_panel(other)
    pl.curve(other, show=False)
    pl.stability(other, show=False)
    io.write_order(other, tmp_path / "order.csv")
    io.write_report(other, tmp_path / "report.html", basis=False)
    pp.select_genes(other, **request.arguments())
    pd.testing.assert_series_equal(other.var["glfs_rank"], selected)
