#' glfsbio: gene panels from single-cell data
#'
#' Selects panels of genes for targeted experiments from a single-cell
#' reference, evaluates any panel, and writes the order. Begin with
#' `vignette("glfsbio")`, or [glfs_select_genes()].
#'
#' @section Sources: The file `COPYRIGHTS` of the package names the source and
#'   licence of the tables of gene names that it carries.
#' @name glfsbio-package
#' @aliases glfsbio
#' @docType package
#' @keywords package
#' @examples
#' glfs_setup()
#' @importFrom methods is setClass setMethod
#' @importFrom stats predict
#' @importFrom S4Vectors DataFrame
#' @importClassesFrom Biobase ExpressionSet
#' @importClassesFrom SummarizedExperiment SummarizedExperiment
#' @importClassesFrom SingleCellExperiment SingleCellExperiment
NULL
