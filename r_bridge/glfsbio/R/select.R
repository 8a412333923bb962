#' Select the few genes that keep the structure of the samples
#'
#' A panel is chosen gene by gene. Each gene is the one that lowers most the error
#' of Laplacian-regularised least squares, when it is measured beside the genes
#' before it. No labels are used. The work is done by
#' `glfs_bio.pp.select_genes()` in Python, with the same result.
#'
#' @param x Genes x samples, logarithmised: a matrix, a sparse or delayed matrix, a
#'   SummarizedExperiment or SingleCellExperiment, an ExpressionSet, or a Seurat
#'   object.
#' @param n_genes How many genes. `NULL`: the fewest that keep 80 % of the structure
#'   that all genes keep, at most 500; with one of the paper's objectives, all genes
#'   of the solution.
#' @param ... Further arguments of `glfs_bio.pp.select_genes()`, by name:
#'   `objective`, `swaps`, `lambda1`, `n_comps` (`NULL`: full rank, for up to some
#'   hundred samples), `batch_key` (a column of `colData`), `include` and `exclude`
#'   (names of genes, or of logical columns of `rowData`), `mask_var`, `use_rep` (a
#'   reduced dimension), `key_added`, `subset` and the others. All defaults are
#'   those of Python. An argument that Python does not know is an error of class
#'   `python.TypeError`.
#' @param assay The matrix to use: name of an assay of a SummarizedExperiment, of
#'   an element of `assayData` of an ExpressionSet, or of an assay of a Seurat
#'   object, whose default assay is taken when it is NULL.
#'
#' @details The error is the variance and the squared bias of the estimate, for the
#'   structure of the samples: the directions in which their expression varies.
#'   Panels are nested: the first k genes of a larger panel are the panel of k
#'   genes, unless `swaps = TRUE`. `objective = "exact"` is the selection of the
#'   paper, gradient-based Laplacian feature selection (Wang and Goldenberg): it
#'   minimises the variance alone, with a penalty `lam` on the weights of the genes.
#'   `objective = "printed"` takes the formula that the paper prints for it.
#'
#'   Genes in `exclude` cannot be selected, and still count as structure that the
#'   panel should keep. Genes outside `mask_var` are not looked at.
#'
#'   A reduced dimension `"PCA"` (for Seurat, `"pca"`) is re-used, as in Python;
#'   `use_rep = "X"` computes another. For a Seurat object, `slot` names the slot
#'   (or layer) of the assay, by default `"data"`. A delayed matrix is realised in
#'   memory. Values in `...` are converted so: `NULL` is None, vectors of length
#'   one are scalars, whole numbers are integers. For genes by pattern pass
#'   `grep("^MT-", rownames(x), value = TRUE)`.
#'
#' @return The object, with the columns below in `rowData()`, `fData()` or the
#'   metadata of the features, and a record of the selection in `metadata(x)$glfs`,
#'   `notes(x)$glfs` or `Misc(x, "glfs")`. For a matrix, a DataFrame with these
#'   columns, the record in its `metadata()`. `key_added` replaces the prefix `glfs`.
#'
#'   - `glfs_weight`: the weights, between 0 and 1, of the best panel of so many
#'     genes if genes could be taken in part. With one of the paper's objectives,
#'     the weight of at least 0 that the paper gives the gene.
#'   - `glfs_loss`: what the panel loses without the gene, as a share of what all
#'     genes keep; 0 for genes that are not selected.
#'   - `glfs_score`: larger is better, without ties; NA for genes that could not be
#'     selected.
#'   - `glfs_rank`: 1 is the best gene; NA for genes that could not be selected.
#'   - `glfs_selected`: whether the gene is selected.
#'   - `glfs_included`: whether `include` put the gene in.
#'
#' @section The record:
#' `metadata(x)$glfs` is a list:
#'
#' - `params`, `method`, `objective` and `versions`: how the selection was made.
#' - `n_genes` and `n_tested`: how many genes were selected, and out of how many.
#' - `kept`: the share of the structure that the first 1, 2, ... genes of the panel
#'   keep, of what all genes keep.
#' - `of_best_possible`: a share for panels of 1, 2, ... genes. Of what the best
#'   possible panel of that size keeps, the panel keeps at least this share. NA for
#'   panels of included genes alone. The paper's objectives do not have it.
#' - `curve`: `n_genes` and `kept` of panels larger than the selection too, where
#'   `n_genes` was NULL.
#' - `reused`: whether the `representation` was a reduced dimension of the object;
#'   its `graph` is computed for every selection that R asks for. `replaced`:
#'   whether the reduced dimension had to be replaced, because it missed directions
#'   in which genes vary beyond their noise.
#' - `graph_components`: the number of connected components of the graph of the
#'   samples. `assay_noise`: the variance of the noise of the assay that will
#'   measure the panel, as it was assumed.
#' - `lam`, `path`, `kkt`, `converged` and `n_iter`: with the paper's objectives
#'   only, the penalty, the path of solutions along it, the largest violation of the
#'   optimality conditions, whether the solver converged, and its iterations.
#'
#' @section Errors:
#' Errors have class `glfs_error`; those of Python also `python.ValueError` and the
#' like, and an element `traceback`. Missing values in the matrix and duplicate row
#' names are errors. Warnings of Python become warnings of class
#' `python.UserWarning`.
#'
#' @examples
#' if (glfs_available()) {
#'     # 90 samples in three groups; genes 1 to 3 tell them apart
#'     set.seed(1)
#'     x <- matrix(rnorm(40 * 90, 1, 0.3), 40, dimnames = list(paste0("g", 1:40)))
#'     for (i in 1:3) x[i, 30 * (i - 1) + 1:30] <- x[i, 30 * (i - 1) + 1:30] + 3
#'     genes <- glfs_select_genes(x, n_genes = 3, n_comps = NULL)
#'     rownames(genes)[genes$glfs_selected]
#' }
#' @export
#' @name glfs_select_genes
#' @aliases glfs_select_genes,ANY-method
#'   glfs_select_genes,SummarizedExperiment-method
#'   glfs_select_genes,ExpressionSet-method
setGeneric(
    "glfs_select_genes",
    function(x, n_genes = NULL, ...) standardGeneric("glfs_select_genes"),
    signature = "x"
)

