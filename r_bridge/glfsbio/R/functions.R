# Made by `make r-functions` from the signatures of Python: do not edit by hand.

#' @param n_genes Number of genes. NULL: the fewest genes (at most 500) that
#'   preserve 90 % of what all genes preserve, or as many as the budget allows.
#' @param across Batches that count:
#'   - `"mean"`: all
#'   - `"worst"`: the batch with the lowest preserved share (maximin)
#' @param time_limit Seconds after which the search for the best panel ends.
#'   NULL: no limit.
#' @param method `"glfs"`, or for comparison `"lapaofs"`, `"lapdofs"`,
#'   `"laplacian_score"`, `"q_alpha"`, `"sparse_pca"`, `"variance"`.
#' @param n_comps Number of principal components. NULL: full rank, for at most
#'   some hundred samples.
#' @rdname glfs_select_genes
#' @export
glfs_select_genes <- function(
        x, n_genes = NULL, ..., preserve = "structure", cell_weights = NULL,
        include = NULL, exclude = NULL, ignore = NULL, limits = NULL,
        platform = NULL, block = NULL, across = "mean", search = "nested",
        time_limit = 60, method = "glfs", objective = "error",
        use_rep = NULL, neighbors_key = NULL, n_comps = 50, symbols = NULL,
        missing = "raise", key_added = "glfs", subset = FALSE,
        random_state = 0, lam = NULL, dimred = NULL, assay.type = NULL,
        assay = NULL, layer = NULL) {
    run("select_genes", x, call_arguments())
}

#' @param n_neighbors Number of neighbours of a cell, if the graph is computed.
#'   NULL: 15; below 300 cells, 5 % of the cells, at least 8.
#' @param lambda1 Weight lambda1 of the graph in `B = I + lambda1 L`, with the
#'   symmetric normalised Laplacian L.
#' @param ignore Genes that do not count as structure, as in
#'   [glfs_select_genes()]. Not together with `use_rep` or `neighbors_key`.
#' @rdname glfs_structure
#' @export
glfs_structure <- function(
        x, ..., n_comps = 50, use_rep = NULL, neighbors_key = NULL,
        n_neighbors = NULL, lambda1 = 100, standardize = "auto",
        ignore = NULL, symbols = NULL, block = NULL,
        key_added = "glfs_structure", random_state = 0, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    run("structure", x, call_arguments())
}

#' @param key Key of the selection. If it is missing, the given parameters are
#'   used, with the defaults of [glfs_select_genes()].
#' @param n_resamples Number of subsamples.
#' @param fraction Share of the cells in a subsample, above 0 and below 1.
#' @rdname glfs_stability
#' @export
glfs_stability <- function(
        x, ..., key = "glfs", n_resamples = 20, fraction = 0.5,
        random_state = NULL, BPPARAM = NULL, key_added = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    run("stability", x, call_arguments())
}

#' @param sizes Numbers of first genes of the panel that are evaluated too.
#' @param domains Vector or column of `colData()` with labels of places in the
#'   tissue, such as layers or regions, to be predicted from expression averaged
#'   over neighbours in space; as `labels`.
#' @rdname glfs_evaluate_panel
#' @export
glfs_evaluate_panel <- function(
        x, panel = "glfs", labels = NULL, ..., sizes = NULL, measures = NULL,
        domains = NULL, spatial = NULL, library_key = NULL,
        counts_layer = NULL, gene_sets = NULL, platform = NULL,
        symbols = NULL, preserve = NULL, key_added = NULL,
        random_state = NULL, cell_weights = NULL, use_rep = NULL,
        dimred = NULL, assay.type = NULL, assay = NULL, layer = NULL) {
    run("evaluate_panel", x, call_arguments())
}

