"""What is written on the line, and the values that functions are given."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, Preserve
from glfs_bio.cli import values
from glfs_bio.errors import InvalidValue


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["CD3D,CD8A", "LYZ"], ["CD3D", "CD8A", "LYZ"]),
        ([" CD3D, CD8A ,,"], ["CD3D", "CD8A"]),
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


def test_panels(tmp_path, monkeypatch):
    """A column, a file, or names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panel.csv").write_text("gene;n\nCD3D;1\nCD4;2\n")
    assert values.panel("column") == "column"
    for text in ("panel.csv", "@panel.csv", "CD3D, CD4"):
        assert values.panel(text) == values.names(text) == ["CD3D", "CD4"]


def test_numbers_of_groups():
    read = values.written("per_group", "").read
    words = ["T cells=2:10", "B=1:", "a=b=:3", "NK=4"]
    expected = {"T cells": (2, 10), "B": (1, None), "a=b": (None, 3), "NK": (4, 4)}
    assert read(words, "per_group") == expected
    for word in ("T", "T=x", "T=1:2:3", "=3", "T=-1", "T=1.5"):
        with refused(InvalidValue, "per_group"):
            read([word], "per_group")


def test_targets():
    targets = {
        ("louvain",): "louvain",
        ("CD3D,",): ["CD3D"],
        ("NKG7,CD3D",): ["NKG7", "CD3D"],
        ("structure", "louvain=2"): {"structure": 1, "louvain": 2},
        ("X_pca=0.5",): {"X_pca": 0.5},
    }
    for words, expected in targets.items():
        assert values.preserve(list(words), "preserve") == expected


class Called(Exception):
    """Ends a command where its function is called."""


@pytest.fixture
def given(on_cells, run, monkeypatch):
    """What a line gives to a function."""

    def given(line, function):
        def stop(_, **options):
            raise Called(options)

        with monkeypatch.context() as patched:
            patched.setattr(f"glfs_bio.{function}", stop)
            result = run(f"{line} --debug")
        assert isinstance(result.exception, Called), result.output
        return result.exception.args[0]

    return given


def test_limits(given, tmp_path):
    (tmp_path / "markers.csv").write_text("type,gene\nT,CD3D\nT,CD3E\nB,CD79A\n")
    (tmp_path / "families.csv").write_text("T,B\nCD3D,CD79A\nCD3E,CD79B\n")
    words = {
        "--groupby louvain --counts-layer counts": {"groupby": "louvain", "counts_layer": "counts"},
        "--max-total-per-type 1=90 --max-total-per-type 2=5": {
            "max_total_per_type": {"1": 90.0, "2": 5.0}
        },
        "--max-total-per-cell 40 --min-mean 1": {"max_total_per_cell": 40.0, "min_mean": 1.0},
        "--groups f --per-group T=2:10": {"groups": "f", "per_group": {"T": (2, 10)}},
        "--families families.csv --per-family 1": {
            "families": {"T": ["CD3D", "CD3E"], "B": ["CD79A", "CD79B"]},
            "per_family": 1,
        },
        "--markers @markers.csv --per-type 1": {
            "markers": {"T": ["CD3D", "CD3E"], "B": ["CD79A"]},
            "per_type": 1,
        },
        "--cost price --budget 13": {"cost": "price", "budget": 13.0},
        "--together CD3D,CD3E --together LYZ,CST3": {
            "together": [["CD3D", "CD3E"], ["LYZ", "CST3"]]
        },
        "--priority CD3D=2": {"priority": {"CD3D": 2.0}},
    }
    found = given(f"select cells.h5ad {' '.join(words)}", "pp.select_genes")["limits"]
    fields = {name: value for one in words.values() for name, value in one.items()}
    assert found == Limits(**fields)


def test_platforms(given, cells):
    table = pd.DataFrame([[0.0, 1.0], [1.0, 1.0]], index=["0", "1"], columns=["0", "1"])
    table.to_csv("neighbours.csv")
    words = "--failure 0.1 --spillover 0.3 --off-target price --orderable glfs_selected"
    line = f"evaluate cells.h5ad glfs {words} --spillover-to neighbours.csv"
    found = given(f"{line} --efficiency cells.h5ad", "tl.evaluate_panel")["platform"]
    assert (found.failure, found.spillover) == (0.1, 0.3)
    assert (found.off_target, found.genes) == ("price", "glfs_selected")
    assert found.spillover_to == {"0": {"1": 1.0}, "1": {"0": 0.5, "1": 0.5}}
    assert list(found.efficiency.var_names) == list(cells.var_names)


@pytest.mark.parametrize(
    ("line", "function"),
    [
        ("evaluate cells.h5ad glfs", "tl.evaluate_panel"),
        ("extend cells.h5ad glfs", "tl.extend_panel"),
        ("substitutes cells.h5ad glfs", "tl.substitutes"),
        ("explain cells.h5ad glfs", "tl.explain_panel"),
        ("evaluate cells.h5ad a=glfs b=CD3D,LYZ", "tl.evaluate_panel"),
    ],
)
def test_targets_of_what_judges(given, line, function):
    words = "--preserve louvain=2 --preserve structure --cell-weights louvain"
    target = {"louvain": 2, "structure": 1}
    assert given(f"{line} {words}", function)["preserve"] == Preserve(target, "louvain")
    found = given(f"{line} {words} --n-comps 5", function)["preserve"]
    assert found == Preserve(target, "louvain", "glfs_structure_named")
