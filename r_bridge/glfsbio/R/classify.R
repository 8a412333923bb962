#' Classify samples by Laplacian-regularised least squares
#'
#' Fits a classifier to all genes of `x`, which labels other samples. Samples
#' without a label take part in the graph of the samples and not in the squared
#' error. [glfs_classify()] selects the genes for it.
#'
#' @inheritParams glfs_select_genes
#' @param labels One label per sample, NA where it is unknown; or the name of a
#'   column of `colData()`, `pData()` or the metadata of a Seurat object.
#' @param graph Graph of the samples: `"neighbors"` or `"classes"`.
#' @param standardize Whether genes are divided by their standard deviation.
#' @param object An object of class `GLFSLapRLS`.
#' @param newdata Genes x samples, with row names among which the genes of the
#'   model are; of any class that `x` can have.
#' @param type `"class"` for labels, `"decision"` for decision values.
#' @param ... For `glfs_laprls()` empty; for `predict()` `assay.type`, or
#'   `assay` and `layer`, of `newdata`; for `coef()` ignored.
#'
#' @return `glfs_laprls()`: an object of class `GLFSLapRLS`, which is kept whole
#'   by `saveRDS()` and needs no Python to predict. Its slots are `classes`,
#'   `genes`, `coef` (genes x decisions) and `intercept`. `predict()`: a factor
#'   with one label per sample, or decision values: a vector for two classes,
#'   positive for the second, else a matrix with a column per class.
#' @inheritSection glfs_select_genes Errors
#' @examples
#' set.seed(1)
#' labels <- rep(c("B", "T"), each = 30)
#' x <- matrix(rnorm(40 * 60), 40, dimnames = list(paste0("g", 1:40)))
#' x["g7", labels == "T"] <- x["g7", labels == "T"] + 8
#' labels[c(TRUE, FALSE)] <- NA
#' model <- glfs_laprls(x, labels)
#' table(predict(model, x), rep(c("B", "T"), each = 30))
#' @aliases GLFSLapRLS-class predict,GLFSLapRLS-method coef,GLFSLapRLS-method
#'   show,GLFSLapRLS-method
#' @name glfs_laprls
NULL

#' @rdname glfs_laprls
#' @exportClass GLFSLapRLS
setClass("GLFSLapRLS", slots = c(
    classes = "character", genes = "character", coef = "matrix",
    intercept = "numeric"
))

fit <- function(x, options) {
    refuse_unknown("laprls", options)
    asked <- prepared("laprls", x, options)
    model <- call_python("laprls", adata = asked$parts, options = asked$options,
        of = asked$of)
    dimnames(model$coef) <- list(model$genes, if (ncol(model$coef) == 1L)
        model$classes[2L] else model$classes)
    do.call(methods::new, c("GLFSLapRLS", model))
}

#' @rdname glfs_laprls
#' @export
setMethod("predict", "GLFSLapRLS", function(
        object, newdata, type = c("class", "decision"), ...) {
    type <- match.arg(type)
    values <- gene_values(newdata, object@genes, ...)
    decision <- sweep(as.matrix(Matrix::crossprod(values, object@coef)), 2L,
        object@intercept, "+")
    if (type == "decision")
        return(if (ncol(decision) == 1L) drop(decision) else decision)
    best <- if (ncol(decision) == 1L) (decision > 0) + 1L
    else max.col(decision, ties.method = "first")
    stats::setNames(factor(object@classes[best], object@classes),
        colnames(values))
})

# Rows of the genes, out of an object of any class, as a matrix or dgCMatrix.
gene_values <- function(x, genes, ...) {
    absent <- setdiff(genes, rownames(x))
    if (length(absent) > 0L && all(genes %in% colnames(x)))
        refuse("newdata", " has genes in its columns: transpose its matrix.")
    if (length(absent) > 0L)
        refuse("newdata", " lacks ", length(absent), " genes of the model: ",
            listed(absent), ".")
    x <- if (has_samples(x)) x[genes, ] else x[genes, , drop = FALSE]
    values <- r_value(read_object(x, files = FALSE, ...)$X)
    dimnames(values) <- list(genes, colnames(x))
    values
}

#' @rdname glfs_laprls
#' @export
setMethod("coef", "GLFSLapRLS", function(object, ...) object@coef)

setMethod("show", "GLFSLapRLS", function(object) {
    cat("GLFSLapRLS: ", length(object@genes), " genes, classes ",
        paste(object@classes, collapse = ", "), "\n",
        "genes: ", listed(object@genes), "\n", sep = "")
})

#' Learn labels from a few genes
#'
#' Selects genes for the classification, and fits Laplacian-regularised least
#' squares to them. For samples of another object give the genes to
#' [glfs_laprls()], which keeps a classifier.
#'
#' @inheritParams glfs_select_genes
#' @param labels One label per sample, NA where it is unknown: a factor,
#'   strings, whole numbers or logical values. Or the name of a column of
#'   `colData()`, `pData()` or the metadata of a Seurat object. Samples without
#'   a label take part in the selection and in the graph of the classifier, and
#'   get a label.
#' @inherit glfs_select_genes return
#'
#' @section The label of a sample: The columns `glfs_class_decision.NK` and the
#'   like have the decision value of each class; the label has the largest.
#'   `coef` of the record has a row for each gene.
#' @inheritSection glfs_select_genes Errors
#' @seealso [glfs_laprls()], for the same classifier on all genes of a matrix.
#' @examples
#' x <- glfs_example()
#' known <- seq_len(ncol(x)) %% 2 == 0
#' learnt <- glfs_classify(x[, known], "bulk_labels", n_genes = 15)
#' genes <- glfs_result(learnt, "glfs_class")$genes
#' genes
#'
#' # other samples
#' model <- glfs_laprls(x[genes, known], "bulk_labels")
#' table(predict(model, x[, !known]), x$bulk_labels[!known])
#' @name glfs_classify
NULL
