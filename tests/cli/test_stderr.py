"""Lines on stderr, and the bar of progress."""

from __future__ import annotations

import logging

import anndata as ad
import pytest
from rich.progress import Progress
from typer.testing import CliRunner

import glfs_bio
from glfs_bio.cli import app, stderr


def test_progress_of_every_stage():
    """The path counts genes down, the bound counts them up to nobody knows how many."""
    stages = stderr._Stages(Progress())

    def shown(logger="glfs_bio.glfs2014.path", **extra):
        stages.emit(logging.makeLogRecord({"name": logger, **extra}))
        task = stages.bar.tasks[0]
        return task.description, task.completed, task.total

    assert shown(stage="reading cells", n_done=20, n_all=50) == ("reading cells", 20, 50)
    begun = stages.bar.tasks[0].start_time
    assert shown(stage="reading cells", n_done=9, n_all=50) == ("reading cells", 9, 50)
    assert stages.bar.tasks[0].start_time > begun  # what is left is told from the new stage alone
    assert shown(n_genes=100) == ("100 genes left", 0, 100)
    assert shown(n_genes=30) == ("30 genes left", 70, 100)
    bound = "computing the bound on optimality: 12 genes"
    assert shown("glfs_bio.solvers.bound", n_genes=12) == (bound, 0, None)


@pytest.mark.parametrize("options", [{}, {"objective": "exact"}])
def test_the_bar_follows_a_selection(pbmc, options):
    stages = stderr._Stages(Progress())
    logger = logging.getLogger("glfs_bio")
    logger.addHandler(stages)
    logger.setLevel(logging.INFO)
    try:
        glfs_bio.pp.select_genes(pbmc, 10, **options)
    finally:
        logger.removeHandler(stages)
        logger.setLevel(logging.NOTSET)
    told = stages.bar.tasks[0].description
    assert ("left" if options else "bound") in told


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
