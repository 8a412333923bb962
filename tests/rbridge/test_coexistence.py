"""R sessions in which others use Python, or hold what Python reads."""

from __future__ import annotations

from pathlib import Path

import anndata as ad
import numpy as np
from scipy import sparse

R_BRIDGE = Path(__file__).resolve().parents[2] / "r_bridge"
#: One session for all: R, its packages and Python take seconds to start.
SESSION = """
set.seed(1)
x <- matrix(rnorm(40 * 60, 1, 0.3), 40, dimnames = list(paste0("g", 1:40), paste0("c", 1:60)))
for (i in 1:3) x[i, 20 * (i - 1) + 1:20] <- x[i, 20 * (i - 1) + 1:20] + 3
sce <- SingleCellExperiment::SingleCellExperiment(
    list(logcounts = Matrix::Matrix(pmax(x - 0.8, 0), sparse = TRUE)),
    colData = S4Vectors::DataFrame(
        type = factor(rep(c("a", "é", NA), 20)), n = c(NA, 2:60), ok = c(NA, TRUE)
    ),
    reducedDims = list(PCA = prcomp(t(x), rank. = 5)$x)
)
select <- function(x) suppressMessages(glfs_select_genes(x, 3, n_comps = 5))
told <- function(x) tryCatch(
    glfs_select_genes(x, 3, n_comps = 5), message = conditionMessage
)

# Somebody else has started Python; what is named otherwise does not count.
reticulate::use_python(file.path(Sys.getenv("GLFSBIO_PYTHON"), "bin", "python"))
reticulate::py_run_string("mine = 3")
Sys.setenv(GLFSBIO_PYTHON = "/no/such")
stopifnot(sum(select(x)$glfs_selected) == 3, reticulate::py_eval("mine") == 3)
stopifnot(grepl(
    "a process has one Python", tryCatch(glfs_setup("/usr/bin/env"), error = conditionMessage)
))

# A matrix in a file: dense, of 10x, and of AnnData by cells and by genes.
in_file <- function(x) grepl("x is read from its file", told(x))
realised <- function(x) grepl("realised", told(x))
if (requireNamespace("HDF5Array", quietly = TRUE)) {
    file <- HDF5Array::writeHDF5Array(x, "x.h5", "logcounts", with.dimnames = TRUE)
    stopifnot(in_file(file), realised(file * 1), all.equal(select(file), select(x)))
    source(commandArgs(TRUE))
    zeros <- SummarizedExperiment::assay(sce)
    file <- HDF5Array::writeTENxMatrix(zeros, "10x.h5", "matrix")
    stopifnot(in_file(file), all.equal(select(file), select(zeros)))
    files <- lapply(c("by_cells.h5ad", "by_genes.h5ad"), HDF5Array::H5ADMatrix)
    layer <- HDF5Array::H5ADMatrix("by_cells.h5ad", layer = "half")
    zeros <- methods::as(files[[1L]], "dgCMatrix")
    stopifnot(in_file(files[[1L]]), in_file(t(t(files[[1L]]))), realised(files[[2L]]))
    for (file in files)
        stopifnot(all.equal(select(file), select(zeros)))
    stopifnot(in_file(layer), all.equal(select(layer), select(zeros / 2)))
}

# Bits and kinds alike by both bridges.
results <- function() {
    sce <- select(sce)
    sce <- suppressMessages(glfs_explain_panel(sce, labels = "type"))
    sce <- glfs_structure(sce)
    S4Vectors::metadata(sce)$glfs_structure$kept <- NULL # an archive, with its time
    list(
        SummarizedExperiment::rowData(sce), SummarizedExperiment::colData(sce),
        S4Vectors::metadata(sce), glfs_laprls(x[, known], sce$type[known])
    )
}
known <- !is.na(sce$type)
here <- results()
stopifnot(glfs_setup(quiet = TRUE)$bridge == "reticulate")
glfsbio:::start_python(NULL, "rpy2")
stopifnot(glfs_setup(quiet = TRUE)$bridge == "rpy2", identical(results(), here))

# One structure for several calls, and two objects.
judge <- function(x, ...) S4Vectors::metadata(
    glfs_substitutes(x, c("g1", "g2"), n = 2, ...)
)$glfs_substitutes$table
kept <- glfs_structure(sce, n_comps = 4, key_added = "mine")
stopifnot(identical(judge(kept, use_rep = "mine"), judge(sce, n_comps = 4)))
half <- seq_len(60) %% 2 == 0
both <- suppressMessages(glfs_select_genes(
    list(a = sce[, half], b = sce[-40, !half]), 3, n_comps = 5, across = "worst",
    platform = glfs_platform(efficiency = sce[-1, ])
))
sets <- lapply(both, function(x) glfs_gene_sets(x)[[1]])
stopifnot(identical(names(both), c("a", "b")), identical(sets$a, sets$b), !"g1" %in% sets$a)
"""


def test_a_session_with_others(run_r, tmp_path):
    """Python that runs already, files, both bridges, and what is kept between calls."""
    counts = np.random.default_rng(0).poisson(1.0, (60, 40)).astype(np.float32)
    for name, form in {"by_cells": sparse.csr_matrix, "by_genes": sparse.csc_matrix}.items():
        cells = ad.AnnData(form(counts), layers={"half": form(counts / 2)})
        cells.write_h5ad(tmp_path / f"{name}.h5ad")
    run_r(SESSION, str(R_BRIDGE / "debian_hdf5.R"))
