test_that("results go where users of a class look for them", {
    sce <- sce_of(cells())
    SummarizedExperiment::rowData(sce)$old <- 1:40
    out <- select(sce)
    expect_identical(names(rows(out)), c("old", columns))
    expect_identical(SummarizedExperiment::assay(out), SummarizedExperiment::assay(sce))
    set <- Biobase::ExpressionSet(cells())
    Biobase::notes(set) <- "mine" # stays
    set <- select(set)
    expect_true(methods::validObject(set))
    expect_identical(Biobase::notes(set)[[1L]], "mine")
    object <- select(seurat_of(cells()))
    for (table in list(rows(out), Biobase::fData(set), object[["RNA"]][[]]))
        expect_expected(table)
    for (one in list(out, set, object)) {
        expect_equal(told(glfs_result(one)), told(glfs_result(expected())))
        expect_identical(glfs_genes(one), glfs_genes(expected()))
        expect_identical(glfs_results(one), data.frame(key = "glfs", kind = "selection"))
        expect_equal(nrow(select(one, subset = TRUE)), 6, ignore_attr = TRUE)
    }
})

test_that("the matrix is named as elsewhere, or by its number", {
    x <- cells()
    se <- SummarizedExperiment::SummarizedExperiment(list(other = unname(x)))
    expect_refused(select(se), "assay.type")
    expect_message(out <- select(se, assay.type = 1), "numbered")
    expect_null(rownames(out))
    expect_expected(rows(out))
    sce <- SingleCellExperiment::SingleCellExperiment(list(x))
    expect_expected(rows(select(sce)))
    SummarizedExperiment::assays(sce) <- list(x, counts = x / 2, as.data.frame(x))
    for (number in c(1, 3))
        expect_expected(rows(select(sce, assay.type = number)))
    for (wrong in list(NULL, 0, 4, 1.5, c(1, 2), NA, TRUE, "none"))
        expect_refused(select(sce, assay.type = wrong), "assay.type")
    expect_refused(select(sce, layer = "counts"), "layer")
    expect_refused(select(Biobase::ExpressionSet(x), assay = "se.exprs"), "assay")
    object <- seurat_of(x)
    expect_refused(select(object, assay = "ADT"), "assay")
    # A layer of Seurat must be whole.
    scaled <- function(genes) seurat_with(object, "scale.data", x[genes, ])
    expect_refused(select(scaled(2:9), layer = "scale.data"), "layer")
    expect_expected(select(scaled(40:1), layer = "scale.data")[["RNA"]][[]])
    parted <- contents_of_seurat # of version 5, with a layer for each file
    environment(parted) <- list2env(parent = environment(parted),
        list(seurat_layers = function(assay) c("counts.1", "data.1", "data.2")))
    expect_match(parted(object, "RNA")$maker, "JoinLayers")
})

test_that("results are found in the assay that has them", {
    object <- seurat_of(cells())
    object[["ADT"]] <- SeuratObject::CreateAssayObject(methods::as(cells(), "CsparseMatrix")[7:20, ])
    object <- quiet(select(object, assay = "RNA"))
    SeuratObject::DefaultAssay(object) <- "ADT"
    expect_length(quiet(glfs_genes(object)), 6L)
    judged <- quiet(glfs_evaluate_panel(object, measures = "preserved"))
    expect_gt(measured(glfs_result(judged, "glfs_evaluation")), 0.3)
})

test_that("columns of rowData and colData reach Python, however they are stored", {
    sce <- sce_of(cells())
    inner <- S4Vectors::DataFrame(only = 1:40 == 1, as_is = I(letters[rep(1:4, 10)]))
    inner$deeper <- S4Vectors::DataFrame(z = 1:40)
    SummarizedExperiment::rowData(sce)$inner <- inner
    SummarizedExperiment::rowData(sce)$run <- S4Vectors::Rle(1:40 <= 20)
    SummarizedExperiment::rowData(sce)$list <- as.list(1:40)
    sce$batch <- S4Vectors::Rle(factor(rep(c("u", "v"), 45)))
    out <- select(sce, include = list("inner.only"))
    expect_identical(which(rows(out)$glfs_included), 1L)
    out <- select(sce, exclude = list("run"), block = "batch")
    expect_identical(is.na(rows(out)$glfs_rank), 1:40 <= 20)
    expect_refused(select(sce, block = "nothing"), "block", "python.KeyError")
    expect_identical(rows(out)$inner, inner)
    SingleCellExperiment::altExp(sce, "ADT") <- sce[1:3, ]
    expect_message(select(sce), "Alternative experiments are not used: ADT")
})

