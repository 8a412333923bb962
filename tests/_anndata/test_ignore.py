"""Genes that neither count nor can be selected, and genes of nearly one sequence."""

from __future__ import annotations

import re
from functools import partial

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from all_panels import measured
from refusals import not_refused, refused
from scipy import sparse

from glfs_bio import GLFS, Limits, pp, tl
from glfs_bio._anndata.names import set_alike
from glfs_bio._anndata.results import checksum, request_of
from glfs_bio.cells.cells import StructureSpec
from glfs_bio.errors import InvalidValue, NotFound

NOISY = ["RPL3", "RPS6", "RPLP0", "x1"]
WORDS = ["ribosomal", re.compile("^x1$")]


@pytest.fixture
def both():
    """Cells of three types, and the same with four genes that vary more between other groups."""
    rng = np.random.default_rng(0)
    rate = np.repeat(rng.gamma(1.0, 2.0, size=(3, 60)), 30, axis=0)
    clean = ad.AnnData(np.log1p(rng.poisson(rate)).astype(float))
    clean.var_names = [f"g{i}" for i in range(60)]
    clean.obs["type"] = np.repeat(["a", "b", "c"], 30)
    group = np.tile([0.0, 40.0], 45)[:, None]
    values = np.log1p(rng.poisson(1.0 + group * np.ones(4))).astype(float)
    more = ad.AnnData(values, obs=clean.obs)
    more.var_names = NOISY
    return clean, ad.concat([more, clean], axis=1, merge="same")


def test_as_if_they_were_not_there(both):
    clean, adata = both
    for options, container in (
        ({}, np.asarray),
        ({"preserve": "type"}, sparse.csc_array),
        ({"preserve": "expression"}, sparse.csr_matrix),
        ({"method": "variance"}, sparse.csr_matrix),
    ):
        adata.X = container(adata.X.toarray() if sparse.issparse(adata.X) else adata.X)
        pp.select_genes(clean, 5, **options)
        pp.select_genes(adata, 5, ignore=WORDS, **options)
        of_genes = adata.var.loc[clean.var_names]
        np.testing.assert_array_equal(of_genes["glfs_rank"], clean.var["glfs_rank"])
        assert adata.var.loc[NOISY, "glfs_score"].isna().all()
        shares = [cells.uns["glfs"]["preserved"] for cells in (adata, clean)]
        np.testing.assert_allclose(*shares, rtol=1e-6)


def test_a_panel_brings_them_along(both, tmp_path):
    clean, adata = both
    pp.select_genes(clean, 5)
    pp.select_genes(adata, 5, ignore=WORDS)
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    results = []
    for cells in (clean, adata, ad.read_h5ad(path)):
        evaluation = tl.evaluate_panel(cells, "glfs", "type", inplace=False)
        tl.extend_panel(cells, "glfs", 9)
        tl.stability(cells, n_resamples=2)
        table = tl.explain_panel(cells, "glfs", inplace=False)
        shares = ["preserved", "knn_preservation"]
        results.append(
            {
                "extended": set(cells.var_names[cells.var["glfs_extended_selected"]]),
                "often": set(cells.uns["glfs_stability"]["table"]["gene"]),
                "substitutes": set(table["substitute"]),
                "evaluation": list(measured(evaluation)["value"][shares].round(6)),
            }
        )
    assert results[0] == results[1] == results[2]
    assert request_of(adata, "glfs").structure.ignore == WORDS
    pp.select_genes(adata, 5, exclude=WORDS)  # genes that are excluded still count
    assert adata.uns["glfs"]["preserved"][-1] < 0.9 * clean.uns["glfs"]["preserved"][-1]


def test_another_structure(both):
    _, adata = both
    pp.structure(adata, ignore=WORDS, key_added="mine")
    assert (adata.uns["mine"]["sets"]["0"]["variance"][:4] == 0).all()
    pp.select_genes(adata, 5, ignore=WORDS, key_added="named")
    pp.select_genes(adata, 5, key_added="plain")
    key = f"glfs_structure_{checksum(StructureSpec().text())}"
    assert (adata.uns[key]["sets"]["0"]["variance"][:4] > 0).all()
    assert len([key for key in adata.uns if key.startswith("glfs_structure_")]) == 2
    pp.select_genes(adata, 5, use_rep="mine", key_added="stored")
    np.testing.assert_array_equal(adata.var["stored_rank"], adata.var["named_rank"])
    with refused(InvalidValue, "ignore"):
        pp.select_genes(adata, 5, use_rep="mine", ignore="x1")


