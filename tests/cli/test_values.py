"""Genes on the command line."""

from __future__ import annotations

import re

import pytest
from refusals import refused

from glfs_bio.cli import values
from glfs_bio.errors import InvalidValue


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


def test_numbers_of_groups():
    read = values.written("per_group", "").read
    words = ["T cells=2:10", "B=1:", "a=b=:3", "NK=4"]
    expected = {"T cells": (2, 10), "B": (1, None), "a=b": (None, 3), "NK": (4, 4)}
    assert read(words, "per_group") == expected


@pytest.mark.parametrize("word", ["T", "T=x", "T=1:2:3", "=3", "T=-1", "T=1.5"])
def test_what_is_no_number_of_a_group(word):
    with refused(InvalidValue, "per_group"):
        values.written("per_group", "").read([word], "per_group")
