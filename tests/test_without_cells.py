"""A reference without cells: what a structure and moments tell is what the cells told."""

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import glfs_bio
from glfs_bio import Limits, Platform, pl, pp, tl
from glfs_bio._anndata.structure import without_cells

N_TYPES = 5


@pytest.fixture(scope="module")
def cells():
    """Log-normalised cells of five types in two batches, the last of too few cells."""
    rng = np.random.default_rng(3)
    types = np.repeat(np.arange(N_TYPES), [90, 80, 60, 40, 6])
    rates = rng.gamma(0.6, 1.0, (N_TYPES, 120))[types] * rng.gamma(4.0, 0.25, (len(types), 1))
    counts = rng.poisson(rates).astype(float)
    values = np.log1p(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0) * 100.0)
    labels = np.array(["few" if kind == N_TYPES - 1 else f"type {kind}" for kind in types])
    obs = pd.DataFrame({"type": labels, "batch": rng.choice(["a", "b"], len(types))})
    obs["large"] = obs["type"].where(obs["type"] != "few", None)
    obs.index = [f"cell {number}" for number in range(len(types))]
    var = pd.DataFrame(index=[f"gene {number}" for number in range(120)])
    adata = ad.AnnData(sparse.csr_matrix(values), obs, var, obsm={"X_pca": rng.random((276, 2))})
    pp.structure(adata, labels="type")
    return adata


@pytest.fixture
def both(cells):
    """The same with and without cells."""
    return cells.copy(), cells[:0].copy()


SELECTIONS = {
    "structure": {},
    "any number": {"n_genes": None},
    "labels": {"preserve": "large"},
    "labels and structure": {"preserve": {"large": 1.0, "structure": 1.0}},
    "expression": {"preserve": "expression"},
    "genes to predict": {"preserve": ["gene 3", "gene 5"]},
    "include and exclude": {"include": ["gene 7"], "exclude": ["gene 1"]},
    "the best": {"n_genes": 4, "search": "best"},
    "a named platform": {"platform": Platform("xenium_v1"), "preserve": "large"},
    "limits": {"limits": Limits(groupby="large", per_type=1, expression={"cells": (0.1, 0.9)})},
}


@pytest.mark.parametrize("options", SELECTIONS.values(), ids=SELECTIONS)
def test_the_same_panel_is_selected(cells, options):
    with_cells = cells.copy()
    del with_cells.uns["glfs_structure"], with_cells.obsm["glfs_structure"]
    pp.structure(with_cells, labels="large")
    nobody = with_cells[:0].copy()
    for adata in (with_cells, nobody):
        pp.select_genes(adata, **{"n_genes": 12} | options)
    chosen = [adata.var.filter(regex="rank|weight|loss") for adata in (with_cells, nobody)]
    pd.testing.assert_frame_equal(*chosen, check_exact=False, rtol=1e-9, atol=1e-12)
    of_both = [adata.uns["glfs"]["preserved"] for adata in (with_cells, nobody)]
    np.testing.assert_allclose(*of_both, rtol=1e-12)


def test_the_structure_of_batches_is_their_own(cells):
    adata = cells.copy()
    pp.structure(adata, batch_key="batch")
    nobody = adata[:0].copy()
    for of in (adata, nobody):
        pp.select_genes(of, 8, across="worst", use_rep="glfs_structure")
        tl.evaluate_panel(of)
    assert list(nobody.uns["glfs"]["batches"]) == ["a", "b"]
    shares = [of.uns["glfs"]["preserved_in_batches"] for of in (adata, nobody)]
    np.testing.assert_allclose(*shares, rtol=1e-12)
    tables = [of.uns["glfs_evaluation"]["measures"].set_index("measure") for of in (adata, nobody)]
    readings = [table.loc["preserved_in_batch", "reading"].tolist() for table in tables]
    assert readings == [["a", "b"]] * 2


def test_every_number_that_both_have_is_the_same(cells):
    adata = cells[cells.obs["type"] != "few"].copy()
    pp.structure(adata, labels="type")
    nobody = adata[:0].copy()
    sets = {"some": ["gene 0", "gene 1"], "others": ["gene 100"]}
    for of in (adata, nobody):
        pp.select_genes(of, 10)
        tl.evaluate_panel(of, labels="type", gene_sets=sets, sizes=[5])
        tl.explain_panel(of, labels="type", genes=["gene 2"])
        tl.extend_panel(of, "glfs", 12)
        tl.prove_panel(of, time_limit=None, tolerance=0.05)
        tl.order_panel(of, "glfs", labels="type")
    measured = nobody.uns["glfs_evaluation"]["measures"]
    assert {*measured["measure"]} == {
        *("preserved", "optimality", "best_preserved", "gene_set_coverage")
    }
    keys = ["measure", "n_genes"]
    of_cells = adata.uns["glfs_evaluation"]["measures"].set_index(keys)
    of_cells = of_cells.loc[pd.MultiIndex.from_frame(measured[keys])].reset_index()
    pd.testing.assert_frame_equal(of_cells[measured.columns], measured, rtol=1e-12)
    explained = nobody.uns["glfs_explanation"]
    assert "support" not in explained
    assert "supports" not in explained["table"]
    for key in ("explanation", "extended", "proof", "order"):
        for name, table in nobody.uns[f"glfs_{key}"].items():
            if isinstance(table, pd.DataFrame):
                same = adata.uns[f"glfs_{key}"][name][table.columns]
                pd.testing.assert_frame_equal(same, table, rtol=1e-9, atol=1e-12)


