"""How many genes are enough."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio import pp, tl


def test_curve(cells, monkeypatch):
    """Shares are those of a selection, accuracies those of an evaluation, of some of the cells."""
    tl.curve(cells, 10, "bulk_labels", sizes=[5, 10])
    entry = cells.uns["glfs_curve"]
    table = entry["table"]
    pp.select_genes(cells, 10)
    order = cells.var["glfs_rank"].sort_values().index[:10]
    assert list(table["gene"]) == list(order)
    np.testing.assert_array_equal(table["preserved"], cells.uns["glfs"]["preserved"])
    np.testing.assert_array_equal(table["optimality"], cells.uns["glfs"]["optimality"])
    assert list(table.loc[table["accuracy"].notna(), "n_genes"]) == [5, 10]
    alone = tl.evaluate_panel(cells, "glfs", "bulk_labels", inplace=False)
    for name in ("accuracy", "macro_f1", "accuracy_laprls", "macro_f1_laprls"):
        assert table[name].iloc[-1] == pytest.approx(alone[name], abs=0.02)  # in another order
    assert entry["readings"] == alone["readings"]
    assert entry["n_labelled"] == 700
    some = tl.curve(cells, 5, "bulk_labels", sizes=[5], readings=["laprls"], inplace=False)
    assert "accuracy" not in some
    monkeypatch.setattr("glfs_bio.measures.labels.READ", 400)
    tl.curve(cells, 6, "bulk_labels", sizes=[6])
    entry = cells.uns["glfs_curve"]
    assert 300 < entry["n_labelled"] <= 400
    assert all(f" of {entry['n_labelled']} cells" in text for text in entry["readings"].values())
