from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from pictures import best_first, drawn, labels_apart
from refusals import refused
from scipy import sparse

from glfs_bio import io as glfs_io
from glfs_bio import pl, pp, tl
from glfs_bio._anndata import read as matrices
from glfs_bio._anndata import umap
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.pl._figure import MUTED
from glfs_bio.pp import select_genes


@pytest.fixture
def mapped(pbmc, monkeypatch):
    pp.select_genes(pbmc, 6)
    monkeypatch.setattr("glfs_bio._anndata.umap._umap", lambda cells, _: pbmc.obsm["X_umap"])
    tl.panel_umap(pbmc)
    monkeypatch.undo()
    return pbmc


def test_panel_beside_all_genes(panel):
    panel = panel[::5].copy()
    before = set(panel.obsm), set(panel.uns), list(panel.obs)
    left, right = pl.panel(panel, "bulk_labels", show=False)
    assert [left.get_title(), right.get_title()] == [
        *("bulk_labels, all 765 genes", "bulk_labels, panel of 10 genes")
    ]
    points = left.collections[0].get_offsets()
    assert {tuple(p) for p in np.round(points, 4)} == {
        tuple(p) for p in np.round(panel.obsm["X_umap"], 4)
    }
    assert right.collections[0].get_offsets().shape == (140, 2)
    categories = list(panel.obs["bulk_labels"].cat.categories)
    assert [text.get_text() for text in right.get_legend().get_texts()] == categories
    assert left.get_legend() is None
    assert (set(panel.obsm), set(panel.uns), list(panel.obs)) == before


def test_umap_of_all_genes_where_there_is_none(panel):
    small = panel[::5].copy()
    del small.obsm["X_umap"]
    first = pl.panel(small, show=False)[0].collections[0].get_offsets()
    again = pl.panel(small, show=False)[0].collections[0].get_offsets()
    np.testing.assert_array_equal(first, again)
    del small.uns["neighbors"]
    other = pl.panel(small, key="many", show=False)[0].collections[0].get_offsets()
    assert other.shape == first.shape
    assert not np.allclose(first, other)


def test_heatmap_groups_and_orders(panel):
    panel.uns.pop("bulk_labels_colors", None)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", show=False)
    image = axes["heatmap_ax"].images[0].get_array()
    assert image.shape[1] == 10
    assert image.min() == 0
    assert image.max() == 1
    genes = [label.get_text() for label in axes["heatmap_ax"].get_xticklabels()]
    assert set(genes) == set(best_first(panel).index)
    means = panel[:, genes].to_df().groupby(panel.obs["bulk_labels"], observed=True).mean()
    highest = means.to_numpy().argmax(axis=0)
    assert (np.diff(highest) >= 0).all()
    assert labels_apart(axes["groupby_ax"].get_yticklabels())
    colours = axes["groupby_ax"].images[0].get_cmap()(np.arange(10))
    assert all(same_color(a, b) for a, b in zip(colours, MUTED, strict=True))


def test_dotplot_in_rows(panel):
    one = pl.panel(panel, "bulk_labels", kind="dotplot", symbols="symbol", show=False)
    assert len(one) == 1
    genes = [label.get_text() for label in one[0]["mainplot_ax"].get_xticklabels()]
    assert set(genes) == set(best_first(panel)["symbol"])
    rows = pl.panel(panel, "bulk_labels", kind="dotplot", key="many", show=False)
    assert [len(row["mainplot_ax"].get_xticklabels()) for row in rows] == [50] * 4
    assert labels_apart(*(row["mainplot_ax"].get_xticklabels() for row in rows))
    assert len(pl.panel(panel, "bulk_labels", kind="dotplot", n_genes=5, show=False)) == 1


def test_the_layer_of_the_selection_is_shown(panel):
    panel.layers["logged"] = panel.X.copy()
    select_genes(panel, 5, layer="logged", key_added="layer")
    panel.X = sparse.csr_matrix(panel.shape, dtype=np.float32)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", key="layer", show=False)
    assert axes["heatmap_ax"].images[0].get_array().max() == 1


