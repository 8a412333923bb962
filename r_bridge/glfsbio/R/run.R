# What the caller gave to the function that calls this, by name; the defaults of
# all other arguments are Python's.
given <- function() {
    frame <- parent.frame()
    arguments <- formals(sys.function(sys.parent()))
    names <- setdiff(names(arguments), c("x", "..."))
    named <- function(what, name) eval(call(what, as.name(name)), frame)
    names <- names[!vapply(names, named, NA, what = "missing")]
    options <- c(mget(names, envir = frame), eval(quote(list(...)), frame))
    if (!all(nzchar(names(options))))
        glfs_stop("All further arguments must be given by name.")
    refuse_typos(options, c(
        lapply(names, named, what = "substitute"),
        as.list(eval(quote(substitute(list(...))), frame))[-1L]
    ), sys.parents()[sys.parent()])
    seed <- "random_state"
    if (seed %in% names(arguments) && is.null(arguments[[seed]]) &&
        is.null(options[[seed]]))
        options[[seed]] <- sample.int(.Machine$integer.max, 1L)
    options
}

# A column that an object does not have is NULL, which would be no argument. An
# element of a list that is NULL is meant.
refuse_typos <- function(options, expressions,
    caller = sys.parents()[sys.parent()]) {
    force(caller)
    for (i in seq_along(options))
        if (is.null(options[[i]]) && reads_column(expressions[[i]], caller))
            refuse(
                names(options)[i], " = ", deparse1(expressions[[i]]),
                " is NULL, so that nothing was given: is the name right?"
            )
}

# Whether an expression reads from what has columns, such as `x$typo`, in the
# frame of a caller; what a wrapper passes on is an argument of its callers.
reads_column <- function(expression, caller) {
    if (!is.call(expression) ||
        !as.character(expression[[1L]])[1L] %in% c("$", "[[", "@"))
        return(FALSE)
    parents <- sys.parents()
    repeat {
        from <- tryCatch(eval(expression[[2L]], sys.frame(caller)),
            error = function(e) NULL)
        if (caller == 0L || !(is.null(from) || is.function(from)))
            break
        caller <- parents[caller]
    }
    has_samples(from) || is.data.frame(from) || is(from, "DataFrame") ||
        is(from, "AnnotatedDataFrame")
}

# Call a function of Python on an object, and put into it what the function
# wrote.
run <- function(target, x, options) {
    if (target == "select_genes" && is_record(x))
        return(run_sets(target, x, options))
    if (target == "structure" && !has_samples(x))
        refuse(
            "x", " is a ", class(x)[1L],
            ", which has no place for a structure: ",
            "put it into a SummarizedExperiment."
        )
    asked <- prepared(target, x, options)
    result <- call_python(target, parts = asked$parts, options = asked$options)
    put_back(x, result, asked)
}

# The same for several objects, of which each gets what was written.
run_sets <- function(target, sets, options) {
    if (length(sets) == 0L)
        refuse("x", " is an empty list: give one object, or a list of several.")
    for (x in sets)
        for (name in names(sample_vectors(options, x)))
            refuse(
                name, " must be the name of a column of the samples that all ",
                "objects have."
            )
    if (is.null(names(sets)))
        names(sets) <- seq_along(sets)
    target <- paste0(target, "_of_sets")
    asked <- lapply(sets, function(x) prepared(target, x, options))
    results <- call_python(
        target, sets = plain_list(lapply(asked, `[[`, "parts"), names(sets)),
        options = asked[[1L]]$options
    )
    Map(put_back, sets, results, asked)
}

# Functions that look at no panel, so that no result tells the assay.
of_cells <- c("select_genes", "structure", "classify", "laprls")

