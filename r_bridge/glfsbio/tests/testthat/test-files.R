# Matrices in files: what all functions find in them is what they find in memory.

# Dense in HDF5, decimal and whole numbers; delayed by an operation.
in_files <- function(x, .local_envir = parent.frame()) {
    folder <- withr::local_tempdir(.local_envir = .local_envir)
    suppressMessages(HDF5Array::saveHDF5SummarizedExperiment(x, folder, replace = TRUE))
}

delayed <- function(x) {
    for (name in SummarizedExperiment::assayNames(x))
        SummarizedExperiment::assay(x, name, withDimnames = FALSE) <-
            (SummarizedExperiment::assay(x, name, withDimnames = FALSE) * 2) / 2
    x
}

# More than one block.
local_blocks <- function(.local_envir = parent.frame()) {
    old <- DelayedArray::getAutoBlockSize()
    suppressMessages(DelayedArray::setAutoBlockSize(40 * 8 * 7))
    withr::defer(suppressMessages(DelayedArray::setAutoBlockSize(old)), .local_envir)
}

test_that("what is found in files is what is found in memory", {
    need_package("HDF5Array")
    file <- in_files(in_memory())
    local_blocks()
    before <- list.files(tempdir(), "^glfsbio-")
    expect_found <- function(name, other)
        expect_equal(
            found(quiet(functions[[name]](other))), in_memory_by(name), tolerance = 1e-6,
            info = name
        )
    for (name in c(
        "select", "evaluate", "extend", "stability", "classify", "laprls", "efficiency"
    ))
        expect_found(name, file)
    for (name in c("select", "efficiency"))
        expect_found(name, delayed(file))
    expect_identical(list.files(tempdir(), "^glfsbio-"), before)
    expect_message(select(file), "read from its file, part by part")
})

test_that("a delayed matrix of several blocks goes to a temporary file", {
    local_blocks()
    sparse <- DelayedArray::DelayedArray(Matrix::Matrix(cells(), sparse = TRUE)) * 1
    zeros <- DelayedArray::RleArray(
        S4Vectors::Rle(as.vector(cells())), dim(cells()), dimnames(cells())
    )
    few <- cells() * (cells() > 1)
    expect_true(DelayedArray::is_sparse(sparse))
    for (x in list(sparse, zeros)) {
        expect_message(one <- select(x), "block by block")
        expect_expected(one)
    }
    expect_message(one <- select(DelayedArray::DelayedArray(few) + 0), "block by block")
    expect_equal(one$glfs_score, select(few)$glfs_score, tolerance = 1e-6)
    expect_identical(plain_matrix(zeros + 1, "x")$p, NULL)
    expect_length(plain_matrix(sparse, "x")$p, 91)
    forget_parts()
    expect_length(list.files(tempdir(), "^glfsbio-"), 0)
})

test_that("a missing value in a block is an error that says where", {
    local_blocks()
    x <- cells()
    x["g3", "c50"] <- NA
    expect_error(select(DelayedArray::DelayedArray(x) * 1), "gene g3, sample c50",
        class = "glfs_error")
    colnames(x) <- NULL
    expect_error(select(DelayedArray::DelayedArray(x) * 1), "gene g3, sample 50",
        class = "glfs_error")
    forget_parts()
})

test_that("reduced dimensions and new samples may be in files", {
    need_package("HDF5Array")
    x <- in_memory()
    pca <- stats::prcomp(t(cells()), rank. = 5)$x
    SingleCellExperiment::reducedDim(x, "PCA") <- pca
    stored <- in_files(x)
    SingleCellExperiment::reducedDim(stored, "PCA") <-
        methods::as(pca, "HDF5Array")
    model <- quiet(glfs_laprls(stored, labels = "group"))
    expect_equal(
        found(quiet(select(stored, dimred = "PCA"))),
        found(quiet(select(x, dimred = "PCA"))), tolerance = 1e-6
    )
    local_blocks()
    expect_identical(as.character(quiet(predict(model, stored))), groups)
    logged <- stored
    SummarizedExperiment::assay(logged, "logcounts") <-
        log1p(SummarizedExperiment::assay(stored, "counts"))
    expect_equal(
        quiet(glfs_scores(select(logged))),
        quiet(glfs_scores(select(as.matrix(
            SummarizedExperiment::assay(logged, "logcounts")
        )))), tolerance = 1e-6
    )
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
    python <- glfs_setup(quiet = TRUE)$python
    ask_python(python, "-c", code, path)
    expect_message(x <- glfs_read_h5ad(path), "raw = TRUE")
    expect_identical(dim(x), c(3L, 4L))
    for (one in c(path, paste0(path, ".zarr"))) {
        expect_message(x <- glfs_read_h5ad(one, "counts", raw = TRUE), "half")
        expect_identical(rownames(x), letters[1:5])
        expect_true(all(SummarizedExperiment::assay(x, "counts") == 2))
        expect_identical(as.character(x$k), c("x", "y", "z", "x"))
        expect_identical(SingleCellExperiment::reducedDimNames(x), "PCA")
    }
    none <- paste0(path, ".none.h5ad")
    expect_identical(
        SummarizedExperiment::assayNames(glfs_read_h5ad(none)), "half"
    )
    refused <- function(path, ..., argument = "path")
        expect_refused(glfs_read_h5ad(path, ...), argument, "python.ValueError")
    refused(none, raw = TRUE, argument = "raw")
    whole <- readBin(path, raw(), file.size(path))
    for (name in c("text.h5ad", "cut.h5ad", "none.h5ad", "data.rds"))
        writeBin(switch(name,
            text.h5ad = charToRaw("text"), cut.h5ad = whole[seq_len(3000)],
            none.h5ad = raw(), serialize(1, NULL)
        ), file.path(folder, name))
    for (name in c("text.h5ad", "cut.h5ad", "none.h5ad"))
        refused(file.path(folder, name))
    for (name in c("data.rds", ""))
        expect_refused(glfs_read_h5ad(file.path(folder, name)), "path")
})
