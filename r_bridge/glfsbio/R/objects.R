# Objects of Bioconductor and Seurat as what Python reads: a matrix of genes x
# cells, flat columns, reduced dimensions. And results back into them.

# A base or dgCMatrix matrix of finite or infinite numbers; `what` names it in
# errors. With `files` a matrix of a HDF5 file stays there, and another delayed
# one of more than a block goes to a file.
plain_matrix <- function(x, what, files = TRUE) {
    place <- if (files) in_file(x)
    if (!is.null(place)) {
        message(what, " is read from its file, part by part.")
        return(place)
    }
    if (files && is_large(x)) {
        message(what, " is written to a temporary file, block by block.")
        return(to_file(x))
    }
    if (is(x, "DelayedArray"))
        message(what, " is a ", class(x)[1L], ": realised in memory.")
    if (is(x, "sparseMatrix"))
        for (form in c("dMatrix", "generalMatrix", "CsparseMatrix"))
            x <- methods::as(x, form)
    else if (isS4(x) && !is_table(x) && !is(x, "Matrix") && !is.matrix(x) &&
        !(is(x, "DelayedArray") && !DelayedArray::is_sparse(x)))
        # Sparse arrays, also of newer Bioconductor releases or BPCells.
        x <- tryCatch(methods::as(x, "dgCMatrix"), error = function(e) x)
    else if (!is.matrix(x) && length(dim(x)) == 2L)
        x <- as.matrix(x)
    values <- if (is(x, "dgCMatrix")) x@x else as.vector(unclass(x))
    if (!(is.numeric(values) || is.logical(values)) || length(dim(x)) != 2L)
        glfs_stop(what, " must be a matrix of numbers, not ", class(x)[1L],
            " of ", typeof(values), ".")
    if (anyNA(values)) {
        at <- Matrix::which(is.na(x), arr.ind = TRUE)[1L, ]
        glfs_stop(what, " has missing values, the first at gene ",
            row_names(x)[at[1L]], ", sample ",
            c(colnames(x)[at[2L]], at[2L])[1L], ": remove or impute them.")
    }
    if (is(x, "dgCMatrix"))
        plain("sparse", p = x@p, i = x@i, x = x@x, shape = x@Dim)
    else plain_dense(x)
}

plain_dense <- function(x)
    plain("dense", values = as.vector(unclass(x)), shape = dim(x))

# Where Python finds the same matrix: no delayed operations, and no missing
# integers.
in_file <- function(x) {
    if (!is(x, "DelayedMatrix") || DelayedArray::type(x) != "double" ||
        !DelayedArray::isPristine(x, ignore.dimnames = TRUE))
        return(NULL)
    seed <- DelayedArray::seed(x)
    part <- function(name) methods::slot(seed, name)
    if (is(seed, "HDF5ArraySeed"))
        return(plain("file", path = DelayedArray::path(seed),
            name = part("name")))
    # A file of AnnData, or of 10x, that is stored by samples, or by genes.
    by <- c(CSC_H5SparseMatrixSeed = "csr", CSR_H5SparseMatrixSeed = "csc")
    by <- by[vapply(names(by), is, NA, object = seed)]
    if (length(by) > 0L)
        plain_sparse_file(DelayedArray::path(seed), part("group"), dim(seed),
            by[[1L]], part("subdata"))
}

plain_sparse_file <- function(path, group, shape, by, subdata = NULL) {
    part <- function(...) paste(c(group, ...), collapse = "/")
    plain("sparse_file", path = path, shape = shape, by = by,
        data = part("data", subdata), indices = part("indices"),
        indptr = part("indptr"))
}

# Whether a delayed matrix is read in several blocks.
is_large <- function(x) is(x, "DelayedMatrix") && length(x) > 0L &&
    length(DelayedArray::colAutoGrid(x)) > 1L &&
    requireNamespace("HDF5Array", quietly = TRUE)

