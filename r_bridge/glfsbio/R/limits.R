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
#' @param expression Ranges of what is measured of each gene: a named list of
#'   least and most, such as `list(mean = c(-Inf, 3), cells_in_type = c(0.1,
#'   Inf))`; one number is the most.
#'   - `mean`: mean expression over all samples, in the matrix that genes are
#'     selected from;
#'   - `cells`: share of all samples that express the gene, from 0 to 1;
#'   - `counts`: mean raw counts in a sample, over all samples, as a platform
#'     detects them by its efficiency. It needs `counts_layer`;
#'   - `mean_in_type`, `cells_in_type`, `counts_in_type`: the same over the
#'     samples of the type where it is largest: at least one type reaches the
#'     least, and none is above the most. They need `groupby`.
#' @param total_counts Most raw counts of the whole panel in a cell: a named
#'   list. Imaging instruments cannot resolve molecules where there are too many.
#'   It needs `counts_layer`.
#'   - `cell`: as a mean over all cells;
#'   - `type`: as a mean over the cells of each type: one number, or a vector
#'     with names of types. It needs `groupby`;
#'   - `bit`: of the genes whose codewords share a bit, as a mean over all cells.
#'     It needs a platform with a codebook.
#' @param expected_counts Counts expected in a sample, as a mean over all
#'   samples, of genes that the data cannot show, such as markers of missing
#'   types: a vector with names of genes, whose means it replaces in limits on
#'   counts over all samples. It needs such a limit.
#' @param groups Sets of genes, such as families, the lineages of a panel sheet,
#'   or markers of types: a column of `rowData()` (a gene without a value is in
#'   none), a named list of names of genes, or the name of a file. They need
#'   `per_group`.
#' @param per_group Least and most genes of each group: `1` for at most one,
#'   `c(2, Inf)` for at least two, or of some groups by name, such as
#'   `list("T cells" = c(2, 10), HLA = 1)`. It needs `groups`.
#' @param nearly_identical TRUE: genes of nearly one sequence, such as HBA1 and
#'   HBA2, may be selected together. NULL: one of them, as probes cannot tell
#'   them apart, unless others are included by name.
#' @param per_type Least number of markers of each type. It needs `groupby`. A
#'   gene is a marker of a type if at least a quarter of its cells, and three,
#'   express it; if its mean there, of `expm1` of logarithms, is at least twice
#'   that in each other type; and if it is off elsewhere: all other cells express
#'   it at most half as often, or their mean is at most a tenth. A type with
#'   fewer markers needs as many as it has, which a warning says. Markers of your
#'   own are `groups` with a least number.
#' @param priority Factor, 0 or more, by which the gain of a gene is multiplied:
#'   a column of `rowData()`, or a vector with names of genes, where the factor
#'   of others is 1. NULL: 1 for all.
#' @param groupby Type of each sample: the name of a column of `colData()`, or a
#'   vector, which the selection stores in a column `glfs_groupby`. It needs a
#'   limit on types.
#' @param counts_layer Matrix of raw counts: an assay, an element of
#'   `assayData`, or a layer of a Seurat assay. It needs a limit on counts.
#' @param cost,budget Cost of a gene: one number, a column of `rowData()`, or a
#'   vector with the names of the genes; and the most that the panel may cost.
#'   Each needs the other.
#' @param name Name of the platform, such as `"xenium_v1"`, by which
#'   [glfs_order_panel()] knows the form of an order. A platform with a name, or
#'   with efficiencies, is an instrument other than the assay of `x`: every gene
#'   has the mean noise there. If no samples of it are given, labels as the
#'   target come with the structure, half each. NULL: no name.
#' @param genes Genes that can be ordered: names, a file of them, or a logical
#'   column of `rowData()`. Or the number of probes that can be made for each: a
#'   column of numbers, or a vector of numbers with names of genes, which need
#'   `min_probes`. NULL: all genes.
#' @param min_probes Least number of probes of a gene. It needs `genes` with
#'   numbers of probes.
#' @param efficiency Relative detection efficiency of each gene, as a share of
#'   the detection in `x`: one number, a column of `rowData()`, a vector with
#'   names of genes, or a data frame with rows named by genes and the columns
#'   `efficiency`, `spread`, `off_target` and `signal`, such as the value of
#'   [glfs_estimate_efficiency()]. A gene of small efficiency shows its
#'   structure in proportion to it, relative to the median; a median below 1 is
#'   more noise. Or samples that the platform measured, better 1,000 than 200,
#'   as an object of the kinds that [glfs_select_genes()] takes: `signal` is
#'   measured in them. NULL: 1.
#' @param spread Standard deviation of the natural logarithm of `efficiency`,
#'   which it needs: one number, a column of `rowData()`, or a vector with names
#'   of genes, where others have 0. NULL: that of a data frame in `efficiency`,
#'   otherwise 0.
#' @param failure Probability that a gene fails: one number, a column of
#'   `rowData()`, or a vector with names of genes, where others have 0. NULL: 0.
#' @param case `"mean"`: the panel preserves most in the mean over 20 draws of
#'   efficiencies and failures. `"worst"`: in the worst of these draws, which
#'   needs a spread or a `failure`. `case` needs `efficiency` or `failure`.
#'   NULL: `"mean"`.
#' @param off_target Share of the counts of a gene that comes from other genes,
#'   such as paralogs, from 0 to 1, given as `failure` is. It reduces the
#'   efficiency. NULL: that of a data frame in `efficiency`, otherwise 0.
#' @param max_off_target Largest such share of a gene that can be ordered. It
#'   needs `off_target` or `efficiency`, and changes nothing where neither has
#'   such shares. NULL: any.
#' @param signal Structure of each gene in samples that the platform measured,
#'   in units of its noise there: a column of `rowData()`, or a vector with
#'   names of genes, where others have 0. It takes the place of `efficiency` in
#'   the selection. NULL: that of a data frame in `efficiency`, otherwise
#'   unknown.
#' @param codebook Codeword of each gene, for `total_counts` and forecasts:
#'   a vector of texts such as `"0110"` with names of genes, a matrix or data
#'   frame of 0 and 1 with rows named by genes, or a file of MERSCOPE's form. A
#'   gene without a codeword cannot be ordered. NULL: none.
#' @param spillover Share of the molecules of each cell that are assigned to
#'   neighbouring cells, from 0 to below 1. It is part of the forecast of
#'   [glfs_evaluate_panel()] and does not change the selection. NULL: 0.
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

