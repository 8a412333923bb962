"""Bad command lines: one line on stderr, an exit code, nothing on stdout, nothing written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from glfs_bio import Limits
from glfs_bio.cli import COMMANDS, app, with_options
from glfs_bio.errors import FileMissing

#: Words of the command line, and what the line on stderr must name: the option with its value, the
#: file, or nothing where it is the cells.  The exit code is 1.
DATA = [
    ("select missing.h5ad", "missing.h5ad"),
    ("select broken.h5ad", "broken.h5ad"),
    ("select text.h5ad", "text.h5ad"),
    ("select panel.doc", "panel.doc"),
    ("select .", "."),
    ("select words.csv", "B"),
    ("select empty.csv", "empty.csv"),
    ("select nan.csv", ""),
    ("select constant.csv", ""),
    ("select two.csv", ""),
    ("select one.csv", ""),
    ("select panel.h5ad --n-genes 0", "--n-genes 0"),
    ("select panel.h5ad --n-genes -4", "--n-genes -4"),
    ("select panel.h5ad --n-genes 766", "--n-genes 766"),
    ("select panel.h5ad --method magic", "--method magic"),
    ("select panel.h5ad --method variance", "--n-genes"),
    ("select panel.h5ad --objective x", "--objective x"),
    ("select panel.h5ad --lam x", "--lam x"),
    ("select panel.h5ad --lam -1", "--lam -1.0"),
    ("select panel.h5ad --lam nan", "--lam nan"),
    ("select panel.h5ad --lam 1", "--lam 1.0"),
    ("select panel.h5ad --objective exact --lam 1e12", "--lam"),
    ("select panel.h5ad --objective mse", "--objective mse"),
    ("select panel.h5ad --lambda1 -1", "--lambda1 -1.0"),
    ("select panel.h5ad --lambda1 nan", "--lambda1 nan"),
    ("select panel.h5ad --n-comps -1", "--n-comps -1"),
    ("select panel.h5ad --preserve nope", "--preserve nope"),
    ("select panel.h5ad --preserve CD3D=x", "--preserve"),
    ("select panel.h5ad --cell-weights nope", "--cell-weights nope"),
    ("select panel.h5ad --use-rep nope", "--use-rep nope"),
    ("select panel.h5ad --neighbors-key nope", "--neighbors-key nope"),
    ("select panel.h5ad --n-neighbors 0", "--n-neighbors 0"),
    ("select panel.h5ad --layer nope", "--layer nope"),
    ("select panel.h5ad --include nope", "--include"),
    ("select panel.h5ad --include CD3D --exclude CD3D", "CD3D"),
    ("select panel.h5ad --include CD3D --include CD79A --n-genes 1", "--include"),
    ("select panel.h5ad --exclude /nope/", "nope"),
    ("select panel.h5ad --ignore nope", "--ignore"),
    ("select panel.h5ad --exclude /nope/ --missing drop", "--missing drop"),
    ("select panel.h5ad --include CD8a,x", "--include"),
    ("select panel.h5ad --include CD8a", "CD8A"),
    ("select panel.h5ad --exclude ^MT-", "^MT-"),
    ("select panel.h5ad --exclude tcrr", "tcrr"),
    ("select panel.h5ad --include @no.txt", "no.txt"),
    ("select panel.h5ad --include @panel.doc", "panel.doc"),
    ("select panel.h5ad --symbols nope", "--symbols nope"),
    ("select panel.h5ad --exclude /[/", "/[/"),
    ("select panel.h5ad --exclude /./", "--exclude"),
    ("select panel.h5ad --batch-key nope", "--batch-key nope"),
    ("select panel.h5ad --efficiency nope", "--efficiency nope"),
    ("select panel.h5ad --efficiency nope.csv", "--efficiency nope.csv"),
    ("select panel.h5ad --spillover 0.1 --spillover-to nope.tsv", "--spillover-to nope.tsv"),
    ("select panel.h5ad --signal nope", "--signal nope"),
    ("select panel.h5ad --efficiency nope.h5ad", "nope.h5ad"),
    ("select panel.h5ad --orderable nope", "--platform"),
    ("select panel.h5ad --orderable panel.csv --min-probes 0", "--min-probes 0"),
    ("select panel.h5ad --efficiency 1 --spread -1", "--spread -1"),
    ("select panel.h5ad --efficiency 1 --case best", "--case best"),
    ("select panel.h5ad --off-target 2", "--off-target"),
    ("select panel.h5ad --off-target 0.1 --max-off-target -1", "--max-off-target -1"),
    ("select panel.h5ad --codebook nope.csv", "--codebook nope.csv"),
    ("select panel.h5ad --platform x --failure 2", "--failure has"),
    ("efficiency text.h5ad panel.h5ad", "text.h5ad"),
    ("efficiency panel.h5ad panel.h5ad --labels nope", "--labels nope"),
    ("efficiency panel.h5ad panel.h5ad --counts-layer nope", "--counts-layer nope"),
    ("efficiency panel.h5ad panel.h5ad --spatial-layer nope", "--counts-layer X"),
    ("efficiency panel.h5ad panel.h5ad --table panel.doc", "panel.doc"),
    ("select panel.h5ad --across worst", "--across worst"),
    ("select panel.h5ad --search greedy", "--search greedy"),
    ("select panel.h5ad --search best --method variance --n-genes 3", "--search"),
    ("select panel.h5ad --time-limit 0", "--time-limit 0.0"),
    ("select panel.h5ad --batch-key phase --across best", "--across best"),
    ("select panel.h5ad --also panel.h5ad", "--also"),
    ("select panel.h5ad --also no.h5ad", "no.h5ad"),
    ("select panel.h5ad --batch-key phase --neighbors-key neighbors", "--neighbors-key"),
    ("select panel.h5ad --key-added a/b", "--key-added a/b"),
    ("select panel.h5ad --key-added=", "--key-added"),
    ("select panel.h5ad --seed -1", "--seed -1"),
    ("select panel.h5ad --seed 5000000000", "--seed 5000000000"),
    ("select panel.h5ad --transpose", "--transpose"),
    ("select panel.h5ad --modality nope", "--modality nope"),
    ("select panel.h5ad --var-names gene_ids", "--var-names"),
    ("select panel.h5ad -o panel.h5ad", "panel.h5ad"),
    ("select panel.h5ad -o out.csv", "--output out.csv"),
    ("select panel.h5ad -o no/out.h5ad", "no"),
    ("select panel.h5ad --genes no/out.txt", "no"),
    ("select panel.h5ad --failure 2", "--failure"),
    ("stability panel.h5ad --key nope", "--key nope"),
    ("stability panel.h5ad --n-resamples 1", "--n-resamples 1"),
    ("stability panel.h5ad --fraction 1", "--fraction 1.0"),
    ("stability panel.h5ad --n-jobs 0", "--n-jobs 0"),
    ("stability panel.h5ad --key-added a/b", "--key-added a/b"),
    ("stability panel.h5ad --seed -1", "--seed -1"),
    ("stability panel.h5ad -o panel.h5ad", "panel.h5ad"),
    ("stability panel.h5ad --table t.xls", "--table t.xls"),
    ("rank panel.h5ad --method nope", "--method nope"),
    ("rank panel.h5ad --table t.xls", "--table t.xls"),
    ("rank panel.h5ad --symbols nope", "--symbols nope"),
    ("rank panel.h5ad --n-neighbors 0", "--n-neighbors 0"),
    ("classify panel.h5ad --labels nope", "--labels nope"),
    ("classify panel.h5ad --labels percent_mito", "--labels percent_mito"),
    ("classify panel.h5ad --labels louvain --n-comps many", "--n-comps many"),
    ("classify panel.h5ad --labels louvain --n-genes 0", "--n-genes 0"),
    ("classify panel.h5ad --labels louvain --cv 1", "--cv 1"),
    ("classify panel.h5ad --labels louvain --include nope", "--include"),
    ("classify panel.h5ad --labels louvain --exclude .*RP", ".*RP"),
    ("classify panel.h5ad --labels louvain --ignore nope", "--ignore"),
    ("classify panel.h5ad --labels louvain --symbols nope", "--symbols nope"),
    ("classify panel.h5ad --labels louvain --batch-key nope", "--batch-key nope"),
    ("classify panel.h5ad --labels louvain --model m.pkl", "--model m.pkl"),
    ("predict panel.h5ad no.json", "no.json"),
    ("predict panel.h5ad bad.json", "bad.json"),
    ("predict panel.h5ad model.json --layer nope", "--layer nope"),
    ("predict panel.h5ad model.json --symbols nope", "--symbols nope"),
    ("predict panel.h5ad model.json --missing drop", "--missing drop"),
    ("predict panel.h5ad model.json --unsure -1", "--unsure -1.0"),
    ("predict panel.h5ad model.json --key-added a/b", "--key-added a/b"),
    ("predict panel.h5ad model.json -o out.csv", "--output out.csv"),
    ("predict panel.h5ad model.json --table t.doc", "--table t.doc"),
    ("predict panel.h5ad model.json --log1p --backed", "--log1p"),
    ("predict words.csv model.json", "B"),
    ("predict three.csv model.json", ""),
    ("classify panel.h5ad --labels louvain --graph x", "--graph x"),
    ("classify panel.h5ad --labels louvain --n-genes 3 --lambda2 0", "--lambda2 0.0"),
    ("classify panel.h5ad --labels louvain --train louvain", "--train"),
    ("enrich panel.h5ad --gene-sets no.gmt", "no.gmt"),
    ("enrich panel.h5ad --gene-sets bad.gmt", "bad.gmt"),
    ("enrich panel.h5ad --gene-sets sets.gmt --key nope", "--key nope"),
    ("enrich panel.h5ad --gene-sets sets.gmt --method x", "--method x"),
    ("enrich panel.h5ad --gene-sets sets.gmt --background no.txt", "no.txt"),
    ("enrich panel.h5ad --gene-sets sets.gmt --min-size 0", "--min-size 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --min-cells 0", "--min-cells 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --permutations 0", "--permutations 0"),
    ("export panel.h5ad genes.doc", "genes.doc"),
    ("export panel.h5ad a.csv --key nope", "--key nope"),
    ("export panel.h5ad a.txt --column x", "--column x"),
    ("export panel.h5ad a.csv --column x", "--column"),
    ("export panel.h5ad a.txt --explanation-key x", "--explanation-key x"),
    ("export panel.h5ad a.csv --explanation-key x", "--explanation-key x"),
    ("report panel.h5ad -o r.html --markers-key x", "x"),
    ("report panel.h5ad -o r.html --evaluation-key x", "x"),
    ("report panel.h5ad -o r.html --explanation-key x", "x"),
    ("report panel.h5ad -o r.html --substitutes-key x", "x"),
    ("export panel.h5ad a.gmt --threshold 0.5", "glfs-bio stability"),
    ("export panel.h5ad a.gmt --threshold 7", "--threshold 7"),
    ("report panel.h5ad -o report.pdf", "--output report.pdf"),
    ("report panel.h5ad -o r.html --keep r.csv", "--keep r.csv"),
    ("report panel.h5ad -o r.html --labels nope", "--labels nope"),
    ("report panel.h5ad -o r.html --link ftp://x", "--link ftp://x"),
    ("report panel.h5ad -o r.html --seed -1", "--seed -1"),
    ("demo -o no/where", "no/where"),
    ("rank panel.h5ad --n-genes 0", "--n-genes 0"),
    ("rank panel.h5ad --lambda1 -1", "--lambda1 -1.0"),
    ("rank panel.h5ad --n-comps -2", "--n-comps -2"),
    ("rank panel.h5ad --use-rep nope", "--use-rep nope"),
    ("rank panel.h5ad --neighbors-key nope", "--neighbors-key nope"),
    ("rank panel.h5ad --layer nope", "--layer nope"),
    ("rank panel.h5ad --exclude nope", "--exclude"),
    ("rank panel.h5ad --ignore nope", "--ignore"),
    ("rank panel.h5ad --exclude .*RP", ".*RP"),
    ("rank panel.h5ad --exclude nope --missing drop", "--missing drop"),
    ("rank panel.h5ad --batch-key nope", "--batch-key nope"),
    ("rank panel.h5ad --transpose", "--transpose"),
    ("rank panel.h5ad --modality nope", "--modality nope"),
    ("rank panel.h5ad --var-names gene_ids", "--var-names"),
    ("rank panel.h5ad --seed -1", "--seed -1"),
    ("classify panel.h5ad --labels louvain -o out.csv", "--output out.csv"),
    ("classify panel.h5ad --labels louvain --table t.doc", "--table t.doc"),
    ("classify panel.h5ad --labels louvain --lambda1 -1", "--lambda1 -1.0"),
    ("classify panel.h5ad --labels louvain --layer nope", "--layer nope"),
    ("classify panel.h5ad --labels louvain --key-added a/b", "--key-added a/b"),
    ("classify panel.h5ad --labels louvain --seed -1", "--seed -1"),
    ("enrich panel.h5ad --gene-sets sets.gmt --table t.doc", "--table t.doc"),
    ("enrich panel.h5ad --gene-sets sets.gmt -o out.csv", "--output out.csv"),
    ("enrich panel.h5ad --gene-sets sets.gmt --symbols nope", "--symbols nope"),
    ("enrich panel.h5ad --gene-sets sets.gmt --max-size 0", "--max-size 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --organism plant", "--organism plant"),
    ("enrich panel.h5ad --gene-sets sets.gmt --weight -1", "--weight -1.0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --jobs 0", "--jobs 0"),
    ("enrich panel.h5ad --gene-sets sets.gmt --key-added a/b", "--key-added a/b"),
    ("enrich panel.h5ad --gene-sets sets.gmt --seed -1", "--seed -1"),
    ("export panel.h5ad a.csv --symbols nope", "--symbols nope"),
    ("export panel.h5ad a.gmt --threshold 0.5 --stability-key nope", "nope"),
    ("export panel.h5ad a.csv b.rnk --key glfs --key other", "--key glfs,other"),
    ("report panel.h5ad -o r.html --key nope", "--key nope"),
    ("report panel.h5ad -o r.html --symbols nope", "--symbols nope"),
    ("report panel.h5ad -o r.html --stability-key nope", "nope"),
    ("report panel.h5ad -o r.html --enrichment-key nope", "nope"),
    ("report panel.h5ad -o r.html --layer nope", "--layer nope"),
    ("report panel.h5ad -o r.html --title=", "--title"),
    ("select panel.h5ad --log1p --backed", "--log1p"),
    ("rank panel.h5ad --method=", "--method"),
    ("classify panel.h5ad --labels louvain --transpose", "--transpose"),
    ("classify panel.h5ad --labels louvain --modality nope", "--modality nope"),
    ("classify panel.h5ad --labels louvain --var-names gene_ids", "--var-names"),
    ("predict panel.h5ad model.json --transpose", "--transpose"),
    ("predict panel.h5ad model.json --modality nope", "--modality nope"),
    ("predict panel.h5ad model.json --var-names gene_ids", "--var-names"),
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
        "bad.gmt": "one word\n",
        "bad.json": "{}",
        "sets.gmt": "T cells\tx\tCD3D\tCD3E\n",
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
def test_data_or_values(folder, only_own_options, line, named):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 1, result.output
    told = [text for text in result.stderr.splitlines() if "Warning: " not in text]
    assert len(told) == 1
    assert told[0].startswith("glfs-bio: ")
    assert named in told[0]
    only_own_options(line.split()[0], told[0])
    assert "unexpected" not in told[0]
    assert result.stdout == ""


#: Commands with rows in a file of their own.
ELSEWHERE = {
    *("compare", "curve", "evaluate", "explain", "extend", "gene", "markers", "order"),
    *("prove", "replace", "substitutes"),
}
LIMITS = {"counts_layer", "cost", "budget", *(field.name for field in fields(Limits))}
#: Options that take no value.
NOTHING_WRONG = {
    "--as-highly-variable",
    "--subset",
    "--umaps",
    "--backed",
    "--log1p",
    "--overwrite",
    "--json",
    "--debug",
    "--all",
    "--help",
}


def test_every_option_has_a_row():
    given = [line.replace("=", " ").split() for line, _ in DATA + LINES]
    for name in COMMANDS.keys() - ELSEWHERE:
        words = {word for line in given if line[:1] == [name] for word in line}
        options = {
            tuple(option.opts)
            for option in with_options(name).params
            if option.opts[0][0] == "-" and option.name not in LIMITS
        }
        missing = [names for names in options if not (words | NOTHING_WRONG) & {*names}]
        assert not missing, (name, missing)


@pytest.mark.parametrize(("line", "message"), LINES)
def test_the_line_itself(folder, line, message):
    result = CliRunner().invoke(app, line.split(), env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["select", "rank", "classify --labels louvain", "report"])
def test_debug_raises(folder, command):
    more = ["-o", "r.html"] if command == "report" else []
    result = CliRunner().invoke(app, [*command.split(), "missing.h5ad", *more, "--debug"])
    assert isinstance(result.exception, FileMissing)
    assert result.exception.argument == "source"


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
    assert ("n_genes=0" if more else "--n-genes 0") in done.stderr
    assert ("Traceback" in done.stderr) == bool(more)
    assert more or done.stderr.count("\n") == 1
