#' Evaluate panels of genes
#'
#' Structure preserved needs no labels and is on one scale for every panel of
#' the same cells: 0 without genes and 1 with all of them. A value of 0.3 can be
#' good: few genes do not preserve what twenty thousand do. Random panels, the
#' best panel and a bound of the same size are reported with it.
#'
#' @inheritParams glfs_select_genes
#' @param panel Names of genes, or one logical value each; or one string: the
#'   key of a selection of `x`, a logical column of `rowData()`, a file, or a
#'   single gene; or a table of [glfs_read_panel()], which tells the forms of
#'   files. The default is the selection of [glfs_select_genes()].
#'   `glfs_evaluate_panel()` takes several panels too, as a named list.
#' @param labels One label per cell, such as its type: a vector, or the name of
#'   a column of `colData()`, `pData()` or the metadata of a Seurat object.
#'   Cells without a label are left out.
#' @param measures Measures, or groups of them, see below. NULL: `"default"`;
#'   `"all"`: whatever has its arguments.
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
#' @param preserve,cell_weights Target of the panel and weight of each cell, as
#'   in [glfs_select_genes()]. NULL: those of the selection, and the structure
#'   for other panels. Several panels have one target; selections of different
#'   structures need one, as `"structure"`.
#' @param key_added Name of the record, and prefix of the columns. NULL: the key
#'   of the panel and the kind of the result, such as `mine_evaluation` for the
#'   selection `mine`; that of a panel without a key is `glfs`.
#'   `"glfs_comparison"` of several panels.
#' @param random_state Seed of the random panels, the clusters, the folds and
#'   the draws of the platform. NULL: drawn from R's generator, so `set.seed()`
#'   repeats the result.
#'
#' @return The object, with a record in `metadata(x)$glfs_evaluation`,
#'   `notes(x)` or `Misc(x)`, and of one panel two columns. For a matrix, the
#'   record, a list, with DataFrames `rowData` and `colData` of these columns.
#'   Names that are not in the data are left out with a warning.
#'
#'   - `glfs_evaluation_unexplained`, of the cells: the unexplained variation of
#'     the cell, divided by the mean of all cells when no gene is measured.
#'   - `glfs_evaluation_r2`, of the genes: how well the panel predicts the
#'     structure of a gene that it does not measure (R squared, 1 is perfect).
#'     NA for genes of the panel.
#'
#' @section Measures: By default there are the groups
#'
#' - `preserved`: `preserved`, `optimality`, `best_preserved`;
#'   `preserved_in_batch` with batches; `preserved_on_platform`.
#' - `neighbors`: `knn_preservation`, the share of each cell's 15 nearest cells
#'   in 50 principal components of all genes that are nearest in the panel.
#' - `genes`: `imputed`, `mean_correlation`, `n_effective`.
#' - `labels`, with `labels`: `accuracy`, `macro_f1`, `rare_f1` of the majority
#'   of the 15 nearest cells, which count genes by their variance, as a
#'   clustering does.
#' - `space`, with `domains` or `spatial`: `domain_accuracy`, `domain_macro_f1`,
#'   `morans_i`, `morans_i_kept`.
#' - `counts`, with `counts_layer`: `counts_share`, `counts_spearman`,
#'   `counts_on_platform`.
#' - `gene_sets`, with `gene_sets`: `gene_set_coverage`.
#'
#' and, where they are named, as they take longer,
#'
#' - `laprls`: `accuracy_laprls`, `macro_f1_laprls`, `rare_f1_laprls`, by a
#'   classifier, LapRLS, in 5-fold cross-validation.
#' - `space_laprls`: `domain_accuracy_laprls`, `domain_macro_f1_laprls`.
#' - `silhouette`: `silhouette`, of at most 1,000 cells.
#' - `clusters`: `cluster_preservation_coarse` and `cluster_preservation_fine`,
#'   normalised mutual information of 5 to 10 and of 20 to 40 clusters in the
#'   panel and in all genes.
#' - `forecast`, with `labels`, `counts_layer` and a platform:
#'   `accuracy_on_platform`, `accuracy_without_spillover`, `mecr_reference`,
#'   `mecr_on_platform`.
#'
#' @section The record: Tables of several panels have a column `panel`.
#'
#' - `measures`, a DataFrame with a row per measure, panel and size: `measure`;
#'   `panel`; `n_genes`; `value`; and for comparison, NA where there is none:
#'   `all_genes`, the value of all genes; `random`, the mean of 20 random panels
#'   of the same size, and `random_best`, their best; `bound`, which no panel of
#'   this size exceeds; `low` and `high`, the interval of 90 % of what a platform
#'   is expected to show;
#'   `reading`, how labels were read and of how many cells, or the batch; and
#'   `description`. Shares are NA for a panel of all genes that vary.
#' - `per_label`, a DataFrame with a row per label and reading: `kind`
#'   (`"label"` or `"domain"`), `reading` (`"knn"` or `"laprls"`), `label`,
#'   `n_cells`, `recall`, `precision`, `f1`, `confused_with` (the other label
#'   that is predicted most often, or ""), `confused_share` (for this share of
#'   its cells), `rare`, and `too_few` (too few cells to be most of the nearest,
#'   or for one in each fold). With `counts_layer` also `counts_share`,
#'   `counts_ratio` and `counts_spearman`.
#' - `confusion`, of one panel, a DataFrame: `reading`, `label`, `predicted`,
#'   `n_cells`.
#' - `unexplained`, a DataFrame with a row per direction of variation between
#'   the cells (like a principal component) that the panel does not capture, the
#'   largest first: `share` of the unexplained variation; `genes_up` and
#'   `genes_down`, the genes on both sides, and with `labels` `labels`, those
#'   that vary most along it with their shares, each as one text.
#' - `gene_sets`, a DataFrame with a row per set: `term`; `n_overlap`, genes of
#'   the panel in it; `n_set`, of the data; and `genes`, those of the panel.
#' - `forecast`, DataFrames of what a platform is expected to show: `per_label`,
#'   `recall` with its 90 % interval; `leaks`, labels that spillover confuses;
#'   `exclusive_markers`, pairs of markers; and with a codebook `counts_per_bit`.
#' - `genes`, a DataFrame with a row per name of the panel: `gene`; `in_data`;
#'   `orderable`, where the platform says which genes can be ordered.
#' - `overlap`, of several panels, a DataFrame with a row per pair: `panel`,
#'   `other`, the number of `shared` genes, their `jaccard` index, and
#'   `jaccard_with_substitutes`, where a gene also matches its substitutes.
#' - `params` and `versions`.
#'
#' @section Errors: See [glfs_select_genes()].
#'
#' @examples
#' x <- glfs_example()
#' panel <- c("CD3D", "CD79A", "NKG7", "LYZ", "FCER1A")
#' x <- glfs_evaluate_panel(x, panel, labels = "bulk_labels")
#' found <- glfs_result(x, "glfs_evaluation")
#' found$measures[, c("measure", "value", "all_genes", "random", "bound")]
#' found$per_label
#' found$unexplained
#'
#' # several panels, and several sizes of one
#' panels <- list(ours = panel, theirs = c("CD3D", "LYZ", "GNLY"))
#' x <- glfs_evaluate_panel(x, panels, sizes = 3, measures = "preserved")
#' glfs_result(x, "glfs_comparison")$overlap
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
#' x <- glfs_explain_panel(x, c("CD3D", "CD79A", "LYZ"))
#' x <- glfs_structure(x, lambda1 = 20, key_added = "mine")
#' x <- glfs_select_genes(x, n_genes = 5, use_rep = "mine")
#' @name glfs_structure
NULL

