#' Classify samples by Laplacian-regularised least squares
#'
#' Fits a classifier to all genes of `x`. Samples without a label take part in
#' the graph of the samples and not in the squared error. [glfs_classify()]
#' selects the genes for it, and keeps a classifier in a file.
#'
#' @inheritParams glfs_select_genes
#' @param labels One label per sample, NA where it is unknown; or the name of a
#'   column of `colData()`, `pData()` or the metadata of a Seurat object.
#' @param lambda1,lambda2 Weights of the graph and of the squared coefficients.
#' @param graph Graph of the samples: `"neighbors"` or `"classes"`.
#' @param n_neighbors Neighbours of a sample in the graph.
#' @param class_weight `"balanced"`, for rare labels to count as much as
#'   frequent ones, or NULL.
#' @param standardize Whether genes are scaled first.
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
#' @inheritSection glfs_evaluate_panel Errors
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
    asked <- prepared("laprls", x, options)
    model <- call_python("laprls", parts = asked$parts, options = asked$options)
    coef <- model$coef
    rownames(coef) <- model$genes
    colnames(coef) <- if (ncol(coef) == 1L) model$classes[2L] else model$classes
    methods::new("GLFSLapRLS",
        classes = model$classes, genes = model$genes, coef = coef,
        intercept = model$intercept
    )
}

#' @rdname glfs_laprls
#' @export
setMethod("predict", "GLFSLapRLS", function(
        object, newdata, type = c("class", "decision"), ...) {
    type <- match.arg(type)
    values <- gene_values(newdata, object@genes, ...)
    decision <- sweep(
        as.matrix(Matrix::crossprod(values, object@coef)), 2L, object@intercept,
        "+"
    )
    if (type == "decision")
        return(if (ncol(decision) == 1L) drop(decision) else decision)
    best <- if (ncol(decision) == 1L) (decision > 0) + 1L
    else max.col(decision, ties.method = "first")
    stats::setNames(
        factor(object@classes[best], levels = object@classes), colnames(values)
    )
})

# Rows of the genes, out of an object of any class, as a matrix or dgCMatrix.
gene_values <- function(x, genes, ...) {
    absent <- setdiff(genes, rownames(x))
    if (length(absent) > 0L && all(genes %in% colnames(x)))
        refuse("newdata", " has genes in its columns: transpose its matrix.")
    if (length(absent) > 0L)
        refuse(
            "newdata", " lacks ", length(absent), " genes of the model: ",
            listed(absent), "."
        )
    x <- if (is.matrix(x) || is(x, "Matrix")) x[genes, ,
        drop = FALSE] else x[genes, ]
    values <- r_value(read_object(x, files = FALSE, ...)$items[[1L]])
    dimnames(values) <- list(genes, colnames(x))
    values
}

#' @rdname glfs_laprls
#' @export
setMethod("coef", "GLFSLapRLS", function(object, ...) object@coef)

setMethod("show", "GLFSLapRLS", function(object) {
    cat(
        "GLFSLapRLS: ", length(object@genes), " genes, classes ",
        paste(object@classes, collapse = ", "), "\n",
        "genes: ", listed(object@genes), "\n",
        sep = ""
    )
})
