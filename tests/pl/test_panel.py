from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib.colors import same_color
from pictures import best_first, drawn, labels_apart, names
from refusals import refused
from scipy import sparse

from glfs_bio import pl, pp
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.pl._figure import MUTED


@pytest.fixture(autouse=True)
def _quick(quick_umaps):
    with quick_umaps():
        yield


@pytest.fixture
def mapped(pbmc):
    pp.select_genes(pbmc, 6)
    return pbmc


def points(ax):
    return np.asarray(ax.collections[0].get_offsets())


def test_panel_beside_all_genes(panel):
    before = set(panel.obsm), set(panel.uns), list(panel.obs)
    left, right = pl.panel(panel, "bulk_labels", show=False)
    for ax, part in ((left, "all 765 genes"), (right, "panel of 10 genes")):
        assert ax.get_title() == f"bulk_labels, {part}"
    expected = np.sort(panel.obsm["X_umap"], axis=0)
    np.testing.assert_allclose(np.sort(points(left), axis=0), expected, rtol=1e-5)
    assert points(right).shape == (700, 2)
    categories = list(panel.obs["bulk_labels"].cat.categories)
    assert names(right.get_legend().get_texts()) == categories
    assert left.get_legend() is None
    assert (set(panel.obsm), set(panel.uns), list(panel.obs)) == before


def test_a_stored_umap_is_drawn(panel, monkeypatch):
    panel.obsm["X_mine"] = panel.obsm["X_umap"][:, ::-1]
    monkeypatch.setattr("glfs_bio.pl._panel._umap", None)
    _, right = pl.panel(panel, basis="mine", show=False)
    expected = np.sort(panel.obsm["X_mine"], axis=0)
    np.testing.assert_allclose(np.sort(points(right), axis=0), expected, rtol=1e-5)
    with refused(NotFound, "basis"):
        pl.panel(panel, basis="nothing", show=False)


def test_the_umap_by_the_panel_is_that_of_scanpy(panel, monkeypatch):
    """On its genes, in the order of the object; of many genes on their components."""
    monkeypatch.setattr(sc.tl, "umap", lambda cells: cells.obsm.update(X_umap=cells.X[:, :2]))
    chosen = panel[:, panel.var["glfs_selected"]]
    _, right = pl.panel(panel, show=False)
    expected = np.sort(chosen.X[:, :2].toarray(), axis=0)
    np.testing.assert_allclose(np.sort(points(right), axis=0), expected, rtol=1e-5)
    reduced = []
    monkeypatch.setattr("glfs_bio.pl._panel._MOST_GENES_OF_UMAP", 9)
    monkeypatch.setattr(sc.pp, "pca", lambda cells: reduced.append(cells.shape))
    pl.panel(panel, show=False)
    assert reduced == [(700, 10)]


def test_one_map_without_one_of_all_genes(panel):
    del panel.obsm["X_umap"]
    (ax,) = pl.panel(panel, "bulk_labels", show=False)
    assert ax.get_title() == "bulk_labels, panel of 10 genes"
    assert ax.get_legend() is not None


def test_heatmap_groups_and_orders(panel, monkeypatch):
    panel.uns.pop("bulk_labels_colors", None)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", show=False)
    image = axes["heatmap_ax"].images[0].get_array()
    assert image.shape[1] == 10
    assert (image.min(), image.max()) == (0, 1)
    genes = names(axes["heatmap_ax"].get_xticklabels())
    assert set(genes) == set(best_first(panel).index)
    means = panel[:, genes].to_df().groupby(panel.obs["bulk_labels"], observed=True).mean()
    highest = means.to_numpy().argmax(axis=0)
    assert (np.diff(highest) >= 0).all()
    assert labels_apart(axes["groupby_ax"].get_yticklabels())
    colours = axes["groupby_ax"].images[0].get_cmap()(np.arange(10))
    assert all(same_color(a, b) for a, b in zip(colours, MUTED, strict=True))
    panel.obs["many_groups"] = pd.Categorical([f"t{i % 14}" for i in range(700)])
    axes = pl.panel(panel, "many_groups", kind="heatmap", show=False)
    assert len(axes["groupby_ax"].get_yticklabels()) == 14
    monkeypatch.setattr("glfs_bio.pl._panel._MOST_ROWS", 50)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", symbols="symbol", show=False)
    assert axes["heatmap_ax"].images[0].get_array().shape[0] == 50
    assert axes["heatmap_ax"].get_xlabel() == "50 of 700 cells"
    genes = names(axes["heatmap_ax"].get_xticklabels())
    assert set(genes) == set(best_first(panel)["symbol"])
    # the layer of the selection is shown
    panel.layers["logged"] = panel.X.copy()
    pp.select_genes(panel, 5, layer="logged", key_added="layer")
    panel.X = sparse.csr_matrix(panel.shape, dtype=np.float32)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", key="layer", show=False)
    assert axes["heatmap_ax"].images[0].get_array().max() == 1


