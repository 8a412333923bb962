#' Estimate the detection efficiency of each gene on a platform
#'
#' The efficiency of a gene is its mean count on the platform, divided by that
#' in the reference, for samples of the same kinds. Logarithms of these ratios
#' are shrunk to their mean over the genes by empirical Bayes; a gene that was
#' not measured gets that mean, and the spread of all genes.
#'
#' @param reference Samples from which panels are selected, as an object of the
#'   kinds that [glfs_select_genes()] takes.
#' @param spatial Samples that the platform measured. Genes are matched by name.
#' @param labels Types of samples: the name of a column of `colData()` of both,
#'   or a list of two vectors, of the reference and of the spatial samples.
#'   Types that one of them lacks are left out. NULL: samples of the same kinds.
#' @param counts_layer,spatial_layer Matrix of raw counts of each: an assay, an
#'   element of `assayData`, or a layer of the default assay of a Seurat object.
#'   A matrix alone is one of raw counts.
#' @return A data frame with one row per gene of the reference, for
#'   [glfs_platform()]: `efficiency`; `low` and `high`, the ends of its 90 %
#'   interval; `spread`, the standard deviation of its logarithm; with three
#'   types or more `off_target`, the share of its counts that does not follow
#'   the types of the reference; with 200 spatial samples or more `signal`, its
#'   structure there in units of noise; and `measured`.
#' @examples
#' x <- glfs_example()
#' counts <- round(expm1(as.matrix(SummarizedExperiment::assay(x))))
#' SummarizedExperiment::assay(x, "counts") <- counts
#' half <- x
#' SummarizedExperiment::assay(half, "counts") <- floor(counts / 2)
#' head(glfs_estimate_efficiency(x, half, "bulk_labels"))
#' @export
glfs_estimate_efficiency <- function(
        reference, spatial, labels = NULL, counts_layer = "counts",
        spatial_layer = "counts") {
    parts <- list(
        read_counts(reference, counts_layer),
        read_counts(spatial, spatial_layer, "spatial_layer")
    )
    if (!is.null(labels) && !is_string(labels)) {
        if (!is.list(labels) || length(labels) != 2L)
            refuse(
                "labels", " must be the name of a column of both, or a list of",
                " two vectors, of the reference and of the spatial samples."
            )
        parts <- Map(function(part, values, x) with_columns(part,
            list(glfs_labels = sample_labels(values, x, "labels"))),
            parts, unname(labels), list(reference, spatial))
        labels <- "glfs_labels"
    }
    call_python(
        "estimate_efficiency",
        reference = parts[[1L]], spatial = parts[[2L]], labels = labels
    )
}
