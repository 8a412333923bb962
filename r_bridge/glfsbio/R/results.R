#' Results of an object
#'
#' Whatever the class of an object, these find what the functions of this
#' package wrote: the genes of a selection, the record of a result, and which
#' results there are.
#'
#' @param x A result of this package: an object with results, or what a function
#'   returned for a matrix.
#' @param key Which result: its `key_added`.
#' @return `glfs_genes()`: the genes of a selection, of a panel that was
#'   evaluated or of a classifier, the best first. Where some of them have left
#'   `x`, a message says so.
#'
#'   `glfs_result()`: the record, a `GLFSResult`. It is a list, of which the page
#'   of the function that wrote it tells the elements, with what repeats the
#'   result beside them. Its tables are DataFrames that `write.csv()` takes, the
#'   first of them `as.data.frame()`. Several names in one place are one text,
#'   such as `"CST3, LYZ"`, and `""` where there is none.
#'
#'   `glfs_results()`: a data frame, one row per result in the order of writing:
#'   `key`; `kind`; and `writer`, the function that wrote it.
#'
#' @details The columns that a selection writes to `rowData()` are logical and
#'   numeric vectors, which other packages take as they are:
#'   `rowSubset(x, "glfs_selected")` of SingleCellExperiment, or
#'   `subset.row = rowSubset(x, "glfs_selected")` of scran and scater.
#'
#'   After `cbind()` or `rbind()` of two objects with results under one key the
#'   first is used; the next result under this key takes the place of both.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 5)
#' glfs_genes(x)
#' glfs_result(x)$preserved
#'
#' x <- glfs_evaluate_panel(x, labels = "bulk_labels")
#' glfs_results(x)
#' glfs_result(x, "glfs_evaluation")$per_label
#'
#' # the genes in other packages
#' panel <- SingleCellExperiment::rowSubset(x, "glfs_selected")
#' dim(x[panel, ])
#' @aliases GLFSResult-class show,GLFSResult-method
#' @export
glfs_genes <- function(x, key = "glfs") {
    check_string(key, "key")
    if (key %in% selection_keys(x))
        return(selection_of(x, key)$genes)
    record <- glfs_result(x, key)
    genes <- record[["genes"]]
    if (is(genes, "DataFrame") && !"panel" %in% names(genes))
        genes <- genes$gene[genes$in_data]
    if (!is.character(genes))
        refuse_kind(x, key, record)
    genes
}

refuse_kind <- function(x, key, record) refuse(
    "key", " = \"", key, "\" is a result of ", writers[[record[["kind"]]]],
    "(), and no selection that is in x: ", listed(selection_keys(x)), "."
)

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
    data.frame(key = as.character(names(kinds)), kind = unname(kinds),
        writer = unname(writers[kinds]))
}

# Records of this package in the order of writing, by their keys.
results_of <- function(x) {
    key <- paste0("glfs_", if (is_result(x)) x[["kind"]])
    records <- records_of(x, key, "x", "a result of this package")
    records <- Filter(function(one) is_result(one) &&
        one[["kind"]] %in% names(writers), records[!duplicated(names(records))])
    records[order(vapply(records, function(one) as.numeric(one$written), 0))]
}

# The key of the last result of a kind that has an element. A key may also be
# that of the panel.
last_key <- function(x, kind, key = NULL, element = "kind") {
    records <- Filter(function(one) one[["kind"]] == kind, results_of(x))
    of_panel <- paste0(key %or% "glfs", "_", kind)
    has <- names(Filter(function(one) !is.null(one[[element]]), records))
    if (is.null(key))
        return(c(rev(has), of_panel)[1L])
    check_string(key, "key")
    if (!key %in% names(records) && of_panel %in% names(records)) of_panel
    else key
}

selection_keys <- function(x)
    sub("_rank$", "", grep("_rank$", names(gene_table(x)), value = TRUE))

# The genes of a selection that are in an object, the best first, their ranks,
# and how many it has.
selection_of <- function(x, key) {
    table <- written(x, key, c("selected", "rank"))
    chosen <- which(table$selected %in% TRUE)
    chosen <- chosen[order(table$rank[chosen])]
    ranks <- table$rank[chosen]
    if (anyDuplicated(ranks))
        refuse("x", " has genes of the selection \"", key, "\", of which ",
            "several have one rank: use an object that it was made of, not ",
            "parts of several.")
    n <- results_of(x)[[key]][["n_genes"]]
    say_left(length(chosen), n, "genes of the selection", key)
    list(genes = table$gene[chosen], ranks = ranks, n = n %or% length(chosen))
}

say_left <- function(n, before, what, key)
    if (!is.null(before) && n < before)
        message("x has ", n, " of the ", before, " ", what, " \"", key, "\".")

