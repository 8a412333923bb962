test_that("a SingleCellExperiment gets rowData and metadata", {
    need_python()
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
    need_python()
    x <- unname(cells())
    se <- SummarizedExperiment::SummarizedExperiment(list(other = x))
    expect_refused(select(se), "assay")
    expect_refused(select(se, assay = 1), "assay")
    expect_message(out <- select(se, assay = "other"), "numbered")
    expect_null(rownames(out))
    expect_expected(SummarizedExperiment::rowData(out))
})

test_that("key_added, subset, and a second selection", {
    need_python()
    out <- select(sce_of(cells()), key_added = "panel", subset = TRUE)
    expect_setequal(rownames(out), paste0("g", 1:6))
    expect_true(all(SummarizedExperiment::rowData(out)$panel_selected))
    expect_named(S4Vectors::metadata(out), "panel")
    twice <- glfs_select_genes(select(sce_of(cells())), n_genes = 3, n_comps = 10)
    expect_identical(sum(SummarizedExperiment::rowData(twice)$glfs_selected), 3L)
    expect_refused(select(cells(), inplace = FALSE), "inplace")
})

test_that("columns of rowData and colData reach Python, however they are stored", {
    need_python()
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
    out <- select(sce, exclude = list("run"), batch_key = "batch")
    ranks <- SummarizedExperiment::rowData(out)$glfs_rank
    expect_identical(is.na(ranks), 1:40 <= 20)
    out <- select(sce, exclude = list("run"))
    expect_false(any(SummarizedExperiment::rowData(out)$glfs_selected[1:20]))
    expect_refused(select(sce, batch_key = "level"), "batch_key", "python.ValueError")
    expect_refused(select(sce, batch_key = "nothing"), "batch_key", "python.KeyError")
    expect_identical(names(SummarizedExperiment::rowData(out)$inner), c("only", "as_is", "deeper"))
})

test_that("alternative experiments are not used, and a message says so", {
    need_python()
    sce <- sce_of(cells())
    SingleCellExperiment::altExp(sce, "ADT") <-
        SummarizedExperiment::SummarizedExperiment(list(counts = cells()[1:3, ]))
    expect_message(out <- select(sce), "Alternative experiments are not used: ADT")
    expect_identical(SingleCellExperiment::altExpNames(out), "ADT")
})

test_that("a reduced dimension is used where it is named", {
    need_python()
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
    need_python()
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
    need_python()
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
    expect_identical(select(object, slot = "counts")[["RNA"]][[]], out[["RNA"]][[]])
    expect_refused(select(object, assay = "ADT"), "assay")
    out <- glfs_select_genes(object, 6, n_comps = 10, batch_key = "orig.ident")
    expect_identical(sum(out[["RNA"]][[]]$glfs_selected), 6L)
    model <- glfs_laprls(object[1:6, ], "group")
    expect_identical(as.character(predict(model, object)), groups)
})

test_that("a Seurat object: the matrix is named by either word, and must be whole", {
    need_python()
    need_package("SeuratObject")
    x <- methods::as(cells(), "CsparseMatrix")
    object <- SeuratObject::CreateSeuratObject(x)
    out <- select(object, layer = "data")
    expect_expected(out[["RNA"]][[]])
    expect_error(select(object, layer = "data", slot = "data"), class = "glfs_error")
    expect_refused(select(sce_of(cells()), layer = "data"), "layer")
    expect_refused(select(object, slot = "scale.data"), "slot")
    scaled <- function(genes) SeuratObject::SetAssayData(
        object, slot = "scale.data", new.data = cells()[genes, ]
    )
    expect_refused(select(scaled(2:9), slot = "scale.data"), "slot")
    expect_expected(select(scaled(40:1), slot = "scale.data")[["RNA"]][[]])
    expect_refused(check_slot("data", c("counts.1", "data.1", "data.2"), "RNA"), "assay")
    expect_refused(check_slot("data", "counts", "RNA"), "slot")
})

test_that("stability tells the genes that are always selected", {
    need_python()
    out <- glfs_stability(sce_of(cells()), n_genes = 6, n_comps = 10, n_resamples = 4)
    frequency <- SummarizedExperiment::rowData(out)$glfs_stability_frequency
    expect_true(all(frequency[1:6] > 0.5))
    expect_true(all(frequency >= 0 & frequency <= 1))
    expect_identical(dim(S4Vectors::metadata(out)$glfs_stability$jaccard), c(4L, 4L))
    need_package("BiocParallel")
    two <- glfs_stability(sce_of(cells()), n_genes = 6, n_comps = 10, n_resamples = 4,
        BPPARAM = BiocParallel::SnowParam(2))
    expect_equal(S4Vectors::metadata(two), S4Vectors::metadata(out))
    expect_refused(glfs_stability(cells(), BPPARAM = 2), "BPPARAM")
    expect_error(
        glfs_stability(cells(), n_jobs = 2, BPPARAM = BiocParallel::SerialParam()),
        class = "glfs_error"
    )
})

test_that("a block is a batch, as a column or as a vector", {
    need_python()
    sce <- sce_of(cells())
    sce$batch <- rep(c("u", "v"), 45)
    scores <- function(x) SummarizedExperiment::rowData(x)$glfs_score
    one <- select(sce, batch_key = "batch")
    expect_identical(scores(select(sce, block = "batch")), scores(one))
    out <- select(sce, block = sce$batch)
    expect_identical(scores(out), scores(one))
    expect_identical(select(cells(), block = sce$batch)$glfs_score, scores(one))
    expect_identical(out$glfs_block, factor(sce$batch))
    kept <- S4Vectors::metadata(out)$glfs$preserved
    judged <- S4Vectors::metadata(glfs_explain_panel(out))$glfs_explanation$table
    expect_equal(judged$preserved, kept)
    expect_refused(select(sce, block = 1:3), "block")
    expect_error(select(sce, block = "batch", batch_key = "batch"), class = "glfs_error")
})
