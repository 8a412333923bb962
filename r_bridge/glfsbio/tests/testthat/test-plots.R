test_that("plots are ggplot objects of what was written", {
    need_package("ggplot2")
    x <- glfs_curve(selected(), 8, labels = "group")
    x <- glfs_evaluate_panel(x, labels = "group", n_random = 2)
    x <- glfs_compare_panels(x, list(a = "glfs", b = c("g1", "g2")))
    plots <- list(
        glfs_plot_panel(x), glfs_plot_curve(x), glfs_plot_labels(x), glfs_plot_comparison(x)
    )
    for (plot in plots) {
        expect_s3_class(plot, "ggplot")
        expect_gt(nrow(ggplot2::ggplot_build(plot)$data[[1]]), 0)
    }
    expect_identical(levels(plots[[1]]$data$gene), glfs_gene_sets(x)$glfs)
    expect_identical(nrow(glfs_plot_comparison(x, measures = "preserved")$data), 2L)
    expect_refused(glfs_plot_comparison(x, measures = "none"), "measures")
    expect_refused(glfs_plot_labels(selected()), "x")
    # What scater takes by name
    expect_true("glfs_evaluation_unexplained" %in% names(SummarizedExperiment::colData(x)))
})

test_that("plots find the last result of their kind", {
    need_package("ggplot2")
    x <- select(selected(), key_added = "mine")
    shown <- function(x, ...) glfs_plot_labels(x, ...)$data
    evaluate <- function(x, key, labels)
        glfs_evaluate_panel(x, key, labels, n_random = 2, random_state = 0)
    x <- evaluate(x, "glfs", "group")
    x <- evaluate(x, "mine", replace(groups, groups == "B", "T"))
    expect_identical(shown(x), shown(x, "mine_evaluation"))
    x <- evaluate(x, "glfs", "group")
    expect_identical(shown(x), shown(x, "glfs_evaluation"))
    expect_identical(nrow(shown(x)), 9L)
    # Of those that have labels.
    x <- glfs_evaluate_panel(x, "mine", n_random = 2)
    expect_identical(shown(x), shown(x, "glfs_evaluation"))
    expect_refused(glfs_plot_labels(x, "mine_evaluation"), "x")
    expect_match(glfs_plot_labels(x, reading = "laprls")$labels$caption, "LapRLS")
})
