from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused
from scipy import sparse

import glfs_bio
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound
from glfs_bio.glfs2014 import Exact
from glfs_bio.pp import select_genes

NAMES = ("weight", "loss", "score", "rank", "selected", "included")
COLUMNS = [f"glfs_{name}" for name in (*NAMES, "certificate", "certificate_within")]


def selected(adata, key="glfs"):
    return set(adata.var_names[adata.var[f"{key}_selected"]])


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


def test_what_is_written(pbmc):
    assert select_genes(pbmc, 20) is None
    var = pbmc.var
    assert var["glfs_selected"].dtype == bool
    assert var["glfs_selected"].sum() == 20
    assert var["glfs_included"].dtype == bool
    assert var["glfs_weight"].between(0, 1).all()
    assert var["glfs_weight"].sum() == pytest.approx(20)
    assert ((var["glfs_loss"] > 0) == var["glfs_selected"]).all()
    assert var["glfs_score"].is_unique
    assert sorted(var["glfs_rank"]) == list(range(1, pbmc.n_vars + 1))
    assert var.loc[var["glfs_selected"], "glfs_rank"].max() == 20
    entry = pbmc.uns["glfs"]
    assert (entry["method"], entry["objective"]) == ("glfs", "error")
    assert (entry["n_genes"], entry["n_tested"]) == (20, 765)
    assert entry["preserved"].shape == entry["optimality"].shape == (20,)
    assert entry["assay_noise"] > 0
    assert entry["structure"]["lambda1"] == 100.0
    assert entry["versions"]["glfs-bio"] == glfs_bio.__version__
    assert not {"lam", "path", "kkt", "converged", "n_iter", "curve"} & set(entry)


def test_what_the_papers_objective_writes(pbmc):
    select_genes(pbmc, 20, objective="exact")
    entry = pbmc.uns["glfs"]
    assert entry["converged"]
    assert entry["kkt"] <= 1e-4
    assert entry["n_iter"] > 0
    assert entry["lam"] in entry["path"]["lam"]
    assert len(entry["path"]["lam"]) == len(entry["path"]["n_genes"])
    assert entry["preserved"].shape == (20,)
    assert not {"optimality", "curve"} & set(entry)
    assert (pbmc.var["glfs_weight"] >= 0).all()
    assert ((pbmc.var["glfs_loss"] > 0) == pbmc.var["glfs_selected"]).all()


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
@pytest.mark.parametrize("form", ["h5ad", "zarr"])
@pytest.mark.parametrize(
    "options",
    [
        {"n_genes": 10},
        {},
        {"n_genes": 10, "include": ["CD3E", "NKG7"]},
        {"n_genes": 2, "include": ["CD3E", "NKG7"]},
        {"n_genes": 10, "objective": "exact"},
        {"n_genes": 10, "method": "laplacian_score"},
    ],
    ids=str,
)
def test_record_survives_a_file(pbmc, tmp_path, form, options):
    pbmc = pbmc[:, 100:300].copy()
    pbmc.var_names = ["CD3D", "CD3E", "NKG7", "RPS3", *pbmc.var_names[4:]]
    select_genes(pbmc, exclude=["CD3D", re.compile("^RP")], **options)
    path = tmp_path / f"panel.{form}"
    getattr(pbmc, f"write_{form}")(path)
    again = getattr(ad, f"read_{form}")(path)
    kept = pbmc.var[COLUMNS]  # from pandas 3 on a file has no categories that are objects
    pd.testing.assert_frame_equal(again.var[COLUMNS].astype(kept.dtypes), kept)
    assert_same(again.uns["glfs"], pbmc.uns["glfs"])
    assert list(again.uns["glfs"]["params"]["exclude"]) == ["CD3D", "re:^RP"]


def assert_same(found, expected):
    """Two records, branch by branch."""
    assert set(found) == set(expected)
    for name, value in expected.items():
        if isinstance(value, dict):
            assert_same(found[name], value)
        else:
            np.testing.assert_array_equal(found[name], value)


