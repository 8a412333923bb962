# Names of genes that a nomenclature knows: a present symbol, past ones, aliases.
genes <- c("CD3D", "SEPT7", "IGJ", "LYZ", "NKG7", "CST3", "CD79A", "MS4A1", "FCER1A")

known <- once(function() {
    x <- cells()
    rownames(x) <- c(genes, paste0("noise", 10:40))
    sce <- sce_of(x)
    assay(sce, "counts") <- round(x)
    sce
})

order_of <- function(x) glfs_result(x, "glfs_order")

# A file of lines, for the test that calls this.
file_of <- function(lines, ending, .local_envir = parent.frame()) {
    path <- withr::local_tempfile(fileext = ending, .local_envir = .local_envir)
    writeLines(lines, path)
    path
}

test_that("genes are found by the names that they have and had, in lists of all forms", {
    out <- glfs_resolve_genes(known())
    record <- glfs_result(out, "glfs_names")
    expect_identical(record$table$found[1:3], c("symbol", "retired", "retired"))
    expect_identical(rows(out)$glfs_names_symbol[1:3], c("CD3D", "SEPTIN7", "JCHAIN"))
    expect_match(rows(out)$glfs_names_id[1:3], "^ENSG")
    table <- data.frame(symbol = c("CD3D", "SEPTIN7"), probe_count = c(9L, 2L))
    path <- withr::local_tempfile(fileext = ".csv")
    utils::write.csv(table, path, row.names = FALSE)
    found <- function(list) genes[1:9][rows(glfs_resolve_genes(known(), list))$glfs_names_orderable[1:9]]
    by_name <- S4Vectors::DataFrame(n_probes = c(9, 2), row.names = c("CD3D", "SEPTIN7"))
    for (list in list(table$symbol, path, table, S4Vectors::DataFrame(table), by_name))
        expect_identical(found(list), c("CD3D", "SEPT7"))
})

test_that("an order is written of objects of all classes, and read back", {
    x <- SummarizedExperiment::assay(known(), "logcounts")
    ours <- glfs_order_panel(x, genes[1:4], "xenium_v1")
    set <- glfs_order_panel(Biobase::ExpressionSet(x), genes[1:4], "xenium_v1")
    object <- glfs_order_panel(seurat_of(x, round(x)), genes[1:4], "xenium_v1",
        counts_layer = "counts")
    expect_equal(order_of(object)$table$mean_count, unname(rowMeans(round(x))[1:4]))
    path <- withr::local_tempfile(fileext = ".csv")
    for (one in list(ours, order_of(ours), set, object)) {
        expect_identical(glfs_write_order(one, path, overwrite = TRUE), path)
        expect_identical(rownames(glfs_read_panel(path)), c("CD3D", "SEPTIN7", "JCHAIN", "LYZ"))
    }
    zip <- withr::local_tempfile(fileext = ".zip")
    suppressMessages(glfs_write_reference(object, zip, groups))
    expect_true(file.exists(zip))
    # Only genes of the platform.
    gone <- genes[4]
    xenium <- glfs_platform(name = "xenium_v1", genes = setdiff(genes, gone))
    expect_message(out <- glfs_order_panel(x, genes[1:4], xenium, refused = "replace"), gone)
    expect_identical(order_of(out)$replaced$gene, gone)
})

test_that("probe sets, forced genes and a catalogue come along", {
    path <- withr::local_tempfile(fileext = ".csv")
    order <- order_of(glfs_order_panel(known(), genes[1:4], "xenium_v1",
        catalogue = list("JCHAIN")))
    order$table$n_probe_sets[order$table$gene == "CD3D"] <- 3
    order$table$forced[order$table$gene == "LYZ"] <- TRUE
    glfs_write_order(order, path)
    table <- utils::read.csv(path, check.names = FALSE)
    expect_identical(table$Gene, c("CD3D", "SEPTIN7", "LYZ"))
    expect_identical(table[["Probe sets"]], c(3L, NA, NA))
    expect_identical(table$Force, c("", "", "forced"))
    rest <- glfs_order_panel(known(), genes, "xenium_v1", catalogue = glfs_read_panel(path))
    expect_identical(order_of(rest)$table$name, c("IGJ", genes[5:9]))
})

