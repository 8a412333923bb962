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
#'     `factor()` for clusters, and a reduced dimension for measurements.
#'     Strings are labels if there is one for each sample and not all are names
#'     of genes. A vector is stored in a column `glfs_preserve`. Samples with a
#'     missing value stay in the graph. For an instrument (`platform`) of which
#'     no samples are given, labels come with the structure, half each, unless
#'     given weights;
#'   - a reduced dimension, such as `"PCA"`;
#'   - genes to be predicted: names (a single gene as a list), a logical column
#'     of `rowData()`, or a file, as [glfs_read_panel()] reads it;
#'   - several of these with weights: `c(structure = 1, cell_type = 2)`.
#' @param cell_weights Weight of each sample in the target: a numeric vector or
#'   a column of `colData()`. Labels instead of numbers: all labels count alike,
#'   so rare types count as much as frequent ones. A vector is stored in a
#'   column `glfs_cell_weights`.
#' @param include,exclude Genes that must be, or cannot be, in the panel: names,
#'   one logical value for each, logical columns of `rowData()`, or families of
#'   human and mouse genes: `"mitochondrial"`, `"ribosomal"`, `"haemoglobin"`,
#'   `"tcr"`, `"bcr"`, `"sex"`, `"cell_cycle"`, `"proliferation"`,
#'   `"housekeeping"`, `"heat_shock"`, `"dissociation"`. For genes by pattern
#'   pass `grep("^AC[0-9]", rownames(x), value = TRUE)`.
#' @param ignore Genes, as in `exclude`, that neither count as structure nor can
#'   be selected. Genes that are in `include` too are in the panel, and add
#'   nothing to what it preserves.
#' @param limits Constraints on the panel, costs and a budget: see
#'   [glfs_limits()]. NULL: none.
#' @param platform Target platform, its detection efficiency and failures: see
#'   [glfs_platform()]. NULL: genes are detected as in `x`.
#' @param block Batch of every sample, as in scran: a vector, or a column of
#'   `colData()`. Every batch has its own structure, so genes that only separate
#'   batches gain nothing. A vector is stored in a column `glfs_block`. NULL,
#'   also of a list (`block = settings$block`): one batch; a column that `x`
#'   does not have (`x$typo`) is NULL too, and an error.
#' @param search Panels that are compared, with the default objective.
#'   `"nested"`: genes one by one, with a bound on optimality. `"best"`: all
#'   panels of this size, by branch and bound; the panel is the best that is
#'   found within `time_limit`, proven to be the best where the last
#'   `optimality` is 1, and not nested. See [glfs_prove_panel()] for what that
#'   does not mean.
#' @param objective,lam `"error"`, or an objective of the original GLFS and its
#'   penalty; see the details.
#' @param use_rep Structure to use: the `key_added` of [glfs_structure()], or
#'   the name of a reduced dimension that spans it, such as `"mine"` after
#'   `reducedDim(x, "mine") <- coordinates`. NULL: computed from the matrix.
#' @param dimred Name of the reduced dimension that spans the structure, such as
#'   `"PCA"`, as in other packages of Bioconductor. An error next to `use_rep`.
#' @param neighbors_key Graph of the samples in a SingleCellExperiment. For a
#'   graph of your own, a symmetric sparse matrix of weights, type
#'   `colPair(x, "mine_connectivities") <- graph` and `neighbors_key = "mine"`.
#'   `"neighbors"` takes `colPair(x, "connectivities")`. NULL: computed. An
#'   error next to `block`.
#' @param symbols Column of `rowData()` with further names of the genes, or a
#'   vector of them, which is stored in a column `glfs_symbols`.
#' @param missing What to do about names of genes that are not in the data.
#'   `"raise"`: stop with an error that names the first of them. `"warn"`: leave
#'   them out with a warning. `"ignore"`: leave them out and say nothing.
#' @param key_added Prefix of the columns and name of the record.
#' @param subset Whether to keep only the selected genes.
#' @param random_state Seed of the iteration that finds the principal
#'   components. The panel hardly depends on it, so it is fixed.
#' @param assay.type,assay Assay of a SummarizedExperiment or element of
#'   `assayData` of an ExpressionSet, by either word; for a Seurat object
#'   `assay` alone. NULL: `"logcounts"`, `"exprs"`, or the default assay.
#' @param layer Layer (slot) of the assay of a Seurat object. NULL: `"data"`.
#'
#' @details The structure is the variation between samples above the noise of
#'   single genes, along the leading principal axes. Panels are nested: the
#'   first k genes of a larger panel are the panel of k genes.
#'
#'   `objective = "exact"` is the original GLFS (Wang and Goldenberg 2014): it
#'   minimises a variance with a penalty `lam` on the weights of the genes.
#'   `objective = "printed"` takes the last formula of that paper.
#'
#'   Genes in `exclude` cannot be selected, and still count as structure, so
#'   that genes that vary with them come in their place. Genes in `ignore` do
#'   not count.
#'
#'   `x` may also be a list of objects. It gives one panel for all of them,
#'   which is written to each, and returns a list of the same names. Genes are
#'   matched by row names;
#'   those that all objects have can be selected. Each object counts as a batch,
#'   and may have batches of its own in a column that `block` names.
#'
#'   The structure is computed from the matrix alone, whatever reduced
#'   dimensions and graphs the object has, unless `use_rep`, `dimred` or
#'   `neighbors_key` name one. A structure of [glfs_structure()] is used again
#'   where matrix and parameters are the same, so another size, constraints or
#'   labels take tenths of a second. `glfs_genes(x)` has the genes, the best
#'   first; for a Seurat object `VariableFeatures(x) <- glfs_genes(x)` hands
#'   them on, and `rowSubset(x, "glfs_selected")` does in Bioconductor.
#'
#'   A HDF5Matrix of decimal numbers stays in its file and is read part by part,
#'   in this and all other functions, and so do a TENxMatrix and an H5ADMatrix.
#'   Other delayed matrices that DelayedArray reads in several blocks are
#'   written block by block to a temporary file, which is gone when the function
#'   ends.
#'
#' @return The object, with the columns below in `rowData()`, `fData()` or the
#'   metadata of the features, and a record in `metadata(x)$glfs`,
#'   `notes(x)$glfs` or `Misc(x, "glfs")`. For a matrix, a DataFrame with these
#'   columns and the record in its `metadata()`. `key_added` replaces the prefix
#'   `glfs`.
#'
#'   - `glfs_weight`: weight from 0 to 1 of the gene in the best panel of this
#'     size if genes could be taken in part. With an objective of the original
#'     GLFS, the weight of at least 0 that it gives the gene.
#'   - `glfs_loss`: share of the structure that is lost without the gene; 0 for
#'     genes that are not selected.
#'   - `glfs_score`: larger is better, without ties; NA for genes that could not
#'     be selected.
#'   - `glfs_rank`: 1 is the best gene; NA for genes that could not be selected.
#'   - `glfs_selected`: whether the gene is selected.
#'   - `glfs_included`: whether `include` put the gene in.
#'   - `glfs_certificate`: `"every"` for a gene of every best panel of this size
#'     within the constraints, `"none"` for one of no best panel, otherwise
#'     `"open"`; `glfs_certificate_within`: the same of all panels that lose at
#'     most half a percent of what the best one preserves.
#'   - `glfs_efficiency`: with a `platform` that has an `efficiency`, the
#'     relative detection efficiency.
#'
#' @section The record:
#' `metadata(x)$glfs` is a list:
#'
#' - `params`, `method`, `objective` and `versions`.
#' - `n_genes` and `n_tested`: numbers of genes selected, and available.
#' - `preserved`: structure preserved by the first 1, 2, ... genes, from 0 to 1.
#' - `optimality`: lower bound for the first 1, 2, ... genes. They preserve at
#'   least this fraction of what the best panel of this size would preserve. NA
#'   for panels of included genes alone. The original GLFS has none.
#' - `curve`: `n_genes` and `preserved` of larger panels too, where `n_genes`
#'   was NULL.
#' - `structure`: the parameters of [glfs_structure()].
#' - `n_axes`: number of principal components above the noise, for each batch;
#'   0: no structure.
#' - `graph_components`: number of connected components of the graph of the
#'   samples.
#' - `assay_noise`: variance of the noise of the target platform.
#' - `preserved_on_platform`: structure preserved by the first 1, 2, ... genes,
#'   in the mean over draws of a platform.
#' - `missing`: names that are not in the data and were left out, if any.
#' - `batches` and `preserved_in_batches`: with `block`, their names, and the
#'   structure preserved of each, a matrix of panels x batches.
#' - `lam`, `path`, `kkt`, `converged` and `n_iter`: of the original GLFS only.
#'
#' @section Errors: Invalid input is an error of class `glfs_error`, and `x` is
#' unchanged. The error has a `message` and, where an argument is refused, the
#' name of that in `argument`. Errors of Python also have classes such as
#' `python.ValueError`, and elements `kind`, where input is refused, and
#' `traceback`. Missing values in the matrix and duplicate row names are errors.
#' Warnings of Python have class `python.UserWarning`.
#'
#' @examples
#' x <- glfs_example()
#' x <- glfs_select_genes(x, n_genes = 10)
#' glfs_genes(x)
#' glfs_result(x)$preserved
#' @name glfs_select_genes
NULL

