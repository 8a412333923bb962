"""How many genes are enough."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio.errors import InvalidValue


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


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


def test_both_readings_along_the_curve(cells):
    tl.curve(cells, 10, "bulk_labels", sizes=[10])
    entry = cells.uns["glfs_curve"]
    pp.select_genes(cells, 10)
    alone = tl.evaluate_panel(cells, "glfs", "bulk_labels", inplace=False)
    last = entry["table"].iloc[-1]
    for name in ("accuracy", "macro_f1", "accuracy_laprls", "macro_f1_laprls"):
        assert last[name] == pytest.approx(alone[name], abs=0.02)  # the order of genes is another
        assert entry["table"][name].isna().sum() == 9
    assert entry["readings"] == alone["readings"]
    assert entry["n_labelled"] == 700
    one = tl.curve(cells, 5, "bulk_labels", sizes=[5], readings=["laprls"], inplace=False)
    assert "accuracy" not in one
    with refused(InvalidValue, "readings"):
        tl.curve(cells, 5, "bulk_labels", readings=["none"])


def test_of_many_cells_some_are_read(pbmc, monkeypatch):
    """By every reading, and it says of how many."""
    monkeypatch.setattr("glfs_bio.measures.labels.READ", 400)
    tl.curve(pbmc, 6, "bulk_labels", sizes=[6])
    entry = pbmc.uns["glfs_curve"]
    assert 300 < entry["n_labelled"] <= 400
    said = f" of {entry['n_labelled']} cells"
    assert all(said in text for text in entry["readings"].values())
