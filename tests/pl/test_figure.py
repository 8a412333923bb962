from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from refusals import refused

from glfs_bio import pl
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.pl._figure import LOOK

#: Plots in one axes.
PLOTS = [
    *(pl.preserved, pl.labels, pl.confusion, pl.weights, pl.path, pl.curve, pl.comparison),
    *(pl.unexplained, pl.imputation, pl.enrichment, pl.contributions),
]
OF_VALUES = [pl.confusion, pl.comparison, pl.unexplained]
COLOURED = [draw for draw in PLOTS if draw not in OF_VALUES]


@pytest.fixture
def settings():
    """scanpy's settings, put back afterwards; their class has no deleter that monkeypatch needs."""
    names = ("figdir", "autoshow", "autosave", "plot_suffix", "file_format_figs")
    before = {name: getattr(sc.settings, name) for name in names}
    yield sc.settings
    for name, value in before.items():
        setattr(sc.settings, name, value)


@pytest.mark.parametrize("draw", PLOTS)
def test_small_axes_of_a_caller(analysed, draw):
    """Text is smaller, no grid is left, and neighbours do not collide in two columns."""
    with mpl.rc_context():
        sc.set_figure_params(fontsize=20)
        figure, (ax, other) = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
        usual = other.xaxis.label.get_fontsize()
        assert draw(analysed, ax=ax, title="A title") is ax
        draw(analysed, ax=other)
        figure.draw_without_rendering()
    assert ax.xaxis.label.get_fontsize() < 10 < usual
    assert not any(line.get_visible() for line in ax.get_xgridlines())
    assert ax.get_title() == "A title"
    legend = ax.get_legend()
    above = [legend, *ax.texts] if legend else ax.texts
    title = ax.title.get_window_extent()
    assert not any(title.shrunk(0.9, 0.9).overlaps(text.get_window_extent()) for text in above)
    left = ax.get_tightbbox().x1
    assert left <= other.get_tightbbox().x0 + 2
    assert figure.bbox.x0 - 2 <= ax.get_tightbbox().x0


def test_title_size_and_colours_of_a_caller(analysed):
    look = {"title": "No $formula$", "figsize": (5, 4), "show": False}
    for draw in PLOTS:
        ax = draw(analysed, **look, **({"cmap": "magma"} if draw in OF_VALUES else {}))
        assert ax.get_title() == "No $formula$"
        np.testing.assert_allclose(ax.figure.get_size_inches(), [5, 4])
        ax.figure.draw_without_rendering()
        if draw in OF_VALUES:
            assert [*ax.images, *ax.collections][0].get_cmap().name == "magma", draw.__name__
        plt.close("all")
    red, first = ["red", "lime", "blue"], mpl.colormaps["tab10"](0)
    palettes = [(draw, red, "red") for draw in COLOURED] + [(pl.labels, "tab10", first)]
    for draw, palette, colour in palettes:
        ax = draw(analysed, palette=palette, show=False)
        colours = [bar.get_facecolor() for bar in ax.patches]
        colours += [line.get_color() for line in ax.lines]
        assert any(same_color(other, colour) for other in colours), draw.__name__
        plt.close("all")


def test_shown_saved_or_handed_back(analysed, monkeypatch, settings, tmp_path):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(1))
    settings.autoshow = True
    assert pl.weights(analysed) is None
    assert pl.weights(analysed, show=True) is None
    assert len(shown) == 2
    assert pl.weights(analysed, show=False) is not None
    settings.autoshow = False
    assert pl.weights(analysed) is not None
    left, _ = plt.figure().subfigures(1, 2)
    ax = left.subplots()
    assert pl.weights(analysed, ax=ax, save=tmp_path / "here.png") is ax
    assert (tmp_path / "here.png").stat().st_size > 0
    assert len(shown) == 2


