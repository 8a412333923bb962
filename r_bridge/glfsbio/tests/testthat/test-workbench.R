panel <- c("g1", "g2", "g3")

test_that("a panel is judged, and the columns of genes and cells come with it", {
    sets <- list(one = c("g1", "g2", "none"), other = "g5")
    out <- glfs_evaluate_panel(sce_of(cells()), panel, "group", gene_sets = sets)
    expect_s4_class(out, "SingleCellExperiment")
    found <- S4Vectors::metadata(out)$glfs_evaluation
    expect_identical(found$genes$gene, panel)
    expect_identical(glfs_genes(out, "glfs_evaluation"), panel)
    expect_gt(measured(found), measured(found, column = "random_best"))
    expect_gt(measured(found, "accuracy"), 0.95)
    expect_identical(measured(found, "gene_set_coverage"), 0.5)
    expect_identical(found$gene_sets$term, names(sets))
    expect_equal(found$gene_sets$n_overlap, c(2, 0))
    expect_s4_class(found$unexplained, "DataFrame")
    expect_identical(found$per_label$label, c("B", "NK", "T"))
    expect_equal(sum(found$confusion$n_cells), 90)
    expect_identical(names(SummarizedExperiment::colData(out)), c("group", "glfs_evaluation_unexplained"))
    expect_false(anyNA(out$glfs_evaluation_unexplained))
    expect_identical(
        which(is.na(SummarizedExperiment::rowData(out)$glfs_evaluation_r2)), 1:3
    )
})

test_that("panels are compared, and sizes", {
    sce <- glfs_select_genes(sce_of(cells()), n_genes = 6)
    panels <- list(ours = "glfs", theirs = panel, one = list("g1"))
    out <- glfs_evaluate_panel(sce, panels, "group", sizes = c(2, 4))
    found <- S4Vectors::metadata(out)$glfs_comparison
    preserved <- as.data.frame(found$measures[found$measures$measure == "preserved", ])
    expect_setequal(preserved$n_genes[preserved$panel == "ours"], c(2, 4, 6))
    expect_setequal(preserved$n_genes[preserved$panel == "theirs"], c(2, 3))
    of_selection <- preserved[preserved$panel == "ours", ]
    expect_equal(of_selection$value, glfs_result(sce)$preserved[of_selection$n_genes])
    overlap <- as.data.frame(found$overlap)
    expect_equal(overlap$shared[overlap$panel == "theirs" & overlap$other == "one"], 1)
    for (wrong in list(c("", "b"), c(NA, "b"), c("b", "b")))
        expect_refused(glfs_evaluate_panel(sce, stats::setNames(list(panel, panel), wrong)), "panel")
    expect_refused(glfs_explain_panel(sce, panel, rep("B", 90)), "labels")
})

test_that("domains are read in space", {
    sce <- sce_of(cells())
    where <- cbind(x = rep(1:9, 10), y = rep(1:10, each = 9))
    SingleCellExperiment::int_colData(sce)$spatialCoords <- where # of a SpatialExperiment
    evaluate <- function(...) S4Vectors::metadata(
        glfs_evaluate_panel(sce, panel, ..., random_state = 0)
    )$glfs_evaluation
    found <- evaluate(domains = rep(c("left", "right"), c(45, 45)))
    expect_identical(found$per_label$label, c("left", "right"))
    expect_identical(found$per_label$kind, rep("domain", 2))
    SingleCellExperiment::reducedDim(sce, "places") <- where
    same <- evaluate(spatial = "places", measures = "space")
    expect_equal(measured(same, "morans_i"), measured(found, "morans_i"))
    expect_refused(glfs_evaluate_panel(sce, panel, spatial = "nowhere"), "spatial")
})

