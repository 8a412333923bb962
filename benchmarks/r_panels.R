# What r_panels.py asks of R, for one dataset: Rscript r_panels.R CELLS GENEBASIS
# CELLS is an h5ad file of raw counts with labels, GENEBASIS a text file with a panel a line.
# Prints the table, a panel a line.
suppressPackageStartupMessages({
    library(glfsbio)
    library(scran)
    library(scuttle)
    library(SingleCellExperiment)
})

# Clusters as the book of Bioconductor's single-cell packages (OSCA) makes them.
clusters <- function(sce) {
    set.seed(1)
    sce <- fixedPCA(sce, subset.row = getTopHVGs(modelGeneVar(sce), n = 2000L))
    clusterCells(sce, use.dimred = "PCA")
}

# All genes: first those at the top of a group, by the smallest `Top` of any group; of equal ones
# that of the smaller P value first. The first genes are thus the union of the top k of every group.
top_markers <- function(sce, groups) {
    tables <- findMarkers(sce, groups = groups, direction = "up")
    smallest <- function(column)
        do.call(pmin, lapply(tables, function(one) one[rownames(sce), column]))
    rownames(sce)[order(smallest("Top"), smallest("p.value"))]
}

panels <- function(file, genebasis) {
    sce <- suppressMessages(glfs_read_h5ad(file, X_name = "counts"))
    sce <- logNormCounts(sce)
    others <- strsplit(readLines(genebasis), "\t")
    sizes <- lengths(others)
    most <- max(sizes)
    methods <- list(
        "glfsbio" = function(sce) glfs_genes(glfs_select_genes(sce, most)),
        "scran, HVGs" = function(sce) getTopHVGs(modelGeneVar(sce), n = most),
        "scran, findMarkers of clusters" = function(sce) top_markers(sce, clusters(sce)),
        "glfsbio, with the labels" = function(sce)
            glfs_genes(glfs_select_genes(sce, most, preserve = "label")),
        "scran, findMarkers of the labels" = function(sce) top_markers(sce, sce$label)
    )
    few <- sce[, 1:500] # the first calls import and compile what later ones have
    for (choose in methods) suppressMessages(choose(few))
    for (method in c(names(methods), "geneBasis")) {
        seconds <- NA
        chosen <- others
        if (method != "geneBasis") {
            seconds <- system.time(ranked <- methods[[method]](sce))[["elapsed"]]
            chosen <- lapply(sizes, utils::head, x = ranked)
        }
        names(chosen) <- paste("panel of", sizes)
        sce <- suppressMessages(glfs_evaluate_panel(sce, chosen, labels = "label",
            measures = c("labels", "neighbors", "clusters", "preserved")))
        table <- as.data.frame(metadata(sce)$glfs_comparison$measures)
        measures <- c("accuracy", "macro_f1", "rare_f1", "knn_preservation",
            "cluster_preservation_fine", "preserved")
        values <- lapply(stats::setNames(nm = measures), function(measure) {
            rows <- table[table$measure == measure, ]
            rows$value[match(names(chosen), rows$panel)]
        })
        utils::write.table(
            data.frame(method, sizes, seconds, values), quote = FALSE, sep = "\t",
            row.names = FALSE, col.names = FALSE
        )
    }
}

do.call(panels, as.list(commandArgs(trailingOnly = TRUE)))
