from __future__ import annotations

import sys
from types import ModuleType

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from matplotlib import pyplot as plt

from glfs_bio import io, pl, pp, tl
from glfs_bio._anndata import umap


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
    del adata.obsm["X_umap"]
    before = [points(ax) for ax in pl.panel(adata, show=False)]
    assert count() == 2
    assert tl.panel_umap(adata) is None
    assert count() == 4
    kept = [adata.obsm["X_umap"], adata.obsm["X_umap_glfs"]]
    adata.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    after = [points(ax) for ax in pl.panel(again, show=False)]
    io.write_report(again, tmp_path / "x.html")
    tl.panel_umap(again)
    assert count() == 4
    for one, other, stored in zip(before, after, kept, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, stored)


@pytest.mark.parametrize(
    "change",
    [
        lambda adata: pp.select_genes(adata, 9),
        lambda adata: adata.uns.pop("umap_glfs"),
        lambda adata: adata.obsm.pop("X_umap_glfs"),
        lambda adata: adata.uns.update(umap_glfs={"params": {}}),
        lambda adata: setattr(adata, "X", adata.X * 2),
    ],
)
def test_what_is_of_other_genes_or_another_matrix_is_computed_again(adata, count, change):
    tl.panel_umap(adata)
    change(adata)
    pl.panel(adata, show=False)
    assert count() == 2
    tl.panel_umap(adata)
    pl.panel(adata, show=False)
    assert count() == 3
    assert set(adata.uns["umap_glfs"]["genes"]) == set(adata.var_names[adata.var["glfs_selected"]])


def test_a_plot_keeps_what_it_computed_when_asked(adata, count, tmp_path):
    del adata.obsm["X_umap"]
    pl.panel(adata, show=False)
    assert "umap_glfs" not in adata.uns
    assert "X_umap" not in adata.obsm
    first = [points(ax) for ax in pl.panel(adata, keep=True, show=False)]
    assert count() == 4
    adata.write_h5ad(tmp_path / "x.h5ad")
    again = [points(ax) for ax in pl.panel(ad.read_h5ad(tmp_path / "x.h5ad"), show=False)]
    tl.panel_umap(adata)
    assert count() == 4
    np.testing.assert_array_equal(first, again)


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


@pytest.mark.parametrize("other", [{"random_state": 1}, {"layer": "other"}])
def test_other_parameters_are_computed_again_and_drawn_as_they_are(adata, count, other):
    adata.layers["other"] = adata.X.copy()
    tl.panel_umap(adata)
    tl.panel_umap(adata, **other)
    assert count() == 2
    np.testing.assert_allclose(
        points(pl.panel(adata, show=False)[1]), adata.obsm["X_umap_glfs"], rtol=1e-6
    )
    assert count() == 2


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


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_cells_in_a_file(adata, count, tmp_path, form):
    """Drawn as those in memory; components of all genes come from the file."""
    adata.X = adata.X.toarray() if form == "dense" else adata.X.tocsr()
    del adata.obsm["X_umap"], adata.obsm["X_pca"], adata.uns["neighbors"]
    adata.write_h5ad(tmp_path / "x.h5ad")
    backed = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
    genes = adata.var_names[[7, 150, 3]]
    expected = adata[:, genes].X
    expected = expected.toarray() if form == "csr" else expected
    np.testing.assert_array_equal(umap.values(backed, genes, None), expected)
    assert len(pl.panel(backed, "bulk_labels", show=False)) == 2
    assert count() == 2
    dots = pl.panel(backed, "bulk_labels", kind="dotplot", show=False)
    assert len(dots) == 1
    found = umap.components(umap.read.row_matrix(backed), 0)
    known = sc.pp.pca(adata, n_comps=5, copy=True).obsm["X_pca"]
    found = found[:, :5] - found[:, :5].mean(axis=0)
    agreement = np.abs(np.sum(found * known, axis=0))
    lengths = np.linalg.norm(found, axis=0) * np.linalg.norm(known, axis=0)
    assert (agreement[:3] > 0.99 * lengths[:3]).all()


def test_a_notebook_without_widgets_shows_no_bar(adata, count, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as ipykernel does
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr("glfs_bio._progress.find_spec", lambda _: None)
    pl.panel(adata, show=False)
    assert capsys.readouterr().err == ""


def test_progress_is_shown_on_a_terminal(adata, count, capsys, monkeypatch):
    pl.panel(adata, show=False)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    pl.panel(adata, show=False)
    assert "cells by the panel" in capsys.readouterr().err


def test_the_best_genes_alone(adata, count):
    tl.panel_umap(adata, n_genes=4)
    pl.panel(adata, n_genes=4, show=False)
    assert count() == 1
    pl.panel(adata, show=False)
    assert count() == 2


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
