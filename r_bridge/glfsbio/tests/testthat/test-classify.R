test_that("unknown labels are filled in", {
    labels <- groups
    labels[c(TRUE, TRUE, FALSE)] <- NA
    model <- glfs_laprls(cells()[1:6, ], labels)
    expect_identical(model@classes, c("B", "NK", "T"))
    expect_identical(dim(coef(model)), c(6L, 3L))
    predicted <- predict(model, cells())
    expect_identical(names(predicted), colnames(cells()))
    expect_identical(as.character(predicted), groups)
    decision <- predict(model, cells(), type = "decision")
    expect_identical(dim(decision), c(90L, 3L))
    expect_identical(colnames(decision), model@classes)
})

test_that("labels come in all forms", {
    two <- cells()[1:6, 1:60]
    numbers <- rep(1:2, each = 30)
    for (labels in list(
        numbers, numbers + 0, factor(numbers, ordered = TRUE),
        S4Vectors::Rle(numbers), numbers == 2
    )) {
        predicted <- predict(glfs_laprls(two, labels), two)
        expect_identical(as.integer(predicted), numbers)
    }
    decision <- predict(glfs_laprls(two, numbers), two, type = "decision")
    expect_identical(unname(decision > 0), numbers == 2)
    expect_refused(glfs_laprls(two, numbers + 0.5), "labels")
    expect_refused(glfs_laprls(two, 1:3), "labels")
    expect_error(glfs_laprls(two, rep("a", 60)), class = "python.ValueError")
})

test_that("new samples need the genes of the model", {
    sce <- sce_of(cells())
    model <- glfs_laprls(sce[1:6, ], "group")
    expect_identical(predict(model, sce[40:1, ]), predict(model, cells()))
    expect_refused(glfs_laprls(sce, "type"), "labels")
    expect_refused(predict(model, sce[1:2, ]), "newdata")
    expect_error(
        glfs_laprls(sce, "group", lambda2 = -1), class = "python.ValueError"
    )
})

test_that("a model is kept by saveRDS and takes sparse matrices", {
    model <- glfs_laprls(cells()[1:6, ], groups, lambda1 = 1)
    file <- withr::local_tempfile()
    saveRDS(model, file)
    sparse <- Matrix::Matrix(cells(), sparse = TRUE)
    expect_identical(predict(readRDS(file), sparse), predict(model, cells()))
    one <- glfs_laprls(cells()[1, , drop = FALSE], groups == "B")
    expect_identical(as.character(predict(one, cells())), as.character(groups == "B"))
})

test_that("a classifier of few genes is learnt, and labels other samples", {
    sce <- sce_of(cells()[1:9, ])
    known <- rep(c(TRUE, FALSE), 45)
    learnt <- glfs_classify(sce[, known], "group", c(3, 6))
    record <- S4Vectors::metadata(learnt)$glfs_class
    expect_identical(record$tried, c(3L, 6L))
    expect_true(all(record$genes %in% paste0("g", 1:6)))
    used <- SummarizedExperiment::rowData(learnt)$glfs_class_selected
    expect_setequal(rownames(learnt)[used], record$genes)
    expect_identical(levels(learnt$glfs_class_predicted), record$classes)
    expect_identical(names(SummarizedExperiment::colData(learnt)), c("group", paste0(
        "glfs_class_", c("predicted", "margin", "decision.B", "decision.NK", "decision.T")
    )))
    model <- glfs_laprls(sce[record$genes, known], "group")
    expect_identical(as.character(predict(model, sce[9:1, !known])), groups[!known])
})

test_that("objects of all classes have the classes that a matrix has", {
    labels <- replace(groups, 1:9, NA)
    few <- cells()[1:12, ]
    ours <- glfs_classify(few, labels, 4)
    expect_identical(rownames(ours$colData), colnames(few))
    expect_identical(ours$n_labelled, 81L)
    columns <- names(ours$colData)
    sce <- sce_of(few)
    sce$known <- labels
    out <- glfs_classify(sce, "known", 4)
    expect_equal(as.list(SummarizedExperiment::colData(out)[columns]), as.list(ours$colData))
    set <- Biobase::ExpressionSet(few)
    set$known <- labels
    set <- glfs_classify(set, "known", 4)
    expect_equal(set$glfs_class_margin, ours$colData$glfs_class_margin)
    # Two classes after three: nothing of the three is left.
    of_two <- paste0("glfs_class_decision.", c("FALSE", "TRUE"))
    for (again in list(glfs_classify(out, groups == "B", 4), glfs_classify(set, groups == "B", 4))) {
        table <- if (is(again, "ExpressionSet")) Biobase::pData(again)
        else SummarizedExperiment::colData(again)
        expect_identical(grep("decision", names(table), value = TRUE), of_two)
    }

    need_package("SeuratObject")
    object <- seurat_of(few)
    object$known <- labels
    object <- glfs_classify(object, "known", 4)
    expect_equal(object$glfs_class_margin, ours$colData$glfs_class_margin, ignore_attr = TRUE)
    again <- glfs_classify(object, groups == "B", 4)
    expect_identical(grep("decision", names(again[[]]), value = TRUE), of_two)
})
