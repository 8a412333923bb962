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
    refuse_options(names(options))
    block <- block_column(target, options, ncol(x))
    options <- block$options
    columns <- c(columns, block$columns)
    place <- c(list(assay = assay), options["counts_layer"])
    if (inherits(x, "Seurat")) {
        place <- c(place, list(slot = seurat_slot(options)))
        options[c("slot", "layer")] <- NULL
    } else if ("layer" %in% names(options)) {
        glfs_stop("layer has no meaning for a ", class(x)[1L], ": name the matrix with assay =.")
    }
    place <- place[!vapply(place, is.null, NA)]
    # Not `$`, which would take `panels` for `panel`.
    if ("panel" %in% names(options))
        options[["panel"]] <- check_panel(options[["panel"]])
    if (!is.null(options[["preserve"]]))
        options[["preserve"]] <- check_preserve(options[["preserve"]])
    if (!is.null(options[["limits"]]))
        options[["limits"]] <- check_limits(options[["limits"]])
    plain <- plain_arguments(options)
    parts <- with_columns(do.call(read_object, c(list(x), place)), columns)
    result <- call_python(target, parts = parts, options = plain)
    ranks <- grep("_rank$", names(result$var), value = TRUE)
    for (name in ranks)
        result$var[[name]] <- as.integer(result$var[[name]])
    # So that the record of the selection names a column that is there.
    if (has_samples(x))
        result$obs[names(block$columns)] <- block$columns
    result$records <- lapply(result$records, name_matrices)
    x <- do.call(write_object, c(list(x, result), place["assay"][!is.null(assay)]))
    if (inherits(x, "Seurat") && isTRUE(options[["as_highly_variable"]]))
        x <- seurat_variable(x, assay, options[["key_added"]])
    x
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
        glfs_stop(
            "panel must be names of genes, such as rownames(x)[1:3], or one string, not a ",
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
        glfs_stop(
            "preserve has names, so that it must hold one weight each, such as ",
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
    if (!is.null(record$served))
        dimnames(record$served) <- list(record$table$gene, record$labels)
    record
}

refuse_options <- function(names) {
    if ("inplace" %in% names)
        glfs_stop("inplace has no meaning in R: the result is a new object.")
    if ("structure_key" %in% names)
        glfs_stop(
            "structure_key has no meaning in R: give the parameters of the structure, ",
            "such as block or n_comps."
        )
}

# A bar is for somebody who waits for it.
shown <- function(options) {
    if (!"show_progress" %in% names(options))
        options$show_progress <- interactive()
    options
}
