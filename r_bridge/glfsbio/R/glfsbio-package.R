#' glfsbio: gene panels from single-cell data
#'
#' Selects panels of genes for targeted experiments from a single-cell
#' reference, evaluates any panel, and writes the order. The first call of a
#' function makes an environment of Python, in which the work is done: see
#' [glfs_install()]. No knowledge of Python is needed.
#'
#' @section Functions:
#' - select: [glfs_select_genes()], within [glfs_limits()], for a
#'   [glfs_platform()], whose efficiencies [glfs_estimate_efficiency()]
#'   estimates; [glfs_stability()], [glfs_prove_panel()], [glfs_structure()]
#' - evaluate and explain: [glfs_evaluate_panel()], [glfs_explain_panel()], and
#'   ggplot objects of [glfs_plot_panel()], [glfs_plot_curve()],
#'   [glfs_plot_labels()], [glfs_plot_comparison()]
#' - change: [glfs_extend_panel()] adds and replaces genes
#' - order: [glfs_resolve_genes()], [glfs_order_panel()], [glfs_write_order()],
#'   [glfs_write_reference()], [glfs_read_panel()]
#' - results: [glfs_genes()], [glfs_result()], [glfs_results()], and for fgsea
#'   and the like [glfs_gene_sets()] and [glfs_scores()]
#' - label other cells: [glfs_classify()], [glfs_laprls()]
#' - data and installation: [glfs_read_h5ad()], [glfs_example()],
#'   [glfs_install()], [glfs_setup()]
#'
#' @section Sources: The file `COPYRIGHTS` of the package names the source and
#'   licence of the tables of gene names that it carries.
#'
#' @name glfsbio-package
#' @aliases glfsbio
#' @docType package
#' @keywords package
#' @seealso `vignette("glfsbio")`.
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
