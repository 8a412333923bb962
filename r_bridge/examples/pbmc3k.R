#!/usr/bin/env Rscript
# A panel of 50 genes for 2,638 blood cells, then clusters of the cells in the panel.
#   Rscript pbmc3k.R pbmc3k.h5ad [~/venv]
# The file holds raw counts; the second argument is the Python that has glfs_bio.
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

sce <- glfs_select_genes(sce, n_genes = 50, assay = "logcounts")

genes <- rowData(sce)
genes <- genes[genes$glfs_selected, c("glfs_rank", "glfs_loss")]
print(genes[order(genes$glfs_rank), ])

panel <- sce[rowData(sce)$glfs_selected, ]
set.seed(1)
panel$cluster <- clusterCells(panel, assay.type = "logcounts")
print(table(panel$cluster, panel$label))
