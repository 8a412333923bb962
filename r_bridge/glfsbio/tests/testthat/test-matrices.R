test_that("a matrix gives a DataFrame with the parameters", {
    table <- expected()
    expect_s4_class(table, "DataFrame")
    expect_identical(names(table), columns)
    expect_identical(rownames(table), paste0("g", 1:40))
    expect_setequal(rownames(table)[table$glfs_selected], paste0("g", 1:6))
    expect_identical(sort(table$glfs_rank), 1:40)
    expect_identical(table$glfs_loss > 0, table$glfs_selected)
    expect_identical(table$glfs_included, logical(40))
    expect_equal(sum(table$glfs_weight), 6, tolerance = 1e-3)
    entry <- S4Vectors::metadata(table)$glfs
    expect_identical(entry$params$n_genes, 6L)
    expect_true("limits" %in% names(entry$params))
    expect_null(entry$params$limits)
    expect_identical(entry$objective, "error")
    expect_length(entry$preserved, 6)
    expect_false(is.unsorted(c(0, entry$preserved, 1)))
    expect_identical(entry$structure$n_comps, 10L)
    expect_null(entry$curve)
    expect_null(entry$path)
})

test_that("panels are nested, and one without a size has the curve", {
    three <- glfs_select_genes(cells(), n_genes = 3, n_comps = 10)
    expect_setequal(rownames(three)[three$glfs_selected], glfs_gene_sets(expected())$glfs[1:3])
    one <- glfs_select_genes(cells(), n_comps = 10)
    entry <- S4Vectors::metadata(one)$glfs
    expect_identical(sum(one$glfs_selected), entry$n_genes)
    expect_identical(entry$preserved, entry$curve$preserved[seq_len(entry$n_genes)])
    expect_identical(entry$curve$n_genes, seq_along(entry$curve$preserved))
})

test_that("what has no value is NA, in the record too", {
    one <- select(cells(), include = c("g1", "g9"), exclude = "g4")
    expect_identical(which(one$glfs_included), c(1L, 9L))
    for (name in c("glfs_score", "glfs_rank"))
        expect_identical(which(is.na(one[[name]])), 4L)
    expect_identical(one["g4", "glfs_weight"], 0)
    share <- S4Vectors::metadata(one)$glfs$optimality
    expect_identical(is.na(share) & !is.nan(share), rep(c(TRUE, FALSE), c(2, 4)))
})

test_that("the paper's objectives have their solver's record", {
    one <- select(cells(), objective = "exact")
    expect_gte(sum(one$glfs_selected[1:6]), 5) # a noisy one may be in for its copy
    entry <- S4Vectors::metadata(one)$glfs
    expect_true(entry$converged)
    expect_length(entry$path$lam, length(entry$path$n_genes))
    expect_null(entry$optimality)
    again <- select(cells(), objective = "exact", lam = entry$lam)
    expect_identical(again$glfs_selected, one$glfs_selected)
})

test_that("all sparse forms give what the dense matrix gives", {
    x <- Matrix::Matrix(cells(), sparse = TRUE)
    for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix")) {
        expect_expected(select(methods::as(x, class)))
    }
})

test_that("logical, integer and dense Matrix matrices are numbers", {
    x <- cells() > 1
    plain <- select(x + 0)
    for (one in list(
        x, x + 0L, Matrix::Matrix(x, sparse = TRUE),
        Matrix::Matrix(x + 0, sparse = FALSE)
    ))
        expect_equal(select(one)$glfs_score, plain$glfs_score, tolerance = 1e-6)
    pattern <- methods::as(methods::as(Matrix::Matrix(x, sparse = TRUE),
        "nMatrix"), "TsparseMatrix")
    expect_s4_class(pattern, "ngTMatrix")
    expect_equal(select(pattern)$glfs_score, plain$glfs_score, tolerance = 1e-6)
})

test_that("a matrix with an entry stored twice has their sum", {
    x <- cells()
    at <- which(x != 0, arr.ind = TRUE)
    twice <- Matrix::sparseMatrix(
        c(at[, 1], at[, 1]), c(at[, 2], at[, 2]), x = rep(x[at] / 2, 2),
        dims = dim(x), dimnames = dimnames(x), repr = "T"
    )
    expect_expected(select(twice))
})

test_that("a delayed matrix is realised with a message", {
    dense <- DelayedArray::DelayedArray(cells())
    sparse <- DelayedArray::DelayedArray(Matrix::Matrix(cells(), sparse = TRUE))
    for (x in list(dense, sparse, sparse * 1)) {
        expect_message(one <- select(x), "realised in memory")
        expect_expected(one)
    }
})

