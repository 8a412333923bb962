#' glfsbio: the few genes that keep the structure of an expression matrix
#'
#' Start with [glfs_setup()], which connects R with a Python that has the package
#' glfs_bio, then [glfs_select_genes()], [glfs_stability()], [glfs_laprls()] and
#' [glfs_gene_sets()].
#'
#' @name glfsbio-package
#' @aliases glfsbio
#' @keywords package
#' @examples
#' if (glfs_available()) glfs_setup()
#' @importFrom methods is setClass setGeneric setMethod
#' @importFrom stats coef predict
#' @importFrom S4Vectors DataFrame
#' @importClassesFrom Biobase ExpressionSet
#' @importClassesFrom SummarizedExperiment SummarizedExperiment
"_PACKAGE"
