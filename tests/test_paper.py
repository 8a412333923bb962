"""The paper has the form that the journal asks for; `test_figures.py` looks at its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def paper() -> str:
    path = ROOT / "paper" / "paper.md"
    if not path.exists():
        pytest.skip("a source distribution has no paper")
    return path.read_text("utf-8")


def test_pictures_and_references_are_there(paper):
    for path in re.findall(r"!\[[^\]]*\]\(([^)]*)\)", paper):
        assert (ROOT / "paper" / path).exists(), path
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text("utf-8"), re.M)
    assert len(entries) == len(set(entries))
    cited = {
        key for group in re.findall(r"\[(@[^\]]*)\]", paper) for key in re.findall(r"@(\w+)", group)
    }
    assert cited == set(entries)


def test_it_has_the_sections_and_the_length_that_the_journal_asks_for(paper):
    headings = re.findall(r"^# (.*)$", paper, re.M)
    assert headings == [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ]
    assert 750 <= len(paper.split("---\n", 2)[2].split()) <= 1750
