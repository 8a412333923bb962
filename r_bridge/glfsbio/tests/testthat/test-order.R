# Names of genes that a nomenclature knows: a present symbol, past ones, aliases.
genes <- c("CD3D", "SEPT7", "IGJ", "LYZ", "NKG7", "CST3", "CD79A", "MS4A1", "FCER1A")

known <- once(function() {
    x <- cells()
    rownames(x) <- c(genes, paste0("noise", 10:40))
    sce <- sce_of(x)
    SummarizedExperiment::assay(sce, "counts") <- round(x)
    sce
})

# With a selection, and with one of genes that can be ordered.
known_selected <- once(function() select(known()))

of_platform <- once(function() select(known(), platform = glfs_platform(
    name = "xenium_v1", genes = rownames(known())[seq_along(genes)]
)))

# What a vendor has of them: without the last ones.
vendor <- function(without = NULL) setdiff(c(genes, "SEPTIN7", "JCHAIN"), without)

order_of <- function(x, key = "glfs_order") S4Vectors::metadata(x)[[key]]

test_that("genes are found by the names that they have and had", {
    out <- glfs_resolve_genes(known())
    expect_s4_class(out, "SingleCellExperiment")
    record <- S4Vectors::metadata(out)$glfs_names
    expect_identical(record$species, "Homo sapiens")
    expect_type(record$table$candidates, "character")
    expect_identical(record$table$name, rownames(out))
    expect_identical(record$table$found[1:3], c("symbol", "retired", "retired"))
    data <- SummarizedExperiment::rowData(out)
    expect_identical(data$glfs_names_symbol[1:3], c("CD3D", "SEPTIN7", "JCHAIN"))
    expect_match(data$glfs_names_id[1:3], "^ENSG")
    expect_null(data$glfs_names_orderable)
})

test_that("a list is a file, names, or a table of any class", {
    path <- withr::local_tempfile(fileext = ".csv")
    table <- data.frame(symbol = c("CD3D", "SEPTIN7"), probe_count = c(9L, 2L))
    utils::write.csv(table, path, row.names = FALSE)
    found <- function(genes) rownames(known())[
        SummarizedExperiment::rowData(glfs_resolve_genes(known(), genes))$glfs_names_orderable
    ]
    by_name <- S4Vectors::DataFrame(n_probes = c(9, 2), row.names = c("CD3D", "SEPTIN7"))
    for (list in list(c("CD3D", "SEPTIN7"), path, table, S4Vectors::DataFrame(table), by_name))
        expect_identical(found(list), c("CD3D", "SEPT7"))
    ids <- data.frame(`Ensembl ID` = "ENSG00000167286", check.names = FALSE)
    expect_identical(found(ids), "CD3D")
})

test_that("names of other nomenclatures are tables with lists", {
    history <- S4Vectors::DataFrame(
        symbol = c("NEW1", "NEW2"),
        previous = IRanges::CharacterList(c("noise20", "noise21"), character()),
        aliases = IRanges::CharacterList(character(), "noise22")
    )
    out <- glfs_resolve_genes(known(), nomenclature = history)
    table <- S4Vectors::metadata(out)$glfs_names$table
    expect_identical(table$found[c(20, 22)], c("retired", "alias"))
    expect_identical(table$symbol[c(20, 22)], c("NEW1", "NEW2"))
})

