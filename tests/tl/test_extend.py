"""A panel is extended within everything that it was chosen with."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio.errors import Caution


@pytest.fixture
def selection(pbmc):
    """Eight genes of low expression, without the genes that come first."""
    pp.select_genes(pbmc, 8)
    first = list(pbmc.var_names[pbmc.var["glfs_rank"] <= 30])
    pp.select_genes(pbmc, 8, exclude=first, limits=Limits(max_mean=1.0))
    return pbmc, first


def test_exclusions_and_limits_stay(selection):
    cells, first = selection
    mean = np.asarray(cells.X.mean(axis=0)).ravel()
    added = tl.extend_panel(cells, "glfs", 10, inplace=False)["gene"]
    assert not set(added) & set(first)
    assert (mean[cells.var_names.get_indexer(added)] <= 1.0).all()


def test_a_call_replaces_them(selection):
    cells, first = selection
    added = tl.extend_panel(cells, "glfs", 5, exclude=[], limits=Limits(), inplace=False)["gene"]
    assert set(added) & set(first)


def test_the_extension_brings_them_along(selection):
    cells, first = selection
    tl.extend_panel(cells, "glfs", 4)
    recorded = pp.recorded_parameters(cells, "glfs_extended")
    assert recorded["exclude"] == first
    assert recorded["limits"] == Limits(max_mean=1.0)
    assert recorded["n_genes"] == 12
    again = tl.extend_panel(cells, "glfs_extended", 6, inplace=False)["gene"]
    assert not set(again) & set(first)


def test_a_panel_that_is_no_selection_has_none(selection):
    cells, first = selection
    added = tl.extend_panel(cells, list(cells.var_names[:3]), 10, inplace=False)["gene"]
    assert set(added) & set(first)


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


def test_a_call_that_overrides_says_so(pbmc, caplog):
    pp.select_genes(pbmc, 5, limits=Limits(max_mean=2.0), exclude="ribosomal")
    tl.extend_panel(pbmc, "glfs", 2)
    assert "replaces" not in caplog.text
    tl.extend_panel(pbmc, "glfs", 2, limits=Limits(max_mean=3.0))
    (said,) = [one for one in caplog.messages if "replaces" in one]
    assert "limits" in said
    assert "exclude" not in said


def test_genes_that_were_selected_are_no_must_haves_of_the_extended_panel(pbmc):
    pp.select_genes(pbmc, 5, include=["CD8A"])
    tl.extend_panel(pbmc, "glfs", 3)
    assert list(pbmc.var_names[pbmc.var["glfs_extended_included"]]) == ["CD8A"]
    tl.explain_panel(pbmc, "glfs_extended")
    roles = pbmc.uns["glfs_extended_explanation"]["table"].set_index("gene")["role"]
    assert list(roles.index[roles.str.startswith("must-have")]) == ["CD8A"]
    tl.order_panel(pbmc, "glfs_extended", "sheet")
    sources = pbmc.uns["glfs_extended_order"]["table"]["source"]
    assert sources.value_counts().to_dict() == {"selected": 4, "added": 3, "included": 1}


def test_the_worst_batch_counts_as_in_the_selection(pbmc):
    pbmc.obs["half"] = np.where(np.arange(pbmc.n_obs) % 2, "a", "b")
    pp.select_genes(pbmc, 5, batch_key="half", across="worst")
    tl.extend_panel(pbmc, "glfs", 3)
    assert pbmc.uns["glfs_extended"]["params"]["across"] == "worst"


@pytest.mark.parametrize("include", [["CD4"], None])
def test_selected_genes_that_stay_are_no_must_haves(pbmc, include, tmp_path):
    pp.select_genes(pbmc, 6, include=include)
    tl.extend_panel(pbmc, "glfs", 2)
    tl.extend_panel(pbmc, "glfs_extended", 1, key_added="more")
    pbmc.write_h5ad(tmp_path / "more.h5ad")
    again = ad.read_h5ad(tmp_path / "more.h5ad")
    tl.replace_genes(again, "CST3", "more")
    for key in ("glfs_extended", "more", "more_replaced"):
        sheet = tl.order_panel(again if "repl" in key else pbmc, key, inplace=False)
        assert list(sheet["gene"][sheet["must_have"]]) == (include or [])
