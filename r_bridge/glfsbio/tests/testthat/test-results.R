test_that("genes and records are found in every class", {
    genes <- glfs_genes(expected())
    none <- S4Vectors::DataFrame(row.names = letters)
    expect_identical(dim(glfs_results(none)), c(0L, 3L))
    expect_refused(glfs_genes(none), "key")
    expect_refused(glfs_genes(letters), "x")
    sce <- selected()
    # The record that a function returns for a matrix.
    judged <- glfs_evaluate_panel(cells(), c("g1", "g2"), measures = "preserved")
    expect_identical(glfs_genes(judged), c("g1", "g2"))
    expect_identical(glfs_result(judged), judged)
    # Of other kinds, in the order of writing.
    sce <- glfs_explain_panel(glfs_structure(sce), c("g1", "g2"))
    expect_identical(glfs_results(sce)$kind, c("selection", "structure", "explanation"))
    expect_refused(glfs_genes(sce, "glfs_explanation"), "key")
})

test_that("a result is shown in lines, and is kept whole", {
    result <- glfs_result(selected())
    expect_output(show(result), "GLFSResult of glfs_select_genes\\(\\)\n.*\\$ preserved: 0")
    judged <- glfs_evaluate_panel(cells(), "g1", measures = "preserved")
    expect_identical(as.data.frame(judged), as.data.frame(judged$measures))
    path <- withr::local_tempfile()
    saveRDS(selected(), path)
    expect_identical(glfs_genes(glfs_extend_panel(readRDS(path), "glfs", 8), "glfs_extended"),
        glfs_genes(glfs_extend_panel(selected(), "glfs", 8), "glfs_extended"))
})

test_that("genes are never shown with the values of others", {
    sce <- selected()
    few <- sce[rownames(sce) != glfs_genes(sce)[1], ]
    for (asked in list(glfs_genes, function(x) glfs_gene_sets(x)$glfs))
        expect_message(expect_identical(asked(few), glfs_genes(sce)[-1]), "5 of the 6 genes")
    expect_message(scores <- glfs_scores(few), "39 of the 40")
    expect_identical(scores, glfs_scores(sce)[-1])
    turned <- sce[40:1, 90:1]
    expect_identical(glfs_genes(turned), glfs_genes(sce))
    expect_refused(glfs_genes(sce[c(1:40, 1:3), ]), "x")
    # Of two records under one key the first holds, until there is another.
    bound <- SummarizedExperiment::cbind(sce[, 1:60], sce[, 61:90])
    expect_identical(glfs_genes(bound), glfs_genes(sce))
    expect_identical(sum(names(S4Vectors::metadata(select(bound))) == "glfs"), 1L)
    need_package("ggplot2")
    plotted <- function(x) glfs_plot_panel(x)$data
    expect_identical(plotted(sce)$preserved, glfs_result(sce)$preserved)
    expect_refused(plotted(few), "x")
    expect_identical(plotted(turned), plotted(sce))
})

test_that("plots are ggplot objects of what was written last", {
    need_package("ggplot2")
    evaluate <- function(x, key, labels, ...)
        glfs_evaluate_panel(x, key, labels, measures = c("preserved", "labels", "laprls"), ...)
    x <- evaluate(selected(), "glfs", "group", sizes = 1:5)
    x <- glfs_evaluate_panel(x, list(a = "glfs", b = c("g1", "g2")))
    plots <- list(glfs_plot_panel(x), glfs_plot_curve(x, "glfs"), glfs_plot_labels(x),
        glfs_plot_comparison(x))
    for (plot in plots)
        expect_gt(nrow(ggplot2::ggplot_build(plot)$data[[1]]), 0)
    expect_match(plots[[3]]$labels$caption, "15-NN")
    expect_match(glfs_plot_labels(x, reading = "laprls")$labels$caption, "LapRLS")
    expect_refused(glfs_plot_comparison(x, measures = "none"), "measures")
    expect_refused(glfs_plot_curve(x, "glfs_comparison"), "x")
    expect_refused(glfs_plot_labels(selected()), "x")
    # Of several the last that has labels.
    shown <- function(x, ...) glfs_plot_labels(x, ...)$data
    x <- evaluate(select(x, key_added = "mine"), "mine", replace(groups, groups == "B", "T"))
    expect_identical(shown(x), shown(x, "mine_evaluation"))
    x <- glfs_evaluate_panel(evaluate(x, "glfs", "group"), "mine", measures = "preserved")
    expect_identical(shown(x), shown(x, "glfs_evaluation"))
    expect_refused(glfs_plot_labels(x, "mine_evaluation"), "x")
})

table_of <- function(names = c("A", "B", "C", "\u00c9")) S4Vectors::DataFrame(
    glfs_weight = c(0, 1, 0.9, 0.1), glfs_score = c(NA, 3, 2.5, 1 / 3),
    glfs_rank = c(NA, 1L, 2L, 3L), glfs_selected = c(FALSE, TRUE, TRUE, FALSE),
    row.names = names)

test_that("sets and scores are written whole, and not over others", {
    expect_identical(glfs_gene_sets(table_of()), list(glfs = c("B", "C")))
    expect_identical(glfs_scores(table_of()), c(B = 3, C = 2.5, "\u00c9" = 1 / 3))
    expect_refused(glfs_gene_sets(table_of(), key = "panel"), "x")
    gmt <- withr::local_tempfile(fileext = ".gmt")
    rnk <- withr::local_tempfile(fileext = ".rnk")
    glfs_gene_sets(table_of(), gmt = gmt, rnk = rnk)
    expect_identical(readLines(gmt), "glfs\tGLFS selection\tB\tC")
    lines <- readLines(rnk, encoding = "UTF-8")
    expect_identical(sub("\t.*", "", lines), c("B", "C", "\u00c9"))
    expect_identical(as.numeric(sub(".*\t", "", lines)), c(3, 2.5, 1 / 3))
    expect_refused(glfs_gene_sets(table_of(), gmt = gmt), "gmt")
    glfs_gene_sets(table_of(), gmt = gmt, overwrite = TRUE)
    expect_refused(glfs_gene_sets(table_of(), gmt = file.path(gmt, "a.gmt")), "gmt")
    expect_refused(glfs_gene_sets(table_of(), gmt = tempdir(), overwrite = TRUE), "gmt")
    # A name that would break a line is refused before anything is written.
    path <- withr::local_tempfile()
    for (name in c("B\tC", "B\nC", "")) {
        table <- table_of(c("A", name, "C", "D"))
        expect_refused(glfs_gene_sets(table, gmt = path), "gmt")
        expect_refused(glfs_gene_sets(table, rnk = path), "rnk")
    }
    expect_false(file.exists(path))
})