def test_a_path_is_written_as_given(analysed, tmp_path, settings, monkeypatch):
    settings.figdir = tmp_path / "figures"
    monkeypatch.chdir(tmp_path)
    for save in ("no_ending/x", "x.nope", Path("bare"), ".nope"):
        with refused(InvalidValue, "save"):
            pl.weights(analysed, save=save)
    pl.weights(analysed, save=Path("bare.png"))
    pl.path(analysed, save=str(tmp_path / "mine.svg"))
    pl.dotplot(analysed, "bulk_labels", save="new/dots.png")
    settings.autosave = True
    pl.weights(analysed)
    pl.labels(analysed, save=False)
    files = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    usual = f"figures/glfs_weights.{settings.file_format_figs}"
    assert files == {"bare.png", "mine.svg", "new/dots.png", usual}


@pytest.mark.parametrize("save", [True, "_mine.svg", ".svg", "mine.png", "_v1.2", ".5"])
def test_saved_as_scanpy_does(analysed, tmp_path, settings, monkeypatch, save):
    """A text is appended to the name of the plot, in the folder and with the suffix of scanpy."""
    monkeypatch.chdir(tmp_path)
    settings.plot_suffix = "_of_mine"
    settings.file_format_figs = "png"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # save= is on its way out, by a different warning each time
        sc.pl.umap(analysed, save=save, show=False)
    (theirs,) = (tmp_path / "figures").iterdir()
    pl.weights(analysed, save=save)
    (ours,) = set((tmp_path / "figures").iterdir()) - {theirs}
    assert ours.name == theirs.name.replace("umap", "glfs_weights", 1)
    assert [file.name for file in tmp_path.iterdir()] == ["figures"]


def test_many_points_are_a_picture_in_a_vector_file(analysed, tmp_path, monkeypatch):
    monkeypatch.setattr("glfs_bio.pl._figure.LOOK", replace(LOOK, most_vectors=100))
    ax = pl.unexplained(analysed, save=tmp_path / "points.svg")
    assert all(points.get_rasterized() for points in ax.collections)
    assert (tmp_path / "points.svg").read_text("utf-8").count("<image") >= 1


def test_lines_are_seen_on_a_dark_figure(analysed):
    with plt.style.context("dark_background"):
        for draw in (pl.path, pl.preserved, pl.imputation, pl.labels):
            ax = draw(analysed, show=False)
            background = mpl.colors.to_rgb(ax.get_facecolor())
            for line in ax.lines:
                for colour in {line.get_color(), line.get_markeredgecolor()} - {"none"}:
                    assert mpl.colors.to_rgb(colour) != background, draw.__name__


BAD = [
    *((pl.labels, {"figsize": size}, InvalidType, "figsize") for size in ((5,), (5, "x"))),
    *((pl.path, {"palette": colours}, InvalidValue, "palette") for colours in ([], ["red", "no"])),
    (pl.labels, {"figsize": (5, 0)}, InvalidValue, "figsize"),
    (pl.labels, {"title": 5}, InvalidType, "title"),
    (pl.labels, {"ax": "one"}, InvalidType, "ax"),
    (pl.labels, {"save": "x.doc"}, InvalidValue, "save"),
    (pl.confusion, {"cmap": "no"}, InvalidValue, "cmap"),
    (pl.confusion, {"cmap": 5}, InvalidType, "cmap"),
    (pl.weights, {"n_genes": 0}, InvalidValue, "n_genes"),
    (pl.stability, {"key": "no"}, NotFound, "key"),
    (pl.enrichment, {"n_terms": 0}, InvalidValue, "n_terms"),
    (pl.panel, {"labels": "no"}, NotFound, "labels"),
    (pl.panel, {"labels": "S_score", "kind": "dotplot"}, InvalidType, "labels"),
    (pl.panel, {"labels": "phase", "kind": "dotplot", "ax": "one"}, InvalidValue, "ax"),
]


def test_bad_input_draws_nothing(analysed):
    for draw, options, error, argument in BAD:
        with refused(error, argument):
            draw(analysed, **options)
    assert plt.get_fignums() == []
