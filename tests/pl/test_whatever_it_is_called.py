"""Names of labels and genes, other settings, few cells: pictures bear them."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from refusals import refused

from glfs_bio import io as glfs_io
from glfs_bio import pl, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue, NotFound


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture
def panel(pbmc, monkeypatch):
    pp.select_genes(pbmc, 6)
    monkeypatch.setattr("glfs_bio._anndata.umap._umap", lambda cells, _: pbmc.obsm["X_umap"])
    tl.panel_umap(pbmc)
    monkeypatch.undo()
    return pbmc


def drawn():
    plt.gcf().savefig(io.BytesIO(), format="png")
    plt.close("all")


def test_several_columns_and_genes(panel):
    axes = pl.panel(panel, ["bulk_labels", "percent_mito", "CD3D"], show=False)
    assert len(axes) == 6
    drawn()
    with refused(NotFound, "labels"):
        pl.panel(panel, ["bulk_labels", "nothing"], show=False)
    with refused(InvalidValue, "labels"):
        pl.panel(panel, ["bulk_labels", "phase"], kind="dotplot", show=False)


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_a_column_called_like_a_gene(panel, kind, tmp_path):
    gene = panel.var["glfs_rank"].idxmin()
    panel.obs[gene] = panel.obs["bulk_labels"]
    pl.panel(panel, gene, kind=kind, show=False)
    drawn()
    if kind == "umap":
        glfs_io.write_report(panel, tmp_path / "report.html", labels=gene)


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_two_dollars_are_no_formula(panel, kind):
    panel.obs["odd"] = pd.Categorical(np.where(np.arange(700) % 2, r"$\frac$", "a $ b"))
    best = panel.var["glfs_rank"].idxmin()
    panel.var["symbol"] = [r"$\sum_$" if name == best else name for name in panel.var_names]
    pl.panel(panel, "odd", kind=kind, symbols="symbol", show=False)
    drawn()


@pytest.fixture(scope="module")
def evaluated(_pbmc):
    adata = _pbmc.copy()
    pp.select_genes(adata, 12)
    tl.evaluate_panel(adata, "glfs", "bulk_labels", n_random=2)
    tl.curve(adata, 15, "bulk_labels", sizes=[5, 10])
    tl.compare_panels(adata, {"ours": "glfs", "theirs": ["LYZ", "CD3D", "NKG7"]}, "bulk_labels")
    tl.enrich(adata, {"MHC": ["HLA-DRA", "HLA-DRB1", "CD74"], "T": ["CD3D", "CD3E"]})
    return adata


ONE = [
    *(pl.preserved, pl.labels, pl.confusion, pl.weights, pl.path, pl.curve, pl.comparison),
    *(pl.unexplained, pl.imputation, pl.enrichment),
]


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
        sc.settings.set_figure_params(fontsize=20)
        assert texts(draw(evaluated, show=False)) == plain
    assert not plain[1]


@pytest.mark.parametrize("draw", ONE)
def test_small_axes_of_a_caller(evaluated, draw):
    """Text is smaller, no grid is left, and neighbours do not collide in two columns."""
    with mpl.rc_context():
        sc.settings.set_figure_params(fontsize=20)
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
    drawn()
    for wrong, kind in (((5,), InvalidType), ((5, 0), InvalidValue), ((5, "x"), InvalidType)):
        with refused(kind, "figsize"):
            draw(evaluated, figsize=wrong)
    with refused(InvalidType, "title"):
        draw(evaluated, title=5)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    "draw", [pl.labels, pl.weights, pl.path, pl.curve, pl.imputation, pl.enrichment, pl.preserved]
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


def test_a_heat_map_without_room_for_numbers_has_a_colour_bar(evaluated):
    ax = plt.figure(figsize=(1.5, 1.5), layout="constrained").subplots()
    pl.confusion(evaluated, ax=ax)
    assert not ax.texts
    assert len(ax.figure.axes) == 2


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_panels_with_title_palette_and_size(panel, kind):
    options = {"title": "Blood", "figsize": (9, 4), "palette": "tab20", "cmap": "magma"}
    axes = pl.panel(panel, "bulk_labels", kind=kind, show=False, **options)
    figure = axes if kind == "heatmap" else axes[0]
    figure = next(iter(figure.values())).figure if isinstance(figure, dict) else figure.figure
    assert figure.get_suptitle() == "Blood"
    np.testing.assert_allclose(figure.get_size_inches(), [9, 4])
    drawn()
    with refused(InvalidValue, "palette"):
        pl.panel(panel, "bulk_labels", kind=kind, palette=["red"], show=False)


def test_a_umap_needs_cells(panel):
    few = panel[:4].copy()
    del few.obsm, few.uns["neighbors"]
    with refused(InvalidValue, "adata"):
        pl.panel(few, show=False)