test_that("a missing value is an error that says where", {
    x <- cells()
    x["g3", "c5"] <- NA
    x["g3", "c6"] <- NaN
    expect_error(select(x), "gene g3, sample c5",
        class = "glfs_error")
    expect_error(select(Matrix::Matrix(x, sparse = TRUE)), "gene g3, sample c5")
    expect_error(
        select(sce_of(x)), "assay \"logcounts\"", class = "glfs_error"
    )
    whole <- matrix(1:4, 2)
    whole[2] <- NA
    expect_error(glfs_select_genes(whole), "gene 2, sample 1", class = "glfs_error")
})

test_that("an infinite value is Python's error", {
    x <- cells()
    x[1] <- Inf
    expect_error(select(x), class = "python.ValueError")
})

test_that("what is not a matrix of numbers is refused", {
    expect_refused(select(letters), "x")
    expect_error(select(matrix(letters, 2)), class = "glfs_error")
    expect_refused(select(cells(), assay = "logcounts"), "assay")
})

test_that("names of genes must tell them apart", {
    x <- cells()
    rownames(x)[2] <- "g1"
    expect_error(select(x), "g1", class = "glfs_error")
    rownames(x)[2] <- NA
    expect_error(select(x), class = "glfs_error")
    rownames(x)[2] <- ""
    expect_error(select(x), class = "glfs_error")
    rownames(x) <- NULL
    expect_message(table <- select(x), "genes are numbered")
    expect_expected(table)
    x <- cells()
    colnames(x)[2] <- "c1"
    expect_expected(select(x))
})

test_that("attributes and classes of a matrix change nothing", {
    x <- cells()
    scaled <- t(scale(t(x), center = FALSE, scale = FALSE))
    noted <- structure(x, note = mean, `scaled:center` = rowMeans(x))
    forms <- list(
        scaled, noted, I(x), as.table(x), as.data.frame(x), S4Vectors::DataFrame(x),
        structure(x, class = c("units", "matrix")), Matrix::Matrix(noted)
    )
    for (form in forms)
        expect_expected(quiet(select(form)))
    model <- glfs_laprls(noted, structure(groups, note = "a"))
    for (form in list(scaled, noted, DelayedArray::DelayedArray(x) * 1))
        expect_identical(as.character(predict(model, form)), groups)
    efficiency <- S4Vectors::DataFrame(
        efficiency = structure(rep(1, 40), units = "a", class = "units"),
        row.names = rownames(x)
    )
    for (one in list(efficiency, tapply(rep(1, 40), rownames(x), sum)))
        expect_identical(
            quiet(select(x, platform = glfs_platform(efficiency = one)))$glfs_rank,
            quiet(select(x, platform = glfs_platform(efficiency = 1)))$glfs_rank
        )
    expect_error(select(data.frame(gene = rownames(x), x)), class = "glfs_error")
})

test_that("names say that a matrix is transposed", {
    x <- cells()
    rownames(x) <- utils::head(rownames(glfs_example()), nrow(x))
    x <- t(x)
    expect_refused(select(x), "x", "python.ValueError")
    expect_refused(select(sce_of(cells())[, 0]), "x")
    expect_refused(select(cells()[0, ]), "x")
    expect_refused(select(SummarizedExperiment::SummarizedExperiment(
        list(logcounts = x)
    )), "x", "python.ValueError")
    rownames(x) <- NULL
    expect_refused(suppressMessages(select(x)), "x", "python.ValueError")
    model <- glfs_laprls(cells(), groups)
    expect_error(predict(model, t(cells())), "columns", class = "glfs_error")
    x <- cells()
    dimnames(x) <- list(paste0("protein", 1:40), paste0("A", 1:90))
    expect_expected(quiet(select(x)))
})

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
    for (name in names(functions))
        expect_found(name, file)
    expect_found("select", delayed(file))
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
    expect_length(plain_matrix(sparse, "x")$p, 91)
    forget_parts()
    expect_length(list.files(tempdir(), "^glfsbio-"), 0)
})

test_that("a missing value in a block is an error", {
    local_blocks()
    x <- cells()
    x["g3", "c50"] <- NA
    expect_refused(select(DelayedArray::DelayedArray(x) * 1), "x", "python.ValueError")
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
    run_command(python, c("-c", code, path))
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