@pytest.mark.parametrize(
    ("name", "n_groups"), [("cluster", 150), ("CD8-positive, alpha-beta memory T cell", 80)]
)
def test_legends_of_many_groups_leave_room(mapped, n_groups, name):
    mapped.obs["many"] = pd.Categorical([f"{name} {i % n_groups}" for i in range(700)])
    for options in ({}, {"figsize": (8, 3)}):
        left, right = pl.panel(mapped, "many", show=False, **options)
        right.figure.canvas.draw()
        for ax in (left, right):
            box = ax.get_position()
            assert box.height > 0.5
            assert box.width * ax.figure.get_figwidth() > 1.0
        texts = names(right.get_legend().get_texts())
        shown = len(texts) - texts[-1].startswith("and ")
        assert texts[-1] == f"and {n_groups - shown} more" or shown == n_groups
        assert shown == n_groups or options or name != "cluster"


def test_several_columns_and_genes(mapped):
    mapped.var["symbol"] = mapped.var_names.to_series().replace({"CD3D": "$a$ CD3 $"})
    shown = ["bulk_labels", "percent_mito", "CD3D"]
    axes = pl.panel(mapped, shown, symbols="symbol", show=False)
    assert len(axes) == 6
    titles = [ax.get_title().replace("\\", "") for ax in axes[::2]]
    assert [title.split(", ")[0] for title in titles] == [*shown[:2], "$a$ CD3 $"]
    values = axes[4].collections[0].get_array()
    np.testing.assert_allclose(np.sort(values), np.sort(mapped[:, "CD3D"].X.toarray().ravel()))
    drawn()
    groups = set(mapped.obs["bulk_labels"].cat.categories)
    for ax in pl.panel(mapped, "bulk_labels", legend_loc="on data", show=False):
        assert set(names(ax.texts)) == groups
        assert ax.get_legend() is None
    with refused(NotFound, "labels"):
        pl.panel(mapped, ["bulk_labels", "nothing"], show=False)
    with refused(InvalidValue, "labels"):
        pl.panel(mapped, ["bulk_labels", "phase"], kind="dotplot", show=False)


@pytest.mark.parametrize(("ncols", "beside"), [(1, 2), (4, 4), (20, 6)])
def test_maps_stand_in_rows(mapped, ncols, beside):
    """Those by all genes and by the panel stay together."""
    axes = pl.panel(mapped, ["CD3D", "percent_mito", "phase"], ncols=ncols, show=False)
    axes[0].figure.figure.canvas.draw()
    boxes = [ax.get_window_extent() for ax in axes]
    heights = [round(box.y0, 1) for box in boxes]
    assert heights.count(max(heights)) == beside
    for left, right in zip(boxes[::2], boxes[1::2], strict=True):
        assert (left.y0, left.width) == pytest.approx((right.y0, right.width))
        assert left.x1 < right.x0


def test_many_cells_are_drawn_as_a_sample(mapped, monkeypatch):
    for module in ("_panel", "_figure"):
        monkeypatch.setattr(f"glfs_bio.pl.{module}.MOST_POINTS", 100)
    for ax in pl.panel(mapped, ["bulk_labels", "LYZ"], show=False):
        assert len(points(ax)) == 100
        assert ax.get_title().replace("\n", " ").endswith("100 of 700 cells")


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_look_and_odd_names(mapped, kind):
    """A column that is called like a gene, and names with two dollars, which are no formulas."""
    gene = mapped.var["glfs_rank"].idxmin()
    mapped.obs[gene] = pd.Categorical(np.where(np.arange(700) % 2, r"$\frac$", "a $ b"))
    mapped.var["symbol"] = [r"$\sum_$" if name == gene else name for name in mapped.var_names]
    options = {"title": "Blood", "figsize": (9, 4), "palette": "tab20", "cmap": "magma"}
    pl.panel(mapped, gene, kind=kind, symbols="symbol", show=False, **options)
    figure = plt.gcf()
    assert figure.get_suptitle() == "Blood"
    np.testing.assert_allclose(figure.get_size_inches(), [9, 4])
    drawn()
    with refused(InvalidValue, "palette"):
        pl.panel(mapped, "bulk_labels", kind=kind, palette=["red"], show=False)
    if kind != "umap":  # whole numbers are groups, and others are not
        mapped.obs["codes"] = np.where(np.arange(700) < 20, np.nan, np.arange(700) % 3)
        assert pl.panel(mapped, "codes", kind=kind, show=False)
        with refused(InvalidType, "labels"):
            pl.panel(mapped, "percent_mito", kind=kind, show=False)
