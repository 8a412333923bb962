from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from pictures import best_first, drawn, labels_apart, names
from refusals import refused
from scipy import sparse

from glfs_bio import pl, pp, tl
from glfs_bio._anndata import umap
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.pl._figure import MUTED


@pytest.fixture(scope="module")
def _mapped(_pbmc, quick_umaps):
    adata = _pbmc.copy()
    pp.select_genes(adata, 6)
    with quick_umaps():
        tl.panel_umap(adata)
    return adata


@pytest.fixture
def mapped(_mapped):
    return _mapped.copy()


def test_panel_beside_all_genes(panel, quick_umaps):
    before = set(panel.obsm), set(panel.uns), list(panel.obs)
    with quick_umaps():
        left, right = pl.panel(panel, "bulk_labels", show=False)
    for ax, part in ((left, "all 765 genes"), (right, "panel of 10 genes")):
        assert ax.get_title() == f"bulk_labels, {part}"
    points = np.sort(left.collections[0].get_offsets(), axis=0)
    np.testing.assert_allclose(points, np.sort(panel.obsm["X_umap"], axis=0), rtol=1e-5)
    assert right.collections[0].get_offsets().shape == (700, 2)
    categories = list(panel.obs["bulk_labels"].cat.categories)
    assert names(right.get_legend().get_texts()) == categories
    assert left.get_legend() is None
    assert (set(panel.obsm), set(panel.uns), list(panel.obs)) == before


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


def test_many_cells_are_drawn_as_a_sample(pbmc, monkeypatch, quick_umaps):
    monkeypatch.setattr(umap, "MOST_CELLS", 100)
    pp.select_genes(pbmc, 6)
    whole = pbmc.obsm.pop("X_umap")
    with quick_umaps():
        axes = pl.panel(pbmc, ["bulk_labels", "LYZ"], keep=True, show=False)
    rows = np.linspace(0, 699, 100).astype(int)
    for name in ("X_umap", "X_umap_glfs"):
        assert set(np.flatnonzero(np.isfinite(pbmc.obsm[name][:, 0]))) == set(rows)
    assert pbmc.uns["umap_glfs"]["params"]["n_cells"] == 100
    for ax in axes:
        assert len(ax.collections[0].get_offsets()) == 100
        assert ax.get_title().replace("\n", " ").endswith("100 of 700 cells")
    pbmc.obsm["X_umap"] = whole  # of all cells: the same are drawn beside one another
    del pbmc.uns["umap"]
    with monkeypatch.context() as patch:
        patch.setattr(umap, "_umap", None)
        left, _ = pl.panel(pbmc, show=False)
        assert len(left.collections[0].get_offsets()) == 100
        tl.panel_umap(pbmc, max_cells=100)  # are there
    with quick_umaps():
        tl.panel_umap(pbmc, max_cells=700)
    assert np.isfinite(pbmc.obsm["X_umap_glfs"]).all()


def test_umaps_of_many_cells_start_from_their_axes(pbmc, monkeypatch):
    """Computed by scanpy, which takes 16 s once."""
    monkeypatch.setattr(umap, "MOST_EXACT", 300)
    where = umap._umap(pbmc.obsm["X_pca"], 0)
    labels = pbmc.obs["bulk_labels"].to_numpy()
    apart = np.linalg.norm(where[:, None] - where, axis=2) + np.diag(np.full(700, np.inf))
    assert np.mean(labels[apart.argmin(axis=1)] == labels) > 0.6
    np.testing.assert_array_equal(where, umap._umap(pbmc.obsm["X_pca"], 0))


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
