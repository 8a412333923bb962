panel <- c("g1", "g2", "g3")

of <- function(x, kind) glfs_result(x, paste0("glfs_", kind))

test_that("a panel is evaluated, and the columns of genes and cells come with it", {
    sets <- list(one = c("g1", "g2", "none"), other = "g5")
    out <- glfs_evaluate_panel(sce_of(cells()), panel, "group", gene_sets = sets)
    found <- of(out, "evaluation")
    expect_identical(glfs_genes(out, "glfs_evaluation"), panel)
    expect_gt(measured(found, "accuracy"), 0.95)
    expect_equal(found$gene_sets$n_overlap, c(2, 0))
    expect_identical(found$per_label$label, c("B", "NK", "T"))
    expect_identical(names(samples(out)), c("group", "glfs_evaluation_unexplained"))
    expect_identical(which(is.na(rows(out)$glfs_evaluation_r2)), 1:3)
    # Several, and of several sizes.
    sce <- glfs_select_genes(sce_of(cells()), n_genes = 6)
    panels <- list(ours = "glfs", theirs = panel, one = list("g1"))
    found <- of(glfs_evaluate_panel(sce, panels, "group", sizes = c(2, 4)), "comparison")
    preserved <- as.data.frame(found$measures[found$measures$measure == "preserved", ])
    ours <- preserved[preserved$panel == "ours", ]
    expect_setequal(ours$n_genes, c(2, 4, 6))
    expect_equal(ours$value, glfs_result(sce)$preserved[ours$n_genes])
    for (wrong in list(c("", "b"), c(NA, "b"), c("b", "b")))
        expect_refused(glfs_evaluate_panel(sce, stats::setNames(list(panel, panel), wrong)), "panel")
})

test_that("domains are read in space", {
    sce <- sce_of(cells())
    where <- cbind(x = rep(1:9, 10), y = rep(1:10, each = 9))
    evaluate <- function(sce, ...)
        of(glfs_evaluate_panel(sce, panel, ..., random_state = 0), "evaluation")
    matrix <- evaluate(sce, spatial = where, measures = "space")
    SingleCellExperiment::int_colData(sce)$spatialCoords <- where # of a SpatialExperiment
    found <- evaluate(sce, domains = rep(c("left", "right"), c(45, 45)))
    expect_identical(found$per_label$label, c("left", "right"))
    SingleCellExperiment::reducedDim(sce, "places") <- where
    same <- evaluate(sce, spatial = "places", measures = "space")
    for (one in list(same, matrix))
        expect_equal(measured(one, "morans_i"), measured(found, "morans_i"))
    expect_refused(evaluate(sce, spatial = where[-1, ]), "spatial")
})

test_that("objects of all classes have what a matrix has", {
    evaluate <- function(x, ...)
        glfs_evaluate_panel(x, panel, measures = "preserved", random_state = 0, ...)
    ours <- evaluate(cells())
    open <- ours$colData$glfs_evaluation_unexplained
    expect_identical(rownames(ours$rowData), paste0("g", 1:40))
    record <- told(ours)[setdiff(names(told(ours)), c("rowData", "colData"))]
    sce <- evaluate(sce_of(cells()))
    set <- evaluate(Biobase::ExpressionSet(cells()))
    object <- evaluate(seurat_of(cells()))
    for (one in list(sce, set, object)) {
        expect_equal(told(of(one, "evaluation")), record)
        expect_equal(one$glfs_evaluation_unexplained, open, ignore_attr = TRUE)
    }
})

test_that("a panel is extended, and the result is a selection like any other", {
    sce <- sce_of(cells())
    out <- glfs_extend_panel(sce, panel, 5)
    expect_identical(which(rows(out)$glfs_extended_included), 1:3)
    added <- of(out, "extended")$table$gene
    expect_setequal(glfs_genes(out, "glfs_extended"), c(panel, added))
    expect_warning(out <- glfs_extend_panel(sce, c(panel, "zz"), 6), "zz",
        class = "python.UserWarning")
    expect_identical(of(out, "extended")$absent, "zz")
    worst <- select(sce, block = rep(c("a", "b"), 45), across = "worst")
    expect_identical(colnames(glfs_result(worst)$preserved_in_batches), c("a", "b"))
})