def test_not_inplace_leaves_the_object_alone(pbmc):
    before = pbmc.copy()
    frame = select_genes(pbmc, 10, inplace=False)
    assert list(frame.columns) == COLUMNS
    assert list(frame.index) == list(pbmc.var_names)
    assert "glfs" not in pbmc.uns
    pd.testing.assert_frame_equal(pbmc.var, before.var)
    assert len(select_genes(pbmc, 10, inplace=False, subset=True)) == 10


def test_subset_and_key(pbmc):
    select_genes(pbmc, 30, key_added="panel", subset=True)
    assert pbmc.shape == (700, 30)
    assert pbmc.var["panel_selected"].all()


def test_the_panel_can_be_the_highly_variable_genes_of_scanpy(pbmc):
    select_genes(pbmc, 30, as_highly_variable=True)
    assert (pbmc.var["highly_variable"] == pbmc.var["glfs_selected"]).all()
    sc.pp.pca(pbmc, n_comps=10)
    assert (pbmc.varm["PCs"][~pbmc.var["glfs_selected"]] == 0).all()
    table = select_genes(pbmc, None, as_highly_variable=True, inplace=False, subset=True)
    assert table["highly_variable"].all()


def test_highly_variable_genes_are_five_hundred_at_most(pbmc):
    before = pbmc.copy()
    with refused(InvalidValue, "n_genes"):
        select_genes(pbmc, 501, as_highly_variable=True)
    pd.testing.assert_frame_equal(pbmc.var, before.var)
    select_genes(pbmc, 501)
    select_genes(pbmc, 500, as_highly_variable=True)
    assert pbmc.var["highly_variable"].sum() == 500


def test_matrix_is_never_changed(pbmc, container):
    pbmc.X = container(pbmc.X.toarray())
    before = pbmc.X.copy()
    select_genes(pbmc, 10)
    assert type(pbmc.X) is type(before)
    assert abs(pbmc.X - before).max() == 0


def test_containers_give_the_same_genes(pbmc, container):
    expected = pbmc.copy()
    select_genes(expected, 20)
    pbmc.X = container(pbmc.X.toarray())
    select_genes(pbmc, 20)
    assert selected(pbmc) == selected(expected)
    np.testing.assert_allclose(pbmc.var["glfs_weight"], expected.var["glfs_weight"], rtol=1e-5)


def test_sparse_matrix_is_never_made_dense(pbmc, monkeypatch):
    def refuse(*_args, **_kwargs):
        pytest.fail("a sparse matrix was made dense")

    for kind in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    select_genes(pbmc, 10)


def test_pca_and_graph_that_are_named_are_used(pbmc, monkeypatch):
    from glfs_bio.cells import graph
    from glfs_bio.cells import pca as subspace

    def refuse(*_args, **_kwargs):
        pytest.fail("computed although it was there")

    monkeypatch.setattr(subspace, "principal_components", refuse)
    monkeypatch.setattr(graph, "knn_graph", refuse)
    select_genes(pbmc, 10, use_rep="X_pca", neighbors_key="neighbors")
    structure = pbmc.uns["glfs"]["structure"]
    assert (structure["use_rep"], structure["neighbors_key"]) == ("X_pca", "neighbors")


def test_other_representation_and_graph(pbmc):
    pbmc.obsm["X_other"] = pbmc.obsm["X_pca"][:, :10]
    sc.pp.neighbors(pbmc, n_neighbors=8, use_rep="X_other", key_added="other")
    select_genes(pbmc, 20)
    select_genes(pbmc, 20, use_rep="X_other", neighbors_key="other", key_added="other_genes")
    assert selected(pbmc) != selected(pbmc, "other_genes")
    select_genes(pbmc, 20, use_rep="X", key_added="own")
    assert selected(pbmc, "own") == selected(pbmc)


