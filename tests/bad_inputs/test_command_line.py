"""Bad command lines: one line on stderr, an exit code, nothing on stdout, nothing written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from glfs_bio.cli import app

#: words of the command line, words of the message
DATA = [
    ("select missing.h5ad", "missing.h5ad does not exist"),
    ("select broken.h5ad", "broken.h5ad cannot be read as .h5ad"),
    ("select text.h5ad", "text.h5ad cannot be read as .h5ad"),
    ("select panel.doc", "ending that is not known"),
    ("select .", "must have one file matrix.mtx"),
    ("select words.csv", "columns that are not numbers: B"),
    ("select empty.csv", "empty.csv cannot be read as .csv"),
    ("select nan.csv", "X has NaN"),
    ("select twins.csv", "duplicates (A)"),
    ("select constant.csv", "No gene varies"),
    ("select two.csv", "There are 2 cells: at least 3"),
    ("select one.csv", "There is 1 gene"),
    ("select panel.h5ad --n-genes 0", "--n-genes 0 must be an integer ≥ 1"),
    ("select panel.h5ad --n-genes -4", "--n-genes -4"),
    ("select panel.h5ad --n-genes 766", "more than the 765 genes"),
    ("select panel.h5ad --method magic", "--method magic is not known"),
    ("select panel.h5ad --method variance", "only --method glfs chooses a number"),
    ("select panel.h5ad --objective x", "--objective x is not known"),
    ("select panel.h5ad --lam x", "'x' must be a number, or line_search"),
    ("select panel.h5ad --lam -1", "--lam -1.0 must be a finite number > 0"),
    ("select panel.h5ad --lam nan", "--lam nan"),
    ("select panel.h5ad --lam 1", "--lam 1.0"),
    ("select panel.h5ad --objective exact --lam 1e12", "leaves no gene"),
    ("select panel.h5ad --lambda1 -1", "--lambda1 -1.0 must be a finite number ≥ 0"),
    ("select panel.h5ad --lambda1 nan", "--lambda1 nan"),
    ("select panel.h5ad --n-comps -1", "--n-comps -1"),
    (
        "select panel.h5ad --preserve nope",
        "--preserve nope is neither 'structure' nor 'expression' nor in",
    ),
    ("select panel.h5ad --preserve CD3D=x", "--preserve CD3D=x must be NAME=WEIGHT"),
    ("select panel.h5ad --cell-weights nope", "--cell-weights nope is not in obs"),
    ("select panel.h5ad --use-rep nope", "--use-rep nope is not in obsm"),
    ("select panel.h5ad --neighbors-key nope", "--neighbors-key nope is not in uns"),
    ("select panel.h5ad --n-neighbors 0", "--n-neighbors 0"),
    ("select panel.h5ad --layer nope", "--layer nope is not in layers"),
    ("select panel.h5ad --mask-var nope", "--mask-var nope is not a column"),
    ("select panel.h5ad --mask-var glfs_score", "--mask-var must be boolean"),
    ("select panel.h5ad --include nope", "--include: 'nope' is neither"),
    ("select panel.h5ad --include CD3D --exclude CD3D", "rule out: CD3D"),
    ("select panel.h5ad --include CD3D --include CD79A --n-genes 1", "--include has 2 genes"),
    ("select panel.h5ad --exclude /nope/", "matches none"),
    ("select panel.h5ad --exclude /nope/ --missing drop", "--missing drop is not known"),
    ("select panel.h5ad --include CD8a,x", "'CD8a', 'x' are neither"),
    ("select panel.h5ad --include CD8a", "CD8a: did you mean CD8A?"),
    ("select panel.h5ad --exclude ^MT-", "^MT- looks like a pattern: write it between slashes"),
    ("select panel.h5ad --exclude tcr", "no gene of the family 'tcr'"),
    ("select panel.h5ad --include @no.txt", "no.txt does not exist"),
    ("select panel.h5ad --include @panel.doc", "panel.doc has an ending that is not known"),
    ("select panel.h5ad --symbols nope", "--symbols nope is not a column"),
    ("select panel.h5ad --exclude /[/", "/[/ is not a regular expression"),
    ("select panel.h5ad --exclude /./", "--exclude leaves no gene"),
    ("select panel.h5ad --batch-key nope", "--batch-key nope is not in obs"),
    ("select panel.h5ad --detection nope", "--detection nope is not a column"),
    ("select panel.h5ad --structure-key neighbors", "uns['neighbors'] is not what"),
    ("select panel.h5ad --across worst", "--across worst compares batches"),
    ("select panel.h5ad --batch-key phase --across best", "--across best is not known"),
    ("select panel.h5ad --also panel.h5ad", "--also names a file that is given already"),
    ("select panel.h5ad --also no.h5ad", "no.h5ad does not exist"),
    ("select panel.h5ad --batch-key phase --neighbors-key neighbors", "cannot be combined"),
    ("select panel.h5ad --key-added a/b", "must not have a slash"),
    ("select panel.h5ad --key-added=", "--key-added ''"),
    ("select panel.h5ad --seed -1", "--seed -1"),
    ("select panel.h5ad --seed 5000000000", "--seed 5000000000"),
    ("select panel.h5ad --transpose", "--transpose is for tables"),
    ("select panel.h5ad -o panel.h5ad", "panel.h5ad exists"),
    ("select panel.h5ad -o out.csv", "--output out.csv must end with"),
    ("select panel.h5ad -o no/out.h5ad", "folder no does not exist"),
    ("select panel.h5ad --genes no/out.txt", "folder no does not exist"),
    ("select panel.h5ad --failure 2", "--failure is above 1"),
    ("stability panel.h5ad --key nope", "--key nope is not in uns"),
    ("stability panel.h5ad --n-resamples 1", "--n-resamples 1"),
    ("stability panel.h5ad --fraction 1", "--fraction 1.0 must be below 1"),
    ("stability panel.h5ad --n-jobs 0", "--n-jobs 0"),
    ("stability panel.h5ad --key-added a/b", "must not have a slash"),
    ("stability panel.h5ad --seed -1", "--seed -1"),
    ("stability panel.h5ad -o panel.h5ad", "panel.h5ad exists"),
    ("stability panel.h5ad --table t.xls", "must end with .csv or .tsv"),
    ("rank panel.h5ad --method nope", "--method nope"),
    ("rank panel.h5ad --table t.xls", "must end with .csv or .tsv"),
    ("rank panel.h5ad --structure-key neighbors", "uns['neighbors'] is not what"),
    ("rank panel.h5ad --symbols nope", "--symbols nope"),
    ("rank panel.h5ad --n-neighbors 0", "--n-neighbors 0"),
    ("classify panel.h5ad --groupby nope", "--groupby nope"),
    ("classify panel.h5ad --groupby percent_mito", "dtype float32"),
    ("classify panel.h5ad --groupby louvain --n-comps many", "--n-comps many"),
    ("classify panel.h5ad --groupby louvain --n-genes 0", "--n-genes 0"),
    ("classify panel.h5ad --groupby louvain --cv 1", "--cv 1"),
    ("classify panel.h5ad --groupby louvain --include nope", "--include: 'nope' is neither"),
    ("classify panel.h5ad --groupby louvain --exclude .*RP", ".*RP looks like a pattern"),
    ("classify panel.h5ad --groupby louvain --symbols nope", "--symbols nope"),
    ("classify panel.h5ad --groupby louvain --missing drop", "--missing drop is not known"),
    ("classify panel.h5ad --groupby louvain --batch-key nope", "--batch-key nope"),
    ("classify panel.h5ad --groupby louvain --model m.pkl", "--model m.pkl must end with .json"),
    ("predict panel.h5ad no.json", "no.json does not exist"),
    ("predict panel.h5ad bad.json", "bad.json is not a classifier"),
    ("predict panel.h5ad model.json --layer nope", "--layer nope"),
    ("predict panel.h5ad model.json --symbols nope", "--symbols nope"),
    ("predict panel.h5ad model.json --missing drop", "--missing drop is not known"),
    ("predict panel.h5ad model.json --unsure -1", "--unsure -1.0"),
    ("predict panel.h5ad model.json --key-added a/b", "must not have a slash"),
    ("predict panel.h5ad model.json -o out.csv", "--output out.csv must end with"),
    ("predict panel.h5ad model.json --table t.doc", "must end with .csv or .tsv"),
    ("predict panel.h5ad model.json --log1p --backed", "--log1p changes the matrix"),
    ("predict words.csv model.json", "columns that are not numbers"),
    ("predict three.csv model.json", "No gene of the model is in var_names"),
    ("classify panel.h5ad --groupby louvain --graph x", "--graph x"),
    ("classify panel.h5ad --groupby louvain --n-genes 3 --lambda2 0", "--lambda2 0.0"),
    ("classify panel.h5ad --groupby louvain --train louvain", "--train must be boolean"),
    ("enrich panel.h5ad --gene-sets no.gmt", "no.gmt does not exist"),
    ("enrich panel.h5ad --gene-sets bad.gmt", "line 1 must hold a name"),
    ("enrich panel.h5ad --gene-sets sets.gmt --key nope", "no selection under --key nope"),
    ("enrich panel.h5ad --gene-sets sets.gmt --method x", "--method x"),
    ("enrich panel.h5ad --gene-sets sets.gmt --background no.txt", "no.txt"),
    ("enrich panel.h5ad --gene-sets sets.gmt --min-size 0", "--min-size 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --min-cells 0", "--min-cells 0 must be an integer"),
    ("enrich panel.h5ad --gene-sets sets.gmt --permutations 0", "--permutations 0"),
    ("export panel.h5ad genes.doc", "must end with"),
    ("export panel.h5ad a.csv --key nope", "no selection under --key nope"),
    ("export panel.h5ad a.txt --column x", "--column x needs"),
    ("export panel.h5ad a.csv --column x", "--column: 'x' is not in var"),
    ("export panel.h5ad a.txt --explanation-key x", "--explanation-key x needs"),
    ("export panel.h5ad a.csv --explanation-key x", "--explanation-key x is not in uns: run"),
    ("report panel.h5ad -o r.html --evaluation-key x", "--evaluation-key x is not in uns: run"),
    ("report panel.h5ad -o r.html --explanation-key x", "run glfs-bio explain"),
    ("report panel.h5ad -o r.html --substitutes-key x", "run glfs-bio substitutes"),
    ("export panel.h5ad a.gmt --threshold 0.5", "run glfs-bio stability"),
    ("export panel.h5ad a.gmt --threshold 7", "--threshold 7"),
    ("report panel.h5ad -o report.pdf", "must end with .html"),
    ("report panel.h5ad -o r.html --keep r.csv", "--keep r.csv must end with .h5ad or .zarr"),
    ("report panel.h5ad -o r.html --groupby nope", "--groupby nope"),
    ("report panel.h5ad -o r.html --link ftp://x", "must be a web address"),
    ("report panel.h5ad -o r.html --seed -1", "--seed -1"),
    ("demo -o no/where", "no/where"),
    ("rank panel.h5ad --n-genes 0", "--n-genes 0"),
    ("rank panel.h5ad --lambda1 -1", "--lambda1 -1.0"),
    ("rank panel.h5ad --n-comps -2", "--n-comps -2"),
    ("rank panel.h5ad --use-rep nope", "--use-rep nope"),
    ("rank panel.h5ad --neighbors-key nope", "--neighbors-key nope"),
    ("rank panel.h5ad --layer nope", "--layer nope"),
    ("rank panel.h5ad --mask-var nope", "--mask-var nope"),
    ("rank panel.h5ad --exclude nope", "--exclude: 'nope'"),
    ("rank panel.h5ad --exclude .*RP", ".*RP looks like a pattern"),
    ("rank panel.h5ad --exclude nope --missing drop", "--missing drop is not known"),
    ("rank panel.h5ad --batch-key nope", "--batch-key nope"),
    ("rank panel.h5ad --transpose", "--transpose is for tables"),
    ("rank panel.h5ad --seed -1", "--seed -1"),
    ("classify panel.h5ad --groupby louvain -o out.csv", "--output out.csv must end with"),
    ("classify panel.h5ad --groupby louvain --table t.doc", "must end with .csv or .tsv"),
    ("classify panel.h5ad --groupby louvain --lambda1 -1", "--lambda1 -1.0"),
    ("classify panel.h5ad --groupby louvain --mask-var nope", "--mask-var nope"),
    ("classify panel.h5ad --groupby louvain --layer nope", "--layer nope"),
    ("classify panel.h5ad --groupby louvain --key-added a/b", "must not have a slash"),
    ("classify panel.h5ad --groupby louvain --seed -1", "--seed -1"),
    ("enrich panel.h5ad --gene-sets sets.gmt --table t.doc", "must end with .csv or .tsv"),
    ("enrich panel.h5ad --gene-sets sets.gmt -o out.csv", "--output out.csv must end with"),
    ("enrich panel.h5ad --gene-sets sets.gmt --symbols nope", "--symbols nope"),
    ("enrich panel.h5ad --gene-sets sets.gmt --max-size 0", "--max-size 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --organism plant", "--organism plant"),
    ("enrich panel.h5ad --gene-sets sets.gmt --weight -1", "--weight -1.0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --jobs 0", "--jobs 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --key-added a/b", "must not have a slash"),
    ("enrich panel.h5ad --gene-sets sets.gmt --seed -1", "--seed -1"),
    ("export panel.h5ad a.csv --symbols nope", "--symbols nope"),
    ("export panel.h5ad a.gmt --threshold 0.5 --stability-key nope", "run glfs-bio stability"),
    ("export panel.h5ad a.csv b.rnk --key glfs --key other", "only .gmt takes several"),
    ("report panel.h5ad -o r.html --key nope", "no selection under --key nope"),
    ("report panel.h5ad -o r.html --symbols nope", "--symbols nope"),
    ("report panel.h5ad -o r.html --stability-key nope", "run glfs-bio stability"),
    ("report panel.h5ad -o r.html --enrichment-key nope", "run glfs-bio enrich"),
    ("report panel.h5ad -o r.html --layer nope", "--layer nope"),
    ("report panel.h5ad -o r.html --title=", "--title ''"),
    ("select panel.h5ad --log1p --backed", "--log1p changes the matrix"),
    ("rank panel.h5ad --method=", "--method ''"),
    ("classify panel.h5ad --groupby louvain --transpose", "--transpose is for tables"),
    ("predict panel.h5ad model.json --transpose", "--transpose is for tables"),
]

#: what the line itself has wrong; click's words and exit code
LINES = [
    ("", "Usage"),
    ("nonsense", "No such command"),
    ("select", "Missing argument"),
    ("select a b", "unexpected extra argument"),
    ("select a --nope", "No such option"),
    ("select a --finish greedy", "No such option"),
    ("select a --n-genes ten", "Invalid value"),
    ("select a --lambda1 much", "Invalid value"),
    ("classify a", "Missing option"),
    ("report a", "Missing option"),
]


@pytest.fixture(scope="module")
def _folder(tmp_path_factory, _pbmc):
    import glfs_bio

    folder = tmp_path_factory.mktemp("inputs")
    adata = _pbmc.copy()
    glfs_bio.pp.select_genes(adata, 10)
    adata.write_h5ad(folder / "panel.h5ad")
    glfs_bio.tl.classify(adata, "louvain", n_genes=3)
    glfs_bio.io.write_classifier(adata, folder / "model.json")
    whole = (folder / "panel.h5ad").read_bytes()
    (folder / "broken.h5ad").write_bytes(whole[: len(whole) // 2])
    cells = np.random.default_rng(0).normal(size=(6, 2))

    def table(name, rows, head="cell,A,B"):
        (folder / name).write_text("\n".join([head, *rows]) + "\n")

    rows = [f"c{i},{a},{b}" for i, (a, b) in enumerate(cells)]
    table("nan.csv", [*rows, "c9,,1"])
    table("words.csv", [*rows, "c9,1,x"])
    table("constant.csv", [f"c{i},1.5,2.5" for i in range(6)])
    table("two.csv", rows[:2])
    table("three.csv", rows[:3])
    table("one.csv", [row.rsplit(",", 1)[0] for row in rows], "cell,A")
    for name, text in {
        "text.h5ad": "not HDF5",
        "panel.doc": "x",
        "empty.csv": "",
        "twins.tsv": "",
        "bad.gmt": "one word\n",
        "bad.json": "{}",
        "sets.gmt": "T cells\tx\tCD3D\tCD3E\n",
    }.items():
        (folder / name).write_text(text)
    twins = ad.AnnData(np.vstack([cells, cells + 1]))
    twins.var_names = ["A", "A"]
    twins.to_df().to_csv(folder / "twins.tsv", sep="\t")
    twins.write_h5ad(folder / "twins.h5ad")
    return folder


@pytest.fixture
def folder(_folder, monkeypatch):
    monkeypatch.chdir(_folder)
    before = {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()}
    yield _folder
    assert {path.name: path.stat().st_mtime_ns for path in _folder.iterdir()} == before


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
@pytest.mark.parametrize(("line", "message"), DATA)
def test_data_or_values(folder, line, message):
    words = line.replace("twins.csv", "twins.h5ad").split()
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1, result.output
    told = [text for text in result.stderr.splitlines() if "Warning: " not in text]
    assert len(told) == 1
    assert told[0].startswith("glfs-bio: ")
    assert message in told[0]
    assert "unexpected" not in told[0]
    assert result.stdout == ""


#: Commands with rows in a file of their own.
ELSEWHERE = {"compare", "curve", "evaluate", "explain", "extend", "markers", "substitutes"}
#: Options that take no value.
NOTHING_WRONG = {"--subset", "--log1p", "--overwrite", "--debug", "--all", "--help"}


def test_every_option_has_a_row():
    given = [line.replace("=", " ").split() for line, _ in DATA + LINES]
    for name, command in get_command(app).commands.items():
        if name in ELSEWHERE:
            continue
        words = {word for line in given if line[:1] == [name] for word in line}
        options = {
            tuple(option.opts)
            for option in command.params
            if option.opts[0][0] == "-" and option.rich_help_panel is None  # limits: elsewhere too
        }
        missing = [names for names in options if not (words | NOTHING_WRONG) & {*names}]
        assert not missing, (name, missing)


@pytest.mark.parametrize(("line", "message"), LINES)
def test_the_line_itself(folder, line, message):
    result = CliRunner().invoke(app, line.split(), env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["select", "rank", "classify --groupby louvain", "report"])
def test_debug_raises(folder, command):
    more = ["-o", "r.html"] if command == "report" else []
    result = CliRunner().invoke(app, [*command.split(), "missing.h5ad", *more, "--debug"])
    assert isinstance(result.exception, FileNotFoundError)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("odd"), "RuntimeError: odd (unexpected; --debug shows where)"),
        (MemoryError("no 8 GB"), "there is not enough memory: no 8 GB"),
        (ZeroDivisionError(), "ZeroDivisionError:"),
    ],
)
def test_what_nobody_foresaw_is_one_line_too(folder, monkeypatch, error, message):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("glfs_bio.pp.select_genes", fail)
    result = CliRunner().invoke(app, ["select", "panel.h5ad"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    again = CliRunner().invoke(app, ["select", "panel.h5ad", "--debug"])
    assert again.exception is error


@pytest.mark.parametrize("more", [[], ["--debug"]])
def test_as_a_process(folder, more):
    program = shutil.which("glfs-bio") or f"{sys.prefix}/bin/glfs-bio"
    assert Path(program).exists()
    command = [program, "select", "panel.h5ad", "--n-genes", "0", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert ("n_genes=0 must be" if more else "--n-genes 0 must be") in done.stderr
    assert ("Traceback" in done.stderr) == bool(more)
    assert more or done.stderr.count("\n") == 1
