#' Options of a selection: limits on the panel, and the assay that will measure it
#'
#' For the arguments `limits` and `platform` of [glfs_select_genes()], [glfs_extend_panel()],
#' [glfs_curve()] and [glfs_evaluate_panel()]. Every limit holds exactly, or an error says
#' which of them conflict. NULL is no limit.
#'
#' @param ... Limits, by name; see the section below.
#'
#' @section Limits:
#' \describe{
#'   \item{`min_mean`, `max_mean`}{Least and most mean expression of a gene over all
#'     samples, in the matrix that genes are selected from.}
#'   \item{`min_cells`, `max_cells`}{Least and most share of all samples that express a
#'     gene, from 0 to 1.}
#'   \item{`min_mean_in_type`, `max_mean_in_type`}{Least and most of the largest of a
#'     gene's means over the types of samples. They need `groupby`.}
#'   \item{`min_cells_in_type`, `max_cells_in_type`}{The same for the share of the samples
#'     of a type that express the gene.}
#'   \item{`max_total_per_cell`}{Most raw counts of the whole panel in a cell, as a mean
#'     over all cells. It needs `counts_layer`. Imaging instruments cannot tell molecules
#'     apart where there are too many.}
#'   \item{`max_total_per_type`}{The same mean over the cells of each type: one number, or
#'     a vector with names of types. It needs `groupby` and `counts_layer`.}
#'   \item{`families`}{Families of genes: a column of `rowData()` (a gene without a value
#'     is in none), or a named list of names of genes.}
#'   \item{`per_family`}{Most genes of one family.}
#'   \item{`per_type`}{Least number of genes that are markers of each type. It needs
#'     `groupby` or `markers`. A gene is a marker of the type in which its mean is
#'     highest, if at least a quarter of the cells of that type express it and its mean
#'     there is at least twice that in all other cells together.}
#'   \item{`markers`}{Markers of each type instead: a named list of names of genes.}
#'   \item{`priority`}{Factor, 0 or more, by which the gain of a gene is multiplied: a
#'     column of `rowData()`, or a vector with names of genes, where others have 1.}
#'   \item{`groupby`}{Column of `colData()` with the type of each sample.}
#'   \item{`counts_layer`}{The matrix of raw counts, named as `assay` is (for Seurat the
#'     slot or layer), for limits on totals.}
#'   \item{`cost`, `budget`}{What a gene costs: one number, a column of `rowData()`, or a
#'     vector with the names of the genes; and what the panel may cost.}
#' }
#'
#' @param detection How much of each gene the assay detects that will measure the panel,
#'   as a share of what is detected here, from 0 to 1: one number, a column of
#'   `rowData()`, or a vector with names of genes. Or samples that were measured by that
#'   assay, as an object of the kinds that [glfs_select_genes()] takes.
#' @param failure Probability that a gene fails, given as `detection` is; genes that a
#'   vector does not name do not fail. The panel that keeps most in the mean over failures
#'   is chosen.
#' @return A list of what is set. The names and values are checked where it is used.
#' @examples
#' limits <- glfs_limits(max_mean = 3, per_type = 1, groupby = "bulk_labels")
#' platform <- glfs_platform(detection = 0.3, failure = 0.05)
#' if (glfs_available()) {
#'     x <- glfs_select_genes(
#'         glfs_example(), n_genes = 20, limits = limits, platform = platform
#'     )
#'     glfs_gene_sets(x)
#' }
#' @export
glfs_limits <- function(...) {
    Filter(Negate(is.null), check_limits(list(...)))
}

#' @rdname glfs_limits
#' @export
glfs_platform <- function(detection = NULL, failure = NULL) {
    Filter(Negate(is.null), list(detection = detection, failure = failure))
}

check_limits <- function(limits) {
    if (!is_record(limits) || (length(limits) > 0L && is.null(names(limits))))
        refuse("limits", " must be made by glfs_limits(), with names, not a ", class(limits)[1L], ".")
    # Without names Python would take it for a list of values.
    if (length(limits) == 0L) stats::setNames(list(), character()) else limits
}

# With samples of another assay as Python reads them, whose matrix has the same name if
# they are of one class.
read_platform <- function(platform, x, place) {
    if (!is_record(platform) || (length(platform) > 0L && is.null(names(platform))))
        refuse("platform", " must be made by glfs_platform(), not a ", class(platform)[1L], ".")
    detection <- platform[["detection"]]
    if (length(dim(detection)) == 2L)
        platform[["detection"]] <- structure(class = "glfs_plain", do.call(read_object, c(
            list(detection),
            if (identical(class(detection), class(x))) place[names(place) != "counts_layer"]
        )))
    platform
}
