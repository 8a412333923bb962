#' glfsbio: the few genes that keep the structure of an expression matrix
#'
#' Start with [glfs_setup()], which connects R with a Python that has the package
#' glfs_bio, or with [glfs_install()], which makes one; then [glfs_select_genes()], with
#' [glfs_limits()], and [glfs_stability()]. Any panel can be judged with
#' [glfs_evaluate_panel()], [glfs_compare_panels()], [glfs_explain_panel()],
#' [glfs_markers()], [glfs_substitutes()] and [glfs_curve()], and completed with
#' [glfs_extend_panel()]; [glfs_structure()] saves time where there are several such calls.
#' [glfs_plot_panel()] and others plot what they found. [glfs_classify()] learns labels, and [glfs_predict()] tells them
#' of other samples; [glfs_gene_sets()] writes files.
#'
#' @name glfsbio-package
#' @aliases glfsbio
#' @docType package
#' @keywords package
#' @examples
#' if (glfs_available()) glfs_setup()
#' @importFrom methods is setClass setGeneric setMethod
#' @importFrom stats coef predict
#' @importFrom S4Vectors DataFrame
#' @importClassesFrom Biobase ExpressionSet
#' @importClassesFrom SummarizedExperiment SummarizedExperiment
NULL
