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

from glfs_bio import codec, pl, pp, tl
from glfs_bio._anndata import all_genes, stale, structure
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
    of_all = (structure.KEY, structure.BESIDE, all_genes.KEY)
    for key, entry in other.uns.items():
        assert key in of_all or "made_of" not in entry or stale.stale(other, entry) is None, key
    matrix = other.uns[structure.KEY]["made_of"]["matrix"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Caution)
        for call in CALLS.values():
            call(other)
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


@pytest.fixture
def through_a_file(tmp_path):
    """What a file makes of a value in ``.uns``."""

    def there_and_back(value):
        path = tmp_path / "with.h5ad"
        ad.AnnData(np.ones((3, 2)), uns={"values": {"value": value}}).write_h5ad(path)
        return ad.read_h5ad(path).uns["values"]["value"]

    return there_and_back


def test_values_survive_a_file(through_a_file):
    for value in (None, "name", 5, 0.5, True, ["A", "B"], [3, 1], {"a": 1.0, "b/c": 2.0}):
        assert codec.restored(through_a_file(codec.storable(value))) == value
    limits = Limits(cost={"g0": 1.5}, budget=3, groups={"a/b": ["g0", "g1"]}, per_group=1)
    assert Limits.restored(through_a_file(limits.record())) == limits


def test_patterns_survive_a_file_with_their_flags(through_a_file):
    given = ["CD3D", re.compile("^mt-", re.IGNORECASE), re.compile("^RP[SL]")]
    read = codec.restored(through_a_file(codec.storable(given)))
    name, loose, strict = codec.with_patterns(read)
    assert (name, strict) == ("CD3D", given[2])
    assert loose.match("MT-ND1")
    assert not strict.match("rps3")
