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
