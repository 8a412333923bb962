"""A panel is extended within everything that it was chosen with."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata.results import request_of
from glfs_bio.errors import Caution, InvalidValue

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


def added_to(adata, panel, n_more, **options):
    n_genes = n_more + (len(panel) if isinstance(panel, list) else int(adata.uns[panel]["n_genes"]))
    return tl.extend_panel(adata, panel, n_genes, **options, inplace=False)


def chosen(adata, key="glfs_extended"):
    return set(adata.var_names[adata.var[f"{key}_selected"]])


@pytest.fixture
def selection(cells):
    """Eight genes of low expression, without the genes that come first."""
    pp.select_genes(cells, 8)
    first = list(cells.var_names[cells.var["glfs_rank"] <= 30])
    pp.select_genes(cells, 8, exclude=first, limits=Limits(expression={"mean": 1.0}))
    return cells, first


def test_exclusions_and_limits_stay(selection):
    """In an extension too; a call replaces them, and a list has none."""
    cells, first = selection
    added = added_to(cells, "glfs", 10)["gene"]
    assert not set(added) & set(first)
    assert (cells.to_df().mean()[added] <= 1.0).all()
    assert set(added_to(cells, "glfs", 5, exclude=[], limits=Limits())["gene"]) & set(first)
    assert set(added_to(cells, list(cells.var_names[:3]), 10)["gene"]) & set(first)
    tl.extend_panel(cells, "glfs", 12)
    recorded = request_of(cells, "glfs_extended").arguments()
    assert recorded["exclude"] == first
    assert recorded["limits"] == Limits(expression={"mean": 1.0})
    assert recorded["n_genes"] == 12
    assert not set(added_to(cells, "glfs_extended", 6)["gene"]) & set(first)


def test_extending_is_selecting_with_the_panel_included(cells):
    tl.extend_panel(cells, PANEL, 10)
    pp.select_genes(cells, 10, include=PANEL)
    for name in ("rank", "selected", "included", "loss"):
        pd.testing.assert_series_equal(
            cells.var[f"glfs_extended_{name}"], cells.var[f"glfs_{name}"], check_names=False
        )
    entry, other = cells.uns["glfs_extended"], cells.uns["glfs"]
    np.testing.assert_allclose(entry["preserved"], other["preserved"], rtol=1e-9)
    np.testing.assert_allclose(entry["optimality"], other["optimality"], rtol=1e-9)
    added = entry["table"]
    assert not set(added["gene"]) & set(PANEL)
    np.testing.assert_allclose(added["adds"].cumsum() + entry["preserved"][3], added["preserved"])


def test_an_extended_panel_is_a_selection(cells, tmp_path):
    tl.extend_panel(cells, PANEL, 7)
    cells.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    assert len(tl.explain_panel(again, "glfs_extended", inplace=False)) == 7
    pp.select_genes(again, **(request_of(again, "glfs_extended").arguments() | {"key_added": "b"}))
    assert again.var["b_rank"].equals(again.var["glfs_extended_rank"])


def test_extending_until_enough_is_kept(cells):
    tl.extend_panel(cells, PANEL)
    shares = cells.uns["glfs_extended"]["preserved"]
    assert shares[-2] < 0.9 <= shares[-1]


def test_extending_with_failures(cells):
    plain = added_to(cells, PANEL, 3)
    never = added_to(cells, PANEL, 3, platform=Platform(failure={"FTL": 0.0}))
    pd.testing.assert_frame_equal(never, plain)
    first = plain["gene"][0]
    without = added_to(cells, PANEL, 3, platform=Platform(failure={first: 1.0}))
    assert first not in set(without["gene"])


def test_limits_on_single_genes_hold_for_those_that_are_added(cells):
    mean = cells.to_df().mean()
    low = sorted(mean[PANEL])[1]  # two genes of the panel are above
    added = added_to(cells, PANEL, 5, limits=Limits(expression={"mean": low}))
    assert (mean[added["gene"]] <= low).all()
    limits = Limits(groups={"all": list(cells.var_names)}, per_group=6)
    assert len(added_to(cells, PANEL, 5, limits=limits)) == 2


def test_a_call_that_overrides_says_so(cells, caplog):
    pp.select_genes(cells, 5, limits=Limits(expression={"mean": 2.0}), exclude="ribosomal")
    tl.extend_panel(cells, "glfs", 7)
    assert "replaces" not in caplog.text
    tl.extend_panel(cells, "glfs", 7, limits=Limits(expression={"mean": 3.0}))
    (note,) = [message for message in caplog.messages if "replaces" in message]
    assert "limits" in note
    assert "exclude" not in note


@pytest.mark.parametrize("include", [["CD4"], None])
def test_genes_that_were_selected_are_no_must_haves_of_the_extended_panel(cells, include, tmp_path):
    """Nor after a second extension, a file, or a replacement."""
    pp.select_genes(cells, 6, include=include)
    tl.extend_panel(cells, "glfs", 8)
    expected = include or []
    assert list(cells.var_names[cells.var["glfs_extended_included"]]) == expected
    roles = tl.explain_panel(cells, "glfs_extended", inplace=False).set_index("gene")["role"]
    assert list(roles.index[roles.str.startswith("must-have")]) == expected
    tl.extend_panel(cells, "glfs_extended", 9, key_added="more")
    cells.write_h5ad(tmp_path / "more.h5ad")
    again = ad.read_h5ad(tmp_path / "more.h5ad")
    tl.extend_panel(again, "more", drop="CST3")
    sheet = tl.order_panel(again, "more_extended", inplace=False)
    assert list(sheet["gene"][sheet["source"] == "included"]) == expected


def test_the_worst_batch_counts_as_in_the_selection(cells):
    cells.obs["half"] = np.where(np.arange(cells.n_obs) % 2, "a", "b")
    pp.select_genes(cells, 5, batch_key="half", across="worst")
    tl.extend_panel(cells, "glfs", 8)
    assert cells.uns["glfs_extended"]["params"]["across"] == "worst"


def test_failed_genes_leave_and_do_not_come_back(cells, tmp_path):
    """Not in an extension, a second replacement or as substitutes, nor after a file."""
    pp.select_genes(cells, 12, exclude="ribosomal")
    before = chosen(cells, "glfs")
    failed = sorted(before)[:3]
    tl.extend_panel(cells, "glfs", drop=failed)
    entry = cells.uns["glfs_extended"]
    table = entry["table"]
    assert set(table["replaces"]) == set(entry["dropped"]) == {*failed}
    assert chosen(cells) == before - {*failed} | {*table["gene"]}
    assert len(chosen(cells)) == 12
    assert entry["preserved_before"] == pytest.approx(cells.uns["glfs"]["preserved"][-1])
    assert table["preserved"].iloc[-1] == pytest.approx(entry["preserved"][-1])
    asked = request_of(cells, "glfs_extended").arguments()
    assert asked["exclude"] == ["ribosomal", *failed]
    assert asked["n_genes"] == 12
    cells.write_h5ad(tmp_path / "a.h5ad")
    again = ad.read_h5ad(tmp_path / "a.h5ad")
    sources = tl.order_panel(again, "glfs_extended", inplace=False).set_index("name")["source"]
    assert (sources[table["gene"]] == "replacement").all()
    assert (sources.drop(table["gene"]) == "selected").all()
    tl.extend_panel(again, "glfs_extended", 32)
    extended = chosen(again, "glfs_extended_extended")
    assert not extended & {*failed}
    assert not any(name.startswith(("RPL", "RPS")) for name in extended)
    more = sorted(table["gene"])[:1]
    tl.extend_panel(again, "glfs_extended", drop=more, key_added="twice")
    assert not chosen(again, "twice") & {*failed, *more}
    substitutes = tl.explain_panel(again, "twice", inplace=False)["substitute"]
    assert not set(substitutes) & {*failed, *more}


def test_limits_platform_and_must_haves_hold(cells, unchanged):
    cells.var["orderable"] = ~cells.var_names.str.startswith("HLA")
    markers = {"B": ["CD79A", "MS4A1", "CD79B"], "T": ["CD3D", "CD3E"]}
    given = {
        "limits": Limits(groups=markers, per_group=(2, None)),
        "platform": Platform(genes="orderable"),
        "include": ["NKG7", "FCER1A"],
        "preserve": "bulk_labels",
    }
    pp.select_genes(cells, 11, **given)
    some = sorted(chosen(cells, "glfs") & set(markers["B"]))[0]
    tl.extend_panel(cells, "glfs", drop=[some, "NKG7"])
    after = chosen(cells)
    assert len(after) == 11
    assert cells.var.loc[list(after), "orderable"].all()
    assert len(after & set(markers["B"])) == 2
    assert not after & {some, "NKG7"}
    request = request_of(cells, "glfs_extended").arguments()
    assert request["include"] == ["FCER1A"]
    assert request["limits"] == given["limits"]
    assert request["preserve"] == "bulk_labels"
    assert list(cells.var_names[cells.var["glfs_extended_included"]]) == ["FCER1A"]
    with unchanged(cells), pytest.raises(InvalidValue):
        tl.extend_panel(cells, "glfs", drop=markers["T"], key_added="none")


def test_files_columns_and_names_that_the_data_lack(cells, tmp_path):
    path = tmp_path / "failed.txt"
    path.write_text("NKG7\nKRT1\n")
    cells.var["failed"] = cells.var_names == "LYZ"
    with pytest.warns(Caution, match="KRT1"):
        tl.extend_panel(cells, [*PANEL, "KRT1", "KRT5"], drop=path)
    entry = cells.uns["glfs_extended"]
    assert list(entry["dropped"]) == ["NKG7", "KRT1"]
    scores = entry["table"].set_index("replaces")["substitution_score"]
    assert np.isnan(scores["KRT1"])
    assert scores["NKG7"] > 0
    assert list(entry["absent"]) == ["KRT5"]
    assert len(chosen(cells)) == len(PANEL) + 1
    with pytest.warns(Caution, match="KRT1"):
        added = tl.extend_panel(cells, [*PANEL, "KRT1"], 8, inplace=False)
    assert len(added) == 8 - len(PANEL) - 1  # the name that is missing counts
    table = tl.extend_panel(cells, PANEL, drop="failed", inplace=False)
    assert list(table["replaces"]) == ["LYZ"]
    every = tl.extend_panel(cells, PANEL, drop=PANEL, inplace=False)
    assert set(every["replaces"]) == {*PANEL}
    assert not set(every["gene"]) & {*PANEL}


@pytest.mark.parametrize("selected", [False, True])
def test_dropping_is_extending_the_rest_without_them(cells, selected):
    """Bit for bit: the genes, what is preserved, and the bound."""
    failed, panel, rest = ["NKG7", "CD79A"], PANEL, ["CD3D", "LYZ"]
    if selected:
        pp.select_genes(cells, 12)
        panel, failed = "glfs", [*cells.var["glfs_rank"].nsmallest(12).index[[2, 7]]]
        rest = [gene for gene in cells.var_names if gene in chosen(cells, "glfs") - {*failed}]
    tl.extend_panel(cells, panel, drop=failed, key_added="dropped")
    tl.extend_panel(cells, rest, len(rest) + 2, exclude=failed, key_added="extended")
    dropped, extended = cells.uns["dropped"], cells.uns["extended"]
    assert chosen(cells, "dropped") == chosen(cells, "extended")
    assert set(dropped["table"]["replaces"]) == set(dropped["dropped"]) == {*failed}
    columns = ["gene", "adds", "preserved"]
    pd.testing.assert_frame_equal(
        dropped["table"][columns], extended["table"][columns], check_exact=True
    )
    for name in ("preserved", "optimality"):
        np.testing.assert_array_equal(dropped[name], extended[name])
    for name in ("score", "loss", "rank", "certificate", "certificate_within"):
        assert cells.var[f"dropped_{name}"].equals(cells.var[f"extended_{name}"])


def test_what_is_dropped_is_of_the_panel(cells):
    with refused(InvalidValue, "drop") as caught:
        tl.extend_panel(cells, PANEL, drop=["CD20", "GNLY"])
    assert "MS4A1" in str(caught.value)
    assert "GNLY" in str(caught.value)
    with refused(InvalidValue, "drop"):
        tl.extend_panel(cells, PANEL, drop="CD3D", exclude=list(cells.var_names))
    with refused(InvalidValue, "n_genes"):
        tl.extend_panel(cells, PANEL, 4)
    assert len(tl.extend_panel(cells, PANEL, 4, drop="LYZ", inplace=False)) == 1
