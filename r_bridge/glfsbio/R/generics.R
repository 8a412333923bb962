# Made by `make r-generics` from the signatures of Python: do not edit by hand.

#' @rdname glfs_select_genes
#' @aliases glfs_select_genes,ANY-method
#' @export
#' @exportMethod glfs_select_genes
setGeneric("glfs_select_genes", signature = "x", function(
        x, n_genes = NULL, ..., preserve = "structure", cell_weights = NULL,
        include = NULL, exclude = NULL, ignore = NULL, limits = NULL,
        platform = NULL, block = NULL, across = "mean", search = "nested",
        time_limit = 60, method = "glfs", objective = "error", use_rep = NULL,
        neighbors_key = NULL, n_comps = 50, symbols = NULL, missing = "raise",
        key_added = "glfs", subset = FALSE, random_state = 0, lam = NULL,
        dimred = NULL, assay.type = NULL, assay = NULL, layer = NULL) {
    standardGeneric("glfs_select_genes")
})

#' @rdname glfs_structure
#' @aliases glfs_structure,ANY-method
#' @export
#' @exportMethod glfs_structure
setGeneric("glfs_structure", signature = "x", function(
        x, ..., n_comps = 50, use_rep = NULL, neighbors_key = NULL,
        n_neighbors = NULL, lambda1 = 100, standardize = "auto", ignore = NULL,
        symbols = NULL, block = NULL, key_added = "glfs_structure",
        random_state = 0, dimred = NULL, assay.type = NULL, assay = NULL,
        layer = NULL) {
    standardGeneric("glfs_structure")
})

#' @rdname glfs_stability
#' @aliases glfs_stability,ANY-method
#' @export
#' @exportMethod glfs_stability
setGeneric("glfs_stability", signature = "x", function(
        x, ..., key = "glfs", n_resamples = 20, fraction = 0.5,
        random_state = NULL, key_added = NULL, BPPARAM = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    standardGeneric("glfs_stability")
})

#' @rdname glfs_evaluate_panel
#' @aliases glfs_evaluate_panel,ANY-method
#' @export
#' @exportMethod glfs_evaluate_panel
setGeneric("glfs_evaluate_panel", signature = "x", function(
        x, panel = "glfs", labels = NULL, ..., sizes = NULL, measures = NULL,
        domains = NULL, spatial = NULL, library_key = NULL, counts_layer = NULL,
        gene_sets = NULL, platform = NULL, symbols = NULL, preserve = NULL,
        key_added = NULL, random_state = NULL, cell_weights = NULL,
        use_rep = NULL, dimred = NULL, assay.type = NULL, assay = NULL,
        layer = NULL) {
    standardGeneric("glfs_evaluate_panel")
})

#' @rdname glfs_extend_panel
#' @aliases glfs_extend_panel,ANY-method
#' @export
#' @exportMethod glfs_extend_panel
setGeneric("glfs_extend_panel", signature = "x", function(
        x, panel, n_genes = NULL, ..., drop = NULL, exclude = NULL,
        limits = NULL, platform = NULL, symbols = NULL, preserve = NULL,
        key_added = NULL, cell_weights = NULL, use_rep = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    standardGeneric("glfs_extend_panel")
})

#' @rdname glfs_explain_panel
#' @aliases glfs_explain_panel,ANY-method
#' @export
#' @exportMethod glfs_explain_panel
setGeneric("glfs_explain_panel", signature = "x", function(
        x, panel = "glfs", labels = NULL, ..., genes = NULL, n_substitutes = 3,
        exclude = NULL, symbols = NULL, preserve = NULL, key_added = NULL,
        cell_weights = NULL, use_rep = NULL, dimred = NULL, assay.type = NULL,
        assay = NULL, layer = NULL) {
    standardGeneric("glfs_explain_panel")
})

