from __future__ import annotations

import re
from functools import partial

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import accepted, not_refused
from scipy import sparse

from glfs_bio._anndata.results import request_of
from glfs_bio.errors import Caution, InvalidValue, NotFound
from glfs_bio.glfs2014 import Exact, Printed
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
    assert var["glfs_weight"].sum() == pytest.approx(20, rel=1e-3)
    assert ((var["glfs_loss"] > 0) == var["glfs_selected"]).all()
    assert var["glfs_score"].dropna().is_unique
    n_clones = 12  # such as RP11-277L2.3
    assert sorted(var["glfs_rank"].dropna()) == list(range(1, pbmc.n_vars - n_clones + 1))
    assert var.loc[var["glfs_selected"], "glfs_rank"].max() == 20
    entry = pbmc.uns["glfs"]
    assert (entry["method"], entry["objective"]) == ("glfs", "error")
    assert (entry["n_genes"], entry["n_tested"]) == (20, 765 - n_clones)
    assert entry["preserved"].shape == entry["optimality"].shape == (20,)
    assert entry["assay_noise"] > 0
    assert not {"lam", "path", "kkt", "converged", "n_iter", "curve"} & set(entry)


def test_the_papers_objective_in_batches(pbmc):
    pbmc = pbmc[::2, ::3].copy()
    select_genes(pbmc, 10, objective="exact", batch_key="phase")
    entry = pbmc.uns["glfs"]
    assert entry["converged"]
    assert entry["kkt"] <= 1e-4
    assert entry["lam"] in entry["path"]["lam"]
    assert entry["path"]["n_genes"][-1] < 10 <= entry["path"]["n_genes"][:-1].min()
    assert (np.diff(entry["preserved"]) > 0).all()
    assert ((pbmc.var["glfs_loss"] > 0) == pbmc.var["glfs_selected"]).all()


def test_the_worst_batch_and_a_search_that_ends_at_once(pbmc):
    pbmc = pbmc[::2, ::3].copy()
    shares = {}
    for across in ("mean", "worst"):
        select_genes(pbmc, 10, batch_key="phase", across=across)
        shares[across] = pbmc.uns["glfs"]["preserved_in_batches"][-1]
    counts = np.isfinite(shares["worst"])  # a batch without structure does not
    assert shares["worst"][counts].min() > shares["mean"][counts].min() + 1e-6
    select_genes(pbmc, 8, search="best", time_limit=1e-9)
    assert pbmc.uns["glfs"]["optimality"][-1] < 1.0


def test_what_is_named_is_used_and_recorded(pbmc):
    select_genes(pbmc, 20)
    select_genes(pbmc, 20, use_rep="X", key_added="same")
    assert selected(pbmc, "same") == selected(pbmc)
    named = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
    select_genes(pbmc, 20, **named, key_added="named")
    assert named.items() <= pbmc.uns["named"]["structure"].items()
    assert named.items() <= request_of(pbmc, "named").arguments().items()
    assert selected(pbmc, "named") != selected(pbmc)
    pbmc.obsm["X_pca"] = pbmc.obsm["X_pca"][:, ::-1] * np.arange(1, 51)
    select_genes(pbmc, 20, **named, key_added="other")
    assert not np.array_equal(pbmc.var["other_weight"], pbmc.var["named_weight"])


def test_a_table_alone_and_a_subset(pbmc, unchanged):
    with unchanged(pbmc):
        table = select_genes(pbmc, 10, inplace=False)
    assert list(table.columns) == COLUMNS
    assert table.index.equals(pbmc.var_names)
    assert len(select_genes(pbmc[::7].copy(), 10, n_comps=None, inplace=False, subset=True)) == 10
    select_genes(pbmc, 30, key_added="panel", subset=True)
    assert pbmc.shape == (700, 30)
    assert pbmc.var["panel_selected"].all()


def test_the_panel_can_be_the_highly_variable_genes_of_scanpy(pbmc):
    options = {"as_highly_variable": True}
    select_genes(pbmc, 500, **options)
    select_genes(pbmc, 30, **options)
    assert (pbmc.var["highly_variable"] == pbmc.var["glfs_selected"]).all()
    sc.pp.pca(pbmc, n_comps=10)
    assert (pbmc.varm["PCs"][~pbmc.var["glfs_selected"]] == 0).all()
    table = select_genes(pbmc, None, **options, inplace=False, subset=True)
    assert table["highly_variable"].all()


def test_sparse_matrix_is_never_made_dense(pbmc, monkeypatch):
    def refuse(*_args, **_kwargs):
        pytest.fail("a sparse matrix was made dense")

    for kind in (sparse.csr_matrix, sparse.csr_array):
        monkeypatch.setattr(kind, "toarray", refuse)
        monkeypatch.setattr(kind, "todense", refuse)
    select_genes(pbmc, 10)