#' @param n_genes Size of the whole panel with the genes that are added, and
#'   with names that are missing in the data. NULL: the fewest genes with which
#'   the panel preserves 90 % of what all genes preserve (at most 500), or as
#'   many as the budget allows; with `drop` the size of `panel`.
#' @param drop Genes of the panel that leave, such as those whose probes failed:
#'   names, one name, a file, or a logical vector or column of `rowData()`. They
#'   do not come back when the panel is extended again.
#' @param exclude Genes that cannot be added, as in [glfs_select_genes()]. NULL:
#'   those of the selection.
#' @param limits Constraints. NULL: those of the selection. Sums (total counts,
#'   families, markers per type, budget) are those of the whole panel; limits on
#'   single genes hold for the added genes. Names that are missing in the data
#'   cost nothing.
#' @rdname glfs_extend_panel
#' @export
glfs_extend_panel <- function(
        x, panel, n_genes = NULL, ..., drop = NULL, exclude = NULL,
        limits = NULL, platform = NULL, symbols = NULL, preserve = NULL,
        key_added = NULL, cell_weights = NULL, use_rep = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    run("extend_panel", x, call_arguments())
}

#' @param genes Genes to explain that need not be in the panel: one name, names,
#'   a file, or a key, as of a panel.
#' @param n_substitutes Maximum number of substitutes to list per gene.
#' @param exclude Genes that cannot be a substitute, as in
#'   [glfs_select_genes()]. Genes that the selection excluded, or with which its
#'   limits do not hold, cannot be one either.
#' @rdname glfs_explain_panel
#' @export
glfs_explain_panel <- function(
        x, panel = "glfs", labels = NULL, ..., genes = NULL,
        n_substitutes = 3, exclude = NULL, symbols = NULL, preserve = NULL,
        key_added = NULL, cell_weights = NULL, use_rep = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    run("explain_panel", x, call_arguments())
}

#' @param tolerance Share of what the best panel preserves that a nearly best
#'   panel may lose.
#' @param time_limit Seconds after which the search ends. NULL: no limit.
#' @rdname glfs_prove_panel
#' @export
glfs_prove_panel <- function(
        x, panel = "glfs", ..., tolerance = 0.005, time_limit = 60,
        symbols = NULL, preserve = NULL, key_added = NULL,
        cell_weights = NULL, use_rep = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    run("prove_panel", x, call_arguments())
}

#' @param symbols Vector or column of `rowData()` with symbols. NULL: the row
#'   names, which may also be Ensembl ids.
#' @param ids Vector or column of `rowData()` with Ensembl ids, which decide
#'   where they are known.
#' @param nomenclature Present and past names: `"human"`, those of HGNC, or
#'   `"mouse"`, those of MGI, which come with the package; or a file or table
#'   with the columns of the complete set of HGNC (`symbol`, `ensembl_gene_id`,
#'   `prev_symbol`, `alias_symbol`). NULL: those that come with the package, of
#'   the species of the data.
#' @rdname glfs_resolve_genes
#' @export
glfs_resolve_genes <- function(
        x, genes = NULL, ..., symbols = NULL, ids = NULL,
        nomenclature = NULL, key_added = "glfs_names", assay.type = NULL,
        assay = NULL, layer = NULL) {
    run("resolve_genes", x, call_arguments())
}

#' @param refused `"raise"`, `"replace"`, `"drop"`. Genes that cannot be ordered
#'   are an error; or are replaced by those that preserve most beside the rest,
#'   of the genes that the selection could select; or are left out.
#' @param limits Limits that the order is checked against. NULL: those of the
#'   selection.
#' @param backups Backups to list for each gene: its best substitutes that can
#'   be ordered.
#' @rdname glfs_order_panel
#' @export
glfs_order_panel <- function(
        x, panel = "glfs", platform = NULL, ..., genes = NULL,
        catalogue = NULL, refused = "raise", limits = NULL, labels = NULL,
        backups = 0, counts_layer = NULL, symbols = NULL, ids = NULL,
        key_added = NULL, assay.type = NULL, assay = NULL, layer = NULL) {
    run("order_panel", x, call_arguments())
}

#' @rdname glfs_classify
#' @export
glfs_classify <- function(
        x, labels, n_genes = NULL, ..., include = NULL, exclude = NULL,
        block = NULL, key_added = "glfs_class", random_state = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    run("classify", x, call_arguments())
}