test_that("genes are replaced within what the panel was chosen with", {
    sce <- sce_of(cells())
    assay(sce, "counts") <- counts <- round(cells())
    limits <- glfs_limits(total_counts = c(cell = 6), counts_layer = "counts")
    sce <- select(sce, exclude = c("g7", "g8"), limits = limits)
    failed <- glfs_genes(sce)[c(1, 3)]
    out <- glfs_extend_panel(sce, "glfs", drop = rownames(sce) %in% failed)
    now <- glfs_genes(out, "glfs_extended")
    expect_setequal(of(out, "extended")$dropped, failed)
    expect_setequal(now, c(setdiff(glfs_genes(sce), failed), of(out, "extended")$table$gene))
    expect_lte(mean(colSums(counts[now, ])), 6)
    # Neither comes back, nor what was excluded.
    more <- glfs_extend_panel(out, "glfs_extended", 7, limits = glfs_limits())
    expect_false(any(c(failed, "g7", "g8") %in% glfs_genes(more, "glfs_extended_extended")))
})

test_that("genes are explained by the structure of the selection, in the panel or not", {
    sce <- glfs_structure(sce_of(cells()), lambda1 = 20, n_comps = 10, key_added = "mine")
    expect_refused(glfs_structure(cells()), "x")
    sce <- glfs_select_genes(sce, 6, dimred = "mine", exclude = "g1")
    asked <- c(glfs_genes(sce)[1], "g1")
    out <- glfs_explain_panel(sce, labels = groups, genes = asked, n_substitutes = 2)
    found <- of(out, "explanation")
    expect_identical(found$table$gene, glfs_genes(sce))
    expect_equal(found$table$preserved, glfs_result(sce)$preserved)
    expect_identical(dimnames(found$support), list(found$table$gene, c("B", "NK", "T")))
    expect_identical(glfs_result(out), glfs_result(sce))
    expect_match(found$genes$why_not[2], "exclude")
    # What another call replaced is said once, and a result not at all.
    said <- capture_messages(printed <- utils::capture.output(
        out <- glfs_extend_panel(sce, "glfs", 7, exclude = character())))
    expect_identical(printed, character())
    expect_length(grep("exclude", said), 1)
})

