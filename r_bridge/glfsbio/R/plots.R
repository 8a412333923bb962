#' Plots of a panel and of how good it is
#'
#' ggplot objects of results, to which scales, themes and
#' labels can be added with `+`. Values of single cells are columns of
#' `colData()`, which `scater::plotReducedDim()` and `scater::plotColData()`
#' take by name, for example `scater::plotReducedDim(x, "UMAP", colour_by =
#' "glfs_evaluation_unexplained")`.
#'
#' @param x A result of [glfs_select_genes()] or [glfs_extend_panel()] for
#'   `glfs_plot_panel()`, of [glfs_curve()] for `glfs_plot_curve()`, of
#'   [glfs_evaluate_panel()] with `labels` for `glfs_plot_labels()`, and of
#'   [glfs_compare_panels()] for `glfs_plot_comparison()`.
#' @param key Which result: its `key_added`, or the key of the panel that it is
#'   of. NULL: the last one of its kind. Of a selection it is the key of that.
#' @param measures Which columns of the comparison to show. NULL: all shares, of
#'   the structure, of the cells and of their labels.
#' @param reading How labels were predicted: `"knn"` or `"laprls"`, see
#'   [glfs_evaluate_panel()].
#' @return A ggplot object.
#'
#'   - `glfs_plot_panel()`: the genes in the order in which they were chosen,
#'     and the share of the structure that the panel keeps with each. An object
#'     that some of them have left is an error.
#'   - `glfs_plot_curve()`: that share for panels of every size, and how well
#'     labels are predicted, if the curve has it.
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
    if (length(selection$genes) < selection$n)
        refuse(
            "x", " has ", length(selection$genes), " of the ", selection$n,
            " genes of the selection \"", key, "\": use the object with all ",
            "of them."
        )
    genes <- selection$genes
    table <- data.frame(gene = factor(genes, genes),
        preserved = preserved[selection$ranks])
    plot_of(table, "gene", "preserved") +
        ggplot2::geom_line(group = 1) +
        ggplot2::geom_point() +
        share_axis("structure preserved") +
        ggplot2::labs(x = NULL) +
        ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90,
            hjust = 1, vjust = 0.5))
}

#' @rdname glfs_plot_panel
#' @export
glfs_plot_curve <- function(x, key = NULL) {
    record <- record_of(x, "curve", key, "table")
    table <- record$table
    long <- long_table(table, "n_genes", c(
        preserved = "structure preserved",
        accuracy = "accuracy of labels, nearest cells",
        macro_f1 = "macro-F1 of labels, nearest cells",
        accuracy_laprls = "accuracy of labels, LapRLS",
        macro_f1_laprls = "macro-F1 of labels, LapRLS"
    ))
    plot_of(long, "n_genes", "value", colour = "measure") +
        ggplot2::geom_line() +
        ggplot2::geom_point(size = 1) +
        share_axis("share") +
        ggplot2::labs(x = "genes", colour = NULL, caption = read_by(record))
}

#' @rdname glfs_plot_panel
#' @export
glfs_plot_labels <- function(x, key = NULL, reading = "knn") {
    if (!isTRUE(reading %in% c("knn", "laprls")))
        refuse("reading", " must be \"knn\" or \"laprls\".")
    element <- paste0("confusion", if (reading != "knn") paste0("_", reading))
    record <- record_of(x, "evaluation", key, element)
    counts <- record[[element]]
    table <- as.data.frame(as.table(counts / rowSums(counts)),
        responseName = "share")
    plot_of(table, "predicted", "label", fill = "share") +
        ggplot2::geom_tile() +
        ggplot2::scale_fill_viridis_c(limits = 0:1) +
        ggplot2::scale_y_discrete(limits = rev) +
        ggplot2::labs(caption = read_by(record, reading)) +
        ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90,
            hjust = 1, vjust = 0.5))
}

#' @rdname glfs_plot_panel
#' @export
glfs_plot_comparison <- function(x, key = NULL, measures = NULL) {
    record <- record_of(x, "comparison", key, "table")
    table <- record$table
    all <- setdiff(names(table), c("n_genes", "n_effective"))
    if (is.null(measures))
        measures <- all
    if (!is.character(measures) || !all(measures %in% names(table)))
        refuse("measures", " must be names of columns of the comparison: ",
            listed(all), ".")
    panels <- rownames(table)
    table$panel <- factor(panels, panels)
    long <- long_table(table, "panel", stats::setNames(nm = measures))
    plot_of(long, "value", "measure", colour = "panel") +
        ggplot2::geom_point(size = 2) +
        ggplot2::scale_y_discrete(limits = rev) +
        ggplot2::labs(x = NULL, y = NULL, colour = NULL,
            caption = read_by(record))
}

# How labels were predicted, and of how many cells; NULL where they were not.
read_by <- function(record, readings = names(record$readings)) {
    if (is.null(record$readings))
        return(NULL)
    said <- unlist(record$readings[readings], use.names = FALSE)
    paste0("Labels by ", paste(said, collapse = "; "), "; ",
        record$n_labelled, " cells.")
}

plot_of <- function(table, x, y, ...) {
    columns <- lapply(c(x = x, y = y, ...), as.name)
    ggplot2::ggplot(table, do.call(ggplot2::aes, columns)) + ggplot2::theme_bw()
}

share_axis <- function(name)
    ggplot2::scale_y_continuous(name, limits = 0:1)

# One row a value that is known, with the columns in the order of their names.
long_table <- function(table, by, columns) {
    columns <- columns[names(columns) %in% names(table)]
    long <- do.call(rbind, Map(function(column, name) {
        stats::setNames(data.frame(table[[by]], name, table[[column]]),
            c(by, "measure", "value"))
    }, names(columns), columns))
    long$measure <- factor(long$measure, columns)
    long[!is.na(long$value), ]
}

# A record with the element that is plotted.
record_of <- function(x, kind, key, element) {
    if (!requireNamespace("ggplot2", quietly = TRUE))
        glfs_stop(
            "Plots need the R package ggplot2: install.packages(\"ggplot2\")."
        )
    key <- last_key(x, kind, key, element)
    record <- if (is_record(x)) x else results_of(x)[[key]]
    if (is.null(record[[element]]))
        refuse(
            "x", " has no ", element, " under \"", key, "\": run ",
            writers[[kind]], "()",
            if (startsWith(element, "confusion")) " with labels", " first."
        )
    record
}