# Columns that a selection wrote, from where its class keeps them.
written <- function(x, key, columns) {
    table <- gene_table(x)
    names <- paste0(key, "_", columns)
    absent <- setdiff(names, names(table))
    record <- results_of(x)[[key]]
    if (length(absent) > 0L && !is.null(record))
        refuse_kind(x, key, record)
    if (length(absent) > 0L)
        refuse("x", " has no ", paste(absent, collapse = ", "), ": run ",
            "glfs_select_genes() first, with key_added = \"", key, "\".")
    c(list(gene = row_names(x)), stats::setNames(as.list(table[names]), columns))
}

gene_table <- function(x) {
    if (is(x, "SummarizedExperiment")) SummarizedExperiment::rowData(x)
    else if (is(x, "ExpressionSet")) Biobase::fData(x)
    else if (inherits(x, "Seurat")) x[[seurat_assay(x, NULL)]][[]]
    else if (is_table(x)) x
    else if (is_result(x)) x[["rowData"]]
    else refuse("x", " is a ", class(x)[1L],
        ", not a result of glfs_select_genes().")
}

#' @rdname glfs_genes
#' @exportClass GLFSResult
setClass("GLFSResult", contains = "list",
    slots = c(names = "character", kept = "raw"))

setMethod("show", "GLFSResult", function(object) {
    cat("GLFSResult of ", writers[[object$kind]], "()\n", sep = "")
    for (name in setdiff(names(object), c("kind", "written", "versions"))) {
        value <- object[[name]]
        cat("$ ", name, ": ", if (length(dim(value)) == 2L)
            paste0(class(value)[1L], ", ", nrow(value), " x ", ncol(value))
        else if (is.list(value)) paste("list of", listed(names(value)))
        else listed(as.character(value)), "\n", sep = "")
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

#' Selected genes as gene sets, and all genes as a ranking
#'
#' A named list of sets and GMT files serve over-representation, a ranking of
#' all genes and RNK files methods such as fgsea. A ranking uses the score,
#' which has no ties; most weights are 0.
#'
#' @param x The result of [glfs_select_genes()] or [glfs_extend_panel()].
#' @param key One or more values of `key_added`; one set each.
#' @param gmt,rnk Name of a file to write, or NULL. An RNK file has one key.
#' @param overwrite Whether a file that exists may be replaced.
#' @return `glfs_gene_sets()`: a named list of the selected genes, the best
#'   first, invisibly where a file was written. `glfs_scores()`: the scores of
#'   all genes that were tested, with names, from the largest. Where genes have
#'   left `x` both hold the others, and a message says so.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 90, 1, 0.3), 40, dimnames = list(paste0("g", 1:40)))
#' for (i in 1:3) x[i, 30 * (i - 1) + 1:30] <- x[i, 30 * (i - 1) + 1:30] + 3
#' genes <- glfs_select_genes(x, n_genes = 3, n_comps = NULL)
#' glfs_gene_sets(genes, gmt = tempfile(fileext = ".gmt"))
#' head(glfs_scores(genes))
#' @export
glfs_gene_sets <- function(x, key = "glfs", gmt = NULL, rnk = NULL,
        overwrite = FALSE) {
    sets <- lapply(stats::setNames(nm = key),
        function(one) selection_of(x, one)$genes)
    if (!is.null(gmt))
        write_lines("gmt", gmt, Map(c, names(sets), "GLFS selection", sets),
            overwrite)
    if (!is.null(rnk) && length(key) != 1L)
        refuse("rnk", " takes the ranking of one key, not of ", length(key), ".")
    if (!is.null(rnk)) {
        scores <- glfs_scores(x, key)
        numbers <- format(scores, digits = 17L, trim = TRUE)
        write_lines("rnk", rnk, Map(c, names(scores), numbers), overwrite)
    }
    if (is.null(gmt) && is.null(rnk)) sets else invisible(sets)
}

#' @rdname glfs_gene_sets
#' @export
glfs_scores <- function(x, key = "glfs") {
    check_string(key, "key")
    table <- written(x, key, "score")
    scores <- stats::setNames(table$score, table$gene)
    scores <- sort(scores[!is.na(scores)], decreasing = TRUE)
    say_left(length(scores), results_of(x)[[key]][["n_tested"]],
        "scores of the selection", key)
    scores
}

# A file of tab-separated fields; what separates fields or lines is in no name.
write_lines <- function(argument, path, fields, overwrite) {
    check_string(path, argument)
    wrong <- grep("^$|[\t\r\n]", unlist(fields), value = TRUE)
    if (length(wrong) > 0L)
        refuse(argument, " cannot be written: the name ",
            encodeString(wrong[1L], quote = "\""),
            " is empty or has a tab or a line break; rename it.")
    if (file.exists(path) && (!overwrite || dir.exists(path)))
        refuse(argument, " = \"", path, "\" exists: choose another name, or set ",
            "overwrite = TRUE for a file.")
    lines <- enc2utf8(vapply(fields, paste, "", collapse = "\t"))
    text <- charToRaw(paste0(lines, "\n", collapse = ""))
    tryCatch(suppressWarnings(writeBin(text, path)),
        error = function(e) refuse(argument, " = \"", path,
            "\" cannot be written: choose another name."))
}