#' @rdname glfs_select_genes
#' @export
setMethod("glfs_select_genes", "ANY", function(x, n_genes = NULL, ..., assay = NULL) {
    run("select_genes", x, list(n_genes = n_genes, ...), "glfs", assay)
})

#' @rdname glfs_select_genes
#' @export
setMethod("glfs_select_genes", "SummarizedExperiment",
    function(x, n_genes = NULL, ..., assay = "logcounts") {
        run("select_genes", x, list(n_genes = n_genes, ...), "glfs", assay)
    }
)

#' @rdname glfs_select_genes
#' @export
setMethod("glfs_select_genes", "ExpressionSet",
    function(x, n_genes = NULL, ..., assay = "exprs") {
        run("select_genes", x, list(n_genes = n_genes, ...), "glfs", assay)
    }
)

#' How often a gene is selected when samples are left out
#'
#' Repeats the selection on random subsets of the samples, by
#' `glfs_bio.tl.stability()` in Python.
#'
#' @inheritParams glfs_select_genes
#' @param ... Further arguments of `glfs_bio.tl.stability()`, by name, among them
#'   `n_resamples`, `fraction`, and those of [glfs_select_genes()].
#' @return The object, with the frequencies in columns of `rowData()`, `fData()`
#'   or the metadata of the features whose names begin with `glfs_stability`, and
#'   the parameters in `metadata(x)$glfs_stability`, `notes(x)` or `Misc(x)`. For a
#'   matrix, a DataFrame.
#' @examples
#' if (glfs_available()) {
#'     set.seed(1)
#'     x <- matrix(rnorm(40 * 90, 1, 0.3), 40, dimnames = list(paste0("g", 1:40)))
#'     for (i in 1:3) x[i, 30 * (i - 1) + 1:30] <- x[i, 30 * (i - 1) + 1:30] + 3
#'     glfs_stability(x, n_genes = 3, n_resamples = 5, n_comps = NULL)
#' }
#' @export
#' @name glfs_stability
#' @aliases glfs_stability,ANY-method glfs_stability,SummarizedExperiment-method
#'   glfs_stability,ExpressionSet-method
setGeneric(
    "glfs_stability",
    function(x, n_genes = NULL, ...) standardGeneric("glfs_stability"),
    signature = "x"
)

#' @rdname glfs_stability
#' @export
setMethod("glfs_stability", "ANY", function(x, n_genes = NULL, ..., assay = NULL) {
    run("stability", x, list(n_genes = n_genes, ...), "glfs_stability", assay)
})

#' @rdname glfs_stability
#' @export
setMethod("glfs_stability", "SummarizedExperiment",
    function(x, n_genes = NULL, ..., assay = "logcounts") {
        run("stability", x, list(n_genes = n_genes, ...), "glfs_stability", assay)
    }
)

#' @rdname glfs_stability
#' @export
setMethod("glfs_stability", "ExpressionSet",
    function(x, n_genes = NULL, ..., assay = "exprs") {
        run("stability", x, list(n_genes = n_genes, ...), "glfs_stability", assay)
    }
)

run <- function(target, x, options, key, assay) {
    if ("inplace" %in% names(options))
        glfs_stop("inplace has no meaning in R: the result is a new object.")
    place <- list(assay = assay)[!is.null(assay)]
    if (inherits(x, "Seurat")) {
        place$slot <- options$slot
        options$slot <- NULL
    }
    parts <- do.call(read_object, c(list(x), place))
    result <- call_python(target, parts = parts, options = plain_arguments(options))
    if (!is.null(options$key_added))
        key <- options$key_added
    ranks <- grep("_rank$", names(result$var), value = TRUE)
    for (name in ranks)
        result$var[[name]] <- as.integer(result$var[[name]])
    do.call(write_object, c(list(x, result, key), place["assay"][!is.null(assay)]))
}
