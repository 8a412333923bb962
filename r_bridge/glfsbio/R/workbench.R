#' Evaluate any panel of genes
#'
#' Structure preserved needs no labels and is on one scale for every panel of
#' the same cells: 0 without genes and 1 with all of them. A value of 0.3 can be
#' good: few genes do not preserve what twenty thousand do. Random panels and
#' the best panel of the same size are reported with it.
#'
#' @inheritParams glfs_select_genes
#' @param panel Names of genes, or one logical value each; or one string: the
#'   key of a selection of `x`, a logical column of `rowData()`, a file, or a
#'   single gene; or a table of [glfs_read_panel()], which tells the forms of
#'   files. The default is the selection of [glfs_select_genes()].
#' @param labels One label per cell, such as its type: a vector, or the name of
#'   a column of `colData()`, `pData()` or the metadata of a Seurat object.
#'   Cells without a label are left out.
#' @param readings How labels are predicted from the panel: `"knn"`, by the
#'   majority of the 15 nearest cells, which count genes by their variance, as a
#'   clustering does; `"laprls"`, by a classifier, LapRLS, in 5-fold
#'   cross-validation; or both.
#' @param domains One label per cell of its place in the tissue, such as a layer
#'   or region, as `labels`: predicted from expression averaged over neighbours
#'   in space.
#' @param spatial Where the cells are, for domains and for Moran's I: a matrix
#'   of coordinates with a row per cell, or the name of a reduced dimension that
#'   has them, of which the 15 nearest cells are neighbours; or a graph
#'   `<spatial>_connectivities` in `colPairs()`; `"spatial"` for the
#'   `spatialCoords()` of a SpatialExperiment. NULL: with `domains`
#'   `"spatial_neighbors"`, or where there is none `"spatial"`; otherwise
#'   nothing is said of space.
#' @param library_key The section of each cell, a vector or the name of a
#'   column: cells of other sections are no neighbours. NULL: one section.
#' @param ... Parameters of [glfs_structure()] (`block`, `ignore`, `n_comps`,
#'   `neighbors_key`, `lambda1`, `n_neighbors`, `standardize`), by name, in
#'   place of those of the structure that is used without them, see `use_rep`.
#' @param counts_layer Matrix of raw counts: an assay, an element of
#'   `assayData`, or a layer of a Seurat assay.
#' @param gene_sets A named list of gene sets, such as pathways, or a GMT file,
#'   to be covered by the panel.
#' @param platform Target platform: see [glfs_platform()]. NULL: the platform
#'   that the selection was made for, if `panel` is a selection with one.
#' @param use_rep,dimred Structure to use, as in [glfs_select_genes()]:
#'   `dimred = "PCA"`, or `use_rep`; both are an error. NULL: that of the
#'   selection; for other panels, with a message, that of the selections in `x`
#'   (where they have one), or of [glfs_structure()]; else that of the matrix.
#' @param n_random Number of random panels of the same size, of genes that vary.
#' @param n_axes Largest number of rows of `unexplained`, see below.
#' @param preserve,cell_weights Target of the panel and weight of each cell, as
#'   in [glfs_select_genes()]. NULL: those of the selection, and the structure
#'   for other panels.
#' @param key_added Name of the record, and prefix of the columns. NULL: the key
#'   of the panel and the kind of the result, such as `mine_evaluation` for the
#'   selection `mine`; that of a panel without a key is `glfs`.
#' @param random_state Seed of the random panels, the clusters, the folds and
#'   the draws of the platform. NULL: drawn from R's generator, so `set.seed()`
#'   repeats the result.
#'
#' @return The object, with a record in `metadata(x)$glfs_evaluation`,
#'   `notes(x)` or `Misc(x)`, and two columns. For a matrix, the record, a list,
#'   with DataFrames `rowData` and `colData` of these columns. Names that are
#'   not in the data are left out with a warning.
#'
#'   - `glfs_evaluation_unexplained`, of the cells: the unexplained variation of
#'     the cell, divided by the mean of all cells when no gene is measured.
#'   - `glfs_evaluation_r2`, of the genes: how well the panel predicts the
#'     structure of a gene that it does not measure (R squared, 1 is perfect).
#'     NA for genes of the panel.
#'
#' @section The record:
#' - Of the structure: `preserved`; `optimality`, a lower bound: the panel
#'   preserves at least this fraction of what the best panel of this size would
#'   preserve without constraints; `best_preserved`, that of the panel of
#'   [glfs_select_genes()] of this size, and `most_preserved`, which no panel of
#'   this size exceeds; `random_preserved`, of random panels; `batches` and
#'   `preserved_in_batches`, with batches. All are NA for a panel of all genes
#'   that vary.
#' - Of the cells as the panel shows them: `knn_preservation`, the share of each
#'   cell's neighbours (`n_neighbors`: 15, of few cells fewer) in 50 principal
#'   components of all genes that are found again in the panel;
#'   `cluster_preservation_coarse` and `cluster_preservation_fine`, normalised
#'   mutual information of 5 to 10 and of 20 to 40 clusters in both;
#'   `cluster_ari`, the adjusted Rand index of 10 clusters in both, the mean of
#'   five splits of the cells that are clustered by themselves, with
#'   `cluster_ari_sd` and `cluster_ari_in_splits`, NA below 500 cells.
#' - With `labels`, `readings`, how they were predicted, in words, and
#'   `n_labelled`, of how many cells. Of leave-one-out prediction from the
#'   nearest cells (`n_neighbors_of_labels`: 15, of small groups fewer), and of
#'   LapRLS with the ending `_laprls`, also of the columns of `per_label`:
#'   `accuracy`, and `accuracy_all_genes` in 50 principal components of all
#'   genes; `macro_f1`, the mean F1 of the labels, and `rare_f1`, that of labels
#'   with at most 5 % of the cells; `silhouette`, from -1 to 1, how much nearer
#'   cells are to their own label than to the nearest other one, the mean (of at
#'   most 1,000), and `silhouette_all_genes`; `confusion`, numbers of cells,
#'   labels x predictions; and `per_label`, a DataFrame with a row per label:
#'   `n_cells`, `recall`, `precision`, `f1`, `confused_with` (the other label that is
#'   predicted most often, or ""), `confused_share` (for this share of its
#'   cells), `rare`, and `too_few` (too few cells to be most of the nearest, or
#'   for one in each fold).
#' - With `domains`, `domain_accuracy` and `domain_macro_f1`, with the ending
#'   `_laprls` of LapRLS: cells are predicted from those of other blocks of
#'   tissue, and averages end where the folds do. `domain_accuracy_all_genes`
#'   and `random_domain_accuracy`, of at most five random panels, beside it;
#'   `per_domain`, as `per_label`; `domain_readings` and `n_in_domains`.
#' - With `domains` or `spatial`, `morans_i`, the mean Moran's I of the genes of
#'   the panel; `morans_i_all_genes` and `random_morans_i`; and `morans_i_kept`,
#'   the share of the Moran's I of all genes that the regression on the panel
#'   explains, and `random_morans_i_kept`.
#' - Of the genes: `imputed`, the median of `glfs_evaluation_r2`;
#'   `mean_correlation` and `n_effective`, an effective number, of those of the
#'   panel. With `counts_layer` `counts_share`, the counts of the panel divided
#'   by all counts; `counts_spearman`, the rank correlation of the totals of the
#'   panel and of the cell; and with `labels` `counts_per_label`, a DataFrame
#'   with a row per label: `n_cells`, `share`, `ratio` (the share divided by
#'   `counts_share`) and `spearman`. With `gene_sets` `gene_set_coverage`, the
#'   share of those in the data with a gene of the panel, and `gene_sets`, a
#'   DataFrame with a row per set: `n_overlap`, genes of the panel in it,
#'   `n_set`, of the data, and `genes`, those of the panel as one text.
#' - With a `platform`: `not_orderable`, the genes that cannot be ordered, where
#'   it says which can; with a spread or failures `preserved_on_platform`, the
#'   mean over draws or with `case = "worst"` the least of them; with
#'   `counts_layer` `counts_on_platform`, the mean counts of the panel in a
#'   cell, and with a codebook `counts_per_bit`, those of the genes of each bit.
#'   With `labels` and `counts_layer`, where it has efficiencies, failures or
#'   off-target shares, `accuracy_on_platform`, and `forecast`, a DataFrame with
#'   a row per label: `n_cells`, `recall`, `recall_low` and `recall_high`.
#'   With spillover also its `recall_without_spillover`,
#'   `accuracy_without_spillover`, `neighbor_frequencies`, the frequencies of
#'   labels around cells of each label, `leaks`, a DataFrame of labels that
#'   spillover confuses (`predicted` for this `share` of the cells of `label`;
#'   `neighbors`: its frequency around them), and of markers that exclude each
#'   other `mecr_reference` and `mecr_on_platform`, the mean share of the cells
#'   with either that have both, and `exclusive_markers`, a DataFrame of pairs.
#'   `_low` and `_high` are the ends of the 90 % interval, also after
#'   `preserved_on_platform` and `accuracy_on_platform`.
#' - `unexplained`, a DataFrame with a row per direction of variation between
#'   the cells (like a principal component) that the panel does not capture, the
#'   largest first: `share` of the unexplained variation; `genes_up` and
#'   `genes_down`, the genes on both sides, and with `labels` `labels`, those
#'   that vary most along it with their shares, each as one text.
#' - `table`, a DataFrame with the columns `measure` and `value`: all numbers of
#'   this list; `n_genes`, `genes`, `absent` (names that are not in the data),
#'   `params` and `versions`.
#'
#' @section Errors: See [glfs_select_genes()].
#'
#' @examples
#' x <- glfs_example()
#' panel <- c("CD3D", "CD79A", "NKG7", "LYZ", "FCER1A")
#' x <- glfs_evaluate_panel(x, panel, labels = "bulk_labels")
#' found <- glfs_result(x, "glfs_evaluation")
#' found$preserved
#' summary(found$random_preserved)
#' found$per_label
#' found$unexplained
#' @name glfs_evaluate_panel
NULL