# Without names Python would take an empty one for a list of values.
as_record <- function(options) named_list(Filter(Negate(is.null), options))

# Efficiencies and codewords of a table, as vectors with names of genes.
vectors_of_tables <- function(options) {
    table <- options[["efficiency"]]
    if (is.data.frame(table) || is(table, "DataFrame")) {
        columns <- c("efficiency", "spread", "off_target", "signal")
        for (name in c("efficiency", setdiff(columns, names(options))))
            options[[name]] <- if (!is.null(table[[name]]))
                stats::setNames(table[[name]], rownames(table))
    }
    codebook <- options[["codebook"]]
    if (length(dim(codebook)) == 2L) {
        word <- function(bits) paste(as.integer(bits), collapse = "")
        bits <- as.matrix(codebook)
        codebook <- stats::setNames(apply(bits, 1L, word), rownames(bits))
    }
    if (!is.null(names(codebook)))
        options[["codebook"]] <- as.list(codebook)
    neighbors <- options[["spillover_to"]]
    if (is.data.frame(neighbors) || is.matrix(neighbors) ||
            is(neighbors, "DataFrame")) {
        neighbors <- as.matrix(neighbors)
        rows <- stats::setNames(seq_len(nrow(neighbors)), rownames(neighbors))
        options[["spillover_to"]] <-
            lapply(rows, function(row) as.list(neighbors[row, ]))
    }
    options
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
read_platform <- function(platform, x, place, named = FALSE) {
    if (named && is_string(platform))
        return(platform)
    fields <- length(platform) == 0L || !is.null(names(platform))
    if (!is_record(platform) || !fields)
        refuse(
            "platform", " must be ", if (named) "a name, or ",
            "made by glfs_platform(), not a ", class(platform)[1L], "."
        )
    for (name in c("efficiency", "spillover_to")) {
        cells <- platform[[name]]
        if (length(dim(cells)) == 2L) {
            same <- identical(class(cells), class(x))
            there <- place[same & names(place) != "counts_layer"]
            platform[[name]] <- do.call(read_object, c(list(cells), there))
        }
    }
    platform
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
        parts <- Map(function(part, values, x) {
            values <- sample_labels(values, x, "labels")
            part$obs <- with_columns(part$obs, list(glfs_labels = values))
            part
        }, parts, unname(labels), list(reference, spatial))
        labels <- "glfs_labels"
    }
    call_python(
        "estimate_efficiency",
        reference = parts[[1L]], spatial = parts[[2L]], labels = labels,
        of = parts[[1L]]$of
    )
}