# What Python gets: the parts of an object, and the options.
prepared <- function(target, x, options) {
    if (any(dim(x) == 0L))
        refuse("x", " has no ", if (nrow(x) == 0L) "genes" else "samples", ".")
    for (name in intersect(names(renamed), names(options)))
        refuse(name, " is called ", renamed[[name]], " in R.")
    if (inherits(x, "Seurat"))
        for (name in intersect(names(options), c("dimred", "use_rep",
            "preserve")))
            options[name] <- list(seurat_reduced(options[[name]]))
    options <- flags_as_genes(options, x)
    vectors <- as_columns(target, options, x)
    options <- checked(target, vectors$options)
    place <- options[intersect(names(options),
        c("assay.type", "assay", "layer"))]
    options[names(place)] <- NULL
    place$counts_layer <- unique(unlist(c(
        options["counts_layer"], limits_of(target, x, options)["counts_layer"]
    )))
    place <- Filter(Negate(is.null), place)
    if (inherits(x, "Seurat") && is.null(place$assay) &&
        sub("_of_sets$", "", target) %in% of_cells)
        place$assay <- SeuratObject::DefaultAssay(x)
    if (!is.null(options[["platform"]]))
        options[["platform"]] <- read_platform(
            options[["platform"]], x, place, named = target == "order_panel"
        )
    parts <- do.call(read_object,
        c(list(x), place, list(named = texts(options))))
    parts <- with_columns(parts, vectors$samples)
    parts <- flags_as_labels(parts, options[["train"]])
    parts <- with_columns(parts, vectors$genes, 2L)
    with <- with_places(parts, options, ncol(x))
    list(
        parts = with$parts,
        options = plain_arguments(with_dimred(with$options, with$parts)),
        columns = vectors, assay = place["assay"]
    )
}

# The limits that are given, or those of the selection that is meant, which hold
# again in whatever chooses other genes.
limits_of <- function(target, x, options) {
    limits <- options[["limits"]]
    again <- target %in% c(
        "extend_panel", "replace_genes", "substitutes", "explain_panel",
        "explain_gene", "prove_panel", "order_panel", "write_order", "stability"
    )
    key <- Find(Negate(is.null),
        list(options[["panel"]], options[["key"]], "glfs"))
    if (!is.null(limits) || !again || !has_samples(x) || !is_string(key))
        return(limits)
    record <- records_of(x, key, "x")[[key]]
    if (is_record(record)) record[["params"]][["limits"]]
}

put_back <- function(x, result, asked) {
    ranks <- grep("_rank$", names(result$var), value = TRUE)
    for (name in ranks)
        result$var[[name]] <- as.integer(result$var[[name]])
    # So that the record of a selection names columns that are there.
    if (has_samples(x)) {
        stay <- asked$columns$samples[asked$columns$stay]
        result$obs[names(stay)] <- stay
        result$var[names(asked$columns$genes)] <-
            lapply(asked$columns$genes, `[`, result$rows)
    }
    for (key in names(result$revised)) {
        record <- records_of(x, key, "x")[[key]]
        record[names(result$revised[[key]])] <- result$revised[[key]]
        result$records[[key]] <- record
    }
    result$records <- lapply(result$records, name_matrices)
    do.call(write_object,
        c(list(x, result), Filter(Negate(is.null), asked$assay)))
}

# Whether there is a place for columns of the samples.
has_samples <- function(x)
    is(x, "SummarizedExperiment") || is(x, "ExpressionSet") || inherits(x,
        "Seurat")

# Python's arrays have no names.
name_matrices <- function(record) {
    labels <- rownames(record$per_label)
    for (name in intersect(c("confusion", "confusion_laprls"), names(record)))
        dimnames(record[[name]]) <- list(label = labels, predicted = labels)
    if (!is.null(record$neighbor_frequencies))
        dimnames(record$neighbor_frequencies) <- list(labels, labels)
    if (is.matrix(record$preserved_in_batches))
        colnames(record$preserved_in_batches) <- record$batches
    if (is.matrix(record$coef))
        dimnames(record$coef) <- list(record$genes,
            if (ncol(record$coef) == length(record$classes)) record$classes)
    if (!is.null(record$support))
        dimnames(record$support) <- list(record$table$gene, record$labels)
    record
}