test_that("objects of all classes have what a matrix has", {
    x <- SummarizedExperiment::assay(known(), "logcounts")
    ours <- glfs_order_panel(x, genes[1:4], "xenium_v1")
    expect_s4_class(ours, "DataFrame")
    columns <- paste0("glfs_order_", c("symbol", "id", "orderable"))
    expect_identical(names(ours), columns)
    record <- order_of(ours)
    expect_identical(record$table$gene, c("CD3D", "SEPTIN7", "JCHAIN", "LYZ"))
    expect_identical(record$table$name, genes[1:4])
    path <- withr::local_tempfile(fileext = ".csv")
    glfs_write_order(ours, path)
    expect_identical(rownames(glfs_read_panel(path)), record$table$gene)

    set <- glfs_order_panel(Biobase::ExpressionSet(x), genes[1:4], "xenium_v1")
    expect_equal(told(Biobase::notes(set)$glfs_order), told(record))
    expect_identical(names(Biobase::fData(set)), columns)

    need_package("SeuratObject")
    object <- seurat_of(x, round(x))
    object <- glfs_order_panel(object, genes[1:4], "xenium_v1", counts_layer = "counts")
    ordered <- SeuratObject::Misc(object, "glfs_order")$table
    expect_equal(ordered$mean_count, unname(rowMeans(round(x))[1:4]))
    again <- withr::local_tempfile(fileext = ".csv")
    glfs_write_order(object, again)
    expect_identical(readLines(again), readLines(path))
    zip <- withr::local_tempfile(fileext = ".zip")
    suppressMessages(glfs_write_reference(object, zip, groups))
    expect_true(file.exists(zip))
    expect_refused(glfs_write_reference(object, zip, groups, "raw"), "counts_layer")
})

test_that("what was written is read back, by every platform", {
    sce <- of_platform()
    endings <- c(xenium_v1 = ".csv", cosmx = ".xlsx", sheet = ".tsv")
    for (platform in names(endings)) {
        out <- glfs_order_panel(sce, platform = platform, labels = groups)
        path <- withr::local_tempfile(fileext = endings[[platform]])
        expect_identical(glfs_write_order(out, path), path)
        expect_false(withVisible(glfs_write_order(out, path, overwrite = TRUE))$visible)
        panel <- glfs_read_panel(path)
        expect_identical(rownames(panel), order_of(out)$table$gene)
        expect_identical(panel$id, order_of(out)$table$id)
    }
    expect_identical(colnames(sce), colnames(out))
    # At once, and the record alone.
    one <- withr::local_tempfile(fileext = ".csv")
    glfs_write_order(sce, one, "xenium_v1")
    two <- withr::local_tempfile(fileext = ".csv")
    glfs_write_order(order_of(out), two, "xenium_v1")
    expect_identical(readLines(one), readLines(two))
})

test_that("genes that cannot be ordered are refused, replaced or left out", {
    sce <- of_platform()
    panel <- glfs_gene_sets(sce)$glfs
    gone <- setdiff(panel, c("SEPT7", "IGJ"))[1]
    at <- match(gone, panel)
    order <- function(...)
        glfs_order_panel(sce, "glfs", "xenium_v1", genes = vendor(gone), ...)
    refusal <- expect_error(order(), gone, class = "python.ValueError")
    expect_identical(refusal$argument, "panel")
    expect_message(out <- order(refused = "replace"), gone)
    found <- order_of(out)
    expect_identical(found$replaced$gene, gone)
    expect_identical(found$table$replaces[at], gone)
    expect_identical(found$replaced$substitute, found$table$gene[at])
    suppressMessages(out <- order(refused = "drop"))
    expect_identical(order_of(out)$table$name, panel[-at])
    # Only genes of the platform.
    xenium <- glfs_platform(name = "xenium_v1", genes = setdiff(rownames(sce), gone))
    suppressMessages(out <- glfs_order_panel(sce, platform = xenium, refused = "drop"))
    expect_identical(order_of(out)$replaced$gene, gone)
})

