# Objects of Bioconductor and Seurat as what Python reads: a matrix of genes x
# cells, flat columns, reduced dimensions. And results back into them.

# A base or dgCMatrix matrix of finite or infinite numbers; `what` names it in
# errors. With `files` a matrix of a HDF5 file stays there, and another delayed
# one of more than a block goes to a file.
plain_matrix <- function(x, what, files = TRUE) {
    if (files && !is.null(place <- in_file(x))) {
        message(what, " is read from its file, part by part.")
        return(place)
    }
    if (files && is_large(x)) {
        message(what, " is a ", class(x)[1L],
            ": written to a temporary file, block by block.")
        return(by_parts(x))
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
        glfs_stop(what, " has missing values (", sum(is.na(values)), "), the ",
            "first at gene ", c(rownames(x)[at[1L]], at[1L])[1L], ", sample ",
            c(colnames(x)[at[2L]], at[2L])[1L], ": remove or impute them.")
    }
    if (is(x, "dgCMatrix"))
        plain("sparse", p = x@p, i = x@i, x = x@x, shape = x@Dim)
    else
        plain_dense(x)
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
    if (is(seed, "HDF5ArraySeed"))
        return(plain("file", path = DelayedArray::path(seed),
            name = methods::slot(seed, "name")))
    # A file of AnnData, or of 10x, that is stored by samples, or by genes.
    by <- c(CSC_H5SparseMatrixSeed = "csr", CSR_H5SparseMatrixSeed = "csc")
    by <- by[vapply(names(by), is, NA, object = seed)]
    part <- function(...) paste(c(methods::slot(seed, "group"), ...),
        collapse = "/")
    if (length(by) > 0L)
        plain("sparse_file", path = DelayedArray::path(seed),
            data = part("data", methods::slot(seed, "subdata")),
            indices = part("indices"), indptr = part("indptr"),
            shape = dim(seed), by = by[[1L]])
}

# Whether a delayed matrix of numbers is read in several blocks.
is_large <- function(x) is(x, "DelayedMatrix") && length(x) > 0L &&
    DelayedArray::type(x) %in% c("logical", "integer", "double") &&
    length(DelayedArray::colAutoGrid(x)) > 1L

# The folders of matrices that went to files, until Python has answered.
parts <- new.env(parent = emptyenv())

forget_parts <- function() {
    unlink(parts$folders, recursive = TRUE)
    parts$folders <- NULL
}

# Binary files of a matrix: values that are not zero with their genes, sample by
# sample.
by_parts <- function(x) {
    folder <- tempfile("glfsbio-")
    dir.create(folder)
    parts$folders <- c(parts$folders, folder)
    files <- lapply(c(data = "data", indices = "indices"), function(name)
        file(file.path(folder, name), "wb"))
    on.exit(lapply(files, close))
    is_sparse <- DelayedArray::is_sparse(x)
    pointers <- 0
    grid <- DelayedArray::colAutoGrid(x)
    for (i in seq_along(grid)) {
        block <- DelayedArray::read_block(x, grid[[i]], as.sparse = is_sparse)
        block <- methods::as(if (is_sparse) block else block + 0, "dgCMatrix")
        writeBin(block@x, files$data)
        writeBin(block@i, files$indices)
        pointers <- c(pointers, pointers[length(pointers)] + block@p[-1L])
    }
    plain("parts", folder = folder, p = pointers, shape = dim(x))
}

row_names <- function(x)
    if (is.null(rownames(x))) as.character(seq_len(nrow(x))) else rownames(x)

