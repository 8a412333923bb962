# Matrices in files: what all functions find in them is what they find in memory.

in_memory <- function() {
    set.seed(2)
    counts <- matrix(rpois(40 * 90, round(2 * cells())), 40, dimnames = dimnames(cells()))
    x <- SingleCellExperiment::SingleCellExperiment(
        list(logcounts = cells(), counts = counts),
        colData = S4Vectors::DataFrame(group = groups)
    )
    suppressMessages(select(x))
}

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

functions <- list(
    structure = function(x) glfs_structure(x, n_comps = 10),
    select = function(x) select(x, limits = glfs_limits(max_counts = 50, counts_layer = "counts")),
    evaluate = function(x) glfs_evaluate_panel(x, labels = "group", n_random = 1L),
    explain = function(x) glfs_explain_panel(x, labels = "group"),
    gene = function(x) glfs_explain_gene(x, "g7"),
    substitutes = function(x) glfs_substitutes(x),
    extend = function(x) glfs_extend_panel(x, "glfs", n_extra = 2),
    replace = function(x) glfs_replace_genes(x, glfs_gene_sets(x)$glfs[1]),
    compare = function(x) glfs_compare_panels(x, list(a = c("g1", "g2"), b = c("g3", "g4"))),
    curve = function(x) glfs_curve(x, max_genes = 4L),
    markers = function(x) glfs_markers(x, "glfs", labels = "group"),
    stability = function(x) glfs_stability(x, n_resamples = 2L),
    classify = function(x) glfs_classify(x, labels = "group", n_genes = 3),
    laprls = function(x) glfs_laprls(x, labels = "group"),
    order = function(x) glfs_order_panel(x),
    efficiency = function(x) glfs_estimate_efficiency(
        x, x, labels = "group", counts_layer = "counts", spatial_layer = "counts"
    )
)

# Numbers and texts, without what tells one call from another.
found <- function(one) {
    plain <- function(value) {
        if (methods::is(value, "DataFrame"))
            value <- as.list(value)
        if (is.list(value) && !is.data.frame(value)) {
            value <- value[!names(value) %in% c("made_of", "kept", "written", "seconds", "versions")]
            lapply(value, plain)
        } else value
    }
    if (!methods::is(one, "SummarizedExperiment"))
        return(plain(one))
    plain(list(
        SummarizedExperiment::rowData(one), SummarizedExperiment::colData(one),
        S4Vectors::metadata(one)
    ))
}

test_that("all functions find in files what they find in memory", {
    need_package("HDF5Array")
    x <- in_memory()
    file <- in_files(x)
    local_blocks()
    before <- list.files(tempdir(), "^glfsbio-")
    for (name in names(functions)) {
        call <- function(x) suppressWarnings(suppressMessages(
            withr::with_seed(1, functions[[name]](x))
        ))
        here <- call(x)
        for (other in list(file, delayed(file))) {
            expect_equal(found(call(other)), found(here), tolerance = 1e-6, info = name)
        }
    }
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
    for (x in list(sparse, zeros, DelayedArray::DelayedArray(few) + 0)) {
        expect_message(one <- select(x), "block by block")
        expect_equal(one$glfs_score, select(as.matrix(x))$glfs_score, tolerance = 1e-6)
    }
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
