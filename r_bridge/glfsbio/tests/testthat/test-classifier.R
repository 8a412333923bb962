test_that("a classifier is learnt, kept in a file, and used on other samples", {
    sce <- sce_of(cells())
    known <- rep(c(TRUE, FALSE), 45)
    learnt <- glfs_classify(sce[, known], "group", c(3, 6), cv = 2)
    record <- S4Vectors::metadata(learnt)$glfs_class
    expect_identical(record$tried, c(3L, 6L))
    expect_true(all(record$genes %in% paste0("g", 1:6)))
    expect_true("train" %in% names(record$params))
    expect_null(record$params$train)
    used <- SummarizedExperiment::rowData(learnt)$glfs_class_selected
    expect_setequal(rownames(learnt)[used], record$genes)

    path <- withr::local_tempfile(fileext = ".json")
    expect_identical(glfs_write_classifier(learnt, path), path)
    expect_refused(glfs_write_classifier(learnt, path), "path", "python.OSError")
    glfs_write_classifier(learnt, path, overwrite = TRUE)
    expect_refused(
        glfs_write_classifier(learnt, withr::local_tempfile()), "path", "python.ValueError"
    )
    expect_equal(glfs_read_classifier(path)$coef, record$coef)
    new <- sce[40:1, !known]
    for (model in list(path, learnt, record)) {
        out <- glfs_predict(new, model)
        expect_identical(as.character(out$glfs_class_predicted), new$group)
    }
    expect_identical(levels(out$glfs_class_predicted), record$classes)
    expect_identical(names(SummarizedExperiment::colData(out)), c("group", paste0(
        "glfs_class_", c("predicted", "margin", "decision.B", "decision.NK", "decision.T")
    )))
    unsure <- glfs_predict(new, path, unsure = stats::median(out$glfs_class_margin))
    expect_identical(sum(is.na(unsure$glfs_class_predicted)), 22L)
    expect_identical(S4Vectors::metadata(unsure)$glfs_class$prediction$n_unsure, 22L)
})

test_that("genes that are not there are an error, or at their mean", {
    learnt <- glfs_classify(cells()[1:12, ], groups, 3)
    gone <- learnt$genes[2]
    new <- cells()[rownames(cells()) != gone, ]
    expect_error(glfs_predict(new, learnt), gone, class = "python.KeyError")
    expect_warning(out <- glfs_predict(new, learnt, missing = "warn"), class = "python.UserWarning")
    expect_identical(out$prediction$absent, gone)
    mean <- cells()
    mean[gone, ] <- base::mean(mean[gone, ])
    expect_equal(glfs_predict(mean, learnt)$colData, out$colData)
    expect_refused(glfs_predict(cells(), 5), "model")
    expect_refused(glfs_predict(cells(), sce_of(cells())), "model")
    expect_error(glfs_predict(cells(), list(genes = "g1")), class = "python.ValueError")
    expect_refused(glfs_write_classifier(sce_of(cells()), "x.json", "mine"), "x")
})

test_that("objects of all classes have what a matrix has", {
    labels <- replace(groups, 1:9, NA)
    few <- cells()[1:12, ]
    ours <- glfs_classify(few, labels, 4)
    expect_identical(rownames(ours$colData), colnames(few))
    expect_identical(ours$n_unlabelled, 9L)
    columns <- names(ours$colData)
    sce <- sce_of(few)
    sce$known <- labels
    out <- glfs_classify(sce, "known", 4)
    expect_equal(as.list(SummarizedExperiment::colData(out)[columns]), as.list(ours$colData))
    set <- Biobase::ExpressionSet(few)
    set$known <- labels
    set <- glfs_predict(glfs_classify(set, "known", 4), ours)
    expect_equal(set$glfs_class_margin, ours$colData$glfs_class_margin)
    # Two classes after three: nothing of the third is left.
    for (again in list(glfs_classify(out, groups == "B", 4), glfs_classify(set, groups == "B", 4))) {
        table <- if (is(again, "ExpressionSet")) Biobase::pData(again)
        else SummarizedExperiment::colData(again)
        expect_identical(grep("decision", names(table), value = TRUE), "glfs_class_decision")
    }

    need_package("SeuratObject")
    object <- seurat_of(few)
    object$known <- labels
    object <- glfs_predict(glfs_classify(object, "known", 4), ours)
    expect_equal(object$glfs_class_margin, ours$colData$glfs_class_margin, ignore_attr = TRUE)
    again <- glfs_classify(object, groups == "B", 4)
    expect_identical(
        grep("decision", names(again[[]]), value = TRUE), "glfs_class_decision"
    )
})