#' Keep the structure of the cells for several calls
#'
#' The structure of the cells is computed when a function first needs it. After
#' this function it is stored in the object, for other sessions too, and valid
#' as long as the matrix is the same. Panels that are no selections are
#' evaluated by it, unless `x` has a selection, whose structure it then is. A
#' selection takes another than the default by `use_rep = "glfs_structure"`.
#' Several structures have a key each.
#'
#' @inheritParams glfs_select_genes
#' @param x Log-normalised expression, genes x samples, of any class that
#'   [glfs_select_genes()] takes but a matrix, which has no place for it.
#' @param use_rep,dimred Name of the reduced dimension that spans the structure,
#'   such as `"PCA"`; both are an error. NULL: computed from the matrix.
#' @param n_neighbors Neighbours of a sample in the graph. NULL: 15; of fewer
#'   than 300 samples a twentieth of them, and at least 8.
#' @param lambda1 Weight of the graph.
#' @param ignore Genes that do not count as structure, as in
#'   [glfs_select_genes()].
#' @param symbols Column of `rowData()` with further names of the genes.
#' @param standardize Units of the genes: `"noise"` (noise-standardised),
#'   `"unit"` (variance 1), NULL, or `"auto"`.
#' @param key_added Name of the record.
#' @return The object, with a record in `metadata(x)$glfs_structure`, `notes(x)`
#'   or `Misc(x)`: `params`; `n_samples`; and `kept`, the structure as a raw
#'   vector.
#' @inheritSection glfs_evaluate_panel Errors
#' @examples
#' x <- glfs_structure(glfs_example())
#' x <- glfs_evaluate_panel(x, c("CD3D", "CD79A", "LYZ"))
#' x <- glfs_substitutes(x, c("CD3D", "CD79A", "LYZ"), n = 2)
#' glfs_result(x, "glfs_substitutes")$table
#'
#' x <- glfs_structure(x, lambda1 = 20, key_added = "mine")
#' x <- glfs_select_genes(x, n_genes = 5, use_rep = "mine")
#' @name glfs_structure
NULL