#' Add genes to a panel, or replace genes that failed
#'
#' The genes of the panel, such as one of a catalogue, stay, but for those to
#' drop. Genes are added that preserve most next to them, within everything that
#' the panel was chosen with. Genes of the panel that are not in the data stay in
#' it, and count for nothing.
#'
#' @inheritParams glfs_evaluate_panel
#' @inheritParams glfs_select_genes
#' @return The value of [glfs_select_genes()], under the key of the panel and
#'   `_extended`, such as `glfs_extended`, with `glfs_extended_included` for the
#'   genes that had to be in. All functions that take the key of a selection take
#'   this one. Its record has besides
#'
#'   - `table`: a DataFrame, one row per gene, in the order in which they are
#'     added: `gene`; `adds`, the share of the structure that it adds to the
#'     genes before it; `preserved`, with it; with `drop` `replaces`, the gene in
#'     whose place it is, or `""`, and `substitution_score`, as in
#'     [glfs_explain_panel()].
#'   - `dropped`: with `drop`, the genes that left; and `preserved_before`, the
#'     share of the structure that the panel preserved with them.
#'   - `absent`: names of the panel that are not in the data, if any.
#' @inheritSection glfs_evaluate_panel Errors
#' @examples
#' x <- glfs_extend_panel(glfs_example(), c("CD3D", "LYZ", "NKG7"), 8)
#' glfs_result(x, "glfs_extended")$table
#'
#' # a gene failed
#' x <- glfs_extend_panel(x, "glfs_extended", drop = "LYZ")
#' glfs_result(x, "glfs_extended_extended")$table
#' @name glfs_extend_panel
NULL