#' @param lambda1 Weight lambda1 of the graph.
#' @param lambda2 Weight lambda2 of `sum(coef^2)`.
#' @param n_neighbors Number of neighbours of a sample.
#' @rdname glfs_laprls
#' @export
glfs_laprls <- function(
        x, labels, ..., lambda1 = 0.1, lambda2 = 10, graph = "neighbors",
        n_neighbors = 15, class_weight = "balanced", standardize = TRUE,
        assay.type = NULL, assay = NULL, layer = NULL) {
    fit(x, call_arguments())
}

#' @param expression Ranges of what is measured of each gene, by the keys below.
#'   An example is `list(mean = c(-Inf, 3), cells_in_type = c(0.1, Inf))`.
#'   - `"mean"`: mean expression over all cells, in the matrix of the selection
#'     (of logarithms);
#'   - `"cells"`: share of all cells that express the gene, from 0 to 1;
#'   - `"counts"`: mean raw counts in a cell, over all cells, as a `platform`
#'     detects them by its efficiency. It needs `counts_layer`;
#'   - `"mean_in_type"`, `"cells_in_type"`, `"counts_in_type"`: the same over
#'     the cells of the cell type where it is largest: at least one type reaches
#'     the minimum, and none is above the maximum. They need `groupby`.
#' @param total_counts Maximum raw counts of the whole panel in a cell, by the
#'   keys below. In imaging, crowded molecules cannot be resolved. It needs
#'   `counts_layer`.
#'   - `"cell"`: as a mean over all cells;
#'   - `"type"`: as a mean over the cells of each type; one number, or a vector
#'     with names of types. It needs `groupby`;
#'   - `"bit"`: of the genes whose codewords share a bit, as a mean over all
#'     cells. It needs a platform with a codebook.
#' @param expected_counts Expected counts in a cell, as a mean over all cells,
#'   of genes whose counts the data cannot tell, such as markers of missing cell
#'   types. They replace the means of these genes over all cells in limits on
#'   counts.
#' @param groups Sets of genes, such as gene families, lineages of a panel
#'   sheet, or markers of cell types: a vector or column of `rowData()`, missing
#'   for genes without a group, lists of genes by name, or a file of them. It
#'   needs `per_group`.
#' @param per_group Range of the number of genes of each group: one for all
#'   groups, as in `1` for at most one gene and `c(2, Inf)` for at least two, or
#'   ranges of some groups by name, as in `list("T cells" = c(2, 10), HLA = 1)`.
#'   It needs `groups`.
#' @param nearly_identical Select genes of nearly one sequence together, such as
#'   HBA1 and HBA2. NULL: once one of them is in, others enter only if they are
#'   included by name, since probes cannot tell them apart. Sets of your own are
#'   `groups` with a `per_group` of 1.
#' @param per_type Minimum number of markers of each cell type. It needs
#'   `groupby`. A gene is a marker of a type if at least a quarter of its cells,
#'   and three, express the gene; if its mean there, of `expm1` of logarithms,
#'   is at least twice that in each other type; and if it is off elsewhere: all
#'   other cells express it at most half as often, or their mean is at most a
#'   tenth (ambient RNA). A type with fewer markers needs what it has, as a
#'   warning says. Markers of your own are `groups` with a minimum.
#' @param priority Factor of at least 0 of the gain of a gene during selection:
#'   a vector or column of `rowData()`, or a vector with names of genes,
#'   otherwise 1. A gene with the factor 0 enters last.
#' @param groupby Vector or column of `colData()` with the cell types.
#' @param cost Cost of a gene: one number, a vector or column of `rowData()`, or
#'   a vector with names of genes. It needs `budget`.
#' @param budget Maximum cost of the panel. With `n_genes = NULL` as many genes
#'   are selected as it affords and as gain something. It needs `cost`.
#' @rdname glfs_limits
#' @export
glfs_limits <- function(
        ..., expression = NULL, total_counts = NULL, expected_counts = NULL,
        groups = NULL, per_group = NULL, nearly_identical = NULL,
        per_type = NULL, priority = NULL, groupby = NULL,
        counts_layer = NULL, cost = NULL, budget = NULL) {
    as_record(call_arguments())
}