test_that("objects of all classes have what a matrix has", {
    evaluate <- function(x, ...)
        glfs_evaluate_panel(x, panel, measures = "preserved", random_state = 0, ...)
    ours <- evaluate(cells())
    expect_type(ours, "list")
    open <- ours$colData$glfs_evaluation_unexplained
    r2 <- ours$rowData$glfs_evaluation_r2
    expect_identical(rownames(ours$rowData), paste0("g", 1:40))
    record <- ours[setdiff(names(ours), c("rowData", "colData"))]

    sce <- evaluate(sce_of(cells()))
    expect_equal(told(S4Vectors::metadata(sce)$glfs_evaluation), record)
    expect_equal(sce$glfs_evaluation_unexplained, open)

    set <- evaluate(Biobase::ExpressionSet(cells()))
    expect_equal(told(Biobase::notes(set)$glfs_evaluation), record)
    expect_equal(Biobase::pData(set)$glfs_evaluation_unexplained, open)
    expect_equal(Biobase::fData(set)$glfs_evaluation_r2, r2)
    expect_true(methods::validObject(set))

    need_package("SeuratObject")
    x <- methods::as(cells(), "CsparseMatrix")
    object <- evaluate(seurat_of(x))
    expect_equal(told(SeuratObject::Misc(object, "glfs_evaluation")), record)
    expect_equal(object$glfs_evaluation_unexplained, open, ignore_attr = TRUE)
    expect_equal(object[["RNA"]][[]]$glfs_evaluation_r2, r2)
    object <- seurat_with(object, "counts", round(x))
    counted <- glfs_evaluate_panel(object, panel, counts_layer = "counts", measures = "counts")
    share <- sum(round(x)[1:3, ]) / sum(round(x))
    expect_equal(
        measured(SeuratObject::Misc(counted, "glfs_evaluation"), "counts_share"), share
    )
    expect_refused(evaluate(object, counts_layer = "raw"), "counts_layer")
})

test_that("a panel is extended, and the result is a selection like any other", {
    sce <- sce_of(cells())
    out <- glfs_extend_panel(sce, panel, 5)
    data <- SummarizedExperiment::rowData(out)
    expect_identical(which(data$glfs_extended_included), 1:3)
    added <- S4Vectors::metadata(out)$glfs_extended$table
    expect_identical(names(added), c("gene", "adds", "preserved"))
    expect_setequal(glfs_gene_sets(out, "glfs_extended")[[1]], c(panel, added$gene))
    table <- glfs_extend_panel(cells(), panel, 5)
    expect_identical(glfs_gene_sets(table, "glfs_extended"), glfs_gene_sets(out, "glfs_extended"))
    expect_warning(
        out <- glfs_extend_panel(sce, c(panel, "zz"), 6), "zz",
        class = "python.UserWarning"
    )
    expect_identical(S4Vectors::metadata(out)$glfs_extended$absent, "zz")
    expect_length(glfs_genes(
        glfs_extend_panel(sce, "g1", 3), "glfs_extended"), 3)
})

test_that("a panel is extended for the worst of the batches", {
    sce <- select(sce_of(cells()), block = rep(c("a", "b"), 45), across = "worst")
    record <- S4Vectors::metadata(glfs_extend_panel(sce, "glfs", 7))$glfs_extended
    expect_identical(record$params$across, "worst")
    expect_length(record$table$gene, 1)
})

test_that("genes are explained by the structure of the selection, in the panel or not", {
    sce <- glfs_structure(sce_of(cells()), lambda1 = 20, n_comps = 10, key_added = "mine")
    sce <- glfs_select_genes(sce, 6, dimred = "mine", exclude = "g1")
    asked <- c(glfs_genes(sce)[1], "g1")
    out <- glfs_explain_panel(sce, labels = groups, genes = asked, n_substitutes = 2)
    found <- S4Vectors::metadata(out)$glfs_explanation
    record <- S4Vectors::metadata(sce)$glfs
    expect_identical(found$table$gene, glfs_genes(sce))
    expect_equal(found$table$preserved, record$preserved)
    expect_identical(dimnames(found$support), list(found$table$gene, c("B", "NK", "T")))
    expect_identical(S4Vectors::metadata(out)$glfs, record)
    substitutes <- found$substitutes[found$substitutes$gene == asked[1], ]
    expect_equal(substitutes$rank, 1:2)
    expect_false(is.unsorted(-substitutes$substitution_score))
    expect_identical(found$genes$gene, asked)
    expect_identical(found$genes$selected, c(TRUE, FALSE))
    expect_match(found$genes$why_not[2], "exclude")
    expect_match(found$genes$predicted_by[2], "^g4 \\(")
    expect_setequal(found$expression$label, groups)
    record <- glfs_explain_panel(cells(), panel, genes = "g4")
    expect_type(record, "list")
    expect_identical(record$genes$gene, "g4")
    expect_identical(glfs_explain_panel(cells(), "g1")$table$gene, "g1")
    expect_refused(glfs_explain_panel(sce, genes = "zz"), "genes", "python.KeyError")
})

