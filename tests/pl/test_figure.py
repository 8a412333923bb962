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
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.pl._figure import LOOK

ONE = [
    *(pl.preserved, pl.labels, pl.confusion, pl.weights, pl.path, pl.curve, pl.comparison),
    *(pl.unexplained, pl.imputation, pl.enrichment, pl.contributions, pl.markers),
]
OF_EVALUATION = [pl.labels, pl.confusion, pl.unexplained, pl.imputation, pl.preserved]
EVERY = [*OF_EVALUATION, pl.curve, pl.comparison]


@pytest.fixture
def settings():
    """scanpy's settings, put back afterwards; their class has no deleter that monkeypatch needs."""
    names = ("figdir", "autoshow", "autosave", "plot_suffix", "file_format_figs")
    before = {name: getattr(sc.settings, name) for name in names}
    yield sc.settings
    for name, value in before.items():
        setattr(sc.settings, name, value)


@pytest.fixture
def mapped_by_scanpy(evaluated, panel):
    """Cells with a UMAP of scanpy, a selection and an evaluation."""
    adata = evaluated.copy()
    adata.obsm["X_umap"] = panel.obsm["X_umap"]
    return adata


def texts(ax):
    """Sizes of all text of the figure, and whether a grid is drawn."""
    axes = ax.figure.axes
    ax.figure.draw_without_rendering()
    found = [one for one in ax.figure.findobj(mpl.text.Text) if one.get_text()]
    lines = [line for one in axes for line in (*one.get_xgridlines(), *one.get_ygridlines())]
    return {text.get_fontsize() for text in found}, any(one.get_visible() for one in lines)


@pytest.mark.parametrize("draw", ONE)
def test_settings_of_scanpy_change_no_plot(evaluated, draw):
    plain = texts(draw(evaluated, show=False))
    with mpl.rc_context():
        sc.set_figure_params(fontsize=20)
        assert texts(draw(evaluated, show=False)) == plain
    assert not plain[1]


@pytest.mark.parametrize("draw", ONE)
def test_small_axes_of_a_caller(evaluated, draw):
    """Text is smaller, no grid is left, and neighbours do not collide in two columns."""
    with mpl.rc_context():
        sc.set_figure_params(fontsize=20)
        figure, (ax, other) = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
        usual = other.xaxis.label.get_fontsize()
        assert draw(evaluated, ax=ax, title="A title") is ax
        draw(evaluated, ax=other)
        figure.draw_without_rendering()
    assert ax.xaxis.label.get_fontsize() < 10 < usual
    assert not any(line.get_visible() for line in ax.get_xgridlines())
    assert ax.get_title() == "A title"
    legend = ax.get_legend()
    above = [legend, *ax.texts] if legend else ax.texts
    title = ax.title.get_window_extent()
    assert not any(title.shrunk(0.9, 0.9).overlaps(one.get_window_extent()) for one in above)
    left = ax.get_tightbbox().x1
    assert left <= other.get_tightbbox().x0 + 2
    assert figure.bbox.x0 - 2 <= ax.get_tightbbox().x0


@pytest.mark.parametrize("draw", ONE)
def test_title_and_size_of_a_figure(evaluated, draw):
    ax = draw(evaluated, title="No $formula$", figsize=(5, 4), show=False)
    assert ax.get_title() == "No $formula$"
    np.testing.assert_allclose(ax.figure.get_size_inches(), [5, 4])
    ax.figure.draw_without_rendering()
    plt.close("all")
    for wrong, kind in (((5,), InvalidType), ((5, 0), InvalidValue), ((5, "x"), InvalidType)):
        with refused(kind, "figsize"):
            draw(evaluated, figsize=wrong)
    with refused(InvalidType, "title"):
        draw(evaluated, title=5)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    "draw",
    [
        *(pl.labels, pl.weights, pl.contributions, pl.path, pl.curve, pl.imputation),
        *(pl.enrichment, pl.preserved, pl.markers),
    ],
)
def test_colours_of_a_caller(evaluated, draw):
    for palette in (["red", "lime", "blue"], "tab10"):
        first = "red" if isinstance(palette, list) else mpl.colormaps["tab10"](0)
        ax = draw(evaluated, palette=palette, show=False)
        faces = [bar.get_facecolor() for bar in ax.patches]
        lines = [line.get_color() for line in ax.lines]
        assert any(same_color(colour, first) for colour in [*faces, *lines])
    for wrong, kind in (([], InvalidValue), (["red", "no"], InvalidValue), (5, InvalidType)):
        with refused(kind, "palette"):
            draw(evaluated, palette=wrong)


@pytest.mark.parametrize("draw", [pl.confusion, pl.comparison, pl.unexplained])
def test_a_colour_map_of_a_caller(evaluated, draw):
    ax = draw(evaluated, cmap="magma", show=False)
    assert [*ax.images, *ax.collections][0].get_cmap().name == "magma"
    for wrong, kind in (("no", InvalidValue), (5, InvalidType)):
        with refused(kind, "cmap"):
            draw(evaluated, cmap=wrong)


@pytest.mark.parametrize("draw", EVERY)
def test_shown_saved_or_in_axes_of_the_caller(judged, draw, monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(1))
    assert draw(judged, show=True) is None
    assert shown == [1]
    ax = plt.figure().add_subplot()
    assert draw(judged, ax=ax, save=tmp_path / "here.png") is ax
    assert (tmp_path / "here.png").stat().st_size > 0
    open_before = plt.get_fignums()
    with refused(InvalidType, "ax"):
        draw(judged, ax="one")
    with refused(InvalidValue, "save"):
        draw(judged, save="x.doc")
    assert plt.get_fignums() == open_before


