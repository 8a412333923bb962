from __future__ import annotations

import io
import shlex
import shutil

import numpy as np
import pandas as pd
import pytest
from every_call import write_inputs
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app

CATALOGUE = ["LYZ", "CD3D", "CD79A", "NKG7"]


@pytest.fixture(scope="session")
def catalogue():
    """Genes of a panel, which is a column of the cells and a file, too."""
    return CATALOGUE


@pytest.fixture(scope="session")
def _folder(tmp_path_factory, _pbmc):
    """Half of the blood cells, in a file: a selection of 8 genes and its 20 principal axes."""
    folder = tmp_path_factory.mktemp("cells")
    adata = _pbmc[::2].copy()
    adata.var["id"] = "id " + adata.var_names
    adata.var["catalogue"] = adata.var_names.isin(CATALOGUE)
    adata.var["price"] = 2.0
    adata.layers["counts"] = np.ceil(np.expm1(adata.X.toarray()))
    glfs_bio.pp.select_genes(adata, n_genes=8, n_comps=20)
    glfs_bio.pp.structure(adata, n_comps=20)
    adata.write_h5ad(folder / "cells.h5ad")
    (folder / "catalogue.csv").write_text("gene,n\n" + "".join(f"{g},1\n" for g in CATALOGUE))
    return folder


@pytest.fixture(scope="session")
def _cells(_folder):
    return glfs_bio.io.read_cells(_folder / "cells.h5ad")


@pytest.fixture
def cells(_cells):
    """Those of ``cells.h5ad``."""
    return _cells.copy()


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a line of the shell in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda line, **options: CliRunner().invoke(app, shlex.split(line), **options)


@pytest.fixture(scope="session")
def _inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        write_inputs()
    return folder


@pytest.fixture
def copied_inputs(tmp_path, _inputs):
    """Put the files for the lines of ``every_call`` beside a line; return the cells."""

    def copied_inputs():
        shutil.copytree(_inputs, tmp_path, dirs_exist_ok=True)
        return glfs_bio.io.read_cells(tmp_path / "IN.h5ad")

    return copied_inputs


@pytest.fixture
def on_cells(run, tmp_path, _folder):
    """Run a line beside ``cells.h5ad`` and ``catalogue.csv``; it must succeed."""
    shutil.copytree(_folder, tmp_path, dirs_exist_ok=True)

    def on_cells(line):
        result = run(line)
        assert result.exit_code == 0, result.output
        return result

    return on_cells


@pytest.fixture
def table(on_cells):
    """The table that such a line prints, and what it says of it."""

    def table(line):
        result = on_cells(line)
        text = io.StringIO(result.stdout)
        frame = pd.read_csv(text, sep="\t", keep_default_na=False, na_values=[""])
        return frame, result.stderr

    return table
