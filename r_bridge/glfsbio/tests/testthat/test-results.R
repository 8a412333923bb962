test_that("genes and records are found in every class", {
    genes <- glfs_genes(expected())
    none <- S4Vectors::DataFrame(row.names = letters)
    expect_identical(dim(glfs_results(none)), c(0L, 2L))
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
    expect_output(show(result), "GLFSResult of kind selection.*\\$ preserved: 0")
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
    expect_message(expect_identical(glfs_genes(few), glfs_genes(sce)[-1]), "5 of the 6 genes")
    expect_message(scores <- glfs_scores(few), "39 of the 40")
    expect_identical(scores, glfs_scores(sce)[-1])
    turned <- sce[40:1, 90:1]
    expect_identical(glfs_genes(turned), glfs_genes(sce))
    expect_refused(glfs_genes(sce[c(1:40, 1:3), ]), "x")
    # Of two records under one key the first holds, until there is another.
    bound <- SummarizedExperiment::cbind(sce[, 1:60], sce[, 61:90])
    expect_identical(glfs_genes(bound), glfs_genes(sce))
    expect_identical(sum(names(S4Vectors::metadata(select(bound))) == "glfs"), 1L)
})

test_that("scores are ranked, without genes that were not tested", {
    table <- S4Vectors::DataFrame(
        glfs_score = c(NA, 3, 2.5, 1 / 3), row.names = c("A", "B", "C", "\u00c9"))
    expect_identical(glfs_scores(table), c(B = 3, C = 2.5, "\u00c9" = 1 / 3))
    expect_refused(glfs_scores(table, key = "panel"), "x")
})
