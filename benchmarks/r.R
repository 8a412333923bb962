# What r.py asks of R: Rscript r.R containers|workers ...
suppressPackageStartupMessages({
    library(glfsbio)
    library(SingleCellExperiment)
})

# Results of every container and operation as files. Arguments: an h5ad file with logarithmised X,
# the folder for the results, a script to run first.
containers <- function(file, folder, first) {
    source(first)
    sce <- suppressMessages(glfs_read_h5ad(file, X_name = "logcounts"))
    reducedDims(sce) <- NULL # a matrix has none
    colPairs(sce) <- NULL
    values <- assay(sce, "logcounts")
    cells <- as.data.frame(colData(sce))
    store <- file.path(folder, "x.h5")
    containers <- list(
        matrix = as.matrix(values),
        dgCMatrix = values,
        dgTMatrix = methods::as(values, "TsparseMatrix"),
        DelayedMatrix = DelayedArray::DelayedArray(values) * 1,
        HDF5Matrix = HDF5Array::writeHDF5Array(as.matrix(values), store, "x", with.dimnames = TRUE),
        TENxMatrix = HDF5Array::writeTENxMatrix(values, store, "10x"),
        # HDF5Array 1.26 finds names only where the file calls them "_index".
        H5ADMatrix = `dimnames<-`(HDF5Array::H5ADMatrix(file), dimnames(values)),
        SummarizedExperiment = SummarizedExperiment::SummarizedExperiment(
            list(logcounts = values), colData = colData(sce)
        ),
        SingleCellExperiment = sce,
        ExpressionSet = Biobase::ExpressionSet(
            as.matrix(values), Biobase::AnnotatedDataFrame(cells)
        ),
        Seurat = SeuratObject::SetAssayData(
            suppressWarnings(SeuratObject::CreateSeuratObject(values, meta.data = cells)),
            "data", values
        )
    )
    record <- function(x, key) {
        if (is(x, "SummarizedExperiment")) metadata(x)[[key]]
        else if (is(x, "ExpressionSet")) Biobase::notes(x)[[key]]
        else if (inherits(x, "Seurat")) methods::slot(x, "misc")[[key]]
        else x
    }
    panel <- c("CD3D", "CD79A", "NKG7", "LYZ", "FCER1A")
    operations <- list(
        select_genes = function(x) glfs_scores(glfs_select_genes(x, 20)),
        stability = function(x) {
            x <- glfs_stability(x, 10, n_resamples = 3, random_state = 0)
            glfsbio:::gene_table(x)$glfs_stability_frequency
        },
        evaluate_panel = function(x) unlist(
            record(glfs_evaluate_panel(x, panel, random_state = 0), "glfs_evaluation")[
                c("preserved", "best_preserved", "random_preserved", "knn_preservation", "imputed")]
        ),
        extend_panel = function(x) {
            x <- glfs_extend_panel(x, panel, 5)
            (if (is(x, "DataFrame")) metadata(x)$glfs_extended else record(x, "glfs_extended"))$preserved
        },
        substitutes = function(x)
            record(glfs_substitutes(x, panel, n = 3), "glfs_substitutes")$table$substitution_score,
        explain_panel = function(x)
            record(glfs_explain_panel(x, panel), "glfs_explanation")$table$loss,
        curve = function(x) record(glfs_curve(x, 20), "glfs_curve")$table$preserved,
        classify = function(x)
            record(glfs_classify(x, cells$bulk_labels, n_genes = 10, random_state = 0), "glfs_class")$coef
    )
    for (container in names(containers))
        for (operation in names(operations)) {
            found <- suppressMessages(operations[[operation]](containers[[container]]))
            writeLines(
                format(as.numeric(found), digits = 17L),
                file.path(folder, paste0(container, ".", operation))
            )
        }
}

# A hundred selections in forked and in socket workers, against the same in this process.
workers <- function() {
    suppressPackageStartupMessages(library(BiocParallel))
    set.seed(1)
    x <- matrix(rnorm(60 * 800, 1, 0.3), 60, dimnames = list(paste0("g", 1:60), NULL))
    for (i in 1:6) x[i, 100 * i + 1:100] <- x[i, 100 * i + 1:100] + 2
    select <- function(i, x) glfsbio::glfs_select_genes(x, 6, n_comps = 20)$glfs_score
    environment(select) <- globalenv() # of which nothing is sent to socket workers
    here <- select(0, x)
    workers <- list(
        "one process" = SerialParam(), "forked workers (2)" = MulticoreParam(2),
        "socket workers (2)" = SnowParam(2)
    )
    for (name in names(workers)) {
        seconds <- system.time(
            found <- bplapply(1:100, select, x, BPPARAM = workers[[name]])
        )[["elapsed"]]
        differs <- max(vapply(found, function(one) max(abs(one - here)), 0))
        cat(name, length(found), seconds, differs, sep = "\t")
        cat("\n")
    }
}

arguments <- commandArgs(trailingOnly = TRUE)
do.call(arguments[1L], as.list(arguments[-1L]))
