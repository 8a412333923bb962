"""Lines on stderr."""

from __future__ import annotations

import anndata as ad
import pytest
import scanpy as sc
from typer.testing import CliRunner

from glfs_bio.cli import app


def test_notes_are_said_as_warnings_are(tmp_path, monkeypatch, clusters):
    monkeypatch.chdir(tmp_path)
    cells = ad.AnnData(clusters)
    cells.X[30:] += 100.0  # two groups that no neighbours join
    cells.write_h5ad("cells.h5ad")
    result = CliRunner().invoke(
        app, ["select", "cells.h5ad", "--n-genes", "3", "--n-comps", "5", "--n-neighbors", "4"]
    )
    notes = [line for line in result.stderr.splitlines() if "connected components" in line]
    assert len(notes) == 1
    assert notes[0].startswith("glfs-bio: Note: The graph of the cells has ")


@pytest.mark.parametrize("verbosity", [0, 1, 3])
@pytest.mark.parametrize(
    "command",
    [
        ["select", "cells.h5ad", "--n-genes", "3"],
        ["evaluate", "cells.h5ad", "genes.txt"],
        ["extend", "cells.h5ad", "genes.txt", "--n-extra", "1"],
    ],
)
def test_a_result_is_said_once(tmp_path, monkeypatch, clusters, command, verbosity):
    """By the shell, whatever a notebook would hear."""
    monkeypatch.chdir(tmp_path)
    cells = ad.AnnData(clusters)
    cells.write_h5ad("cells.h5ad")
    (tmp_path / "genes.txt").write_text("0\n1\n")
    before = sc.settings.verbosity
    sc.settings.verbosity = verbosity
    try:
        result = CliRunner().invoke(app, [*command, "--n-comps", "5"])
    finally:
        sc.settings.verbosity = before
    assert result.exit_code == 0, result.stderr
    said = [line for line in result.stderr.splitlines() if "% of the structure" in line]
    assert len(said) == 1
