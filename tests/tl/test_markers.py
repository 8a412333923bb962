from __future__ import annotations

import logging

import pandas as pd

from glfs_bio.tl import markers

PANEL = ["LYZ", "CD79A", "NKG7", "CD3D", "FCER1A", "LTB"]


def test_cells_without_a_label_do_not_count(pbmc, outside, caplog):
    """In memory, and in a file."""
    known = pbmc[pbmc.obs["bulk_labels"] != "Dendritic"].copy()
    expected = markers(known, PANEL, "bulk_labels", inplace=False)
    pbmc.obs["bulk_labels"] = pbmc.obs["bulk_labels"].cat.remove_categories("Dendritic")
    markers(pbmc, PANEL, "bulk_labels")
    tables = [expected, pbmc.uns["glfs_markers"]["table"]]
    tables = [table.sort_values("label", ignore_index=True) for table in tables]
    pd.testing.assert_frame_equal(*tables, rtol=1e-12)
    held = outside(pbmc)
    with caplog.at_level(logging.INFO, "glfs_bio"):
        markers(held, PANEL, "bulk_labels", key_added="again")
    for part in ("table", "genes"):
        expected = pbmc.uns["glfs_markers"][part]
        pd.testing.assert_frame_equal(held.uns["again"][part], expected, check_exact=True)
    stages = {record.stage for record in caplog.records if hasattr(record, "stage")}
    assert {"markers", "combining markers"} <= stages
