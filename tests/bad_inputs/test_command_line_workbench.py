"""Bad command lines of the commands for panels: one line, an exit code, and nothing written."""

from __future__ import annotations

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from glfs_bio.cli import app

EVALUATE = "evaluate cells.h5ad glfs"
EXTEND = "extend cells.h5ad CD3D,LYZ"
COMPARE = "compare cells.h5ad a=glfs b=CD3D,LYZ"
CURVE = "curve cells.h5ad"
SELECT = "select cells.h5ad"

#: Words of the command line, and of the message.  Several commands share these options.
STRUCTURE = [
    ("--layer nope", "--layer nope is not in layers"),
    ("--mask-var nope", "--mask-var nope is not a column"),
    ("--batch-key nope", "--batch-key nope is not in obs"),
    ("--use-rep nope", "--use-rep nope is not in obsm"),
    ("--neighbors-key nope", "--neighbors-key nope is not in uns"),
    ("--n-comps -1", "--n-comps -1"),
    ("--n-neighbors 0", "--n-neighbors 0"),
    ("--lambda1 -1", "--lambda1 -1.0"),
    ("--seed -1", "--seed -1"),
    ("--structure-key neighbors", "uns['neighbors'] is not what"),
    ("--symbols nope", "--symbols nope is not a column"),
    ("--missing drop", "--missing drop is not known"),
    ("--key-added=", "--key-added ''"),
    ("--transpose", "--transpose is for tables"),
    ("-o cells.h5ad", "cells.h5ad exists"),
    ("-o out.csv", "--output out.csv must end with .h5ad or .zarr"),
    ("--table t.xls", "--table t.xls must end with .csv or .tsv"),
    ("--table no/t.csv", "folder no does not exist"),
]
LIMITS = [
    ("--min-mean -1", "--min-mean -1.0"),
    ("--min-mean 3 --max-mean 2", "no gene is within both"),
    ("--min-cells 2", "--min-cells 2.0 must be a share"),
    ("--max-cells 2", "--max-cells 2.0 must be a share"),
    ("--min-mean-in-type 1", "name their column with --groupby"),
    ("--max-mean-in-type -1", "--max-mean-in-type -1.0"),
    ("--min-cells-in-type 2", "--min-cells-in-type 2.0"),
    ("--max-cells-in-type 2", "--max-cells-in-type 2.0"),
    ("--max-total-per-cell 9", "name their layer with --counts-layer"),
    ("--max-total-per-cell 9 --counts-layer nope", "--counts-layer nope is not in"),
    ("--max-total-per-type x", "--max-total-per-type x must be a number, or TYPE=NUMBER"),
    ("--max-total-per-type 1 --max-total-per-type 2", "--max-total-per-type 1 must be"),
    ("--max-total-per-type 1=2 --groupby louvain --counts-layer X", "does not look like raw"),
    ("--families nope --per-family 1", "--families nope is not a column of var"),
    ("--families no.gmt --per-family 1", "no.gmt does not exist"),
    ("--per-family 1", "need each other"),
    ("--per-type 999 --groupby louvain", "--per-type 999 (0) cannot be met"),
    ("--per-type 1 --markers no.gmt", "no.gmt does not exist"),
    ("--priority nope", "--priority nope is not a column"),
    ("--groupby louvain", "--groupby louvain changes nothing"),
    ("--counts-layer X", "--counts-layer X changes nothing"),
    ("--cost nope --budget 3", "--cost nope is not a column"),
    ("--cost 2", "--cost and --budget need each other"),
    ("--cost 2 --budget -1", "--budget -1.0"),
]
PRESERVE = [
    ("--preserve nope", "--preserve nope is neither 'structure' nor 'expression' nor in obs"),
    ("--preserve no.txt", "--preserve no.txt is no file"),
    ("--preserve CD8a,LYZ --missing raise", "CD8a: did you mean CD8A?"),
    ("--preserve louvain=much", "--preserve louvain=much must be NAME=WEIGHT"),
    ("--preserve structure --preserve louvain=0", "preserve['louvain']=0.0"),
    ("--preserve louvain=nan", "preserve['louvain']=nan"),
    ("--preserve structure --preserve CD3D,LYZ", "--preserve CD3D,LYZ is a list of genes"),
    ("--preserve CD3D,LYZ=2", "--preserve CD3D,LYZ=2 is a list of genes"),
    ("--preserve louvain --preserve louvain=2", "--preserve has louvain twice"),
    ("--cell-weights nope", "--cell-weights nope is not in obs"),
]
FAILURE = [
    ("--failure nope", "--failure nope is not a column"),
    ("--failure 2", "--failure is above"),
]

