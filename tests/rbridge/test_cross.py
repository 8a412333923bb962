"""A panel with constraints goes from Python to R and back, and all that follows repeats them."""

from __future__ import annotations

import numpy as np
import pytest
import scanpy as sc

from glfs_bio import Limits, Platform, io, pp, rbridge, tl

GROUPS = "bulk_labels"
#: What a panel is chosen with.
REQUESTS = {
    "genes": {"exclude": ["ribosomal", "CST3"], "include": "CD3D", "missing": "ignore"},
    "limits": {
        "limits": Limits(
            groupby=GROUPS, per_type=1, counts_layer="counts", total_counts={"cell": 90}
        )
    },
    "an instrument": {"platform": Platform(efficiency=0.5, failure={"CD79A": 0.5})},
    "batches": {"batch_key": "run", "across": "worst"},
    "components": {"use_rep": "X_pca"},
    "components to preserve": {"preserve": {"structure": 1, "X_pca": 1}},
    "labels": {"preserve": GROUPS, "cell_weights": GROUPS},
    "a graph": {"neighbors_key": "neighbors"},
    "a layer": {"layer": "half"},
    "symbols": {"symbols": "name", "exclude": ["symbol3"]},
    "a structure of its own": {"use_rep": "mine"},
}
#: What follows in R, with genes and numbers as one vector of texts: of a vendor that lacks a gene.
FOLLOW = """function(x) suppressWarnings(suppressMessages({
    library(glfsbio)
    why <- glfs_result(glfs_explain_panel(x, genes = "LYZ"), "glfs_explanation")
    judged <- glfsbio::glfs_evaluate_panel(x, measures = "preserved", random_state = 0)
    vendor <- c(setdiff(rownames(x), glfs_genes(x)[2]), SummarizedExperiment::rowData(x)$name)
    order <- glfs_order_panel(x, genes = as.character(vendor), refused = "replace")
    c(glfs_genes(glfs_extend_panel(x, "glfs", 12), "glfs_extended"), why$table$gene,
        why$genes$why_not, glfs_result(order, "glfs_order")$table$gene,
        format(c(why$table$preserved, glfs_result(judged, "glfs_evaluation")$measures$value[1]),
            digits = 15, trim = TRUE))
}))"""


@pytest.fixture(scope="module")
def cells():
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()[::3].copy()
    adata.uns = {"neighbors": adata.uns["neighbors"]}
    adata.varm.clear()
    adata.layers["counts"] = adata.X.copy()
    adata.layers["counts"].data = np.rint(np.expm1(adata.X.data))
    adata.layers["half"] = np.log1p(np.expm1(adata.X.toarray()) / 2)
    adata.obs["run"] = np.where(np.arange(adata.n_obs) % 2, "a", "b")
    adata.var["name"] = [f"symbol{i}" for i in range(adata.n_vars)]
    pp.structure(adata, lambda1=20, key_added="mine")
    return adata


def follow(adata):
    """What follows in Python."""

    def panel(key):
        frame = adata.var[adata.var[f"{key}_selected"]]
        return list(frame.sort_values(f"{key}_rank").index)

    adata = adata.copy()
    vendor = [*adata.var_names.drop(panel("glfs")[1]), *adata.var["name"]]
    tl.extend_panel(adata, "glfs", 12)
    tl.explain_panel(adata, genes=["LYZ"])
    tl.evaluate_panel(adata, measures="preserved", random_state=0)
    tl.order_panel(adata, genes=vendor, refused="replace")
    why, order = adata.uns["glfs_explanation"], adata.uns["glfs_order"]["table"]
    value = adata.uns["glfs_evaluation"]["measures"]["value"].iloc[0]
    texts = [*panel("glfs_extended"), *why["table"]["gene"], *why["genes"]["why_not"]]
    return [*texts, *order["gene"]], [*why["table"]["preserved"], value]


