#' Select a gene panel that preserves the structure of the cells
#'
#' A panel is chosen gene by gene. Each gene is the one that reduces most the
#' unexplained structure when it is measured next to the genes before it. Labels
#' are optional. R and Python give the same genes.
#'
#' @param x Log-normalised expression, genes x samples: a matrix, a sparse or
#'   delayed matrix, a SummarizedExperiment or SingleCellExperiment, an
#'   ExpressionSet, or a Seurat object.
#' @param ... Must be empty: a misspelt argument is an error.
#' @param preserve Target of the panel.
#'   - `"structure"`: the variation between cells above the noise of single
#'     genes;
#'   - `"expression"`: the expression of all genes, each weighted by its
#'     variance;
#'   - one value per sample: a vector, or the name of a column of `colData()`.
#'     A factor, character or logical vector is labels to be distinguished, and
#'     every pair of labels counts the same. Numbers, such as a pseudotime, are
#'     to be predicted; whole ones could be either, and are an error: use
#'     `factor()` for clusters. For an instrument (`platform`) of which no
#'     samples are given, evidence for each ordered pair of labels counts by
#'     its logarithm, unless the labels are given a weight;
#'   - a reduced dimension, such as `"PCA"`;
#'   - genes to be predicted: names (a single gene as a list), a logical column
#'     of `rowData()`, or a file, as [glfs_read_panel()] reads it;
#'   - several of these with weights: `c(structure = 1, cell_type = 2)`.
#' @param objective,lam `"error"`; or `"exact"`, the original GLFS (Wang and
#'   Goldenberg 2014), which minimises a variance with a penalty `lam` on the
#'   weights of the genes; or `"printed"`, the last formula of that paper.
#' @param dimred Structure to use: the `key_added` of [glfs_structure()], or
#'   the name of a reduced dimension that spans it, such as `"PCA"`. NULL:
#'   computed from the matrix; for a panel, that of its selection, else, with a message, of the selections in
#'   `x`, or of [glfs_structure()].
#' @param neighbors_key Graph of the samples in a SingleCellExperiment. For a
#'   graph of your own, a symmetric sparse matrix of weights, type
#'   `colPair(x, "mine_connectivities") <- graph` and `neighbors_key = "mine"`.
#'   `"neighbors"` takes `colPair(x, "connectivities")`. NULL: computed.
#' @param assay.type,assay Assay of a SummarizedExperiment or element of
#'   `assayData` of an ExpressionSet, by either word; for a Seurat object
#'   `assay` alone. NULL: `"logcounts"`, or `"X"`
#'   as files of AnnData have it, `"exprs"`, or the default assay.
#' @param layer Layer (slot) of the assay of a Seurat object. NULL: `"data"`.
#'
#' @details Panels are nested: the first k genes of a larger panel are the panel
#'   of k genes.
#'
#'   A vector with a value for each sample, as `block`, `preserve` or
#'   `cell_weights`, is stored in a column such as `glfs_block`. An argument
#'   that is read from a column which `x` does not have (`x$typo`) is an error.
#'
#'   `x` may also be a list of objects. It gives one panel for all of them,
#'   which is written to each, and returns a list of the same names. Genes are
#'   matched by row names; those that all objects have can be selected. Each
#'   object counts as a batch, and may have batches of its own in a column that
#'   `block` names.
#'
#'   A structure of [glfs_structure()] is used again where matrix and parameters
#'   are the same, so another size, constraints or labels take tenths of a
#'   second. `glfs_genes(x)` has the genes, the best first; for a Seurat object
#'   `VariableFeatures(x) <- glfs_genes(x)` hands them on, and
#'   `rowSubset(x, "glfs_selected")` does in Bioconductor.
#'
#'   A HDF5Matrix of decimal numbers stays in its file and is read part by part,
#'   in this and all other functions, and so do a TENxMatrix and an H5ADMatrix.
#'   Other delayed matrices of several blocks are written to a temporary file.
#'
#' @return The object, with the columns below in `rowData()` and `colData()`,
#'   `fData()` and `pData()`, or the metadata of features and cells, and a record
#'   in `metadata(x)`, `notes(x)` or `Misc(x)`: see [glfs_result()]. For a
#'   matrix, a DataFrame of the columns of genes with the record in its
#'   `metadata()`, or where there are no such columns, or others too, the record,
#'   with DataFrames `rowData` and `colData`.
#'
#' @section Errors: Invalid input is an error of class `glfs_error`, and `x` is
#' unchanged. The error has a `message` and, where an argument is refused, the
#' name of that in `argument`. Errors of Python also have classes such as
#' `python.ValueError`, and elements `kind`, where input is refused, and
#' `traceback`. Warnings of Python have class `python.UserWarning`.
#'
#' @examples
#' x <- glfs_example()
#' x <- glfs_select_genes(x, n_genes = 10)
#' glfs_genes(x)
#' glfs_result(x)$preserved
#' @name glfs_select_genes
NULL

