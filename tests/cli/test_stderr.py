"""Lines on stderr."""

from __future__ import annotations

import anndata as ad
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