test_that("what is read from a column that is not there is an error", {
    sce <- selected()
    genes <- rows(sce)
    expect_refused(glfs_evaluate_panel(sce, genes$typo), "panel")
    expect_refused(glfs_explain_panel(sce, panel = NULL), "panel")
    expect_refused(glfs_evaluate_panel(sce, list(a = "glfs", b = NULL)), "panel$b")
    expect_refused(select(sce, block = sce$typo), "block")
    expect_refused(select(sce, limits = glfs_limits(budget = genes$typo)), "budget")
    expect_refused(select(sce, block = samples(sce)$typo), "block")
    asked <- function(x, name) select(x, block = x[[name]])
    expect_refused(asked(sce, "typo"), "block")
    pass <- function(...) select(...)
    expect_refused(pass(sce, block = sce$typo), "block")
    set <- Biobase::ExpressionSet(cells())
    expect_refused(select(set, block = set$typo), "block")
    # NULL is meant where an option of a list or an environment is it.
    settings <- new.env()
    wrapped <- function(x, params) list(
        select(x, block = params[["none"]], limits = glfs_limits(budget = params$limits$most)),
        select(x, block = settings$block, cell_weights = params$block)
    )
    for (one in wrapped(sce_of(cells()), list(block = NULL, limits = list(most = NULL))))
        expect_expected(rows(one))
})

test_that("a seed that is not given is R's", {
    evaluate <- function(...) glfs_evaluate_panel(cells(), "g1", measures = "preserved", ...)
    random <- function(record) measured(record, column = "random")
    set.seed(1)
    first <- evaluate()
    second <- evaluate()
    set.seed(1)
    expect_identical(random(evaluate()), random(first))
    expect_false(identical(random(second), random(first)))
})

test_that("stability is that of a selection, with workers of BiocParallel", {
    sce <- select(sce_of(cells()), key_added = "ours")
    examine <- function(...) glfs_result(glfs_stability(sce, key = "ours", n_resamples = 2,
        random_state = 2, ...), "ours_stability")
    record <- examine()
    expect_identical(record$n_genes, c(6L, 6L))
    need_package("BiocParallel")
    expect_equal(examine(BPPARAM = BiocParallel::SnowParam(2)), record)
    expect_refused(glfs_stability(cells()), "key", "python.KeyError")
    expect_refused(examine(BPPARAM = "two"), "BPPARAM", "python.ValueError")
    expect_refused(glfs_stability(cells(), n_jobs = 2), "n_jobs")
})

# The cells as scran and scuttle leave them, with columns of all kinds.
worked_on <- once(function() {
    need_package("scran")
    need_package("scuttle")
    x <- in_memory()
    SingleCellExperiment::altExp(x, "ADT") <- x[1:3, ]
    x$donor <- rep(c("u", "v"), 45)
    x <- scuttle::addPerCellQC(x, subsets = list(mito = 1:3))
    variances <- scran::modelGeneVar(x, block = x$donor)
    SummarizedExperiment::rowData(x)$variances <- variances
    x <- suppressWarnings(scran::fixedPCA(x, rank = 5, subset.row = NULL))
    pca <- SingleCellExperiment::reducedDim(x, "PCA")
    S4Vectors::metadata(x)$graph <- scran::buildSNNGraph(x)
    SingleCellExperiment::reducedDims(x) <- c(SingleCellExperiment::reducedDims(x), list(
        sparse = Matrix::Matrix(unclass(pca), sparse = TRUE),
        delayed = DelayedArray::DelayedArray(as.matrix(pca)),
        table = S4Vectors::DataFrame(as.matrix(pca)),
        embedded = SingleCellExperiment::LinearEmbeddingMatrix(matrix(pca, 90), matrix(0, 40, 5)),
        texts = matrix("a", 90, 2)
    ))
    x$qc <- scuttle::perCellQCMetrics(x, assay.type = "counts", flatten = FALSE)
    x$lists <- as.list(1:90)
    x$two <- matrix(1:180, 90)
    x$latin <- rep(c("M\xe4nn", "b", "c"), each = 30)
    # Group by group, in other forms.
    one <- rep(1:3, each = 30)
    x$day <- as.Date("2020-01-01") + one
    x$hours <- as.difftime(one, units = "hours")
    x$column <- matrix(one, dimnames = list(NULL, "a"))
    x$run <- S4Vectors::Rle(factor(one))
    x$as_is <- I(letters[one])
    x$units <- structure(one + 0, units = "kg", class = "units")
    # What bit64 makes of 1:3.
    eight <- function(i) readBin(as.raw(c(i, rep(0, 7))), "double")
    x$integer64 <- structure(vapply(one, eight, 0), class = "integer64")
    S4Vectors::metadata(x) <- c(S4Vectors::metadata(x),
        list(other = list(params = list(1), kind = mean, written = "a"), 7))
    x
})