#' Find the genes that add most to a panel
#'
#' The genes of the panel, such as one of a catalogue, stay. Each further gene
#' is the one that reduces most the unexplained structure.
#'
#' @inheritParams glfs_evaluate_panel
#' @inheritParams glfs_select_genes
#' @param panel Names of genes, or one logical value each; or one string: the
#'   key of a selection of `x`, a logical column of `rowData()`, a file, or a
#'   single gene; or a table of [glfs_read_panel()], which tells the forms of
#'   files. Genes that are not in the data stay in the panel, and count for
#'   nothing.
#' @param n_extra Number of genes to add. NULL: the fewest with which the panel
#'   preserves 90 % of the structure (at most 500 genes in all), or with a
#'   budget as many as it affords.
#' @param labels One label per cell: a vector, or the name of a column, as in
#'   [glfs_evaluate_panel()]. They fill `supports`, and do not change which
#'   genes are added: `preserve` does. Cells without a label are ignored there.
#' @param exclude Genes that cannot be added, as in [glfs_select_genes()]. NULL:
#'   those of the selection.
#' @param limits Constraints: see [glfs_limits()]. Totals, families, markers per
#'   type and budget count the whole panel; limits on single genes hold for the
#'   added genes only. Genes that are not in the data cost nothing. NULL: those
#'   of the selection.
#' @param across `"mean"` over the batches, or `"worst"`: maximin over the
#'   batches. NULL: as in the selection, else `"mean"`.
#' @param random_state Seed of the draws of the platform. The default gives the
#'   same draws in every call. NULL: other draws in every call, whatever
#'   `set.seed()` is.
#' @return The value of [glfs_select_genes()], under the key of the panel and
#'   `_extended`, such as `glfs_extended`, with `glfs_extended_included` for the
#'   genes of the panel. All functions
#'   that take the key of a selection take this one. Its record has besides
#'
#'   - `table`: a DataFrame, one row per gene, in the order in which they are
#'     added: `gene`; `adds`, the share of the structure that it adds to the
#'     genes before it; `preserved`, with it; with `labels` `supports`, of the
#'     labels that express it more than others the one whose cells gain most in
#'     proportion to their number.
#'   - `absent`: names of the panel that are not in the data, if any.
#' @inheritSection glfs_evaluate_panel Errors
#' @examples
#' x <- glfs_extend_panel(glfs_example(), c("CD3D", "LYZ", "NKG7"), 5)
#' glfs_result(x, "glfs_extended")$table
#' @name glfs_extend_panel
NULL

