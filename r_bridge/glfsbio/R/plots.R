#' Plots of a panel and of how good it is
#'
#' ggplot objects of results, to which scales, themes and
#' labels can be added with `+`. Values of single cells are columns of
#' `colData()`, which `scater::plotReducedDim()` and `scater::plotColData()`
#' take by name, for example `scater::plotReducedDim(x, "UMAP", colour_by =
#' "glfs_evaluation_unexplained")`.
#'
#' @param x A result of [glfs_select_genes()] or [glfs_extend_panel()] for
#'   `glfs_plot_panel()`, and of [glfs_evaluate_panel()] for the others: with
#'   `sizes` for `glfs_plot_curve()`, with `labels` for `glfs_plot_labels()`, and
#'   of several panels for `glfs_plot_comparison()`.
#' @param key Which result: its `key_added`, or the key of the panel that it is
#'   of. NULL: the last one of its kind. Of a selection it is the key of that.
#' @param measures Which measures of the evaluation to show. NULL, of a
#'   comparison: all but numbers of genes.
#' @param reading How labels were predicted: `"knn"` or `"laprls"`, see
#'   [glfs_evaluate_panel()].
#' @return A ggplot object.
#'
#'   - `glfs_plot_panel()`: the genes in the order in which they were chosen,
#'     and the share of the structure that the panel keeps with each. An object
#'     that some of them have left is an error.
#'   - `glfs_plot_curve()`: measures of the first genes, by their number.
#'   - `glfs_plot_labels()`: which labels are taken for which, as shares of each
#'     label.
#'   - `glfs_plot_comparison()`: the measures of all panels side by side.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'     x <- glfs_select_genes(glfs_example(), n_genes = 10)
#'     glfs_plot_panel(x)
#'
#'     x <- glfs_evaluate_panel(x, labels = x$bulk_labels)
#'     glfs_plot_labels(x) + ggplot2::ggtitle("10 genes")
#' }
#' @export
glfs_plot_panel <- function(x, key = "glfs") {
    preserved <- record_of(x, "selection", key, "preserved")$preserved
    selection <- suppressMessages(selection_of(x, key))
    genes <- selection$genes
    if (length(genes) < selection$n)
        refuse("x", " has ", length(genes), " of the ", selection$n, " genes ",
            "of the selection \"", key, "\": use the object with all of them.")
    table <- data.frame(gene = factor(genes, genes),
        preserved = preserved[selection$ranks])
    plot_of(table, "gene", "preserved", "structure preserved") +
        ggplot2::geom_line(group = 1) + ggplot2::geom_point() + upright() +
        ggplot2::labs(x = NULL)
}

#' @rdname glfs_plot_panel
#' @export
glfs_plot_curve <- function(x, key = NULL,
        measures = c("preserved", "accuracy", "macro_f1")) {
    table <- measures_of(x, "evaluation", key, measures)
    if (!anyDuplicated(table[c("measure", "panel")]))
        refuse("x", " has an evaluation of one size: run ",
            "glfs_evaluate_panel() with sizes.")
    plot_of(table, "n_genes", "value", "share", colour = "measure") +
        ggplot2::geom_line() + ggplot2::geom_point(size = 1) +
        ggplot2::labs(x = "genes", colour = NULL, caption = read_by(table)) +
        if (nlevels(table$panel) > 1L) ggplot2::facet_wrap("panel")
}

#' @rdname glfs_plot_panel
#' @export
glfs_plot_labels <- function(x, key = NULL, reading = "knn") {
    record <- record_of(x, "evaluation", key, "confusion")
    table <- as.data.frame(record$confusion)
    if (!isTRUE(reading %in% table$reading))
        refuse("reading", " must be one of ", listed(unique(table$reading)),
            ": glfs_evaluate_panel() reads labels by its measures.")
    table <- table[table$reading == reading, ]
    for (column in c("label", "predicted"))
        table[[column]] <- factor(table[[column]], unique(table$label))
    table$share <- table$n_cells / stats::ave(table$n_cells, table$label,
        FUN = sum)
    measure <- paste0("accuracy", if (reading != "knn") paste0("_", reading))
    measures <- as.data.frame(record$measures)
    plot_of(table, "predicted", "label", fill = "share") +
        ggplot2::geom_tile() + upright() +
        ggplot2::scale_fill_viridis_c(limits = 0:1) +
        ggplot2::scale_y_discrete(limits = rev) +
        ggplot2::labs(
            caption = read_by(measures[measures$measure == measure, ]))
}

#' @rdname glfs_plot_panel
#' @export
glfs_plot_comparison <- function(x, key = NULL, measures = NULL) {
    table <- measures_of(x, "comparison", key, measures)
    if (is.null(measures))
        table <- table[table$measure != "n_effective", ]
    whole <- table$n_genes == stats::ave(table$n_genes, table$panel, FUN = max)
    plot_of(table[whole, ], "value", "measure", colour = "panel") +
        ggplot2::geom_point(size = 2) +
        ggplot2::scale_y_discrete(limits = rev) +
        ggplot2::labs(x = NULL, y = NULL, colour = NULL,
            caption = read_by(table))
}

# The measures of an evaluation that are known, of all batches together.
measures_of <- function(x, kind, key, measures) {
    table <- as.data.frame(record_of(x, kind, key, "measures")$measures)
    all <- unique(table$measure)
    if (!is.null(measures) && !any(measures %in% all))
        refuse("measures", " must be names of measures of the evaluation: ",
            listed(all), ".")
    shown <- intersect(measures %or% all, setdiff(all, "preserved_in_batch"))
    table <- table[table$measure %in% shown & !is.na(table$value), ]
    table$measure <- factor(table$measure, shown)
    table$panel <- factor(table$panel, unique(table$panel))
    table
}

# How labels were read, and of how many cells; NULL where they were not.
read_by <- function(table) {
    of_labels <- grepl("^(accuracy|macro_f1|rare_f1)", table$measure)
    readings <- setdiff(table$reading[of_labels], c("", NA))
    if (length(readings) > 0L)
        paste0("Labels by ", paste(readings, collapse = "; "))
}

# A plot of columns of a table; with `share` from 0 to 1 along y.
plot_of <- function(table, x, y, share = NULL, ...) {
    columns <- lapply(c(x = x, y = y, ...), as.name)
    ggplot2::ggplot(table, do.call(ggplot2::aes, columns)) +
        ggplot2::theme_bw() + if (!is.null(share))
            ggplot2::scale_y_continuous(share, limits = 0:1)
}

upright <- function() ggplot2::theme(axis.text.x =
    ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))

# A record with the element that is plotted.
record_of <- function(x, kind, key, element) {
    if (!requireNamespace("ggplot2", quietly = TRUE))
        glfs_stop("Plots need ggplot2: install.packages(\"ggplot2\").")
    key <- last_key(x, kind, key, element)
    record <- if (is_result(x)) x else results_of(x)[[key]]
    if (is.null(record[[element]]))
        refuse("x", " has no ", element, " under \"", key, "\": run ",
            writers[[kind]], "()", switch(element, confusion = " with labels"),
            if (kind == "comparison") " with several panels", " first.")
    record
}
