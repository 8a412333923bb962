# Refusals have the argument as a field, those of Python their kind as a class, too.
expect_refused <- function(object, argument, class = "glfs_error") {
    refusal <- expect_error(object, class = class)
    expect_identical(refusal$argument, argument)
}

# A package that is suggested; where the project is tested none may be missing.
need_package <- function(name)
    if (!nzchar(Sys.getenv("CI"))) skip_if_not_installed(name)

# 90 cells in three groups; genes 1 to 6 tell them apart, 34 are noise. Zeros
# make it sparse.
groups <- rep(c("B", "NK", "T"), each = 30)

cells <- function() {
    set.seed(1)
    x <- matrix(rnorm(40 * 90, 0.5, 0.3), 40)
    for (i in 1:6) {
        in_group <- 30 * ((i - 1) %% 3) + 1:30
        x[i, in_group] <- x[i, in_group] + 3
    }
    x[x < 0.4] <- 0
    dimnames(x) <- list(paste0("g", 1:40), paste0("c", 1:90))
    x
}

sce_of <- function(x) SingleCellExperiment::SingleCellExperiment(
    list(logcounts = x), colData = S4Vectors::DataFrame(group = groups))

# Without what is said, and with the seed of R that it had.
quiet <- function(value) suppressWarnings(suppressMessages(withr::with_seed(1, value)))

# Ten components: the same problem for all tests, and a quick one.
select <- function(x, ...) glfs_select_genes(x, n_genes = 6, n_comps = 10, ...)

columns <- paste0("glfs_", c("weight", "loss", "score", "rank", "selected", "included",
    "certificate", "certificate_within"))

# Columns of genes, of samples, and matrices of an experiment.
rows <- function(x) SummarizedExperiment::rowData(x)
samples <- function(x) SummarizedExperiment::colData(x)
`assay<-` <- function(x, ..., value) SummarizedExperiment::`assay<-`(x, ..., value = value)

# What people read of a result, without its number.
told <- function(result) result[setdiff(names(result), "written")]

# A number of an evaluation.
measured <- function(record, measure = "preserved", column = "value")
    record$measures[[column]][match(measure, record$measures$measure)]

# A function whose result is computed once.
once <- function(make) {
    made <- NULL
    function() {
        if (is.null(made))
            made <<- make()
        made
    }
}

# What all other forms of the same cells must give.
expected <- once(function() select(cells()))

selected <- once(function() suppressMessages(select(sce_of(cells()))))

# The second argument is `slot` in version 4 of SeuratObject and `layer` in 5, where counts alone
# are filled.
seurat_with <- function(object, layer, x)
    SeuratObject::SetAssayData(object, layer, new.data = x)

seurat_of <- function(x, counts = x) {
    object <- SeuratObject::CreateSeuratObject(methods::as(counts, "CsparseMatrix"))
    seurat_with(object, "data", methods::as(x, "CsparseMatrix"))
}

# In a table of any class.
expect_expected <- function(table) expect_equal(as.list(table)[columns],
    as.list(expected())[columns], tolerance = 1e-6)

# The record of a classifier of three genes.
classifier <- function(x, labels) glfs_result(glfs_classify(x, labels, 3), "glfs_class")

# Functions that read matrices in their ways, of an object with counts and a selection.
functions <- list(
    select = function(x) select(x, limits = glfs_limits(
        expression = list(counts = 50), counts_layer = "counts")),
    evaluate = function(x) glfs_evaluate_panel(x, labels = "group"),
    classify = function(x) classifier(x, "group")$coef,
    efficiency = function(x) as.list(glfs_estimate_efficiency(x, x, labels = "group"))
)

# What the package wrote, without what tells one call from another.
found <- function(one) {
    if (!methods::is(one, "SummarizedExperiment"))
        return(one)
    ours <- function(table) as.list(table[startsWith(names(table), "glfs_")])
    plain <- function(value) {
        if (is.list(value) && !is.data.frame(value)) {
            value <- as.list(value)[setdiff(names(value), c("written", "seconds", "versions"))]
            lapply(value, plain)
        } else if (methods::is(value, "DataFrame")) as.list(value) else value
    }
    keys <- glfs_results(one)$key
    list(ours(rows(one)), ours(samples(one)),
        lapply(keys, function(key) plain(told(glfs_result(one, key)))))
}

# The same cells with counts and a selection.
in_memory <- once(function() {
    set.seed(2)
    counts <- matrix(rpois(40 * 90, round(2 * cells())), 40, dimnames = dimnames(cells()))
    suppressMessages(select(SingleCellExperiment::SingleCellExperiment(
        list(logcounts = cells(), counts = counts),
        colData = S4Vectors::DataFrame(group = groups))))
})

# What each function finds in them.
in_memory_by <- once(function() lapply(functions, function(call) found(quiet(call(in_memory())))))
