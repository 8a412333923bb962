"""What is seen of a call: bars of progress, and results in a line or two."""

from __future__ import annotations

import logging
import sys
from types import ModuleType

import pytest
import rich.console
import scanpy as sc
from rich.progress import Progress

import glfs_bio
from glfs_bio import _progress


def test_jupyter_without_widgets_is_not_warned(monkeypatch, capsys):
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(_progress, "find_spec", lambda _: None)
    with _progress.progress(show=True) as bar:
        list(bar.track(range(3)))
    assert not bar.console.is_jupyter
    assert "ipywidgets" not in capsys.readouterr().err


def test_progress_of_every_stage():
    """The path counts genes down, the bound counts them up to nobody knows how many."""
    stages = _progress._Stages(Progress(), "select genes")

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
    stages = _progress._Stages(Progress(), "select genes")
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


@pytest.fixture
def verbosity():
    """Set scanpy's verbosity, and set it back."""
    before = sc.settings.verbosity

    def put(value):
        sc.settings.verbosity = value

    yield put
    sc.settings.verbosity = before


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def said(text):
    return [line for line in text.splitlines() if "preserved" in line]


CALLS = {
    "select": lambda cells: glfs_bio.pp.select_genes(cells, 5),
    "extend": lambda cells: glfs_bio.tl.extend_panel(cells, ["LYZ"], 2),
    "evaluate": lambda cells: glfs_bio.tl.evaluate_panel(cells, ["LYZ", "CD3D"], n_random=0),
    "curve": lambda cells: glfs_bio.tl.curve(cells, 3),
    "order": lambda cells: glfs_bio.tl.order_panel(cells, ["LYZ", "CD3D"]),
    "markers": lambda cells: glfs_bio.tl.markers(cells, ["LYZ", "CD3D"], "bulk_labels"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_result_is_said_once(pbmc, capsys, verbosity, name):
    """As scanpy says its steps: from the level of information on."""
    verbosity("info")
    CALLS[name](pbmc)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines
    assert len(set(lines)) == len(lines)
    assert out == ""
    verbosity("warning")
    CALLS[name](pbmc)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_hears_unless_it_is_told_not_to(pbmc, capsys, verbosity, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(_progress, "find_spec", lambda _: None)
    verbosity("warning")
    glfs_bio.pp.select_genes(pbmc, 5)
    out, err = capsys.readouterr()
    assert len(said(out)) == 1
    assert "5 of 765 genes" in out
    assert err == ""
    verbosity("error")
    glfs_bio.pp.select_genes(pbmc, 5)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_sees_a_bar_and_a_result(pbmc, capsys, verbosity):
    verbosity("warning")
    glfs_bio.pp.select_genes(pbmc, 5)
    out, err = capsys.readouterr()
    assert "select genes" in err
    assert len(said(err)) == 1
    assert out == ""
    verbosity("error")
    glfs_bio.pp.select_genes(pbmc, 5)
    assert capsys.readouterr() == ("", "")
    assert logging.getLogger("glfs_bio").level == logging.NOTSET
    assert logging.getLogger("glfs_bio").propagate


@pytest.mark.usefixtures("terminal")
def test_a_bar_within_a_bar_is_not_drawn():
    with _progress.progress() as outer:
        with _progress.progress() as inner:
            assert inner.disable
        assert not outer.disable
    with _progress.progress() as later:
        assert not later.disable


def test_a_log_of_the_caller_has_it_instead(pbmc, capsys, verbosity, caplog):
    verbosity("info")
    with caplog.at_level(logging.INFO, "glfs_bio"):
        glfs_bio.pp.select_genes(pbmc, 5)
    assert len(said(caplog.text)) == 1
    assert said(capsys.readouterr().err) == []


@pytest.mark.usefixtures("terminal")
def test_notes_are_heard_beside_a_bar(caplog):
    @_progress.with_bar
    def work():
        logging.getLogger("glfs_bio.cells.graph").warning("two components")
        logging.getLogger("glfs_bio.cells.graph").info("a stage", extra={"n_genes": 5})
        return 5

    assert work() == 5
    assert [record.message for record in caplog.records] == ["two components"]


def test_a_file_of_scanpy_has_what_is_said(pbmc, verbosity, tmp_path):
    before = sc.settings.logfile
    verbosity("info")
    sc.settings.logpath = tmp_path / "log.txt"
    try:
        glfs_bio.pp.select_genes(pbmc, 5)
    finally:
        sc.settings.logfile.close()
        sc.settings.logfile = before
    assert len(said((tmp_path / "log.txt").read_text("utf-8"))) == 1


def test_who_collects_shows_it(pbmc, capsys, verbosity):
    verbosity("info")
    with _progress.collected() as lines:
        glfs_bio.pp.select_genes(pbmc, 5)
    assert len(said("\n".join(lines))) == 1
    assert capsys.readouterr() == ("", "")
