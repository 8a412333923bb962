#' Constraints on a panel, and the target platform
#'
#' For the arguments `limits` and `platform` of [glfs_select_genes()],
#' [glfs_extend_panel()] and [glfs_evaluate_panel()]. Every constraint holds
#' exactly, or an error names those that are infeasible together. A column of `rowData()` may also be a vector with one value for
#' each gene of `x`. NULL, the default of all arguments, is no constraint, and
#' for a platform what is said below. An argument without those that it needs is
#' an error.
#'
#' @param ... Must be empty: all arguments are given by name.
#' @param counts_layer Matrix of raw counts: an assay, an element of
#'   `assayData`, or a layer of a Seurat assay. It needs a limit on counts.
#' @param spillover_to Types of the neighbouring cells: cells with positions, as
#'   an object with the reduced dimension `"spatial"` and the same column of
#'   labels as the evaluation, whose positions are compared within the sections
#'   of its column `"library_id"`, `"section"` or `"sample"`. Or a matrix or
#'   data frame of the frequencies of the types of neighbours (columns) of each
#'   type (rows). It needs `spillover`. NULL: neighbours are random cells of
#'   `x`.
#' @return A list of the arguments that are not NULL, to be passed as `limits`
#'   or `platform`. The function that takes it checks the values: an invalid one
#'   is an error of class `glfs_error` there, and `x` is unchanged. A platform
#'   without any argument is an error.
#' @examples
#' limits <- glfs_limits(
#'     expression = list(mean = 3), per_type = 1, groupby = "bulk_labels")
#' platform <- glfs_platform(efficiency = 0.3, failure = 0.05)
#' x <- glfs_select_genes(
#'     glfs_example(), n_genes = 20, limits = limits, platform = platform
#' )
#' glfs_gene_sets(x)
#' @name glfs_limits
NULL

# With names, without which Python would take an empty one for a list of values.
as_record <- function(options) {
    options <- Filter(Negate(is.null), options)
    stats::setNames(options, as.character(names(options)))
}

# Limits, or a platform.
check_record <- function(record, name) {
    if (!is_record(record) || (length(record) > 0L && is.null(names(record))))
        refuse(name, " must be made by glfs_", name, "(), with names, not a ",
            class(record)[1L], ".")
    refuse_unknown(name, record)
    as_record(record)
}

# With samples of another assay, and tables, as Python reads them; the matrix of
# samples has the same name as that of x if they are of one class.
read_platform <- function(platform, x, place) {
    platform <- check_record(platform, "platform")
    for (name in c("efficiency", "codebook", "spillover_to")) {
        value <- platform[[name]]
        if (is.matrix(value) && name != "efficiency")
            value <- as.data.frame(value)
        if (is_table(value))
            platform[[name]] <- plain_table(value, rownames(value))
        else if (length(dim(value)) == 2L)
            platform[[name]] <- as_cells(do.call(read_object,
                c(list(value), if (identical(class(value), class(x))) place)))
    }
    if (!is.null(names(platform[["codebook"]])))
        platform[["codebook"]] <- as.list(platform[["codebook"]])
    plain_list(Map(plain_argument, platform, names(platform)), named = TRUE)
}

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
    columns <- list(NULL, NULL)
    if (!is.null(labels) && !is_string(labels)) {
        if (!is.list(labels) || length(labels) != 2L)
            refuse("labels", " must be the name of a column of both, or a list ",
                "of two vectors, of the reference and of the spatial samples.")
        columns <- Map(function(values, x)
            list(glfs_labels = sample_values(values, "labels", x)),
            unname(labels), list(reference, spatial))
        labels <- "glfs_labels"
    }
    parts <- Map(read_counts, list(reference, spatial),
        list(counts_layer, spatial_layer), c("counts_layer", "spatial_layer"),
        columns)
    call_python("estimate_efficiency", reference = as_cells(parts[[1L]]),
        spatial = as_cells(parts[[2L]]), labels = labels, of = parts[[1L]]$of)
}
