#' Constraints on a panel, and the target platform
#'
#' For the arguments `limits` and `platform` of [glfs_select_genes()],
#' [glfs_extend_panel()], [glfs_curve()] and [glfs_evaluate_panel()]. Every
#' constraint holds exactly, or an error names those that are infeasible
#' together. NULL is no constraint.
#'
#' @param ... Must be empty: all arguments are given by name.
#' @param min_mean,max_mean Least and most mean expression of a gene over all
#'   samples, in the matrix that genes are selected from.
#' @param min_cells,max_cells Least and most share of all samples that express a
#'   gene, from 0 to 1.
#' @param min_mean_in_type,max_mean_in_type Least and most of the largest of a
#'   gene's means over the types of samples. They need `groupby`.
#' @param min_cells_in_type,max_cells_in_type The same for the share of the
#'   samples of a type that express the gene.
#' @param max_total_per_cell Most raw counts of the whole panel in a cell, as a
#'   mean over all cells. It needs `counts_layer`. Imaging instruments cannot
#'   resolve molecules where there are too many.
#' @param max_total_per_type The same mean over the cells of each type: one
#'   number, or a vector with names of types. It needs `groupby` and
#'   `counts_layer`.
#' @param families Families of genes: a column of `rowData()` (a gene without a
#'   value is in none), or a named list of names of genes.
#' @param per_family Most genes of one family.
#' @param per_type Least number of markers of each type. It needs `groupby` or
#'   `markers`. A gene is a marker of the type in which its mean is highest, if
#'   at least a quarter of the cells of that type express it and its mean there
#'   is at least twice that in all other cells together.
#' @param markers Markers of each type instead: a named list of names of genes.
#' @param priority Factor, 0 or more, by which the gain of a gene is multiplied:
#'   a column of `rowData()`, or a vector with names of genes, where others have
#'   1.
#' @param groupby Column of `colData()` with the type of each sample.
#' @param counts_layer Matrix of raw counts, for limits on totals: an assay, an
#'   element of `assayData`, or a layer of a Seurat assay.
#' @param cost,budget Cost of a gene: one number, a column of `rowData()`, or a
#'   vector with the names of the genes; and the most that the panel may cost.
#' @param detection Relative detection efficiency of each gene on the target
#'   platform, from 0 to 1: one number, a column of `rowData()`, or a vector
#'   with names of genes. Or samples that were measured on that platform, as an
#'   object of the kinds that [glfs_select_genes()] takes.
#' @param failure Probability that a gene fails, given as `detection` is; genes
#'   that a vector does not name do not fail. The panel preserves most in the
#'   mean over failures.
#' @return A list of what is set. The values are checked where it is used.
#' @examples
#' limits <- glfs_limits(max_mean = 3, per_type = 1, groupby = "bulk_labels")
#' platform <- glfs_platform(detection = 0.3, failure = 0.05)
#' x <- glfs_select_genes(
#'     glfs_example(), n_genes = 20, limits = limits, platform = platform
#' )
#' glfs_gene_sets(x)
#' @name glfs_limits
NULL

options_of <- function(name, options) {
    fun <- paste0("glfs_", name)
    unknown <- setdiff(names(options), names(formals(fun)))
    if (length(unknown) > 0L)
        refuse(
            unknown[1L], " is not an argument of ", fun, "(): it takes ",
            paste(setdiff(names(formals(fun)), "..."), collapse = ", "), "."
        )
    options <- Filter(Negate(is.null), options)
    # Without names Python would take an empty one for a list of values.
    stats::setNames(options, as.character(names(options)))
}

check_limits <- function(limits) {
    if (is.null(limits))
        return(NULL)
    if (!is_record(limits) || (length(limits) > 0L && is.null(names(limits))))
        refuse(
            "limits", " must be made by glfs_limits(), with names, not a ",
            class(limits)[1L], "."
        )
    stats::setNames(limits, as.character(names(limits)))
}

# With samples of another assay as Python reads them, whose matrix has the same
# name if they are of one class.
read_platform <- function(platform, x, place) {
    named <- length(platform) == 0L || !is.null(names(platform))
    if (!is_record(platform) || !named)
        refuse(
            "platform", " must be made by glfs_platform(), not a ",
            class(platform)[1L], "."
        )
    detection <- platform[["detection"]]
    if (length(dim(detection)) == 2L) {
        same <- identical(class(detection), class(x))
        place <- place[same & names(place) != "counts_layer"]
        platform[["detection"]] <- structure(
            class = "glfs_plain",
            do.call(read_object, c(list(detection), place))
        )
    }
    platform
}
