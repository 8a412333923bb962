from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy.stats import false_discovery_control, hypergeom

from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.pp import select_genes
from glfs_bio.tl import enrich

SETS = {
    "MHC II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1", "HLA-DPB1", "CD74", "absent"],
    "T cells": ["CD3D", "CD3E", "IL32", "LTB", "CD3D"],
    "cytotoxic": ["NKG7", "GNLY", "GZMB", "PRF1", "GZMA"],
    "elsewhere": ["absent", "missing"],
}


@pytest.fixture(scope="module")
def _panel(_pbmc):
    adata = _pbmc.copy()
    select_genes(adata, 25, exclude=["CD74"])
    return adata


@pytest.fixture
def panel(_panel):
    return _panel.copy()


def made_up(selected, n_genes, untested=()):
    """An object with a selection of which only the columns matter."""
    names = [f"G{i}" for i in range(n_genes)]
    score = np.linspace(2.0, 1.0, n_genes)
    score[list(untested)] = np.nan
    return ad.AnnData(
        np.zeros((2, n_genes), dtype=np.float32),
        var=pd.DataFrame(
            {
                "glfs_weight": 1.0,
                "glfs_loss": 0.1,
                "glfs_included": False,
                "glfs_score": score,
                "glfs_rank": pd.Series(-score).rank().to_numpy(),
                "glfs_selected": np.isin(np.arange(n_genes), list(selected)),
            },
            index=names,
        ),
    )


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_it_is_the_hypergeometric_test(data):
    n_genes = data.draw(st.integers(5, 40))
    genes = st.integers(0, n_genes - 1)
    untested = data.draw(st.sets(genes, max_size=n_genes - 3))
    tested = sorted(set(range(n_genes)) - untested)
    selected = data.draw(st.sets(st.sampled_from(tested), min_size=1))
    members = data.draw(st.lists(st.lists(genes, min_size=1), min_size=1, max_size=5))
    if not any(set(member) & set(tested) for member in members):
        return
    sets = {f"S{i}": [f"G{gene}" for gene in member] for i, member in enumerate(members)}
    table = enrich(made_up(selected, n_genes, untested), sets, inplace=False)
    expected = {}
    for name, member in zip(sets, members, strict=True):
        inside = set(member) & set(tested)
        if inside:
            overlap = len(inside & selected)
            expected[name] = hypergeom.sf(overlap - 1, len(tested), len(inside), len(selected))
            assert table.loc[name, ["n_overlap", "n_set"]].tolist() == [overlap, len(inside)]
    assert set(table.index) == set(expected)
    np.testing.assert_allclose(table["pvals"], [expected[name] for name in table.index])
    np.testing.assert_allclose(table["pvals_adj"], false_discovery_control(table["pvals"]))
    assert table["pvals"].is_monotonic_increasing


def test_genes_of_a_set_are_listed_by_rank(panel):
    table = enrich(panel, SETS, inplace=False)
    assert set(table.index) == {"MHC II", "T cells", "cytotoxic"}
    assert "glfs_enrichment" not in panel.uns
    enrich(panel, SETS)
    entry = panel.uns["glfs_enrichment"]
    n_background = panel.n_vars - 13  # without an excluded gene and 12 clones
    assert (entry["n_selected"], entry["n_background"]) == (25, n_background)
    assert "gseapy" in entry["versions"]
    selected = set(panel.var_names[panel.var["glfs_selected"]])
    for name, text in table["genes"].items():
        genes = [gene for gene in text.split(";") if gene]
        assert set(genes) == set(SETS[name]) & selected
        assert panel.var["glfs_rank"][genes].is_monotonic_increasing


def test_numbers_and_case_are_taken_as_they_are():
    adata = made_up({0, 1, 2}, 20)
    adata.var_names = [str(1000 + i) for i in range(20)]
    table = enrich(adata, {"A": ["1000", "1001", "1010"]}, inplace=False)
    assert table.loc["A", "pvals"] == pytest.approx(hypergeom.sf(1, 20, 3, 3))
    adata.var_names = [f"Gene{i}" for i in range(20)]
    with refused(InvalidValue, "gene_sets"):
        enrich(adata, {"A": ["GENE0", "GENE1"]})


def test_symbols_that_are_shared_or_missing_count_once():
    adata = made_up({0, 1, 2}, 20)
    adata.var["symbol"] = [f"S{i}" for i in range(20)]
    adata.var.loc[["G1", "G10"], "symbol"] = "S0"
    adata.var.loc[["G2", "G11"], "symbol"] = [None, ""]
    table = enrich(adata, {"A": ["S0", "S5"]}, symbols="symbol", inplace=False)
    assert table.loc["A", "genes"] == "S0"
    assert table.loc["A", "pvals"] == pytest.approx(hypergeom.sf(0, 16, 2, 1))


