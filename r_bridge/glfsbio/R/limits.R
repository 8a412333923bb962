#' Options of a selection: limits on the panel, and the target platform
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
#'   \item{`max_total_per_bit`}{Most raw counts, in a sample as a mean over all samples, of the
#'     genes whose codewords share a bit. It needs `counts_layer`, and a platform with a
#'     codebook.}
#'   \item{`expected_counts`}{Counts expected in a sample, as a mean over all samples, of
#'     genes that the data do not tell of, such as markers of types that they lack: a vector
#'     with names of genes, whose means it replaces in limits on totals.}
#'   \item{`families`}{Families of genes: a column of `rowData()` (a gene without a value
#'     is in none), or a named list of names of genes.}
#'   \item{`per_family`}{Most genes of one family.}
#'   \item{`per_type`}{Least number of genes that are markers of each type. It needs
#'     `groupby` or `markers`. A gene is a marker of the type in which its mean is
#'     highest, if at least a quarter of the cells of that type express it and its mean
#'     there is at least twice that in all other cells together.}
#'   \item{`markers`}{Markers of each type instead: a named list of names of genes.}
#'   \item{`together`}{Genes to be in the panel all or none, such as ligand and receptor: a
#'     list of vectors of names. Vectors that share a gene are one.}
#'   \item{`priority`}{Factor, 0 or more, by which the gain of a gene is multiplied: a
#'     column of `rowData()`, or a vector with names of genes, where others have 1.}
#'   \item{`groupby`}{Column of `colData()` with the type of each sample.}
#'   \item{`counts_layer`}{The matrix of raw counts, named as `assay` is (for Seurat the
#'     slot or layer), for limits on totals.}
#'   \item{`cost`, `budget`}{What a gene costs: one number, a column of `rowData()`, or a
#'     vector with the names of the genes; and what the panel may cost.}
#' }
#'
#' @param name What the platform is called, such as `"xenium_v1"`. It is recorded, and
#'   changes nothing.
#' @param genes Genes that can be ordered: names, a file of them, or a logical column of
#'   `rowData()`. Or how many probes can be made for each: a column of numbers, or a vector
#'   of numbers with names of genes, of which `min_probes` are needed.
#' @param min_probes Least number of probes of a gene.
#' @param efficiency Relative detection efficiency of each gene: what the platform detects,
#'   as a share of what is detected here. One number, a column of `rowData()`, a vector with
#'   names of genes, or a data frame with rows named by genes and the columns `efficiency`,
#'   `spread` and `off_target`, as [glfs_estimate_efficiency()] returns it. Or samples that
#'   the platform measured, as an object of the kinds that [glfs_select_genes()] takes.
#' @param spread Standard deviation of the natural logarithm of `efficiency`, given as that
#'   is.
#' @param failure Probability that a gene fails, given as `efficiency` is; genes that a
#'   vector does not name do not fail.
#' @param case `"mean"`: the panel preserves most in the mean over 20 draws of efficiencies
#'   and failures. `"worst"`: in the worst of these draws.
#' @param off_target Share of what is detected of a gene that comes from other genes, such as
#'   paralogs, from 0 to 1, given as `failure` is. The efficiency of the gene is less by it.
#' @param max_off_target Genes of a larger share cannot be ordered.
#' @param codebook Codeword of each gene, for `max_total_per_bit` and forecasts: a vector of
#'   texts such as `"0110"` with names of genes, a matrix or data frame of 0 and 1 with rows
#'   named by genes, or a file of MERSCOPE's form. A gene without a codeword cannot be
#'   ordered.
#' @return A list of what is set. The names and values are checked where it is used.
#' @examples
#' limits <- glfs_limits(max_mean = 3, per_type = 1, groupby = "bulk_labels")
#' platform <- glfs_platform(efficiency = 0.3, failure = 0.05)
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
glfs_platform <- function(name = NULL, genes = NULL, min_probes = NULL, efficiency = NULL,
                          spread = NULL, failure = NULL, case = NULL, off_target = NULL,
                          max_off_target = NULL, codebook = NULL) {
    if (is.data.frame(efficiency) || is(efficiency, "DataFrame")) {
        of <- function(column) {
            values <- efficiency[[column]]
            if (is.null(values)) NULL else stats::setNames(values, rownames(efficiency))
        }
        spread <- if (is.null(spread)) of("spread") else spread
        off_target <- if (is.null(off_target)) of("off_target") else off_target
        efficiency <- of("efficiency")
    }
    if (length(dim(codebook)) == 2L) {
        bits <- as.matrix(codebook)
        codebook <- stats::setNames(
            apply(bits, 1L, function(word) paste(as.integer(word), collapse = "")), rownames(bits)
        )
    }
    if (!is.null(names(codebook)))
        codebook <- as.list(codebook)
    Filter(Negate(is.null), list(
        name = name, genes = genes, min_probes = min_probes, efficiency = efficiency,
        spread = spread, failure = failure, case = case, off_target = off_target,
        max_off_target = max_off_target, codebook = codebook
    ))
}

#' Estimate what a platform detects of each gene
#'
#' The efficiency of a gene is its mean count on the platform over that in the reference, for
#' samples of the same kinds. Logarithms of these ratios are shrunk to their mean over the
#' genes by empirical Bayes; a gene that was not measured gets that mean, and the spread of all
#' genes.
#'
#' @param reference Samples from which panels are selected, as an object of the kinds that
#'   [glfs_select_genes()] takes.
#' @param spatial The same of samples that the platform measured. Genes are matched by name.
#' @param labels Column of `colData()` of both, with types of samples. Types that one of them
#'   lacks are left out.
#' @param assay,spatial_assay Name of the raw counts of each object.
#' @return A data frame with one row per gene of the reference, for [glfs_platform()]:
#'   `efficiency`, `low` and `high`, the ends of its interval of 90 %, `spread`, the standard
#'   deviation of its logarithm, with three types or more `off_target`, the share of its counts
#'   that does not follow the types of the reference, and `measured`.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_example()
#'     counts <- round(expm1(as.matrix(SummarizedExperiment::assay(x))))
#'     SummarizedExperiment::assay(x, "counts") <- counts
#'     half <- x
#'     SummarizedExperiment::assay(half, "counts") <- floor(counts / 2)
#'     head(glfs_estimate_efficiency(x, half, "bulk_labels"))
#' }
#' @export
glfs_estimate_efficiency <- function(reference, spatial, labels = NULL, assay = "counts",
                                     spatial_assay = "counts") {
    call_python(
        "estimate_efficiency",
        reference = read_object(reference, assay = assay),
        spatial = read_object(spatial, assay = spatial_assay),
        options = plain_arguments(list(labels = labels))
    )
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
    efficiency <- platform[["efficiency"]]
    if (length(dim(efficiency)) == 2L)
        platform[["efficiency"]] <- structure(class = "glfs_plain", do.call(read_object, c(
            list(efficiency),
            if (identical(class(efficiency), class(x))) place[names(place) != "counts_layer"]
        )))
    platform
}
