# Refusals have the argument as a field, those of Python their kind as a class, too.
expect_refused <- function(object, argument, class = "glfs_error") {
    refusal <- expect_error(object, class = class)
    expect_identical(refusal$argument, argument)
}

# A package that is suggested; where the project is tested none may be missing.
need_package <- function(name) {
    if (nzchar(Sys.getenv("CI")))
        expect_true(requireNamespace(name, quietly = TRUE))
    else
        skip_if_not_installed(name)
}

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

sce_of <- function(x, ...) {
    SingleCellExperiment::SingleCellExperiment(
        list(logcounts = x), colData = S4Vectors::DataFrame(group = groups), ...
    )
}

# Without what is said, and with the seed of R that it had.
quiet <- function(value) suppressWarnings(suppressMessages(
    withr::with_seed(1, value)
))

# Ten components: the same problem for all tests, and a quick one.
select <- function(x, ...) glfs_select_genes(x, n_genes = 6, n_comps = 10, ...)

columns <- paste0(
    "glfs_", c(
        "weight", "loss", "score", "rank", "selected", "included", "certificate",
        "certificate_within"
    )
)

# What people read of a result.
told <- function(result) result[names(result)]

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
expect_expected <- function(table, tolerance = 1e-6) {
    table <- as.list(table)[columns]
    expect_equal(table, as.list(expected())[columns], tolerance = tolerance)
}

# Functions that read matrices in their ways, of an object with counts and a selection.
functions <- list(
    select = function(x) select(x, limits = glfs_limits(
        expression = list(counts = 50), counts_layer = "counts"
    )),
    evaluate = function(x) glfs_evaluate_panel(x, labels = "group"),
    laprls = function(x) glfs_laprls(x, labels = "group"),
    efficiency = function(x) glfs_estimate_efficiency(
        x, x, labels = "group", counts_layer = "counts", spatial_layer = "counts"
    )
)

# What the package wrote, without what tells one call from another.
found <- function(one) {
    ours <- function(table) table[startsWith(names(table), "glfs_")]
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
    records <- S4Vectors::metadata(one)
    plain(list(
        ours(SummarizedExperiment::rowData(one)),
        ours(SummarizedExperiment::colData(one)),
        records[startsWith(names(records), "glfs")]
    ))
}

# The same cells with counts and a selection.
in_memory <- once(function() {
    set.seed(2)
    counts <- matrix(rpois(40 * 90, round(2 * cells())), 40, dimnames = dimnames(cells()))
    x <- SingleCellExperiment::SingleCellExperiment(
        list(logcounts = cells(), counts = counts),
        colData = S4Vectors::DataFrame(group = groups)
    )
    suppressMessages(select(x))
})

# What a function finds in them.
in_memory_by <- local({
    made <- list()
    function(name) {
        if (is.null(made[[name]]))
            made[[name]] <<- found(quiet(functions[[name]](in_memory())))
        made[[name]]
    }
})
