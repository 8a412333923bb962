"""A panel travels in a table of a SpatialData object, through its zarr store."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest

from glfs_bio import Limits, Platform, pp, tl

spatialdata = pytest.importorskip("spatialdata")


def test_a_panel_survives_the_store(tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 4, 300)
    rates = rng.gamma(1.0, 1.0, size=(4, 60))
    counts = rng.poisson(rates[kinds]).astype(float)
    table = ad.AnnData(np.log1p(counts))
    table.var_names = [f"g{number}" for number in range(60)]
    table.obs["kind"] = [f"type{kind}" for kind in kinds]
    table.layers["counts"] = counts
    sdata = spatialdata.SpatialData(tables={"table": table})

    platform = Platform(
        "imager",
        list(table.var_names[:50]),
        efficiency=0.5,
        failure={"g1": 0.5},
        codebook=dict.fromkeys(table.var_names, "0110"),
    )
    limits = Limits(
        max_total_per_bit=20.0, counts_layer="counts", together=[["g1", "g2"], ["g3", "g4"]]
    )
    pp.select_genes(sdata.tables["table"], 8, n_comps=5, platform=platform, limits=limits)
    tl.evaluate_panel(sdata.tables["table"], "glfs", "kind", counts_layer="counts", n_random=2)
    sdata.write(tmp_path / "cells.zarr")
    again = spatialdata.read_zarr(tmp_path / "cells.zarr").tables["table"]

    for name in ("selected", "rank", "efficiency", "orderable"):
        np.testing.assert_array_equal(again.var[f"glfs_{name}"], table.var[f"glfs_{name}"])
    recorded = pp.recorded_parameters(again)
    assert recorded["limits"] == limits
    assert recorded["platform"].codebook == platform.codebook
    pp.select_genes(again, **(recorded | {"key_added": "b"}))
    np.testing.assert_array_equal(again.var["b_rank"], again.var["glfs_rank"])
    entry = again.uns["glfs_evaluation"]
    assert entry["preserved"] == pytest.approx(table.uns["glfs_evaluation"]["preserved"])
    assert list(entry["forecast"].index) == sorted(set(table.obs["kind"]))