test_that("probe sets, forced genes, a catalogue and backups come along", {
    path <- withr::local_tempfile(fileext = ".csv")
    order <- order_of(glfs_order_panel(
        known(), genes[1:4], "xenium_v1", catalogue = list("JCHAIN")
    ))
    order$table$n_probe_sets[order$table$gene == "CD3D"] <- 3
    order$table$forced[order$table$gene == "LYZ"] <- TRUE
    glfs_write_order(order, path)
    table <- utils::read.csv(path, check.names = FALSE)
    expect_identical(table$Gene, c("CD3D", "SEPTIN7", "LYZ"))
    expect_identical(table[["Probe sets"]], c(3L, NA, NA))
    expect_identical(table$Force, c("", "", "forced"))
    rest <- glfs_order_panel(known(), genes, "xenium_v1", catalogue = glfs_read_panel(path))
    expect_identical(order_of(rest)$table$name, c("IGJ", genes[5:9]))
    sheet <- glfs_order_panel(known_selected(), labels = groups, backups = 1)
    expect_true(all(c("selected", "backup") %in% order_of(sheet)$table$source))
    expect_true(all(order_of(sheet)$table$group %in% c(groups, "")))
})

test_that("limits of the selection hold for its order", {
    limits <- glfs_limits(total_counts = list(cell = 4), counts_layer = "counts")
    sce <- select(known(), limits = limits)
    out <- glfs_order_panel(sce)
    expect_length(order_of(out)$table$gene, length(glfs_genes(sce)))
    path <- withr::local_tempfile(fileext = ".csv")
    glfs_write_order(sce, path)
    expect_identical(rownames(glfs_read_panel(path)), order_of(out)$table$gene)
    both <- glfs_order_panel(sce, counts_layer = "counts", limits = limits)
    expect_equal(
        order_of(both)$table$mean_count,
        unname(rowMeans(SummarizedExperiment::assay(sce, "counts"))[order_of(both)$table$name])
    )
})

test_that("nothing is written where an order is refused", {
    folder <- withr::local_tempdir()
    at <- function(name) file.path(folder, name)
    sce <- glfs_order_panel(known_selected(), genes[1:4], "xenium_v1")
    expect_refused(glfs_write_order(sce, at("a.txt")), "path", "python.ValueError")
    expect_refused(glfs_write_order(sce, at("a.csv"), "visium"), "platform", "python.ValueError")
    expect_refused(glfs_write_order(sce, at("a.csv"), list(failure = 1)), "platform")
    expect_refused(glfs_write_order(sce, at("a.csv"), key = "mine"), "key", "python.KeyError")
    expect_refused(glfs_write_order(sce, at("no/a.csv")), "path", "python.OSError")
    expect_refused(glfs_write_order(cells(), at("a.csv")), "x")
    expect_refused(glfs_write_order(S4Vectors::DataFrame(), at("a.csv")), "x")
    outdated <- sce
    SummarizedExperiment::assay(outdated, "logcounts")[1, 1] <- 9
    expect_refused(glfs_write_order(outdated, at("a.csv")), "key", "python.ValueError")
    expect_refused(
        glfs_write_reference(sce, at("a.zip"), sce$typo), "labels"
    )
    expect_refused(glfs_write_reference(sce, at("a.zip"), groups[-1]), "labels")
    expect_refused(glfs_write_reference(sce, at("a.csv"), "group"), "path", "python.ValueError")
    expect_refused(
        glfs_write_reference(sce, at("a.zip"), "group", "logcounts"), "counts_layer",
        "python.ValueError"
    )
    expect_refused(glfs_write_reference(sce, at("a.zip"), "group", "raw"), "counts_layer")
    expect_identical(list.files(folder), character())
    glfs_write_order(sce, at("a.csv"))
    before <- readLines(at("a.csv"))
    expect_refused(glfs_write_order(sce, at("a.csv")), "path", "python.OSError")
    expect_identical(readLines(at("a.csv")), before)
})

