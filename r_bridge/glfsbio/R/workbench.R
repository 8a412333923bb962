#' Judge any panel of genes: what it keeps of the cells, and what it misses
#'
#' The share of the structure that is kept needs no labels and is on one scale for
#' every panel of the same cells: 0 without genes and 1 with all of them. A share of
#' 0.3 can be good: few genes do not keep what twenty thousand do. The random panels
#' and the best possible share of the same size tell how good. The work is done by
#' `glfs_bio.tl.evaluate_panel()` in Python, with the same figures.
#'
#' @inheritParams glfs_select_genes
#' @param panel Names of genes; or one string: the key of a selection of `x`, a
#'   logical column of `rowData()`, a file of names (TXT, CSV, TSV, GMT, XLSX), or one
#'   gene. Without it the selection that [glfs_select_genes()] wrote.
#' @param labels Column of `colData()`, `pData()` or the metadata of a Seurat object
#'   with labels of the cells, such as types. Cells without one are left out.
#' @param ... Further arguments, by name; see the section below. All defaults are
#'   those of Python.
#'
#' @section Further arguments:
#' \describe{
#'   \item{`counts_layer`}{The matrix of raw counts, named as `assay` is (for Seurat
#'     the slot or layer): what share of the counts the panel takes.}
#'   \item{`platform`}{The assay that will measure the panel: see [glfs_platform()].}
#'   \item{`n_random`}{Random panels of the same size, of genes that vary.}
#'   \item{`n_axes`}{Unexplained axes to list.}
#'   \item{`symbols`}{A column of `rowData()` with names that genes may be given by.}
#'   \item{`preserve`, `cell_weights`}{What the panel is to keep, and how much each cell
#'     counts, as in [glfs_select_genes()]. Without them: what a selection was made for,
#'     and the structure for other panels.}
#'   \item{`key_added`}{Name of the record, and prefix of the columns.}
#'   \item{`random_state`}{A seed.}
#'   \item{`use_rep`}{Which structure of [glfs_structure()]: its `key_added`; or a reduced
#'     dimension that spans it.}
#'   \item{`block`, `n_comps`, `neighbors_key`, `lambda1`, `n_neighbors`,
#'     `standardize`}{What the structure of the cells is computed from here, as in
#'     [glfs_structure()]; what is not given has its default. Without these and `use_rep`
#'     it is the structure that a selection was made by, and for another panel that of the
#'     matrix. Every call computes it, unless [glfs_structure()] has kept it.}
#' }
#' Names that are not in the data are left out with a warning.
#'
#' @return The object, with a record in `metadata(x)$glfs_evaluation`, `notes(x)` or
#'   `Misc(x)`, and two columns: `glfs_evaluation_unexplained` of the cells, the error that
#'   the panel leaves there, in units of that of a mean cell without any gene; and
#'   `glfs_evaluation_r2` of the genes, how well the panel predicts the structure of
#'   an unmeasured gene. For a matrix, the record, a list, with DataFrames `rowData`
#'   and `colData` of these columns.
#'
#' @section The record:
#' - Of the structure: `preserved`, the share that the panel keeps; `optimality`, at
#'   least that share of what the best panel of as many genes keeps; `best_preserved`, what
#'   the panel of [glfs_select_genes()] of that size keeps, and `most_preserved`, what no
#'   panel of that size exceeds; `random_preserved`, of random panels;
#'   `preserved_on_platform`, with draws of a platform; with the batches of a structure or of a
#'   selection `batches`, their names, and `preserved_in_batches`, the share that is kept of
#'   each.
#' - Of the cells as the panel shows them: `knn_preservation`, the share of the 15
#'   nearest cells in 50 principal components of all genes that are nearest cells in
#'   the panel; `cluster_preservation_coarse` and `cluster_preservation_fine`, normalised mutual
#'   information of 5 to 10 and of 20 to 40 clusters in both. With `labels`
#'   `accuracy`, `macro_f1` and `rare_f1` of leave-one-out prediction from the 15
#'   nearest cells (rare: at most 5 % of the cells), `per_label`, a DataFrame, and
#'   `confusion`, numbers of cells, labels x predictions.
#' - Of the genes: `imputed`, the median of `glfs_evaluation_r2`; of those of the panel
#'   `mean_correlation` and `n_effective`, an effective number of genes. With
#'   `counts_layer` `counts_share`, of all counts, `counts_spearman`, whether the
#'   panel's total follows the total of the cell, and with `labels`
#'   `counts_per_label`, a DataFrame.
#' - What it misses: `unexplained`, a DataFrame of directions, the worst first: `share` of
#'   what is left open, the genes on both sides (`genes_up`, `genes_down`), and with
#'   `labels` the labels that vary most along it.
#' - `table`, a DataFrame of all numbers of this list; `n_genes`, `genes`, `absent` (names
#'   that are not in the data), `params` and `versions`.
#'
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_example()
#'     panel <- c("CD3D", "CD79A", "NKG7", "LYZ", "FCER1A")
#'     x <- glfs_evaluate_panel(x, panel, "bulk_labels")
#'     found <- S4Vectors::metadata(x)$glfs_evaluation
#'     found$preserved
#'     summary(found$random_preserved)
#'     found$per_label
#'     found$unexplained
#' }
#' @export
glfs_evaluate_panel <- function(x, panel, labels = NULL, ..., assay = NULL) {
    run("evaluate_panel", x, c(given("panel"), list(labels = labels, ...)), assay)
}