test_that("labels and weights are columns or vectors", {
    sce <- sce_of(cells())
    labels <- replace(groups, 1:5, NA)
    sce$known <- labels
    tables <- function(labels) list(
        S4Vectors::metadata(
            glfs_evaluate_panel(sce, panel, labels, measures = "labels", random_state = 0)
        )$glfs_evaluation$per_label,
        S4Vectors::metadata(glfs_explain_panel(sce, panel, labels))$glfs_explanation$pairs
    )
    expect_equal(tables(labels), tables("known"))
    out <- glfs_explain_panel(sce, panel, labels)
    expect_false("glfs_labels" %in% names(SummarizedExperiment::colData(out)))
    sce$weight <- seq_len(90) / 90
    scores <- function(...) glfs_scores(select(sce, ...))
    expect_identical(scores(cell_weights = sce$weight), scores(cell_weights = "weight"))
    expect_identical(scores(cell_weights = groups), scores(cell_weights = "group"))
    expect_refused(glfs_evaluate_panel(sce, panel, labels[-1]), "labels")
    expect_refused(glfs_explain_panel(sce, panel, stats::rnorm(90)), "labels")
    expect_refused(select(sce, cell_weights = 1:3), "cell_weights")
})

test_that("a target, groups and places are columns or vectors", {
    sce <- sce_of(cells())
    sce$time <- seq_len(90) / 7
    of <- function(...) glfs_scores(select(sce, ...))
    by_group <- of(preserve = "group")
    for (values in list(groups, S4Vectors::Rle(groups)))
        expect_equal(of(preserve = values), by_group)
    named <- stats::setNames(sce$time, colnames(sce))
    expect_equal(of(preserve = named), of(preserve = "time"))
    expect_length(of(preserve = groups == "B"), 40)
    expect_refused(of(preserve = sce$time[-1]), "preserve")
    expect_refused(of(preserve = seq_len(90)), "preserve", "python.TypeError")
    places <- cbind(rep(1:9, 10), rep(1:10, each = 9))
    expect_length(measured(glfs_evaluate_panel(cells(), panel, spatial = places,
        measures = "space"), "morans_i"), 1)
    expect_refused(glfs_evaluate_panel(sce, panel, spatial = places[-1, ]), "spatial")
    expect_refused(select(sce, dimred = places), "dimred")
    # What a selection was given stays, for those that repeat it.
    prices <- rep(c(2, 1), c(3, 37))
    out <- select(sce, preserve = groups, block = rep(1:2, 45), cell_weights = sce$time,
        limits = glfs_limits(expression = c(mean_in_type = 5), groupby = groups, cost = prices,
            budget = 9, groups = rep(c("a", "b"), 20), per_group = 4),
        platform = glfs_platform(efficiency = rep(c(0.5, 1), 20)),
        symbols = paste0("s", 1:40), include = "s3")
    expect_true("g3" %in% glfs_genes(out))
    stored <- names(SummarizedExperiment::colData(out))
    expect_setequal(setdiff(stored, names(SummarizedExperiment::colData(sce))),
        paste0("glfs_", c("preserve", "block", "cell_weights", "groupby")))
    for (again in list(
        function(x) glfs_stability(x, n_resamples = 2), glfs_explain_panel,
        function(x) glfs_extend_panel(x, "glfs", 7)
    ))
        expect_s4_class(suppressWarnings(suppressMessages(again(out))), "SingleCellExperiment")
    sets <- list(sce[, 1:60], sce[, 31:90])
    expect_refused(glfs_select_genes(sets, 4, preserve = groups[1:60]), "preserve")
})