def test_layer(pbmc):
    select_genes(pbmc, 15)
    expected = selected(pbmc)
    pbmc.layers["logged"] = pbmc.X.copy()
    pbmc.X = sparse.csr_matrix(pbmc.shape, dtype=np.float32)
    select_genes(pbmc, 15, layer="logged")
    assert selected(pbmc) == expected


def test_untested_genes_have_no_rank(pbmc):
    pbmc.var["far"] = np.arange(pbmc.n_vars) >= 400
    select_genes(pbmc, 10, exclude=["far", "HLA-DRA"])
    out = pbmc.var["far"].to_numpy() | (pbmc.var_names == "HLA-DRA")
    assert pbmc.var.loc[out, ["glfs_score", "glfs_rank"]].isna().all(axis=None)
    assert not pbmc.var.loc[out, "glfs_selected"].any()
    assert (pbmc.var.loc[out, ["glfs_weight", "glfs_loss"]] == 0).all(axis=None)
    assert not pbmc.var["glfs_included"].any()
    assert pbmc.uns["glfs"]["n_tested"] == (~out).sum()
    assert pbmc.var["glfs_selected"].sum() == 10


def test_include_and_exclude(pbmc):
    pbmc.var["ribosomal"] = pbmc.var_names.str.startswith(("RPL", "RPS"))
    select_genes(pbmc, 10, include=["CD79A", "CD3D"], exclude=["ribosomal", re.compile("^HLA-")])
    panel = selected(pbmc)
    assert {"CD79A", "CD3D"} <= panel
    assert len(panel) == 10
    assert set(pbmc.var_names[pbmc.var["glfs_included"]]) == {"CD79A", "CD3D"}
    assert set(pbmc.var.loc[["CD79A", "CD3D"], "glfs_rank"]) == {1, 2}
    assert (pbmc.var.loc[["CD79A", "CD3D"], "glfs_weight"] == 1).all()
    assert not any(gene.startswith(("RPL", "RPS", "HLA-")) for gene in panel)


def test_families_and_symbols(pbmc):
    """The same panel by symbol, and with other names and a column of symbols."""
    given = {"include": ["CD79A", "CD3D"], "exclude": ["ribosomal", re.compile("^HLA-")]}
    select_genes(pbmc, 10, **given)
    panel = best_first(pbmc)
    assert not any(gene.startswith(("RPL", "RPS", "HLA-")) for gene in panel)
    pbmc.var["symbol"] = pbmc.var_names
    pbmc.var_names = [f"gene {i}" for i in range(pbmc.n_vars)]
    select_genes(pbmc, 10, symbols="symbol", **given)
    assert list(pbmc.var.loc[best_first(pbmc), "symbol"]) == panel


def test_what_is_missing_stops_nothing_and_is_recorded(pbmc, tmp_path):
    select_genes(pbmc, 10, include=["CD3D"], key_added="known")
    assert "missing" not in pbmc.uns["known"]
    given = {"include": ["CD3D", "CD8a"], "exclude": ["tcr", re.compile("^XX-")]}
    with pytest.warns(Caution) as caught:
        select_genes(pbmc, 10, missing="warn", **given)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert best_first(pbmc) == best_first(pbmc, "known")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    record = ad.read_h5ad(tmp_path / "cells.h5ad").uns["glfs"]
    assert list(record["missing"]) == ["CD8a", "tcr", "re:^XX-"]
    select_genes(pbmc, 10, include="nope", missing="ignore")
    assert list(pbmc.uns["glfs"]["missing"]) == ["nope"]
    assert not pbmc.var["glfs_included"].any()


def test_batches(pbmc):
    for objective in ("error", "exact"):
        select_genes(pbmc, 10, batch_key="phase", objective=objective)
        assert pbmc.var["glfs_selected"].sum() == 10
        assert (np.diff(pbmc.uns["glfs"]["preserved"]) > 0).all()
    assert pbmc.uns["glfs"]["converged"]


