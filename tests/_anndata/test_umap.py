"""The view of the cells by all genes, and by a panel."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from scipy.linalg import subspace_angles

from glfs_bio import io, pl, pp, tl
from glfs_bio._anndata import all_genes, umap
from glfs_bio.cells.pca import principal_components
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.measures import cells
from glfs_bio.measures.catalogue import measured


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture
def adata(pbmc):
    small = pbmc[::5, :200].copy()
    pp.select_genes(small, 8)
    return small


@pytest.fixture
def count(monkeypatch):
    """How many UMAPs are computed; drawn at random here, which takes less time."""
    calls = []

    def quick(cells, *, random_state, **_):
        calls.append(None)
        rng = np.random.default_rng(random_state + cells.n_vars)
        cells.obsm["X_umap"] = rng.normal(size=(cells.n_obs, 2))

    monkeypatch.setattr(sc.pp, "neighbors", lambda *_, **__: None)
    monkeypatch.setattr(sc.tl, "umap", quick)
    return lambda: len(calls)


def points(ax):
    return np.asarray(ax.collections[0].get_offsets())


def test_what_is_kept_is_what_is_drawn(adata, count, tmp_path):
    """By the function, and by a plot that is asked to keep it."""
    del adata.obsm["X_umap"]
    first = [points(ax) for ax in pl.panel(adata, show=False)]
    assert count() == 2
    assert "umap_glfs" not in adata.uns
    assert "X_umap" not in adata.obsm
    plotted = adata.copy()
    pl.panel(plotted, keep=True, show=False)
    assert tl.panel_umap(adata) is None
    assert count() == 6
    for holder in (plotted, adata):
        holder.write_h5ad(tmp_path / "x.h5ad")
        again = ad.read_h5ad(tmp_path / "x.h5ad")
        drawn = [points(ax) for ax in pl.panel(again, show=False)]
        tl.panel_umap(again)
        np.testing.assert_array_equal(drawn, first)
        np.testing.assert_allclose(drawn, [holder.obsm["X_umap"], holder.obsm["X_umap_glfs"]])
    io.write_report(again, tmp_path / "x.html")
    assert count() == 6


def test_what_is_of_other_genes_or_another_matrix_is_computed_again(adata, count):
    for change in (
        lambda: pp.select_genes(adata, 9),
        lambda: adata.uns.pop("umap_glfs"),
        lambda: adata.obsm.pop("X_umap_glfs"),
        lambda: adata.uns.update(umap_glfs={"params": {}}),
        lambda: setattr(adata, "X", adata.X * 2),
    ):
        tl.panel_umap(adata)
        before = count()
        change()
        pl.panel(adata, show=False)
        assert count() == before + 1
        tl.panel_umap(adata)
        assert count() == before + 2
        panel = set(adata.var_names[adata.var["glfs_selected"]])
        assert set(adata.uns["umap_glfs"]["genes"]) == panel


def test_the_umap_of_all_genes_is_of_the_matrix_unless_scanpy_made_it(adata, count):
    del adata.obsm["X_umap"]
    tl.panel_umap(adata)
    assert count() == 2
    old = adata.obsm["X_umap"].copy()
    adata.X = adata.X * 2
    adata.obsm["X_umap"] += 1  # of the old matrix, whatever it is
    pl.panel(adata, keep=True, show=False)
    assert count() == 4
    np.testing.assert_array_equal(adata.obsm["X_umap"], old)
    adata.uns["umap"] = {"params": {"a": 1.0}}  # as sc.tl.umap leaves it
    adata.obsm["X_umap"] += 1
    adata.X = adata.X / 2
    tl.panel_umap(adata)
    assert count() == 5
    np.testing.assert_array_equal(adata.obsm["X_umap"], old + 1)


def test_other_parameters_and_genes_are_computed_again_and_drawn_as_they_are(adata, count):
    adata.layers["other"] = adata.X.copy()
    for number, options in enumerate(({}, {"random_state": 1}, {"layer": "other"}), 1):
        tl.panel_umap(adata, **options)
        drawn = points(pl.panel(adata, show=False)[1])
        np.testing.assert_allclose(drawn, adata.obsm["X_umap_glfs"], rtol=1e-6)
        assert count() == number
    tl.panel_umap(adata, n_genes=4)
    pl.panel(adata, n_genes=4, show=False)
    assert count() == 4
    pl.panel(adata, show=False)
    assert count() == 5


@pytest.mark.parametrize("stored", ["graph", "X_pca", None])
def test_what_is_stored_is_used_again(adata, monkeypatch, stored):
    """For all genes the graph, else X_pca; only without both are components computed."""
    embedded = []

    def embed(where, random_state):
        embedded.append(where)
        return np.zeros((len(where), 2))

    monkeypatch.setattr(umap, "_umap", embed)
    monkeypatch.setattr(sc.tl, "umap", lambda cells, **_: cells.obsm.update(X_umap=cells.X[:, [0]]))
    del adata.obsm["X_umap"]
    if stored != "graph":
        del adata.uns["neighbors"]
    known = adata.obsm["X_pca"]
    if stored is None:
        del adata.obsm["X_pca"]
        known = sc.pp.pca(adata, copy=True).obsm["X_pca"]
    tl.panel_umap(adata)
    assert len(embedded) == (1 if stored == "graph" else 2)
    if stored != "graph":
        np.testing.assert_allclose(np.abs(embedded[1][:, :5]), np.abs(known[:, :5]), rtol=1e-3)


def test_one_map_where_there_are_only_genes_of_the_panel(adata, count):
    panel = adata[:, adata.var["glfs_selected"]].copy()
    (ax,) = pl.panel(panel, "bulk_labels", show=False)
    assert ax.get_title() == "bulk_labels, panel of 8 genes"
    assert ax.get_legend() is not None
    assert count() == 1
    del panel.obsm["X_umap"]
    tl.panel_umap(panel)
    assert "X_umap" not in panel.obsm
    assert len(pl.panel(panel, n_genes=4, show=False)) == 2


@pytest.mark.parametrize("dense", [False, True])
def test_components_of_many_cells_are_those_of_a_part(pbmc, monkeypatch, dense):
    data = pbmc.X.toarray() if dense else pbmc.X.tocsr()
    exact = principal_components(data, 50, 0)
    monkeypatch.setattr(all_genes, "MOST_EXACT", 350)
    near = all_genes.components(RowMatrix(data), 0)
    assert near.shape == exact.shape
    angles = subspace_angles(near[:, :5] - near[:, :5].mean(axis=0), exact[:, :5])
    assert np.degrees(angles.max()) < 10
    lengths = [np.linalg.norm(axes - axes.mean(axis=0), axis=0) for axes in (near, exact)]
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=0.1)


def test_many_cells_are_clustered_in_part(pbmc, monkeypatch):
    pp.select_genes(pbmc, 20)
    groups = {"measures": ["neighbors", "clusters"], "inplace": False}
    whole = measured(tl.evaluate_panel(pbmc, "glfs", **groups))["value"]
    del pbmc.uns[all_genes.KEY]
    monkeypatch.setattr(cells, "CLUSTERED", 500)
    part = measured(tl.evaluate_panel(pbmc, "glfs", **groups))["value"]
    assert len(pbmc.uns[all_genes.KEY]["clusters"]["5"]) == 500
    assert part["knn_preservation"] == whole["knn_preservation"]
    assert abs(part["cluster_preservation_fine"] - whole["cluster_preservation_fine"]) < 0.1
