"""Genes on the command line."""

from __future__ import annotations

import re

import pytest

from glfs_bio.cli import values


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["CD3D"], ["CD3D"]),
        (["CD3D,CD8A", "LYZ"], ["CD3D", "CD8A", "LYZ"]),
        ([" CD3D, CD8A ,,"], ["CD3D", "CD8A"]),
        (["/^MT-/"], [re.compile("^MT-")]),
        (
            ["/^A{1,2}/,ribosomal,/^B|C$/"],
            [re.compile("^A{1,2}"), "ribosomal", re.compile("^B|C$")],
        ),
        (["@panel.csv,LYZ"], ["CD3D", "CD4", "LYZ"]),
        (["A /// B"], ["A /// B"]),
    ],
)
def test_genes(tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panel.csv").write_text("gene,n\nCD3D,1\nCD4,2\n")
    assert values.genes(words, "include") == expected
