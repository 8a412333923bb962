test_that("a SingleCellExperiment gets rowData and metadata", {
    sce <- sce_of(cells())
    SummarizedExperiment::rowData(sce)$old <- 1:40
    out <- select(sce)
    expect_s4_class(out, "SingleCellExperiment")
    data <- SummarizedExperiment::rowData(out)
    expect_identical(names(data), c("old", columns))
    expect_expected(data)
    record <- S4Vectors::metadata(expected())$glfs
    expect_equal(told(S4Vectors::metadata(out)$glfs), told(record))
    expect_identical(rownames(out), rownames(sce))
    expect_identical(
        SummarizedExperiment::assay(out), SummarizedExperiment::assay(sce)
    )
})

test_that("a SummarizedExperiment without names of genes", {
    x <- unname(cells())
    se <- SummarizedExperiment::SummarizedExperiment(list(other = x))
    expect_refused(select(se), "assay.type")
    expect_refused(select(se, assay = "none"), "assay")
    expect_message(out <- select(se, assay.type = 1), "numbered")
    expect_null(rownames(out))
    expect_expected(SummarizedExperiment::rowData(out))
})

test_that("key_added, subset, and a second selection", {
    out <- select(sce_of(cells()), key_added = "panel", subset = TRUE)
    expect_setequal(rownames(out), paste0("g", 1:6))
    expect_true(all(SummarizedExperiment::rowData(out)$panel_selected))
    expect_named(S4Vectors::metadata(out), "panel")
    twice <- glfs_select_genes(selected(), n_genes = 3, n_comps = 10)
    expect_identical(sum(SummarizedExperiment::rowData(twice)$glfs_selected), 3L)
    expect_refused(select(cells(), inplace = FALSE), "inplace")
})

test_that("columns of rowData and colData reach Python, however they are stored", {
    sce <- sce_of(cells())
    data <- SummarizedExperiment::rowData(sce)
    inner <- S4Vectors::DataFrame(only = 1:40 == 1, as_is = I(letters[rep(1:4, 10)]))
    inner$deeper <- S4Vectors::DataFrame(z = 1:40)
    data$inner <- inner
    data$run <- S4Vectors::Rle(1:40 <= 20)
    data$list <- as.list(1:40)
    SummarizedExperiment::rowData(sce) <- data
    sce$batch <- S4Vectors::Rle(factor(rep(c("u", "v"), 45)))
    sce$level <- factor(
        rep(c("low", NA, "high"), 30), levels = c("low", "high"), ordered = TRUE
    )
    out <- select(sce, include = list("inner.only"))
    expect_identical(which(SummarizedExperiment::rowData(out)$glfs_included), 1L)
    out <- select(sce, exclude = list("run"), block = "batch")
    ranks <- SummarizedExperiment::rowData(out)$glfs_rank
    expect_identical(is.na(ranks), 1:40 <= 20)
    out <- select(sce, exclude = list("run"))
    expect_false(any(SummarizedExperiment::rowData(out)$glfs_selected[1:20]))
    expect_refused(select(sce, block = "level"), "block", "python.ValueError")
    expect_refused(select(sce, block = "nothing"), "block", "python.KeyError")
    expect_identical(names(SummarizedExperiment::rowData(out)$inner), c("only", "as_is", "deeper"))
})

test_that("alternative experiments are not used, and a message says so", {
    sce <- sce_of(cells())
    SingleCellExperiment::altExp(sce, "ADT") <-
        SummarizedExperiment::SummarizedExperiment(list(counts = cells()[1:3, ]))
    expect_message(out <- select(sce), "Alternative experiments are not used: ADT")
    expect_identical(SingleCellExperiment::altExpNames(out), "ADT")
})

test_that("an assay and a reduced dimension are named as elsewhere", {
    sce <- sce_of(cells(), reducedDims = list(PCA = stats::prcomp(t(cells()))$x[, 1:8]))
    SummarizedExperiment::assay(sce, "other") <- cells() / 2
    other <- function(...) glfs_scores(select(sce, ...))
    expect_identical(other(assay.type = "other"), other(assay = "other"))
    expect_refused(select(sce, dimred = "UMAP"), "dimred", "python.KeyError")
    expect_refused(select(cells(), dimred = "PCA"), "dimred", "python.KeyError")
    expect_refused(select(sce, layer = "other"), "layer")
    expect_refused(select(sce, assay.type = "none"), "assay.type")
})