#' Stability of a selection under subsampling
#'
#' Repeats a selection of `x` on random subsamples with its own parameters.
#' Where `x` has no selection, as a matrix, the parameters are given here.
#'
#' @inheritParams glfs_select_genes
#' @param ... Arguments of [glfs_select_genes()] in place of those of the
#'   selection, such as `n_genes`.
#' @param key_added Prefix of the columns and name of the record. NULL: the
#'   `key` with `_stability`.
#' @param random_state Seed of the subsamples. NULL: drawn from R's generator,
#'   so `set.seed()` repeats the result.
#' @param BPPARAM A parameter of BiocParallel, such as
#'   `BiocParallel::MulticoreParam(4)`: as many processes as it has workers, on
#'   this machine. They are forked; where that cannot be done, as on Windows and
#'   macOS, there is one. The result does not depend on it. NULL: one process.
#' @return The object, with the columns below in `rowData()`, `fData()` or the
#'   metadata of the features, and a record in `metadata(x)$glfs_stability`,
#'   `notes(x)` or `Misc(x)`. For a matrix, a DataFrame.
#'
#'   - `glfs_stability_frequency`: share of the subsamples in which the gene is
#'     selected.
#'   - `glfs_stability_consensus`: whether the gene is one of those selected
#'     most often, as many as a subsample selects on average.
#'
#'   The record has `table`, the genes selected most often; `jaccard`, for every
#'   two subsamples the number of genes in both divided by the number in either,
#'   and `mean_jaccard`; `n_genes`, the sizes of the panels; `of`, the key of the
#'   selection; and `params`.
#' @inheritSection glfs_evaluate_panel Errors
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' set.seed(1)
#' x <- glfs_stability(x, n_resamples = 3)
#' glfs_result(x, "glfs_stability")$mean_jaccard
#' @name glfs_stability
NULL
