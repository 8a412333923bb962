#' Classify samples by Laplacian-regularised least squares
#'
#' Fits `glfs_bio.LapRLSClassifier` to all genes of `x`. Samples without a label take
#' part in the graph of the samples and not in the squared error. [glfs_classify()]
#' selects the genes for it, and keeps a classifier in a file.
#'
#' @inheritParams glfs_select_genes
#' @param labels One label per sample, NA where it is not known; or the name of a
#'   column of `colData()`, `pData()` or the metadata of a Seurat object.
#' @param lambda1,lambda2 Weights of the graph and of the squared coefficients.
#' @param ... Further arguments, by name: `graph`, of the samples, `"neighbors"` or
#'   `"classes"`; `n_neighbors`, the neighbours of a sample in it; `laplacian`,
#'   `"normalized"` or `"unnormalized"`; `class_weight`, `"balanced"`, so that rare labels
#'   count like frequent ones, or NULL; `standardize`, whether genes are scaled first.
#' @param object An object of class `GLFSLapRLS`.
#' @param newdata Genes x samples, with row names among which the genes of the
#'   model are; of any class that `x` can have.
#' @param type `"class"` for labels, `"decision"` for decision values.
#' @param assay As in [glfs_select_genes()].
#'
#' @return `glfs_laprls()`: an object of class `GLFSLapRLS`, which is kept whole by
#'   `saveRDS()` and needs no Python to predict. Its slots are `classes`, `genes`,
#'   `coef` (genes x decisions) and `intercept`. `predict()`: a factor with one label a sample, or
#'   decision values: a vector for two classes, positive for the second, else a
#'   matrix with a column a class.
#' @examples
#' if (glfs_available()) {
#'     set.seed(1)
#'     labels <- rep(c("B", "T"), each = 30)
#'     x <- matrix(rnorm(40 * 60), 40, dimnames = list(paste0("g", 1:40)))
#'     x["g7", labels == "T"] <- x["g7", labels == "T"] + 8
#'     labels[c(TRUE, FALSE)] <- NA
#'     model <- glfs_laprls(x, labels)
#'     table(predict(model, x), rep(c("B", "T"), each = 30))
#' }
#' @export
#' @name glfs_laprls
#' @aliases glfs_laprls,ANY-method glfs_laprls,SummarizedExperiment-method
#'   glfs_laprls,ExpressionSet-method GLFSLapRLS-class predict,GLFSLapRLS-method
#'   coef,GLFSLapRLS-method show,GLFSLapRLS-method
setGeneric(
    "glfs_laprls",
    function(x, labels, ...) standardGeneric("glfs_laprls"),
    signature = "x"
)

#' @rdname glfs_laprls
#' @exportClass GLFSLapRLS
setClass("GLFSLapRLS", slots = c(
    classes = "character", genes = "character", coef = "matrix",
    intercept = "numeric"
))

#' @rdname glfs_laprls
#' @export
setMethod("glfs_laprls", "ANY",
    function(x, labels, lambda1 = 0.1, lambda2 = 10, ...,
             assay = NULL) {
        options <- list(lambda1 = lambda1, lambda2 = lambda2, ...)
        if (inherits(x, "Seurat") && is_string(labels))
            labels <- take_column(x[[]], labels)
        fit(x, labels, options, assay)
    }
)

#' @rdname glfs_laprls
#' @export
setMethod("glfs_laprls", "SummarizedExperiment",
    function(x, labels, lambda1 = 0.1, lambda2 = 10, ...,
             assay = "logcounts") {
        options <- list(lambda1 = lambda1, lambda2 = lambda2, ...)
        if (is_string(labels))
            labels <- take_column(SummarizedExperiment::colData(x), labels)
        fit(x, labels, options, assay)
    }
)

#' @rdname glfs_laprls
#' @export
setMethod("glfs_laprls", "ExpressionSet",
    function(x, labels, lambda1 = 0.1, lambda2 = 10, ...,
             assay = "exprs") {
        options <- list(lambda1 = lambda1, lambda2 = lambda2, ...)
        if (is_string(labels))
            labels <- take_column(Biobase::pData(x), labels)
        fit(x, labels, options, assay)
    }
)

take_column <- function(table, name) {
    if (!name %in% names(table))
        refuse(
            "labels", " = \"", name, "\" is not a column of the samples: ",
            listed(names(table)), "."
        )
    table[[name]]
}

fit <- function(x, labels, options, assay) {
    labels <- sample_labels(labels, ncol(x))
    parts <- do.call(read_object, c(list(x), list(assay = assay)[!is.null(assay)]))
    parts$items[[3L]] <- plain_table(S4Vectors::DataFrame(labels = labels))
    model <- call_python(
        "laprls", parts = parts, label = plain_argument("labels"),
        options = plain_arguments(options)
    )
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
setMethod("predict", "GLFSLapRLS",
    function(object, newdata, type = c("class", "decision"), assay = NULL, ...) {
        type <- match.arg(type)
        values <- gene_values(newdata, object@genes, assay)
        decision <- sweep(
            as.matrix(Matrix::crossprod(values, object@coef)), 2L,
            object@intercept, "+"
        )
        if (type == "decision")
            return(if (ncol(decision) == 1L) drop(decision) else decision)
        best <- if (ncol(decision) == 1L) (decision > 0) + 1L
        else max.col(decision, ties.method = "first")
        stats::setNames(
            factor(object@classes[best], levels = object@classes), colnames(values)
        )
    }
)

# Rows of the genes, out of an object of any class, as a matrix or dgCMatrix.
gene_values <- function(x, genes, assay) {
    absent <- setdiff(genes, rownames(x))
    if (length(absent) > 0L)
        refuse(
            "newdata", " lacks ", length(absent), " genes of the model: ", listed(absent), "."
        )
    x <- if (is.matrix(x) || is(x, "Matrix")) x[genes, , drop = FALSE] else x[genes, ]
    parts <- do.call(read_object, c(list(x), list(assay = assay)[!is.null(assay)]))
    matrix <- parts$items[[1L]]
    values <- if (matrix$kind == "sparse") r_value(matrix) else matrix$values
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