test_that("limits on counts reach every function that follows", {
    sce <- sce_of(cells())
    SummarizedExperiment::assay(sce, "counts") <- round(cells())
    SummarizedExperiment::rowData(sce)$weight <- rep(1:2, 20)
    bits <- matrix(rep(0:1, 60), 40, dimnames = list(rownames(sce), c("b1", "b2", "b3")))
    sce <- select(sce,
        limits = glfs_limits(total_counts = c(cell = 9, bit = 12), per_type = 1,
            groupby = "group", counts_layer = "counts", priority = "weight",
            groups = list(a = c("g1", "g2"), b = c("g3", "g4")), per_group = list(a = 1, b = c(0, 1))),
        platform = glfs_platform(efficiency = 0.8, codebook = bits))
    for (follow in list(
        function(x) glfs_evaluate_panel(x, measures = "preserved"), glfs_explain_panel,
        function(x) glfs_prove_panel(x, time_limit = 1),
        function(x) glfs_stability(x, n_resamples = 2),
        function(x) glfs_extend_panel(x, "glfs", drop = glfs_genes(x)[2])
    ))
        expect_s4_class(suppressWarnings(suppressMessages(follow(sce))), "SingleCellExperiment")
    expect_refused(glfs_explain_panel(sce, counts_layer = "counts"), "counts_layer")
})

test_that("all tables of all results are flat, and files take them as they are", {
    x <- cells()
    rownames(x)[1:2] <- c("a, b", "c/d")
    sce <- sce_of(x)
    SummarizedExperiment::assay(sce, "counts") <- round(x)
    sce <- suppressWarnings(suppressMessages({
        sce <- glfs_select_genes(sce, n_comps = 10)
        sce <- glfs_evaluate_panel(
            sce, labels = "group", domains = rep(c("left", "right"), c(45, 45)),
            spatial = cbind(rep(1:9, 10), rep(1:10, each = 9)), measures = "all",
            counts_layer = "counts", platform = glfs_platform(
                efficiency = 0.5, failure = 0.1, spillover = 0.2
            )
        )
        sce <- glfs_extend_panel(sce, "glfs", drop = glfs_genes(sce)[1])
        sce <- glfs_explain_panel(sce, labels = "group", genes = c("a, b", "g9"))
        sce <- glfs_prove_panel(sce, time_limit = 600)
        sce <- glfs_evaluate_panel(sce, list(glfs = "glfs", markers = c("a, b", "c/d")), sizes = 1)
        sce <- glfs_resolve_genes(sce)
        sce <- glfs_order_panel(sce, refused = "drop", labels = "group",
            counts_layer = "counts")
        sce <- glfs_stability(sce, n_resamples = 2)
        glfs_classify(sce, "group", 4)
    }))
    found <- glfs_results(sce)
    expect_setequal(found$kind, setdiff(names(writers), c("structure", "all_genes")))
    expect_identical(found$key[1], "glfs")
    path <- withr::local_tempfile(fileext = ".csv")
    n <- 0
    for (key in found$key)
        for (table in Filter(function(one) is(one, "DataFrame"), glfs_result(sce, key))) {
            expect_true(all(vapply(table, is.atomic, NA)))
            utils::write.csv(table, path)
            expect_identical(dim(utils::read.csv(path, row.names = 1)), dim(table))
            n <- n + 1
        }
    expect_gt(n, 20)
    why <- glfs_result(sce, "glfs_explanation")
    expect_match(why$table$supports, "\\([0-9]+ %\\)|^$")
    expect_identical(dimnames(why$support), list(why$table$gene, c("B", "NK", "T")))
    expect_match(why$genes$predicted_by, "%|^$")
    # Every result but an order, which is of the panel.
    expect_identical(last_key(sce, "evaluation", "glfs"), "glfs_evaluation")
    expect_s4_class(glfs_evaluate_panel(sce, "glfs_extended", measures = "preserved"),
        "SingleCellExperiment")
})