DATA = [
    ("evaluate missing.h5ad glfs", "missing.h5ad does not exist"),
    ("evaluate empty.h5ad no.csv", "no.csv does not exist"),
    ("evaluate empty.h5ad @no.csv", "no.csv does not exist"),
    ("evaluate empty.h5ad glfs -o cells.h5ad", "cells.h5ad exists"),
    ("evaluate empty.h5ad glfs --missed cells.h5ad", "--missed cells.h5ad must end with"),
    ("evaluate empty.h5ad glfs --per-label l.csv", "--per-label l.csv needs --labels"),
    ("evaluate cells.h5ad nope", "PANEL nope is no file, no key of a selection (glfs)"),
    ("evaluate cells.h5ad CD8a,NOPE", "CD8a: did you mean CD8A?"),
    ("evaluate cells.h5ad CD8a,LYZ --missing raise", "CD8a: did you mean CD8A?"),
    ("evaluate cells.h5ad /^CD/,LYZ", "it must be a name of a gene"),
    (f"{EVALUATE} --labels nope", "--labels nope is not in obs"),
    (f"{EVALUATE} --counts-layer nope", "--counts-layer nope is not in"),
    (f"{EVALUATE} --n-random -1", "--n-random -1"),
    (f"{EVALUATE} --n-directions 0", "--n-directions 0"),
    *((f"{EVALUATE} {words}", told) for words, told in FAILURE),
    ("extend empty.h5ad glfs --genes no/g.txt", "folder no does not exist"),
    ("extend empty.h5ad glfs --max-cells 2", "--max-cells 2.0"),
    (f"{EXTEND} --n-extra 0", "--n-extra 0"),
    (f"{EXTEND} --n-extra 764", "more than the 763 genes that could be added"),
    (f"{EXTEND} --labels nope", "--labels nope is not in obs"),
    (f"{EXTEND} --exclude nope --missing raise", "--exclude: 'nope'"),
    (f"{EXTEND} --n-extra 5 --cost 2 --budget 3", "--budget 3"),
    *((f"{EXTEND} {words}", told) for words, told in FAILURE),
    *((f"{EXTEND} --n-extra 2 {words}", told) for words, told in PRESERVE),
    *(
        (f"{line} {words}", told)
        for line in (EVALUATE, "substitutes cells.h5ad glfs", "explain cells.h5ad glfs", COMPARE)
        for words, told in (PRESERVE[0], PRESERVE[3], PRESERVE[-1])
    ),
    *((f"{CURVE} {words}", told) for words, told in (PRESERVE[0], PRESERVE[3], PRESERVE[-1])),
    *((f"{SELECT} --n-genes 5 {words}", told) for words, told in FAILURE),
    ("substitutes cells.h5ad glfs --genes CD8a", "CD8a: did you mean CD8A?"),
    ("substitutes cells.h5ad CD3D,LYZ --genes CD8A", "not in the panel: CD8A"),
    ("substitutes cells.h5ad glfs -n 0", "--n 0"),
    ("substitutes cells.h5ad glfs --share -1", "--share -1.0"),
    ("substitutes cells.h5ad glfs --exclude nope --missing raise", "--exclude: 'nope'"),
    ("extend cells.h5ad glfs --n-extra 2 --detection nope", "--detection nope is not a column"),
    ("markers cells.h5ad glfs --labels nope", "--labels nope is not in obs"),
    ("markers cells.h5ad glfs --labels louvain --n-markers 0", "--n-markers 0"),
    ("markers cells.h5ad glfs --labels louvain --beta 0", "--beta 0"),
    ("markers cells.h5ad glfs --labels louvain --layer nope", "--layer nope is not in layers"),
    ("explain cells.h5ad glfs --labels nope", "--labels nope is not in obs"),
    ("explain cells.h5ad glfs --n-labels 0", "--n-labels 0"),
    ("explain cells.h5ad glfs --exclude CD8a --missing raise", "CD8a: did you mean CD8A?"),
    ("compare empty.h5ad a=glfs", "There is one panel (a=glfs)"),
    ("compare empty.h5ad glfs b=CD3D,LYZ", "glfs must be NAME=PANEL"),
    ("compare empty.h5ad a=glfs a=CD3D,LYZ", "a is the name of two panels"),
    ("compare empty.h5ad a=glfs b=no.csv", "no.csv does not exist"),
    ("compare cells.h5ad a=glfs b=nope", "panel='nope' is no file"),
    (f"{COMPARE} --labels nope", "--labels nope is not in obs"),
    (f"{COMPARE} --overlaps o.txt", "--overlaps o.txt must end with .csv or .tsv"),
    (f"{COMPARE} --counts-layer nope", "--counts-layer nope is not in"),
    (f"{COMPARE} --share -1", "--share -1.0"),
    (f"{CURVE} --max-genes 0", "--max-genes 0"),
    (f"{CURVE} --max-genes 766", "more than the 765 genes"),
    (f"{CURVE} --labels nope", "--labels nope is not in obs"),
    (f"{CURVE} --labels louvain --sizes 0", "--sizes 0"),
    (f"{CURVE} --max-genes 5 --sizes 6 --labels louvain", "sizes has 6"),
    (f"{CURVE} --include CD8a", "CD8a: did you mean CD8A?"),
    (f"{CURVE} --exclude nope", "--exclude: 'nope'"),
    *((f"explain cells.h5ad glfs {words}", told) for words, told in STRUCTURE),
    *(
        (f"{line} {words}", told)
        for line in (EVALUATE, EXTEND, "substitutes cells.h5ad glfs", COMPARE, CURVE)
        for words, told in STRUCTURE[:1]
    ),
    *((f"{EXTEND} --n-extra 2 {words}", told) for words, told in LIMITS),
    *((f"{line} {words}", told) for line in (CURVE, SELECT) for words, told in LIMITS[3:4]),
    (f"{CURVE} --max-genes 5 --per-type 999 --groupby louvain", "--per-type 999 (0) cannot be met"),
    (f"{SELECT} --n-genes 5 --cost 2 --budget -1", "--budget -1.0"),
]

