"""What is seen of a call: bars of progress, and results in a line or two."""

from __future__ import annotations

import logging
import sys
from types import ModuleType

import pytest
import rich.console
import scanpy as sc

from glfs_bio import _progress, pp, tl
from glfs_bio.errors import show_stage, stage_bar, without_notes
from glfs_bio.options import public


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


def results(text):
    return [line for line in text.splitlines() if "preserved" in line]


def test_jupyter_without_widgets_is_not_warned(monkeypatch, capsys):
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(_progress, "find_spec", lambda _: None)
    with _progress.progress("select genes"):
        assert stage_bar.get() is None
        show_stage("reading cells", 1, 3)
    assert "ipywidgets" not in capsys.readouterr().err


@pytest.mark.usefixtures("terminal")
def test_spyder_without_widgets_has_no_bar(monkeypatch, capsys):
    """Its kernel is one of ipykernel, and no Jupyter to rich, and would print every change anew."""
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(_progress, "find_spec", lambda _: None)
    with _progress.progress("select genes"):
        show_stage("reading cells", 1, 3)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
def test_progress_of_every_stage(monkeypatch):
    """A path says how many genes it has, and nobody knows how many it will have."""
    bars = []

    class Watched(_progress.Progress):
        def __init__(self, *columns, **options):
            super().__init__(*columns, **options)
            bars.append(self)

    monkeypatch.setattr(_progress, "Progress", Watched)

    def shown(*stage):
        show_stage(*stage)
        task = bars[0].tasks[0]
        return task.description, task.completed, task.total

    with _progress.progress("select genes"):
        assert bars[0].tasks[0].description == "select genes"
        assert shown("reading cells", 20, 50) == ("reading cells", 20, 50)
        begun = bars[0].tasks[0].start_time
        assert shown("reading cells", 9, 50) == ("reading cells", 9, 50)
        assert bars[0].tasks[0].start_time > begun  # what is left is said by the new stage alone
        assert shown("100 genes") == ("100 genes", 0, None)
        with without_notes():  # of a fold
            assert shown("90 genes") == ("100 genes", 0, None)


@pytest.mark.parametrize(
    "call",
    [
        lambda cells: pp.select_genes(cells, 5),
        lambda cells: tl.evaluate_panel(cells, ["LYZ", "CD3D"]),
        lambda cells: tl.order_panel(cells, ["LYZ", "CD3D"]),
    ],
    ids=["select", "evaluate", "order"],
)
def test_a_result_is_said_once(pbmc, capsys, verbosity, call):
    """As scanpy says its steps: from the level of information on."""
    verbosity("info")
    call(pbmc)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert lines
    assert len(set(lines)) == len(lines)
    assert out == ""
    verbosity("warning")
    call(pbmc)
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def shown(pbmc, capsys, verbosity):
    """What a selection shows at a verbosity: on stdout, and on stderr."""

    def at(level):
        verbosity(level)
        pp.select_genes(pbmc, 5)
        return capsys.readouterr()

    return at


def test_a_notebook_hears_unless_it_is_told_not_to(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(_progress, "find_spec", lambda _: None)
    out, err = shown("warning")
    assert "5 of 753 genes" in "".join(results(out))
    assert (len(results(out)), err) == (1, "")
    assert shown("error") == ("", "")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_sees_a_bar_and_a_result(shown):
    out, err = shown("warning")
    assert "select genes" in err
    assert (len(results(err)), out) == (1, "")
    assert shown("error") == ("", "")
    assert logging.getLogger("glfs_bio").level == logging.NOTSET
    assert logging.getLogger("glfs_bio").propagate


@pytest.mark.usefixtures("terminal")
def test_a_bar_within_a_bar_is_not_drawn():
    with _progress.progress("outer"):
        outer = stage_bar.get()
        with _progress.progress("inner"):
            assert stage_bar.get() is outer is not None
        assert stage_bar.get() is outer
    assert stage_bar.get() is None


@pytest.mark.usefixtures("terminal")
def test_notes_are_heard_beside_a_bar(caplog):
    @public
    def work():
        logging.getLogger("glfs_bio.cells.graph").warning("two components")
        show_stage("a stage")
        return 5

    assert work() == 5
    assert [record.message for record in caplog.records] == ["two components"]


def test_who_listens_has_it_instead(pbmc, capsys, verbosity, caplog, tmp_path):
    """A log of the caller, a file of scanpy, and whoever collects."""
    verbosity("info")
    with caplog.at_level(logging.INFO, "glfs_bio"):
        pp.select_genes(pbmc, 5)
    assert len(results(caplog.text)) == 1
    with _progress.collected() as lines:
        pp.select_genes(pbmc, 5)
    assert len(results("\n".join(lines))) == 1
    before = sc.settings.logfile
    sc.settings.logpath = tmp_path / "log.txt"
    try:
        pp.select_genes(pbmc, 5)
    finally:
        sc.settings.logfile.close()
        sc.settings.logfile = before
    assert len(results((tmp_path / "log.txt").read_text("utf-8"))) == 1
    assert capsys.readouterr().err == ""
