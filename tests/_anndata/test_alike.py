"""Genes of nearly one sequence: a panel has one."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest

from glfs_bio import Limits, pp, tl
from glfs_bio._anndata import alike

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
    assert alike.set_of("HBA2") == alike.set_of("HBA1") == "HBA1"
    assert alike.set_of("ENSG00000188536.14") == "HBA1"
    assert alike.set_of("Trbc2") == alike.set_of("Trbc1")
    for gene, other in [("HSPB1", "HSPA1A"), ("RPL3", "RPL5"), ("IGKC", "IGHM"), ("HBB", "HBA1")]:
        assert alike.set_of(gene) is None or alike.set_of(gene) != alike.set_of(other)


def test_one_of_a_set_unless_both_are_asked_for(adata):
    for limits in (None, Limits(max_mean=50.0), Limits(per_type=1, groupby="kind")):
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
    tl.extend_panel(adata, ["HBA1", "g3"], 20)
    assert not adata.var["glfs_extended_selected"]["HBA2"]
    table = tl.substitutes(adata, ["HBA1", "g3", "g5"], min_score=0.0, n=40, inplace=False)
    assert "HBA2" not in set(table["substitute"])
    table = tl.curve(adata, 20, inplace=False)
    assert len(set(GENES) & set(table["gene"])) == 1
