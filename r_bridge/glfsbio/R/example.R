#' Blood cells to try the package on
#'
#' 700 mononuclear cells of the blood of a healthy donor, in 10 types, with 765
#' genes. They travel in this package: neither a network nor Python is needed.
#'
#' @return A SingleCellExperiment with log-normalised values in the assay
#'   `logcounts`, the types of the cells in `colData(x)$bulk_labels`, reduced
#'   dimensions `PCA` and `UMAP`, and a graph of the nearest neighbours in
#'   `colPair(x, "connectivities")`.
#' @source A sample of the dataset "Fresh 68k PBMCs (Donor A)" of 10x Genomics
#'   (licence CC BY 4.0), as the Python package scanpy ships it in
#'   `scanpy.datasets.pbmc68k_reduced()` (licence BSD 3-Clause). The script
#'   `system.file("script", "make-data.R", package = "glfsbio")` made the file.
#' @references G. X. Y. Zheng et al., Nature Communications 8, 14049 (2017).
#' @examples
#' glfs_example()
#' @export
glfs_example <- function() {
    parts <- readRDS(system.file("extdata", "pbmc68k_reduced.rds",
        package = "glfsbio", mustWork = TRUE))
    for (table in c("obs", "var"))
        parts[[table]] <- S4Vectors::DataFrame(parts[[table]],
            check.names = FALSE)
    as_sce(parts)
}