test_that("objects of scran and scuttle give what the bare matrix gives", {
    x <- worked_on()
    expect_equal(found(quiet(functions$select(x))), in_memory_by()$select)
    expect_identical(rows(quiet(select(x, block = "donor")))$variances, rows(x)$variances)
    scores <- function(...) glfs_scores(quiet(select(x, ...)))
    plain <- scores(dimred = "PCA")
    for (name in c("sparse", "delayed", "table", "embedded"))
        expect_equal(scores(dimred = name), plain, info = name)
    for (name in c("texts", "none"))
        expect_refused(select(x, dimred = name), "dimred", "python.KeyError")
    out <- quiet(select(x, dimred = "PCA"))
    expect_identical(glfs_result(out)$params$use_rep, "PCA")
    SingleCellExperiment::int_colData(x)$spatialCoords <- structure(matrix(1:180, 90), note = "a")
    sent <- quiet(read_object(x))$reduced
    expect_identical(sent$spatial$shape, c(90L, 2L))
    # A graph is used where it is named, by what it is called.
    graph <- igraph::as_adjacency_matrix(S4Vectors::metadata(x)$graph, attr = "weight")
    SingleCellExperiment::colPair(x, "snn") <- as(graph, "TsparseMatrix")
    SingleCellExperiment::colPair(x, "connectivities") <- graph
    expect_identical(scores(neighbors_key = "snn"), scores(neighbors_key = "neighbors"))
})

test_that("labels of any class are those of the plain column", {
    x <- worked_on()
    coef_of <- function(labels) unname(quiet(classifier(x, labels)$coef))
    wanted <- coef_of("group")
    for (name in c("day", "hours", "column", "run", "as_is", "latin", "units"))
        expect_equal(coef_of(x[[name]]), wanted, info = name)
    for (name in c("day", "column", "run"))
        expect_equal(coef_of(name), wanted, info = name)
    # What has no plain form is no column of labels.
    for (name in c("lists", "qc", "none"))
        expect_refused(glfs_classify(x, name), "labels", "python.KeyError")
    for (name in c("lists", "two", "qc", "integer64"))
        expect_refused(glfs_classify(x, x[[name]]), "labels")
    expect_refused(select(x, limits = glfs_limits(cost = "variances", budget = 3)), "cost")
})

test_that("an object for AnnData has all that has a form there", {
    x <- worked_on()
    SummarizedExperiment::assays(x) <- c(SummarizedExperiment::assays(x), list(cells()))
    parts <- quiet(sce_parts(x))
    expect_identical(parts$reduced$sparse$shape, c(90L, 5L))
    expect_named(parts$layers, c("counts", "3"))
    expect_true(all(c("reducedDim texts", "colData two", "altExp ADT") %in% parts$left))
    expect_refused(sce_parts(x, "none"), "X_name")
})

test_that("messages have the words of the class", {
    object <- seurat_of(round(10 * cells()))
    warned <- function(...) capture_warnings(suppressMessages(select(...)))
    expect_match(warned(object), "NormalizeData\\(\\).*layer", all = FALSE)
    expect_error(quiet(glfs_classify(object, "none")), "x[[]]", fixed = TRUE)
    set <- Biobase::ExpressionSet(round(10 * cells()))
    expect_no_match(warned(set, assay.type = 1), "scuttle|colData")
    limits <- glfs_limits(cost = "none", budget = 1)
    expect_error(quiet(select(set, limits = limits)), "fData(x)", fixed = TRUE)
})

test_that("a reference without cells is read, written and used", {
    panel <- paste0("g", c(1, 3, 5))
    sce <- sce_of(cells())
    sce <- quiet(glfs_structure(sce, n_comps = 10, labels = "group"))
    nobody <- sce[, 0]
    file <- withr::local_tempfile(fileext = ".h5ad")
    glfs_write_h5ad(nobody, file)
    of <- function(x) {
        out <- quiet(glfs_evaluate_panel(x, panel))
        measured(glfs_result(out, "glfs_evaluation"))
    }
    for (x in list(nobody, glfs_read_h5ad(file, X_name = "logcounts"))) {
        expect_identical(ncol(x), 0L)
        expect_equal(of(x), of(sce), tolerance = 1e-12)
        explained <- glfs_explain_panel(x, panel, labels = "group")
        roles <- glfs_result(explained, "glfs_explanation")$table$role
        expect_true(any(grepl("marker|separates", roles)))
    }
    expect_refused(glfs_stability(quiet(glfs_select_genes(nobody, 3))), "x")
})
