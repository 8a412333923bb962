from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from glfs_bio.tl import markers

pytestmark = pytest.mark.filterwarnings("ignore:Writing zarr v2")
PANEL = ["LYZ", "CD79A", "NKG7", "CD3D", "FCER1A", "LTB"]


def test_they_are_those_of_memory(pbmc, outside, caplog):
    pbmc.obs["bulk_labels"] = pbmc.obs["bulk_labels"].cat.remove_categories("Dendritic")
    markers(pbmc, PANEL, "bulk_labels")
    held = outside(pbmc)
    with caplog.at_level(logging.INFO, "glfs_bio"):
        markers(held, PANEL, "bulk_labels", key_added="again")
    for part in ("table", "genes"):
        pd.testing.assert_frame_equal(
            held.uns["again"][part], pbmc.uns["glfs_markers"][part], check_exact=True
        )
    stages = {record.stage for record in caplog.records if hasattr(record, "stage")}
    assert {"markers", "combining markers"} <= stages


@pytest.mark.parametrize("outside", ["csc"], indirect=True)
def test_nothing_is_left_by_an_interruption(pbmc, outside, monkeypatch):
    held = outside(pbmc)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("glfs_bio.tl._markers.combination", stop)
    with pytest.raises(KeyboardInterrupt):
        markers(held, PANEL, "bulk_labels")
    assert "glfs_markers" not in held.uns


def test_cells_without_a_label_do_not_count(pbmc):
    known = pbmc[pbmc.obs["bulk_labels"] != "Dendritic"].copy()
    pbmc.obs["bulk_labels"] = pbmc.obs["bulk_labels"].astype(object)
    pbmc.obs.loc[pbmc.obs["bulk_labels"] == "Dendritic", "bulk_labels"] = np.nan
    found = [markers(one, PANEL, "bulk_labels", inplace=False) for one in (pbmc, known)]
    first, second = (one.sort_values("label", ignore_index=True) for one in found)
    pd.testing.assert_frame_equal(first, second, rtol=1e-12)
