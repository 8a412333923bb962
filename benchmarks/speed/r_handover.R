# Time and memory to hand a sparse matrix of R over to Python.
# Arguments: bridge, number of non-zeros, runs. Prints lines that r_handover.py reads.
suppressPackageStartupMessages(library(glfsbio))
arguments <- commandArgs(trailingOnly = TRUE)
bridge <- arguments[1L]
non_zeros <- as.numeric(arguments[2L])
runs <- if (bridge == "file") 1L else as.integer(arguments[3L])
peak <- function() {
    line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
    as.numeric(gsub("[^0-9]", "", line)) / 1024^2
}
if (bridge != "file")
    invisible(glfs_setup(quiet = TRUE, bridge = bridge))
set.seed(0)
n_cells <- non_zeros / 2000
# 2,000 genes of 20,000 in every cell
x <- methods::new(
    "dgCMatrix", Dim = c(20000L, as.integer(n_cells)), p = as.integer(2000 * 0:n_cells),
    i = rep(as.integer(10 * 0:1999), n_cells), x = stats::rexp(non_zeros)
)
dimnames(x) <- list(paste0("gene", seq_len(20000)), paste0("cell", seq_len(n_cells)))
sce <- SingleCellExperiment::SingleCellExperiment(
    list(logcounts = x),
    rowData = S4Vectors::DataFrame(symbol = rownames(x)),
    colData = S4Vectors::DataFrame(batch = factor(rep_len(letters[1:5], n_cells)))
)
hand_over <- function() {
    parts <- glfsbio:::read_object(sce)
    glfsbio:::call_python("stored", parts = parts)$stored
}
write <- function() Matrix::writeMM(x, tempfile(fileext = ".mtx"))
before <- peak()
way <- if (bridge == "file") write else hand_over
seconds <- vapply(seq_len(runs + 1L), function(i) system.time(way())[["elapsed"]], 0)
cat(
    stats::median(seconds[-1L]), max(seconds[-1L]), seconds[1L], before, peak() - before,
    sep = "\t"
)