#: Options that take no value.
NOTHING_WRONG = {"--log1p", "--overwrite", "--debug", "--help"}


@pytest.fixture(scope="module")
def _folder(tmp_path_factory, _pbmc):
    import glfs_bio

    folder = tmp_path_factory.mktemp("inputs")
    adata = _pbmc[::3].copy()
    glfs_bio.pp.select_genes(adata, 5, n_comps=10)
    glfs_bio.pp.structure(adata, n_comps=10)
    adata.write_h5ad(folder / "cells.h5ad")
    (folder / "empty.h5ad").touch()  # what is wrong with a line is told before it is read
    return folder


@pytest.fixture
def folder(_folder, monkeypatch):
    monkeypatch.chdir(_folder)
    before = {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()}
    yield _folder
    assert {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()} == before


@pytest.mark.parametrize(("line", "message"), DATA)
def test_data_or_values(folder, line, message):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 1, result.output
    told = [text for text in result.stderr.splitlines() if text and "Warning: " not in text]
    assert len(told) == 1
    assert told[0].startswith("glfs-bio: ")
    assert message in told[0]
    assert "unexpected" not in told[0]
    assert result.stdout == ""


@pytest.mark.parametrize(
    "name", ["evaluate", "extend", "substitutes", "explain", "markers", "compare", "curve"]
)
def test_every_option_has_a_row(name):
    words = {word for line, _ in DATA for word in line.replace("=", " ").split()}
    options = [option.opts for option in get_command(app).commands[name].params]
    options = [names for names in options if names[0][0] == "-"]
    assert not [names for names in options if not (words | NOTHING_WRONG) & {*names}]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate cells.h5ad", "Missing argument"),
        ("compare cells.h5ad", "Missing argument"),
        ("extend cells.h5ad glfs --min-mean much", "Invalid value"),
        ("curve cells.h5ad --sizes some", "Invalid value"),
    ],
)
def test_the_line_itself(folder, line, message):
    result = CliRunner().invoke(app, line.split(), env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert message in result.output