# Bioconductor writes the values that are not zero, sample by sample; it warns
# of chunks of a file that is empty at first.
to_file <- function(x) {
    path <- tempfile(temporary())
    suppressWarnings(DelayedArray::BLOCK_write_to_sink(x = x * 1,
        sink = HDF5Array::TENxRealizationSink(dim(x), type = "double",
            filepath = path, group = "x", level = 0L)))
    plain_sparse_file(path, "x", dim(x), "csr")
}

# What the names of such files begin with, until Python has answered.
temporary <- function() paste0("glfsbio-", Sys.getpid(), "-")

row_names <- function(x)
    if (is.null(rownames(x))) as.character(seq_len(nrow(x))) else rownames(x)

# Row names of genes, which must tell them apart.
gene_names <- function(x) {
    names <- row_names(x)
    if (is.null(rownames(x)))
        message("The object has no row names: genes are numbered.")
    wrong <- unique(names[duplicated(names) | names %in% c(NA, "")])
    if (length(wrong) > 0L)
        glfs_stop("Row names are missing or not unique (", listed(wrong),
            "): run rownames(x) <- make.unique(rownames(x)), or name all.")
    names
}

# A table with nested tables flattened to `outer.inner` and run-length encodings
# expanded; the names of columns without a plain form are its attribute.
plain_table <- function(table, rows = NULL) {
    columns <- lapply(flat_columns(table), plain_column)
    names <- as.character(names(columns))
    left <- vapply(columns, is.null, NA)
    structure(left = names[left], plain(
        "table", columns = unname(columns[!left]),
        names = plain_strings(make.unique(names[!left])),
        rows = if (!is.null(rows)) plain_strings(rows), length = nrow(table)
    ))
}

flat_columns <- function(table) unlist(recursive = FALSE,
    lapply(as.list(table), function(column)
        if (is_table(column)) flat_columns(column) else list(column)))

plain_column <- function(x) {
    x <- plain_vector(x)
    if (is.factor(x))
        plain("factor", codes = as.integer(x), ordered = is.ordered(x),
            levels = plain_strings(levels(x)))
    else if (is.character(x))
        plain_strings(x)
    else if (!is.null(x))
        as.vector(x)
}

# What Python needs of an object, in parts: the matrix at a `place` (named by
# some of assay.type, assay and layer), those of raw counts that `counts_layer`
# names, and the rest, with further columns; of pairs those that are `named`.
# `word` is what the caller calls the name of the matrix. The `whole` object has
# all pairs and names, in memory.
read_object <- function(x, place = list(), counts_layer = NULL, word = NULL,
        named = NULL, obs = NULL, var = NULL, files = !whole, whole = FALSE) {
    place <- Filter(Negate(is.null), place)
    has <- contents_of(x, place$assay)
    for (name in setdiff(names(place), has$words))
        refuse(name, " has no meaning here: ", if (is.null(has$words))
            "x is a matrix." else paste("name the matrix by", has$words[1L]))
    if (inherits(x, "Seurat"))
        place$assay <- NULL
    has$obs[names(obs)] <- obs
    has$var[names(var)] <- var
    # What results that are there were made with.
    used <- as.character(unlist(lapply(Filter(is_result, as.list(has$records)),
        function(record) list(record$params, record$structure))))
    layers <- union(counts_layer, intersect(has$names, used))
    matrix_of <- function(name, word, files = TRUE) {
        at <- which_assay(name, has, word)
        label <- paste(c(has$kind, has$names[at]), collapse = " ")
        plain_matrix(has$matrix(at), label, files)
    }
    list(
        X = matrix_of(if (length(place) > 0L) place[[1L]],
            word %or% c(names(place), has$words)[1L], files),
        var = plain_table(has$var, has$genes %or% gene_names(x)),
        obs = plain_table(has$obs, if (whole) colnames(x)),
        reduced = lapply(Filter(Negate(is.null),
            lapply(has$reduced, coordinates)), plain_dense),
        layers = lapply(stats::setNames(nm = layers), matrix_of,
            "counts_layer", files = !whole),
        pairs = if (is(x, "SingleCellExperiment"))
            plain_pairs(x, if (!whole) c(named, used)),
        records = plain_records(has$records),
        # Enough of many names to tell samples from genes.
        cells = plain_strings(as.character(utils::head(colnames(x), 1000L))),
        of = has$of
    )
}

