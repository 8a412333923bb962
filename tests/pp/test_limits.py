"""Limits, costs and failures of a selection, and their record."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp
from glfs_bio.errors import InvalidType, InvalidValue, NotFound


@pytest.fixture
def counted(pbmc):
    pbmc.layers["counts"] = np.round(np.expm1(pbmc.X.toarray()))
    pbmc.var["price"] = np.linspace(1.0, 3.0, pbmc.n_vars)
    return pbmc


def chosen(adata, key="glfs"):
    return adata.var_names[adata.var[f"{key}_selected"]]


def test_totals_hold(counted):
    pp.select_genes(counted, 15)
    plain = counted.layers["counts"][:, counted.var["glfs_selected"]].sum(axis=1).mean()
    limits = Limits(max_total_per_cell=plain / 2, counts_layer="counts")
    pp.select_genes(counted, 15, limits=limits, key_added="few")
    total = counted.layers["counts"][:, counted.var["few_selected"]].sum(axis=1).mean()
    assert total <= plain / 2
    assert counted.uns["few"]["preserved"][-1] <= counted.uns["glfs"]["preserved"][-1]
    share = counted.uns["few"]["optimality"][-1]
    assert 0.5 < share <= 1


def test_limits_on_single_genes_exclude_them(pbmc):
    means = np.asarray(pbmc.X.mean(axis=0)).ravel()
    pp.select_genes(pbmc, 10, limits=Limits(max_mean=1.0))
    pp.select_genes(pbmc, 10, exclude=list(pbmc.var_names[means > 1.0]), key_added="other")
    for name in ("rank", "score", "loss", "weight"):
        np.testing.assert_array_equal(pbmc.var[f"glfs_{name}"], pbmc.var[f"other_{name}"])
    for name in ("preserved", "optimality"):
        np.testing.assert_array_equal(pbmc.uns["glfs"][name], pbmc.uns["other"][name])


def test_a_budget_is_spent(counted):
    pp.select_genes(counted, limits=Limits(cost="price", budget=20.0))
    spent = counted.var["price"][chosen(counted)].sum()
    assert 15 < spent <= 20
    assert "curve" not in counted.uns["glfs"]


def test_failures(counted):
    pp.select_genes(counted, 10, platform=Platform(failure=0.3))
    entry = counted.uns["glfs"]
    assert entry["preserved_on_platform"].shape == (10,)
    assert (entry["preserved_on_platform"] < entry["preserved"]).all()
    pp.select_genes(counted, 10, key_added="plain")
    assert counted.uns["plain"]["preserved"][-1] >= entry["preserved"][-1]


def test_the_record_makes_the_same_selection(counted, tmp_path):
    cost = dict(zip(counted.var_names, np.arange(counted.n_vars) % 3 + 1.0, strict=True))
    limits = Limits(
        min_cells=0.02,
        families={"hla": ["HLA-DRA", "HLA-DRB1", "HLA-DPB1"], "a/b": ["CD79A", "CD79B"]},
        per_family=1,
        per_type=1,
        groupby="bulk_labels",
        cost=cost,
        budget=40,
    )
    platform = Platform(failure={"LYZ": 0.9})
    pp.select_genes(counted, 14, limits=limits, platform=platform)
    counted.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    recorded = pp.recorded_parameters(again)
    assert recorded["limits"] == limits
    assert recorded["platform"] == platform
    pp.select_genes(again, **(recorded | {"key_added": "b"}))
    assert (again.var["b_rank"].fillna(0) == again.var["glfs_rank"].fillna(0)).all()


@pytest.mark.parametrize(
    ("options", "kind", "argument"),
    [
        ({"limits": {"min_mean": 1}}, InvalidType, "limits"),
        ({"limits": Limits(cost="none", budget=3)}, NotFound, "cost"),
        ({"limits": Limits(cost={"LYZ": 1.0}, budget=3)}, InvalidValue, "cost"),
        ({"limits": Limits(cost=-1.0, budget=3)}, InvalidValue, "cost"),
        ({"platform": Platform(failure=2.0)}, InvalidValue, "failure"),
        ({"platform": Platform(failure="none")}, NotFound, "failure"),
        ({"platform": 0.5}, InvalidType, "platform"),
        ({"limits": Limits(max_mean=1e-9)}, InvalidValue, "limits"),
        ({"limits": Limits(per_type=2, groupby="bulk_labels")}, InvalidValue, "per_type"),
        ({"method": "variance", "platform": Platform(failure=0.1)}, InvalidValue, "platform"),
        ({"objective": "exact", "limits": Limits(cost=1.0, budget=2)}, InvalidValue, "limits"),
    ],
)
def test_bad_input_changes_nothing(counted, options, kind, argument):
    before = set(counted.var)
    with refused(kind, argument):
        pp.select_genes(counted, 5, **options)
    assert set(counted.var) == before
