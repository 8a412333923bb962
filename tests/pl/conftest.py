from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import PANEL, SETS

from glfs_bio import Platform, pp, tl


@pytest.fixture(scope="module", autouse=True)
def _agg():
    before = mpl.get_backend()
    plt.switch_backend("agg")
    yield
    plt.switch_backend(before)


@pytest.fixture(autouse=True)
def _closed():
    """Every figure is closed again, and no setting of matplotlib has changed."""
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture(scope="session")
def _panel(_pbmc):
    adata = _pbmc.copy()
    pp.select_genes(adata, 10)
    pp.select_genes(adata, 200, key_added="many")
    pp.select_genes(adata, 10, objective="exact", key_added="paper")
    tl.enrich(adata, SETS)
    frequency = np.where(adata.var["many_selected"], 0.8, 0.0)
    adata.var["glfs_stability_frequency"] = frequency + 0.2 * adata.var["glfs_selected"]
    jaccard = 0.5 + 0.5 * np.eye(20)
    result = {"jaccard": jaccard, "mean_jaccard": 0.5, "n_genes": np.full(20, 200)}
    adata.uns["glfs_stability"] = {**result, "kind": "stability", "written": 9}
    adata.var["symbol"] = [f"symbol{i}" for i in range(adata.n_vars)]
    return adata


@pytest.fixture
def panel(_panel):
    return _panel.copy()


@pytest.fixture(scope="session")
def _judged(_pbmc):
    adata = _pbmc.copy()
    tl.evaluate_panel(adata, PANEL, key_added="plain")
    both = ["default", "laprls"]
    pp.select_genes(adata, 20, key_added="sizes")
    sizes = {"sizes": [5, 10], "measures": ["preserved", "labels", "laprls"]}
    tl.evaluate_panel(adata, "sizes", "bulk_labels", **sizes)
    tl.evaluate_panel(adata, PANEL, "bulk_labels", platform=Platform(failure=0.2), measures=both)
    panels = {"ours": PANEL, "theirs": [*PANEL[:2], "GNLY", "HLA-DRA"], "$a$ " * 20: ["LYZ"]}
    tl.evaluate_panel(adata, panels, "bulk_labels", measures=both)
    return adata


@pytest.fixture
def judged(_judged):
    return _judged.copy()
