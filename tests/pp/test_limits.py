"""Limits, costs and failures of a selection, and their record."""

from __future__ import annotations

import logging

import anndata as ad
import numpy as np
import pytest
import scanpy as sc
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
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


GROUPS = {"T": ["CD3D", "CD3E", "CD8A", "IL7R", "LDHB"], "B": ["CD79A", "CD79B", "MS4A1"]}


def n_of_groups(adata, key):
    return {name: len(set(genes) & set(chosen(adata, key))) for name, genes in GROUPS.items()}


@pytest.mark.parametrize(
    ("per_group", "holds"),
    [
        ({"T": (4, None)}, lambda n: n["T"] >= 4),
        ({"T": (1, 1), "B": (None, 0)}, lambda n: n == {"T": 1, "B": 0}),
        ({"T": 5, "B": 2}, lambda n: n == {"T": 5, "B": 2}),
    ],
)
def test_groups_hold_in_whatever_follows(counted, per_group, holds):
    limits = Limits(groups=GROUPS, per_group=per_group)
    pp.select_genes(counted, 12, limits=limits)
    assert holds(n_of_groups(counted, "glfs"))
    assert counted.uns["glfs"]["n_genes"] == 12
    tl.extend_panel(counted, "glfs", 4, key_added="more")
    assert holds(n_of_groups(counted, "more"))
    table = tl.substitutes(counted, "glfs", n=3, min_score=0, inplace=False)
    panel = set(chosen(counted))
    for row in table[table["place"] > 0].itertuples():
        replaced = panel - {row.gene} | {row.substitute}
        assert holds({name: len(replaced & set(genes)) for name, genes in GROUPS.items()})


def test_a_group_that_cannot_be_filled_is_named(counted):
    limits = Limits(groups=GROUPS, per_group={"T": (6, None)})
    with refused(InvalidValue, "limits") as error:
        pp.select_genes(counted, 12, limits=limits)
    assert "(T)" in str(error.value)


def test_strong_genes_that_limits_rule_out_are_said(counted, caplog):
    means = counted.layers["counts"].mean(axis=0)
    limits = Limits(max_counts=6, counts_layer="counts")
    with caplog.at_level(logging.WARNING):
        pp.select_genes(counted, 10, limits=limits)
    table = counted.uns["glfs"]["ruled_out"]
    assert (means[counted.var["glfs_selected"]] <= 6).all()
    assert (means[counted.var_names.get_indexer(table["gene"])] > 6).all()
    assert (table["limit"] == "max_counts=6").all()
    assert (np.diff(table["preserved"]) <= 0).all()
    best = table["gene"][0]
    assert best in caplog.text
    assert len(caplog.messages[-1]) <= 200
    pp.select_genes(counted, 1, include=best, key_added="alone")
    np.testing.assert_allclose(counted.uns["alone"]["preserved"][0], table["preserved"][0])


def test_without_limits_nothing_is_ruled_out(counted):
    pp.select_genes(counted, 5)
    assert "ruled_out" not in counted.uns["glfs"]


def test_a_gene_that_must_be_in_and_adds_nothing_is_said(counted, caplog):
    counted.X = counted.X.toarray()
    counted.X[:, 5] = 0.0
    idle = counted.var_names[5]
    with caplog.at_level(logging.WARNING):
        pp.select_genes(counted, 10, include=[idle, "LYZ"])
    (said,) = [message for message in caplog.messages if "include" in message]
    assert idle in said
    assert "LYZ" not in said


def test_a_hundred_means_a_hundred(counted, caplog):
    """Within a total that the greedy choice uses up too soon."""
    limits = Limits(max_total_per_cell=40, counts_layer="counts")
    with caplog.at_level(logging.WARNING):
        pp.select_genes(counted, 100, limits=limits)
    total = counted.layers["counts"][:, counted.var["glfs_selected"]].sum(axis=1).mean()
    assert counted.uns["glfs"]["n_genes"] == 100
    assert total <= 40 * (1 + 1e-9)
    assert "of 100 genes" not in caplog.text
    for name in ("preserved", "optimality"):
        assert len(counted.uns["glfs"][name]) == 100
    assert (np.diff(counted.uns["glfs"]["preserved"]) > -1e-12).all()


def test_a_hundred_of_kang(real):
    """A panel of 94 genes was all that a greedy choice found, and preserved 0.7994."""
    cells = real("kang_ifnb13999")
    cells.layers["counts"] = cells.X.copy()
    sc.pp.normalize_total(cells)
    sc.pp.log1p(cells)
    pp.select_genes(cells, 100, limits=Limits(max_total_per_cell=100, counts_layer="counts"))
    assert cells.uns["glfs"]["n_genes"] == 100
    assert cells.uns["glfs"]["preserved"][-1] > 0.7995


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
        ({"method": "variance", "platform": Platform(failure=0.1)}, InvalidValue, "platform"),
        ({"objective": "exact", "limits": Limits(cost=1.0, budget=2)}, InvalidValue, "limits"),
    ],
)
def test_bad_input_changes_nothing(counted, options, kind, argument):
    before = set(counted.var)
    with refused(kind, argument):
        pp.select_genes(counted, 5, **options)
    assert set(counted.var) == before
