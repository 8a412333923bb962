"""Genes that can replace a gene of a panel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, pp, tl
from glfs_bio.errors import InvalidValue
from glfs_bio.tl._panel import find

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def test_substitutes(cells):
    table = tl.substitutes(cells, PANEL, n=3, min_score=0.0, inplace=False)
    assert list(table["gene"].unique()) == PANEL
    assert (table.groupby("gene").size() == 3).all()
    for _, rows in table.groupby("gene"):
        assert rows["substitution_score"].is_monotonic_decreasing
        assert not set(rows["substitute"]) & set(PANEL)
    best = table[table["place"] == 1].set_index("gene")["substitute"]
    assert best["CD79A"] in {"MS4A1", "CD79B", "CD74", "HLA-DRA", "HLA-DQA1"}


def test_groups_of_genes_that_stand_in(cells):
    tl.substitutes(cells, PANEL, n=1, min_score=0.2)
    entry = cells.uns["glfs_substitutes"]
    groups = entry["groups"].set_index("gene")
    first = entry["table"].set_index("gene")
    for gene in PANEL:
        members = [name for name in groups.loc[gene, "substitutes"].split(", ") if name]
        assert len(members) == groups.loc[gene, "n_substitutes"]
        assert bool(members) == (gene not in entry["irreplaceable"])
        assert (members or [""])[0] == first.loc[gene, "substitute"]


def test_weak_substitutes_are_listed_and_flagged(cells):
    tl.substitutes(cells, PANEL)
    entry = cells.uns["glfs_substitutes"]
    table = entry["table"]
    assert (table.groupby("gene").size() == 3).all()
    assert (table["acceptable"] == (table["substitution_score"] >= 0.5)).all()
    assert table["acceptable"].any()
    assert not table["acceptable"].all()
    assert (table["substitution_score"] > 0).all()
    none = set(PANEL) - set(table["gene"][table["acceptable"]])
    assert set(entry["irreplaceable"]) == none
    assert not len(entry["needless"])
    first = table[table["place"] == 1].set_index("gene")
    why = tl.explain_panel(cells, PANEL, inplace=False).set_index("gene")
    columns = ["substitute", "substitution_score", "acceptable"]
    alike = dict.fromkeys(("check_dtype", "check_index_type", "check_column_type"), False)
    pd.testing.assert_frame_equal(why[columns], first.loc[why.index, columns], **alike)


def test_what_adds_nothing_has_no_substitute(cells):
    pp.select_genes(cells, 10, include=["CD4"])
    tl.substitutes(cells)
    entry = cells.uns["glfs_substitutes"]
    blank = entry["table"].set_index("gene").loc["CD4"]
    assert (blank["substitute"], blank["place"]) == ("", 0)
    assert np.isnan(blank["substitution_score"])
    assert not blank["acceptable"]
    assert list(entry["needless"]) == ["CD4"]
    assert "CD4" not in entry["irreplaceable"]
    alone = tl.substitutes(cells, "glfs", ["CD4"], inplace=False)
    assert list(alone["substitute"]) == [""]


def test_limits_hold_with_a_substitute(cells):
    counts = np.expm1(cells.to_df())
    cells.layers["counts"] = np.round(counts.to_numpy())
    means = cells.to_df("counts").mean()
    pp.select_genes(cells, 12)
    most = float(means[cells.var["glfs_selected"]].sum())
    limits = Limits(max_total_per_cell=0.6 * most, counts_layer="counts")
    pp.select_genes(cells, 12, limits=limits)
    panel = list(cells.var_names[cells.var["glfs_selected"]])
    limited = tl.substitutes(cells, "glfs", n=700, inplace=False)
    free = tl.substitutes(cells, panel, n=700, inplace=False)
    offered = limited[limited["place"] > 0]
    assert 0 < len(offered) < (free["place"] > 0).sum()
    for row in offered.itertuples():
        swapped = [row.substitute if gene == row.gene else gene for gene in panel]
        assert means[swapped].sum() <= 0.6 * most * (1 + 1e-9)


def test_substitutes_of_some_genes_but_some(cells):
    asked = {"n": 2, "min_score": 0.0, "inplace": False}
    table = tl.substitutes(cells, PANEL, ["CD79A"], **asked)
    first = table["substitute"][0]
    other = tl.substitutes(cells, PANEL, ["CD79A"], exclude=[first], **asked)
    assert other["substitute"][0] == table["substitute"][1]
    with refused(InvalidValue, "genes"):
        tl.substitutes(cells, PANEL, ["GNLY"])


def test_what_could_not_be_selected_is_no_substitute(cells):
    pp.select_genes(cells, 12)
    asked = {"n": 1, "min_score": 0.0, "inplace": False}
    barred = list(tl.substitutes(cells, "glfs", **asked)["substitute"].unique())
    pp.select_genes(cells, 12, exclude=barred)
    again = tl.substitutes(cells, "glfs", **asked)["substitute"]
    assert not set(again) & set(barred)
    assert not set(tl.explain_panel(cells, "glfs", inplace=False)["substitute"]) & set(barred)
    more = tl.substitutes(cells, "glfs", exclude=[again[0]], **asked)["substitute"]
    assert more[0] != again[0]


def test_lost_is_what_the_exchanged_panel_keeps_less(cells):
    table = tl.substitutes(cells, PANEL, ["LYZ"], n=1, min_score=0.0, inplace=False)
    panels = {"before": PANEL, "after": [table["substitute"][0], *PANEL[:1], *PANEL[2:]]}
    kept = {
        name: tl.explain_panel(cells, panel, inplace=False)["preserved"].iloc[-1]
        for name, panel in panels.items()
    }
    assert kept["before"] - kept["after"] == pytest.approx(
        table["loss_with_substitute"][0], rel=1e-6
    )


def test_no_gene_is_left_to_be_a_substitute(cells):
    table = tl.explain_panel(cells, PANEL, exclude=list(cells.var_names), inplace=False)
    assert (table["substitute"] == "").all()
    assert table["loss_with_substitute"].isna().all()
    none = tl.substitutes(cells, PANEL, exclude=list(cells.var_names), min_score=0.0, inplace=False)
    assert (none["place"] == 0).all()
    assert list(none["gene"]) == PANEL


def test_joint_substitutes_may_come_all_at_once(cells):
    """Those that are marked, one for each gene, lose no more than is said together."""
    pp.select_genes(cells, 25)
    tl.substitutes(cells, n=5)
    entry = cells.uns["glfs_substitutes"]
    joint = entry["table"][entry["table"]["joint"]]
    assert 0 < len(joint) < len(entry["table"])
    assert joint["substitute"].is_unique
    assert 0.0 <= entry["joint_loss"] <= 0.005
    panel = list(cells.var_names[cells.var["glfs_selected"]])
    criterion = find(cells, "glfs").basis.criterion
    before = cells.uns["glfs"]["preserved"][-1]
    for place in range(joint.groupby("gene").size().max()):
        of_genes = {gene: list(rows["substitute"]) for gene, rows in joint.groupby("gene")}
        come = {gene: names[min(place, len(names) - 1)] for gene, names in of_genes.items()}
        swapped = cells.var_names.get_indexer([come.get(gene, gene) for gene in panel])
        assert criterion.preserved(swapped)[-1] >= before * (1 - entry["joint_loss"]) - 1e-9


def test_must_haves_have_joint_substitutes_too(cells):
    pp.select_genes(cells, 25)
    free = tl.substitutes(cells, inplace=False)
    some = free["gene"][free["joint"]].iloc[0]
    pp.select_genes(cells, 25, include=[some])
    again = tl.substitutes(cells, "glfs", [some], inplace=False)
    assert again["joint"].any()
