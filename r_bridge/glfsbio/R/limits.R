#' Limits on a panel of genes
#'
#' For the argument `limits` of [glfs_select_genes()], [glfs_extend_panel()] and
#' [glfs_curve()]. Every limit holds exactly, or an error says which of them
#' conflict. NULL is no limit.
#'
#' @param min_mean,max_mean Least and most mean expression of a gene over all
#'   samples, in the matrix that genes are selected from.
#' @param min_cells,max_cells Least and most share of all samples that express a
#'   gene, from 0 to 1.
#' @param min_mean_in_type,max_mean_in_type Least and most of the largest of a gene's
#'   means over the types of samples. They need `groupby`.
#' @param min_cells_in_type,max_cells_in_type The same for the share of the samples of
#'   a type that express the gene.
#' @param max_total_per_cell Most raw counts of the whole panel in a cell, as a mean
#'   over all cells; `counts_layer` of the function that selects names the counts.
#'   Imaging instruments cannot tell molecules apart where there are too many.
#' @param max_total_per_type The same mean over the cells of each type: one number, or
#'   a vector with names of types. It needs `groupby` and `counts_layer`.
#' @param families Families of genes: a column of `rowData()` (a gene without a value
#'   is in none), or a named list of names of genes.
#' @param per_family Most genes of one family.
#' @param per_type Least number of genes that are markers of each type. It needs
#'   `groupby` or `markers`. A gene is a marker of the type in which its mean is
#'   highest, if at least a quarter of the cells of that type express it and its mean
#'   there is at least twice that in all other cells together.
#' @param markers Markers of each type instead: a named list of names of genes.
#' @param priority Factor, 0 or more, by which the gain of a gene is multiplied: a
#'   column of `rowData()`, or a vector with names of genes, where others have 1.
#' @param groupby Column of `colData()` with the type of each sample.
#' @return A list of the limits that are set. The values are checked where it is used.
#' @examples
#' limits <- glfs_limits(max_mean = 3, per_type = 1, groupby = "bulk_labels")
#' if (glfs_available()) {
#'     x <- glfs_select_genes(glfs_example(), n_genes = 20, limits = limits)
#'     glfs_gene_sets(x)
#' }
#' @export
glfs_limits <- function(
        min_mean = NULL, max_mean = NULL, min_cells = NULL, max_cells = NULL,
        min_mean_in_type = NULL, max_mean_in_type = NULL, min_cells_in_type = NULL,
        max_cells_in_type = NULL, max_total_per_cell = NULL, max_total_per_type = NULL,
        families = NULL, per_family = NULL, per_type = NULL, markers = NULL,
        priority = NULL, groupby = NULL) {
    Filter(Negate(is.null), mget(names(formals())))
}

check_limits <- function(limits) {
    if (!is.list(limits) || is.null(names(limits)))
        refuse("limits", " must be made by glfs_limits(), not a ", class(limits)[1L], ".")
    limits
}
