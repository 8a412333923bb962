"""Bad command lines of the commands for panels: one line, an exit code, and nothing written."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from glfs_bio.cli import app, with_options

EVALUATE = "evaluate cells.h5ad glfs"
EXTEND = "extend cells.h5ad CD3D,LYZ"
COMPARE = "compare cells.h5ad a=glfs b=CD3D,LYZ"
CURVE = "curve cells.h5ad"
OF_SELECTION = ("substitutes", "explain", "prove")
SELECT = "select cells.h5ad"

#: Words of the command line, and what the line on stderr must name: the option with its value, the
#: file, or the gene.  Several commands share these options.
STRUCTURE = [
    ("--layer nope", "--layer nope"),
    ("--batch-key nope", "--batch-key nope"),
    ("--use-rep nope", "--use-rep nope"),
    ("--neighbors-key nope", "--neighbors-key nope"),
    ("--n-comps -1", "--n-comps -1"),
    ("--n-neighbors 0", "--n-neighbors 0"),
    ("--lambda1 -1", "--lambda1 -1.0"),
    ("--seed -1", "--seed -1"),
    ("--symbols nope", "--symbols nope"),
    ("--key-added=", "--key-added"),
    ("--transpose", "--transpose"),
    ("--modality nope", "--modality nope"),
    ("--var-names gene_ids", "--var-names"),
    ("-o cells.h5ad", "cells.h5ad"),
    ("-o out.csv", "--output out.csv"),
    ("--table t.xls", "--table t.xls"),
    ("--table no/t.csv", "no"),
]
LIMITS = [
    ("--min-mean -1", "--min-mean -1.0"),
    ("--min-mean 3 --max-mean 2", "--min-mean 3.0"),
    ("--min-cells 2", "--min-cells 2.0"),
    ("--max-cells 2", "--max-cells 2.0"),
    ("--min-mean-in-type 1", "--groupby"),
    ("--max-mean-in-type -1", "--max-mean-in-type -1.0"),
    ("--min-cells-in-type 2", "--min-cells-in-type 2.0"),
    ("--max-cells-in-type 2", "--max-cells-in-type 2.0"),
    ("--min-counts 3 --max-counts 2 --counts-layer X", "--min-counts 3.0"),
    ("--max-counts 2", "--counts-layer"),
    ("--min-counts-in-type 1 --counts-layer X", "--groupby"),
    ("--max-counts-in-type -1 --counts-layer X", "--max-counts-in-type -1.0"),
    ("--groups nope --per-group T=1", "--groups nope"),
    ("--groups nope --per-group T=3:1", "--per-group"),
    ("--per-group T", "--per-group T"),
    ("--max-total-per-cell 9", "--counts-layer"),
    ("--max-total-per-cell 9 --counts-layer nope", "--counts-layer nope"),
    ("--max-total-per-type x", "--max-total-per-type x"),
    ("--max-total-per-type 1 --max-total-per-type 2", "--max-total-per-type 1"),
    ("--max-total-per-type 1=2 --groupby louvain --counts-layer X", "--counts-layer"),
    ("--families nope --per-family 1", "--families"),
    ("--families no.gmt --per-family 1", "no.gmt"),
    ("--per-family 1", "--per-family"),
    ("--per-type 1 --markers no.gmt", "no.gmt"),
    ("--priority nope", "--priority nope"),
    ("--groupby louvain", "--groupby louvain"),
    ("--counts-layer X", "--counts-layer X"),
    ("--cost nope --budget 3", "--cost nope"),
    ("--cost 2", "--cost"),
    ("--cost 2 --budget -1", "--budget -1.0"),
]
PRESERVE = [
    ("--preserve nope", "--preserve nope"),
    ("--preserve no.txt", "--preserve no.txt"),
    ("--preserve louvain=much", "--preserve"),
    ("--preserve structure --preserve louvain=0", "--preserve"),
    ("--preserve louvain=nan", "--preserve"),
    ("--preserve structure --preserve CD3D,LYZ", "--preserve CD3D,LYZ"),
    ("--preserve CD3D,LYZ=2", "--preserve"),
    ("--preserve louvain --preserve louvain=2", "--preserve"),
    ("--cell-weights nope", "--cell-weights nope"),
]
PLATFORM = [
    ("--failure nope", "--failure nope"),
    ("--failure 2", "--failure"),
    ("--platform x --failure 2", "--failure"),
    ("--orderable nope", "--platform"),
    ("--orderable glfs_selected --min-probes 0", "--min-probes 0"),
    ("--efficiency 1 --spread -1", "--spread -1"),
    ("--efficiency 1 --case best", "--case best"),
    ("--signal nope", "--signal nope"),
    ("--spillover 1", "--spillover 1"),
    ("--spillover 0.1 --spillover-to nope", "--spillover-to nope"),
    ("--off-target 2", "--off-target"),
    ("--off-target 0.1 --max-off-target -1", "--max-off-target -1"),
    ("--codebook nope.csv", "--codebook nope.csv"),
]
TOTALS = [
    ("--max-total-per-bit 9", "--counts-layer"),
    ("--max-total-per-cell 9 --counts-layer X --expected-counts nope", "--expected-counts"),
    ("--together nope.txt", "nope.txt"),
]

SPACE = [
    ("--domains nope", "--domains nope"),
    ("--domains louvain --spatial nope", "--spatial nope"),
    ("--domains louvain --spatial X_umap --library-key nope", "--library-key nope"),
]

DATA = [
    ("evaluate missing.h5ad glfs", "missing.h5ad"),
    ("evaluate empty.h5ad no.csv", "no.csv"),
    ("evaluate empty.h5ad @no.csv", "no.csv"),
    ("evaluate empty.h5ad glfs -o cells.h5ad", "cells.h5ad"),
    ("evaluate empty.h5ad glfs --unexplained cells.h5ad", "--unexplained cells.h5ad"),
    ("evaluate empty.h5ad glfs --per-label l.csv", "--per-label l.csv"),
    ("evaluate empty.h5ad glfs --per-set l.csv", "--per-set l.csv"),
    ("evaluate empty.h5ad glfs --gene-sets no.gmt", "no.gmt"),
    ("evaluate cells.h5ad nope", "PANEL nope"),
    ("evaluate cells.h5ad CD8a,NOPE", "CD8A"),
    ("evaluate cells.h5ad /^CD/,LYZ", "PANEL"),
    (f"{EVALUATE} --labels nope", "--labels nope"),
    (f"{EVALUATE} --counts-layer nope", "--counts-layer nope"),
    (f"{EVALUATE} --n-random -1", "--n-random -1"),
    *((f"{line} --readings knn,svm", "--readings svm") for line in (EVALUATE, COMPARE, CURVE)),
    (f"{EVALUATE} --n-axes 0", "--n-axes 0"),
    *((f"{line} {words}", told) for line in (EVALUATE, COMPARE) for words, told in SPACE),
    *((f"{EVALUATE} {words}", told) for words, told in PLATFORM),
    ("extend empty.h5ad glfs --genes no/g.txt", "no"),
    ("extend empty.h5ad glfs --max-cells 2", "--max-cells 2.0"),
    (f"{EXTEND} --n-extra 0", "--n-extra 0"),
    (f"{EXTEND} --n-extra 764", "--n-extra 764"),
    (f"{EXTEND} --labels nope", "--labels nope"),
    (f"{EXTEND} --across worst", "--across worst"),
    (f"{EXTEND} --across best", "--across best"),
    (f"{EXTEND} --n-extra 5 --cost 2 --budget 3", "budget=3"),
    *((f"{EXTEND} {words}", told) for words, told in PLATFORM),
    *((f"{EXTEND} --n-extra 2 {words}", told) for words, told in PRESERVE),
    *(
        (f"{line} {words}", told)
        for line in (EVALUATE, *(f"{name} cells.h5ad glfs" for name in OF_SELECTION), COMPARE)
        for words, told in (PRESERVE[0], PRESERVE[3], PRESERVE[-1])
    ),
    *((f"{CURVE} {words}", told) for words, told in (PRESERVE[0], PRESERVE[3], PRESERVE[-1])),
    *((f"{SELECT} --n-genes 5 {words}", told) for words, told in PLATFORM),
    ("replace cells.h5ad glfs --failed CD8a", "CD8A"),
    ("replace cells.h5ad CD3D,LYZ --failed CD8A", "CD8A"),
    ("replace cells.h5ad CD3D,LYZ --failed LYZ --across worst", "--across worst"),
    ("replace cells.h5ad CD3D,LYZ --failed LYZ --genes no/g.txt", "no"),
    ("gene cells.h5ad glfs --gene CD8a", "CD8A"),
    ("gene cells.h5ad glfs --gene CD8A --n-labels 0", "--n-labels 0"),
    ("prove cells.h5ad glfs --tolerance 1", "--tolerance 1.0"),
    ("prove cells.h5ad glfs --time-limit 0", "--time-limit 0.0"),
    ("prove cells.h5ad nope", "PANEL nope"),
    ("prove cells.h5ad CD3D,LYZ --ignore nope", "--ignore"),
    ("substitutes cells.h5ad glfs --replace CD8a", "CD8A"),
    ("substitutes cells.h5ad CD3D,LYZ --replace CD8A", "CD8A"),
    ("substitutes cells.h5ad glfs -n 0", "--n 0"),
    ("substitutes cells.h5ad glfs --min-score -1", "--min-score -1.0"),
    ("extend cells.h5ad glfs --n-extra 2 --efficiency nope", "--efficiency nope"),
    ("markers cells.h5ad glfs --labels nope", "--labels nope"),
    ("markers cells.h5ad glfs --labels louvain --n-markers 0", "--n-markers 0"),
    ("markers cells.h5ad glfs --labels louvain --beta 0", "--beta 0"),
    ("markers cells.h5ad glfs --labels louvain --layer nope", "--layer nope"),
    ("explain cells.h5ad glfs --labels nope", "--labels nope"),
    ("explain cells.h5ad glfs --n-labels 0", "--n-labels 0"),
    ("compare empty.h5ad a=glfs", "NAME=PANEL... a=glfs"),
    ("compare empty.h5ad glfs b=CD3D,LYZ", "NAME=PANEL... glfs"),
    ("compare empty.h5ad a=glfs a=CD3D,LYZ", "NAME=PANEL... a=CD3D,LYZ"),
    ("compare empty.h5ad a=glfs b=no.csv", "no.csv"),
    ("compare empty.h5ad a=glfs b=CD3D --gene-sets no.gmt", "no.gmt"),
    ("compare cells.h5ad a=glfs b=nope", "nope"),
    (f"{COMPARE} --labels nope", "--labels nope"),
    (f"{COMPARE} --overlaps o.txt", "--overlaps o.txt"),
    (f"{COMPARE} --counts-layer nope", "--counts-layer nope"),
    (f"{CURVE} --max-genes 0", "--max-genes 0"),
    (f"{CURVE} --max-genes 766", "--max-genes 766"),
    (f"{CURVE} --labels nope", "--labels nope"),
    (f"{CURVE} --labels louvain --sizes 0", "--sizes 0"),
    (f"{CURVE} --max-genes 5 --sizes 6 --labels louvain", "--sizes"),
    (f"{CURVE} --include CD8a", "CD8A"),
    (f"{CURVE} --exclude nope", "--exclude"),
    *((f"explain cells.h5ad glfs {words}", told) for words, told in STRUCTURE),
    *(
        (f"{line} {words}", told)
        for line in (EVALUATE, EXTEND, "substitutes cells.h5ad glfs", COMPARE, CURVE)
        for words, told in STRUCTURE[:1]
    ),
    *(
        (f"{line} --ignore nope", "--ignore")
        for line in (EVALUATE, EXTEND, "substitutes cells.h5ad glfs", COMPARE, CURVE)
    ),
    ("explain cells.h5ad glfs --ignore nope", "--ignore"),
    ("replace cells.h5ad CD3D,LYZ --failed LYZ --ignore nope", "--ignore"),
    ("gene cells.h5ad glfs --gene CD8A --ignore nope", "--ignore"),
    *((f"{EXTEND} --n-extra 2 {words}", told) for words, told in LIMITS),
    *((f"{line} {words}", told) for line in (CURVE, SELECT) for words, told in LIMITS[3:4]),
    *((f"{EXTEND} --n-extra 2 {words}", told) for words, told in TOTALS),
    *((f"{CURVE} --max-genes 5 {words}", told) for words, told in TOTALS),
    (f"{SELECT} --n-genes 5 --cost 2 --budget -1", "--budget -1.0"),
]

#: Options that take no value.
NOTHING_WRONG = {"--backed", "--log1p", "--nearly-identical", "--overwrite", "--debug", "--help"}


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


@pytest.mark.parametrize(("line", "named"), DATA)
def test_data_or_values(folder, only_own_options, line, named):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 1, result.output
    lines = filter(None, result.stderr.splitlines())
    told = [text for text in lines if "Warning: " not in text and "Note: " not in text]
    assert len(told) == 1
    assert told[0].startswith("glfs-bio: ")
    assert named in told[0]
    only_own_options(line.split()[0], told[0])
    assert "unexpected" not in told[0]
    assert result.stdout == ""


@pytest.mark.parametrize(
    "name",
    [
        *("evaluate", "extend", "substitutes", "replace", "explain", "gene", "markers"),
        *("compare", "curve", "prove"),
    ],
)
def test_every_option_has_a_row(name):
    words = {word for line, _ in DATA for word in line.replace("=", " ").split()}
    options = [option.opts for option in with_options(name).params]
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
