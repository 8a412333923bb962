"""Names of labels and genes, other settings, few cells: pictures bear them."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from refusals import refused

from glfs_bio import io as glfs_io
from glfs_bio import pl, pp, tl
from glfs_bio.errors import InvalidValue, NotFound


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture
def panel(pbmc):
    pp.select_genes(pbmc, 6)
    pbmc.obsm["X_umap_glfs"] = pbmc.obsm["X_umap"]
    genes = pbmc.var_names[pbmc.var["glfs_selected"]].to_numpy(dtype=object)
    pbmc.uns["umap_glfs"] = {"genes": genes, "params": {"layer": "None", "random_state": 0}}
    return pbmc


def drawn():
    plt.gcf().savefig(io.BytesIO(), format="png")
    plt.close("all")


def test_several_columns_and_genes(panel):
    axes = pl.panel(panel, ["bulk_labels", "percent_mito", "CD3D"], show=False)
    assert len(axes) == 6
    drawn()
    with refused(NotFound, "labels"):
        pl.panel(panel, ["bulk_labels", "nothing"], show=False)
    with refused(InvalidValue, "labels"):
        pl.panel(panel, ["bulk_labels", "phase"], kind="dotplot", show=False)


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_a_column_called_like_a_gene(panel, kind, tmp_path):
    gene = panel.var["glfs_rank"].idxmin()
    panel.obs[gene] = panel.obs["bulk_labels"]
    pl.panel(panel, gene, kind=kind, show=False)
    drawn()
    if kind == "umap":
        glfs_io.write_report(panel, tmp_path / "report.html", labels=gene)


@pytest.mark.parametrize("kind", ["umap", "heatmap", "dotplot"])
def test_two_dollars_are_no_formula(panel, kind):
    panel.obs["odd"] = pd.Categorical(np.where(np.arange(700) % 2, r"$\frac$", "a $ b"))
    best = panel.var["glfs_rank"].idxmin()
    panel.var["symbol"] = [r"$\sum_$" if name == best else name for name in panel.var_names]
    pl.panel(panel, "odd", kind=kind, symbols="symbol", show=False)
    drawn()


def test_settings_of_scanpy_change_no_picture(panel):
    tl.evaluate_panel(panel, "glfs", "bulk_labels", n_random=2)
    before = {}
    for settings in (False, True):
        with mpl.rc_context():
            if settings:
                sc.settings.set_figure_params(fontsize=20)
            for draw in (pl.preserved, pl.labels, pl.confusion, pl.weights, pl.path):
                ax = np.ravel(draw(panel, show=False))[0]
                lines = [line.get_visible() for line in ax.get_xgridlines()]
                sizes = {text.get_fontsize() for text in ax.get_yticklabels()}
                found = any(lines), sizes, ax.xaxis.label.get_fontsize()
                assert before.setdefault(draw, found) == found
                plt.close("all")


def test_a_umap_needs_cells(panel):
    few = panel[:4].copy()
    del few.obsm, few.uns["neighbors"]
    with refused(InvalidValue, "adata"):
        pl.panel(few, show=False)
