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

# Ten components: the same problem for all tests, and a quick one.
select <- function(x, ...) glfs_select_genes(x, n_genes = 6, n_comps = 10, ...)

columns <- paste0(
    "glfs_", c(
        "weight", "loss", "score", "rank", "selected", "included", "certificate",
        "certificate_within"
    )
)

# What all other forms of the same cells must give.
expected <- local({
    table <- NULL
    function() {
        if (is.null(table))
            table <<- select(cells())
        table
    }
})

# In a table of any class.
expect_expected <- function(table, tolerance = 1e-6) {
    table <- as.list(table)[columns]
    expect_equal(table, as.list(expected())[columns], tolerance = tolerance)
}
