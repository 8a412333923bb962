#' Results of an object
#'
#' Whatever the class of an object, these find what the functions of this
#' package wrote.
#'
#' @param x A result of this package: an object with results, or what a function
#'   returned for a matrix.
#' @param key Which result: its `key_added`.
#' @return `glfs_genes()`: the genes of a selection, of a panel that was
#'   evaluated or of a classifier, the best first. `glfs_scores()`: the scores of
#'   a selection for all genes that were tested, with names, from the largest,
#'   without ties, as fgsea takes them. Where genes have left `x`, a message says
#'   so.
#'
#'   `glfs_result()`: the record, a `GLFSResult`. It is a list, of which the page
#'   of the function that wrote it tells the elements. Its tables are DataFrames
#'   that `write.csv()` takes, the first of them `as.data.frame()`.
#'
#'   `glfs_results()`: a data frame of `key` and `kind`, one row per result.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 5)
#' glfs_genes(x)
#' head(glfs_scores(x))
#' glfs_result(x)$preserved
#' glfs_results(x)
#' @aliases GLFSResult-class show,GLFSResult-method
#' @export
glfs_genes <- function(x, key = "glfs") {
    check_string(key, "key")
    if (key %in% selection_keys(x))
        return(selection_of(x, key))
    genes <- glfs_result(x, key)[["genes"]]
    if (is(genes, "DataFrame") && !"panel" %in% names(genes))
        genes <- genes$gene[genes$in_data]
    if (!is.character(genes))
        refuse("key", " = \"", key, "\" is no selection that is in x: ",
            listed(selection_keys(x)), ".")
    genes
}

#' @rdname glfs_genes
#' @export
glfs_scores <- function(x, key = "glfs") {
    check_string(key, "key")
    table <- written(x, key, "score")
    scores <- stats::setNames(table$score, table$gene)
    scores <- sort(scores[!is.na(scores)], decreasing = TRUE)
    say_left(length(scores), results_of(x)[[key]][["n_tested"]], "scores", key)
    scores
}

#' @rdname glfs_genes
#' @export
glfs_result <- function(x, key = "glfs") {
    check_string(key, "key")
    if (is_result(x))
        return(x)
    records <- results_of(x)
    if (!key %in% names(records))
        refuse("key", " = \"", key, "\" is no result of x: ",
            listed(names(records)), ".")
    records[[key]]
}

#' @rdname glfs_genes
#' @export
glfs_results <- function(x) {
    kinds <- vapply(results_of(x), `[[`, "", "kind")
    data.frame(key = as.character(names(kinds)), kind = unname(kinds))
}

# Records of this package in the order of writing, by their keys.
results_of <- function(x) {
    records <- tables_of(x)$records
    records <- Filter(is_result, records[!duplicated(names(records))])
    records[order(vapply(records, function(one) as.numeric(one$written), 0))]
}

selection_keys <- function(x)
    sub("_rank$", "", grep("_rank$", names(tables_of(x)$var), value = TRUE))

# The genes of a selection that are in an object, the best first.
selection_of <- function(x, key) {
    table <- written(x, key, c("selected", "rank"))
    chosen <- which(table$selected %in% TRUE)
    chosen <- chosen[order(table$rank[chosen])]
    if (anyDuplicated(table$rank[chosen]))
        refuse("x", " has several genes of one rank: take a whole object.")
    say_left(length(chosen), results_of(x)[[key]][["n_genes"]], "genes", key)
    table$gene[chosen]
}

say_left <- function(n, before, what, key)
    if (!is.null(before) && n < before)
        message("x has ", n, " of the ", before, " ", what, " of ", key, ".")

# Columns that a selection wrote, from where its class keeps them.
written <- function(x, key, columns) {
    table <- tables_of(x)$var
    names <- paste0(key, "_", columns)
    if (!all(names %in% names(table)))
        refuse("x", " has no ", paste(names, collapse = ", "), ": run ",
            "glfs_select_genes() first, with key_added = \"", key, "\".")
    c(list(gene = row_names(x)), stats::setNames(as.list(table[names]), columns))
}

#' @rdname glfs_genes
#' @exportClass GLFSResult
setClass("GLFSResult", contains = "list",
    slots = c(names = "character", kept = "raw"))

setMethod("show", "GLFSResult", function(object) {
    cat("GLFSResult of kind", object$kind, "\n")
    for (name in setdiff(names(object), c("kind", "written", "versions"))) {
        value <- object[[name]]
        cat("$ ", name, ": ", if (length(dim(value)) == 2L)
            paste(dim(value), collapse = " x ")
        else listed(as.character(names(value) %or% value)), "\n", sep = "")
    }
})

#' @export
as.data.frame.GLFSResult <- function(x, ...) {
    tables <- Filter(function(one) is(one, "DataFrame"), as.list(x))
    if (length(tables) == 0L)
        refuse("x", " has no table.")
    first <- intersect(c("measures", "table", names(tables)), names(tables))
    as.data.frame(tables[[first[1L]]], ...)
}
