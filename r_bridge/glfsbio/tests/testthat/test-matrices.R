test_that("a matrix gives a DataFrame with the parameters, in which what has no value is NA", {
    table <- select(cells(), include = c("g1", "g9"), exclude = "g4")
    expect_s4_class(table, "DataFrame")
    expect_identical(dimnames(table), list(paste0("g", 1:40), columns))
    expect_identical(which(table$glfs_included), c(1L, 9L))
    expect_identical(sort(table$glfs_rank), 1:39)
    for (name in c("glfs_score", "glfs_rank"))
        expect_identical(which(is.na(table[[name]])), 4L)
    entry <- glfs_result(table)
    expect_identical(is.na(entry$optimality) & !is.nan(entry$optimality), rep(c(TRUE, FALSE), c(2, 4)))
    expect_identical(entry$params$n_genes, 6L)
    exact <- select(cells(), objective = "exact")
    again <- select(cells(), objective = "exact", lam = glfs_result(exact)$lam)
    expect_identical(again$glfs_selected, exact$glfs_selected)
})

test_that("all forms of a matrix give what the dense one gives", {
    x <- cells()
    sparse <- Matrix::Matrix(x, sparse = TRUE)
    at <- which(x != 0, arr.ind = TRUE)
    twice <- Matrix::sparseMatrix(c(at[, 1], at[, 1]), c(at[, 2], at[, 2]),
        x = rep(x[at] / 2, 2), dims = dim(x), dimnames = dimnames(x), repr = "T")
    noted <- structure(x, note = mean, `scaled:center` = rowMeans(x))
    forms <- list(
        methods::as(sparse, "RsparseMatrix"), methods::as(sparse, "TsparseMatrix"), twice,
        t(scale(t(x), center = FALSE, scale = FALSE)), noted, I(x), as.table(x),
        as.data.frame(x), S4Vectors::DataFrame(x), Matrix::Matrix(noted),
        structure(x, class = c("units", "matrix")),
        `colnames<-`(x, replace(colnames(x), 2, "c1")),
        `dimnames<-`(x, list(NULL, paste0("A", 1:90)))
    )
    for (form in forms)
        expect_expected(quiet(select(form)))
    for (form in list(DelayedArray::DelayedArray(x), DelayedArray::DelayedArray(sparse) * 1)) {
        expect_message(one <- select(form), "realised in memory")
        expect_expected(one)
    }
    flags <- x > 1
    pattern <- methods::as(methods::as(Matrix::Matrix(flags, sparse = TRUE), "nMatrix"),
        "TsparseMatrix")
    plain <- select(flags + 0)
    for (one in list(flags, flags + 0L, Matrix::Matrix(flags + 0, sparse = FALSE), pattern))
        expect_equal(select(one)$glfs_score, plain$glfs_score, tolerance = 1e-6)
    efficiency <- S4Vectors::DataFrame(row.names = rownames(x),
        efficiency = structure(rep(1, 40), units = "a", class = "units"))
    ranks <- function(one) quiet(select(x, platform = glfs_platform(efficiency = one)))$glfs_rank
    expect_identical(ranks(efficiency), ranks(tapply(rep(1, 40), rownames(x), sum)))
})

# More than one block.
local_blocks <- function(.local_envir = parent.frame()) {
    old <- DelayedArray::getAutoBlockSize()
    suppressMessages(DelayedArray::setAutoBlockSize(40 * 8 * 7))
    withr::defer(suppressMessages(DelayedArray::setAutoBlockSize(old)), .local_envir)
}

test_that("values that are missing, infinite or no numbers are errors", {
    x <- cells()
    x["g3", "c5"] <- NA
    x["g3", "c6"] <- NaN
    for (one in list(x, Matrix::Matrix(x, sparse = TRUE), sce_of(x)))
        expect_error(select(one), "gene g3, sample c5", class = "glfs_error")
    expect_error(glfs_select_genes(matrix(c(1L, NA, 3L, 4L), 2)), "gene 2, sample 1")
    x[3, 5:6] <- Inf
    expect_error(select(x), class = "python.ValueError")
    expect_refused(select(letters), "x")
    expect_error(select(data.frame(gene = rownames(x), x)), class = "glfs_error")
    local_blocks()
    expect_refused(select(DelayedArray::DelayedArray(x) * 1), "x", "python.ValueError")
})

test_that("names of genes must tell them apart, and say that a matrix is transposed", {
    for (name in c("g1", NA, "")) {
        x <- cells()
        rownames(x)[2] <- name
        expect_error(select(x), class = "glfs_error")
    }
    x <- cells()
    rownames(x) <- utils::head(rownames(glfs_example()), nrow(x))
    for (one in list(t(x), `rownames<-`(t(x), NULL), sce_of(t(x[rep(1:40, 3)[1:90], ]))))
        expect_refused(suppressMessages(select(one)), "x", "python.ValueError")
    for (one in list(sce_of(cells())[, 0], cells()[0, ]))
        expect_refused(select(one), "x")
})

