# Time to hand a sparse matrix of R over to Python, beside what a user would do otherwise.
# Arguments: number of non-zeros, runs. Prints a table that r_handover.py reads.
suppressPackageStartupMessages(library(glfsbio))
arguments <- as.numeric(commandArgs(trailingOnly = TRUE))
invisible(glfs_setup(quiet = TRUE))
set.seed(0)
x <- Matrix::rsparsematrix(20000, 2500, nnz = arguments[1L])
dimnames(x) <- list(paste0("gene", seq_len(20000)), paste0("cell", seq_len(2500)))
sce <- SingleCellExperiment::SingleCellExperiment(
    list(logcounts = x),
    rowData = S4Vectors::DataFrame(symbol = rownames(x)),
    colData = S4Vectors::DataFrame(batch = factor(rep(letters[1:5], 500)))
)
hand_over <- function(object) {
    parts <- glfsbio:::read_object(object)
    glfsbio:::call_python("stored", parts = parts)$stored
}
file <- tempfile()
ways <- list(
    "glfsbio, dgCMatrix" = function() hand_over(x),
    "glfsbio, SingleCellExperiment" = function() hand_over(sce),
    "Matrix::writeMM, writing alone" = function() Matrix::writeMM(x, file)
)
for (way in names(ways)) {
    runs <- if (startsWith(way, "glfsbio")) arguments[2L] + 1L else 2L
    seconds <- vapply(seq_len(runs), function(i) system.time(ways[[way]]())[["elapsed"]], 0)
    cat(way, stats::median(seconds[-1L]), max(seconds[-1L]), seconds[1L], sep = "\t")
    cat("\n")
}