def test_excluded_genes_have_no_rank_and_do_not_change_the_scale(pbmc):
    """They are structure that the panel should keep: it keeps as much of it as if it were free."""
    select_genes(pbmc, 20)
    panel = best_first(pbmc)
    out = ~pbmc.var["glfs_selected"] & (np.arange(765) % 2 == 0)
    pbmc.var["others"] = out
    select_genes(pbmc, 20, exclude=["others"], key_added="without")
    assert pbmc.var.loc[out, ["without_score", "without_rank"]].isna().all(axis=None)
    assert (pbmc.var.loc[out, ["without_weight", "without_loss"]] == 0).all(axis=None)
    assert pbmc.uns["without"]["n_tested"] == (~out & pbmc.var["glfs_score"].notna()).sum()
    assert best_first(pbmc, "without") == panel
    shares = [pbmc.uns[key]["preserved"] for key in ("without", "glfs")]
    np.testing.assert_allclose(*shares, rtol=1e-10)
    select_genes(pbmc, 20, exclude=panel[:5], key_added="worse")
    assert not set(panel[:5]) & selected(pbmc, "worse")
    assert pbmc.uns["worse"]["preserved"][-1] < pbmc.uns["glfs"]["preserved"][-1]


def test_include_exclude_families_and_symbols(pbmc):
    """The same panel by symbol, and with other names and a column of symbols."""
    given = {"include": ["CD79A", "CD3D"], "exclude": ["ribosomal", re.compile("^HLA-")]}
    select_genes(pbmc, 10, **given)
    panel = best_first(pbmc)
    assert set(panel[:2]) == set(pbmc.var_names[pbmc.var["glfs_included"]]) == {"CD79A", "CD3D"}
    assert (pbmc.var.loc[panel[:2], "glfs_weight"] == 1).all()
    assert not any(gene.startswith(("RPL", "RPS", "HLA-")) for gene in panel)
    pbmc.var["symbol"] = pbmc.var_names
    pbmc.var_names = [f"gene {i}" for i in range(pbmc.n_vars)]
    select_genes(pbmc, 10, symbols="symbol", **given)
    assert list(pbmc.var.loc[best_first(pbmc), "symbol"]) == panel


def test_what_is_missing_stops_nothing_and_is_recorded(pbmc, tmp_path):
    select_genes(pbmc, 10, include=["CD3D"], key_added="known")
    assert "missing" not in pbmc.uns["known"]
    given = {"include": ["CD3D", "CD8X"], "exclude": ["tcr", re.compile("^XX-")]}
    with pytest.warns(Caution) as caught:
        select_genes(pbmc, 10, missing="warn", **given)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert best_first(pbmc) == best_first(pbmc, "known")
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    record = ad.read_h5ad(tmp_path / "cells.h5ad").uns["glfs"]
    assert list(record["missing"]) == ["CD8X", "tcr", "re:^XX-"]
    select_genes(pbmc, 10, include="nope", missing="ignore")
    assert list(pbmc.uns["glfs"]["missing"]) == ["nope"]
    assert not pbmc.var["glfs_included"].any()


def test_intensities_are_warned_about(pbmc):
    """Raw microarray values go below zero, and are no counts."""
    small = pbmc[:60, :100].copy()
    rng = np.random.default_rng(0)
    groups = np.repeat(rng.normal(scale=600.0, size=(3, 100)), 20, axis=0)
    small.X = (groups + rng.normal(scale=300.0, size=small.shape)) * np.exp(rng.normal(size=100))
    for values in (small.X, sparse.csr_matrix(small.X)):
        small.X = values
        with pytest.warns(Caution) as caught:
            select_genes(small, 5, use_rep="X")
        assert [warning.filename for warning in caught] == [__file__]
    small.layers["log"] = np.log2(np.maximum(small.X.toarray(), 20))
    select_genes(small, 5, layer="log", use_rep="X")


#: What does not go together, or with the cells: options, kind of refusal, argument.
COMBINATIONS = [
    ({"include": ["CD3D"], "exclude": ["CD3D"]}, InvalidValue, "include"),
    ({"include": ["CD3D", "CD79A"], "n_genes": 1}, InvalidValue, "include"),
    ({"include": ["x"], "exclude": "y"}, NotFound, "include"),
    ({"method": "lapaofs", "n_genes": 5, "objective": "exact"}, InvalidValue, "objective"),
    ({"objective": "exact", "preserve": "phase"}, InvalidValue, "preserve"),
    ({"n_genes": 766}, InvalidValue, "n_genes"),
    ({"n_comps": 701}, InvalidValue, "n_comps"),
    ({"n_comps": 5000, "batch_key": "phase"}, InvalidValue, "n_comps"),
    ({"method": "variance"}, InvalidValue, "n_genes"),
    ({"objective": Exact(lam=1e12)}, InvalidValue, "lam"),
    ({"objective": Printed(lam=1e-300)}, InvalidValue, "lam"),
    ({"batch_key": "phase", "neighbors_key": "neighbors"}, InvalidValue, "neighbors_key"),
]


def test_what_cannot_be_selected(pbmc, unchanged):
    with unchanged(pbmc):
        assert not_refused(partial(select_genes, pbmc), COMBINATIONS) == []
        small = [pbmc[:2].copy(), pbmc[:, :0].copy(), pbmc[:, :1].copy()]
        assert accepted(select_genes, small, "X") == []
        assert accepted(select_genes, [pbmc[:0].copy()], "adata") == []


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
