# Objects of Bioconductor as what Python reads: a matrix of genes x cells, flat
# columns, reduced dimensions.

# A base or dgCMatrix matrix of finite or infinite numbers; `what` names it in errors.
plain_matrix <- function(x, what) {
    if (is(x, "DelayedArray")) {
        message(what, " is a ", class(x)[1L], ": realised in memory.")
        x <- if (DelayedArray::is_sparse(x)) methods::as(x, "dgCMatrix") else as.matrix(x)
    } else if (is.data.frame(x) || is(x, "DataFrame")) {
        x <- as.matrix(x)
    } else if (is(x, "sparseMatrix")) {
        x <- methods::as(methods::as(methods::as(
            x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    } else if (is(x, "Matrix")) {
        x <- as.matrix(x)
    } else if (isS4(x) && !is.matrix(x)) {
        # Sparse arrays of newer Bioconductor releases.
        x <- methods::as(x, "dgCMatrix")
    }
    values <- if (is(x, "dgCMatrix")) x@x else x
    if (!(is.numeric(values) || is.logical(values)) || length(dim(x)) != 2L)
        glfs_stop(what, " must be a matrix of numbers, not ", class(x)[1L],
            " of ", typeof(values), ".")
    if (anyNA(values))
        refuse_missing(x, values, what)
    if (is(x, "dgCMatrix"))
        list(kind = "sparse", p = x@p, i = x@i, x = x@x, shape = x@Dim)
    else
        list(kind = "dense", values = unclass(x))
}

refuse_missing <- function(x, values, what) {
    n <- sum(is.na(values))
    at <- Matrix::which(is.na(x), arr.ind = TRUE)[1L, ]
    label <- function(names, i) if (is.null(names)) i else names[i]
    glfs_stop(
        what, " has ", n, " missing value", if (n > 1L) "s", ", the first at gene ",
        label(rownames(x), at[[1L]]), ", sample ", label(colnames(x), at[[2L]]),
        ": remove or impute ", if (n > 1L) "them." else "it."
    )
}

# Row names of genes, which must tell them apart.
gene_names <- function(x) {
    names <- rownames(x)
    if (is.null(names)) {
        message("The object has no row names: genes are numbered.")
        return(as.character(seq_len(nrow(x))))
    }
    unnamed <- sum(is.na(names) | !nzchar(names))
    if (unnamed > 0L)
        glfs_stop(
            "Row names are missing for ", unnamed, " gene", if (unnamed > 1L) "s",
            ": name every gene, or none."
        )
    if (anyDuplicated(names))
        glfs_stop(
            "Row names are not unique (", listed(unique(names[duplicated(names)])),
            "): run rownames(x) <- make.unique(rownames(x)) first."
        )
    names
}

# A table with nested tables flattened to `outer.inner`, run-length encodings
# expanded, and a list of what has no plain form as attribute `left`.
plain_table <- function(table, rows = NULL) {
    flat <- flat_columns(as.list(table), NULL)
    plain <- list(
        kind = "table",
        columns = unname(flat$columns),
        names = plain_strings(make.unique(as.character(names(flat$columns)))),
        rows = if (!is.null(rows)) plain_strings(rows),
        length = nrow(table)
    )
    structure(plain, left = flat$left)
}

flat_columns <- function(columns, prefix) {
    flat <- list(columns = list(), left = character())
    for (j in seq_along(columns)) {
        name <- paste(c(prefix, names(columns)[j]), collapse = ".")
        column <- columns[[j]]
        if (is(column, "Rle"))
            column <- S4Vectors::decode(column)
        if (is(column, "DataFrame") || is.data.frame(column)) {
            inner <- flat_columns(as.list(column), name)
            flat <- Map(c, flat, inner)
        } else if (is.null(plain <- plain_column(column))) {
            flat$left <- c(flat$left, name)
        } else {
            flat$columns <- c(flat$columns, stats::setNames(list(plain), name))
        }
    }
    flat
}

plain_column <- function(x) {
    if (inherits(x, "AsIs") && !isS4(x))
        class(x) <- setdiff(class(x), "AsIs")
    if (is.factor(x))
        return(list(
            kind = "factor", codes = as.integer(x),
            levels = plain_strings(levels(x)), ordered = is.ordered(x)
        ))
    if (is.object(x) || !is.null(dim(x)))
        return(NULL)
    if (is.character(x))
        plain_strings(x)
    else if (is.logical(x) || is.numeric(x))
        as.vector(x)
}

plain_parts <- function(matrix, genes, var, obs, reduced = list(), layers = list()) {
    reduced <- Filter(function(x) is.matrix(x) && is.numeric(x), reduced)
    plain_list(
        list(
            matrix,
            plain_table(var, genes),
            plain_table(obs, rownames(obs)),
            plain_list(
                lapply(reduced, function(x) list(kind = "dense", values = unclass(x))),
                as.character(names(reduced))
            ),
            plain_list(layers, as.character(names(layers)))
        ),
        c("X", "var", "obs", "reduced", "layers")
    )
}

# What Python needs of an object, by its class.
setGeneric("read_object", function(x, ...) standardGeneric("read_object"))

setMethod("read_object", "ANY", function(x, ...) {
    if (inherits(x, "Seurat"))
        return(read_seurat(x, ...))
    refuse_assay(...)
    if (length(dim(x)) != 2L)
        glfs_stop(
            "x is a ", class(x)[1L], ": it must be a matrix of genes x samples, a ",
            "SummarizedExperiment, an ExpressionSet or a Seurat object."
        )
    plain_parts(
        plain_matrix(x, "x"), gene_names(x), empty(nrow(x)), empty(ncol(x))
    )
})

setMethod("read_object", "SummarizedExperiment",
    function(x, assay = "logcounts", ...) {
        check_string(assay, "assay")
        if (!assay %in% SummarizedExperiment::assayNames(x))
            glfs_stop(
                "assay = \"", assay, "\" is not an assay of x: ",
                listed(SummarizedExperiment::assayNames(x)), "."
            )
        reduced <- list()
        if (is(x, "SingleCellExperiment")) {
            # reducedDims() and altExpNames() check the whole object every time.
            inner <- SingleCellExperiment::int_colData(x)
            reduced <- as.list(inner$reducedDims)
            other <- names(inner$altExps)
            if (length(other) > 0L)
                message("Alternative experiments are not used: ", listed(other), ".")
        }
        plain_parts(
            plain_matrix(
                SummarizedExperiment::assay(x, assay, withDimnames = FALSE),
                paste0("assay \"", assay, "\"")
            ),
            gene_names(x),
            SummarizedExperiment::rowData(x, use.names = FALSE),
            no_names(SummarizedExperiment::colData(x)),
            reduced
        )
    }
)

setMethod("read_object", "ExpressionSet", function(x, assay = "exprs", ...) {
    check_string(assay, "assay")
    names <- Biobase::assayDataElementNames(x)
    if (!assay %in% names)
        glfs_stop("assay = \"", assay, "\" is not in assayData: ", listed(names), ".")
    plain_parts(
        plain_matrix(
            Biobase::assayDataElement(x, assay), paste0("assayData \"", assay, "\"")
        ),
        gene_names(Biobase::exprs(x)), Biobase::fData(x), no_names(Biobase::pData(x))
    )
})

# Results go where users of the class look for them.
setGeneric("write_object", function(x, result, key, ...) standardGeneric("write_object"))

setMethod("write_object", "ANY", function(x, result, key, ...) {
    if (inherits(x, "Seurat"))
        return(write_seurat(x, result, key, ...))
    table <- result$var
    S4Vectors::metadata(table)[[key]] <- result$uns[[key]]
    table
})

setMethod("write_object", "SummarizedExperiment", function(x, result, key, ...) {
    x <- x[result$rows, ]
    data <- SummarizedExperiment::rowData(x)
    data[names(result$var)] <- no_names(result$var)
    SummarizedExperiment::rowData(x) <- data
    S4Vectors::metadata(x)[[key]] <- result$uns[[key]]
    x
})

setMethod("write_object", "ExpressionSet", function(x, result, key, ...) {
    x <- x[result$rows, ]
    for (name in names(result$var))
        Biobase::fData(x)[[name]] <- result$var[[name]]
    notes <- Biobase::notes(x)
    notes[[key]] <- result$uns[[key]]
    Biobase::notes(x) <- notes
    x
})

empty <- function(n) S4Vectors::make_zero_col_DFrame(n)

no_names <- function(table) {
    rownames(table) <- NULL
    table
}

refuse_assay <- function(...) {
    if ("assay" %in% ...names())
        glfs_stop("assay = names a part of an object with several; x is a matrix.")
}
