"""Extend, substitute, explain, compare, and how many genes."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, Preserve, pp, tl
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def test_extending_is_selecting_with_the_panel_included(cells):
    tl.extend_panel(cells, PANEL, 6)
    pp.select_genes(cells, 10, include=PANEL)
    for name in ("rank", "selected", "included", "loss"):
        pd.testing.assert_series_equal(
            cells.var[f"glfs_extended_{name}"], cells.var[f"glfs_{name}"], check_names=False
        )
    entry, other = cells.uns["glfs_extended"], cells.uns["glfs"]
    np.testing.assert_allclose(entry["preserved"], other["preserved"], rtol=1e-9)
    np.testing.assert_allclose(entry["optimality"], other["optimality"], rtol=1e-9)
    added = entry["table"]
    assert len(added) == 6
    assert not set(added["gene"]) & set(PANEL)
    np.testing.assert_allclose(added["adds"].cumsum() + entry["preserved"][3], added["preserved"])


def test_an_extended_panel_is_a_selection(cells, tmp_path):
    tl.extend_panel(cells, PANEL, 3, labels="bulk_labels")
    assert cells.uns["glfs_extended"]["table"]["supports"].isin(cells.obs["bulk_labels"]).all()
    cells.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    assert len(tl.explain_panel(again, "glfs_extended", inplace=False)) == 7
    pp.select_genes(again, **(pp.recorded_parameters(again, "glfs_extended") | {"key_added": "b"}))
    assert (again.var["b_rank"] == again.var["glfs_extended_rank"]).all()


def test_extending_until_enough_is_kept(cells):
    tl.extend_panel(cells, PANEL)
    assert cells.uns["glfs_extended"]["preserved"][-1] >= 0.9
    assert cells.uns["glfs_extended"]["preserved"][-2] < 0.9


def test_extending_with_failures(cells):
    never = tl.extend_panel(cells, PANEL, 3, platform=Platform(failure={"FTL": 0.0}), inplace=False)
    plain = tl.extend_panel(cells, PANEL, 3, inplace=False)
    pd.testing.assert_frame_equal(never, plain)
    first = plain["gene"][0]
    without = tl.extend_panel(
        cells, PANEL, 3, platform=Platform(failure={first: 1.0}), inplace=False
    )
    assert first not in set(without["gene"])


def test_limits_on_single_genes_hold_for_those_that_are_added(cells):
    mean = cells.to_df().mean()
    low = sorted(mean[PANEL])[1]  # two genes of the panel are above
    added = tl.extend_panel(cells, PANEL, 5, limits=Limits(max_mean=low), inplace=False)
    assert (mean[added["gene"]] <= low).all()
    limits = Limits(families={"all": list(cells.var_names)}, per_family=6)
    assert len(tl.extend_panel(cells, PANEL, 5, limits=limits, inplace=False)) == 2


def test_genes_that_are_missing_are_kept_in_mind(cells):
    with pytest.warns(Caution):
        tl.extend_panel(cells, [*PANEL, "NotAGene"], 2)
    assert list(cells.uns["glfs_extended"]["absent"]) == ["NotAGene"]


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


def test_only_genes_that_take_over_enough_are_offered(cells):
    every = tl.substitutes(cells, PANEL, n=700, min_score=0.0, inplace=False)
    tl.substitutes(cells, PANEL, n=700)
    entry = cells.uns["glfs_substitutes"]
    offered = entry["table"][entry["table"]["place"] > 0]
    assert len(entry["irreplaceable"])
    pairs = list(zip(offered["gene"], offered["substitute"], strict=True))
    enough = every[every["substitution_score"] >= 0.5]
    assert pairs == list(zip(enough["gene"], enough["substitute"], strict=True))
    none = entry["table"][entry["table"]["place"] == 0]
    assert set(none["gene"]) == set(entry["irreplaceable"]) == set(PANEL) - set(offered["gene"])
    assert (none["substitute"] == "").all()
    assert none["substitution_score"].isna().all()
    why = tl.explain_panel(cells, PANEL, inplace=False).set_index("gene")["substitute"]
    first = entry["table"][entry["table"]["place"] <= 1].set_index("gene")["substitute"]
    assert (why == first[why.index]).all()


def test_limits_hold_with_a_substitute(cells):
    counts = np.expm1(cells.to_df())
    cells.layers["counts"] = np.round(counts.to_numpy())
    means = cells.to_df("counts").mean()
    pp.select_genes(cells, 12)
    most = float(means[cells.var["glfs_selected"]].sum())
    limits = Limits(max_total_per_cell=0.6 * most, counts_layer="counts")
    pp.select_genes(cells, 12, limits=limits)
    panel = list(cells.var_names[cells.var["glfs_selected"]])
    limited = tl.substitutes(cells, "glfs", n=50, min_score=0.05, inplace=False)
    free = tl.substitutes(cells, panel, n=50, min_score=0.05, inplace=False)
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


def test_explanations(cells, tmp_path):
    tl.explain_panel(cells, PANEL, "bulk_labels")
    table = cells.uns["glfs_explanation"]["table"].set_index("gene")
    assert "CD19+ B" in table.loc["CD79A", "supports"]
    assert (table["loss"] > 0).all()
    entry = cells.uns["glfs_explanation"]
    np.testing.assert_allclose(entry["support"].sum(axis=1), 1.0)
    assert entry["labels"][entry["support"][PANEL.index("CD79A")].argmax()] == "CD19+ B"
    tl.substitutes(cells, PANEL)
    tl.curve(cells, 10)
    cells.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad").uns["glfs_explanation"]["table"]
    assert list(again["supports"]) == list(table["supports"])


def test_no_gene_is_left_to_be_a_substitute(cells):
    table = tl.explain_panel(cells, PANEL, exclude=list(cells.var_names), inplace=False)
    assert (table["substitute"] == "").all()
    assert table["loss_with_substitute"].isna().all()
    none = tl.substitutes(cells, PANEL, exclude=list(cells.var_names), min_score=0.0, inplace=False)
    assert (none["place"] == 0).all()
    assert list(none["gene"]) == PANEL


def test_comparison(cells):
    panels = {"one": PANEL, "two": [*PANEL[:2], "GNLY", "MS4A1"]}
    tables = tl.compare_panels(cells, panels, "bulk_labels", inplace=False)
    assert tables["shared"].loc["one", "two"] == 2
    assert tables["jaccard"].loc["one", "two"] == pytest.approx(2 / 6)
    matched = tables["jaccard_with_substitutes"]
    assert matched.loc["one", "two"] > 2 / 6
    assert matched.loc["one", "two"] == matched.loc["two", "one"]
    assert np.diag(matched) == pytest.approx(1.0)
    alone = tl.evaluate_panel(cells, PANEL, "bulk_labels", inplace=False)
    assert tables["table"].loc["one", "accuracy"] == alone["accuracy"]
    assert tables["table"].loc["one", "preserved"] == alone["preserved"]
    with refused(InvalidType, "panels"):
        tl.compare_panels(cells, {"one": PANEL})


def test_selections_of_different_structures_are_not_compared(cells):
    pp.select_genes(cells, 5)
    pp.select_genes(cells, 5, n_comps=10, key_added="other")
    panels = {"one": "glfs", "two": "other"}
    with refused(InvalidValue, "panels"):
        tl.compare_panels(cells, panels)
    pp.structure(cells, n_comps=20, key_added="mine")
    tl.compare_panels(cells, panels, preserve=Preserve(use_rep="mine"))
    assert list(cells.uns["glfs_comparison"]["table"].index) == ["one", "two"]


def test_curve(cells):
    table = tl.curve(cells, 30, "bulk_labels", sizes=[5, 30], inplace=False)
    pp.select_genes(cells, 30)
    order = cells.var["glfs_rank"].sort_values().index[:30]
    assert list(table["gene"]) == list(order)
    np.testing.assert_allclose(table["preserved"], cells.uns["glfs"]["preserved"], rtol=1e-9)
    assert list(table.loc[table["accuracy"].notna(), "n_genes"]) == [5, 30]
    with refused(InvalidValue, "sizes"):
        tl.curve(cells, 5, "bulk_labels", sizes=[10])
    with refused(InvalidValue, "sizes"):
        tl.curve(cells, 5, sizes=[3])
    with refused(InvalidValue, "max_genes"):
        tl.curve(cells, 1000)


@pytest.mark.parametrize("call", [tl.extend_panel, tl.substitutes, tl.explain_panel])
def test_bad_input_changes_nothing(cells, call):
    extra = (1,) if call is tl.extend_panel else ()
    before = set(cells.uns), set(cells.var)
    for panel, options, kind in [
        ("none", {}, NotFound),
        (["none"], {}, InvalidValue),
        (PANEL, {"symbols": "none"}, NotFound),
        (PANEL, {"key_added": ""}, InvalidValue),
        (PANEL, {"preserve": 1}, InvalidType),
    ]:
        with refused(kind, [*options, "panel"][0]):
            call(cells, panel, *extra, **options)
    assert (set(cells.uns), set(cells.var)) == before
