# What the caller gave of these arguments; the defaults of the others are Python's.
given <- function(..., frame = parent.frame()) {
    names <- c(...)
    left <- vapply(
        names, function(name) eval(call("missing", as.name(name)), frame), NA
    )
    mget(names[!left], envir = frame)
}

# Call a function of Python on an object, and put into it what the function wrote.
# `columns` are columns of the samples that the object does not have.
run <- function(target, x, options, assay, columns = list()) {
    asked <- prepared(target, x, options, assay, columns)
    result <- call_python(target, parts = asked$parts, options = asked$options)
    put_back(x, result, asked)
}

# The same for several objects, of which each gets what was written.
run_sets <- function(target, sets, options, assay) {
    if (length(sets) == 0L)
        refuse("x", " is an empty list: give one object, or a list of several.")
    if (!is.null(options[["block"]]) && !is_string(options[["block"]]))
        refuse("block", " must be the name of a column of colData() that all objects have.")
    if (is.null(names(sets)))
        names(sets) <- seq_along(sets)
    target <- paste0(target, "_of_sets")
    asked <- lapply(sets, function(x) prepared(target, x, options, assay))
    results <- call_python(
        target, sets = plain_list(lapply(asked, `[[`, "parts"), names(sets)),
        options = asked[[1L]]$options
    )
    Map(put_back, sets, results, asked)
}

# What Python gets: the parts of an object, and the options.
prepared <- function(target, x, options, assay, columns = list()) {
    refuse_options(names(options))
    block <- block_column(target, options, ncol(x))
    options <- block$options
    columns <- c(columns, block$columns)
    if (!is.null(options[["limits"]]))
        options[["limits"]] <- check_limits(options[["limits"]])
    place <- c(list(assay = assay), options["counts_layer"], options[["limits"]]["counts_layer"])
    if (inherits(x, "Seurat")) {
        place <- c(place, list(slot = seurat_slot(options)))
        options[c("slot", "layer")] <- NULL
    } else if ("layer" %in% names(options)) {
        refuse("layer", " has no meaning for a ", class(x)[1L], ": name the matrix with assay =.")
    }
    place <- place[!vapply(place, is.null, NA)]
    # Not `$`, which would take `panels` for `panel`.
    if ("panel" %in% names(options))
        options[["panel"]] <- check_panel(options[["panel"]])
    if (!is.null(options[["preserve"]]))
        options[["preserve"]] <- check_preserve(options[["preserve"]])
    if (!is.null(options[["platform"]]))
        options[["platform"]] <- read_platform(options[["platform"]], x, place)
    # Files are gone through cell by cell, which other functions cannot do, or not quickly.
    parts <- do.call(read_object, c(list(x), place, list(files = target == "select_genes")))
    list(
        parts = with_columns(parts, columns),
        options = plain_arguments(options),
        block = block$columns,
        assay = assay
    )
}

put_back <- function(x, result, asked) {
    ranks <- grep("_rank$", names(result$var), value = TRUE)
    for (name in ranks)
        result$var[[name]] <- as.integer(result$var[[name]])
    # So that the record of the selection names a column that is there.
    if (has_samples(x))
        result$obs[names(asked$block)] <- asked$block
    result$records <- lapply(result$records, name_matrices)
    do.call(write_object, c(
        list(x, result), if (!is.null(asked$assay)) list(assay = asked$assay)
    ))
}

# Whether there is a place for columns of the samples.
has_samples <- function(x)
    is(x, "SummarizedExperiment") || is(x, "ExpressionSet") || inherits(x, "Seurat")

# scran's word for batches: a column of the samples, or a vector.
block_column <- function(target, options, n) {
    block <- options[["block"]]
    if (is.null(block))
        return(list(options = options, columns = list()))
    if (!is.null(options[["batch_key"]]))
        glfs_stop("block and batch_key are two names of one argument: give one of them.")
    columns <- list()
    if (!is_string(block)) {
        written <- c(
            options[["key_added"]],
            switch(target, select_genes = "glfs", classify = "glfs_class", paste0("glfs_", target))
        )
        columns[[paste0(written[1L], "_block")]] <- sample_labels(block, n, "block")
        block <- names(columns)
    }
    options[["block"]] <- NULL
    options[["batch_key"]] <- block
    list(options = options, columns = columns)
}

with_columns <- function(parts, columns) {
    if (length(columns) == 0L)
        return(parts)
    extra <- plain_table(S4Vectors::DataFrame(columns))
    table <- parts$items[[3L]]
    there <- r_strings(table$names)
    stay <- !there %in% names(columns)
    table$columns <- c(table$columns[stay], extra$columns)
    table$names <- plain_strings(c(there[stay], names(columns)))
    parts$items[[3L]] <- table
    parts
}

check_panel <- function(panel) {
    if (is.numeric(panel) || is.logical(panel))
        refuse(
            "panel", " must be names of genes, such as rownames(x)[1:3], or one string, not a ",
            class(panel)[1L], " vector."
        )
    if (is_string(panel)) path.expand(panel) else panel
}

# One string, genes (of which a list may have one), or weights by name.
check_preserve <- function(preserve) {
    labels <- names(preserve)
    if (is.null(labels))
        return(if (is_string(preserve)) path.expand(preserve) else preserve)
    single <- vapply(preserve, function(weight) is.numeric(weight) && length(weight) == 1L, NA)
    if (!all(single, nzchar(labels)))
        refuse(
            "preserve", " has names, so that it must hold one weight each, such as ",
            "c(structure = 1, cell_type = 2)."
        )
    stats::setNames(unlist(preserve), path.expand(labels))
}

# Python's arrays have no names.
name_matrices <- function(record) {
    if (!is.null(record$confusion)) {
        labels <- rownames(record$per_label)
        dimnames(record$confusion) <- list(label = labels, predicted = labels)
    }
    if (!is.null(record$support))
        dimnames(record$support) <- list(record$table$gene, record$labels)
    record
}

refuse_options <- function(names) {
    if ("inplace" %in% names)
        refuse("inplace", " has no meaning in R: the result is a new object.")
}
