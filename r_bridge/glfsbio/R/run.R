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
    ))
    seed <- "random_state"
    if (seed %in% names(arguments) && is.null(arguments[[seed]]) &&
        is.null(options[[seed]]))
        options[[seed]] <- sample.int(.Machine$integer.max, 1L)
    options
}

# A column that is not there is NULL, which would be no argument.
refuse_typos <- function(options, expressions) {
    reads <- function(expression) is.call(expression) &&
        as.character(expression[[1L]])[1L] %in% c("$", "[[", "@")
    for (i in seq_along(options))
        if (is.null(options[[i]]) && reads(expressions[[i]]))
            refuse(
                names(options)[i], " = ", deparse1(expressions[[i]]),
                " is NULL, so that nothing was given: is the name right?"
            )
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
    for (name in intersect(names(options), vectors))
        if (!is.null(options[[name]]) && !is_string(options[[name]]))
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

# What Python gets: the parts of an object, and the options.
prepared <- function(target, x, options) {
    if (any(dim(x) == 0L))
        refuse("x", " has no ", if (nrow(x) == 0L) "genes" else "samples", ".")
    for (name in intersect(names(renamed), names(options)))
        refuse(name, " is called ", renamed[[name]], " in R.")
    checks <- list(
        panel = check_panel, panels = check_panels, preserve = check_preserve,
        limits = check_limits, model = check_model, BPPARAM = check_workers,
        catalogue = check_catalogue, nomenclature = check_nomenclature,
        genes = if (target %in% c("substitutes", "explain_gene"))
            identity else check_genes
    )
    # Not `$`, which would take `panels` for `panel`.
    for (name in intersect(names(options), names(checks)))
        options[name] <- list(checks[[name]](options[[name]]))
    names(options)[names(options) == "BPPARAM"] <- "n_jobs"
    if (inherits(x, "Seurat"))
        for (name in intersect(names(options), c("dimred", "use_rep",
            "preserve")))
            options[name] <- list(seurat_reduced(options[[name]]))
    columns <- sample_columns(target, options, ncol(x))
    options[names(columns$names)] <- columns$names
    place <- options[intersect(names(options),
        c("assay.type", "assay", "layer"))]
    options[names(place)] <- NULL
    place$counts_layer <- unique(unlist(c(
        options["counts_layer"], limits_of(target, x, options)["counts_layer"]
    )))
    place <- Filter(Negate(is.null), place)
    if (!is.null(options[["platform"]]))
        options[["platform"]] <- read_platform(
            options[["platform"]], x, place, named = target == "order_panel"
        )
    parts <- do.call(read_object,
        c(list(x), place, list(named = texts(options))))
    parts <- with_columns(parts, columns$columns)
    list(
        parts = parts,
        options = plain_arguments(with_dimred(options, parts)),
        block = columns$columns[names(columns$columns) == columns$names$block],
        assay = place["assay"]
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
    # So that the record of the selection names a column that is there.
    if (has_samples(x))
        result$obs[names(asked$block)] <- asked$block
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

# Arguments that are a column of the samples, by its name or as a vector.
vectors <- c(
    "labels", "block", "cell_weights", "train", "domains", "library_key"
)

# Vectors as columns that the object does not have, and their names.
sample_columns <- function(target, options, n) {
    found <- list(columns = list(), names = list())
    for (name in intersect(vectors, names(options))) {
        values <- options[[name]]
        if (is.null(values) || is_string(values))
            next
        prefix <- if (name != "block") "glfs" else c(options[["key_added"]],
            switch(
            target, select_genes = "glfs", classify = "glfs_class",
            paste0("glfs_", target)
        ))[1L]
        column <- paste0(prefix, "_", name)
        found$columns[[column]] <- switch(
            name, cell_weights = sample_weights(values, n),
            train = sample_flags(values, n), sample_labels(values, n, name)
        )
        found$names[[name]] <- column
    }
    found
}

# One label per sample.
sample_labels <- function(labels, n, name) {
    given <- class(labels)[1L]
    labels <- plain_vector(labels)
    whole <- is.numeric(labels) && all(labels == round(labels), na.rm = TRUE)
    vector <- is.factor(labels) || is.character(labels) || is.logical(labels)
    if (!(vector || whole))
        refuse(
            name,
            " must be a factor, strings, whole numbers or logical values, ",
            "not ", given, "."
        )
    values <- sample_values(labels, n, name)
    if (whole) values else factor(values)  # of numbers -1 is no label
}

sample_weights <- function(weights, n) {
    values <- plain_vector(weights)
    if (is.numeric(values)) sample_values(values, n, "cell_weights") + 0
    else sample_labels(weights, n, "cell_weights")
}

sample_flags <- function(flags, n) {
    values <- plain_vector(flags)
    if (!is.logical(values))
        refuse("train", " must be logical values, not ", class(flags)[1L], ".")
    sample_values(values, n, "train")
}

sample_values <- function(values, n, name) {
    if (length(values) != n)
        refuse(name, " has ", length(values), " entries for ", n, " samples.")
    unname(values)
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

# Bioconductor's word for a reduced dimension.
with_dimred <- function(options, parts) {
    dimred <- options[["dimred"]]
    options["dimred"] <- NULL
    if (is.null(dimred))
        return(options)
    if (!is.null(options[["use_rep"]]))
        glfs_stop("dimred and use_rep both name a structure: give one of them.")
    check_string(dimred, "dimred")
    there <- r_strings(parts$items[[4L]]$names)
    shown <- if (r_strings(parts$items[[9L]]) == "Seurat")
        function(names) seurat_reduced(names, tolower) else identity
    if (!dimred %in% there)
        refuse(
            "dimred", " = \"", shown(dimred), "\" is not a reduced dimension ",
            "of x: ", listed(shown(there)), "."
        )
    c(options, use_rep = dimred)
}

check_workers <- function(BPPARAM) {
    if (is.null(BPPARAM))
        return(NULL)
    if (!is(BPPARAM, "BiocParallelParam"))
        refuse(
            "BPPARAM", " is a ", class(BPPARAM)[1L],
            ": it must be a parameter of ",
            "BiocParallel, such as BiocParallel::MulticoreParam(2)."
        )
    BiocParallel::bpnworkers(BPPARAM)
}

check_panel <- function(panel, name = "panel") {
    if (is.null(panel) || is.numeric(panel) || is.logical(panel))
        refuse(
            name, " must be names of genes, such as rownames(x)[1:3], or one ",
            "string, not of class ", class(panel)[1L], "."
        )
    if (is.data.frame(panel) || is(panel, "DataFrame"))
        return(plain_panel(panel, name))
    if (is_string(panel)) path.expand(panel) else panel
}

check_catalogue <- function(catalogue)
    if (!is.null(catalogue)) check_panel(catalogue, "catalogue")

# A table of glfs_read_panel().
plain_panel <- function(panel, name) {
    absent <- setdiff(c("gene", "id"), names(panel))
    if (length(absent) > 0L)
        refuse(
            name, " is a ", class(panel)[1L], " without ",
            paste(absent, collapse = " and "),
            ": give names of genes, or a table of glfs_read_panel()."
        )
    plain_table(panel, lists = TRUE)
}

# Names, a table, or a file, which is one string.
check_genes <- function(genes, name = "genes") {
    if (is.data.frame(genes) || is(genes, "DataFrame"))
        return(plain_table(genes, own_names(genes), lists = TRUE))
    if (!is.null(genes) && !is.character(genes) && !is.factor(genes))
        refuse(
            name, " must be a file, a table or names of genes, not of class ",
            class(genes)[1L], "."
        )
    if (!is_string(genes))
        return(genes)
    plain("scalar", value = plain_strings(path.expand(genes)))
}

check_nomenclature <- function(nomenclature)
    check_genes(nomenclature, "nomenclature")

# Row names that are not numbers that R gave.
own_names <- function(table) {
    numbered <- is.data.frame(table) && .row_names_info(table) < 0L
    if (!numbered) rownames(table)
}

check_panels <- function(panels) {
    if (!is.list(panels) || is.null(names(panels)))
        refuse(
            "panels", " must be a named list of panels, such as ",
            "list(catalogue = c(\"CD3D\", \"LYZ\"), glfs = \"glfs\")."
        )
    Map(check_panel, panels, paste0("panels$", names(panels)))
}

# One string, genes (of which a list may have one), or weights by name.
check_preserve <- function(preserve) {
    labels <- names(preserve)
    if (is.null(labels))
        return(if (is_string(preserve)) path.expand(preserve) else preserve)
    single <- vapply(
        preserve, function(weight) is.numeric(weight) && length(weight) == 1L,
        NA
    )
    if (!all(single, nzchar(labels)))
        refuse(
            "preserve",
            " has names, so that it must hold one weight each, such as ",
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