test_that("what is read from a column that is not there is an error", {
    sce <- selected()
    genes <- SummarizedExperiment::rowData(sce)
    expect_refused(glfs_evaluate_panel(sce, genes$typo), "panel")
    expect_refused(glfs_evaluate_panel(sce, genes[["typo"]]), "panel")
    expect_refused(glfs_evaluate_panel(sce, NULL), "panel")
    expect_refused(glfs_explain_panel(sce, panel = NULL), "panel")
    expect_refused(glfs_evaluate_panel(sce, list(a = "glfs", b = NULL)), "panel$b")
    expect_refused(select(sce, block = sce$typo), "block")
    expect_refused(select(sce, limits = glfs_limits(budget = genes$typo)), "budget")
    expect_refused(glfs_evaluate_panel(sce, labels = sce$typo), "labels")
    expect_refused(glfs_evaluate_panel(sce, n_comps = genes$typo), "n_comps")
    expect_refused(select(sce, block = SummarizedExperiment::colData(sce)$typo), "block")
    asked <- function(x, name) select(x, block = x[[name]])
    expect_refused(asked(sce, "typo"), "block")
    pass <- function(...) select(...)
    expect_refused(pass(sce, block = sce$typo), "block")
    set <- Biobase::ExpressionSet(cells())
    expect_refused(select(set, block = set$typo), "block")
})

test_that("NULL is meant where an option of a list or an environment is it", {
    options <- list(block = NULL, limits = list(most = NULL))
    settings <- new.env()
    wrapped <- function(x, params) list(
        select(x, block = params[["none"]], limits = glfs_limits(budget = params$limits$most)),
        select(x, block = settings$block, cell_weights = params$block)
    )
    for (one in wrapped(sce_of(cells()), options))
        expect_expected(SummarizedExperiment::rowData(one))
})

test_that("a seed that is not given is R's", {
    x <- cells()
    evaluate <- function(...)
        glfs_evaluate_panel(x, "g1", measures = "preserved", ...)
    random <- function(record) measured(record, column = "random")
    set.seed(1)
    first <- evaluate()
    second <- evaluate()
    set.seed(1)
    expect_identical(random(evaluate()), random(first))
    expect_false(identical(random(second), random(first)))
    again <- evaluate(random_state = first$params$random_state)
    expect_identical(random(again), random(first))
})

test_that("a reduced dimension is used where it is named", {
    pca <- stats::prcomp(t(cells()), rank. = 8)$x
    sce <- sce_of(cells(), reducedDims = list(PCA = pca, other = pca[, 1:3]))
    scores <- function(x) SummarizedExperiment::rowData(x)$glfs_score
    plain <- select(sce)
    expect_expected(SummarizedExperiment::rowData(plain))
    expect_expected(SummarizedExperiment::rowData(select(sce, dimred = "X")))
    out <- select(sce, dimred = "PCA")
    expect_false(identical(scores(out), scores(plain)))
    expect_false(identical(scores(out), scores(select(sce, dimred = "other"))))
    expect_identical(S4Vectors::metadata(out)$glfs$params$use_rep, "PCA")
    expect_refused(select(sce, dimred = "UMAP"), "dimred", "python.KeyError")
})

test_that("an ExpressionSet gets fData and notes", {
    phenotype <- Biobase::AnnotatedDataFrame(
        data.frame(group = groups, row.names = colnames(cells()))
    )
    set <- Biobase::ExpressionSet(cells(), phenoData = phenotype)
    out <- select(set)
    expect_s4_class(out, "ExpressionSet")
    expect_identical(names(Biobase::fData(out)), columns)
    expect_expected(Biobase::fData(out))
    expect_equal(told(Biobase::notes(out)$glfs), told(glfs_result(expected())))
    expect_true(methods::validObject(out))
    expect_identical(dim(select(set, subset = TRUE)), c(Features = 6L, Samples = 90L))
    expect_refused(select(set, assay = "se.exprs"), "assay")
    expect_identical(glfs_gene_sets(out), glfs_gene_sets(expected()))
    model <- glfs_laprls(out[1:6, ], "group")
    expect_identical(as.character(predict(model, out)), groups)
})