#' Keep what panels are judged by, for several calls
#'
#' The functions that select, judge, extend and explain panels need the structure of the
#' samples, and compute it in every call. After this function they take it from the object,
#' as long as its matrix and the parameters are the same. Under a key of its own a structure
#' with other parameters is named by `use_rep` of these functions. The work is done by
#' `glfs_bio.pp.structure()` in Python.
#'
#' @inheritParams glfs_select_genes
#' @param x Genes x samples, logarithmised, of any class that [glfs_select_genes()]
#'   takes. A plain matrix has no place to keep a structure.
#' @param ... Further arguments, by name. `block`, `n_comps`, `use_rep`, `neighbors_key` and
#'   `random_state`, as in [glfs_select_genes()]; `lambda1`, the weight of the graph of the
#'   samples, and `n_neighbors`, the neighbours of a sample in it (NULL: 15, of fewer than 300
#'   samples a twentieth of them, and at least 8); `standardize`, the units
#'   of the genes: `"noise"`, `"unit"` (their variance), NULL, or `"auto"`; and `key_added`.
#'   All defaults are those of Python.
#' @return The object, with a record in `metadata(x)$glfs_structure`, `notes(x)` or
#'   `Misc(x)`: `params`; `n_samples`; and `kept`, the structure in bytes that only Python
#'   reads.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_structure(glfs_example())
#'     x <- glfs_evaluate_panel(x, c("CD3D", "CD79A", "LYZ"))
#'     x <- glfs_substitutes(x, c("CD3D", "CD79A", "LYZ"), n = 2)
#'     S4Vectors::metadata(x)$glfs_substitutes$table
#'
#'     x <- glfs_structure(x, lambda1 = 20, key_added = "mine")
#'     x <- glfs_select_genes(x, n_genes = 5, use_rep = "mine")
#' }
#' @export
glfs_structure <- function(x, ..., assay = NULL) {
    if (!has_samples(x))
        refuse(
            "x", " is a ", class(x)[1L], ", which has no place for a structure: put it into a ",
            "SummarizedExperiment."
        )
    run("structure", x, list(...), assay)
}