`%or%` <- function(x, y) if (is.null(x)) y else x

# Parts as an object of Python.
as_cells <- function(parts) plain("cells", parts = plain_parts(parts))

plain_parts <- function(parts) {
    for (name in c("reduced", "layers", "records", "pairs"))
        parts[[name]] <- plain_list(lapply(parts[[name]], plain_argument), TRUE)
    if (!is.null(parts$left))
        parts$left <- plain_strings(parts$left)
    plain_argument(parts)
}

# Coordinates of samples as a matrix; NULL where they are no numbers.
coordinates <- function(x) {
    if (is(x, "LinearEmbeddingMatrix"))
        x <- SingleCellExperiment::sampleFactors(x)
    x <- tryCatch(as.matrix(x), error = function(e) NULL)
    if (is.numeric(unclass(x))) x
}

# Of every result all of it as bytes, and the table of an order, which people
# change.
plain_records <- function(records) {
    results <- Filter(is_result, records[!duplicated(names(records))])
    lapply(results, function(record) list(
        kept = plain("kept", bytes = record@kept),
        table = if (record$kind == "order") plain_table(record$table)))
}

# Pairs of samples that `named` has, and those in space: see objects.py in
# Python for their names. NULL: all.
plain_pairs <- function(x, named) {
    # colPairNames() checks the whole object every time.
    all <- names(SingleCellExperiment::int_colData(x)$colPairs)
    keys <- sub("_connectivities$", "", sub("^connectivities$", "neighbors", all))
    wanted <- is.null(named) | keys %in% c(named, "spatial_neighbors")
    lapply(stats::setNames(nm = all)[wanted], function(name) plain_matrix(
        SingleCellExperiment::colPair(x, name, asSparse = TRUE),
        paste("colPair", name)))
}

# What an object has, by its class: its matrices, which a place by one of the
# `words` names, and in `maker` how to make the usual one; its tables, reduced
# dimensions and records.
contents_of <- function(x, assay = NULL) {
    if (is(x, "SummarizedExperiment")) contents_of_experiment(x)
    else if (is(x, "ExpressionSet")) {
        names <- Biobase::assayDataElementNames(x)
        c(tables_of(x), list(of = "ExpressionSet", kind = "assayData",
            words = c("assay.type", "assay"), names = names, default = "exprs",
            matrix = function(i) Biobase::assayDataElement(x, names[i])))
    } else if (inherits(x, "Seurat"))
        contents_of_seurat(x, seurat_assay(x, assay))
    else if (length(dim(x)) == 2L)
        list(of = "matrix", names = "x", default = "x", var = empty(nrow(x)),
            obs = empty(ncol(x)), matrix = function(place) x)
    else refuse("x", " is a ", class(x)[1L], ": it must be a matrix of genes x ",
        "samples, a SummarizedExperiment, an ExpressionSet or a Seurat object.")
}

# What reads AnnData calls log-normalised values X.
contents_of_experiment <- function(x) {
    assays <- SummarizedExperiment::assays(x, withDimnames = FALSE)
    names <- names(as.list(assays)) %or% character(length(assays))
    unnamed <- which(names %in% c(NA, ""))
    names[unnamed] <- unnamed
    has <- c(tables_of(x), list(
        of = "SummarizedExperiment", kind = "assay", names = names,
        words = c("assay.type", "assay"),
        default = c("logcounts", "X", if (length(names) == 1L) names[unnamed]),
        maker = if ("counts" %in% names) "; scuttle::logNormCounts(x) makes it",
        matrix = function(place)
            SummarizedExperiment::assay(x, place, withDimnames = FALSE)))
    if (is(x, "SingleCellExperiment")) {
        # reducedDims() and altExpNames() check the whole object every time.
        inner <- SingleCellExperiment::int_colData(x)
        has$reduced <- as.list(inner$reducedDims)
        has$reduced$spatial <- inner$spatialCoords # of a SpatialExperiment
        if (length(inner$altExps) > 0L)
            say_once("Alternative experiments are not used: ",
                listed(names(inner$altExps)), ".")
    }
    has
}

