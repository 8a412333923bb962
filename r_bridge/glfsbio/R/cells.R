#' Read an h5ad file
#'
#' Reads an AnnData file in Python and hands it over in memory.
#'
#' @param path An `.h5ad` file, a `.zarr` folder, or an `.h5mu` file.
#' @param X_name Name of the assay that takes the matrix `X`, for example
#'   `"counts"` or `"logcounts"`.
#' @param raw Whether to read the matrix and the genes of `raw`, where atlases
#'   keep the counts of all genes, in place of `X`, the layers and `var`. The
#'   columns of the cells and the reduced dimensions are the same.
#' @param modality Modality of an `.h5mu` file. NULL: the only one.
#' @return A SingleCellExperiment, genes x cells: `X` and the layers as assays,
#'   sparse ones as dgCMatrix; `obs` and `var` as `colData` and `rowData`, with
#'   ordered and unordered factors; the arrays of `obsm` as reduced dimensions,
#'   `X_pca`, `X_tsne` and `X_umap` as `PCA`, `TSNE` and `UMAP`; the matrices of
#'   `obsp`, such as the graph of the nearest neighbours, as `colPairs`. A
#'   message names what is not carried: `uns`, `varm`, `varp` and, unless it is
#'   asked for, `raw`.
#' @examples
#' # 50 of the cells of glfs_example(), and 40 of the genes
#' path <- system.file("extdata", "pbmc.h5ad", package = "glfsbio")
#' glfs_read_h5ad(path, X_name = "scaled")
#' glfs_read_h5ad(path, X_name = "logcounts", raw = TRUE)
#' @export
glfs_read_h5ad <- function(path, X_name = "X", raw = FALSE, modality = NULL) {
    check_string(path, "path")
    check_string(X_name, "X_name")
    parts <- call_python("read_h5ad", path = path,
        X_name = X_name, raw = raw, modality = modality)
    if (length(parts$left) > 0L)
        message("Not carried to R: ", paste(parts$left, collapse = ", "), ".",
            if ("raw" %in% parts$left) " raw = TRUE reads the genes of raw.")
    as_sce(parts)
}

# For glfs_bio.rbridge.to_sce().
build_sce <- function(plain) as_sce(r_value(plain))

as_sce <- function(parts) {
    names <- list(rownames(parts$var), rownames(parts$obs))
    assays <- lapply(parts$assays, function(x) {
        dimnames(x) <- names
        x
    })
    reduced <- lapply(parts$reduced, function(x) {
        rownames(x) <- names[[2L]]
        x
    })
    SingleCellExperiment::SingleCellExperiment(
        assays = assays, rowData = parts$var, colData = parts$obs,
        reducedDims = reduced,
        colPairs = parts$pairs
    )
}

# For glfs_bio.rbridge.from_sce().
plain_sce_and_left <- function(x, X_name = NULL) {
    parts <- plain_sce(x, X_name)
    for_python(list(plain_argument(parts), parts$left), identity)
}

plain_sce <- function(x, X_name = NULL) {
    if (!is(x, "SummarizedExperiment"))
        refuse("sce", " is a ", class(x)[1L], ", not a SummarizedExperiment.")
    has <- contents_of(x)
    names <- has$names
    has[c("where", "default", "maker")] <- list("an assay of sce", "X", NULL)
    first <- if ("X" %in% names || length(names) == 0L) "X" else 1L
    place <- which_assay(if (is.null(X_name)) first else X_name, has, "X_name")
    matrix <- function(place)
        plain_matrix(has$matrix(place), has$label(place), files = FALSE)
    others <- setdiff(seq_along(names), place)
    layers <- others[nzchar(names[others])]
    single <- is(x, "SingleCellExperiment")
    has$reduced <- lapply(has$reduced, coordinates)
    without <- names(Filter(is.null, has$reduced))
    has$reduced <- Filter(Negate(is.null), has$reduced)
    metadata <- names(has$records)
    has$records <- list()
    rownames(has$obs) <- colnames(x)
    parts <- plain_parts(
        matrix(place), has, names(has$reduced),
        lapply(stats::setNames(layers, names[layers]), matrix),
        if (single) plain_pairs(x) else list()
    )
    label <- function(what, names) if (length(names)) paste(what, names)
    parts$left <- plain_strings(as.character(c(
        label("rowData", attr(parts$var, "left")),
        label("colData", attr(parts$obs, "left")),
        label("assay", setdiff(others, layers)),
        label("reducedDim", without),
        if (single) label("altExp", SingleCellExperiment::altExpNames(x)),
        label("metadata", metadata)
    )))
    parts
}
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
