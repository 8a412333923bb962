test_that("a matrix gives a DataFrame with the parameters", {
    need_python()
    table <- expected()
    expect_s4_class(table, "DataFrame")
    expect_identical(names(table), columns)
    expect_identical(rownames(table), paste0("g", 1:40))
    expect_setequal(rownames(table)[table$glfs_selected], paste0("g", 1:6))
    expect_identical(sort(table$glfs_rank), 1:40)
    entry <- S4Vectors::metadata(table)$glfs
    expect_true(entry$converged)
    expect_identical(entry$params$n_genes, 6L)
    expect_identical(entry$params$lam, "None")
    expect_length(entry$path$lam, length(entry$path$n_genes))
})

test_that("all sparse forms give what the dense matrix gives", {
    need_python()
    x <- Matrix::Matrix(cells(), sparse = TRUE)
    for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix")) {
        one <- select(methods::as(x, class))
        expect_equal(one$glfs_weight, expected()$glfs_weight, tolerance = 1e-6)
        expect_identical(one$glfs_selected, expected()$glfs_selected)
    }
})

test_that("logical, integer and dense Matrix matrices are numbers", {
    need_python()
    x <- cells() > 1
    plain <- select(x + 0)
    for (one in list(
        x, x + 0L, Matrix::Matrix(x, sparse = TRUE),
        Matrix::Matrix(x + 0, sparse = FALSE)
    ))
        expect_equal(select(one)$glfs_weight, plain$glfs_weight, tolerance = 1e-6)
    pattern <- methods::as(methods::as(Matrix::Matrix(x, sparse = TRUE),
        "nMatrix"), "TsparseMatrix")
    expect_s4_class(pattern, "ngTMatrix")
    expect_equal(select(pattern)$glfs_weight, plain$glfs_weight, tolerance = 1e-6)
})

test_that("a matrix with an entry stored twice has their sum", {
    need_python()
    x <- cells()
    at <- which(x != 0, arr.ind = TRUE)
    twice <- Matrix::sparseMatrix(
        c(at[, 1], at[, 1]), c(at[, 2], at[, 2]), x = rep(x[at] / 2, 2),
        dims = dim(x), dimnames = dimnames(x), repr = "T"
    )
    expect_equal(select(twice)$glfs_weight, expected()$glfs_weight, tolerance = 1e-6)
})

test_that("a delayed matrix is realised with a message", {
    need_python()
    dense <- DelayedArray::DelayedArray(cells())
    sparse <- DelayedArray::DelayedArray(Matrix::Matrix(cells(), sparse = TRUE))
    for (x in list(dense, sparse, sparse * 1)) {
        expect_message(one <- select(x), "realised in memory")
        expect_equal(one$glfs_weight, expected()$glfs_weight, tolerance = 1e-6)
    }
})

test_that("a missing value is an error that says where", {
    need_python()
    x <- cells()
    x["g3", "c5"] <- NA
    x["g3", "c6"] <- NaN
    expect_error(select(x), "2 missing values, the first at gene g3, sample c5",
        class = "glfs_error")
    expect_error(select(Matrix::Matrix(x, sparse = TRUE)), "gene g3, sample c5")
    expect_error(
        select(sce_of(x)), "assay \"logcounts\" has 2 missing values"
    )
    whole <- matrix(1:4, 2)
    whole[2] <- NA
    expect_error(glfs_select_genes(whole), "1 missing value, the first at gene 2, sample 1")
})

test_that("an infinite value is Python's error", {
    need_python()
    x <- cells()
    x[1] <- Inf
    expect_error(select(x), "infinite", class = "python.ValueError")
})

test_that("what is not a matrix of numbers is refused", {
    need_python()
    expect_error(select(letters), "x is a character: it must be")
    expect_error(select(matrix(letters, 2)), "matrix of numbers")
    expect_error(select(cells(), assay = "logcounts"), "x is a matrix")
})

test_that("names of genes must tell them apart", {
    need_python()
    x <- cells()
    rownames(x)[2] <- "g1"
    expect_error(select(x), "not unique \\(g1\\).*make.unique")
    rownames(x)[2] <- NA
    expect_error(select(x), "missing for 1 gene:")
    rownames(x)[2] <- ""
    expect_error(select(x), "missing for 1 gene:")
    rownames(x) <- NULL
    expect_message(table <- select(x), "genes are numbered")
    expect_equal(table$glfs_weight, expected()$glfs_weight)
    x <- cells()
    colnames(x)[2] <- "c1"
    expect_equal(select(x)$glfs_weight, expected()$glfs_weight)
})
