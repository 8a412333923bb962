# Results of every container and operation as files, for containers.py to compare.
# Arguments: an h5ad file with logarithmised X, the folder for the results, a script to run first.
suppressPackageStartupMessages({
    library(glfsbio)
    library(SingleCellExperiment)
})
arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[3L])
sce <- suppressMessages(glfs_read_h5ad(arguments[1L], X_name = "logcounts"))
reducedDims(sce) <- NULL # a matrix has none
colPairs(sce) <- NULL
values <- assay(sce, "logcounts")
cells <- as.data.frame(colData(sce))
file <- file.path(arguments[2L], "x.h5")
containers <- list(
    matrix = as.matrix(values),
    dgCMatrix = values,
    dgTMatrix = methods::as(values, "TsparseMatrix"),
    DelayedMatrix = DelayedArray::DelayedArray(values) * 1,
    HDF5Matrix = HDF5Array::writeHDF5Array(as.matrix(values), file, "x", with.dimnames = TRUE),
    TENxMatrix = HDF5Array::writeTENxMatrix(values, file, "10x"),
    # HDF5Array 1.26 finds names only where the file calls them "_index".
    H5ADMatrix = `dimnames<-`(HDF5Array::H5ADMatrix(arguments[1L]), dimnames(values)),
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
            file.path(arguments[2L], paste0(container, ".", operation))
        )
    }
