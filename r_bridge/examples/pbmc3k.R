#!/usr/bin/env Rscript
# A panel of 50 genes for 2,638 blood cells, beside scran's highly variable genes, and clusters of
# the cells in all genes and in the panel.
#   Rscript pbmc3k.R pbmc3k.h5ad
# The file holds raw counts and a column "label". A second argument names a Python that has glfs_bio.
needed <- c("glfsbio", "scran", "scuttle", "bluster")
absent <- needed[!vapply(needed, requireNamespace, NA, quietly = TRUE)]
if (length(absent) > 0L)
    stop("Install first: ", paste(absent, collapse = ", "))
suppressPackageStartupMessages({
    library(glfsbio)
    library(scran)
    library(scuttle)
})
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 0L)
    stop("Usage: Rscript pbmc3k.R FILE.h5ad [PYTHON]")
glfs_setup(if (length(arguments) > 1L) arguments[2L])

sce <- glfs_read_h5ad(arguments[1L], X_name = "counts")
sce <- sce[rowSums(counts(sce) > 0) >= 3, ]
sce <- logNormCounts(sce)

set.seed(1)
variances <- modelGeneVar(sce)
sce <- fixedPCA(sce, subset.row = getTopHVGs(variances, n = 2000))
sce$cluster <- clusterCells(sce, use.dimred = "PCA")

sce <- glfs_select_genes(sce, n_genes = 50)
print(rowData(sce)[glfs_genes(sce), c("glfs_rank", "glfs_loss")])

panels <- list(glfsbio = "glfs", HVGs = getTopHVGs(variances, n = 50))
sce <- glfs_evaluate_panel(sce, panels, labels = "label")
measures <- glfs_result(sce, "glfs_comparison")$measures
print(measures[measures$measure %in% c("preserved", "accuracy", "macro_f1"), c("panel", "measure", "value")])

panel <- sce[rowSubset(sce, "glfs_selected"), ]
panel$in_panel <- clusterCells(panel, assay.type = "logcounts")
print(table(panel$cluster, panel$in_panel))
print(table(panel$label, panel$in_panel))
