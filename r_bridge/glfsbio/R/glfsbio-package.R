#' glfsbio: gene panels from single-cell data
#'
#' Start with [glfs_select_genes()], with constraints by [glfs_limits()], and
#' [glfs_stability()]. Any panel is evaluated with [glfs_evaluate_panel()],
#' [glfs_compare_panels()], [glfs_explain_panel()], [glfs_markers()],
#' [glfs_substitutes()] and [glfs_curve()], and completed with
#' [glfs_extend_panel()]; [glfs_structure()] saves time where there are several
#' such calls. Results are plotted by [glfs_plot_panel()] and others.
#' [glfs_order_panel()] checks a panel for the platform that measures it, and
#' [glfs_write_order()] writes the order. [glfs_classify()] learns labels, and
#' [glfs_predict()] labels other samples; [glfs_gene_sets()] writes gene sets.
#' The work is done by the Python package glfs_bio, whose environment is made on
#' first use: see [glfs_install()] and [glfs_setup()].
#'
#' @name glfsbio-package
#' @aliases glfsbio
#' @docType package
#' @keywords package
#' @examples
#' glfs_setup()
#' @importFrom methods is setClass setGeneric setMethod
#' @importFrom stats predict
#' @importFrom stats4 coef
#' @importFrom S4Vectors DataFrame
#' @importClassesFrom Biobase ExpressionSet
#' @importClassesFrom SummarizedExperiment SummarizedExperiment
#' @importClassesFrom SingleCellExperiment SingleCellExperiment
NULL