test_that("a Seurat object gets metadata of the features", {
    need_package("SeuratObject")
    object <- seurat_of(cells())
    object$group <- groups
    out <- select(object)
    expect_s4_class(out, "Seurat")
    expect_expected(out[["RNA"]][[]])
    expect_equal(told(SeuratObject::Misc(out, "glfs")), told(glfs_result(expected())))
    expect_identical(glfs_gene_sets(out), glfs_gene_sets(expected()))
    expect_identical(nrow(select(object, subset = TRUE)), 6L)
    expect_identical(select(object, layer = "counts")[["RNA"]][[]], out[["RNA"]][[]])
    expect_refused(select(object, assay = "ADT"), "assay")
    out <- glfs_select_genes(object, 6, n_comps = 10, block = "orig.ident")
    expect_identical(sum(out[["RNA"]][[]]$glfs_selected), 6L)
    model <- glfs_laprls(object[1:6, ], "group")
    expect_identical(as.character(predict(model, object)), groups)
})

test_that("a Seurat object: the matrix must be there, and whole", {
    need_package("SeuratObject")
    object <- seurat_of(cells())
    out <- select(object, layer = "data")
    expect_expected(out[["RNA"]][[]])
    expect_refused(select(sce_of(cells()), layer = "data"), "layer")
    expect_refused(select(object, layer = "scale.data"), "layer")
    scaled <- function(genes) seurat_with(object, "scale.data", cells()[genes, ])
    expect_refused(select(scaled(2:9), layer = "scale.data"), "layer")
    expect_expected(select(scaled(40:1), layer = "scale.data")[["RNA"]][[]])
    parted <- contents_of_seurat # of version 5, with a layer for each file
    environment(parted) <- list2env(
        list(seurat_layers = function(assay) c("counts.1", "data.1", "data.2")),
        parent = environment(parted)
    )
    expect_identical(parted(object, NULL)$maker, "x[[\"RNA\"]] <- JoinLayers(x[[\"RNA\"]])")
})

test_that("stability tells the genes that are always selected", {
    examine <- function(...) {
        set.seed(2)
        glfs_stability(
            sce_of(cells()), n_genes = 6, n_comps = 10, n_resamples = 2, ...
        )
    }
    out <- examine()
    frequency <- SummarizedExperiment::rowData(out)$glfs_stability_frequency
    expect_true(all(frequency[1:6] >= 0.5))
    expect_true(all(frequency >= 0 & frequency <= 1))
    expect_identical(dim(S4Vectors::metadata(out)$glfs_stability$jaccard), c(2L, 2L))
    need_package("BiocParallel")
    two <- examine(BPPARAM = BiocParallel::SnowParam(2))
    expect_equal(S4Vectors::metadata(two), S4Vectors::metadata(out))
    expect_refused(glfs_stability(cells(), BPPARAM = 2), "BPPARAM")
    expect_refused(glfs_stability(cells(), n_jobs = 2), "n_jobs")
})

test_that("a block is a batch, as a column or as a vector", {
    sce <- sce_of(cells())
    sce$batch <- rep(c("u", "v"), 45)
    scores <- function(x) SummarizedExperiment::rowData(x)$glfs_score
    one <- select(sce, block = "batch")
    out <- select(sce, block = sce$batch)
    expect_identical(scores(out), scores(one))
    expect_identical(select(cells(), block = sce$batch)$glfs_score, scores(one))
    expect_identical(out$glfs_block, factor(sce$batch))
    kept <- S4Vectors::metadata(out)$glfs$preserved
    judged <- S4Vectors::metadata(glfs_explain_panel(out))$glfs_explanation$table
    expect_equal(judged$preserved, kept)
    expect_refused(select(sce, block = 1:3), "block")
    expect_refused(select(sce, batch_key = "batch"), "batch_key")
})

