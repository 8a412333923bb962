"""Panels side by side, by the same measures."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio import Preserve, pp, tl
from glfs_bio.errors import InvalidValue

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


def test_comparison(cells):
    """What an evaluation says of each panel, and what they share; panels may be called anything."""
    panels = {"gene": PANEL, "panel": [*PANEL[:2], "GNLY", "MS4A1"]}
    sets = {"T": ["CD3D", "CD3E"], "B": ["CD79A", "CD79B"], "nowhere": ["zz"]}
    tl.compare_panels(cells, panels, "bulk_labels", gene_sets=sets)
    entry = cells.uns["glfs_comparison"]
    assert entry["shared"].loc["gene", "panel"] == 2
    assert entry["jaccard"].loc["gene", "panel"] == pytest.approx(2 / 6)
    matched = entry["jaccard_with_substitutes"]
    assert matched.loc["gene", "panel"] > 2 / 6
    np.testing.assert_array_equal(matched, matched.T)
    assert np.diag(matched) == pytest.approx(1.0)
    alone = tl.evaluate_panel(cells, PANEL, "bulk_labels", gene_sets=sets, inplace=False)
    numbers = {
        name: value
        for name, value in alone.items()
        if np.isscalar(value) and name in entry["table"]
    }
    assert len(numbers) > 20
    assert set(entry["table"].columns) == set(numbers)
    for name, value in numbers.items():
        assert entry["table"].loc["gene", name] == value, name
    assert entry["table"].loc["panel", "gene_set_coverage"] == 0.5
    assert entry["readings"] == alone["readings"]
    members = entry["membership"]
    for name, genes in panels.items():
        assert {*members.index[members[name]]} == {*genes}


@pytest.mark.parametrize("preserve", ["structure", "expression", "bulk_labels"])
def test_selections_of_different_structures(pbmc, preserve):
    """They are compared by a target with the structure of the matrix, as lists of their genes."""
    pbmc = pbmc[::2].copy()
    pbmc.obs["batch"] = np.tile(["a", "b"], 175)
    pp.select_genes(pbmc, 5)
    pp.select_genes(pbmc, 5, batch_key="batch", key_added="other")
    keys = {"first": "other", "second": "glfs"}
    with refused(InvalidValue, "panels"):
        tl.compare_panels(pbmc, keys)
    lists = {name: list(pbmc.var_names[pbmc.var[f"{key}_selected"]]) for name, key in keys.items()}
    shares = []
    for panels in (keys, lists):
        tables = tl.compare_panels(pbmc, panels, preserve=preserve, inplace=False)
        shares.append(tables["table"]["preserved"].astype(float))
    np.testing.assert_allclose(*shares)


def test_selections_of_different_layers_need_one(cells):
    cells.layers["twice"] = 2.0 * cells.X
    pp.select_genes(cells, 5)
    pp.select_genes(cells, 5, layer="twice", key_added="other")
    panels = {"first": "glfs", "second": "other"}
    with refused(InvalidValue, "panels"):
        tl.compare_panels(cells, panels, preserve="structure")
    pp.structure(cells, n_comps=20, key_added="mine")
    for options, layer in (
        ({"preserve": "structure", "layer": "twice"}, "twice"),
        ({"preserve": Preserve(use_rep="mine")}, "None"),
    ):
        tl.compare_panels(cells, panels, **options)
        assert cells.uns["glfs_comparison"]["made_of"]["layer"] == layer
