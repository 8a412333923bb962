"""The paper has the form that the journal asks for; `test_figures.py` looks at its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[1] / "paper" / "paper.md"
SECTIONS = ["Summary", "Statement of need", "State of the field", "Software design"]
SECTIONS += ["Research impact statement", "AI usage disclosure", "Acknowledgements", "References"]


@pytest.mark.skipif(not PAPER.exists(), reason="a source distribution has no paper")
def test_sections_length_pictures_and_references():
    text = PAPER.read_text("utf-8")
    assert re.findall(r"^# (.*)$", text, re.MULTILINE) == SECTIONS
    assert 750 <= len(text.split("---\n", 2)[2].split()) <= 1750
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    assert all((PAPER.parent / picture).exists() for picture in pictures)
    entries = re.findall(r"^@\w+\{(\w+),", PAPER.with_suffix(".bib").read_text("utf-8"), re.M)
    cited = re.findall(r"@(\w+)", " ".join(re.findall(r"\[(@[^\]]*)\]", text)))
    assert sorted(set(cited)) == sorted(entries)
