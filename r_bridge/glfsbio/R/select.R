#' Select the few genes that keep the structure of the samples
#'
#' A panel is chosen gene by gene. Each gene is the one that lowers most the error
#' of Laplacian-regularised least squares, when it is measured beside the genes
#' before it. The default uses no labels. The work is done by
#' `glfs_bio.pp.select_genes()` in Python, with the same result.
#'
#' @param x Genes x samples, logarithmised: a matrix, a sparse or delayed matrix, a
#'   SummarizedExperiment or SingleCellExperiment, an ExpressionSet, or a Seurat
#'   object. `glfs_select_genes()` takes a list of several, too: see the details.
#' @param n_genes How many genes. Without it, or NULL: the fewest that keep 90 % of
#'   the structure that all genes keep, at most 500; with a budget, as many as it
#'   affords; with one of the paper's objectives, all genes of the solution.
#' @param ... Further arguments, by name; see the section below. All defaults are
#'   those of Python. An argument that Python does not know is an error of class
#'   `python.TypeError`.
#' @param assay The matrix to use: name of an assay of a SummarizedExperiment, of
#'   an element of `assayData` of an ExpressionSet, or of an assay of a Seurat
#'   object. NULL: `"logcounts"`, `"exprs"`, or the default assay.
#'
#' @section Further arguments:
#' \describe{
#'   \item{`include`, `exclude`}{Genes that must be, or cannot be, in the selection:
#'     names, logical columns of `rowData()`, or families of genes, of human and
#'     mouse: `"mitochondrial"`, `"ribosomal"`, `"haemoglobin"`, `"tcr"`, `"bcr"`,
#'     `"sex"`, `"cell_cycle"`, `"heat_shock"`, `"dissociation"`. For genes by
#'     pattern pass `grep("^AC[0-9]", rownames(x), value = TRUE)`.}
#'   \item{`symbols`}{A column of `rowData()` where these names and families are
#'     looked for too, beside the row names.}
#'   \item{`missing`}{What to do about names that are not there: `"raise"` an error,
#'     `"warn"`, or `"ignore"` them.}
#'   \item{`limits`}{Limits on the panel, costs and a budget: see [glfs_limits()].}
#'   \item{`platform`}{The assay that will measure the panel, how much of each gene it
#'     detects and which fail: see [glfs_platform()].}
#'   \item{`preserve`}{What the panel is to keep. `"structure"`, all that genes vary
#'     in; `"expression"`, the expression of all genes, which are to be predicted, each
#'     counting by how much it varies; or a column of `colData()`: with labels (a
#'     factor, strings or logical values) the types of the samples are to be told apart, each counting alike;
#'     with decimal numbers, such as a pseudotime, they are to be predicted. Samples
#'     with a missing value stay in the graph. Or a reduced dimension, such as
#'     `"PCA"`; or genes that are to be predicted: names (of one gene a list), a
#'     logical column of `rowData()`, or a file (TXT, CSV, TSV, GMT, XLSX). Or several
#'     of these with weights: `c(structure = 1, cell_type = 2)`.}
#'   \item{`cell_weights`}{Column of `colData()`: how much each sample counts in what
#'     is kept. Labels in place of numbers: all labels count alike, so that rare types
#'     count like frequent ones.}
#'   \item{`across`}{With `block` or several objects: `"mean"` over the batches, or `"worst"`: the panel keeps
#'     as much as can be of the batch of which it keeps least.}
#'   \item{`block`}{The batch of every sample, a vector, as in scran, or a column of
#'     `colData()`. Every batch gets its own structure, so that genes which only separate
#'     batches gain nothing. A vector is kept in a column `glfs_block` of `colData()`.
#'     Python's word `batch_key` can be used for a column, too.}
#'   \item{`objective`, `lam`}{`"error"`, or a selection of the paper, and its
#'     penalty; see below.}
#'   \item{`n_comps`}{Principal components that span the structure; NULL: full rank,
#'     for up to some hundred samples.}
#'   \item{`use_rep`}{A reduced dimension to take instead, or the `key_added` of a
#'     structure that [glfs_structure()] kept.}
#'   \item{`neighbors_key`}{`"k"` takes the graph `colPair(x, "k_connectivities")`, and
#'     `"neighbors"` takes `colPair(x, "connectivities")`.}
#'   \item{`method`}{`"glfs"`, or a method that it is compared with: `"lapaofs"`,
#'     `"lapdofs"`, `"laplacian_score"`, `"q_alpha"`, `"sparse_pca"`, `"variance"`.}
#'   \item{`key_added`}{What to put in place of `glfs` in the names of the columns and
#'     of the record.}
#'   \item{`subset`}{Whether to keep only the selected genes.}
#'   \item{`random_state`}{A seed.}
#' }
#'
#' @details The error is what the panel leaves unexplained of the structure of the
#'   samples: the axes along which their expression varies above the noise of genes.
#'   Panels are nested: the first k genes of a larger panel are the panel of k
#'   genes. `objective = "exact"` is the selection of the
#'   paper, gradient-based Laplacian feature selection (Wang and Goldenberg): it
#'   minimises the variance alone, with a penalty `lam` on the weights of the genes.
#'   `objective = "printed"` takes the formula that the paper prints for it.
#'
#'   Genes in `exclude` cannot be selected, and still count as structure that the
#'   panel should keep. For genes that are not to be looked at, cut the object.
#'
#'   A list of objects gives one panel for all of them, which is written to each: a list
#'   of the same names is returned. Genes are matched by row names, and those that all
#'   objects have can be selected. Each object counts as a batch with a structure of its
#'   own, and may itself have batches, in a column that `block` names.
#'
#'   The structure is computed from the matrix alone, whatever reduced dimensions and graphs
#'   the object has, unless `use_rep` or `neighbors_key` name one: R and Python select the
#'   same genes. What [glfs_structure()] kept is re-used where it was computed from the same
#'   matrix by the same parameters, so that another size, limits or labels take tenths of a
#'   second. Weight and neighbours of the graph and units of the genes are parameters of
#'   [glfs_structure()]. For a Seurat object, `slot` or `layer` names the matrix of the assay,
#'   by default `"data"`; `VariableFeatures(x) <- glfs_gene_sets(x)$glfs` hands the panel on.
#'
#'   A HDF5Matrix of numbers stays in its file and is read part by part, and so do a
#'   TENxMatrix and an H5ADMatrix that is dense or stored by cells. Other delayed matrices
#'   are realised in memory, block by block and without their zeros where these are most
#'   of them. The other functions realise all of them.
#'
#'   Values in `...` are converted so: `NULL` is None, vectors of length one are scalars,
#'   whole numbers are integers.
#'
#' @return The object, with the columns below in `rowData()`, `fData()` or the
#'   metadata of the features, and a record of the selection in `metadata(x)$glfs`,
#'   `notes(x)$glfs` or `Misc(x, "glfs")`. For a matrix, a DataFrame with these
#'   columns, the record in its `metadata()`. `key_added` replaces the prefix `glfs`.
#'
#'   - `glfs_weight`: the weights, between 0 and 1, of the best panel of so many
#'     genes if genes could be taken in part. With one of the paper's objectives,
#'     the weight of at least 0 that the paper gives the gene.
#'   - `glfs_loss`: what the panel loses without the gene, as a share of what all
#'     genes keep; 0 for genes that are not selected.
#'   - `glfs_score`: larger is better, without ties; NA for genes that could not be
#'     selected.
#'   - `glfs_rank`: 1 is the best gene; NA for genes that could not be selected.
#'   - `glfs_selected`: whether the gene is selected.
#'   - `glfs_included`: whether `include` put the gene in.
#'   - `glfs_efficiency`: with such a platform, how much of the gene it detects.
#'
#' @section The record:
#' `metadata(x)$glfs` is a list:
#'
#' - `params`, `method`, `objective` and `versions`: how the selection was made.
#' - `n_genes` and `n_tested`: how many genes were selected, and out of how many.
#' - `preserved`: the share of the structure that the first 1, 2, ... genes of the panel
#'   keep, of what all genes keep.
#' - `optimality`: a share for panels of 1, 2, ... genes. Of what the best
#'   possible panel of that size keeps, the panel keeps at least this share. NA for
#'   panels of included genes alone. The paper's objectives do not have it.
#' - `curve`: `n_genes` and `preserved` of panels larger than the selection too, where
#'   `n_genes` was NULL.
#' - `structure`: what the structure was computed from, the parameters of
#'   [glfs_structure()].
#' - `n_axes`: how many axes of the samples stand above the noise, for each batch; 0
#'   where no structure does.
#' - `graph_components`: the number of connected components of the graph of the
#'   samples. `assay_noise`: the variance of the noise of the assay that will
#'   measure the panel, as it was assumed.
#' - `preserved_on_platform`: the mean, or the worst, of what panels of 1, 2, ... genes
#'   keep over draws of a platform. `missing`: names that are not there, if any.
#' - `batches` and `preserved_in_batches`: with `block`, their names, and what panels of 1, 2,
#'   ... genes keep of each, a matrix of panels x batches.
#' - `lam`, `path`, `kkt`, `converged` and `n_iter`: with the paper's objectives
#'   only, the penalty, the path of solutions along it, the largest violation of the
#'   optimality conditions, whether the solver converged, and its iterations.
#'
#' @section Errors:
#' Errors have class `glfs_error`, and an element `argument` where an argument is refused;
#' those of Python also `python.ValueError` and the like, and elements `kind` and
#' `traceback`. Missing values in the matrix and duplicate row
#' names are errors. Warnings of Python become warnings of class
#' `python.UserWarning`.
#'
#' @examples
#' if (glfs_available()) {
#'     # 90 samples in three groups; genes 1 to 3 tell them apart
#'     set.seed(1)
#'     x <- matrix(rnorm(40 * 90, 1, 0.3), 40, dimnames = list(paste0("g", 1:40)))
#'     for (i in 1:3) x[i, 30 * (i - 1) + 1:30] <- x[i, 30 * (i - 1) + 1:30] + 3
#'     genes <- glfs_select_genes(x, n_genes = 3, n_comps = NULL)
#'     rownames(genes)[genes$glfs_selected]
#' }
#' @export
glfs_select_genes <- function(x, n_genes, ..., assay = NULL) {
    call <- if (is_record(x)) run_sets else run
    call("select_genes", x, c(given("n_genes"), list(...)), assay)
}