test_that("results are under the key of their panel, and keep others", {
    x <- select(selected(), key_added = "mine")
    x <- glfs_evaluate_panel(x, "mine", measures = "preserved")
    x <- glfs_explain_panel(x, "mine")
    x <- glfs_order_panel(x, "mine", refused = "drop")
    x <- glfs_explain_panel(x, panel)
    records <- S4Vectors::metadata(x)
    expect_true(all(c(
        "mine_evaluation", "mine_explanation", "mine_order", "glfs_explanation"
    ) %in% names(records)))
    expect_identical(records$mine_order$kind, "order")
    # In the order in which they were written, whatever R keeps.
    written <- vapply(records, function(one) as.numeric(one$written), 0)
    expect_true(all(diff(written) > 0))
    for (taken in c("mine_order", "mine"))
        expect_refused(glfs_explain_panel(x, "mine", key_added = taken), "key_added",
            "python.ValueError")
})

test_that("genes are replaced within what the panel was chosen with", {
    sce <- sce_of(cells())
    SummarizedExperiment::assay(sce, "counts") <- counts <- round(cells())
    limits <- glfs_limits(total_counts = c(cell = 6), counts_layer = "counts")
    sce <- select(sce, exclude = c("g7", "g8"), limits = limits)
    failed <- glfs_genes(sce)[c(1, 3)]
    out <- glfs_extend_panel(sce, "glfs", drop = failed)
    now <- glfs_genes(out, "glfs_extended")
    expect_length(now, length(glfs_genes(sce)))
    record <- S4Vectors::metadata(out)$glfs_extended
    expect_setequal(record$dropped, failed)
    expect_setequal(record$table$replaces, failed)
    expect_setequal(now, c(setdiff(glfs_genes(sce), failed), record$table$gene))
    expect_lte(mean(colSums(counts[now, ])), 6)
    expect_identical(record$params$limits$counts_layer, "counts")
    # Neither comes back, nor what was excluded.
    more <- glfs_extend_panel(out, "glfs_extended", 7, limits = glfs_limits())
    expect_false(any(c(failed, "g7", "g8") %in% glfs_genes(more, "glfs_extended_extended")))
    expect_refused(glfs_extend_panel(sce, "glfs", drop = "g7"), "drop", "python.ValueError")
    table <- glfs_extend_panel(cells(), panel, drop = "g1")
    expect_identical(S4Vectors::metadata(table)$glfs_extended$dropped, "g1")
    expect_identical(
        glfs_genes(glfs_extend_panel(cells(), panel, drop = rownames(cells()) == "g1"),
            "glfs_extended"), glfs_genes(table, "glfs_extended"))
})

test_that("the best panel of a size is proven", {
    sce <- selected()
    out <- glfs_prove_panel(sce, time_limit = 600)
    proof <- S4Vectors::metadata(out)$glfs_proof
    expect_true(proof$proven)
    expect_true(all(glfs_gene_sets(sce)$glfs %in% proof$table$gene))
    kinds <- c("every", "none", "open")
    expect_true(all(SummarizedExperiment::rowData(out)$glfs_certificate %in% kinds))
    # The record of the selection is what it was, but for its optimality.
    before <- S4Vectors::metadata(sce)$glfs
    after <- S4Vectors::metadata(out)$glfs
    last <- length(before$optimality)
    expect_identical(after$optimality[-last], before$optimality[-last])
    expect_identical(after$optimality[last], proof$optimality)
    changed <- c("optimality", "tolerance")
    expect_identical(after[setdiff(names(after), changed)],
        before[setdiff(names(before), changed)])
    best <- select(sce_of(cells()), search = "best", time_limit = 600)
    record <- S4Vectors::metadata(best)$glfs
    expect_identical(record$params$search, "best")
    expect_identical(record$optimality[length(record$optimality)], 1)
    expect_equal(record$preserved[length(record$preserved)], proof$best_preserved)
    expect_refused(glfs_prove_panel(sce, tolerance = 1), "tolerance", "python.ValueError")
})

