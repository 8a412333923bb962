test_that("unknown labels are filled in, by samples that have the genes of the model", {
    labels <- groups
    labels[c(TRUE, TRUE, FALSE)] <- NA
    sce <- sce_of(cells())
    model <- classifier(cells()[1:6, ], labels)
    expect_identical(dim(model$coef), c(3L, 3L))
    predicted <- predict(model, cells())
    expect_identical(names(predicted), colnames(cells()))
    expect_identical(as.character(predicted), groups)
    for (x in list(sce[40:1, ], Matrix::Matrix(cells(), sparse = TRUE), seurat_of(cells())))
        expect_identical(as.character(predict(model, x)), groups)
    decision <- predict(model, cells(), type = "decision")
    expect_identical(dimnames(decision), list(colnames(cells()), model$classes))
    expect_refused(predict(model, sce[0, ]), "newdata")
    expect_refused(predict(model, t(cells())), "newdata")
    expect_refused(predict(glfs_result(selected()), cells()), "object")
    file <- withr::local_tempfile()
    saveRDS(model, file)
    expect_identical(predict(readRDS(file), cells()), predicted)
})

test_that("labels come in all forms", {
    two <- cells()[1:6, 1:60]
    numbers <- rep(1:2, each = 30)
    for (labels in list(numbers, numbers + 0, factor(numbers, ordered = TRUE),
        S4Vectors::Rle(numbers), numbers == 2))
        expect_identical(as.integer(predict(classifier(two, labels), two)), numbers)
    one <- glfs_classify(cells()[1:2, ], groups == "B", 1)
    expect_identical(as.character(predict(one, cells())), as.character(groups == "B"))
    for (wrong in list(numbers + 0.5, 1:3, list(1)))
        expect_refused(glfs_classify(two, wrong), "labels")
    expect_error(glfs_classify(two, rep("a", 60)), class = "python.ValueError")
})

test_that("a classifier of few genes is learnt, in objects of all classes", {
    few <- cells()[1:9, ]
    ours <- glfs_classify(few, replace(groups, 1:9, NA), c(3, 6))
    expect_identical(ours$tried, c(3L, 6L))
    expect_identical(ours$n_labelled, 81L)
    written <- paste0("glfs_class_", c("predicted", "margin"))
    expect_identical(dimnames(ours$colData), list(colnames(few), written))
    expect_identical(dimnames(ours$coef), list(ours$genes, ours$classes))
    tables <- list(samples, Biobase::pData, function(x) x[[]])
    objects <- list(sce_of(few), Biobase::ExpressionSet(few), seurat_of(few))
    for (i in seq_along(tables)) {
        objects[[i]]$known <- replace(groups, 1:9, NA)
        out <- glfs_classify(objects[[i]], "known", c(3, 6))
        expect_equal(as.list(tables[[i]](out)[written]), as.list(ours$colData),
            ignore_attr = TRUE)
        expect_identical(glfs_genes(out, "glfs_class"), ours$genes)
        # Two classes after three: logical labels are TRUE and FALSE.
        out$yes <- groups == "B"
        again <- glfs_classify(out, if (i == 1L) "yes" else groups == "B", 3)
        expect_identical(levels(again$glfs_class_predicted), c("FALSE", "TRUE"))
        expect_true(mean(again$glfs_class_predicted == (groups == "B")) > 0.9)
    }
})