def test_excluded_genes_do_not_change_the_scale(pbmc):
    """They are structure that the panel should keep: it keeps as much of it as if it were free."""
    select_genes(pbmc, 20)
    panel = best_first(pbmc)
    others = pbmc.var_names[~pbmc.var["glfs_selected"] & (np.arange(765) % 2 == 0)]
    select_genes(pbmc, 20, exclude=list(others), key_added="without")
    assert best_first(pbmc, "without") == panel
    np.testing.assert_allclose(
        pbmc.uns["without"]["preserved"], pbmc.uns["glfs"]["preserved"], rtol=1e-10
    )
    select_genes(pbmc, 20, exclude=panel[:5], key_added="worse")
    assert not set(panel[:5]) & selected(pbmc, "worse")
    assert pbmc.uns["worse"]["preserved"][-1] < pbmc.uns["glfs"]["preserved"][-1]


def test_full_rank_of_a_small_set(pbmc):
    small = pbmc[::7].copy()
    select_genes(small, 10, n_comps=None)
    assert small.var["glfs_selected"].sum() == 10
    assert small.uns["glfs"]["params"]["n_comps"] == "None"


def test_panel_keeps_the_cell_lines(real):
    """Labels from SNPs, never seen: ten genes tell five cell lines apart."""
    adata = real("sc_mixology_singlets1021")
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    select_genes(adata, 10)
    values = adata[:, adata.var["glfs_selected"]].X.toarray()
    centred = values - values.mean(axis=0)
    distances = ((centred[:, None] - centred[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    labels = adata.obs["label"].to_numpy()
    nearest = labels[np.argsort(distances, axis=1)[:, :15]]
    votes = pd.DataFrame(nearest).mode(axis=1)[0].to_numpy()
    assert (votes == labels).mean() > 0.97


def test_faces_full_rank(real):
    """The paper's figure is 0.940."""
    adata = real("orl400")
    select = glfs_bio.GLFS(100, objective="exact", n_comps=None).fit(adata.X.astype(float))
    pixels = adata.X[:, select.get_support()].astype(float)
    distances = ((pixels[:, None] - pixels[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    labels = adata.obs["label"].to_numpy()
    assert (labels[distances.argmin(axis=1)] == labels).mean() >= 0.94


def test_intensities_are_warned_about(pbmc):
    """Raw microarray values go below zero, and are no counts."""
    small = pbmc[:60, :100].copy()
    rng = np.random.default_rng(0)
    groups = np.repeat(rng.normal(scale=600.0, size=(3, 100)), 20, axis=0)
    small.X = (groups + rng.normal(scale=300.0, size=small.shape)) * np.exp(rng.normal(size=100))
    for held in (small.X, sparse.csr_matrix(small.X)):
        small.X = held
        with pytest.warns(Caution) as caught:
            select_genes(small, 5, use_rep="X")
        assert [one.filename for one in caught] == [__file__]
    small.layers["log"] = np.log2(np.maximum(small.X.toarray(), 20))
    select_genes(small, 5, layer="log", use_rep="X")


def test_counts_are_warned_about(pbmc):
    pbmc.X = sparse.csr_matrix(np.round(np.expm1(pbmc.X.toarray())))
    with pytest.warns(Caution) as caught:
        select_genes(pbmc, 10)
    assert len(caught) == 1
    assert pbmc.var["glfs_selected"].sum() == 10


def bad(**changes):
    """A function that spoils an object."""

    def spoil(adata):
        for name, value in changes.items():
            setattr(adata, name, value(adata) if callable(value) else value)

    return spoil


def with_value(value):
    def spoil(adata):
        data = adata.X.toarray()
        data[3, 5] = value
        adata.X = data

    return spoil


def other_graph(change):
    def spoil(adata):
        adata.obsp["connectivities"] = change(adata.obsp["connectivities"].copy())

    return spoil


def no_spoil(_adata):
    """Leave the object as it is."""


GRAPH = {"neighbors_key": "neighbors"}
BAD = [
    (with_value(np.nan), {}, InvalidValue, "X"),
    (with_value(np.inf), {}, InvalidValue, "X"),
    (bad(X=None), {}, InvalidValue, "X"),
    (bad(X=lambda a: np.full(a.shape, "x")), {}, InvalidType, "X"),
    (bad(X=lambda a: a.X.toarray() + 1j), {}, InvalidType, "X"),
    (bad(X=lambda a: np.ones(a.shape)), {}, InvalidValue, "X"),
    (bad(var_names=lambda a: ["A", "A", *a.var_names[2:]]), {}, InvalidValue, "adata"),
    (other_graph(lambda g: -g), GRAPH, InvalidValue, "neighbors_key"),
    (other_graph(lambda g: sparse.triu(g).tocsr()), GRAPH, InvalidValue, "neighbors_key"),
    (no_spoil, {"n_genes": 766}, InvalidValue, "n_genes"),
    (no_spoil, {"n_genes": 0}, InvalidValue, "n_genes"),
    (no_spoil, {"n_genes": "ten"}, InvalidType, "n_genes"),
    (no_spoil, {"method": "magic"}, InvalidValue, "method"),
    (no_spoil, {"layer": "nope"}, NotFound, "layer"),
    (no_spoil, {"use_rep": "nope"}, NotFound, "use_rep"),
    (no_spoil, {"neighbors_key": "nope"}, NotFound, "neighbors_key"),
    (no_spoil, {"batch_key": "nope"}, NotFound, "batch_key"),
    (no_spoil, {"include": ["nope"]}, NotFound, "include"),
    (no_spoil, {"exclude": re.compile("^nope$")}, InvalidValue, "exclude"),
    (no_spoil, {"exclude": re.compile("")}, InvalidValue, "exclude"),
    (no_spoil, {"include": ["CD3D"], "exclude": ["CD3D"]}, InvalidValue, "include"),
    (no_spoil, {"objective": Exact(lam=1e12)}, InvalidValue, "lam"),
    (no_spoil, {"objective": "mse"}, InvalidValue, "objective"),
    (no_spoil, {"batch_key": "phase", "neighbors_key": "neighbors"}, InvalidValue, "neighbors_key"),
]


@pytest.mark.parametrize(("spoil", "options", "kind", "argument"), BAD)
def test_bad_input_is_refused_and_nothing_is_written(pbmc, spoil, options, kind, argument):
    spoil(pbmc)
    before = pbmc.var.copy(), pbmc.obs.copy(), set(pbmc.uns), set(pbmc.obsm), set(pbmc.obsp)
    with refused(kind, argument):
        select_genes(pbmc, **options)
    pd.testing.assert_frame_equal(pbmc.var, before[0])
    pd.testing.assert_frame_equal(pbmc.obs, before[1])
    assert (set(pbmc.uns), set(pbmc.obsm), set(pbmc.obsp)) == before[2:]


@pytest.mark.parametrize(("cells", "genes"), [(2, 10), (20, 1)])
def test_too_small_objects_are_refused(cells, genes):
    adata = ad.AnnData(np.random.default_rng(0).normal(size=(cells, genes)))
    with refused(InvalidValue, "X"):
        select_genes(adata, 1)


def test_graph_of_other_cells(pbmc):
    smaller = pbmc.obsp["connectivities"][:600, :600]
    with refused(InvalidValue, "graph"):
        glfs_bio.GLFS().fit(pbmc.X, graph=smaller)


def test_more_components_than_there_are_are_refused(pbmc):
    few = pbmc[:60].copy()
    for options in ({"n_comps": 61}, {"n_comps": 5000, "batch_key": "phase"}):
        with refused(InvalidValue, "n_comps"):
            select_genes(few, 3, **options)
    assert "glfs" not in few.uns
    select_genes(few[:30].copy(), 3)  # by default, which is 50
