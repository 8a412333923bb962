#' Read and write AnnData files
#'
#' Objects go to Python and back with the results of this package: a panel of one
#' language is extended, explained and ordered in the other one.
#'
#' @param path An `.h5ad` file; to read, a `.zarr` folder or an `.h5mu` file too.
#' @param X_name Name of the assay that is the matrix `X`, such as
#'   `"logcounts"`. NULL: `"X"` if there is one, else the first.
#' @param raw Whether to read the matrix and the genes of `raw`, where atlases
#'   keep the counts of all genes, in place of `X`, the layers and `var`.
#' @param modality Modality of an `.h5mu` file. NULL: the only one.
#' @return `glfs_read_h5ad()`: a SingleCellExperiment, genes x cells: `X` and the
#'   layers as assays, `obs` and `var` as `colData` and `rowData`, `obsm` as
#'   reduced dimensions (`X_pca` as `PCA`), `obsp` as `colPairs`, and results as
#'   of this package. A message names what is not carried. `glfs_write_h5ad()`:
#'   `path`, invisibly, after the reverse.
#' @examples
#' path <- system.file("extdata", "pbmc.h5ad", package = "glfsbio")
#' x <- glfs_read_h5ad(path, X_name = "logcounts", raw = TRUE)
#' glfs_write_h5ad(x, tempfile(fileext = ".h5ad"))
#' @export
glfs_read_h5ad <- function(path, X_name = "X", raw = FALSE, modality = NULL) {
    parts <- call_python("read_h5ad", path = path, X_name = X_name, raw = raw,
        modality = modality)
    if (length(parts$left) > 0L)
        message("Not carried to R: ", toString(parts$left), ".",
            if ("raw" %in% parts$left) " raw = TRUE reads the genes of raw.")
    as_sce(parts)
}

#' @rdname glfs_read_h5ad
#' @param x A SingleCellExperiment or SummarizedExperiment.
#' @param overwrite Whether a file that exists may be replaced.
#' @export
glfs_write_h5ad <- function(x, path, X_name = NULL, overwrite = FALSE) {
    parts <- sce_parts(x, X_name, "x")
    call_python("write_h5ad", pieces = plain_parts(parts), path = path,
        overwrite = overwrite)
    if (length(parts$left) > 0L)
        message("Not written: ", toString(parts$left), ".")
    invisible(path)
}

# For glfs_bio.rbridge.to_sce().
build_sce <- function(packed) as_sce(unpacked(packed))

as_sce <- function(parts) {
    x <- SingleCellExperiment::SingleCellExperiment(
        assays = parts$assays, rowData = parts$var, colData = parts$obs,
        reducedDims = parts$reduced, colPairs = parts$pairs,
        metadata = lapply(parts$records, as_result)
    )
    dimnames(x) <- list(rownames(parts$var), rownames(parts$obs))
    x
}

# For glfs_bio.rbridge.from_sce().
plain_sce <- function(x, X_name = NULL)
    packed(plain_parts(sce_parts(x, X_name)))

# All of an object, and the names of what has no place in AnnData.
sce_parts <- function(x, X_name = NULL, word = "sce") {
    if (!is(x, "SummarizedExperiment"))
        refuse(word, " is a ", class(x)[1L], ", not a SummarizedExperiment.")
    has <- suppressMessages(contents_of(x))
    X_name <- X_name %or% if ("X" %in% has$names) "X" else 1L
    others <- setdiff(has$names, c(X_name, has$names[X_name]))
    parts <- read_object(x, list(assay.type = X_name), counts_layer = others,
        word = "X_name", whole = TRUE)
    left <- list(
        rowData = attr(parts$var, "left"), colData = attr(parts$obs, "left"),
        reducedDim = setdiff(names(has$reduced), names(parts$reduced)),
        altExp = if (is(x, "SingleCellExperiment"))
            SingleCellExperiment::altExpNames(x),
        metadata = names(Filter(Negate(is_result), has$records)))
    parts$left <- paste(rep(names(left), lengths(left)), unlist(left))
    parts
}
#' Blood cells to try the package on
#'
#' 700 mononuclear cells of the blood of a healthy donor, in 10 types, with 765
#' genes. They travel in this package: neither a network nor Python is needed.
#'
#' @return A SingleCellExperiment with the assay `logcounts`, the types of the
#'   cells in `bulk_labels`, reduced dimensions, and a graph in `colPairs(x)`.
#' @source A sample of "Fresh 68k PBMCs (Donor A)" of 10x Genomics (licence CC BY
#'   4.0), as the Python package scanpy ships it (licence BSD 3-Clause).
#' @references G. X. Y. Zheng et al., Nature Communications 8, 14049 (2017).
#' @examples
#' glfs_example()
#' @export
glfs_example <- function() {
    parts <- readRDS(system.file("extdata", "pbmc68k_reduced.rds",
        package = "glfsbio", mustWork = TRUE))
    parts[c("obs", "var")] <- lapply(parts[c("obs", "var")],
        S4Vectors::DataFrame, check.names = FALSE)
    as_sce(parts)
}