def test_many_groups_keep_scanpys_colours(panel):
    panel.obs["many_groups"] = pd.Categorical([f"t{i % 14}" for i in range(700)])
    axes = pl.panel(panel, "many_groups", kind="heatmap", show=False)
    assert len(axes["groupby_ax"].get_yticklabels()) == 14


@pytest.mark.parametrize(
    ("name", "n_groups"),
    [
        *(("cluster", n_groups) for n_groups in (60, 80, 150)),
        ("CD8-positive, alpha-beta memory T cell", 80),
    ],
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
        texts = [text.get_text() for text in right.get_legend().get_texts()]
        shown = len(texts) - texts[-1].startswith("and ")
        assert texts[-1] == f"and {n_groups - shown} more" or shown == n_groups
        assert shown == n_groups or options or name != "cluster"
        plt.close("all")


@pytest.mark.parametrize("kind", ["heatmap", "dotplot"])
def test_whole_numbers_are_groups(mapped, kind):
    mapped.obs["codes"] = np.where(np.arange(700) < 20, np.nan, np.arange(700) % 3)
    axes = pl.panel(mapped, "codes", kind=kind, show=False)
    assert axes
    with refused(InvalidType, "labels"):
        pl.panel(mapped, "percent_mito", kind=kind, show=False)


def test_several_columns_and_genes(mapped):
    mapped.var["symbol"] = mapped.var_names.to_series().replace({"CD3D": "$a$ CD3 $"})
    named = ["bulk_labels", "percent_mito", "CD3D"]
    axes = pl.panel(mapped, named, symbols="symbol", show=False)
    assert len(axes) == 6
    told = [ax.get_title().replace("\\", "") for ax in axes]
    assert [one.split(", ")[0] for one in told[::2]] == ["bulk_labels", "percent_mito", "$a$ CD3 $"]
    shown = axes[4].collections[0].get_array()
    np.testing.assert_allclose(np.sort(shown), np.sort(mapped[:, "CD3D"].X.toarray().ravel()))
    drawn()
    with refused(NotFound, "labels"):
        pl.panel(mapped, ["bulk_labels", "nothing"], show=False)
    with refused(InvalidValue, "labels"):
        pl.panel(mapped, ["bulk_labels", "phase"], kind="dotplot", show=False)


@pytest.mark.parametrize(("ncols", "beside"), [(1, 2), (2, 2), (3, 2), (4, 4), (6, 6), (20, 10)])
def test_maps_stand_in_rows(mapped, ncols, beside):
    """Those by all genes and by the panel stay together."""
    named = ["CD3D", "LYZ", "NKG7", "percent_mito", "phase"]
    axes = pl.panel(mapped, named, ncols=ncols, show=False)
    axes[0].figure.figure.canvas.draw()
    boxes = [ax.get_window_extent() for ax in axes]
    heights = [round(box.y0, 1) for box in boxes]
    assert heights.count(max(heights)) == min(beside, 10)
    for left, right in zip(boxes[::2], boxes[1::2], strict=True):
        assert (left.y0, left.width) == pytest.approx((right.y0, right.width))
        assert left.x1 < right.x0
    pl.panel(mapped, named, show=False, title="A title", figsize=(9, 5))
    drawn()


def test_names_on_the_map(mapped):
    axes = pl.panel(mapped, "bulk_labels", legend_loc="on data", show=False)
    groups = set(mapped.obs["bulk_labels"].cat.categories)
    for ax in axes:
        assert {text.get_text() for text in ax.texts} == groups
        assert ax.get_legend() is None
    for ax in pl.panel(mapped, "bulk_labels", legend_loc="none", show=False):
        assert not ax.texts
        assert ax.get_legend() is None


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_the_matrix_is_read_once(mapped, kind, monkeypatch):
    """Of maps that are kept, only the genes that colour them."""
    read = []

    def counted(function):
        def called(adata, genes, *args):
            read.append(list(genes))
            return function(adata, genes, *args)

        return called

    for module, name in ((umap, "values"), (matrices, "columns")):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    shown = ["bulk_labels", "CD3D", "LYZ", "CD3D"] if kind == "umap" else "bulk_labels"
    pl.panel(mapped, shown, kind=kind, show=False)
    assert len(read) == 1
    assert kind != "umap" or read == [["CD3D", "LYZ"]]
    pl.panel(mapped, "bulk_labels", show=False)
    assert len(read) == 1


def test_many_cells_are_drawn_as_a_sample(pbmc, monkeypatch):
    monkeypatch.setattr(umap, "MOST_CELLS", 100)
    pp.select_genes(pbmc, 6)
    whole = pbmc.obsm.pop("X_umap")
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
    monkeypatch.setattr(umap, "_umap", None)
    left, _ = pl.panel(pbmc, show=False)
    assert len(left.collections[0].get_offsets()) == 100
    tl.panel_umap(pbmc, max_cells=100)  # are there
    monkeypatch.undo()
    tl.panel_umap(pbmc, max_cells=700)
    assert np.isfinite(pbmc.obsm["X_umap_glfs"]).all()


def test_umaps_of_many_cells_start_from_their_axes(pbmc, monkeypatch):
    monkeypatch.setattr(umap, "MOST_EXACT", 300)
    found = umap._umap(pbmc.obsm["X_pca"], 0)
    labels = pbmc.obs["bulk_labels"].to_numpy()
    apart = np.linalg.norm(found[:, None] - found, axis=2) + np.diag(np.full(700, np.inf))
    assert np.mean(labels[apart.argmin(axis=1)] == labels) > 0.6
    np.testing.assert_array_equal(found, umap._umap(pbmc.obsm["X_pca"], 0))


def test_rows_of_a_heat_map_are_a_sample(mapped, monkeypatch):
    monkeypatch.setattr("glfs_bio.pl._panel._MOST_ROWS", 50)
    axes = pl.panel(mapped, "bulk_labels", kind="heatmap", show=False)
    assert axes["heatmap_ax"].images[0].get_array().shape[0] == 50
    assert axes["heatmap_ax"].get_xlabel() == "50 of 700 cells"


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_a_column_called_like_a_gene(mapped, kind, tmp_path):
    gene = mapped.var["glfs_rank"].idxmin()
    mapped.obs[gene] = mapped.obs["bulk_labels"]
    pl.panel(mapped, gene, kind=kind, show=False)
    drawn()
    if kind == "umap":
        glfs_io.write_report(mapped, tmp_path / "report.html", labels=gene)


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_two_dollars_are_no_formula(mapped, kind):
    mapped.obs["odd"] = pd.Categorical(np.where(np.arange(700) % 2, r"$\frac$", "a $ b"))
    best = mapped.var["glfs_rank"].idxmin()
    mapped.var["symbol"] = [r"$\sum_$" if name == best else name for name in mapped.var_names]
    pl.panel(mapped, "odd", kind=kind, symbols="symbol", show=False)
    drawn()


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_panels_with_title_palette_and_size(mapped, kind):
    options = {"title": "Blood", "figsize": (9, 4), "palette": "tab20", "cmap": "magma"}
    axes = pl.panel(mapped, "bulk_labels", kind=kind, show=False, **options)
    figure = axes if kind == "heatmap" else axes[0]
    figure = next(iter(figure.values())).figure if isinstance(figure, dict) else figure.figure
    assert figure.get_suptitle() == "Blood"
    np.testing.assert_allclose(figure.get_size_inches(), [9, 4])
    drawn()
    with refused(InvalidValue, "palette"):
        pl.panel(mapped, "bulk_labels", kind=kind, palette=["red"], show=False)


def test_a_umap_needs_cells(mapped):
    few = mapped[:4].copy()
    del few.obsm, few.uns["neighbors"]
    with refused(InvalidValue, "adata"):
        pl.panel(few, show=False)
