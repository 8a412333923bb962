#' Learn labels from a few genes, and label other samples
#'
#' `glfs_classify()` selects genes for the classification and fits
#' Laplacian-regularised least squares to them. `glfs_predict()` applies the
#' result to other samples, in the same session or, from a file, in another.
#' Files are exchanged with Python and its command line as they are.
#'
#' @inheritParams glfs_select_genes
#' @param x Log-normalised expression, genes x samples, of any class that
#'   [glfs_select_genes()] takes. For `glfs_predict()` samples that were
#'   prepared as those that were learnt from, with the same names of genes, in
#'   any order. For `glfs_write_classifier()` a result of `glfs_classify()`.
#' @param labels One label per sample, NA where it is unknown: a factor,
#'   strings, whole numbers or logical values. Or the name of a column of
#'   `colData()`, `pData()` or the metadata of a Seurat object. Samples without
#'   a label take part in the selection and in the graph of the classifier, and
#'   get a label.
#' @param n_genes Number of genes. Several numbers, such as `1:30`: the best of
#'   them by cross-validation, all selection inside the folds. NULL: among 1 to
#'   30.
#' @param train Samples to learn from: a logical vector, or a logical column of
#'   `colData()`. The others take no part, and are predicted. NULL: all.
#' @param graph Target of the selection. `"classes"`: the graph of every two
#'   samples with one label, by the original GLFS. `"neighbors"`: the structure,
#'   so labels are used by the classifier only. `"labels"`: separation of the
#'   labels. `"auto"`: `"classes"` up to 400 samples to learn from, else
#'   `"labels"`.
#' @param lambda1,lambda2 Weights of the graph and of the squared coefficients
#'   in the classifier. `lambda1 = NULL`: 1 on the graph of every two samples
#'   with one label, which is taken where the genes are selected on it and all
#'   of at most 400 samples to learn from have a label; else 0.1 on the graph of
#'   nearest neighbours.
#' @param n_comps Principal components that span the structure in the selection;
#'   NULL: without PCA; `"auto"`: without PCA up to 100 samples, 50 components
#'   above.
#' @param include,exclude,ignore As in [glfs_select_genes()]. Excluded and
#'   ignored genes take no part.
#' @param symbols Column of `rowData()` with further names of the genes, which
#'   are kept with the classifier.
#' @param cv Number of folds, where the number of genes is chosen.
#' @param random_state Seed of the folds. NULL: drawn from R's generator, so
#'   `set.seed()` repeats the result.
#' @param model A result of `glfs_classify()`, the value of
#'   `glfs_read_classifier()`, or the name of a file of
#'   `glfs_write_classifier()`. Of a classification under another `key_added`,
#'   its record, such as `metadata(x)$mine`.
#' @param missing What to do where genes of the classifier are not in `x`:
#'   `"raise"` an error, `"warn"`, or `"ignore"` it. Such genes are taken at
#'   their mean over the samples that were learnt from.
#' @param unsure Samples with a smaller margin get no label, NA. 1 is the margin
#'   of a typical sample that was learnt from. NULL: all get a label.
#' @param path Name of the file, which ends in `.json`.
#' @param key Classification: its `key_added`.
#' @param overwrite Whether a file that exists may be replaced.
#'
#' @return `glfs_classify()` and `glfs_predict()`: the object, with columns of
#'   the samples and a record in `metadata(x)$glfs_class`, `notes(x)` or
#'   `Misc(x)`; for a matrix, the record, a list, with DataFrames `colData` and
#'   `rowData` of the columns.
#'
#'   - `glfs_class_predicted`: the label, a factor with all classes.
#'   - `glfs_class_margin`: the difference between the largest decision value
#'     and the second, divided by its median for the labelled samples that were
#'     learnt from. 0 is undecided, 1 as clear as in a typical sample. It is no
#'     probability. A sample of a type that the classifier does not know may
#'     have a large one.
#'   - `glfs_class_decision`: the decision value for two classes, positive for
#'     the second; with more classes one column each, such as
#'     `glfs_class_decision.NK`.
#'
#'   `glfs_classify()` writes for the genes `glfs_class_selected`, whether the
#'   classifier uses the gene; `glfs_class_weight`, its weight in the selection;
#'   and `glfs_class_coef`, its coefficient (with more than two classes one
#'   column each).
#'
#'   `glfs_write_classifier()`: `path`, invisibly. `glfs_read_classifier()`: the
#'   record.
#'
#' @section The record: The classifier: `classes`, `genes` (the best first),
#' their `symbols`, `coef` (genes x decisions), `intercept`, `gene_means` and
#' `typical_margin`. About it: `params`, `n_genes`, `n_labelled`,
#' `n_unlabelled`; `lam`, the penalty of the selection with `graph = "classes"`;
#' `tried`, `n_folds` and `cv_errors` (out of `n_tested`) where the number of
#' genes was chosen; `test_errors` and `n_test` where labels are known outside
#' `train`; `versions`. `glfs_predict()` adds `prediction`, with `unsure`,
#' `n_unsure`, and `absent`, the genes that were not there.
#'
#' A file is JSON. It holds no samples, but for the means of the genes over
#' those that were learnt from, and nothing in it can be executed.
#'
#' @inheritSection glfs_evaluate_panel Errors
#' @seealso [glfs_laprls()], for the same classifier on all genes of a matrix.
#' @examples
#' x <- glfs_example()
#' known <- seq_len(ncol(x)) %% 2 == 0
#' learnt <- glfs_classify(x[, known], "bulk_labels", n_genes = 15)
#' glfs_result(learnt, "glfs_class")$genes
#'
#' path <- tempfile(fileext = ".json")
#' glfs_write_classifier(learnt, path)
#' new <- glfs_predict(x[, !known], path, unsure = 0.1)
#' table(new$glfs_class_predicted, new$bulk_labels, useNA = "ifany")
#' @name glfs_classify
NULL

#' @rdname glfs_classify
#' @export
glfs_write_classifier <- function(x, path, key = "glfs_class",
    overwrite = FALSE) {
    check_string(path, "path")
    check_string(key, "key")
    call_python(
        "write_classifier",
        record = plain_classifier(classifier_of(x, key, "x")),
        path = path.expand(path), overwrite = overwrite
    )
    invisible(path)
}

#' @rdname glfs_classify
#' @export
glfs_read_classifier <- function(path) {
    check_string(path, "path")
    name_matrices(call_python("read_classifier", path = path.expand(path)))
}

check_model <- function(model) {
    if (is_string(model)) path.expand(model)
    else plain_classifier(classifier_of(model, "glfs_class", "model"))
}

classifier_of <- function(x, key, argument) {
    wanted <- paste0(
        "a result of glfs_classify() or glfs_read_classifier()",
        if (argument == "model") ", or a file"
    )
    records <- records_of(x, key, argument, wanted)
    if (!is_record(records[[key]]))
        refuse(
            argument, " has no classifier under \"", key,
            "\": run glfs_classify()",
            if (key != "glfs_class") paste0(" with key_added = \"", key, "\""),
            " first."
        )
    records[[key]]
}

# With lists that stay lists where a classifier has one gene.
plain_classifier <- function(record) {
    lists <- c("genes", "symbols", "classes", "intercept", "gene_means")
    tables <- vapply(record, is, NA, "DataFrame")
    items <- Map(function(value, name) {
        if (is.character(value) && name %in% lists) plain_strings(value)
        else if (is.matrix(value)) plain_dense(unname(value) + 0)
        else if (name %in% lists) as.vector(value)
        else plain_argument(value, name)
    }, record[!tables], names(record)[!tables])
    plain_list(items, names(items))
}
