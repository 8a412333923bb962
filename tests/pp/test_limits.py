"""Limits, costs and failures of a selection, and their record."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from refusals import not_refused, refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio.errors import InvalidValue, NotFound


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
    limits = Limits(total_counts={"cell": plain / 2}, counts_layer="counts")
    pp.select_genes(counted, 15, limits=limits, key_added="few")
    total = counted.layers["counts"][:, counted.var["few_selected"]].sum(axis=1).mean()
    assert total <= plain / 2
    assert counted.uns["few"]["preserved"][-1] <= counted.uns["glfs"]["preserved"][-1]
    share = counted.uns["few"]["optimality"][-1]
    assert 0.5 < share <= 1
    assert "ruled_out" not in counted.uns["glfs"]


GROUPS = {"T": ["CD3D", "CD3E", "CD8A", "IL7R", "LDHB"], "B": ["CD79A", "CD79B", "MS4A1"]}


def n_of_groups(adata, key):
    return {name: len(set(genes) & set(chosen(adata, key))) for name, genes in GROUPS.items()}


@pytest.mark.parametrize(
    ("per_group", "holds"),
    [
        ({"T": (4, None)}, lambda n: n["T"] >= 4),
        ({"T": (1, 1), "B": (None, 0)}, lambda n: n == {"T": 1, "B": 0}),
        ({"T": (5, 5), "B": (2, 2)}, lambda n: n == {"T": 5, "B": 2}),
    ],
)
def test_groups_hold_in_whatever_follows(counted, per_group, holds):
    limits = Limits(groups=GROUPS, per_group=per_group)
    pp.select_genes(counted, 12, limits=limits)
    assert holds(n_of_groups(counted, "glfs"))
    assert counted.uns["glfs"]["n_genes"] == 12
    tl.extend_panel(counted, "glfs", 16, key_added="more")
    assert holds(n_of_groups(counted, "more"))
    tl.explain_panel(counted)
    table = counted.uns["glfs_explanation"]["substitutes"]
    panel = set(chosen(counted))
    for row in table.itertuples():
        replaced = panel - {row.gene} | {row.substitute}
        assert holds({name: len(replaced & set(genes)) for name, genes in GROUPS.items()})


def test_strong_genes_that_limits_rule_out_are_said(counted, caplog):
    means = counted.layers["counts"].mean(axis=0)
    limits = Limits(expression={"counts": 6}, counts_layer="counts")
    pp.select_genes(counted, 10, limits=limits)
    table = counted.uns["glfs"]["ruled_out"]
    assert (means[counted.var["glfs_selected"]] <= 6).all()
    assert (means[counted.var_names.get_indexer(table["gene"])] > 6).all()
    assert (table["limit"] == "expression['counts'] ≤ 6").all()
    assert (np.diff(table["preserved"]) <= 0).all()
    best = table["gene"][0]
    assert best in caplog.text
    pp.select_genes(counted, 1, include=best, key_added="alone")
    np.testing.assert_allclose(counted.uns["alone"]["preserved"][0], table["preserved"][0])
    with refused(InvalidValue, "include") as caught:
        pp.select_genes(counted, 10, limits=limits, include=best)
    assert f"{best} (expression" in str(caught.value)


def test_a_gene_that_must_be_in_and_adds_nothing_is_said(counted, caplog):
    counted.X = counted.X.toarray()
    counted.X[:, 5] = 0.0
    idle = counted.var_names[5]
    pp.select_genes(counted, 10, include=[idle, "LYZ"])
    (message,) = [message for message in caplog.messages if "add nothing" in message]
    assert idle in message
    assert "LYZ" not in message


def test_fewer_genes_than_asked_for_are_said_where_they_preserve_more(counted, caplog):
    limits = Limits(total_counts={"cell": 40}, counts_layer="counts")
    pp.select_genes(counted, 100, limits=limits)
    total = counted.layers["counts"][:, counted.var["glfs_selected"]].sum(axis=1).mean()
    entry = counted.uns["glfs"]
    assert total <= 40 * (1 + 1e-9)
    assert f"{entry['n_genes']} of 100 genes" in caplog.text
    assert len(entry["optimality"]) == entry["n_genes"]
    assert entry["preserved"][-1] > 0.58  # the best hundred that are known preserve .51
    assert (np.diff(entry["preserved"]) > -1e-12).all()


def test_a_budget_is_spent(counted):
    pp.select_genes(counted, limits=Limits(cost="price", budget=20.0))
    assert 15 < counted.var["price"][chosen(counted)].sum() <= 20


BAD = [
    ({"limits": Limits(cost="none", budget=3)}, NotFound, "cost"),
    ({"limits": Limits(cost={"LYZ": 1.0}, budget=3)}, InvalidValue, "cost"),
    ({"limits": Limits(cost=-1.0, budget=3)}, InvalidValue, "cost"),
    ({"platform": Platform(failure=2.0)}, InvalidValue, "failure"),
    ({"platform": Platform(failure="none")}, NotFound, "failure"),
    ({"limits": Limits(expression={"mean": 1e-9})}, InvalidValue, "limits"),
    ({"limits": Limits(groups=GROUPS, per_group={"T": (6, None)})}, InvalidValue, "limits"),
    ({"method": "variance", "platform": Platform(failure=0.1)}, InvalidValue, "platform"),
    ({"objective": "exact", "limits": Limits(cost=1.0, budget=2)}, InvalidValue, "limits"),
]


def test_bad_input_changes_nothing(counted, unchanged):
    with unchanged(counted):
        assert not_refused(partial(pp.select_genes, counted, n_genes=5), BAD) == []
    lost_digits = {"cost": 1.0, "budget": 1e-310}
    assert not_refused(Limits, [(lost_digits, InvalidValue, "budget")]) == []