#' Search for the best panel of the size of a panel
#'
#' Branch and bound compares all panels of this size, within everything that the
#' panel was chosen with: genes that must or cannot be in, limits, platform and
#' batches. Where it ends within `time_limit`, the best panel is proven, and so
#' is which genes every best panel has. Otherwise there is a bound.
#'
#' The best panel preserves most of the structure of these cells. It need not
#' predict labels best, and other cells may have another one:
#' [glfs_stability()] repeats a selection on subsamples. Best panels of
#' different sizes are not nested.
#'
#' @inheritParams glfs_evaluate_panel
#' @param panel Names of genes, or one logical value each; or one string: the
#'   key of a selection of `x`, a logical column of `rowData()`, a file, or a
#'   single gene; or a table of [glfs_read_panel()], which tells the forms of
#'   files. The default is the selection of [glfs_select_genes()]. A panel that
#'   is no selection of the default objective is compared with all panels of its
#'   size, and is left as it is.
#' @param tolerance Share of what the best panel preserves that a nearly best
#'   panel may lose.
#' @param time_limit Seconds after which the search ends. NULL: no limit.
#' @return The object, with a record in `metadata(x)$glfs_proof`, `notes(x)` or
#'   `Misc(x)`; for a matrix, a DataFrame with the record in its `metadata()`:
#'
#'   - `proven`: whether no panel preserves more than `best_preserved`.
#'   - `preserved`, `best_preserved` and `most_preserved`: share of the
#'     structure that the panel and the best panel known preserve, and that any
#'     could.
#'   - `optimality`: lower bound on `preserved` relative to the best panel; 1 if
#'     it is proven to be the best.
#'   - `table`: a DataFrame, one row per gene of both panels: `gene`,
#'     `in_panel`, `in_best`; `certificate`, `"every"` for a gene of every best
#'     panel, `"none"` for one of no best panel, otherwise `"open"`;
#'     `certificate_within`, the same of all panels within the tolerance.
#'   - `n_every` and `n_open`: numbers of genes with these certificates, also
#'     `n_every_within` and `n_open_within`; `n_nodes` of the search.
#'   - `best`: the key of a better panel that is stored, if any.
#'
#'   The columns `glfs_certificate` and `glfs_certificate_within` of the
#'   selection and the last `optimality` of its record are sharpened. A better
#'   panel is stored under the key of the selection and `_best`, such as
#'   `glfs_best`, as the value of [glfs_select_genes()].
#' @inheritSection glfs_evaluate_panel Errors
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 5)
#' x <- glfs_prove_panel(x)
#' glfs_result(x, "glfs_proof")$proven
#' glfs_result(x, "glfs_proof")$table
#' @name glfs_prove_panel
NULL

