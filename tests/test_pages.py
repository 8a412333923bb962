"""README, SKILL.md and the paper do what they say, and every figure has its table."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml
from matplotlib import pyplot as plt
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import COMMANDS, app, with_options

ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").exists():
    pytest.skip("a source distribution has no pages", allow_module_level=True)
figures = importlib.import_module("benchmarks.figures")
BENCHMARKS, PAPER = "docs/benchmarks/index.md", "paper/paper.md"
#: Tables of the page of benchmarks, and the columns that it shows.
SHOWN = {
    ("peers", ""): ["10", "25", "50", "100", "150"],
    ("imaging", ""): ["5", "10", "20", "40", "80"],
    ("pairs", ""): ["5", "10", "20", "40", "80"],
    ("panels_labels", ""): ["10", "25", "50", "100"],
    ("panels_stability", ""): ["mean"],
    ("panels_stability", "Panels of 10 genes"): ["mean"],
    ("peers_stability", ""): [figures.THINNED],
}


def page(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_no_figure_differs_from_the_results_or_lacks_a_source():
    claims = figures.pages()
    folders = [ROOT / "docs" / name for name in ("benchmarks", "concepts", "howto", "reference")]
    others = {path.relative_to(ROOT).as_posix() for one in folders for path in one.glob("*.md")}
    changed, unsourced = [], {}
    for name in sorted(others | set(claims)):
        updated, rest = figures.held(page(name), claims.get(name, {}))
        changed += [name] * (updated != page(name))
        unsourced[name] = figures.unsourced(rest)
        if name == PAPER:  # no figure but those that are held to the results
            prose = figures.ASIDE.sub("", rest)
            unsourced[name] += re.findall(r"(?<![\w/])\d*\.\d+|\d+ ?%", prose)
    assert not changed
    assert not {name: numbers for name, numbers in unsourced.items() if numbers}


def test_methods_that_are_ahead_are_shown():
    missing = []
    for (result, heading), columns in SHOWN.items():
        table = figures.read(result, heading)
        ours = table[figures.LABELS if result == "panels_labels" else figures.OURS]
        for name, row in table.items():
            known = [one for one in columns if figures.numbers(row[one])]
            ahead = any(figures.mean(row[one]) > figures.mean(ours[one]) for one in known)
            shown = rf"^\| {re.escape(figures.CALLED.get(name, name))} \|.*\d"
            if ahead and not name.startswith(("glfs_bio", "all genes")):
                missing += [(result, name)] * (not re.search(shown, page(BENCHMARKS), re.M))
    assert not missing
    means = {"glfs_bio": "0.5", "variance": "0.6", "triku": "0.7", "random": "0.1"}
    table = {name: {"10": mean} for name, mean in means.items()}
    assert figures.ahead(table, "10") == "triku 0.700, largest variance 0.600"


def test_what_is_wrong_is_found():
    head = "| method | 10 |\n|---|---|\n"
    text = f"Our mean is 0.5,\nand theirs +0.25.\n\n{head}| `glfs_bio` | 0.1 |\n0.123"
    claims = {
        "mean is {}, and theirs {}.": figures.numbers_of("0.46 [0.4, 0.5]", 0.349),
        "| method |": figures.rows({"glfs_bio": {"10": "0.848 [0.84, 0.85]"}}, figures.mean),
    }
    updated, rest = figures.held(text, claims)
    expected = f"Our mean is 0.5,\nand theirs +0.35.\n\n{head}| `glfs_bio` | 0.848 |\n0.123"
    assert updated == expected
    assert figures.unsourced(rest) == ["0.123"]
    with pytest.raises(LookupError, match="her mean is"):
        figures.held(text, {"her mean is {}": figures.numbers_of(0.5)})

    least = figures.mean(figures.read("panels_criterion")["worm_neuron4186"]["10"])
    sourced = f"It is {least} [`panels_criterion.md`], `0.001`, [a link](0.002), 0.01."
    assert figures.unsourced(sourced) == []
    assert figures.unsourced(sourced.replace(least, "0.001")) == ["0.001"]
    assert figures.unsourced(sourced.replace("panels_criterion.md", "it")) == [least]


def test_pictures_and_references_of_the_paper_are_there():
    paper = ROOT / PAPER
    text = paper.read_text("utf-8")
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    assert all((paper.parent / picture).exists() for picture in pictures)
    entries = re.findall(r"^@\w+\{(\w+),", paper.with_suffix(".bib").read_text("utf-8"), re.M)
    cited = re.findall(r"@(\w+)", " ".join(re.findall(r"\[(@[^\]]*)\]", text)))
    assert sorted(set(cited)) == sorted(entries)


@pytest.mark.filterwarnings("ignore")
def test_blocks_run_in_their_order(quick_umaps, tmp_path, monkeypatch):
    text = page("README.md")
    assert len(text.split()) <= 600
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), quick_umaps():
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, "README.md", "exec"), names)
    plt.close("all")
    assert printed.getvalue().strip() == re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].strip()
    assert not list(tmp_path.iterdir())


SKILL, LLMS = ROOT / "skills" / "glfs-bio" / "SKILL.md", ROOT / "llms.txt"
#: Commands with what they print, and code with the block of what it prints, if any.
BLOCK = re.compile(
    r"^```console\n(.*?)^```|^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.M | re.S
)


def in_shell(block: str) -> str:
    """Return a block of commands with what they print now."""
    shown = ""
    for line in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        words = shlex.split(line)
        assert words[0] == "glfs-bio"
        done = CliRunner().invoke(app, words[1:], prog_name="glfs-bio")
        shown += f"$ {line}\n{done.output}"
    return shown.replace(f'"version": "{glfs_bio.__version__}"', '"version": "…"')


def in_python(code: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, SKILL.name, "exec"), {})
    return printed.getvalue()


@pytest.mark.filterwarnings("ignore")
def test_the_skill_shows_what_its_commands_print(tmp_path, monkeypatch):
    text = SKILL.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for lines, code, printed in BLOCK.findall(text):
        if lines:
            assert in_shell(lines) == lines
        else:
            assert in_python(code) == printed
    assert len(Path("order.csv").read_text("utf-8").splitlines()) > 25

    head = yaml.safe_load(text.split("---\n", 2)[1])
    assert head.keys() == {"name", "description"}
    assert head["name"] == SKILL.parent.name
    assert len(head["description"]) <= 1024
    options = {
        one for name in COMMANDS for param in with_options(name).params for one in param.opts
    }
    assert set(re.findall(r"--[a-z][a-z-]*[a-z]", text)) <= {*options, "--schema", "--help"}
    assert set(re.findall(r"glfs-bio ([a-z]+)", text.split("---\n", 2)[2])) <= set(COMMANDS)


def test_llms_txt_points_to_pages_and_files():
    text = LLMS.read_text("utf-8")
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    pages, files = f"{urls['Documentation']}/", f"{urls['Repository']}/blob/main/"
    links = re.findall(r"^- \[[^\]]+\]\((\S+?)\): \S", text, re.MULTILINE)
    assert len(links) == text.count("\n- [") == text.count("](")
    targets = set()
    for link in links:
        assert link.startswith((pages, files)), link
        page = Path("docs", link.removeprefix(pages)).with_suffix(".md")
        targets.add(page if link.startswith(pages) else Path(link.removeprefix(files)))
    assert [target for target in sorted(targets) if not (ROOT / target).exists()] == []
    howto = {path.relative_to(ROOT) for path in (ROOT / "docs" / "howto").glob("*.md")}
    assert howto | {SKILL.relative_to(ROOT), Path("README.md")} <= targets