test_that("a better panel stands beside its selection, and goes with it", {
    sce <- glfs_select_genes(sce_of(cells()), 5, n_comps = 10)
    out <- glfs_prove_panel(sce, time_limit = 600)
    proof <- S4Vectors::metadata(out)$glfs_proof
    expect_lt(proof$optimality, 1)
    expect_length(glfs_gene_sets(out, "glfs_best")[[1]], 5)
    again <- S4Vectors::metadata(glfs_prove_panel(out, time_limit = 600))
    expect_identical(again$glfs_proof$optimality, proof$optimality)
    expect_identical(again$glfs_best$best_of, "glfs")
    new <- select(out)
    expect_null(S4Vectors::metadata(new)$glfs_best)
    expect_false(any(startsWith(names(SummarizedExperiment::rowData(new)), "glfs_best")))
})

test_that("a note is said once, and a result not at all", {
    sce <- select(sce_of(cells()), exclude = "g1")
    said <- function(...) {
        heard <- character()
        printed <- utils::capture.output(withCallingHandlers(
            glfs_extend_panel(sce, "glfs", 7, ...),
            message = function(one) {
                heard <<- c(heard, conditionMessage(one))
                invokeRestart("muffleMessage")
            }
        ) -> out)
        expect_identical(printed, character())
        grep("connected components", heard, value = TRUE, invert = TRUE)
    }
    expect_length(said(), 0)
    overridden <- said(exclude = character())
    expect_length(overridden, 1)
    expect_match(overridden, "exclude")
})

test_that("limits, costs and families reach Python", {
    sce <- sce_of(cells())
    counts <- round(cells())
    SummarizedExperiment::assay(sce, "counts") <- counts
    SummarizedExperiment::rowData(sce)$price <- rep(c(2, 1), c(3, 37))
    chosen <- function(x) glfs_gene_sets(x)$glfs
    out <- select(sce, limits = glfs_limits(expression = list(mean = c(-Inf, 1))))
    expect_true(all(rowMeans(cells())[chosen(out)] <= 1))
    out <- select(sce, limits = glfs_limits(total_counts = list(cell = 4), counts_layer = "counts"))
    expect_lte(mean(colSums(counts[chosen(out), ])), 4)
    expect_identical(S4Vectors::metadata(out)$glfs$params$limits,
        list(total_counts = list(cell = 4L), counts_layer = "counts"))
    limits <- list(groups = list(first = "g1", rest = c("g2", "g3")), per_group = 1)
    expect_lte(sum(chosen(select(sce, limits = limits)) %in% c("g2", "g3")), 1)
    prices <- stats::setNames(rep(c(2, 1), c(3, 37)), rownames(sce))
    out <- glfs_select_genes(sce, n_comps = 10, limits = glfs_limits(cost = "price", budget = 4))
    expect_lte(sum(prices[chosen(out)]), 4)
    same <- glfs_select_genes(sce, n_comps = 10, limits = glfs_limits(cost = prices, budget = 4))
    expect_identical(chosen(same), chosen(out))
    out <- select(sce, platform = glfs_platform(failure = c(g1 = 1)))
    expect_length(S4Vectors::metadata(out)$glfs$preserved_on_platform, 6)
    rownames(sce)[7:8] <- c("MT-CO1", "RPL3")
    out <- select(sce, exclude = c("mitochondrial", "ribosomal"))
    expect_identical(which(is.na(SummarizedExperiment::rowData(out)$glfs_rank)), 7:8)
    expect_refused(select(sce, exclude = "sexx"), "exclude", "python.KeyError")
    expect_warning(select(sce, exclude = "sex", missing = "ignore"), NA)
    sce <- sce_of(cells())
    SummarizedExperiment::rowData(sce)$symbol <- c("XIST", paste0("s", 2:40))
    out <- select(sce, exclude = "sex", symbols = "symbol")
    expect_identical(which(is.na(SummarizedExperiment::rowData(out)$glfs_rank)), 1L)
})

