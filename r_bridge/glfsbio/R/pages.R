#' Select a gene panel that preserves the structure of the cells
#'
#' A panel is chosen gene by gene. Each gene is the one that reduces most the
#' unexplained structure when it is measured next to the genes before it. Labels
#' are optional. `x` may also be a list of objects: each is a batch, genes are
#' matched by row names, and one panel is written to all of them.
#'
#' @param x Log-normalised expression, genes x samples: a matrix, a sparse,
#'   delayed or HDF5 matrix, a SummarizedExperiment or SingleCellExperiment, an
#'   ExpressionSet, or a Seurat object.
#' @param ... Must be empty: a misspelt argument is an error.
#' @param preserve Target of the panel.
#'   - `"structure"`: the variation between cells above the noise of single
#'     genes;
#'   - `"expression"`: the expression of all genes, each weighted by its
#'     variance;
#'   - one value per sample: a vector, or the name of a column of `colData()`.
#'     Labels are to be distinguished, numbers to be predicted; whole numbers
#'     could be either, and are an error: use `factor()` for clusters;
#'   - a reduced dimension, such as `"PCA"`;
#'   - genes to be predicted: names (a single gene as a list), a logical column
#'     of `rowData()`, or a file, as [glfs_read_panel()] reads it;
#'   - several of these with weights: `c(structure = 1, cell_type = 2)`.
#' @param objective,lam `"error"`; or `"exact"`, the original GLFS (Wang and
#'   Goldenberg 2014), which minimises a variance with a penalty `lam` on the
#'   weights of the genes; or `"printed"`, the last formula of that paper.
#' @param dimred Structure to use: the `key_added` of [glfs_structure()], or the
#'   name of a reduced dimension that spans it. NULL: computed from the matrix;
#'   for a panel, that of its selection, else of `x`.
#' @param neighbors_key Graph of the samples in a SingleCellExperiment, by the
#'   name of the `colPair()`, a symmetric sparse matrix of weights. NULL:
#'   computed.
#' @param assay.type,assay Assay of a SummarizedExperiment or element of
#'   `assayData` of an ExpressionSet, by either word; for a Seurat object
#'   `assay` alone. NULL: `"logcounts"` or `"X"`, `"exprs"`, or the default
#'   assay.
#' @param layer Layer (slot) of the assay of a Seurat object. NULL: `"data"`.
#' @return The object, with the columns below in `rowData()` and `colData()`,
#'   `fData()` and `pData()`, or the metadata of features and cells, and a record
#'   in `metadata(x)`, `notes(x)` or `Misc(x)`: see [glfs_result()]. For a
#'   matrix, where only genes get columns, a DataFrame of these with the record
#'   in its `metadata()`; else the record, with DataFrames `rowData` and
#'   `colData`. A vector of samples, as `block`, becomes a column `glfs_block`.
#' @section Errors: Invalid input is an error of class `glfs_error`, which has
#'   the name of the argument: `tryCatch(..., glfs_error = function(e) e$argument)`.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' glfs_genes(x)
#' glfs_result(x)$preserved
#' @name glfs_select_genes
NULL

#' @param ... Arguments of [glfs_select_genes()] in place of those of the
#'   selection, such as `n_genes`.
#' @param BPPARAM A parameter of BiocParallel, such as
#'   `BiocParallel::MulticoreParam(4)`: as many processes of Python as it has
#'   workers, on this machine. The result does not depend on it. NULL: one.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' set.seed(1)
#' x <- glfs_stability(x, n_resamples = 3)
#' glfs_result(x, "glfs_stability")$mean_jaccard
#' @name glfs_stability
NULL

#' @param panel Names of genes, or a logical vector with a value per gene; or
#'   one string: the `key_added` of a selection, such as `"glfs"`, a logical
#'   column of `rowData()`, a file, or a single gene; or a table of
#'   [glfs_read_panel()]. Names that are not in the data are left out with a
#'   warning, but stay in an extended panel.
#'   `glfs_evaluate_panel()` takes several panels too, as a named list.
#' @param labels One label per cell, such as its type: a vector, or the name of
#'   a column of `colData()`, `pData()` or the metadata of a Seurat object.
#'   Cells without a label are left out.
#' @param spatial Where the cells are, for domains and for Moran's I: a matrix
#'   of coordinates with a row per cell, the name of a reduced dimension that
#'   has them, `"spatial"` for the `spatialCoords()` of a SpatialExperiment, or a
#'   graph `<spatial>_connectivities` in `colPairs()`. NULL: with `domains`
#'   `"spatial_neighbors"` or `"spatial"`.
#' @param library_key The section of each cell, a vector or the name of a
#'   column: cells of other sections are no neighbours. NULL: one section.
#' @param counts_layer Name of the assay, element of `assayData` or layer of a
#'   Seurat assay with raw counts, such as `"counts"`.
#' @param gene_sets A named list of gene sets, such as pathways, or a GMT file,
#'   to be covered by the panel.
#' @param preserve,cell_weights Target of the panel and weight of each cell, as
#'   in [glfs_select_genes()]. NULL: those of the selection, and the structure
#'   for other panels.
#' @examples
#' panel <- c("CD3D", "CD79A", "NKG7", "LYZ", "FCER1A")
#' x <- glfs_evaluate_panel(glfs_example(), panel, labels = "bulk_labels")
#' measures <- glfs_result(x, "glfs_evaluation")$measures
#' measures[, c("measure", "value", "random", "bound")]
#' @name glfs_evaluate_panel
NULL

#' Keep the structure of the cells for several calls
#'
#' After this function the structure of the cells is stored in the object, for
#' other sessions too, and valid as long as the matrix is the same. A selection
#' takes another than the default by `dimred = "glfs_structure"`. `x[, 0]` is
#' then a reference without samples, which all functions take whose question
#' needs none.
#'
#' @inheritParams glfs_select_genes
#' @inheritSection glfs_select_genes Errors
#' @param x An object as of [glfs_select_genes()], but not a matrix, which has no
#'   place for it.
#' @param labels Types of the samples, of which moments are stored too, but for
#'   types of fewer than ten: a vector, or the name of a column of `colData()`.
#' @param standardize Units of the genes: `"noise"` (noise-standardised),
#'   `"unit"` (variance 1), NULL, or `"auto"`.
#' @return The object, with a record in `metadata(x)$glfs_structure`, `notes(x)`
#'   or `Misc(x)`: `params` and `n_samples`, with the structure beside them.
#' @examples
#' x <- glfs_structure(glfs_example(), lambda1 = 20, key_added = "mine")
#' x <- glfs_select_genes(x, n_genes = 5, dimred = "mine")
#' @name glfs_structure
NULL

#' @examples
#' x <- glfs_extend_panel(glfs_example(), c("CD3D", "LYZ", "NKG7"), 8)
#' glfs_result(x, "glfs_extended")$table
#' x <- glfs_extend_panel(x, "glfs_extended", drop = "LYZ") # which failed
#' @name glfs_extend_panel
NULL

#' @details A better panel is stored under the key of the selection and `_best`,
#' such as `glfs_best`, as a selection.
#' @examples
#' x <- glfs_prove_panel(glfs_select_genes(glfs_example(), n_genes = 5))
#' glfs_result(x, "glfs_proof")$proven
#' @name glfs_prove_panel
NULL

#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' x <- glfs_explain_panel(x, labels = "bulk_labels", genes = "CD3E")
#' glfs_result(x, "glfs_explanation")$table[, c("gene", "role", "substitute")]
#' @name glfs_explain_panel
NULL