def test_a_path_is_written_as_given(panel, tmp_path, settings, monkeypatch):
    settings.figdir = tmp_path / "figures"
    monkeypatch.chdir(tmp_path)
    pl.weights(panel, save=tmp_path / "mine.png")
    pl.weights(panel, save=Path("bare.png"))
    pl.path(panel, save=str(tmp_path / "mine.svg"))
    pl.path(panel, save="./here.png")
    pl.dotplot(panel, "bulk_labels", save="new/dots.png")
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert found == {"mine.png", "bare.png", "mine.svg", "here.png", "new/dots.png"}


@pytest.mark.parametrize("save", [True, "_mine", "_mine.svg", ".svg", "mine.png", "_v1.2", ".5"])
def test_saved_as_scanpy_does(mapped_by_scanpy, tmp_path, settings, monkeypatch, save):
    """A text is appended to the name of the plot, in the folder and with the suffix of scanpy."""
    monkeypatch.chdir(tmp_path)
    settings.plot_suffix = "_of_mine"
    settings.file_format_figs = "png"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # save= is on its way out, by a different warning each time
        sc.pl.umap(mapped_by_scanpy, save=save, show=False)
    (theirs,) = (tmp_path / "figures").iterdir()
    pl.weights(mapped_by_scanpy, save=save)
    (ours,) = set((tmp_path / "figures").iterdir()) - {theirs}
    assert ours.name == theirs.name.replace("umap", "glfs_weights", 1)
    assert [file.name for file in tmp_path.iterdir()] == ["figures"]


def test_saved_where_scanpy_saves_all(panel, tmp_path, settings):
    settings.figdir, settings.autosave = tmp_path, True
    pl.weights(panel)
    pl.weights(panel, save=False)
    assert [file.stem for file in tmp_path.iterdir()] == ["glfs_weights"]


@pytest.mark.parametrize("save", ["no_ending/x", "x.nope", Path("bare"), ".nope"])
def test_a_file_needs_a_known_ending(panel, save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused(InvalidValue, "save"):
        pl.weights(panel, save=save)
    assert list(tmp_path.iterdir()) == []


def test_many_points_are_a_picture_in_a_vector_file(mapped_by_scanpy, tmp_path, monkeypatch):
    monkeypatch.setattr("glfs_bio.pl._figure.LOOK", replace(LOOK, most_vectors=100))
    ax = pl.unexplained(mapped_by_scanpy, save=tmp_path / "points.svg")
    assert all(points.get_rasterized() for points in ax.collections)
    assert (tmp_path / "points.svg").read_text("utf-8").count("<image") >= 1


@pytest.mark.parametrize("draw", [pl.path, pl.preserved, pl.imputation, pl.labels, pl.markers])
def test_lines_are_seen_on_a_dark_figure(evaluated, draw):
    with plt.style.context("dark_background"):
        ax = draw(evaluated, show=False)
        background = mpl.colors.to_rgb(ax.get_facecolor())
        for line in ax.lines:
            for colour in (line.get_color(), line.get_markeredgecolor()):
                assert not same_color(mpl.colors.to_rgb(colour), background) or colour == "none"


def test_saved_from_axes_in_a_part_of_a_figure(panel, tmp_path):
    figure = plt.figure()
    left, _ = figure.subfigures(1, 2)
    pl.weights(panel, ax=left.subplots(), save=tmp_path / "whole.png")
    assert (tmp_path / "whole.png").stat().st_size > 0


@pytest.mark.parametrize("draw", [pl.weights, pl.enrichment])
def test_shown_or_handed_back(panel, monkeypatch, settings, draw):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(1))
    settings.autoshow = True
    assert draw(panel) is None
    assert draw(panel, show=True) is None
    assert len(shown) == 2
    assert draw(panel, show=False) is not None
    settings.autoshow = False
    assert draw(panel) is not None
    assert len(shown) == 2


@pytest.mark.parametrize(
    ("draw", "options", "error", "argument"),
    [
        (pl.weights, {"key": "no"}, KeyError, "key"),
        (pl.weights, {"n_genes": 0}, ValueError, "n_genes"),
        (pl.weights, {"symbols": "no"}, KeyError, "symbols"),
        (pl.path, {"key": "no"}, KeyError, "key"),
        (pl.stability, {"key": "no"}, KeyError, "key"),
        (pl.enrichment, {"key": "no"}, KeyError, "key"),
        (pl.enrichment, {"n_terms": 0}, ValueError, "n_terms"),
        (pl.panel, {"kind": "violin"}, ValueError, "kind"),
        (pl.panel, {"kind": "heatmap"}, ValueError, "kind"),
        (pl.panel, {"labels": "no"}, KeyError, "labels"),
        (pl.panel, {"labels": "S_score", "kind": "dotplot"}, TypeError, "labels"),
        (pl.panel, {"labels": "phase", "kind": "dotplot", "ax": "one"}, ValueError, "ax"),
        (pl.panel, {"ax": "one"}, TypeError, "ax"),
    ],
)
def test_bad_input_draws_nothing(panel, draw, options, error, argument):
    with refused(error, argument):
        draw(panel, **options)
    assert plt.get_fignums() == []


def test_what_pictures_share_is_in_every_docstring():
    for name in pl.__all__:
        told = getattr(pl, name).__doc__
        assert "Whether to show the figure" in told
        assert "<" not in told
