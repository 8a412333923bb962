#' Constraints on a panel, and the target platform
#'
#' For the arguments `limits` and `platform` of other functions. Every constraint
#' holds exactly, or an error names those that are infeasible together. A column
#' of `rowData()` may also be a vector with one value for each gene of `x`.
#'
#' @inheritParams glfs_evaluate_panel
#' @param ... Must be empty: all arguments are given by name.
#' @param spillover_to Types of the neighbouring cells: cells with positions, as
#'   an object with the reduced dimension `"spatial"` and the same column of
#'   labels as the evaluation. Or a matrix or data frame of the frequencies of
#'   the types of neighbours (columns) of each type (rows). NULL: neighbours are
#'   random cells of `x`.
#' @return A list of the arguments that are not NULL, to be passed as `limits`
#'   or `platform` to a function, which checks the values.
#' @examples
#' limits <- glfs_limits(
#'     expression = list(mean = 3), per_type = 1, groupby = "bulk_labels")
#' platform <- glfs_platform(efficiency = 0.3, failure = 0.05)
#' x <- glfs_select_genes(glfs_example(), 20, limits = limits,
#'     platform = platform)
#' glfs_genes(x)
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
    for (name in c("efficiency", "codebook", "spillover_to")) {
        value <- platform[[name]]
        if (is.matrix(value) && name != "efficiency")
            value <- as.data.frame(value)
        if (is_table(value))
            platform[[name]] <- plain_table(value, rownames(value))
        else if (length(dim(value)) == 2L)
            platform[[name]] <- as_cells(read_object(value,
                if (identical(class(value), class(x))) place))
    }
    if (!is.null(names(platform[["codebook"]])))
        platform[["codebook"]] <- as.list(platform[["codebook"]])
    plain_list(Map(plain_argument, platform, names(platform)), named = TRUE)
}

#' @eval from_python("estimate_efficiency")
#' @param reference,spatial Samples from which panels are selected, and those
#'   that the platform measured, with raw counts, as objects of the kinds that
#'   [glfs_select_genes()] takes. Genes are matched by name.
#' @param labels Types of samples: the name of a column of `colData()` of both.
#'   Types that one of them lacks are left out. NULL: samples of the same kinds.
#' @param counts_layer,spatial_layer Matrix of raw counts of each: an assay, an
#'   element of `assayData`, or a layer of the default assay of a Seurat object.
#'   A matrix alone is one of raw counts.
#' @examples
#' x <- glfs_example()
#' counts <- round(expm1(as.matrix(SummarizedExperiment::assay(x))))
#' SummarizedExperiment::assay(x, "counts") <- counts
#' half <- x
#' SummarizedExperiment::assay(half, "counts") <- floor(counts / 2)
#' head(glfs_estimate_efficiency(x, half, "bulk_labels"))
glfs_estimate_efficiency <- function(reference, spatial, labels = NULL,
        counts_layer = "counts", spatial_layer = "counts") {
    reference <- read_counts(reference, counts_layer)
    spatial <- read_counts(spatial, spatial_layer, "spatial_layer")
    call_python("estimate_efficiency", reference = as_cells(reference),
        spatial = as_cells(spatial), labels = labels, of = reference$of)
}
