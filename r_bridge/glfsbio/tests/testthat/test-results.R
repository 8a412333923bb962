# Genes, records and what there is, of objects of all classes.
test_that("genes and records are found in every class", {
    genes <- glfs_genes(expected())
    record <- glfs_result(expected())
    expect_setequal(genes, paste0("g", 1:6))
    expect_identical(record, S4Vectors::metadata(expected())$glfs)
    none <- S4Vectors::DataFrame(row.names = letters)
    expect_identical(dim(glfs_results(none)), c(0L, 3L))
    expect_refused(glfs_result(none), "key")
    expect_refused(glfs_genes(none), "key")
    expect_refused(glfs_genes(letters), "x")
    expect_refused(glfs_genes(expected(), NULL), "key")

    sce <- selected()
    set <- select(Biobase::ExpressionSet(cells()))
    need_package("SeuratObject")
    object <- select(seurat_of(cells()))
    for (one in list(sce, set, object)) {
        expect_identical(glfs_genes(one), genes)
        expect_equal(told(glfs_result(one)), told(record))
        expect_identical(glfs_results(one), data.frame(
            key = "glfs", kind = "selection", writer = "glfs_select_genes"
        ))
    }
    # The record that a function returns for a matrix.
    judged <- glfs_evaluate_panel(cells(), c("g1", "g2"), measures = "preserved")
    expect_identical(glfs_genes(judged), c("g1", "g2"))
    expect_identical(glfs_result(judged), judged)
    expect_identical(glfs_results(judged)$kind, "evaluation")
    # Of other kinds, in the order of writing.
    sce <- glfs_explain_panel(glfs_structure(sce), c("g1", "g2"))
    expect_identical(glfs_results(sce)$kind, c("selection", "structure", "explanation"))
    expect_refused(glfs_genes(sce, "glfs_explanation"), "key")
})

test_that("a result is shown in lines, and is kept whole", {
    result <- glfs_result(selected())
    expect_output(show(result), "GLFSResult of glfs_select_genes\\(\\)\n.*\\$ preserved: 0")
    expect_error(as.data.frame(result), class = "glfs_error")
    judged <- glfs_evaluate_panel(cells(), "g1", measures = "preserved")
    expect_identical(as.data.frame(judged), as.data.frame(judged$measures))
    expect_output(print(judged), "measures: D")
    path <- withr::local_tempfile()
    saveRDS(selected(), path)
    expect_identical(glfs_genes(glfs_extend_panel(readRDS(path), "glfs", 8), "glfs_extended"),
        glfs_genes(glfs_extend_panel(selected(), "glfs", 8), "glfs_extended"))
    expect_refused(glfs_write_h5ad(cells(), path), "x")
    expect_refused(glfs_write_h5ad(selected(), path), "path", "python.FileExists")
})

test_that("other packages take the column of a selection", {
    sce <- selected()
    rows <- SingleCellExperiment::rowSubset(sce, "glfs_selected")
    expect_setequal(rownames(sce)[rows], glfs_genes(sce))
    need_package("scuttle")
    SummarizedExperiment::assay(sce, "counts") <- round(cells())
    found <- scuttle::perCellQCMetrics(sce, subsets = list(panel = rows))
    expect_equal(found$subsets_panel_sum, unname(colSums(round(cells())[glfs_genes(sce), ])))
    need_package("scran")
    found <- suppressWarnings(
        scran::fixedPCA(sce, rank = 3, subset.row = rows, preserve.shape = FALSE)
    )
    expect_identical(
        rownames(attr(SingleCellExperiment::reducedDim(found, "PCA"), "rotation")),
        rownames(sce)[rows]
    )
})

