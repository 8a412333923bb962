#' glfsbio: gene panels from single-cell data
#'
#' Selects panels of genes for targeted experiments from a single-cell
#' reference, evaluates any panel, and writes the order. The first call of a
#' function makes an environment of Python, in which the work is done: see
#' [glfs_install()]. No knowledge of Python is needed.
#'
#' @section Select:
#' - [glfs_select_genes()] selects a panel, within [glfs_limits()], for a
#'   [glfs_platform()] whose efficiencies [glfs_estimate_efficiency()]
#'   estimates.
#' - [glfs_stability()] repeats a selection on subsamples.
#' - [glfs_prove_panel()] searches for the best panel of a size.
#' - [glfs_structure()] computes the structure of the cells once, for several
#'   calls.
#'
#' @section Evaluate and explain:
#' - [glfs_evaluate_panel()]: one panel or several, of any size, by the
#'   structure of the cells, neighbours, clusters and labels.
#' - [glfs_explain_panel()]: the role of each gene, what may take its place, and
#'   why a gene is not in the panel.
#' - [glfs_plot_panel()], [glfs_plot_curve()], [glfs_plot_labels()] and
#'   [glfs_plot_comparison()]: ggplot objects of the results.
#'
#' @section Change:
#' - [glfs_extend_panel()] adds genes to a panel, such as one of a catalogue, and
#'   replaces genes that failed.
#'
#' @section Order:
#' - [glfs_resolve_genes()] finds genes in a vendor's list, by present and past
#'   names.
#' - [glfs_order_panel()] checks every gene, and [glfs_write_order()] and
#'   [glfs_write_reference()] write what the vendor takes.
#' - [glfs_read_panel()] reads the files that vendors have.
#'
#' @section Results and gene sets:
#' - [glfs_genes()], [glfs_result()] and [glfs_results()]: the genes of a
#'   selection, the record of a result, and which results there are. Columns are
#'   in `rowData()` and `colData()`.
#' - [glfs_gene_sets()] and [glfs_scores()]: for fgsea and the like.
#'
#' @section Label other cells:
#' - [glfs_classify()]: a classifier of a few genes.
#' - [glfs_laprls()]: the same classifier on all genes of a matrix, for other
#'   samples too.
#'
#' @section Data and installation:
#' - [glfs_read_h5ad()] reads an AnnData file, and [glfs_example()] has cells to
#'   try.
#' - [glfs_install()] makes the environment of Python, and [glfs_setup()] names
#'   another one and reports versions.
#'
#' @section Sources: The file `COPYRIGHTS` of the package names the source and
#'   licence of the tables of gene names that it carries.
#'
#' @name glfsbio-package
#' @aliases glfsbio
#' @docType package
#' @keywords package
#' @seealso `vignette("glfsbio")` and `vignette("xenium_order")`.
#' @examples
#' glfs_setup()
#' @importFrom methods is setClass setMethod
#' @importFrom stats predict
#' @importFrom stats4 coef
#' @importFrom S4Vectors DataFrame
#' @importClassesFrom Biobase ExpressionSet
#' @importClassesFrom SummarizedExperiment SummarizedExperiment
#' @importClassesFrom SingleCellExperiment SingleCellExperiment
NULL
