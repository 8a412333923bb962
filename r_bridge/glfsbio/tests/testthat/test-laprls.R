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