#' @rdname glfs_prove_panel
#' @aliases glfs_prove_panel,ANY-method
#' @export
#' @exportMethod glfs_prove_panel
setGeneric("glfs_prove_panel", signature = "x", function(
        x, panel = "glfs", ..., tolerance = 0.005, time_limit = 60,
        symbols = NULL, preserve = NULL, key_added = NULL, cell_weights = NULL,
        use_rep = NULL, dimred = NULL, assay.type = NULL, assay = NULL,
        layer = NULL) {
    standardGeneric("glfs_prove_panel")
})

#' @rdname glfs_resolve_genes
#' @aliases glfs_resolve_genes,ANY-method
#' @export
#' @exportMethod glfs_resolve_genes
setGeneric("glfs_resolve_genes", signature = "x", function(
        x, genes = NULL, ..., symbols = NULL, ids = NULL, nomenclature = NULL,
        key_added = "glfs_names", assay.type = NULL, assay = NULL,
        layer = NULL) {
    standardGeneric("glfs_resolve_genes")
})

#' @rdname glfs_order_panel
#' @aliases glfs_order_panel,ANY-method
#' @export
#' @exportMethod glfs_order_panel
setGeneric("glfs_order_panel", signature = "x", function(
        x, panel = "glfs", platform = NULL, ..., genes = NULL, catalogue = NULL,
        refused = "raise", limits = NULL, labels = NULL, backups = 0,
        counts_layer = NULL, symbols = NULL, ids = NULL, key_added = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    standardGeneric("glfs_order_panel")
})

#' @rdname glfs_classify
#' @aliases glfs_classify,ANY-method
#' @export
#' @exportMethod glfs_classify
setGeneric("glfs_classify", signature = "x", function(
        x, labels, n_genes = NULL, ..., include = NULL, exclude = NULL,
        block = NULL, key_added = "glfs_class", random_state = NULL,
        assay.type = NULL, assay = NULL, layer = NULL) {
    standardGeneric("glfs_classify")
})

#' @rdname glfs_laprls
#' @aliases glfs_laprls,ANY-method
#' @export
#' @exportMethod glfs_laprls
setGeneric("glfs_laprls", signature = "x", function(
        x, labels, ..., lambda1 = 0.1, lambda2 = 10, graph = "neighbors",
        n_neighbors = 15, class_weight = "balanced", standardize = TRUE,
        assay.type = NULL, assay = NULL, layer = NULL) {
    standardGeneric("glfs_laprls")
})

#' @rdname glfs_limits
#' @export
glfs_limits <- function(
        ..., expression = NULL, total_counts = NULL, expected_counts = NULL,
        groups = NULL, per_group = NULL, nearly_identical = NULL,
        per_type = NULL, priority = NULL, groupby = NULL, counts_layer = NULL,
        cost = NULL, budget = NULL) {
    options_of("limits", given())
}

#' @rdname glfs_limits
#' @export
glfs_platform <- function(
        ..., name = NULL, genes = NULL, min_probes = NULL, efficiency = NULL,
        spread = NULL, failure = NULL, case = NULL, off_target = NULL,
        max_off_target = NULL, signal = NULL, codebook = NULL, spillover = NULL,
        spillover_to = NULL) {
    options_of("platform", vectors_of_tables(given()))
}

generic_functions <- c(
    "select_genes", "structure", "stability", "evaluate_panel", "extend_panel",
    "explain_panel", "prove_panel", "resolve_genes", "order_panel", "classify",
    "laprls"
)

numbers_by_name <- c(
    "cost", "efficiency", "expected_counts", "expression", "failure", "genes",
    "off_target", "per_group", "preserve", "priority", "signal", "spread",
    "total_counts", "type"
)

genes_by_name <- c(
    "gene_sets", "groups"
)

sequences <- c(
    "genes", "sizes"
)

renamed <- c(
    batch_key = "block", n_jobs = "BPPARAM"
)

writers <- c(
    selection = "glfs_select_genes", structure = "glfs_structure",
    all_genes = "glfs_evaluate_panel", evaluation = "glfs_evaluate_panel",
    comparison = "glfs_evaluate_panel", explanation = "glfs_explain_panel",
    stability = "glfs_stability", order = "glfs_order_panel",
    proof = "glfs_prove_panel", names = "glfs_resolve_genes",
    class = "glfs_classify"
)
