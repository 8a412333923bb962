"""A panel is extended within everything that it was chosen with."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from glfs_bio import Limits, Platform, pp, tl

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


def added_to(adata, panel, n_extra, **options):
    return tl.extend_panel(adata, panel, n_extra, **options, inplace=False)


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
    tl.extend_panel(cells, "glfs", 4)
    recorded = pp.recorded_parameters(cells, "glfs_extended")
    assert recorded["exclude"] == first
    assert recorded["limits"] == Limits(expression={"mean": 1.0})
    assert recorded["n_genes"] == 12
    assert not set(added_to(cells, "glfs_extended", 6)["gene"]) & set(first)


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
    tl.extend_panel(cells, "glfs", 2)
    assert "replaces" not in caplog.text
    tl.extend_panel(cells, "glfs", 2, limits=Limits(expression={"mean": 3.0}))
    (note,) = [message for message in caplog.messages if "replaces" in message]
    assert "limits" in note
    assert "exclude" not in note


@pytest.mark.parametrize("include", [["CD4"], None])
def test_genes_that_were_selected_are_no_must_haves_of_the_extended_panel(cells, include, tmp_path):
    """Nor after a second extension, a file, or a replacement."""
    pp.select_genes(cells, 6, include=include)
    tl.extend_panel(cells, "glfs", 2)
    expected = include or []
    assert list(cells.var_names[cells.var["glfs_extended_included"]]) == expected
    roles = tl.explain_panel(cells, "glfs_extended", inplace=False).set_index("gene")["role"]
    assert list(roles.index[roles.str.startswith("must-have")]) == expected
    tl.extend_panel(cells, "glfs_extended", 1, key_added="more")
    cells.write_h5ad(tmp_path / "more.h5ad")
    again = ad.read_h5ad(tmp_path / "more.h5ad")
    tl.replace_genes(again, "CST3", "more")
    sheet = tl.order_panel(again, "more_replaced", inplace=False)
    assert list(sheet["gene"][sheet["must_have"]]) == expected


def test_the_worst_batch_counts_as_in_the_selection(cells):
    cells.obs["half"] = np.where(np.arange(cells.n_obs) % 2, "a", "b")
    pp.select_genes(cells, 5, batch_key="half", across="worst")
    tl.extend_panel(cells, "glfs", 3)
    assert cells.uns["glfs_extended"]["params"]["across"] == "worst"