# Which of the matrices is meant, by its name or its number; NULL: a usual one.
which_assay <- function(asked, has, word) {
    name <- asked %or% c(intersect(has$default, has$names), has$default)[1L]
    place <- if (length(name) == 1L && !is.na(name))
        match(name, if (is.numeric(name)) seq_along(has$names) else has$names)
    if (isTRUE(place > 0L))
        return(place)
    refuse(word, " = ", deparse1(name), " is no ", c(has$kind, "matrix")[1L],
        " of x: ", listed(has$names), if (any(name %in% has$default)) paste0(
            has$maker, "; name a log-normalised one with ", word, " ="), ".")
}

# What Python needs of an object whose matrix is that of raw counts, and the
# names of its samples.
read_counts <- function(x, counts_layer, word = "counts_layer", obs = NULL) {
    check_string(counts_layer, word)
    place <- if (inherits(x, "Seurat")) list(layer = counts_layer)
    else if (has_samples(x)) list(assay.type = counts_layer)
    parts <- read_object(x, place, word = word, obs = obs)
    if (!is.null(colnames(x)))
        parts$obs$rows <- plain_strings(colnames(x))
    parts
}

is_record <- function(x) is.list(x) && !is.object(x)

is_table <- function(x) is.data.frame(x) || is(x, "DataFrame")

# Others keep beside results what they like.
is_result <- function(x) is(x, "GLFSResult")

# Whether there is a place for columns of the samples.
has_samples <- function(x) is(x, "SummarizedExperiment") ||
    is(x, "ExpressionSet") || inherits(x, "Seurat")

empty <- function(n) S4Vectors::make_zero_col_DFrame(n)

# The tables of genes and samples, and records, from where their class keeps
# them, also of what a matrix has given.
tables_of <- function(x, assay = NULL) {
    if (is(x, "SummarizedExperiment"))
        list(var = SummarizedExperiment::rowData(x, use.names = FALSE),
            obs = SummarizedExperiment::colData(x),
            records = S4Vectors::metadata(x))
    else if (is(x, "ExpressionSet"))
        list(var = Biobase::fData(x), obs = Biobase::pData(x),
            records = Biobase::notes(x))
    else if (inherits(x, "Seurat")) {
        assay <- seurat_assay(x, assay)
        list(var = x[[assay]][[]], obs = x[[]],
            records = methods::slot(x, "misc"))
    }
    else if (is(x, "DataFrame"))
        list(var = x, records = S4Vectors::metadata(x))
    else if (is_result(x))
        list(var = x[["rowData"]],
            records = stats::setNames(list(x), paste0("glfs_", x[["kind"]])))
    else refuse("x", " is a ", class(x)[1L], ", not a result of this package.")
}

# Results go where users of the class look for them. A matrix has no place for
# them: the columns of genes as a table, or the record.
write_object <- function(x, result, assay = NULL) {
    if (inherits(x, "Seurat"))
        return(write_seurat(x, result, assay))
    if (!has_samples(x))
        return(bare_result(result, colnames(x)))
    if (length(result$rows) < nrow(x))
        x <- x[result$rows, ]
    has <- with_result(tables_of(x), result)
    if (is(x, "ExpressionSet")) {
        Biobase::fData(x) <- has$var
        Biobase::pData(x) <- has$obs
        Biobase::notes(x) <- has$records
    } else {
        SummarizedExperiment::rowData(x) <- has$var
        SummarizedExperiment::colData(x) <- has$obs
        S4Vectors::metadata(x) <- has$records
    }
    x
}

bare_result <- function(result, cells) {
    tables <- Filter(ncol, list(rowData = result$var, colData = result$obs))
    if (identical(names(tables), "rowData")) {
        S4Vectors::metadata(result$var) <- result$records
        return(result$var)
    }
    record <- result$records[[1L]]
    record[names(tables)] <- tables
    if (!is.null(record$colData))
        rownames(record$colData) <- cells
    record
}