#' Find the genes that add most to a panel
#'
#' The genes of the panel, such as one of a catalogue, stay. Each further gene is the
#' one that lowers most the error of the genes before it. The work is done by
#' `glfs_bio.tl.extend_panel()` in Python, with the same genes.
#'
#' @inheritParams glfs_evaluate_panel
#' @param panel Names of genes; or one string: the key of a selection of `x`, a
#'   logical column of `rowData()`, a file of names (TXT, CSV, TSV, GMT, XLSX), or one
#'   gene. Genes that are not in the data stay in the panel, and count for nothing.
#' @param n_extra Genes to add. NULL: the fewest with which the panel keeps 90 % of the
#'   structure (at most 500 genes in all), or with a budget as many as it affords.
#' @param ... Further arguments, by name: `labels`, a column of `colData()`: which
#'   labels each gene that is added serves; `exclude`, `limits` and `platform`, as in
#'   [glfs_select_genes()], for the whole panel; and `preserve`, `cell_weights`,
#'   `symbols`, `key_added`, `random_state`, `use_rep` and the parameters of the
#'   structure, as in [glfs_evaluate_panel()].
#' @return What [glfs_select_genes()] returns, under the key `glfs_extended`, with
#'   `glfs_extended_included` for the genes of the panel. All functions that take the
#'   key of a selection take this one. Its record has besides
#'
#'   - `table`: a DataFrame, one row a gene, in the order in which they are added:
#'     `gene`; `adds`, the share of the structure that it adds to the genes before it;
#'     `preserved`, what is kept with it; with `labels` `supports`, the label whose cells gain
#'     most in proportion to their number.
#'   - `absent`: names of the panel that are not in the data, if any.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_extend_panel(glfs_example(), c("CD3D", "LYZ", "NKG7"), 5)
#'     S4Vectors::metadata(x)$glfs_extended$table
#' }
#' @export
glfs_extend_panel <- function(x, panel, n_extra = NULL, ..., assay = NULL) {
    run("extend_panel", x, c(given("panel"), list(n_extra = n_extra, ...)), assay)
}

#' Find the genes that replace a gene of a panel
#'
#' A gene may fail: no probes fit it, or its supplier has none. A substitute does for
#' the panel what the gene did, beside all the other genes of the panel. It need not
#' be the gene that is most correlated: what the rest of the panel shows already needs
#' no second gene. The work is done by `glfs_bio.tl.substitutes()` in Python, with the
#' same figures.
#'
#' @inheritParams glfs_evaluate_panel
#' @param genes Names of genes of the panel to replace. NULL: each of them, one at a
#'   time.
#' @param n Substitutes to list for each gene.
#' @param ... Further arguments, by name: `exclude`, genes that cannot be a
#'   substitute, as in [glfs_select_genes()]; `min_score`: minimum substitution
#'   score of a substitute; and `preserve`, `cell_weights`,
#'   `symbols`, `key_added`, `use_rep` and the parameters of the structure, as in
#'   [glfs_evaluate_panel()].
#' @return The object, with a record in `metadata(x)$glfs_substitutes`, `notes(x)` or
#'   `Misc(x)`; for a matrix, the record. Its `table` is a DataFrame with up to `n`
#'   rows a gene, the best substitute first; a gene without one has a row with `""`:
#'
#'   - `gene`, `substitute`, and `place`, 1 for the best, 0 for none.
#'   - `substitution_score`: how much of what the gene does for the panel the substitute does
#'     as well. 1 is a copy of the gene; a copy with less noise is above 1.
#'   - `loss`: what the panel loses without the gene, and `loss_with_substitute`: what it loses when
#'     the substitute takes its place, both as a share of what all genes keep. Below
#'     zero the panel is better with the substitute.
#'
#'   `irreplaceable` has the genes without a substitute, among those with which the limits
#'   of the selection hold.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_select_genes(glfs_example(), n_genes = 10)
#'     x <- glfs_substitutes(x, n = 2)
#'     S4Vectors::metadata(x)$glfs_substitutes$table
#' }
#' @export
glfs_substitutes <- function(x, panel, genes = NULL, n, ..., assay = NULL) {
    run("substitutes", x, c(given("panel", "n"), list(genes = genes, ...)), assay)
}

