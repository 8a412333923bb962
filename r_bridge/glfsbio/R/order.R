#' @seealso [glfs_order_panel()], which does this for the genes of a panel.
#' @examples
#' x <- glfs_resolve_genes(glfs_example())
#' found <- glfs_result(x, "glfs_names")$table
#' table(found$found)
#' found[found$found == "retired", c("name", "symbol", "id")]
#'
#' # the same in a list of a vendor
#' vendor <- data.frame(symbol = c("CD3D", "SEPTIN7", "LYZ"))
#' x <- glfs_resolve_genes(x, vendor)
#' rownames(x)[SummarizedExperiment::rowData(x)$glfs_names_orderable]
#' @name glfs_resolve_genes
NULL

#' @inheritParams glfs_resolve_genes
#' @param x For `glfs_order_panel()` an object of the kinds that
#'   [glfs_select_genes()] takes. For `glfs_write_order()` its value, the record
#'   of it, or an object with a selection. For `glfs_write_reference()` an
#'   object with Ensembl ids, such as the value of `glfs_order_panel()`, whose
#'   ids it takes if `ids` is NULL.
#' @param labels Type of each cell: a vector, or the name of a column of
#'   `colData()`. For `glfs_order_panel()` types are the groups of genes. The
#'   reference holds the types, and cells without a type are not in it.
#' @return `glfs_order_panel()`: the object, with columns and a record as of
#'   [glfs_select_genes()]. A message tells the genes that cannot be ordered.
#'   `glfs_write_order()` and `glfs_write_reference()`: `path`, invisibly.
#'
#' @section Files: `"xenium_v1"` and `"xenium_prime"`: `.csv` with the columns
#'   `Gene,Ensembl ID,Probe sets,Force`. `"merscope"`: `.csv`. `"cosmx"`:
#'   `.xlsx`, laid out as the lists that CosMx publishes. The files for MERSCOPE
#'   and CosMx are tables of genes to send: the forms that these vendors take
#'   are not public. `"sheet"`: `.csv`, `.tsv` or `.xlsx` with all that is known
#'   of each gene.
#'
#'   The reference is a zip file of `matrix.mtx.gz`, `features.tsv.gz`,
#'   `barcodes.tsv.gz` and `celltypes.csv`. Where the cells do not fit into
#'   `max_bytes` some of them are drawn: of the types with most cells fewer, and
#'   of rare types all.
#'
#' @seealso [glfs_read_panel()], which reads an order back.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' vendor <- setdiff(rownames(x), "CST3")
#' x <- glfs_order_panel(x, "glfs", "xenium_v1", genes = vendor,
#'     refused = "replace")
#' order <- glfs_result(x, "glfs_order")
#' order$replaced
#' order$table[, c("gene", "id", "replaces")]
#' order$checks[, c("check", "n", "genes")]
#'
#' file <- tempfile(fileext = ".csv")
#' glfs_write_order(x, file)
#' readLines(file, 3)
#' glfs_read_panel(file)
#'
#' SummarizedExperiment::assay(x, "counts") <-
#'     round(expm1(as.matrix(SummarizedExperiment::assay(x))))
#' zip <- tempfile(fileext = ".zip")
#' glfs_write_reference(x, zip, "bulk_labels")
#' unzip(zip, list = TRUE)
#' @name glfs_order_panel
NULL

#' @rdname glfs_order_panel
#' @param path File to write. Its ending is that of the form.
#' @param key Key of an order, whose platform is that of the file if `platform`
#'   is NULL, or of a selection, which is then ordered as `glfs_order_panel()`
#'   does by default. NULL: the last order, and without one `"glfs"`.
#' @param overwrite Whether a file that exists may be replaced.
#' @export
glfs_write_order <- function(x, path, platform = NULL, key = NULL,
    overwrite = FALSE, assay.type = NULL, assay = NULL, layer = NULL) {
    check_string(path, "path")
    place <- list(assay.type = assay.type, assay = assay, layer = layer)
    asked <- if (has_samples(x))
        prepared("write_order", x, Filter(Negate(is.null), place))
    records <- if (is.null(asked)) plain_records(records_of(
        x, last_key(x, "order", key), "x", "a result of glfs_order_panel()"))
    if (is.null(asked) && length(records) == 0L)
        refuse("x", " has no order: run glfs_order_panel() first.")
    if (is_record(platform))
        platform <- platform[["name"]] %or% refuse("platform",
            " has no name: give glfs_platform(name = ).")
    call_python("write_order", adata = asked$parts, records = records,
        path = path, platform = platform, key = key, overwrite = overwrite,
        of = asked$of %or% "matrix")
    invisible(path)
}