#' Search for the best panel of the size of a panel
#'
#' Branch and bound compares all panels of this size, within everything that the
#' panel was chosen with: genes that must or cannot be in, limits, platform and
#' batches. Where it ends within `time_limit`, the best panel is proven, and so
#' is which genes every best panel has. Otherwise there is a bound. A panel that
#' is no selection of the default objective is compared with all panels of its
#' size, and is left as it is.
#'
#' The best panel preserves most of the structure of these cells. It need not
#' predict labels best, and other cells may have another one:
#' [glfs_stability()] repeats a selection on subsamples. Best panels of
#' different sizes are not nested.
#'
#' @inheritParams glfs_evaluate_panel
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

#' Explain each gene of a panel, and why others are not in it
#'
#' For every gene where it is expressed, its role in the panel, the loss without
#' it, and its substitutes. A gene may fail: a substitute contributes to the
#' panel as the gene did, next to all other genes of the panel. It need not be
#' the gene that is most correlated. A message names the genes that add nothing.
#' With `genes` any gene is explained: its rank, what predicts it, and why it is
#' not in the panel.
#'
#' @inheritParams glfs_evaluate_panel
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
#'   - `substitute`: its best substitute; `substitution_score`: 1 is as good as a
#'     second measurement of the gene; `acceptable`: it is at least 0.5; and
#'     `loss_with_substitute`: the share of the structure that is lost when it
#'     takes the place of the gene. Below zero the panel is better with it.
#'   - `certificate` and `certificate_within`: those of the selection, see
#'     [glfs_select_genes()], if the panel is one that has them; `"must-have"`
#'     for genes that had to be in.
#'   - `supports`, with `labels`: the labels that it supports, the first most,
#'     with the shares of its contribution that fall on them, of at least 10 %
#'     (`"B (45 %), T (20 %)"`). Labels whose cells express the gene less than
#'     others are not named: its absence there is no support.
#'
#'   `substitutes` is a DataFrame, at most `n_substitutes` rows per gene: `gene`;
#'   `substitute`; `rank`, 1 for the best; and the other columns as above.
#'
#'   `genes`, with `genes`, is a DataFrame, one row per gene: `gene`; `selected`;
#'   `rank`, NA if it was no candidate; `why_not`, why it is not in the panel;
#'   `r2`, the share of its structure that the panel predicts; `predicted_by`,
#'   the genes that account for most of it with their shares, such as `"CD3D
#'   (61 %), IL32 (22 %)"`; `loss`, of genes of the panel; `gain`, the share of
#'   the structure that another would add; `replaces` and `price`, the gene in
#'   whose place it would cost least, and the share that is lost then;
#'   `expressed` and `expressed_in`, as above. `predictors` has a row per gene
#'   and predictor; `n_candidates` is the number of genes that could be selected.
#'
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
#' x <- glfs_explain_panel(x, labels = x$bulk_labels, genes = c("LYZ", "CD3E"))
#' why <- glfs_result(x, "glfs_explanation")
#' why$table[, c("gene", "role", "loss", "substitute")]
#' why$genes[, c("gene", "why_not", "predicted_by")]
#' @name glfs_explain_panel
NULL
