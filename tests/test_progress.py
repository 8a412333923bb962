"""Bars of progress where they cannot be drawn."""

from __future__ import annotations

import rich.console

from glfs_bio import _progress


def test_jupyter_without_widgets_is_not_warned(monkeypatch, capsys):
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr(_progress, "find_spec", lambda _: None)
    with _progress.progress(show=True) as bar:
        list(bar.track(range(3)))
    assert not bar.console.is_jupyter
    assert "ipywidgets" not in capsys.readouterr().err
