"""Bad command lines: one line on stderr, an exit code, nothing on stdout, nothing written.

Python's tests have all that is refused.  Here are examples of every kind, by every command.
"""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import COMMANDS, app, with_options

#: Words of the command line, and what the line on stderr must name: the option with its value, the
#: file, or the gene.  ``empty.h5ad`` cannot be read: what is wrong is told before.
DATA = [
    ("select missing.h5ad", "missing.h5ad"),
    ("select text.h5ad", "text.h5ad"),
    ("select words.csv", "B"),
    ("select cells.h5ad --transpose", "--transpose"),
    ("select cells.h5ad --var-names gene_ids", "--var-names"),
    ("select cells.h5ad --log1p --backed", "--log1p"),
    ("select cells.h5ad --also cells.h5ad", "--also"),
    ("select cells.h5ad --also empty.h5ad --lambda1 3", "--lambda1"),
    ("select cells.h5ad --n-genes 0", "--n-genes 0"),
    ("select cells.h5ad --lam nan", "--lam nan"),
    ("select cells.h5ad --lam x", "--lam x"),
    ("select cells.h5ad --include CD8a", "CD8A"),
    ("select cells.h5ad --exclude ^MT-", "^MT-"),
    ("select cells.h5ad --exclude /[/", "/[/"),
    ("select cells.h5ad --include @no.txt", "no.txt"),
    ("select cells.h5ad --preserve CD3D=x", "--preserve"),
    ("select cells.h5ad --preserve CD3D,LYZ=2", "--preserve"),
    ("select cells.h5ad --preserve louvain --preserve louvain=2", "--preserve"),
    ("select cells.h5ad --efficiency no.csv", "--efficiency no.csv"),
    ("select cells.h5ad --spillover-to nope", "--spillover-to nope"),
    ("select cells.h5ad --platform x --failure 2", "--failure has"),
    ("select cells.h5ad --failure CD3D=x", "--failure CD3D=x"),
    ("select cells.h5ad --per-group T", "--per-group T"),
    ("select cells.h5ad --max-total-per-type 1 --max-total-per-type 2", "--max-total-per-type 1"),
    ("select cells.h5ad --cost 2", "--cost"),
    ("select cells.h5ad -o cells.h5ad", "cells.h5ad"),
    ("select cells.h5ad -o out.csv", "--output out.csv"),
    ("select cells.h5ad --genes no/out.txt", "no"),
    ("rank empty.h5ad --method variance", "--n-genes"),
    ("rank cells.h5ad --symbols nope", "--symbols nope"),
    ("evaluate empty.h5ad @no.csv", "no.csv"),
    ("evaluate empty.h5ad glfs --per-label l.csv", "--per-label l.csv"),
    ("evaluate empty.h5ad glfs --per-set s.csv", "--per-set s.csv"),
    ("evaluate cells.h5ad nope", "PANEL nope"),
    ("evaluate cells.h5ad /^CD/,LYZ", "PANEL"),
    ("evaluate cells.h5ad glfs --measures labels,svm", "--measures svm"),
    ("extend empty.h5ad glfs --max-cells 2", "--max-cells 2.0"),
    ("extend cells.h5ad glfs --priority nope", "--priority nope"),
    ("extend cells.h5ad CD3D,LYZ --n-extra 5 --cost 2 --budget 3", "budget=3"),
    ("substitutes cells.h5ad CD3D,LYZ --replace CD8A", "CD8A"),
    ("replace cells.h5ad glfs --failed CD8a", "CD8A"),
    ("explain cells.h5ad glfs --labels nope", "--labels nope"),
    ("gene cells.h5ad glfs --gene CD8A --n-labels 0", "--n-labels 0"),
    ("prove cells.h5ad glfs --time-limit 0", "--time-limit 0.0"),
    ("markers cells.h5ad glfs --labels louvain --beta 0", "--beta 0"),
    ("evaluate empty.h5ad glfs b=CD3D,LYZ", "PANEL glfs"),
    ("evaluate empty.h5ad a=glfs a=CD3D,LYZ", "PANEL a=CD3D,LYZ"),
    ("evaluate cells.h5ad glfs --sizes 0", "--sizes 0"),
    ("evaluate cells.h5ad glfs --sizes some", "--sizes some"),
    ("stability cells.h5ad --key nope", "glfs-bio select"),
    ("classify cells.h5ad --labels louvain --n-comps many", "--n-comps many"),
    ("classify cells.h5ad --labels louvain --model m.pkl", "--model m.pkl"),
    ("predict cells.h5ad bad.json", "bad.json"),
    ("enrich cells.h5ad --gene-sets bad.gmt", "bad.gmt"),
    ("export cells.h5ad genes.doc", "genes.doc"),
    ("export cells.h5ad a.csv --key a --key b", "--key a,b"),
    ("export cells.h5ad a.txt --column x", "--column x"),
    ("export cells.h5ad a.txt --threshold 0.5", "--threshold"),
    ("export cells.h5ad a.gmt --threshold 0.5", "glfs-bio stability"),
    ("report cells.h5ad -o r.html --markers-key x", "x"),
    ("report cells.h5ad -o r.html --link ftp://x", "--link ftp://x"),
    ("order cells.h5ad glfs --platform xenium_v1 --orderable few.csv", "CST3"),
    ("order cells.h5ad glfs --platform xenium_v1 --order order.xlsx", "order.xlsx"),
    ("order cells.h5ad glfs --reference a.zip", "--labels and --counts"),
    ("order cells.h5ad glfs --orderable cells.h5ad", "cells.h5ad"),
    ("efficiency cells.h5ad cells.h5ad --counts-layer nope", "--counts-layer nope"),
    ("demo -o no/where", "no/where"),
]