# The cells as scran and scuttle leave them, with columns of all kinds.
worked_on <- once(function() {
    need_package("scran")
    need_package("scuttle")
    x <- in_memory()
    adt <- SummarizedExperiment::SummarizedExperiment(
        list(counts = SummarizedExperiment::assay(x, "counts")[1:3, ])
    )
    SingleCellExperiment::altExp(x, "ADT") <- adt
    x$donor <- rep(c("u", "v"), 45)
    x <- scuttle::addPerCellQC(x, subsets = list(mito = 1:3))
    x <- scuttle::addPerFeatureQC(x)
    SingleCellExperiment::sizeFactors(x) <-
        scuttle::librarySizeFactors(x, assay.type = "counts")
    variances <- scran::modelGeneVar(x, block = x$donor)
    SummarizedExperiment::rowData(x)$variances <- variances
    SingleCellExperiment::rowSubset(x, "hvg") <-
        scran::getTopHVGs(variances, n = 12)
    x <- suppressWarnings(scran::fixedPCA(x, rank = 5, subset.row = NULL))
    x <- suppressWarnings(scran::denoisePCA(
        x, variances, subset.row = NULL, name = "denoised"
    ))
    pca <- SingleCellExperiment::reducedDim(x, "PCA")
    S4Vectors::metadata(x)$graph <- scran::buildSNNGraph(x)
    SingleCellExperiment::reducedDims(x) <- c(
        SingleCellExperiment::reducedDims(x), list(
            sparse = Matrix::Matrix(unclass(pca), sparse = TRUE),
            delayed = DelayedArray::DelayedArray(as.matrix(pca)),
            table = S4Vectors::DataFrame(as.matrix(pca)),
            embedded = SingleCellExperiment::LinearEmbeddingMatrix(
                matrix(pca, 90), matrix(0, 40, 5)
            ),
            texts = matrix("a", 90, 2)
        )
    )
    x$qc <- scuttle::perCellQCMetrics(x, assay.type = "counts", flatten = FALSE)
    x$lists <- as.list(1:90)
    x$two <- matrix(1:180, 90)
    x$latin <- rep(c("M\xe4nn", "b", "c"), each = 30)
    # Group by group, in other forms.
    one <- rep(1:3, each = 30)
    x$day <- as.Date("2020-01-01") + one
    x$time <- as.POSIXct("2020-01-01", tz = "UTC") + 3600 * one
    x$hours <- as.difftime(one, units = "hours")
    x$column <- matrix(one, dimnames = list(NULL, "a"))
    x$run <- S4Vectors::Rle(factor(one))
    x$as_is <- I(letters[one])
    x$labelled <- structure(one, labels = c(a = 1), label = "b",
        class = c("haven_labelled", "vctrs_vctr", "integer"))
    x$units <- structure(one + 0, units = "kg", class = "units")
    # What bit64 makes of 1:3.
    eight <- function(i) readBin(as.raw(c(i, rep(0, 7))), "double")
    x$integer64 <- structure(vapply(one, eight, 0), class = "integer64")
    again <- S4Vectors::DataFrame(group = rev(x$group))
    SummarizedExperiment::colData(x) <-
        cbind(SummarizedExperiment::colData(x), again)
    S4Vectors::metadata(x) <- c(S4Vectors::metadata(x), list(
        other = list(params = list(1), kind = mean, written = "a"), 7
    ))
    x
})

test_that("objects of scran and scuttle give what the bare matrix gives", {
    x <- worked_on()
    for (name in c("select", "evaluate"))
        expect_equal(found(quiet(functions[[name]](x))), in_memory_by(name), info = name)
    out <- quiet(select(x, exclude = list("hvg"), block = "donor"))
    expect_identical(
        SummarizedExperiment::rowData(out)$variances,
        SummarizedExperiment::rowData(x)$variances
    )
})

test_that("reduced dimensions of any form are used where they are named", {
    x <- worked_on()
    scores <- function(...) SummarizedExperiment::rowData(
        quiet(select(x, ...)))$glfs_score
    plain <- scores(dimred = "PCA")
    for (name in c("sparse", "delayed", "table", "embedded"))
        expect_equal(scores(dimred = name), plain, info = name)
    expect_false(isTRUE(all.equal(scores(), plain)))
    expect_equal(scores(preserve = c(PCA = 1)), scores(preserve = "PCA"))
    expect_error(select(x, dimred = "texts"), "texts.* character",
        class = "glfs_error")
    expect_error(select(x, dimred = "none"), "PCA.*denoised.*texts",
        class = "python.KeyError")
    out <- quiet(select(x, dimred = "PCA"))
    expect_equal(
        S4Vectors::metadata(quiet(glfs_explain_panel(out)))$glfs_explanation$
            table$preserved,
        S4Vectors::metadata(out)$glfs$preserved
    )
    SingleCellExperiment::reducedDim(x, "spatial") <- matrix("a", 90, 2)
    expect_expected(SummarizedExperiment::rowData(quiet(select(x))))
    SingleCellExperiment::int_colData(x)$spatialCoords <-
        structure(matrix(1:180, 90), note = "places")
    sent <- quiet(read_object(x))$reduced
    expect_identical(sent$spatial$shape, c(90L, 2L))
    expect_identical(sent$PCA$shape, c(90L, 0L))
})