#' @param ... Arguments of [glfs_select_genes()] in place of those of the
#'   selection, such as `n_genes`.
#' @param BPPARAM A parameter of BiocParallel, such as
#'   `BiocParallel::MulticoreParam(4)`: as many processes of Python as it has
#'   workers, on this machine, which take seconds to start. The result does not
#'   depend on it. NULL: one process.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' set.seed(1)
#' x <- glfs_stability(x, n_resamples = 3)
#' glfs_result(x, "glfs_stability")$mean_jaccard
#' @name glfs_stability
NULL

#' @param panel Names of genes, or one logical value each; or one string: the
#'   key of a selection of `x`, a logical column of `rowData()`, a file, or a
#'   single gene; or a table of [glfs_read_panel()], which tells the forms of
#'   files. Names that are not in the data are left out with a warning, but
#'   stay in an extended panel, and are ordered.
#'   `glfs_evaluate_panel()` takes several panels too, as a named list.
#' @param labels One label per cell, such as its type: a vector, or the name of
#'   a column of `colData()`, `pData()` or the metadata of a Seurat object.
#'   Cells without a label are left out.
#' @param spatial Where the cells are, for domains and for Moran's I: a matrix
#'   of coordinates with a row per cell, or the name of a reduced dimension that
#'   has them, of which the 15 nearest cells are neighbours; or a graph
#'   `<spatial>_connectivities` in `colPairs()`; `"spatial"` for the
#'   `spatialCoords()` of a SpatialExperiment. NULL: with `domains`
#'   `"spatial_neighbors"`, or where there is none `"spatial"`; otherwise
#'   nothing is said of space.
#' @param library_key The section of each cell, a vector or the name of a
#'   column: cells of other sections are no neighbours. NULL: one section.
#' @param counts_layer Matrix of raw counts: an assay, an element of
#'   `assayData`, or a layer of a Seurat assay.
#' @param gene_sets A named list of gene sets, such as pathways, or a GMT file,
#'   to be covered by the panel.
#' @param preserve,cell_weights Target of the panel and weight of each cell, as
#'   in [glfs_select_genes()]. NULL: those of the selection, and the structure
#'   for other panels. Several panels have one target; selections of different
#'   structures need one, as `"structure"`.
#' @examples
#' x <- glfs_example()
#' panel <- c("CD3D", "CD79A", "NKG7", "LYZ", "FCER1A")
#' x <- glfs_evaluate_panel(x, panel, labels = "bulk_labels")
#' found <- glfs_result(x, "glfs_evaluation")
#' found$measures[, c("measure", "value", "all_genes", "random", "bound")]
#' found$per_label
#' found$unexplained
#'
#' # several panels, and several sizes of one
#' panels <- list(ours = panel, theirs = c("CD3D", "LYZ", "GNLY"))
#' x <- glfs_evaluate_panel(x, panels, sizes = 3, measures = "preserved")
#' glfs_result(x, "glfs_comparison")$overlap
#' @name glfs_evaluate_panel
NULL

#' Keep the structure of the cells for several calls
#'
#' The structure of the cells is computed when a function first needs it. After
#' this function it is stored in the object, for other sessions too, and valid
#' as long as the matrix is the same. Panels that are no selections are
#' evaluated by it, unless `x` has a selection, whose structure it then is. A
#' selection takes another than the default by `dimred = "glfs_structure"`.
#' Several structures have a key each.
#'
#' @inheritParams glfs_select_genes
#' @inheritSection glfs_select_genes Errors
#' @param x Log-normalised expression, genes x samples, of any class that
#'   [glfs_select_genes()] takes but a matrix, which has no place for it.
#' @param standardize Units of the genes: `"noise"` (noise-standardised),
#'   `"unit"` (variance 1), NULL, or `"auto"`.
#' @return The object, with a record in `metadata(x)$glfs_structure`, `notes(x)`
#'   or `Misc(x)`: `params` and `n_samples`, with the structure beside them.
#' @examples
#' x <- glfs_structure(glfs_example())
#' x <- glfs_explain_panel(x, c("CD3D", "CD79A", "LYZ"))
#' x <- glfs_structure(x, lambda1 = 20, key_added = "mine")
#' x <- glfs_select_genes(x, n_genes = 5, dimred = "mine")
#' @name glfs_structure
NULL

#' @examples
#' x <- glfs_extend_panel(glfs_example(), c("CD3D", "LYZ", "NKG7"), 8)
#' glfs_result(x, "glfs_extended")$table
#'
#' # a gene failed
#' x <- glfs_extend_panel(x, "glfs_extended", drop = "LYZ")
#' glfs_result(x, "glfs_extended_extended")$table
#' @name glfs_extend_panel
NULL

#' @details The certificates of the selection and the last `optimality` of its
#' record are sharpened. A better panel is stored under the key of the selection
#' and `_best`, such as `glfs_best`, as a selection.
#'
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 5)
#' x <- glfs_prove_panel(x)
#' glfs_result(x, "glfs_proof")$proven
#' glfs_result(x, "glfs_proof")$table
#' @name glfs_prove_panel
NULL

#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' x <- glfs_explain_panel(x, labels = x$bulk_labels, genes = c("LYZ", "CD3E"))
#' why <- glfs_result(x, "glfs_explanation")
#' why$table[, c("gene", "role", "loss", "substitute")]
#' why$genes[, c("gene", "why_not", "predicted_by")]
#' @name glfs_explain_panel
NULL
