#' Learn labels from a few genes
#'
#' Selects genes for the classification, and fits Laplacian-regularised least
#' squares to them.
#'
#' @inheritParams glfs_select_genes
#' @param labels One label per sample, NA where it is unknown: a factor,
#'   strings, whole numbers or logical values. Or the name of a column of
#'   `colData()`, `pData()` or the metadata of a Seurat object. Samples without
#'   a label take part in the graph of the classifier, and get a label.
#' @param object The record of the classifier, a `GLFSResult`, which
#'   `saveRDS()` keeps and which needs no Python.
#' @param newdata Other samples, genes x samples, with row names among which the
#'   genes of the classifier are; of any class that `x` can have.
#' @param type `"class"` for labels, `"decision"` for decision values.
#' @return `glfs_classify()`: `x` with the columns and the record below.
#'   `predict()`: a factor with one label per sample, or decision values with a
#'   column per class, of which the largest is that of the label.
#' @inheritSection glfs_select_genes Errors
#' @examples
#' x <- glfs_example()
#' known <- seq_len(ncol(x)) %% 2 == 0
#' learnt <- glfs_classify(x[, known], "bulk_labels", n_genes = 15)
#' model <- glfs_result(learnt, "glfs_class")
#' table(predict(model, x[, !known]), x$bulk_labels[!known])
#' @name glfs_classify
NULL

#' @rdname glfs_classify
#' @export
predict.GLFSResult <- function(object, newdata, type = c("class", "decision"),
        assay.type = NULL, assay = NULL, layer = NULL, ...) {
    type <- match.arg(type)
    genes <- object$genes
    if (object$kind != "class")
        refuse("object", " is no result of glfs_classify().")
    absent <- setdiff(genes, rownames(newdata))
    if (length(absent) > 0L)
        refuse("newdata", " lacks ", length(absent), " genes of the model: ",
            listed(absent), ".")
    x <- if (has_samples(newdata)) newdata[genes, ]
    else newdata[genes, , drop = FALSE]
    place <- list(assay.type = assay.type, assay = assay, layer = layer)
    values <- r_value(read_object(x, place, files = FALSE)$X)
    decision <- sweep(as.matrix(Matrix::crossprod(values, object$coef)), 2L,
        object$intercept, "+")
    if (ncol(decision) == 1L)
        decision <- cbind(-decision, decision)
    dimnames(decision) <- list(colnames(x), object$classes)
    if (type == "decision")
        return(decision)
    best <- max.col(decision, ties.method = "first")
    stats::setNames(factor(object$classes[best], object$classes), colnames(x))
}
