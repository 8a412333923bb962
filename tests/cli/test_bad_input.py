"""Bad command lines: one line on stderr, an exit code, nothing on stdout, nothing written.

Python's tests have all that is refused.  Here are examples of every kind, by every command.
"""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app

#: Words of the command line, and what the line on stderr must name: the option with its value, the
#: file, or the gene.  ``empty.h5ad`` cannot be read: what is wrong is told before.
DATA = [
    ("select text.h5ad", "text.h5ad"),
    ("select words.csv", "B"),
    ("select cells.h5ad --transpose", "--transpose"),
    ("select cells.h5ad --n-genes 0", "--n-genes 0"),
    ("select cells.h5ad --include CD8AA", "CD8A"),
    ("select cells.h5ad --exclude /[/", "/[/"),
    ("select cells.h5ad --preserve louvain --preserve louvain=2", "--preserve"),
    ('select cells.h5ad --limits {"cost":2}', "cost needs"),
    ('select cells.h5ad --preserve {"target":"louvain"}', "--preserve"),
    ("select cells.h5ad -o cells.h5ad", "cells.h5ad"),
    ("select cells.h5ad -o out.csv", "--output out.csv"),
    ("evaluate empty.h5ad @no.csv", "no.csv"),
    ("evaluate cells.h5ad nope", "PANEL nope"),
    ("evaluate cells.h5ad /^CD/,LYZ", "PANEL"),
    ('extend cells.h5ad CD3D,LYZ --limits {"cost":2,"budget":3}', "budget"),
    ("explain cells.h5ad glfs --labels nope", "--labels nope"),
    ("prove cells.h5ad glfs --time-limit 0", "--time-limit 0.0"),
    ("stability cells.h5ad --key nope", "glfs-bio select"),
    ("enrich cells.h5ad --gene-sets no.gmt", "no.gmt"),
    ("export cells.h5ad genes.doc", "genes.doc"),
    ("export cells.h5ad a.csv --key a --key b", "--key a,b"),
    ("order cells.h5ad glfs --platform xenium_v1 --orderable few.csv", "CST3"),
    ("classify cells.h5ad --labels nope", "--labels nope"),
    ("report cells.h5ad -o r.html --key nope", "--key nope"),
    ("order cells.h5ad glfs --orderable cells.h5ad", "cells.h5ad"),
    ("efficiency cells.h5ad cells.h5ad --counts-layer nope", "--counts-layer nope"),
    ("demo -o no/where.h5ad", "no/where.h5ad"),
    ("select cells.h5ad --limits nope.yaml", "--limits nope.yaml"),
    ("select cells.h5ad --limits nope.json", "--limits nope.json"),
    ('select cells.h5ad --limits {"max":1}', "--limits max"),
    ("structure cells.h5ad --n-neighbors 0", "--n-neighbors 0"),
    ("evaluate cells.h5ad a=glfs a=CD3D,LYZ", "PANEL a=glfs"),
    ("evaluate cells.h5ad glfs --sizes 0", "--sizes"),
    ("evaluate cells.h5ad glfs --sizes 2,a", "--sizes 2,a"),
    ("extend cells.h5ad glfs --platform no.json", "--platform no.json"),
    ("evaluate cells.h5ad glfs -o out.h5ad --tables full", "--tables full"),
    ("evaluate cells.h5ad glfs -o out.h5ad --tables cells.h5ad", "--tables cells.h5ad"),
    ("evaluate cells.h5ad glfs -o out.h5ad --tables no/where", "--tables no/where"),
    ("reference cells.h5ad a.csv --labels louvain", "OUT a.csv"),
    ("export cells.h5ad a.csv ./a.csv", "OUT a.csv"),
    ("select cells.zarr --genes cells.zarr/genes.csv", "--genes cells.zarr/genes.csv"),
    ("explain cells.zarr glfs --tables cells.zarr", "--tables cells.zarr"),
    ("evaluate cells.h5ad glfs -o out.zarr --tables out.zarr", "--tables out.zarr"),
]


@pytest.fixture(scope="module")
def _folder(tmp_path_factory, _pbmc):
    folder = tmp_path_factory.mktemp("inputs")
    adata = _pbmc[::3].copy()
    glfs_bio.pp.select_genes(adata, 5, n_comps=10, include="CST3")
    glfs_bio.pp.structure(adata, n_comps=10)
    adata.write_h5ad(folder / "cells.h5ad")
    adata.write_zarr(folder / "cells.zarr")
    (folder / "full").mkdir()
    for name, text in {
        "full/measures.csv": "",
        "empty.h5ad": "",
        "text.h5ad": "not HDF5",
        "words.csv": "cell,A,B\nc1,1,2\nc2,2,1\nc3,1,x\n",
        "few.csv": "symbol,ensembl_id\nCD3D,ENSG00000167286\n",
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(_folder, monkeypatch):
    monkeypatch.chdir(_folder)
    before = {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()}
    yield _folder
    assert {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()} == before


@pytest.mark.parametrize(("line", "named"), DATA)
def test_data_or_values(folder, line, named):
    result = CliRunner().invoke(app, line.split())
    assert (result.exit_code, result.stdout) == (1, "")
    lines = [text for text in result.stderr.splitlines() if text]
    (error,) = [text for text in lines if "Warning: " not in text and "Note: " not in text]
    assert error.startswith("glfs-bio: ")
    assert named in error
    assert "unexpected" not in error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Usage"),
        ("nonsense", "No such command"),
        ("select", "Missing argument"),
        ("select a b", "unexpected extra argument"),
        ("select a --nope", "No such option"),
        ("select a --n-genes ten", "Invalid value"),
        ("classify a", "Missing option"),
    ],
)
def test_the_line_itself(folder, line, message):
    """The words and the exit code are those of click."""
    result = CliRunner().invoke(app, line.split(), env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("odd"), "RuntimeError: odd (unexpected; --debug shows where)"),
        (ZeroDivisionError(), "ZeroDivisionError:"),
        (KeyError("name"), "name"),
    ],
)
def test_what_nobody_foresaw_is_one_line_too(folder, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("glfs_bio.pp.select_genes", fail)
    result = CliRunner().invoke(app, ["select", "cells.h5ad"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    again = CliRunner().invoke(app, ["select", "cells.h5ad", "--debug"])
    assert again.exception is error