def assert_same(found, expected):
    texts, numbers = expected
    assert list(found[: len(texts)]) == texts
    np.testing.assert_allclose(np.array(found[len(texts) :], dtype=float), numbers, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_is_repeated_in_r_and_back_in_python(ri, cells, name):
    adata = cells.copy()
    pp.select_genes(adata, 10, **REQUESTS[name])
    expected = follow(adata)
    sce = rbridge.to_sce(adata, X_name="logcounts")
    assert_same(ri.evalr(FOLLOW)(sce), expected)
    back = rbridge.from_sce(sce, X_name="logcounts")
    assert back.uns["glfs"]["request"] == adata.uns["glfs"]["request"]
    texts, numbers = follow(back)
    assert_same([*texts, *numbers], expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["limits", "components"])
def test_files_keep_it(ri, cells, tmp_path, name):
    """Of AnnData, read, saved by R, and written again, beside what R has found."""
    adata = cells.copy()
    pp.select_genes(adata, 10, **REQUESTS[name])
    tl.evaluate_panel(adata, labels=GROUPS)  # leaves what all genes show, of no kind of R
    adata.write_h5ad(tmp_path / "cells.h5ad")
    ri.globalenv["folder"] = ri.StrSexpVector([str(tmp_path)])
    sce = ri.evalr("""suppressMessages({
        x <- glfsbio::glfs_read_h5ad(file.path(folder, "cells.h5ad"), X_name = "logcounts")
        saveRDS(x, file.path(folder, "cells.rds"))
        x <- readRDS(file.path(folder, "cells.rds"))
        x <- glfsbio::glfs_explain_panel(x)
        glfsbio::glfs_write_h5ad(x, file.path(folder, "back.h5ad"), "logcounts")
        x
    })""")
    expected = follow(adata)
    assert_same(ri.evalr(FOLLOW)(sce), expected)
    back = io.read_cells(tmp_path / "back.h5ad")
    assert {"glfs", "glfs_evaluation", "glfs_explanation"} <= set(back.uns)
    assert back.uns["glfs_evaluation"]["made_of"].keys() >= {"columns", "layer", "matrix", "panels"}
    texts, numbers = follow(back)
    assert_same([*texts, *numbers], expected)


@pytest.mark.filterwarnings("ignore")
def test_what_r_has_selected_is_repeated_in_python(ri, cells):
    """With vectors, R's names and a structure of R."""
    ri.globalenv["x"] = rbridge.to_sce(cells, X_name="logcounts")
    back = {}
    for name, options in {
        "vectors": "block = as.vector(x$run), exclude = c('LYZ', 'CST3')",
        "components": "dimred = 'PCA'",
        "structure": "dimred = 'own', exclude = 'LYZ'",
    }.items():
        code = f"""suppressMessages(glfsbio::glfs_select_genes(glfsbio::glfs_structure(x,
            lambda1 = 20, key_added = 'own'), 10, {options}))"""
        sce = ri.evalr(code)
        back[name] = rbridge.from_sce(sce, X_name="logcounts")
        texts, numbers = follow(back[name])
        assert_same(ri.evalr(FOLLOW)(sce), (texts, numbers))
    assert "LYZ" not in follow(back["vectors"])[0][:12]
    assert back["components"].uns["glfs"]["params"]["use_rep"] == "X_pca"
    assert "own" in back["structure"].varm


@pytest.mark.filterwarnings("ignore")
def test_columns_without_a_record_are_said(ri, cells, caplog):
    adata = cells.copy()
    pp.select_genes(adata, 5, exclude="ribosomal", missing="ignore")
    del adata.uns["glfs"]
    ri.globalenv["x"] = rbridge.to_sce(adata, X_name="logcounts")
    for call in ("extend_panel(x, 'glfs', 6)", "explain_panel(x)", "order_panel(x)"):
        said = ri.evalr(f"""{{
            said <- character()
            withCallingHandlers(suppressWarnings(glfsbio::glfs_{call}), message = function(m) {{
                said <<- c(said, conditionMessage(m)); invokeRestart("muffleMessage") }})
            said
        }}""")
        assert any('"glfs" has no record' in text for text in said), said
    tl.evaluate_panel(adata, measures="preserved")
    assert any("`'glfs'` has no record" in text for text in caplog.messages[-2:])
