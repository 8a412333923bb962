"""Every gene of a panel is explained."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest

from glfs_bio import pp, tl

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


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
