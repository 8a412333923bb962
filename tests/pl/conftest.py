from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import PANEL

from glfs_bio import pp, tl
from glfs_bio._anndata import results


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
def _drawn(_pbmc):
    adata = _pbmc.copy()
    adata.obs["label"] = adata.obs["bulk_labels"].cat.rename_categories({"Dendritic": "_a $b$"})
    pp.select_genes(adata, 10, include=["LYZ"])
    pp.select_genes(adata, 120, key_added="many")
    tl.evaluate_panel(adata, "glfs", "label", measures=["default", "laprls"], sizes=[5])
    panels = {"_ours": PANEL, "$their$s": ["LYZ", "GNLY"]}
    tl.evaluate_panel(adata, panels, "label")
    tl.evaluate_panel(adata, PANEL, key_added="plain", measures="preserved")
    tl.explain_panel(adata, "glfs", "label")
    frequency = np.where(adata.var["many_selected"], 0.8, 0.0)
    adata.var["glfs_stability_frequency"] = frequency + 0.2 * adata.var["glfs_selected"]
    jaccard = 0.5 + 0.5 * np.eye(20)
    result = {"jaccard": jaccard, "mean_jaccard": 0.5, "n_genes": np.full(20, 120)}
    results.store(adata, "glfs_stability", {**result, "kind": "stability", "written": 99})
    adata.var["symbol"] = [f"symbol{i}" for i in range(adata.n_vars)]
    adata.obsm["X_mine"] = adata.obsm["X_pca"][:, :2]
    return adata


@pytest.fixture
def drawn(_drawn):
    """Blood cells with what plots draw: a selection, its evaluation, panels side by side."""
    return _drawn.copy()