test_that("nothing is written where an order is refused", {
    folder <- withr::local_tempdir()
    at <- function(name) file.path(folder, name)
    sce <- glfs_order_panel(known(), genes[1:4], "xenium_v1")
    order <- function(...) glfs_write_order(sce, ...)
    reference <- function(name, ...) glfs_write_reference(sce, at(name), ...)
    expect_refused(order(at("a.txt")), "path", "python.ValueError")
    expect_refused(order(at("a.csv"), "visium"), "platform", "python.ValueError")
    expect_refused(order(at("a.csv"), list(failure = 1)), "platform")
    expect_refused(order(at("a.csv"), key = "mine"), "key", "python.KeyError")
    expect_refused(glfs_write_order(S4Vectors::DataFrame(), at("a.csv")), "key")
    outdated <- sce
    assay(outdated, "logcounts") <- SummarizedExperiment::assay(sce, "logcounts") / 2
    expect_refused(glfs_write_order(outdated, at("a.csv")), "key", "python.ValueError")
    expect_refused(reference("a.zip", sce$typo), "labels")
    expect_refused(reference("a.zip", "group", "logcounts"), "counts_layer", "python.ValueError")
    expect_identical(list.files(folder), character())
    order(at("a.csv"))
    expect_refused(order(at("a.csv")), "path", "python.OSError")
})

test_that("a reference has raw counts, ids and types", {
    sce <- glfs_order_panel(known(), genes[1:4], "xenium_v1")
    folder <- withr::local_tempdir()
    zip <- file.path(folder, "a.zip")
    # Cells without a type and genes without an id are left out.
    expect_message(glfs_write_reference(sce, zip, replace(groups, 1:5, NA)), "5 cells")
    utils::unzip(zip, exdir = folder)
    types <- utils::read.csv(file.path(folder, "celltypes.csv"))
    expect_identical(types, data.frame(barcode = colnames(sce)[-(1:5)], annotation = groups[-(1:5)]))
    features <- utils::read.delim(file.path(folder, "features.tsv.gz"), header = FALSE)
    expect_identical(features$V2, genes)
    # From the counts alone, and the same cells with the same seed of R.
    assay(sce, "logcounts") <- NULL
    bytes <- function(most) {
        set.seed(1)
        suppressMessages(glfs_write_reference(sce, zip, "group", max_bytes = most, overwrite = TRUE))
        readBin(zip, raw(), 1e6)
    }
    most <- 0.8 * length(bytes(2e9))
    expect_lt(length(drawn <- bytes(most)), most)
    expect_identical(bytes(most), drawn)
})

test_that("panels are read in the forms that vendors have", {
    path <- file_of(c("name,id,barcodeType,b1,b2,b3", "CD3D,ENST1,merfish,1,1,0",
        "LYZ,ENST2,merfish,0,1,1", "Blank-1,,merfish,1,0,1"), ".csv")
    expect_message(panel <- glfs_read_panel(path), "Blank-1")
    expect_identical(rownames(panel), c("CD3D", "LYZ"))
    about <- S4Vectors::metadata(panel)
    expect_identical(about[c("form", "controls", "repeated")],
        list(form = "codebook", controls = "Blank-1", repeated = character()))
    sce <- known()
    out <- glfs_evaluate_panel(sce, panel, measures = "preserved",
        platform = glfs_platform(codebook = about$codebook))
    expect_identical(glfs_genes(out, "glfs_evaluation"), c("CD3D", "LYZ"))
    expect_refused(glfs_read_panel(file_of(c("CD3D", "Sep-07"), ".txt")), "path", "python.ValueError")
    sets <- file_of("T\tx\tCD3D", ".gmt")
    expect_refused(glfs_read_panel(sets, column = "gene"), "column", "python.ValueError")
    expect_refused(glfs_evaluate_panel(sce, data.frame(symbol = "CD3D")), "panel")
})