@pytest.fixture(scope="module")
def _folder(tmp_path_factory, _pbmc):
    folder = tmp_path_factory.mktemp("inputs")
    adata = _pbmc[::3].copy()
    glfs_bio.pp.select_genes(adata, 5, n_comps=10, include="CST3")
    glfs_bio.pp.structure(adata, n_comps=10)
    adata.write_h5ad(folder / "cells.h5ad")
    for name, text in {
        "empty.h5ad": "",
        "text.h5ad": "not HDF5",
        "words.csv": "cell,A,B\nc1,1,2\nc2,2,1\nc3,1,x\n",
        "few.csv": "symbol,ensembl_id\nCD3D,ENSG00000167286\n",
        "bad.gmt": "one word\n",
        "bad.json": "{}",
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(_folder, monkeypatch):
    monkeypatch.chdir(_folder)
    before = {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()}
    yield _folder
    assert {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()} == before


def unknown_options(name: str, text: str) -> list[str]:
    """Options that a message of a command names, and that no command has."""
    unknown = []
    for other, option in re.findall(r"(?:glfs-bio (\w+) )?(?<!\S)(--[a-z][a-z\d-]*[a-z\d])", text):
        params = with_options(other or name).params
        if not any(option in (*one.opts, *one.secondary_opts) for one in params):
            unknown.append(option)
    return unknown


@pytest.mark.parametrize(("line", "named"), DATA)
def test_data_or_values(folder, line, named):
    result = CliRunner().invoke(app, line.split())
    assert (result.exit_code, result.stdout) == (1, "")
    lines = [text for text in result.stderr.splitlines() if text]
    (error,) = [text for text in lines if "Warning: " not in text and "Note: " not in text]
    assert error.startswith("glfs-bio: ")
    assert named in error
    assert "unexpected" not in error
    assert not unknown_options(line.split()[0], error)


def test_every_command_has_a_bad_line():
    assert {line.split()[0] for line, _ in DATA} == set(COMMANDS)


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
        (MemoryError("no 8 GB"), "there is not enough memory: no 8 GB"),
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