test_that("genes are never shown with the values of others", {
    sce <- selected()
    first <- glfs_genes(sce)[1]
    few <- sce[rownames(sce) != first, ]
    for (asked in list(glfs_genes, function(x) glfs_gene_sets(x)$glfs))
        expect_message(expect_identical(asked(few), glfs_genes(sce)[-1]), "5 of the 6 genes")
    expect_message(scores <- glfs_scores(few), "39 of the 40")
    expect_identical(scores, glfs_scores(sce)[-1])
    turned <- sce[40:1, 90:1]
    expect_identical(glfs_genes(turned), glfs_genes(sce))
    renamed <- sce
    rownames(renamed) <- toupper(rownames(sce))
    expect_identical(glfs_genes(renamed), toupper(glfs_genes(sce)))
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
    expect_identical(plotted(renamed)$preserved, plotted(sce)$preserved)
})

test_that("logical labels are TRUE and FALSE, by name and as a vector", {
    sce <- sce_of(cells())
    sce$yes <- groups == "B"
    named <- quiet(glfs_classify(sce, "yes", n_genes = 3))
    given <- quiet(glfs_classify(sce, sce$yes, n_genes = 3))
    expect_identical(levels(named$glfs_class_predicted), c("FALSE", "TRUE"))
    expect_identical(named$glfs_class_predicted, given$glfs_class_predicted)
    expect_true(mean(named$glfs_class_predicted == sce$yes) > 0.9)
    expect_setequal(glfs_genes(named, "glfs_class"), glfs_result(named, "glfs_class")$genes)
    record <- glfs_result(quiet(glfs_classify(sce, "group", n_genes = 3)), "glfs_class")
    expect_identical(dimnames(record$coef), list(record$genes, record$classes))
})

test_that("logical values name genes, and names of samples must be in order", {
    sce <- sce_of(cells())
    out <- rownames(sce) %in% c("g1", "g2")
    expect_identical(
        glfs_genes(select(sce, exclude = out)),
        glfs_genes(select(sce, exclude = c("g1", "g2")))
    )
    expect_identical(
        glfs_genes(quiet(glfs_evaluate_panel(sce, out, measures = "preserved")),
            "glfs_evaluation"), c("g1", "g2")
    )
    expect_refused(glfs_explain_panel(sce, "g1", rev(setNames(groups, colnames(sce)))), "labels")
    weights <- rep(1:2, 45)
    expect_identical(
        glfs_genes(select(sce, cell_weights = weights)),
        glfs_genes(select(sce, cell_weights = weights / 7))
    )
})

test_that("matrices of records have names", {
    sce <- sce_of(cells())
    sce$batch <- rep(c("u", "v"), 45)
    sce <- quiet(select(sce, block = "batch"))
    expect_identical(colnames(glfs_result(sce)$preserved_in_batches), c("u", "v"))
})

test_that("what others keep beside results stays", {
    set <- Biobase::ExpressionSet(cells())
    Biobase::notes(set) <- "mine"
    set <- select(set)
    expect_identical(Biobase::notes(set)[[1L]], "mine")
    expect_length(glfs_genes(set), 6L)
})

test_that("results are found in the assay that has them", {
    need_package("SeuratObject")
    x <- methods::as(cells(), "CsparseMatrix")
    object <- seurat_of(cells())
    object[["ADT"]] <- SeuratObject::CreateAssayObject(x[7:20, ])
    object <- quiet(select(object, assay = "RNA"))
    SeuratObject::DefaultAssay(object) <- "ADT"
    expect_length(quiet(glfs_genes(object)), 6L)
    judged <- quiet(glfs_evaluate_panel(object, measures = "preserved"))
    expect_gt(measured(glfs_result(judged, "glfs_evaluation")), 0.3)
    again <- quiet(glfs_select_genes(object, 3, n_comps = 5, layer = "counts",
        key_added = "adt"))
    expect_length(intersect(glfs_genes(again, "adt"), rownames(x)[1:6]), 0L)
})

