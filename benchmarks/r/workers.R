# A hundred selections in forked and in socket workers, against the same in this process.
suppressPackageStartupMessages({
    library(glfsbio)
    library(BiocParallel)
})
set.seed(1)
x <- matrix(rnorm(60 * 800, 1, 0.3), 60, dimnames = list(paste0("g", 1:60), NULL))
for (i in 1:6) x[i, 100 * i + 1:100] <- x[i, 100 * i + 1:100] + 2
select <- function(i, x) glfsbio::glfs_select_genes(x, 6, n_comps = 20)$glfs_score
here <- select(0, x)
workers <- list(
    "one process" = SerialParam(), "forked workers (2)" = MulticoreParam(2),
    "socket workers (2)" = SnowParam(2)
)
for (name in names(workers)) {
    seconds <- system.time(
        found <- bplapply(1:100, select, x, BPPARAM = workers[[name]])
    )[["elapsed"]]
    differs <- max(vapply(found, function(one) max(abs(one - here)), 0))
    cat(name, length(found), seconds, differs, sep = "\t")
    cat("\n")
}
