# Made by `make r-functions` from the signatures of Python: do not edit by hand.

#' @eval from_python("select_genes")
glfs_select_genes <- function(x, n_genes = NULL, ..., preserve = "structure",
        cell_weights = NULL, include = NULL, exclude = NULL, prefer = NULL,
        ignore = NULL, limits = NULL, platform = NULL, block = NULL,
        across = "mean", search = "nested", time_limit = 60, method = "glfs",
        objective = "error", dimred = NULL, neighbors_key = NULL, n_comps = 50,
        symbols = NULL, missing = "raise", key_added = "glfs", subset = FALSE,
        random_state = 0, lam = NULL, assay.type = NULL, assay = NULL,
        layer = NULL)
    run("select_genes", x, call_arguments())

#' @eval from_python("structure")
glfs_structure <- function(x, ..., n_comps = 50, labels = NULL, dimred = NULL,
        neighbors_key = NULL, n_neighbors = NULL, lambda1 = 100,
        standardize = "auto", ignore = NULL, symbols = NULL, block = NULL,
        key_added = "glfs_structure", random_state = 0, assay.type = NULL,
        assay = NULL, layer = NULL)
    run("structure", x, call_arguments())

#' @eval from_python("evaluate_panel")
glfs_evaluate_panel <- function(x, panel = "glfs", labels = NULL, ...,
        sizes = NULL, measures = NULL, domains = NULL, spatial = NULL,
        library_key = NULL, counts_layer = NULL, gene_sets = NULL,
        platform = NULL, symbols = NULL, preserve = NULL, key_added = NULL,
        random_state = NULL, cell_weights = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL)
    run("evaluate_panel", x, call_arguments())

#' @eval from_python("explain_panel")
glfs_explain_panel <- function(x, panel = "glfs", labels = NULL, ...,
        genes = NULL, n_substitutes = 3, exclude = NULL, symbols = NULL,
        preserve = NULL, key_added = NULL, cell_weights = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL)
    run("explain_panel", x, call_arguments())

#' @eval from_python("stability")
glfs_stability <- function(x, ..., key = "glfs", n_resamples = 20,
        fraction = 0.5, random_state = NULL, BPPARAM = NULL, key_added = NULL,
        assay.type = NULL, assay = NULL, layer = NULL)
    run("stability", x, call_arguments())

#' @eval from_python("order_panel")
glfs_order_panel <- function(x, panel = "glfs", platform = NULL, ...,
        genes = NULL, catalogue = NULL, refused = "raise", limits = NULL,
        labels = NULL, backups = 0, counts_layer = NULL, symbols = NULL,
        ids = NULL, key_added = NULL, assay.type = NULL, assay = NULL,
        layer = NULL)
    run("order_panel", x, call_arguments())

#' @eval from_python("prove_panel")
glfs_prove_panel <- function(x, panel = "glfs", ..., tolerance = 0.005,
        time_limit = 60, symbols = NULL, preserve = NULL, key_added = NULL,
        cell_weights = NULL, dimred = NULL, assay.type = NULL, assay = NULL,
        layer = NULL)
    run("prove_panel", x, call_arguments())

#' @eval from_python("resolve_genes")
glfs_resolve_genes <- function(x, genes = NULL, ..., symbols = NULL,
        ids = NULL, nomenclature = NULL, key_added = "glfs_names",
        assay.type = NULL, assay = NULL, layer = NULL)
    run("resolve_genes", x, call_arguments())

#' @eval from_python("classify")
glfs_classify <- function(x, labels, n_genes = NULL, ..., include = NULL,
        exclude = NULL, block = NULL, key_added = "glfs_class",
        random_state = NULL, assay.type = NULL, assay = NULL, layer = NULL)
    run("classify", x, call_arguments())

#' @eval from_python("extend_panel")
glfs_extend_panel <- function(x, panel, n_genes = NULL, ..., drop = NULL,
        exclude = NULL, limits = NULL, platform = NULL, symbols = NULL,
        preserve = NULL, key_added = NULL, cell_weights = NULL, dimred = NULL,
        assay.type = NULL, assay = NULL, layer = NULL)
    run("extend_panel", x, call_arguments())

#' @eval from_python("limits")
glfs_limits <- function(..., expression = NULL, total_counts = NULL,
        expected_counts = NULL, groups = NULL, per_group = NULL,
        nearly_identical = NULL, per_type = NULL, priority = NULL,
        groupby = NULL, counts_layer = NULL, cost = NULL, budget = NULL)
    as_record(call_arguments())

#' @eval from_python("platform")
glfs_platform <- function(..., name = NULL, genes = NULL, min_probes = NULL,
        efficiency = NULL, spread = NULL, failure = NULL, off_target = NULL,
        max_off_target = NULL, signal = NULL, codebook = NULL,
        spillover = NULL, spillover_to = NULL)
    as_record(call_arguments())

numbers_by_name <- c("cost", "efficiency", "expected_counts", "expression",
    "failure", "genes", "off_target", "per_group", "preserve", "priority",
    "signal", "spread", "total_counts", "type")

genes_by_name <- c("gene_sets", "groups")

sequences <- c("sizes")