test_that("a panel keeps what it is asked to keep", {
    sce <- sce_of(cells())
    out <- select(sce, preserve = c(structure = 1, group = 2), cell_weights = "group")
    expect_length(glfs_genes(out), 6)
    kept <- S4Vectors::metadata(out)$glfs$preserved
    judged <- S4Vectors::metadata(glfs_explain_panel(out))$glfs_explanation$table
    expect_equal(judged$preserved, kept)
    judged <- S4Vectors::metadata(glfs_explain_panel(out, preserve = "group"))
    expect_false(isTRUE(all.equal(judged$glfs_explanation$table$preserved, kept)))
    one <- select(sce, preserve = list("g1"))
    judged <- S4Vectors::metadata(glfs_explain_panel(one))$glfs_explanation$table
    expect_equal(judged$preserved, S4Vectors::metadata(one)$glfs$preserved)
    expect_refused(select(sce, preserve = c(group = "x")), "preserve", "python.KeyError")
})

test_that("efficiencies come from the counts of any two objects", {
    need_package("SeuratObject")
    counts <- round(10 * cells())
    lost <- counts
    lost["g2", ] <- 0
    places <- list(counts = counts)
    reference <- SummarizedExperiment::SummarizedExperiment(places)
    SummarizedExperiment::colData(reference)$group <- groups
    found <- glfs_estimate_efficiency(reference, lost)
    expect_identical(rownames(found)[which.min(found$efficiency)], "g2")
    spatial <- suppressWarnings(SeuratObject::CreateSeuratObject(lost))
    expect_identical(glfs_estimate_efficiency(reference, spatial), found)
    spatial$group <- groups
    by_types <- glfs_estimate_efficiency(reference, spatial, "group")
    expect_identical(
        glfs_estimate_efficiency(reference, lost, list(groups, factor(groups))), by_types
    )
    expect_refused(glfs_estimate_efficiency(reference, lost, groups), "labels")
    expect_false(anyNA(by_types$off_target))
    expect_refused(
        glfs_estimate_efficiency(reference, spatial, spatial_layer = "zz"),
        "spatial_layer"
    )
    expect_refused(
        glfs_estimate_efficiency(reference, lost, counts_layer = "zz"),
        "counts_layer"
    )
})

test_that("stability is that of the selection, or of parameters that are given", {
    sce <- select(sce_of(cells()), key_added = "ours")
    out <- glfs_stability(sce, key = "ours", n_resamples = 2)
    record <- S4Vectors::metadata(out)$ours_stability
    expect_identical(record$of, "ours")
    expect_identical(record$n_genes, c(6L, 6L))
    expect_identical(record$params$n_comps, 10L)
    expect_refused(glfs_stability(cells()), "key", "python.KeyError")
})

test_that("limits are a list of what is set", {
    expect_mapequal(glfs_limits(per_type = 3, groupby = "type"),
        list(per_type = 3, groupby = "type"))
    expect_identical(names(glfs_limits()), character())
    expect_identical(glfs_platform(failure = 0.1), list(failure = 0.1))
    near <- matrix(c(1, 2, 3, 4), 2L, dimnames = rep(list(c("a", "b/c")), 2L))
    for (table in list(near, as.data.frame(near, optional = TRUE))) {
        sent <- read_platform(glfs_platform(spillover = 0.1, spillover_to = table), cells(), list())
        expect_identical(r_value(sent$spillover_to), S4Vectors::DataFrame(near, check.names = FALSE))
    }
    expect_refused(check_record(list(3), "limits"), "limits")
    expect_refused(select(cells(), platform = glfs_platform(fails = 3)), "fails")
    expect_error(glfs_limits(3), class = "glfs_error")
    expect_refused(select(cells(), limits = list(expresion = 3)), "expresion")
})