def test_background_of_ones_own():
    adata = made_up({0, 1, 2}, 20)
    others = [f"G{i}" for i in range(12)] + [f"other{i}" for i in range(8)]
    sets = {"A": ["G0", "G1", "G15", "other3"]}
    table = enrich(adata, sets, background=others, inplace=False)
    assert table.loc["A", ["n_overlap", "n_set"]].tolist() == [2, 3]
    assert table.loc["A", "pvals"] == pytest.approx(hypergeom.sf(1, 20, 3, 3))
    with pytest.warns(Caution) as caught:
        table = enrich(adata, sets, background=others[1:], inplace=False)
    assert ["left out: G0" in str(warning.message) for warning in caught] == [True]
    assert table.loc["A", "pvals"] == pytest.approx(hypergeom.sf(0, 19, 2, 2))
    with refused(InvalidValue, "background"):
        enrich(adata, {"A": ["x"]}, background=["x"])
    with refused(InvalidValue, "background") as refusal:
        enrich(adata, sets, background="G0")
    assert "list" in str(refusal.value)


def test_genes_that_no_cell_expresses_are_warned_of():
    """They are in no set, and only make the background larger."""
    adata = made_up(range(5), 100)
    adata.X = np.ones((2, 100), dtype=np.float32)
    adata.X[:, 60:] = 0
    sets = {"a": ["G0", "G1", "G2", "G20", "G90"]}
    with pytest.warns(Caution, match="40 of 100"):
        table = enrich(adata, sets, inplace=False)
    assert table.loc["a", "n_set"] == 5
    expressed = list(adata.var_names[:60])
    fewer = enrich(adata, sets, background=expressed, inplace=False)
    assert fewer.loc["a", "pvals"] == pytest.approx(hypergeom.sf(2, 60, 4, 5))


def test_sizes():
    adata = made_up({0, 1}, 30)
    sets = {"one": ["G0"], "three": ["G0", "G1", "G2"], "ten": [f"G{i}" for i in range(10)]}
    assert set(enrich(adata, sets, min_size=2, inplace=False).index) == {"three", "ten"}


def test_a_background_that_has_shrunk_is_refused(panel):
    fewer = panel[:, :300].copy()
    for method in ("ora", "prerank"):
        with refused(InvalidValue, "key"):
            enrich(fewer, SETS, method=method)
    assert "glfs_enrichment" not in fewer.uns
    chosen = panel[:, panel.var["glfs_selected"]].copy()
    given = {"background": list(panel.var_names), "inplace": False}
    pd.testing.assert_frame_equal(enrich(chosen, SETS, **given), enrich(panel, SETS, **given))


def test_ranked_sets(panel):
    """By ranks alone: a shift of the score, whose zero means nothing, does not matter."""
    top = list(panel.var.sort_values("glfs_rank").index[:20])
    sets = {"top": top, "spread": list(panel.var_names[::30])}
    options = {"method": "prerank", "inplace": False}
    table = enrich(panel, sets, **options)
    assert table.index[0] == "top"
    assert table.loc["top", "es"] == pytest.approx(1.0)
    assert table.loc["top", "pvals_adj"] < 0.05 < table.loc["spread", "pvals"]
    assert set(table.loc["top", "genes"].split(";")) == set(top)
    assert table["pvals"].min() >= 1 / 1001
    assert (table["pvals_adj"] >= table["pvals"]).all()
    panel.var["glfs_score"] += 100.0
    pd.testing.assert_frame_equal(table, enrich(panel, sets, **options))


def test_libraries_are_no_files(panel):
    with refused(InvalidValue, "gene_sets"):
        enrich(panel, "Blood_2021")


def test_immune_terms_of_blood(real, data_folder):
    adata = real("pbmc3k_2638")
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    select_genes(adata, 50)
    enrich(adata, data_folder / "gmt" / "reactome.gmt")
    table = adata.uns["glfs_enrichment"]["table"]
    assert (table["pvals_adj"].head(5) < 1e-4).all()
    words = "Immun|Neutrophil|TCR|CD3|MHC|PD-1|second messenger|Interferon"
    # terms of translation follow: the amount of ribosomes is structure of these cells too
    assert table.index[:4].str.contains(words).all()
    assert adata.uns["glfs_enrichment"]["params"]["gene_sets"].endswith("reactome.gmt")