test_that("a block, labels, a target and weights are columns or vectors", {
    sce <- sce_of(cells())
    sce$batch <- rep(c("u", "v"), 45)
    sce$known <- replace(groups, 1:5, NA)
    scores <- function(...) glfs_scores(select(sce, ...))
    for (name in c("block", "preserve", "cell_weights"))
        expect_identical(do.call(scores, stats::setNames(list(sce$batch), name)),
            do.call(scores, stats::setNames(list("batch"), name)))
    expect_identical(scores(preserve = S4Vectors::Rle(groups)), scores(preserve = "group"))
    weights <- rep(1:2, 45)
    expect_equal(scores(cell_weights = weights), scores(cell_weights = weights / 7))
    tables <- function(labels) list(
        of(glfs_evaluate_panel(sce, panel, labels, measures = "labels", random_state = 0),
            "evaluation")$per_label,
        of(glfs_explain_panel(sce, panel, labels), "explanation")$pairs)
    expect_equal(tables(sce$known), tables("known"))
    flags <- rownames(sce) %in% c("g1", "g2")
    expect_identical(scores(exclude = flags), scores(exclude = c("g1", "g2")))
    expect_identical(glfs_genes(quiet(glfs_evaluate_panel(sce, flags, measures = "preserved")),
        "glfs_evaluation"), c("g1", "g2"))
    # What belongs to a selection stays with it.
    out <- select(sce, block = sce$batch, preserve = groups, cell_weights = groups,
        limits = glfs_limits(expression = c(mean_in_type = 5), groupby = groups,
            cost = rep(c(2, 1), 20), budget = 9, groups = rep(c("a", "b"), 20), per_group = 4),
        symbols = paste0("s", 1:40), include = "s3")
    expect_true("g3" %in% glfs_genes(out))
    expect_setequal(setdiff(names(samples(out)), names(samples(sce))),
        paste0("glfs_", c("preserve", "block", "cell_weights", "groupby")))
    for (again in list(function(x) glfs_stability(x, n_resamples = 2), glfs_explain_panel,
        function(x) glfs_extend_panel(x, "glfs", 7)))
        expect_s4_class(quiet(again(out)), "SingleCellExperiment")
    kept <- select(sce, preserve = c(structure = 1, group = 2), cell_weights = "group")
    judged <- function(...) of(glfs_explain_panel(kept, ...), "explanation")$table$preserved
    expect_equal(judged(), glfs_result(kept)$preserved)
    expect_refused(glfs_evaluate_panel(sce, panel, sce$known[-1]), "labels")
    for (wrong in list(stats::rnorm(90), rep("B", 90), rev(stats::setNames(groups, colnames(sce)))))
        expect_refused(glfs_explain_panel(sce, panel, wrong), "labels")
    expect_refused(select(sce, symbols = letters), "symbols")
    sets <- list(sce[, 1:60], sce[, 31:90])
    expect_refused(glfs_select_genes(sets, 4, preserve = groups[1:60]), "preserve")
    expect_refused(glfs_select_genes(list(), 4), "x")
})

test_that("limits, costs and a platform reach Python, and every function that follows", {
    sce <- sce_of(cells())
    assay(sce, "counts") <- counts <- round(cells())
    prices <- stats::setNames(rep(c(2, 1), c(3, 37)), rownames(sce))
    SummarizedExperiment::rowData(sce)$price <- unname(prices)
    SummarizedExperiment::rowData(sce)$weight <- rep(1:2, 20)
    out <- select(sce, limits = glfs_limits(total_counts = list(cell = 4), counts_layer = "counts"))
    expect_lte(mean(colSums(counts[glfs_genes(out), ])), 4)
    expect_identical(glfs_result(out)$params$limits,
        list(total_counts = list(cell = 4L), counts_layer = "counts"))
    bought <- function(cost) glfs_genes(glfs_select_genes(sce, n_comps = 10,
        limits = glfs_limits(cost = cost, budget = 4)))
    expect_lte(sum(prices[bought("price")]), 4)
    expect_identical(bought(prices), bought("price"))
    bits <- matrix(rep(0:1, 60), 40, dimnames = list(rownames(sce), c("b1", "b2", "b3")))
    sce <- select(sce,
        limits = glfs_limits(total_counts = c(cell = 9, bit = 12), per_type = 1,
            groupby = "group", counts_layer = "counts", priority = "weight",
            groups = list(a = c("g1", "g2"), b = c("g3", "g4")), per_group = list(a = 1, b = c(0, 1))),
        platform = glfs_platform(efficiency = 0.8, codebook = bits))
    for (follow in list(function(x) glfs_evaluate_panel(x, measures = "preserved"),
        glfs_explain_panel, function(x) glfs_prove_panel(x, time_limit = 1),
        function(x) glfs_stability(x, n_resamples = 2),
        function(x) glfs_extend_panel(x, "glfs", drop = glfs_genes(x)[2])))
        expect_s4_class(quiet(follow(sce)), "SingleCellExperiment")
    expect_identical(names(glfs_limits()), character())
    near <- matrix(c(1, 2, 3, 4), 2L, dimnames = rep(list(c("a", "b/c")), 2L))
    sent <- read_platform(glfs_platform(spillover = 0.1, spillover_to = near), cells(), list())
    expect_identical(r_value(sent)$spillover_to, S4Vectors::DataFrame(near, check.names = FALSE))
    expect_refused(select(sce, limits = list(3)), "limits")
    expect_refused(select(sce, platform = glfs_platform(fails = 3)), "fails")
})

