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
    if (!is.null(rnk) && length(key) != 1L)
        refuse("rnk", " takes the ranking of one key, not of ", length(key),
            ".")
    if (!is.null(gmt)) {
        check_fields(c(names(sets), unlist(sets)), "gmt")
        write_whole(
            vapply(names(sets), function(name)
                paste(c(name, "GLFS selection", sets[[name]]), collapse = "\t"),
                ""),
            gmt, "gmt", overwrite
        )
    }
    if (!is.null(rnk)) {
        scores <- glfs_scores(x, key)
        check_fields(names(scores), "rnk")
        write_whole(
            paste(names(scores), format(scores, digits = 17L, trim = TRUE),
                sep = "\t"),
            rnk, "rnk", overwrite
        )
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

# What separates fields or lines cannot be in a name.
check_fields <- function(names, argument) {
    wrong <- grep("^$|[\t\r\n]", names, value = TRUE)
    if (length(wrong) > 0L)
        refuse(
            argument, " cannot be written: the name ",
            encodeString(wrong[1L], quote = "\""),
            " is empty or has a tab or a line break; rename it."
        )
}

# Whole or not at all.
write_whole <- function(lines, path, name, overwrite) {
    check_string(path, name)
    if (dir.exists(path))
        refuse(name, " = \"", path, "\" is a folder: name a file in it.")
    if (file.exists(path) && !overwrite)
        glfs_stop(path,
            " exists: choose another name, or set overwrite = TRUE.")
    if (!dir.exists(dirname(path)))
        glfs_stop("The folder ", dirname(path),
            " does not exist: create it first.")
    part <- tempfile(".glfs-", dirname(path))
    on.exit(unlink(part))
    connection <- file(part, "wb")
    writeLines(enc2utf8(lines), connection, useBytes = TRUE)
    close(connection)
    if (!suppressWarnings(file.rename(part, path)))
        glfs_stop(path, " cannot be written: choose another name.")
}