def test_a_named_space_has_its_genes(both, unchanged):
    _, adata = both
    sc.pp.pca(adata, 5)
    sc.pp.neighbors(adata, method="gauss")  # the other compiles
    with unchanged(adata):
        for given in ({"use_rep": "X_pca"}, {"neighbors_key": "neighbors"}):
            for call in (pp.select_genes, pp.structure):
                with refused(InvalidValue, "ignore") as caught:
                    call(adata, ignore="x1", **given)
                assert next(iter(given)) in str(caught.value)
    graph = adata.obsp["connectivities"]
    for given in ({"representation": adata.obsm["X_pca"]}, {"graph": graph}):
        with refused(InvalidValue, "ignore"):
            GLFS(5).fit(adata.X, ignore=[3], **given)


def test_included_and_ignored(both, caplog):
    _, adata = both
    pp.select_genes(adata, 5, include=["RPL3"], ignore=WORDS)
    assert adata.var["glfs_selected"]["RPL3"]
    assert adata.uns["glfs"]["preserved"][0] == 0
    assert "RPL3" in caplog.text


def test_refused(both, unchanged):
    _, adata = both
    cases = [
        ({"ignore": ["x2"]}, NotFound, "ignore"),
        ({"ignore": "mito"}, NotFound, "ignore"),
        ({"ignore": re.compile(".")}, InvalidValue, "ignore"),
        ({"ignore": "x1", "preserve": ["x1", "g3"]}, InvalidValue, "preserve"),
    ]
    with unchanged(adata):
        assert not_refused(partial(pp.select_genes, adata, n_genes=5), cases) == []


def test_an_estimator(both):
    clean, adata = both
    chosen = GLFS(5, n_comps=10).fit(adata.X, ignore=[0, 1, 2, 3])
    assert chosen.get_support(indices=True).min() > 3
    assert sorted(chosen.ranking_) == list(range(1, 65))
    alone = GLFS(5, n_comps=10).fit(clean.X)
    np.testing.assert_array_equal(chosen.ranking_[4:], alone.ranking_)


GENES = ("HBA1", "HBA2")


@pytest.fixture
def adata():
    """Cells of four types × 40 genes, of which two of nearly one sequence mark the first type."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(4), 30)
    rate = rng.gamma(1.0, 1.0, size=(4, 40))[kinds]
    rate[:, :2] = np.where(kinds == 0, 12.0, 0.2)[:, None]
    adata = ad.AnnData(np.log1p(rng.poisson(rate)).astype(float))
    adata.var_names = [*GENES, *(f"g{i}" for i in range(38))]
    adata.obs["kind"] = np.array(list("abcd"))[kinds]
    return adata


def chosen(adata, n_genes=20, **options):
    pp.select_genes(adata, n_genes, n_comps=10, **options)
    return [gene for gene in GENES if adata.var["glfs_selected"][gene]]


def test_sets_by_symbol_and_id_of_both_species():
    assert set_alike("HBA2") == set_alike("HBA1") == "HBA1"
    assert set_alike("ENSG00000188536.14") == "HBA1"
    assert set_alike("Trbc2") == set_alike("Trbc1")
    for gene, other in [("HSPB1", "HSPA1A"), ("RPL3", "RPL5"), ("IGKC", "IGHM"), ("HBB", "HBA1")]:
        assert set_alike(gene) is None or set_alike(gene) != set_alike(other)


def test_one_of_a_set_unless_both_are_asked_for(adata):
    for limits in (None, Limits(expression={"mean": 50.0}), Limits(per_type=1, groupby="kind")):
        assert len(chosen(adata, limits=limits)) == 1
        assert adata.uns["glfs"]["n_genes"] == 20
    free = {"limits": Limits(nearly_identical=True)}
    for options in (free, {"include": list(GENES)}, {"n_genes": 40}):
        assert chosen(adata, **({"n_genes": 35} | options)) == list(GENES)


def test_nested_and_certified(adata):
    ranks = []
    for size in (5, 20):
        chosen(adata, size)
        ranks.append(adata.var["glfs_rank"].nsmallest(5).index.tolist())
        assert (adata.uns["glfs"]["optimality"] <= 1.0).all()
    assert ranks[0] == ranks[1]


def test_nothing_changes_where_no_sets_meet(adata):
    lean, free = (adata[:, adata.var_names != "HBA2"].copy() for _ in range(2))
    pp.select_genes(lean, 10, n_comps=10)
    pp.select_genes(free, 10, n_comps=10, limits=Limits(nearly_identical=True))
    np.testing.assert_array_equal(lean.var["glfs_score"], free.var["glfs_score"])


def test_later_steps_know_them(adata):
    tl.extend_panel(adata, ["HBA1", "g3"], 22)
    assert not adata.var["glfs_extended_selected"]["HBA2"]
    tl.explain_panel(adata, ["HBA1", "g3", "g5"], n_substitutes=40)
    assert "HBA2" not in set(adata.uns["glfs_explanation"]["substitutes"]["substitute"])