test_that("a reference has raw counts, ids and types", {
    sce <- glfs_order_panel(known(), genes[1:4], "xenium_v1")
    folder <- withr::local_tempdir()
    zip <- file.path(folder, "a.zip")
    # Cells without a type and genes without an id are left out.
    expect_message(
        expect_identical(glfs_write_reference(sce, zip, replace(groups, 1:5, NA)), zip),
        "5 cells"
    )
    utils::unzip(zip, exdir = folder)
    types <- utils::read.csv(file.path(folder, "celltypes.csv"))
    expect_identical(types, data.frame(barcode = colnames(sce)[-(1:5)], annotation = groups[-(1:5)]))
    features <- utils::read.delim(file.path(folder, "features.tsv.gz"), header = FALSE)
    expect_identical(features$V2, genes)
    counts <- Matrix::readMM(gzfile(file.path(folder, "matrix.mtx.gz")))
    expect_equal(
        unname(as.matrix(counts)),
        unname(SummarizedExperiment::assay(sce, "counts")[genes, -(1:5)])
    )
    # From the counts alone, and the same cells with the same seed.
    SummarizedExperiment::assay(sce, "logcounts") <- NULL
    bytes <- function(...) {
        path <- withr::local_tempfile(fileext = ".zip")
        suppressMessages(glfs_write_reference(sce, path, "group", ...))
        readBin(path, raw(), 1e6)
    }
    most <- 0.8 * length(bytes())
    set.seed(1)
    drawn <- bytes(max_bytes = most)
    expect_lt(length(drawn), most)
    set.seed(1)
    expect_identical(bytes(max_bytes = most), drawn)
})

test_that("panels are read in the forms that vendors have", {
    path <- withr::local_tempfile(fileext = ".csv")
    writeLines(c(
        "name,id,barcodeType,b1,b2,b3", "CD3D,ENST1,merfish,1,1,0", "LYZ,ENST2,merfish,0,1,1",
        "Blank-1,,merfish,1,0,1"
    ), path)
    expect_message(panel <- glfs_read_panel(path), "Blank-1")
    expect_identical(rownames(panel), c("CD3D", "LYZ"))
    about <- S4Vectors::metadata(panel)
    expect_identical(about$form, "codebook")
    expect_identical(about$controls, "Blank-1")
    expect_identical(about$repeated, character())
    expect_identical(dimnames(about$codebook), list(c("CD3D", "LYZ"), c("b1", "b2", "b3")))
    sce <- known()
    out <- glfs_evaluate_panel(
        sce, panel, platform = glfs_platform(codebook = about$codebook), measures = "preserved"
    )
    expect_identical(glfs_genes(out, "glfs_evaluation"), c("CD3D", "LYZ"))
    out <- glfs_evaluate_panel(sce, list(file = panel, one = "CD3D"), measures = "preserved")
    expect_setequal(glfs_result(out, "glfs_comparison")$measures$n_genes, c(2, 1))

    predesigned <- withr::local_tempfile(fileext = ".csv")
    writeLines(c(
        "Genes,Ensembl_ID,Num_Probesets,Codewords", "CD3D,ENSG00000167286,8,3|14"
    ), predesigned)
    panel <- glfs_read_panel(predesigned)
    expect_identical(panel$codewords, "3|14")
    expect_identical(panel$n_probe_sets, 8L)
    # By its id, where the data have no symbols.
    rownames(sce)[1] <- "ENSG00000167286"
    out <- glfs_extend_panel(sce, panel, 3)
    expect_identical(which(SummarizedExperiment::rowData(out)$glfs_extended_included), 1L)

    text <- withr::local_tempfile(fileext = ".txt")
    writeLines(c("CD3D", "Sep-07"), text)
    expect_refused(glfs_read_panel(text), "path", "python.ValueError")
    expect_error(glfs_read_panel(text), "SEPTIN7")
    expect_refused(glfs_read_panel("no.csv"), "path", "python.OSError")
    sets <- withr::local_tempfile(fileext = ".gmt")
    writeLines("T\tx\tCD3D", sets)
    expect_refused(glfs_read_panel(sets, column = "gene"), "column", "python.ValueError")
    expect_refused(glfs_evaluate_panel(sce, data.frame(symbol = "CD3D")), "panel")
})