# Row names of genes, which must tell them apart.
gene_names <- function(x) {
    names <- row_names(x)
    if (is.null(rownames(x)))
        message("The object has no row names: genes are numbered.")
    if (any(names %in% c(NA, "")))
        glfs_stop("Row names are missing for some genes: name all, or none.")
    if (anyDuplicated(names))
        glfs_stop("Row names are not unique (",
            listed(unique(names[duplicated(names)])),
            "): run rownames(x) <- make.unique(rownames(x)) first.")
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

# What Python needs of an object, in parts: the matrix that is named, the
# matrices of raw counts that `counts_layer` names, and the rest, with further
# columns; of reduced dimensions and pairs those that are `named`, NULL for all.
# `word` is what the caller calls the name of the matrix.
read_object <- function(x, assay.type = NULL, assay = NULL, layer = NULL,
        counts_layer = NULL, word = NULL, named = character(), files = TRUE,
        obs = NULL, var = NULL) {
    given <- Filter(Negate(is.null), list(assay.type = assay.type, assay = assay,
        layer = layer, counts_layer = counts_layer))
    has_no <- if (inherits(x, "Seurat")) "assay.type" else if (has_samples(x))
        "layer" else names(given)
    for (name in intersect(has_no, names(given)))
        refuse(name, " has no meaning here: ", if (inherits(x, "Seurat"))
            "name the matrix of x with assay = and layer =."
            else if (has_samples(x)) "name the matrix of x with assay.type =."
            else "x is a matrix: put it into a SummarizedExperiment.")
    has <- contents_of(x, assay = assay)
    has$obs[names(obs)] <- obs
    has$var[names(var)] <- var
    if (!is.null(has$unused))
        say_once(has$unused)
    if (inherits(x, "Seurat"))
        given$assay <- NULL
    place <- which_assay(given[["assay.type"]] %or% given[["assay"]] %or%
        given[["layer"]], has, word %or% c(intersect(names(given),
            c("assay", "layer")), has$word)[1L])
    # What results that are there were made with.
    asked <- lapply(Filter(is_result, as.list(has$records)),
        function(record) record[names(record) %in% c("params", "structure")])
    layers <- union(counts_layer, intersect(has$names, unlist(lapply(asked,
        function(record) c(record$structure$layer,
            record$params$limits$counts_layer)))))
    if (!is.null(named))
        named <- c(named, texts(asked))
    matrix_of <- function(name, ...) {
        at <- which_assay(name, has, "counts_layer") # refused before it is read
        plain_matrix(has$matrix(at), has$label(at), ...)
    }
    list(
        X = plain_matrix(has$matrix(place), has$label(place), files),
        var = plain_table(has$var, has$genes),
        obs = plain_table(has$obs, if (is.null(named)) has$cells),
        reduced = Map(plain_reduced, has$reduced, names(has$reduced),
            MoreArgs = list(n = nrow(has$obs), named = named)),
        layers = lapply(stats::setNames(nm = layers), matrix_of,
            files = !is.null(named)),
        pairs = if (is(x, "SingleCellExperiment")) plain_pairs(x, named),
        records = plain_records(has$records),
        # Enough of many names to tell samples from genes.
        cells = plain_strings(as.character(has$cells[unique(round(seq(1,
            length(has$cells), length.out = min(length(has$cells), 1000L))))])),
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

# Names and texts of options, which may name a part of an object.
texts <- function(x) {
    if (isS4(x) || is.object(x) && !is.factor(x))
        return(NULL)
    c(names(x), if (is.list(x)) unlist(lapply(x, texts), use.names = FALSE)
    else if (is.character(x) || is.factor(x)) as.character(x))
}

# A reduced dimension, of which only the name travels where nothing names it.
# Places in space are used without a name, if they can be.
plain_reduced <- function(x, name, n, named) {
    asked <- name %in% named
    values <- if (asked || is.null(named) || name == "spatial") coordinates(x)
    if (asked && is.null(values))
        glfs_stop(
            "The reduced dimension \"", name, "\" is a ", class(x)[1L], " of ",
            typeof(x), ", not a matrix of numbers with a row for each sample."
        )
    plain_dense(if (is.null(values)) matrix(0, n, 0L) else values)
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
# Python for their names. NULL: all, under their own names.
plain_pairs <- function(x, named) {
    suffix <- "_connectivities"
    # colPairNames() checks the whole object every time.
    names <- names(SingleCellExperiment::int_colData(x)$colPairs)
    keys <- ifelse(names == "connectivities", "neighbors",
        sub(paste0(suffix, "$"), "", names))
    sent <- if (is.null(named)) names
    else ifelse(keys == "neighbors", "connectivities", paste0(keys, suffix))
    wanted <- is.null(named) | keys %in% c(named, "spatial_neighbors")
    lapply(stats::setNames(names, sent)[wanted], function(name) plain_matrix(
        SingleCellExperiment::colPair(x, name, asSparse = TRUE),
        paste0("colPair \"", name, "\"")
    ))
}

# What an object has, by its class: names of matrices and where they are, the
# matrix of a place, tables, reduced dimensions and records.
contents_of <- function(x, assay = NULL) {
    if (is(x, "SummarizedExperiment")) contents_of_experiment(x)
    else if (is(x, "ExpressionSet")) contents_of_set(x)
    else if (inherits(x, "Seurat")) contents_of_seurat(x, assay)
    else if (length(dim(x)) == 2L) list(
        of = "matrix", names = "x", default = "x", matrix = function(place) x,
        label = function(place) "x", genes = gene_names(x),
        var = empty(nrow(x)), obs = empty(ncol(x)), cells = colnames(x))
    else refuse("x", " is a ", class(x)[1L], ": it must be a matrix of genes x ",
        "samples, a SummarizedExperiment, an ExpressionSet or a Seurat object.")
}

# What reads AnnData calls log-normalised values X.
contents_of_experiment <- function(x) {
    assays <- SummarizedExperiment::assays(x, withDimnames = FALSE)
    names <- names(as.list(assays)) %or% character(length(assays))
    unnamed <- which(names %in% c(NA, ""))
    names[unnamed] <- unnamed
    has <- list(
        of = "SummarizedExperiment", names = names, where = "an assay of x",
        word = "assay.type", default = c("logcounts", "X",
            if (length(names) == 1L) names[unnamed]),
        maker = if ("counts" %in% names) "; scuttle::logNormCounts(x) makes it",
        matrix = function(place)
            SummarizedExperiment::assay(x, place, withDimnames = FALSE),
        label = function(place) paste0("assay \"", names[place], "\""),
        genes = gene_names(x),
        var = SummarizedExperiment::rowData(x, use.names = FALSE),
        obs = no_names(SummarizedExperiment::colData(x)),
        cells = colnames(x), records = S4Vectors::metadata(x)
    )
    if (is(x, "SingleCellExperiment")) {
        # reducedDims() and altExpNames() check the whole object every time.
        inner <- SingleCellExperiment::int_colData(x)
        has$reduced <- as.list(inner$reducedDims)
        if (!is.null(inner$spatialCoords)) # of a SpatialExperiment
            has$reduced$spatial <- inner$spatialCoords
        if (length(inner$altExps) > 0L)
            has$unused <- paste0("Alternative experiments are not used: ",
                listed(names(inner$altExps)), ".")
    }
    has
}

contents_of_set <- function(x) {
    names <- Biobase::assayDataElementNames(x)
    list(
        of = "ExpressionSet", names = names, where = "in assayData(x)",
        word = "assay.type", default = "exprs",
        matrix = function(place) Biobase::assayDataElement(x, names[place]),
        label = function(place) paste0("assayData \"", names[place], "\""),
        genes = gene_names(Biobase::exprs(x)), var = Biobase::fData(x),
        obs = no_names(Biobase::pData(x)), cells = colnames(x),
        records = Biobase::notes(x)
    )
}

# Which of the matrices is meant, by its name or its number; NULL: a usual one.
which_assay <- function(asked, has, word) {
    name <- asked %or% c(intersect(has$default, has$names), has$default)[1L]
    place <- if (is_string(name)) match(name, has$names)
    else if (is.numeric(name) && length(name) == 1L)
        match(name, seq_along(has$names))
    if (isTRUE(place > 0L))
        return(place)
    refuse(word, " = ", deparse1(name), " is not ", has$where, ": ",
        listed(has$names), if (any(name %in% has$default)) paste0(has$maker,
            "; name a log-normalised one with ", word, " ="), ".")
}

# What Python needs of an object whose matrix is that of raw counts, and the
# names of its samples.
read_counts <- function(x, counts_layer, word = "counts_layer", obs = NULL) {
    check_string(counts_layer, word)
    place <- if (inherits(x, "Seurat")) list(layer = counts_layer)
    else if (has_samples(x)) list(assay.type = counts_layer)
    parts <- do.call(read_object,
        c(list(x), place, list(word = word, obs = obs)))
    if (!is.null(colnames(x)))
        parts$obs$rows <- plain_strings(colnames(x))
    parts
}

is_record <- function(x) is.list(x) && !is.object(x)

# Others keep beside results what they like.
is_result <- function(x) is(x, "GLFSResult")

# Records of results, from where their class keeps them; a matrix gives the
# record alone.
records_of <- function(x, key, argument, wanted) {
    if (is(x, "SummarizedExperiment") || is(x, "DataFrame"))
        S4Vectors::metadata(x)
    else if (is(x, "ExpressionSet")) Biobase::notes(x)
    else if (inherits(x, "Seurat")) methods::slot(x, "misc")
    else if (is_result(x)) stats::setNames(list(x), key)
    else refuse(argument, " is a ", class(x)[1L], ": it must be ", wanted, ".")
}

# Results go where users of the class look for them. A matrix has no place for
# them: the columns of genes as a table, or the record.
write_object <- function(x, result, assay = NULL) {
    if (inherits(x, "Seurat"))
        return(write_seurat(x, result, assay))
    if (has_samples(x) && length(result$rows) < nrow(x))
        x <- x[result$rows, ]
    if (is(x, "ExpressionSet")) {
        Biobase::fData(x) <- with_values(Biobase::fData(x), result, "var")
        Biobase::pData(x) <- with_values(Biobase::pData(x), result, "obs")
        Biobase::notes(x) <- with_records(Biobase::notes(x), result)
        return(x)
    }
    if (is(x, "SummarizedExperiment")) {
        SummarizedExperiment::rowData(x) <- with_values(
            SummarizedExperiment::rowData(x), result, "var")
        SummarizedExperiment::colData(x) <- with_values(
            SummarizedExperiment::colData(x), result, "obs")
        S4Vectors::metadata(x) <- with_records(S4Vectors::metadata(x), result)
        return(x)
    }
    if (ncol(result$var) > 0L && ncol(result$obs) == 0L) {
        S4Vectors::metadata(result$var) <- result$records
        return(result$var)
    }
    record <- result$records[[1L]]
    rownames(result$obs) <- colnames(x)
    record$rowData <- if (ncol(result$var) > 0L) result$var
    record$colData <- if (ncol(result$obs) > 0L) result$obs
    record
}

# A table with columns in place of former ones, and without those that are gone.
with_values <- function(table, result, name) {
    table[intersect(result$gone[[name]], names(table))] <- NULL
    for (column in names(result[[name]]))
        table[[column]] <- result[[name]][[column]]
    table
}

# Each key once, though objects that were bound may bring it twice.
with_records <- function(records, result) {
    names(records) <- names(records) %or% character(length(records))
    new <- names(result$records)
    again <- duplicated(names(records)) & names(records) %in% new
    records <- records[!(again | names(records) %in% result$gone$uns)]
    records[new] <- result$records
    records
}

empty <- function(n) S4Vectors::make_zero_col_DFrame(n)

no_names <- function(table) {
    rownames(table) <- NULL
    table
}

# Seurat objects without a class definition of Seurat, whose package is
# suggested.
seurat_assay <- function(x, assay) {
    if (!requireNamespace("SeuratObject", quietly = TRUE))
        glfs_stop("Seurat objects need the R package SeuratObject.")
    assay <- assay %or% assay_of_results(x)
    check_string(assay, "assay")
    if (!assay %in% SeuratObject::Assays(x))
        refuse("assay", " = \"", assay, "\" is not an assay of x: ",
            listed(SeuratObject::Assays(x)), ".")
    assay
}

# The default assay, unless selections are in one other alone.
assay_of_results <- function(x) {
    usual <- SeuratObject::DefaultAssay(x)
    kinds <- vapply(results_of(x), `[[`, "", "kind")
    columns <- paste0(names(kinds)[kinds == "selection"], "_rank",
        recycle0 = TRUE)
    has <- function(assay) any(columns %in% names(x[[assay]][[]]))
    others <- if (length(columns) > 0L && !has(usual))
        Filter(has, SeuratObject::Assays(x))
    if (length(others) != 1L)
        return(usual)
    message("Assay \"", others, "\" is used, which has the selection.")
    others
}

contents_of_seurat <- function(x, assay) {
    name <- seurat_assay(x, assay)
    assay <- x[[name]]
    layers <- seurat_layers(assay)
    others <- setdiff(SeuratObject::Assays(x), name)
    list(
        of = "Seurat", names = layers, word = "layer", default = "data",
        where = paste0("in assay \"", name, "\""),
        # Version 5 may keep the samples of every file in a layer of its own.
        maker = if (any(startsWith(layers, "data.")))
            paste0("; run x[[\"", name, "\"]] <- JoinLayers(x[[\"", name, "\"]])")
        else "; NormalizeData(x) makes it",
        unused = if (length(others) > 0L)
            paste0("Other assays are not used: ", listed(others), "."),
        matrix = function(place) seurat_matrix(assay, layers[place]),
        label = function(place)
            paste0("layer \"", layers[place], "\" of assay \"", name, "\""),
        genes = gene_names(assay), var = assay[[]],
        obs = no_names(x[[]]), cells = colnames(x),
        reduced = lapply(stats::setNames(nm = SeuratObject::Reductions(x)),
            function(name) SeuratObject::Embeddings(x[[name]])),
        records = methods::slot(x, "misc")
    )
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
    n <- length(intersect(rownames(assay), rownames(matrix)))
    if (n < nrow(assay))
        refuse("layer", " = \"", layer, "\" has ", n, " of ", nrow(assay),
            " genes: run ScaleData(x, features = rownames(x)), or choose ",
            "another.")
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
    methods::slot(x, "misc") <- with_records(methods::slot(x, "misc"), result)
    x
}
