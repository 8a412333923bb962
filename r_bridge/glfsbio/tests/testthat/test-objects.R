test_that("a SingleCellExperiment gets rowData and metadata", {
    sce <- sce_of(cells())
    SummarizedExperiment::rowData(sce)$old <- 1:40
    out <- select(sce)
    expect_s4_class(out, "SingleCellExperiment")
    data <- SummarizedExperiment::rowData(out)
    expect_identical(names(data), c("old", columns))
    expect_expected(data)
    record <- S4Vectors::metadata(expected())$glfs
    expect_equal(S4Vectors::metadata(out)$glfs, record)
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
    twice <- glfs_select_genes(select(sce_of(cells())), n_genes = 3, n_comps = 10)
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
    expect_identical(other(dimred = "PCA"), other(use_rep = "PCA"))
    expect_error(other(dimred = "PCA", use_rep = "PCA"), class = "glfs_error")
    expect_refused(select(sce, dimred = "UMAP"), "dimred")
    expect_refused(select(cells(), dimred = "PCA"), "dimred")
    expect_refused(select(sce, layer = "other"), "layer")
    expect_refused(select(sce, assay.type = "none"), "assay.type")
})

test_that("there are methods for every class", {
    classes <- c(
        "ANY", "ExpressionSet", "Seurat", "SingleCellExperiment", "SummarizedExperiment"
    )
    for (name in c("glfs_select_genes", "glfs_curve", "glfs_predict", "glfs_laprls"))
        expect_true(all(vapply(
            classes, methods::existsMethod, NA, f = get(name)
        )))
})

test_that("what is read from a column that is not there is an error", {
    sce <- select(sce_of(cells()))
    genes <- SummarizedExperiment::rowData(sce)
    expect_refused(glfs_evaluate_panel(sce, genes$typo), "panel")
    expect_refused(glfs_evaluate_panel(sce, genes[["typo"]]), "panel")
    expect_refused(glfs_evaluate_panel(sce, NULL), "panel")
    expect_refused(glfs_explain_panel(sce, panel = NULL), "panel")
    expect_refused(glfs_compare_panels(sce, list(a = "glfs", b = NULL)), "panels$b")
    expect_refused(select(sce, block = sce$typo), "block")
    expect_refused(select(sce, limits = glfs_limits(max_mean = genes$typo)), "max_mean")
    expect_refused(glfs_evaluate_panel(sce, labels = sce$typo), "labels")
    expect_refused(glfs_evaluate_panel(sce, n_comps = genes$typo), "n_comps")
    expect_silent(suppressMessages(select(sce, block = NULL)))
})

test_that("a seed that is not given is R's", {
    x <- cells()
    evaluate <- function(...) glfs_evaluate_panel(x, "g1", n_comps = 10, ...)
    set.seed(1)
    first <- evaluate()
    second <- evaluate()
    set.seed(1)
    expect_identical(evaluate()$random_preserved, first$random_preserved)
    expect_false(identical(second$random_preserved, first$random_preserved))
    seed <- first$params$random_state
    again <- evaluate(random_state = seed)
    expect_identical(again$random_preserved, first$random_preserved)
})

test_that("a reduced dimension is used where it is named", {
    pca <- stats::prcomp(t(cells()), rank. = 8)$x
    sce <- sce_of(cells(), reducedDims = list(PCA = pca, other = pca[, 1:3]))
    scores <- function(x) SummarizedExperiment::rowData(x)$glfs_score
    expect_expected(SummarizedExperiment::rowData(select(sce)))
    expect_expected(SummarizedExperiment::rowData(select(sce, use_rep = "X")))
    out <- select(sce, use_rep = "PCA")
    expect_false(identical(scores(out), scores(select(sce))))
    expect_false(identical(scores(out), scores(select(sce, use_rep = "other"))))
    expect_identical(S4Vectors::metadata(out)$glfs$params$use_rep, "X_pca")
    expect_refused(select(sce, use_rep = "UMAP"), "use_rep", "python.KeyError")
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
    expect_equal(Biobase::notes(out)$glfs, S4Vectors::metadata(expected())$glfs)
    expect_true(methods::validObject(out))
    expect_identical(dim(select(set, subset = TRUE)), c(Features = 6L, Samples = 90L))
    expect_refused(select(set, assay = "se.exprs"), "assay")
    expect_identical(glfs_gene_sets(out), glfs_gene_sets(expected()))
    model <- glfs_laprls(out[1:6, ], "group")
    expect_identical(as.character(predict(model, out)), groups)
})

test_that("a Seurat object gets metadata of the features", {
    need_package("SeuratObject")
    x <- methods::as(cells(), "CsparseMatrix")
    object <- SeuratObject::CreateSeuratObject(x)
    object <- SeuratObject::SetAssayData(object, slot = "data", new.data = x)
    object$group <- groups
    out <- select(object)
    expect_s4_class(out, "Seurat")
    expect_expected(out[["RNA"]][[]])
    expect_equal(SeuratObject::Misc(out, "glfs"), S4Vectors::metadata(expected())$glfs)
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
    x <- methods::as(cells(), "CsparseMatrix")
    object <- SeuratObject::CreateSeuratObject(x)
    out <- select(object, layer = "data")
    expect_expected(out[["RNA"]][[]])
    expect_refused(select(sce_of(cells()), layer = "data"), "layer")
    expect_refused(select(object, layer = "scale.data"), "layer")
    scaled <- function(genes) SeuratObject::SetAssayData(
        object, slot = "scale.data", new.data = cells()[genes, ]
    )
    expect_refused(select(scaled(2:9), layer = "scale.data"), "layer")
    expect_expected(select(scaled(40:1), layer = "scale.data")[["RNA"]][[]])
    expect_refused(check_layer("data", c("counts.1", "data.1", "data.2"), "RNA"), "assay")
    expect_refused(check_layer("data", "counts", "RNA"), "layer")
})

test_that("stability tells the genes that are always selected", {
    examine <- function(...) {
        set.seed(2)
        glfs_stability(
            sce_of(cells()), n_genes = 6, n_comps = 10, n_resamples = 4, ...
        )
    }
    out <- examine()
    frequency <- SummarizedExperiment::rowData(out)$glfs_stability_frequency
    expect_true(all(frequency[1:6] > 0.5))
    expect_true(all(frequency >= 0 & frequency <= 1))
    expect_identical(dim(S4Vectors::metadata(out)$glfs_stability$jaccard), c(4L, 4L))
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
