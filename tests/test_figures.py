"""Every figure of README.md, the documentation and the paper is that of benchmarks/results."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").exists():
    pytest.skip("a source distribution has no benchmarks", allow_module_level=True)
figures = importlib.import_module("benchmarks.figures")
PAGES = figures.pages()
#: Pages whose figures all need a source.
CHECKED = sorted(
    {
        *PAGES,
        *(
            page.relative_to(ROOT).as_posix()
            for folder in ("benchmarks", "concepts", "howto", "reference")
            for page in (ROOT / "docs" / folder).glob("*.md")
        ),
    }
)


@pytest.mark.parametrize("name", CHECKED)
def test_figures_are_those_of_the_results(name):
    text = (ROOT / name).read_text("utf-8")
    updated, rest = figures.held(text, PAGES.get(name, {}))
    assert updated == text
    assert figures.unsourced(rest) == []


@pytest.mark.parametrize("name", ["README.md", "paper/paper.md", "docs/benchmarks/index.md"])
def test_the_best_method_is_shown(name):
    text = (ROOT / name).read_text("utf-8")
    accuracy = figures.read("peers")
    for size in ("10", "25", "50", "100", "150"):
        others = [one for one in accuracy if figures.OURS not in one and accuracy[one][size]]
        best = max(others, key=lambda one, size=size: figures.mean(accuracy[one][size]))
        assert f"| {figures.CALLED[best]} |" in text


@pytest.mark.parametrize(
    ("result", "heading", "columns"),
    [
        ("imaging", "", ["5", "10", "20", "40", "80"]),
        ("pairs", "", ["5", "10", "20", "40", "80"]),
        ("panels_labels", "", ["10", "25", "50", "100"]),
        ("panels_stability", "", ["mean"]),
        ("panels_stability", "Panels of 10 genes", ["mean"]),
        ("peers_stability", "", [figures.THINNED]),
    ],
)
def test_methods_that_are_ahead_are_shown(result, heading, columns):
    text = (ROOT / "docs" / "benchmarks" / "index.md").read_text("utf-8")
    table = figures.read(result, heading)
    ours = table[figures.LABELS if result == "panels_labels" else figures.OURS]
    for name, row in table.items():
        known = [one for one in columns if figures.numbers(row[one])]
        ahead = any(figures.mean(row[one]) > figures.mean(ours[one]) for one in known)
        if ahead and not name.startswith(("glfs_bio", "all genes")):
            assert re.search(
                rf"^\| {re.escape(figures.CALLED.get(name, name))} \|.*\d", text, re.M
            ), name


def test_the_paper_names_no_other_figure():
    name = "paper/paper.md"
    _, rest = figures.held((ROOT / name).read_text("utf-8"), PAGES[name])
    prose = figures.ASIDE.sub("", rest)
    assert re.findall(r"(?<![\w/])\d*\.\d+|\d+ ?%", prose) == []


def test_a_figure_that_changed_is_found():
    text = "Our mean is 0.5,\nand theirs +0.25.\n\n{}| `glfs_bio` | 0.1 |\n0.123"
    head = "| method | 10 |\n|---|---|\n"
    claims = {
        "mean is {}, and theirs {}.": figures.numbers_of("0.46 [0.4, 0.5]", 0.349),
        "| method |": figures.rows({"glfs_bio": {"10": "0.848 [0.84, 0.85]"}}, figures.mean),
    }
    updated, rest = figures.held(text.format(head), claims)
    assert updated == (
        "Our mean is 0.5,\nand theirs +0.35.\n\n" + head + "| `glfs_bio` | 0.848 |\n0.123"
    )
    assert figures.unsourced(rest) == ["0.123"]


def test_words_that_are_gone_are_named():
    with pytest.raises(LookupError, match="their mean is"):
        figures.held("Our mean is 0.5.", {"their mean is {}": figures.numbers_of(0.5)})


def test_methods_that_are_ahead_are_all_named():
    means = {"glfs_bio": "0.5", "variance": "0.6", "triku": "0.7", "random": "0.1"}
    table = {name: {"10": mean} for name, mean in means.items()}
    assert figures.ahead(table, "10") == "triku 0.700, largest variance 0.600"


def test_a_figure_is_looked_up_where_its_text_says():
    least = figures.mean(figures.read("panels_criterion")["worm_neuron4186"]["10"])
    for text in (f"It is {least} [`panels_criterion.md`].", f"`panels_criterion.md`:\n\n- {least}"):
        assert figures.unsourced(text) == []
        assert figures.unsourced(text.replace(least, "0.001")) == ["0.001"]
        assert figures.unsourced(text.replace("panels_criterion.md", "it")) == [least]
    assert figures.unsourced("`0.001`, [a link](0.002), 0.01") == []