#' Say why each gene is in a panel
#'
#' For every gene what is lost without it, whom it serves, and what replaces it. The
#' work is done by `glfs_bio.tl.explain_panel()` in Python, with the same figures.
#'
#' @inheritParams glfs_evaluate_panel
#' @param labels Column of `colData()`, `pData()` or the metadata of a Seurat object
#'   with labels of the cells, such as types: which of them each gene serves.
#' @param ... Further arguments, by name: `n_labels`, the most labels to name for a
#'   gene; `exclude`, genes that cannot be a substitute, as in [glfs_select_genes()]; and
#'   `preserve`, `cell_weights`, `symbols`, `key_added`, `use_rep` and the parameters of
#'   the structure, as in [glfs_evaluate_panel()].
#' @return The object, with a record in `metadata(x)$glfs_explanation`, `notes(x)` or
#'   `Misc(x)`; for a matrix, the record. Its `table` is a DataFrame, one row a gene in
#'   the panel's order:
#'
#'   - `gene`, and `preserved`: the share of the structure that the genes up to this one
#'     keep.
#'   - `loss`: what the panel loses without the gene, as a share of what all genes
#'     keep.
#'   - `axis` and `axis_share`: the direction of the structure that the gene
#'     serves most, named by the genes that vary most along it, and the share of the
#'     loss that lies along it.
#'   - `substitute`, `substitution_score` and `loss_with_substitute`: its best substitute, as in
#'     [glfs_substitutes()].
#'   - `supports`, with `labels`: the labels whose cells would be predicted worse without
#'     it, with their shares of the growth of the error.
#'
#'   `support`, with `labels`, is a matrix of all these shares, genes x labels. `pairs`, with
#'   `labels`, is a DataFrame, one row a pair of them, the pair that is told apart worst
#'   first: `label` and `other`; `preserved`, the share of the distance between their means
#'   that the panel keeps; `genes`, those that do most for it.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_select_genes(glfs_example(), n_genes = 10)
#'     x <- glfs_explain_panel(x, labels = "bulk_labels")
#'     S4Vectors::metadata(x)$glfs_explanation$table
#' }
#' @export
glfs_explain_panel <- function(x, panel, labels = NULL, ..., assay = NULL) {
    run("explain_panel", x, c(given("panel"), list(labels = labels, ...)), assay)
}

#' Judge panels by the same measures, and say what they have in common
#'
#' The work is done by `glfs_bio.tl.compare_panels()` in Python, with the same figures.
#'
#' @inheritParams glfs_evaluate_panel
#' @param panels A named list of at least two panels; each is what `panel` of
#'   [glfs_evaluate_panel()] can be.
#' @param ... Further arguments, by name: `counts_layer`, `symbols`, `key_added`,
#'   `random_state`, `use_rep` and the parameters of the structure, as in
#'   [glfs_evaluate_panel()]; `preserve` and `cell_weights`, as in
#'   [glfs_select_genes()], by default the structure. Selections of different structures
#'   are compared by one that `use_rep` or the parameters name.
#' @return The object, with a record in `metadata(x)$glfs_comparison`, `notes(x)` or
#'   `Misc(x)`; for a matrix, the record. It has the DataFrames
#'
#'   - `table`, a row a panel: every number of [glfs_evaluate_panel()].
#'   - `shared`, panels x panels: genes in common.
#'   - `jaccard`: these over the genes in either.
#'   - `jaccard_with_substitutes`: the same where a gene may be matched with a gene that
#'     stands in for it in one of the two panels.
#' @examples
#' if (glfs_available()) {
#'     panels <- list(
#'         ours = c("CD3D", "CD79A", "NKG7"), theirs = c("CD3D", "LYZ", "GNLY")
#'     )
#'     x <- glfs_compare_panels(glfs_example(), panels)
#'     S4Vectors::metadata(x)$glfs_comparison$table
#' }
#' @export
glfs_compare_panels <- function(x, panels, labels = NULL, ..., assay = NULL) {
    if (!is.list(panels) || is.null(names(panels)))
        refuse(
            "panels", " must be a named list of panels, such as ",
            "list(catalogue = c(\"CD3D\", \"LYZ\"), glfs = \"glfs\")."
        )
    run("compare_panels", x, list(panels = panels, labels = labels, ...), assay)
}

