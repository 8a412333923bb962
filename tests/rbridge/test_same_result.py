"""The same genes, weights and classes in R and in Python."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd

import glfs_bio

EXAMPLE = Path(__file__).parents[2] / "r_bridge" / "examples" / "pbmc3k.R"


def test_golub(real, run_r, tmp_path):
    adata = real("golub72")
    adata.X = np.log10(np.clip(np.asarray(adata.X, dtype=np.float64), 100.0, 16000.0))
    adata.layers.clear()
    adata.obs["train"] = (adata.obs["split"] == "train").to_numpy()
    adata.write_h5ad(tmp_path / "golub.h5ad")
    glfs_bio.pp.select_genes(adata, 20, n_comps=None)
    options = {"n_genes": [4, 8], "cv": 3}
    glfs_bio.tl.classify(adata, "label", train="train", **options)

    run_r("""
        sce <- glfs_read_h5ad("golub.h5ad", X_name = "logcounts")
        sce <- glfs_select_genes(sce, n_genes = 20, n_comps = NULL)
        learnt <- glfs_classify(
            sce[, sce$train], "label", n_genes = c(4, 8), cv = 3, random_state = 0)
        glfs_write_classifier(learnt, "leukaemia.json")
        write <- function(table, file) write.csv(
            format(as.data.frame(table), digits = 17, trim = TRUE), file, quote = TRUE
        )
        write(SummarizedExperiment::rowData(sce), "genes.csv")
    """)
    run_r("""
        sce <- glfs_read_h5ad("golub.h5ad", X_name = "logcounts")
        sce <- glfs_predict(sce[rev(rownames(sce)), ], "leukaemia.json")
        model <- S4Vectors::metadata(sce)$glfs_class
        write <- function(table, file) write.csv(
            format(as.data.frame(table), digits = 17, trim = TRUE), file, quote = TRUE
        )
        write(data.frame(coef = model$coef, row.names = model$genes), "coef.csv")
        write(SummarizedExperiment::colData(sce), "samples.csv")
    """)
    genes, coef, samples = (
        pd.read_csv(tmp_path / f"{name}.csv", index_col=0) for name in ("genes", "coef", "samples")
    )
    assert list(genes.index) == list(adata.var_names)
    for name in ("glfs_selected", "glfs_rank", "glfs_included"):
        np.testing.assert_array_equal(genes[name].astype(float), adata.var[name].astype(float))
    for name in ("glfs_weight", "glfs_loss", "glfs_score"):
        np.testing.assert_allclose(genes[name], adata.var[name], rtol=1e-10, atol=1e-12)
    assert list(coef.index) == list(adata.uns["glfs_class"]["genes"])
    expected = adata.var["glfs_class_coef"]
    np.testing.assert_allclose(coef.iloc[:, 0], expected[coef.index], rtol=1e-10)
    np.testing.assert_allclose(
        samples["glfs_class_decision"], adata.obs["glfs_class_decision"], rtol=1e-10, atol=1e-12
    )
    assert list(samples["glfs_class_predicted"]) == list(adata.obs["glfs_class_predicted"])
    held_out = samples[samples["split"] == "test"]
    assert (held_out["glfs_class_predicted"] != held_out["label"]).sum() <= 1


def test_example_on_blood_cells(real, run_r):
    real("pbmc3k_2638")
    file = Path(os.environ.get("GLFS_BIO_DATA", "../shared/data")) / "pbmc3k_2638.h5ad"
    out = run_r(
        f"commandArgs <- function(...) '{file.resolve()}'\nsource('{EXAMPLE}', echo = FALSE)\n"
        "stopifnot(nrow(vignette(package = 'glfsbio')$results) == 3)"
    )
    assert "DataFrame with 50 rows and 2 columns" in out
    assert "CD14+ Monocytes" in out