#' Explain each gene of a panel
#'
#' For every gene where it is expressed, its role in the panel, the loss without
#' it, its best substitute, and the genes that may stand in its place. A message
#' names the genes that add nothing.
#'
#' @inheritParams glfs_evaluate_panel
#' @param n_labels Most labels to name for a gene.
#' @param tolerance Share of what the panel preserves that `alternatives` may
#'   lose, all together.
#' @param exclude Genes that cannot be a substitute, as in
#'   [glfs_select_genes()].
#' @return The object, with a record in `metadata(x)$glfs_explanation`,
#'   `notes(x)` or `Misc(x)`; for a matrix, the record. Its `table` is a
#'   DataFrame, one row per gene in the panel's order:
#'
#'   - `gene`, and `role`: `marker of` a label, `separates` two labels, `axis`,
#'     or `adds nothing`; `must-have` for a gene that had to be in.
#'   - `expressed`: share of all cells that express it; with `labels`
#'     `expressed_in`, the labels of which at least 10 % of the cells do, the
#'     largest share first, with the mean compared with all other cells.
#'   - `preserved`: structure preserved by the genes up to this one.
#'   - `loss`: share of the structure that is lost without the gene.
#'   - `axis` and `axis_share`: the direction of variation between the cells to
#'     which the gene contributes most, by the genes that vary most along it
#'     (`"CST3/LYZ"`), and the share of the contribution along it.
#'   - `substitute`, `substitution_score`, `acceptable` and
#'     `loss_with_substitute`: its best substitute, as in [glfs_substitutes()].
#'   - `alternatives`: up to 10 genes that may stand in its place (`"CD3E,
#'     CD3G"`), or `"any gene"`, with which it may also stay empty; `""` if the
#'     place is not free. Any choice of one gene for each place, all at once,
#'     loses at most `tolerance`, which is proven, and is within the limits.
#'     Genes that had to be in stay. Panels for `across = "worst"`, and for a
#'     platform with failures or a spread, have none.
#'   - `certificate` and `certificate_within`: those of the selection, see
#'     [glfs_select_genes()], if the panel is one that has them.
#'   - `supports`, with `labels`: the labels that it supports, the first most,
#'     with the shares of its contribution that fall on them, of at least 10 %
#'     (`"B (45 %), T (20 %)"`). Labels whose cells express the gene less than
#'     others are not named: its absence there is no support.
#'
#'   `joint_loss` is the share of what the panel preserves that any choice of
#'   `alternatives` loses at most.
#'   `expression`, with `labels`, is a DataFrame, one row per gene and label:
#'   `gene`; `label`; `share` of the cells that express it; `mean`; `fold`, the
#'   mean compared with all other cells.
#'   `support`, with `labels`, is a matrix, genes x labels: the share of a
#'   gene's contribution that falls on a label. `pairs`, with `labels`, is a
#'   DataFrame, one row per pair, the pair that is distinguished worst first:
#'   `label` and `other`; `preserved`, the share of the distance between their
#'   means; `genes`, those that contribute most, with the shares that would be
#'   lost without each.
#' @inheritSection glfs_evaluate_panel Errors
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' x <- glfs_explain_panel(x, labels = x$bulk_labels)
#' glfs_result(x, "glfs_explanation")$table
#' @name glfs_explain_panel
NULL