#' Say which genes of a panel mark which labels
#'
#' A gene is on in a cell that expresses at least so much of it. A label is told by a few
#' genes that are all on, those with the largest F-beta score, as by NS-Forest
#' (Aevermann et al. 2021). A panel that tells labels apart together may have labels
#' without a marker of their own; the table says which. The work is done by
#' `glfs_bio.tl.markers()` in Python, with the same figures.
#'
#' @inheritParams glfs_evaluate_panel
#' @param labels Column of `colData()`, `pData()` or the metadata of a Seurat object
#'   with labels of the cells, such as types. Cells without one are left out.
#' @param ... Further arguments, by name: `n_markers`, the most genes to tell a label by;
#'   `beta` of the F-beta score, below 1 where precision counts more than recall;
#'   `symbols` and `key_added`, as in [glfs_evaluate_panel()].
#' @return The object, with a record in `metadata(x)$glfs_markers`, `notes(x)` or
#'   `Misc(x)`; for a matrix, the record. Its `table` is a DataFrame, one row a label:
#'   `label`; `n_cells`; `markers`, the genes that tell it, the best first; `f_beta`,
#'   `precision` and `recall` of the cells in which all of them are on; `on_target`, the
#'   mean over these genes of the expression that is in the label, as a share of its sum
#'   over the means of all labels. `genes` has the same of every gene alone, one row a
#'   label and gene, with the `threshold` from which the gene is on.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_markers(glfs_example(), c("CD79A", "CD3D", "LYZ"), "bulk_labels")
#'     S4Vectors::metadata(x)$glfs_markers$table
#' }
#' @export
glfs_markers <- function(x, panel, labels, ..., assay = NULL) {
    run("markers", x, c(given("panel"), list(labels = labels, ...)), assay)
}

#' Say what panels of 1, 2, ... genes keep, so that a size can be chosen
#'
#' Panels are nested: one choice of `max_genes` genes gives all sizes. The work is done
#' by `glfs_bio.tl.curve()` in Python, with the same figures.
#'
#' @inheritParams glfs_evaluate_panel
#' @param max_genes Genes of the largest panel.
#' @param labels Column of `colData()`, `pData()` or the metadata of a Seurat object
#'   with labels of the cells: how well they are predicted, too.
#' @param ... Further arguments, by name: `sizes`, at which labels are predicted;
#'   `include`, `exclude`, `limits`, `preserve`, `cell_weights` and `symbols`, as in
#'   [glfs_select_genes()]; `key_added`, `use_rep` and the parameters of the structure, as
#'   in [glfs_evaluate_panel()].
#' @return The object, with a record in `metadata(x)$glfs_curve`, `notes(x)` or
#'   `Misc(x)`; for a matrix, the record. Its `table` is a DataFrame, one row a size:
#'   `n_genes`; `gene`, which is added; `adds`, the share of the structure that it adds;
#'   `preserved`; `optimality`, at least; and with `labels` `accuracy` and `macro_f1` of
#'   leave-one-out prediction from the 15 nearest cells, NA at other sizes than `sizes`.
#' @examples
#' if (glfs_available()) {
#'     x <- glfs_curve(glfs_example(), 20)
#'     table <- S4Vectors::metadata(x)$glfs_curve$table
#'     plot(table$n_genes, table$preserved, type = "s")
#' }
#' @export
glfs_curve <- function(x, max_genes, labels = NULL, ..., assay = NULL) {
    run("curve", x, c(given("max_genes"), list(labels = labels, ...)), assay)
}
