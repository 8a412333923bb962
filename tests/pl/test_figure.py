from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from pictures import apart
from refusals import refused

from glfs_bio import pl, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue, NotFound, Refusal

IN_ONE_AXES = [pl.genes, pl.curve, pl.labels, pl.confusion, pl.comparison]


@pytest.mark.parametrize("draw", IN_ONE_AXES)
def test_in_a_figure_of_its_own_and_in_axes_of_the_caller(drawn, draw):
    """Nothing lies over anything, whatever scanpy's settings, and lines are seen on black."""
    assert apart(draw(drawn, show=False))
    with mpl.rc_context():
        sc.set_figure_params(fontsize=20)
        ax = plt.figure(layout="constrained", figsize=(9, 6)).subplots()
        assert draw(drawn, ax=ax) is ax
        assert not any(line.get_visible() for line in draw(drawn, show=False).get_xgridlines())
    with plt.style.context("dark_background"):
        ax = draw(drawn, show=False)
        assert not any(same_color(text.get_color(), "black") for text in ax.get_yticklabels())
        assert not any(same_color(line.get_color(), "black") for line in ax.lines)


def test_shown_saved_or_returned(drawn, monkeypatch, tmp_path):
    shown, before = [], sc.settings.autoshow
    monkeypatch.setattr(plt, "show", lambda: shown.append(1))
    try:
        sc.settings.autoshow = True
        assert pl.genes(drawn) is None
        sc.settings.autoshow = False
        assert pl.genes(drawn) is not None
        assert pl.genes(drawn, show=True) is None
    finally:
        sc.settings.autoshow = before
    assert len(shown) == 2
    ax = plt.figure().subplots()
    assert pl.curve(drawn, ax=ax, save=tmp_path / "new" / "curve.pdf") is ax
    pl.panel(drawn, "label", basis="mine", save=str(tmp_path / "panel.png"))
    assert {path.name for path in tmp_path.rglob("*.p*")} == {"curve.pdf", "panel.png"}
    assert len(shown) == 2


def test_colours(drawn):
    for palette, first in (("tab10", "tab:blue"), ("viridis", mpl.colormaps["viridis"](0.0))):
        assert same_color(pl.curve(drawn, palette=palette, show=False).lines[0].get_color(), first)
        (bar,) = pl.stability(drawn, 1, palette=palette, show=False)[0].patches
        assert same_color(bar.get_facecolor(), first)
    ax = pl.labels(drawn, palette=["red", (0, 1, 0), "0.5"], show=False)
    assert {bar.get_facecolor()[:3] for bar in ax.patches} <= {(1, 0, 0), (0, 1, 0), (0.5,) * 3}
    (image,) = pl.confusion(drawn, color_map=mpl.colormaps["magma"], show=False).images
    assert image.get_cmap().name == "magma"


BAD = [
    *((pl.curve, {"palette": colours}, InvalidValue, "palette") for colours in (5, [], ["no"])),
    (pl.panel, {"palette": 5, "color": "label"}, InvalidValue, "palette"),
    (pl.panel, {"color": "no"}, NotFound, "color"),
    (pl.panel, {"basis": "no"}, NotFound, "basis"),
    (pl.labels, {"ax": "one"}, InvalidType, "ax"),
    (pl.labels, {"save": "x.doc"}, InvalidValue, "save"),
    (pl.confusion, {"color_map": "no"}, InvalidValue, "color_map"),
    (pl.confusion, {"color_map": 5}, InvalidValue, "color_map"),
    (pl.confusion, {"reading": "no"}, InvalidValue, "reading"),
    (pl.confusion, {"key": "plain"}, NotFound, "key"),
    (pl.genes, {"n_genes": 0}, InvalidValue, "n_genes"),
    (pl.genes, {"column": "no"}, InvalidValue, "column"),
    (pl.dotplot, {"labels": "S_score"}, InvalidType, "labels"),
    (pl.dotplot, {"labels": None}, InvalidType, "labels"),
    *((draw, {"key": "no"}, NotFound, "key") for draw in (*IN_ONE_AXES, pl.stability, pl.panel)),
]


def test_bad_input_is_refused_before_any_work(drawn, monkeypatch, unchanged):
    monkeypatch.setattr(sc.tl, "umap", None)
    with unchanged(drawn):
        for draw, options, error, argument in BAD:
            with refused(error, argument):
                draw(drawn, **options)
    assert plt.get_fignums() == []


def test_results_that_lack_what_is_drawn_are_not_called_missing(pbmc):
    pp.select_genes(pbmc, 5)
    tl.evaluate_panel(pbmc)
    with refused(NotFound, "key") as caught:
        pl.confusion(pbmc)
    assert "with confusion" in str(caught.value)


def test_outdated_results_are_not_drawn(drawn):
    drawn.X = drawn.X * 2
    for draw in (pl.labels, pl.confusion, pl.comparison):
        with refused(Refusal, "key"):
            draw(drawn)
    measures = pl.curve(drawn, show=False).lines
    np.testing.assert_array_equal(measures[0].get_ydata(), drawn.uns["glfs"]["preserved"])
    assert not any(line.get_marker() == "s" for line in measures)