test_that("all tables of all results are flat, and files take them as they are", {
    x <- cells()
    rownames(x)[1:2] <- c("a, b", "c/d")
    sce <- sce_of(x)
    assay(sce, "counts") <- round(x)
    sce <- quiet({
        sce <- glfs_select_genes(sce, n_comps = 10)
        sce <- glfs_evaluate_panel(sce, labels = "group", measures = "all",
            domains = rep(c("left", "right"), c(45, 45)), counts_layer = "counts",
            spatial = cbind(rep(1:9, 10), rep(1:10, each = 9)),
            platform = glfs_platform(efficiency = 0.5, failure = 0.1, spillover = 0.2))
        sce <- glfs_extend_panel(sce, "glfs", drop = glfs_genes(sce)[1])
        sce <- glfs_explain_panel(sce, labels = "group", genes = c("a, b", "g9"))
        sce <- glfs_prove_panel(sce, time_limit = 600)
        sce <- glfs_evaluate_panel(sce, list(glfs = "glfs", markers = c("a, b", "c/d")), sizes = 1)
        sce <- glfs_order_panel(glfs_resolve_genes(sce), refused = "drop", labels = "group",
            counts_layer = "counts")
        glfs_classify(glfs_stability(sce, n_resamples = 2), "group", 4)
    })
    found <- glfs_results(sce)
    expect_setequal(found$kind, c("selection", "evaluation", "comparison", "explanation", "proof",
        "stability", "order", "names", "class"))
    path <- withr::local_tempfile(fileext = ".csv")
    for (key in found$key)
        for (table in Filter(function(one) is(one, "DataFrame"), glfs_result(sce, key))) {
            expect_true(all(vapply(table, is.atomic, NA)))
            utils::write.csv(table, path)
            expect_identical(dim(utils::read.csv(path, row.names = 1)), dim(table))
        }
    # No result takes the place of another.
    expect_refused(glfs_explain_panel(sce, key_added = "glfs"), "key_added", "python.ValueError")
})

test_that("a better panel that is proven stands beside its selection", {
    sce <- glfs_select_genes(sce_of(cells()), 5, n_comps = 10)
    out <- glfs_prove_panel(sce, time_limit = 600)
    proof <- of(out, "proof")
    # The record of the selection is what it was, but for its optimality.
    others <- setdiff(names(glfs_result(sce)), c("optimality", "tolerance"))
    expect_identical(glfs_result(out)[others], glfs_result(sce)[others])
    expect_identical(glfs_result(out)$optimality[5], proof$optimality)
    expect_length(glfs_genes(out, "glfs_best"), 5)
    new <- select(out)
    expect_null(S4Vectors::metadata(new)$glfs_best)
    expect_false(any(startsWith(names(rows(new)), "glfs_best")))
})

test_that("efficiencies come from the counts of any two objects", {
    counts <- lost <- round(10 * cells())
    lost["g2", ] <- 0
    reference <- SummarizedExperiment::SummarizedExperiment(list(counts = counts),
        colData = S4Vectors::DataFrame(group = groups))
    spatial <- suppressWarnings(SeuratObject::CreateSeuratObject(lost))
    spatial$group <- groups
    found <- glfs_estimate_efficiency(reference, spatial, "group")
    expect_identical(rownames(found)[which.min(found$efficiency)], "g2")
    expect_refused(glfs_estimate_efficiency(reference, lost, groups), "labels", "python.TypeError")
    for (name in c("counts_layer", "spatial_layer"))
        expect_refused(do.call(glfs_estimate_efficiency, c(list(reference, spatial),
            stats::setNames("zz", name))), name)
})