#' @param name Name of the platform, such as `"xenium_v1"`, which
#'   [glfs_order_panel()] takes the form of the order from. A platform with a
#'   name, or with efficiencies, is an instrument other than the assay of the
#'   reference: every gene has the mean noise there. If no cells of it are
#'   given, labels as the target come with the structure, half each.
#' @param genes Genes that can be ordered: names, a file, or a logical vector or
#'   column of `rowData()`. Or numbers of probes by gene, or a column of them,
#'   with `min_probes`.
#' @param min_probes Minimum number of probes of a gene.
#' @param efficiency Relative detection efficiency of each gene, as a share of
#'   the detection in the reference: one number, a vector or column of
#'   `rowData()`, a vector with names of genes, or the table of
#'   [glfs_estimate_efficiency()], which also holds `spread`, `off_target` and
#'   `signal`. A gene of small efficiency shows its structure in proportion to
#'   it, relative to the median; a median below 1 is more noise. An object has
#'   similar cells that the platform measured, better 1,000 than 200: from 200
#'   on `signal` is measured in them, and the efficiency is estimated from the
#'   shares of cells that express each gene.
#' @param spread Standard deviation of the natural logarithm of `efficiency`:
#'   one number, a vector or column of `rowData()`, or a vector with names of
#'   genes, otherwise 0.
#' @param failure Probability that a gene fails: one number, a vector or column
#'   of `rowData()`, or a vector with names of genes, otherwise 0. With it, or
#'   with `spread`, the panel is optimised for the mean over 20 draws.
#' @param off_target Share of the counts of a gene that comes from other genes,
#'   such as paralogs, from 0 to 1: one number, a vector or column of
#'   `rowData()`, or a vector with names of genes, otherwise 0. The efficiency
#'   of a gene is reduced by this share.
#' @param max_off_target Maximum off-target share of a gene.
#' @param signal Structure of each gene in cells that the platform measured, in
#'   units of its noise there: a vector or column of `rowData()`, or a vector
#'   with names of genes, otherwise 0. It takes the place of `efficiency` in the
#'   selection.
#' @param codebook Codeword of each gene: a table of genes and bits of 0 and 1,
#'   texts such as `"0110"` by gene, or the name of a codebook file (see
#'   [glfs_read_panel()]). Only genes with a codeword can be ordered.
#' @param spillover Share of the molecules of each cell that are assigned to
#'   neighbouring cells, from 0 to below 1. It is part of the forecast of
#'   [glfs_evaluate_panel()] and does not change the selection.
#' @rdname glfs_limits
#' @export
glfs_platform <- function(
        ..., name = NULL, genes = NULL, min_probes = NULL, efficiency = NULL,
        spread = NULL, failure = NULL, off_target = NULL,
        max_off_target = NULL, signal = NULL, codebook = NULL,
        spillover = NULL, spillover_to = NULL) {
    as_record(vectors_of_tables(call_arguments()))
}

numbers_by_name <- c(
    "cost", "efficiency", "expected_counts", "expression", "failure",
    "genes", "off_target", "per_group", "preserve", "priority", "signal",
    "spread", "total_counts", "type"
)

genes_by_name <- c(
    "gene_sets", "groups"
)

sequences <- c(
    "sizes"
)

writers <- c(
    selection = "glfs_select_genes", structure = "glfs_structure",
    all_genes = "glfs_evaluate_panel", evaluation = "glfs_evaluate_panel",
    comparison = "glfs_evaluate_panel", explanation = "glfs_explain_panel",
    stability = "glfs_stability", order = "glfs_order_panel",
    proof = "glfs_prove_panel", names = "glfs_resolve_genes",
    class = "glfs_classify"
)
