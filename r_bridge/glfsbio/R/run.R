# What the caller gave of these arguments; the defaults of the others are Python's.
given <- function(..., frame = parent.frame()) {
    names <- c(...)
    left <- vapply(
        names, function(name) eval(call("missing", as.name(name)), frame), NA
    )
    mget(names[!left], envir = frame)
}

# Call a function of Python on an object, and put into it what the function wrote.
run <- function(target, x, options, assay) {
    refuse_options(names(options))
    place <- c(list(assay = assay), options["counts_layer"])
    if (inherits(x, "Seurat")) {
        place <- c(place, options["slot"])
        options[["slot"]] <- NULL
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
    parts <- do.call(read_object, c(list(x), place))
    result <- call_python(target, parts = parts, options = plain)
    ranks <- grep("_rank$", names(result$var), value = TRUE)
    for (name in ranks)
        result$var[[name]] <- as.integer(result$var[[name]])
    result$records <- lapply(result$records, name_matrices)
    do.call(write_object, c(list(x, result), place["assay"][!is.null(assay)]))
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
            "such as batch_key or n_comps."
        )
}

# A bar is for somebody who waits for it.
shown <- function(options) {
    if (!"show_progress" %in% names(options))
        options$show_progress <- interactive()
    options
}
