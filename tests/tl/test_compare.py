"""Panels side by side, by the same measures."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio import Preserve, codec, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


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


def test_every_panel_has_a_name_of_its_own(cells):
    for names in (("", "b"), ("  ", "b"), (1, "1")):
        with refused(InvalidValue, "panels"):
            tl.compare_panels(cells, dict.fromkeys(names, "CD3D"))


def test_selections_of_different_structures_are_not_compared(cells):
    pp.select_genes(cells, 5)
    pp.select_genes(cells, 5, n_comps=10, key_added="other")
    panels = {"one": "glfs", "two": "other"}
    with refused(InvalidValue, "panels"):
        tl.compare_panels(cells, panels)
    pp.structure(cells, n_comps=20, key_added="mine")
    tl.compare_panels(cells, panels, preserve=Preserve(use_rep="mine"))
    assert list(cells.uns["glfs_comparison"]["table"].index) == ["one", "two"]


@pytest.mark.parametrize("preserve", ["structure", "expression", "bulk_labels"])
def test_a_target_is_enough_for_selections_of_different_structures(cells, preserve):
    """They are compared by the structure of the matrix, as lists of the same genes are."""
    cells.obs["batch"] = np.tile(["a", "b"], 350)
    pp.select_genes(cells, 5)
    pp.select_genes(cells, 5, batch_key="batch", key_added="other")
    for keys in (["glfs", "other"], ["other", "glfs"]):
        panels = {key: key for key in keys}
        table = tl.compare_panels(cells, panels, preserve=preserve, inplace=False)["table"]
        lists = {key: list(cells.var_names[cells.var[f"{key}_selected"]]) for key in keys}
        listed = tl.compare_panels(cells, lists, preserve=preserve, inplace=False)["table"]
        np.testing.assert_allclose(
            table["preserved"].astype(float), listed["preserved"].astype(float)
        )


def test_selections_of_different_layers_need_one(cells):
    cells.layers["twice"] = 2.0 * cells.X
    pp.select_genes(cells, 5)
    pp.select_genes(cells, 5, layer="twice", key_added="other")
    panels = {"one": "glfs", "two": "other"}
    with refused(InvalidValue, "panels"):
        tl.compare_panels(cells, panels, preserve="structure")
    tl.compare_panels(cells, panels, preserve="structure", layer="twice")
    assert cells.uns["glfs_comparison"]["made_of"]["layer"] == "twice"
    pp.structure(cells, n_comps=20, key_added="mine")
    tl.compare_panels(cells, panels, preserve=Preserve(use_rep="mine"))
    assert cells.uns["glfs_comparison"]["made_of"]["layer"] == "None"


def test_both_readings_are_compared(cells):
    panels = {"one": PANEL, "two": PANEL[:2]}
    tl.compare_panels(cells, panels, "bulk_labels")
    entry = cells.uns["glfs_comparison"]
    alone = tl.evaluate_panel(cells, PANEL, "bulk_labels", inplace=False)
    for name in ("accuracy", "accuracy_laprls", "macro_f1_laprls", "accuracy_all_genes_laprls"):
        assert entry["table"].loc["one", name] == alone[name]
    assert entry["readings"] == alone["readings"]


def test_membership_and_coverage(cells):
    sets = {"T": ["CD3D", "CD3E"], "B": ["CD79A", "MS4A1"], "nowhere": ["zz"]}
    panels = {"one": PANEL, "two": ["LYZ", "CD3D"]}
    tables = tl.compare_panels(cells, panels, gene_sets=sets, inplace=False)
    assert tables["table"]["gene_set_coverage"].to_dict() == {"one": 1.0, "two": 0.5}
    members = tables["membership"]
    assert {name: {*members.index[members[name]]} for name in members} == {
        name: {*genes} for name, genes in panels.items()
    }
    assert tables["shared"].loc["one", "two"] == members.all(axis=1).sum()


@pytest.mark.parametrize("name", ["gene", "panel", "name"])
def test_a_panel_may_have_the_name_of_an_index(pbmc, tmp_path, name):
    tl.compare_panels(pbmc, {name: ["CD3D", "CD79A"], "other": ["CD3D", "NKG7"]})
    pbmc.write_h5ad(tmp_path / "cells.h5ad")
    tables = codec.plain(pbmc.uns["glfs_comparison"])
    assert tables["membership"][0][name] is True