# Matrices in files: what all functions find in them is what they find in memory.
in_files <- function(x, .local_envir = parent.frame()) {
    folder <- withr::local_tempdir(.local_envir = .local_envir)
    suppressMessages(HDF5Array::saveHDF5SummarizedExperiment(x, folder, replace = TRUE))
}

test_that("what is found in files is what is found in memory", {
    need_package("HDF5Array")
    x <- in_memory()
    pca <- stats::prcomp(t(cells()), rank. = 5)$x
    stored <- in_files(x)
    local_blocks()
    before <- list.files(tempdir(), "^glfsbio-")
    delayed <- stored
    for (name in c("logcounts", "counts")) # by an operation
        assay(delayed, name, withDimnames = FALSE) <-
            (SummarizedExperiment::assay(delayed, name, withDimnames = FALSE) * 2) / 2
    for (name in names(functions))
        expect_equal(found(quiet(functions[[name]](stored))), in_memory_by()[[name]],
            tolerance = 1e-6, info = name)
    expect_equal(found(quiet(functions$select(delayed))), in_memory_by()$select, tolerance = 1e-6)
    expect_identical(list.files(tempdir(), "^glfsbio-"), before)
    expect_message(select(stored), "read from its file, part by part")
    # Reduced dimensions and new samples, too.
    SingleCellExperiment::reducedDim(x, "PCA") <- pca
    SingleCellExperiment::reducedDim(stored, "PCA") <- methods::as(pca, "HDF5Array")
    scores <- function(x) quiet(glfs_scores(select(x, dimred = "PCA")))
    expect_equal(scores(stored), scores(x), tolerance = 1e-6)
    expect_identical(as.character(quiet(predict(classifier(x, "group"), stored))), groups)
})

test_that("a delayed matrix of several blocks goes to a temporary file", {
    local_blocks()
    sparse <- DelayedArray::DelayedArray(Matrix::Matrix(cells(), sparse = TRUE)) * 1
    zeros <- DelayedArray::RleArray(S4Vectors::Rle(as.vector(cells())), dim(cells()),
        dimnames(cells()))
    for (x in list(sparse, zeros, DelayedArray::DelayedArray(cells()) + 0)) {
        expect_message(one <- select(x), "block by block")
        expect_expected(one)
    }
    expect_length(list.files(tempdir(), "^glfsbio-"), 0)
})

test_that("files of AnnData are read with their raw counts, others refused", {
    folder <- withr::local_tempdir()
    path <- file.path(folder, "cells.h5ad")
    code <- paste(
        "import sys, anndata as ad, numpy as np, pandas as pd;",
        "x = np.eye(4, 3); raw = ad.AnnData(2 * np.ones((4, 5)),",
        "var=pd.DataFrame(index=list('abcde')));",
        "a = ad.AnnData(x, obs=pd.DataFrame({'k': list('xyzx')},",
        "index=list('1234')), var=pd.DataFrame(index=list('abc')));",
        "a.obsm['X_pca'] = x; a.layers['half'] = x / 2; a.raw = raw;",
        "a.write_h5ad(sys.argv[1]); a.write_zarr(sys.argv[1] + '.zarr');",
        "del a.raw; a.X = None; a.write_h5ad(sys.argv[1] + '.none.h5ad')"
    )
    run_command(glfs_setup(quiet = TRUE)$python, c("-c", code, path))
    expect_message(x <- glfs_read_h5ad(path), "raw = TRUE")
    for (one in c(path, paste0(path, ".zarr"))) {
        expect_message(x <- glfs_read_h5ad(one, "counts", raw = TRUE), "half")
        expect_true(all(SummarizedExperiment::assay(x, "counts") == 2))
        expect_identical(as.character(x$k), c("x", "y", "z", "x"))
        expect_identical(SingleCellExperiment::reducedDimNames(x), "PCA")
    }
    none <- paste0(path, ".none.h5ad")
    expect_identical(SummarizedExperiment::assayNames(glfs_read_h5ad(none)), "half")
    expect_refused(glfs_read_h5ad(none, raw = TRUE), "raw", "python.ValueError")
    writeBin(charToRaw("text"), file.path(folder, "wrong.h5ad"))
    expect_refused(glfs_read_h5ad(file.path(folder, "wrong.h5ad")), "path", "python.ValueError")
    expect_refused(glfs_write_h5ad(cells(), path), "x")
    expect_refused(glfs_write_h5ad(selected(), path), "path", "python.FileExists")
    # What is read is called X there, and is what is selected from.
    glfs_write_h5ad(sce_of(cells()), file.path(folder, "x.h5ad"), "logcounts")
    expect_expected(rows(select(glfs_read_h5ad(file.path(folder, "x.h5ad")))))
})
