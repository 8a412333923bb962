# Panels of glfs_select_genes() and of scran's getTopHVGs() on the same cells.
# Argument: an h5ad file of raw counts with labels. Prints lines that hvgs.py reads.
suppressPackageStartupMessages({
    library(glfsbio)
    library(scran)
    library(scuttle)
})
file <- commandArgs(trailingOnly = TRUE)[1L]
sce <- suppressMessages(glfs_read_h5ad(file, X_name = "counts"))
sce <- sce[rowSums(counts(sce) > 0) >= 3, ]
sce <- logNormCounts(sce)
reducedDims(sce) <- NULL
colPairs(sce) <- NULL
sizes <- c(10, 25, 50, 100, 200)
# The first calls import and compile what later ones have.
few <- sce[, 1:500]
invisible(glfs_select_genes(few, 10))
invisible(getTopHVGs(modelGeneVar(few), n = 10))

seconds <- c(
    glfsbio = system.time(glfs <- glfs_select_genes(sce, max(sizes)))[["elapsed"]],
    scran = system.time(hvgs <- getTopHVGs(modelGeneVar(sce), n = max(sizes)))[["elapsed"]]
)
panels <- list(glfsbio = glfs_gene_sets(glfs)$glfs, scran = hvgs)
sce <- glfs_structure(sce)
for (method in names(panels)) for (size in sizes) {
    panel <- utils::head(panels[[method]], size)
    found <- S4Vectors::metadata(
        glfs_evaluate_panel(sce, panel, labels = "label", n_random = 1)
    )$glfs_evaluation
    cat(
        size, method, seconds[[method]], found$accuracy, found$macro_f1, found$rare_f1,
        found$knn_preservation, found$cluster_preservation_fine, found$preserved, sep = "\t"
    )
    cat("\n")
}