#' How often a gene is selected when samples are left out
#'
#' Repeats a selection of `x` on random parts of the samples, with the parameters
#' that it was made with, by `glfs_bio.tl.stability()` in Python. Where `x` has no
#' selection, as a matrix, the parameters are given here.
#'
#' @inheritParams glfs_select_genes
#' @param n_genes How many genes in each part. Without it as in the selection; NULL:
#'   an automatic number in each.
#' @param ... Further arguments, by name: `key`, which selection (its `key_added`);
#'   `n_resamples`, the number of parts; `fraction`, the share of the samples in a
#'   part; `n_jobs`, processes; `key_added`; `random_state`; and arguments of
#'   [glfs_select_genes()] in place of those of the selection.
#' @param BPPARAM A parameter of BiocParallel, such as `BiocParallel::MulticoreParam(4)`:
#'   as many processes as it has workers, on this machine. They are forked; where that
#'   cannot be done, as on Windows and macOS, there is one. The result does not depend
#'   on it. `n_jobs` is the same as a number.
#' @return The object, with the columns below in `rowData()`, `fData()` or the
#'   metadata of the features, and a record in `metadata(x)$glfs_stability`,
#'   `notes(x)` or `Misc(x)`. For a matrix, a DataFrame.
#'
#'   - `glfs_stability_frequency`: the share of the parts in which the gene is
#'     selected.
#'   - `glfs_stability_frequency_with_substitutes`: for the genes of the selection the
#'     share of the parts in which the gene, or one that stands in for it, is selected;
#'     NA for the others. See [glfs_substitutes()].
#'   - `glfs_stability_consensus`: whether the gene is in the panel of the genes that
#'     are selected most often, as many as a part selects on average.
#'
#'   The record has `table`, the genes that are selected most often with their frequencies;
#'   `jaccard`, for every two parts the genes that their selections
#'   share, over those in either, and `mean_jaccard`; `jaccard_with_substitutes` and its
#'   mean: the same where a gene may be matched with one that stands in for it;
#'   `n_genes`, the sizes of the selections; `of`, the key of the selection that was examined; and `params`.
#' @examples
#' if (glfs_available()) {
#'     set.seed(1)
#'     x <- matrix(rnorm(40 * 90, 1, 0.3), 40, dimnames = list(paste0("g", 1:40)))
#'     for (i in 1:3) x[i, 30 * (i - 1) + 1:30] <- x[i, 30 * (i - 1) + 1:30] + 3
#'     glfs_stability(x, n_genes = 3, n_resamples = 5, n_comps = NULL)
#' }
#' @export
glfs_stability <- function(x, n_genes, ..., assay = NULL, BPPARAM = NULL) {
    options <- c(given("n_genes"), list(...))
    if (!is.null(BPPARAM))
        options <- with_workers(options, BPPARAM)
    run("stability", x, options, assay)
}

with_workers <- function(options, BPPARAM) {
    if (!is(BPPARAM, "BiocParallelParam"))
        refuse(
            "BPPARAM", " is a ", class(BPPARAM)[1L], ": it must be a parameter of BiocParallel, ",
            "such as BiocParallel::MulticoreParam(2)."
        )
    if ("n_jobs" %in% names(options))
        glfs_stop("n_jobs and BPPARAM both say how many processes there are: give one of them.")
    c(options, n_jobs = BiocParallel::bpnworkers(BPPARAM))
}