# Tables with columns in place of former ones, and without those that are gone.
# Each key of a record once, though objects that were bound may bring it twice.
with_result <- function(has, result) {
    for (name in c("var", "obs")) {
        has[[name]][intersect(result$gone[[name]], names(has[[name]]))] <- NULL
        for (column in names(result[[name]]))
            has[[name]][[column]] <- result[[name]][[column]]
    }
    names <- names(has$records) %or% character(length(has$records))
    names(has$records) <- names
    new <- names(result$records)
    has$records <- has$records[!(duplicated(names) & names %in% new |
        names %in% result$gone$uns)]
    has$records[new] <- result$records
    has
}

# Seurat objects without a class definition of Seurat, whose package is
# suggested. NULL: the default assay, or the first other one with the columns of
# a selection if that has none.
seurat_assay <- function(x, assay) {
    if (!requireNamespace("SeuratObject", quietly = TRUE))
        glfs_stop("Seurat objects need the R package SeuratObject.")
    assays <- SeuratObject::Assays(x)
    usual <- SeuratObject::DefaultAssay(x)
    records <- Filter(is_result, methods::slot(x, "misc"))
    columns <- paste0(names(records), "_rank", recycle0 = TRUE)
    assay <- assay %or% Find(function(name)
        any(columns %in% names(x[[name]][[]])), c(usual, assays)) %or% usual
    check_string(assay, "assay")
    if (!assay %in% assays)
        refuse("assay", " = \"", assay, "\" is no assay of x: ", listed(assays))
    assay
}

contents_of_seurat <- function(x, name) {
    others <- setdiff(SeuratObject::Assays(x), name)
    assay <- x[[name]]
    layers <- seurat_layers(assay)
    if (length(others) > 0L)
        say_once("Other assays are not used: ", listed(others), ".")
    c(tables_of(x, name), list(
        of = "Seurat", kind = paste(name, "layer"), names = layers,
        words = c("layer", "assay"), default = "data",
        maker = if (any(startsWith(layers, "data.")))
            "; JoinLayers(assay) makes one of those of several files"
        else "; NormalizeData(x) makes it",
        matrix = function(place) seurat_matrix(assay, layers[place]),
        genes = gene_names(assay),
        reduced = lapply(stats::setNames(nm = SeuratObject::Reductions(x)),
            function(name) SeuratObject::Embeddings(x[[name]]))
    ))
}

# Version 4 of SeuratObject calls a layer a slot, and has no function `Layers`.
is_old_seurat <- function() utils::packageVersion("SeuratObject") < "5.0.0"

seurat_layers <- function(assay) {
    if (is_old_seurat()) c("counts", "data", "scale.data")
    else getExportedValue("SeuratObject", "Layers")(assay)
}

# Scaled data may be missing, or be there for some genes.
seurat_matrix <- function(assay, layer) {
    asked <- stats::setNames(list(assay, layer),
        c("", if (is_old_seurat()) "slot" else "layer"))
    matrix <- do.call(SeuratObject::GetAssayData, asked)
    if (!all(rownames(assay) %in% rownames(matrix)))
        refuse("layer", " = \"", layer, "\" lacks some genes: run ",
            "ScaleData(x, features = rownames(x)), or choose another.")
    matrix[rownames(assay), , drop = FALSE]
}

write_seurat <- function(x, result, assay) {
    assay <- seurat_assay(x, assay)
    values <- as.data.frame(result$var)
    if (length(result$rows) < nrow(x[[assay]]))
        x <- subset(x, features = rownames(values))
    for (name in intersect(result$gone$obs, names(x[[]])))
        x[[name]] <- NULL
    # AddMetaData() fails on a table without columns: nothing has changed.
    if (ncol(values) > 0L)
        x[[assay]] <- SeuratObject::AddMetaData(x[[assay]], values)
    if (ncol(result$obs) > 0L) {
        cells <- as.data.frame(result$obs)
        rownames(cells) <- colnames(x)
        x <- SeuratObject::AddMetaData(x, cells)
    }
    # Misc<- warns when it replaces an earlier result.
    methods::slot(x, "misc") <- with_result(tables_of(x, assay), result)$records
    x
}