def test_moments_are_those_of_the_cells(cells):
    moments = cells.uns["glfs_structure"]["moments"]
    assert list(moments["labels"]) == [f"type {kind}" for kind in range(N_TYPES - 1)]
    members = (cells.obs["type"] == "type 2").to_numpy()
    values = cells.X[members].toarray()
    assert [*moments["sizes"][[0, 3]]] == [cells.n_obs, members.sum()]
    np.testing.assert_allclose(moments["means"][:, 3], values.mean(axis=0))
    np.testing.assert_allclose(moments["variances"][:, 3], values.var(axis=0), atol=1e-12)
    np.testing.assert_allclose(moments["shares"][:, 3], (values > 0).mean(axis=0))
    np.testing.assert_allclose(moments["linear"][:, 3], np.expm1(values).mean(axis=0))


def test_moments_of_two_columns_are_not_taken_for_one_another(cells):
    adata = cells.copy()
    pp.structure(adata, labels="batch", key_added="other")
    with pytest.raises(ValueError, match="those of two columns"):
        pp.select_genes(adata[:0].copy(), 5, preserve="type", use_rep="other")


def test_types_of_few_cells_are_left_out_and_named(cells, caplog):
    adata = cells.copy()
    pp.structure(adata, labels="type")
    assert "few" in caplog.text
    assert adata.uns["glfs_structure"]["sets"]["0"]["type_means"].shape[1] == N_TYPES - 1
    adata.obs["rare"] = pd.Categorical([f"{number // 9}" for number in range(adata.n_obs)])
    with pytest.raises(ValueError, match="merge types"):
        pp.structure(adata, labels="rare")


def test_nothing_else_of_the_cells_goes_into_the_file(both, tmp_path):
    adata, _ = both
    adata.uns["diary"] = "of a patient"
    nobody = without_cells(adata, "glfs_structure")
    nobody.write_h5ad(tmp_path / "blood.h5ad", compression="gzip")
    nobody = glfs_bio.io.read_cells(tmp_path / "blood.h5ad")
    assert [*nobody.uns] == ["glfs_structure"]
    sizes = {adata.n_obs, *(adata.obs["batch"].value_counts())}

    def look(value):
        if isinstance(value, dict):
            for item in value.values():
                look(item)
        assert not sizes & {*np.shape(value)}

    look(dict(nobody.uns["glfs_structure"]))
    tl.evaluate_panel(nobody, ["gene 3", "gene 4"])


CALLS = {
    "labels are predicted": lambda a: tl.evaluate_panel(a, labels="type", measures="accuracy"),
    "one measure": lambda a: tl.evaluate_panel(a, measures="imputed"),
    "a group of measures": lambda a: tl.evaluate_panel(a, measures=["preserved", "neighbors"]),
    "other labels": lambda a: tl.explain_panel(a, labels="batch"),
    "weights of cells": lambda a: pp.select_genes(a, 5, cell_weights="type"),
    "a space of cells": lambda a: pp.select_genes(a, 5, preserve="X_pca"),
    "places of cells": lambda a: tl.evaluate_panel(a, domains="type"),
    "a rival": lambda a: pp.select_genes(a, 5, method="variance"),
    "stability": lambda a: tl.stability(a),
    "a classifier": lambda a: tl.classify(a, "type"),
    "a structure": lambda a: pp.structure(a),
    "a UMAP": lambda a: pl.panel(a),
    "counts": lambda a: tl.evaluate_panel(a, counts_layer="X"),
    "several datasets": lambda a: pp.select_genes([a, a.copy()], 5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_needs_cells_is_refused(both, call):
    _, nobody = both
    pp.select_genes(nobody, 5)
    with pytest.raises(ValueError, match=r"these cells were left out|needs `cells`"):
        call(nobody)


@pytest.mark.parametrize("change", ["other genes", "another order", "no structure", "a name"])
def test_a_structure_of_other_genes_is_refused(both, change):
    _, nobody = both
    genes = {"other genes": slice(50), "another order": slice(None, None, -1)}
    nobody = nobody[:, genes.get(change, slice(None))].copy()
    if change == "no structure":
        del nobody.uns["glfs_structure"]
    if change == "a name":
        nobody.var_names = ["another", *nobody.var_names[1:]]
    with pytest.raises(ValueError, match="is outdated or missing"):
        tl.evaluate_panel(nobody, ["gene 3", "gene 4"])


def test_results_of_the_cells_hold_without_them(both):
    adata, _ = both
    pp.select_genes(adata, 6, preserve="large")
    tl.explain_panel(adata, labels="type")
    nobody = adata[:0].copy()
    pl.genes(nobody, show=False)
    assert glfs_bio._anndata.results.current(nobody, "glfs_explanation", "explanation")


def test_a_report_says_that_cells_are_missing(both, tmp_path):
    _, nobody = both
    pp.select_genes(nobody, 5)
    tl.evaluate_panel(nobody)
    glfs_bio.io.write_report(nobody, tmp_path / "report.html", labels="type")
    assert "cells that were left out" in (tmp_path / "report.html").read_text("utf-8")


def test_cells_of_an_instrument_are_compared_with_moments(both):
    instrument = both[0][:150, :80].copy()
    platform = Platform(efficiency=instrument)
    for of in both:
        pp.select_genes(of, 8, platform=platform)
    np.testing.assert_array_equal(*(of.var["glfs_efficiency"] for of in both))
    np.testing.assert_array_equal(*(of.var["glfs_selected"] for of in both))
