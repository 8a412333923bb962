#' @examples
#' vendor <- data.frame(symbol = c("CD3D", "SEPTIN7", "LYZ"))
#' x <- glfs_resolve_genes(glfs_example(), vendor)
#' rownames(x)[SummarizedExperiment::rowData(x)$glfs_names_orderable]
#' @name glfs_resolve_genes
NULL

#' @inheritParams glfs_resolve_genes
#' @seealso [glfs_write_order()]
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' vendor <- setdiff(rownames(x), "CST3")
#' x <- glfs_order_panel(x, "glfs", "xenium_v1", genes = vendor,
#'     refused = "replace")
#' glfs_result(x, "glfs_order")$replaced
#' @name glfs_order_panel
NULL

#' @eval from_python("write_order")
#' @inheritParams glfs_select_genes
#' @param x The value of [glfs_order_panel()], the record of it, or an object
#'   with a selection.
#' @return `path`, invisibly.
#' @examples
#' x <- glfs_select_genes(glfs_example(), n_genes = 10)
#' file <- tempfile(fileext = ".csv")
#' glfs_write_order(x, file, "xenium_v1")
#' readLines(file, 3)
glfs_write_order <- function(x, path, platform = NULL, key = NULL,
    overwrite = FALSE, assay.type = NULL, assay = NULL, layer = NULL) {
    place <- list(assay.type = assay.type, assay = assay, layer = layer)
    asked <- if (has_samples(x)) prepared("write_order", x, place)
    records <- if (is.null(asked)) as_record(plain_records(tables_of(x)$records))
    if (is_record(platform))
        platform <- platform[["name"]] %or% refuse("platform",
            " has no name: give glfs_platform(name = ).")
    call_python("write_order", adata = asked$parts, records = records,
        path = path, platform = platform, key = key, overwrite = overwrite,
        of = asked$of %or% "matrix")
    invisible(path)
}

#' @eval from_python("write_reference")
#' @param x An object with Ensembl ids, such as the value of
#'   [glfs_order_panel()], whose ids it takes if `ids` is NULL.
#' @inheritParams glfs_evaluate_panel
#' @return `path`, invisibly.
#' @examples
#' x <- glfs_resolve_genes(glfs_example())
#' counts <- round(expm1(as.matrix(SummarizedExperiment::assay(x))))
#' SummarizedExperiment::assay(x, "counts") <- counts
#' zip <- tempfile(fileext = ".zip")
#' glfs_write_reference(x, zip, "bulk_labels")
#' unzip(zip, list = TRUE)
glfs_write_reference <- function(x, path, labels, counts_layer = "counts",
    ids = NULL, symbols = NULL, max_bytes = 2e9, random_state = NULL,
    overwrite = FALSE) {
    refuse_typos(list(labels = labels), list(substitute(labels)))
    columns <- as_columns("write_reference", list(labels = labels), x)
    parts <- read_counts(x, counts_layer, obs = columns$samples)
    parts$layers <- stats::setNames(list(parts$X), counts_layer)
    call_python("write_reference", adata = as_cells(parts), path = path,
        labels = columns$options$labels, counts_layer = counts_layer, ids = ids,
        symbols = symbols, max_bytes = max_bytes, overwrite = overwrite,
        random_state = random_state %or% drawn_seed(), of = parts$of)
    invisible(path)
}

#' @eval from_python("read_panel")
#' @return A DataFrame with the genes as row names, in the order of the file:
#'   `gene`; `id`, `""` where the file has none; and what else it says of them,
#'   such as `n_probe_sets`. Its `metadata()` are `form`, what the file is;
#'   `controls`, names that are left out; `repeated`, genes that the file has
#'   more than once; and `codebook`, for [glfs_platform()], or NULL.
#'   The arguments `panel` and `catalogue` of other functions take it.
#' @examples
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("name,id", "CD3D,ENST00000300692", "Blank-1,"), file)
#' panel <- glfs_read_panel(file)
#' S4Vectors::metadata(panel)$controls
#' glfs_extend_panel(glfs_example(), panel, 4)
glfs_read_panel <- function(path, column = NULL, sheet = NULL,
    set_name = NULL) {
    panel <- call_python("read_panel", path = path, column = column,
        sheet = sheet, set_name = set_name)
    rownames(panel$table) <- panel$table$gene
    S4Vectors::metadata(panel$table) <- panel$about
    panel$table
}