test_that("a graph is used where it is named, by what it is called", {
    x <- worked_on()
    graph <- igraph::as_adjacency_matrix(S4Vectors::metadata(x)$graph,
        attr = "weight")
    SingleCellExperiment::colPair(x, "snn") <- as(graph, "TsparseMatrix")
    SingleCellExperiment::colPair(x, "connectivities") <- graph
    scores <- function(...) SummarizedExperiment::rowData(
        quiet(select(x, ...)))$glfs_score
    expect_identical(scores(neighbors_key = "snn"),
        scores(neighbors_key = "neighbors"))
    expect_error(select(x, neighbors_key = "none"), "colPairs(x)", fixed = TRUE)
})

test_that("labels of any class are those of the plain column", {
    x <- worked_on()
    coef_of <- function(labels)
        unname(quiet(coef(glfs_laprls(x, labels = labels))))
    wanted <- coef_of("group")
    for (name in c("day", "time", "hours", "column", "run", "as_is", "latin",
        "labelled", "units"))
        expect_equal(coef_of(x[[name]]), wanted, info = name)
    for (name in c("day", "column", "run"))
        expect_equal(coef_of(name), wanted, info = name)
    expect_refused(glfs_laprls(x, x$integer64), "labels")
    expect_identical(glfs_laprls(x, "day")@classes[1L], "2020-01-02")
    weights <- rep(1:3, 30) / 4
    scores <- function(weights)
        glfs_scores(quiet(select(x, cell_weights = weights)))
    expect_identical(
        scores(structure(weights, note = "a", class = "units")), scores(weights)
    )
})

test_that("what has no plain form is no column of labels", {
    x <- worked_on()
    refused <- function(labels, said) {
        expect_refused(glfs_laprls(x, labels), "labels", "python.KeyError")
        expect_error(glfs_laprls(x, labels), said)
    }
    for (name in c("lists", "qc", "none"))
        refused(name, "colData\\(x\\).*group")
    for (name in c("lists", "two", "qc"))
        expect_refused(glfs_laprls(x, x[[name]]), "labels")
    expect_refused(select(x, limits = glfs_limits(cost = "variances", budget = 3)),
        "cost")
})

test_that("assays have names, or numbers", {
    x <- cells()
    sce <- SingleCellExperiment::SingleCellExperiment(list(x))
    expect_expected(SummarizedExperiment::rowData(select(sce)))
    SummarizedExperiment::assays(sce) <- list(x, counts = x > 1, as.data.frame(x))
    expect_refused(select(sce), "assay.type")
    for (number in c(1, 3))
        expect_expected(SummarizedExperiment::rowData(
            select(sce, assay.type = number)
        ))
    for (wrong in list(0, 4, 1.5, c(1, 2), NA, TRUE))
        expect_refused(select(sce, assay.type = wrong), "assay.type")
    expect_error(select(sce), "assay.type = 1")
})

test_that("an object for AnnData has all that has a form there", {
    x <- worked_on()
    SummarizedExperiment::assays(x) <- c(
        SummarizedExperiment::assays(x), list(cells())
    )
    parts <- quiet(sce_parts(x))
    expect_identical(parts$reduced$sparse$shape, c(90L, 5L))
    expect_named(parts$layers, "counts")
    expect_true(all(c("assay 3", "reducedDim texts", "colData two", "altExp ADT")
        %in% r_value(parts$left)))
    expect_refused(sce_parts(x, "none"), "X_name")
})

test_that("messages have the words of the class", {
    need_package("SeuratObject")
    object <- seurat_of(round(10 * cells()))
    warned <- function(...) capture_warnings(suppressMessages(select(...)))
    expect_match(warned(object), "NormalizeData\\(\\).*layer", all = FALSE)
    object$day <- as.Date("2020-01-01") + rep(0:2, each = 30)
    expect_identical(quiet(glfs_laprls(object, "day"))@classes[1L], "2020-01-01")
    expect_error(glfs_laprls(object, "none"), "x[[]]", fixed = TRUE)
    pca <- structure(stats::prcomp(t(cells()), rank. = 5)$x, percentVar = 1:5)
    object[["pca"]] <- suppressWarnings(
        SeuratObject::CreateDimReducObject(pca, key = "PC_", assay = "RNA")
    )
    ranks <- function(...) quiet(select(object, ...))[["RNA"]][[]]$glfs_rank
    expect_error(quiet(select(object, dimred = "umap")), "\"umap\".*pca")
    set <- Biobase::ExpressionSet(round(10 * cells()))
    expect_no_match(warned(set, assay.type = 1), "scuttle|colData")
    expect_error(glfs_laprls(set, "none"), "pData(x)", fixed = TRUE)
    expect_error(
        quiet(select(set, limits = glfs_limits(cost = "none", budget = 1))),
        "fData(x)", fixed = TRUE
    )
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