#' @rdname glfs_order_panel
#' @param max_bytes Largest size of the reference.
#' @param random_state Seed of the cells that are drawn. NULL: drawn from R's
#'   generator, so `set.seed()` repeats the result.
#' @export
glfs_write_reference <- function(x, path, labels, counts_layer = "counts",
    ids = NULL, symbols = NULL, max_bytes = 2e9, random_state = NULL,
    overwrite = FALSE) {
    check_string(path, "path")
    refuse_typos(list(labels = labels), list(substitute(labels)))
    columns <- as_columns("write_reference", list(labels = labels), x)
    parts <- read_counts(x, counts_layer, obs = columns$samples)
    parts$layers <- stats::setNames(list(parts$X), counts_layer)
    call_python("write_reference", adata = as_cells(parts), path = path,
        labels = columns$options$labels, counts_layer = counts_layer, ids = ids,
        symbols = symbols, max_bytes = max_bytes, random_state = random_state
            %or% sample.int(.Machine$integer.max, 1L),
        overwrite = overwrite, of = parts$of)
    invisible(path)
}

#' Read a panel from a file
#'
#' Recognises the predesigned panels of 10x Genomics and its orders,
#' codebooks, gene lists of CosMx, designs of Vizgen, lists
#' of names, tables and gene sets. Controls and blanks are no genes: they are
#' left out, and named in a message. Names that a spreadsheet has made a date or
#' a number of are an error, which tells what they may have been.
#'
#' @param path File to read: `.txt`, `.csv`, `.tsv`, `.xlsx`, a table with a
#'   header, or a list of names; `.gmt`, gene sets. Text files may end
#'   with `.gz`, `.bz2` or `.xz`.
#' @param column Column of a table. NULL: the first with a header such as
#'   symbol, gene or name, else a column of ids, else the only column, or the
#'   row names of a table from R.
#' @param sheet Sheet of an `.xlsx`. NULL: the first that has genes.
#' @param set_name Gene set of a `.gmt`. NULL: all sets.
#' @return A DataFrame, one row per gene in the order of the file, with the
#'   genes as row names: `gene`; `id`, `""` where the file has none; and what
#'   the file has of `n_probe_sets`; `codewords`, such as `"3|14"`;
#'   `annotation`; `force`; `group`; `must_have`; `transcript`. Its
#'   `metadata()` are `form`, what the file is; `controls`, the names that are
#'   left out; `repeated`, the genes that the file has more than once; and
#'   `codebook`, a DataFrame of 0 and 1, genes x bits, for [glfs_platform()], or
#'   NULL.
#'
#'   The arguments `panel` and `catalogue` of other functions take the
#'   DataFrame, and the name of the file too.
#' @seealso [glfs_order_panel()]
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c(
#'     "name,id,barcodeType,b1,b2,b3", "CD3D,ENST00000300692,merfish,1,1,0",
#'     "LYZ,ENST00000261267,merfish,0,1,1", "Blank-1,,merfish,1,0,1"
#' ), file)
#' panel <- glfs_read_panel(file)
#' panel
#' S4Vectors::metadata(panel)[c("form", "controls")]
#' glfs_extend_panel(glfs_example(), panel, 4)
#' @export
glfs_read_panel <- function(path, column = NULL, sheet = NULL,
    set_name = NULL) {
    check_string(path, "path")
    panel <- call_python("read_panel", path = path, column = column,
        sheet = sheet, set_name = set_name)
    rownames(panel$table) <- panel$table$gene
    S4Vectors::metadata(panel$table) <- panel$about
    panel$table
}