test_that("plots are ggplot objects of what was written", {
    need_package("ggplot2")
    x <- glfs_evaluate_panel(selected(), labels = "group", sizes = 1:5,
        measures = c("preserved", "labels", "laprls"))
    x <- glfs_evaluate_panel(x, list(a = "glfs", b = c("g1", "g2")))
    plots <- list(
        glfs_plot_panel(x), glfs_plot_curve(x, "glfs"), glfs_plot_labels(x),
        glfs_plot_comparison(x)
    )
    for (plot in plots) {
        expect_s3_class(plot, "ggplot")
        expect_gt(nrow(ggplot2::ggplot_build(plot)$data[[1]]), 0)
    }
    expect_identical(levels(plots[[1]]$data$gene), glfs_genes(x))
    expect_match(plots[[3]]$labels$caption, "15-NN")
    expect_match(glfs_plot_labels(x, reading = "laprls")$labels$caption, "LapRLS")
    expect_identical(nrow(glfs_plot_comparison(x, measures = "preserved")$data), 2L)
    expect_refused(glfs_plot_comparison(x, measures = "none"), "measures")
    expect_refused(glfs_plot_curve(x, "glfs_comparison"), "x")
    expect_refused(glfs_plot_labels(selected()), "x")
})

test_that("plots find the last result of their kind", {
    need_package("ggplot2")
    x <- select(selected(), key_added = "mine")
    shown <- function(x, ...) glfs_plot_labels(x, ...)$data
    evaluate <- function(x, key, labels)
        glfs_evaluate_panel(x, key, labels, measures = "labels", random_state = 0)
    x <- evaluate(x, "glfs", "group")
    x <- evaluate(x, "mine", replace(groups, groups == "B", "T"))
    expect_identical(shown(x), shown(x, "mine_evaluation"))
    x <- evaluate(x, "glfs", "group")
    expect_identical(shown(x), shown(x, "glfs_evaluation"))
    expect_setequal(shown(x)$label, groups)
    # Of those that have labels.
    x <- glfs_evaluate_panel(x, "mine", measures = "preserved")
    expect_identical(shown(x), shown(x, "glfs_evaluation"))
    expect_refused(glfs_plot_labels(x, "mine_evaluation"), "x")
})
table_of <- function() {
    S4Vectors::DataFrame(
        glfs_weight = c(0, 1, 0.9, 0.1), glfs_score = c(NA, 3, 2.5, 1 / 3),
        glfs_rank = c(NA, 1L, 2L, 3L), glfs_selected = c(FALSE, TRUE, TRUE, FALSE),
        row.names = c("A", "B", "C", "\u00c9")
    )
}

test_that("sets are in the order of the ranks, scores in that of the scores", {
    expect_identical(glfs_gene_sets(table_of()), list(glfs = c("B", "C")))
    expect_identical(glfs_scores(table_of()), c(B = 3, C = 2.5, "\u00c9" = 1 / 3))
    expect_refused(glfs_gene_sets(table_of(), key = "panel"), "x")
    expect_refused(glfs_gene_sets(1), "x")
})

test_that("files are written whole, and not over others", {
    gmt <- withr::local_tempfile(fileext = ".gmt")
    rnk <- withr::local_tempfile(fileext = ".rnk")
    glfs_gene_sets(table_of(), gmt = gmt, rnk = rnk)
    expect_identical(readLines(gmt), "glfs\tGLFS selection\tB\tC")
    lines <- readLines(rnk, encoding = "UTF-8")
    expect_identical(sub("\t.*", "", lines), c("B", "C", "\u00c9"))
    expect_identical(as.numeric(sub(".*\t", "", lines)), c(3, 2.5, 1 / 3))
    expect_error(glfs_gene_sets(table_of(), gmt = gmt), class = "glfs_error")
    glfs_gene_sets(table_of(), gmt = gmt, overwrite = TRUE)
    expect_error(
        glfs_gene_sets(table_of(), gmt = file.path(gmt, "a.gmt")), class = "glfs_error"
    )
    expect_refused(glfs_gene_sets(table_of(), gmt = tempdir(), overwrite = TRUE), "gmt")
})

test_that("a name that would break a line is refused before anything is written", {
    path <- withr::local_tempfile()
    for (name in c("B\tC", "B\nC", "")) {
        table <- table_of()
        rownames(table)[2] <- name
        expect_refused(glfs_gene_sets(table, gmt = path), "gmt")
        expect_refused(glfs_gene_sets(table, rnk = path), "rnk")
    }
    expect_false(file.exists(path))
})
