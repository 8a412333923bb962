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
    parts <- flags_as_labels(parts)
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
        "extend_panel", "explain_panel", "prove_panel", "order_panel",
        "write_order", "stability"
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
    if (is.matrix(record$preserved_in_batches))
        colnames(record$preserved_in_batches) <- record$batches
    if (is.matrix(record$coef))
        dimnames(record$coef) <- list(record$genes,
            if (ncol(record$coef) == length(record$classes)) record$classes)
    if (!is.null(record$support))
        dimnames(record$support) <- list(record$table$gene, record$labels)
    record
}

# Arguments in their classes, as Python takes them, or an error.

# The options in their classes, or an error.
checked <- function(target, options) {
    checks <- list(
        panel = if (target == "evaluate_panel") check_panels else check_panel,
        preserve = check_preserve, limits = check_limits,
        BPPARAM = check_workers, catalogue = check_catalogue,
        nomenclature = check_nomenclature,
        genes = if (target == "explain_panel") identity else check_genes
    )
    for (name in intersect(names(options), names(checks)))
        options[name] <- list(checks[[name]](options[[name]]))
    names(options)[names(options) == "BPPARAM"] <- "n_jobs"
    options
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
    plain_table(panel)
}

# Names, a table, or a file, which is one string. Of a table that came from
# elsewhere several names in one place are joined as in the files of HGNC.
check_genes <- function(genes, name = "genes") {
    if (is.data.frame(genes) || is(genes, "DataFrame")) {
        several <- vapply(genes, is, NA, "CharacterList")
        genes[several] <- lapply(genes[several], S4Vectors::unstrsplit, "|")
        return(plain_table(genes, own_names(genes)))
    }
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

# One panel, or a list of several by name.
check_panels <- function(panels) {
    if (!is_record(panels) || is.null(names(panels)))
        return(check_panel(panels))
    unnamed <- sum(is.na(names(panels)) | !nzchar(names(panels)))
    if (unnamed > 0L)
        refuse("panel", " has ", unnamed, " panel", if (unnamed > 1L) "s",
            " without a name: name each of them.")
    if (anyDuplicated(names(panels)))
        refuse("panel", " has two panels called \"",
            names(panels)[duplicated(names(panels))][1L],
            "\": choose another name.")
    Map(check_panel, panels, paste0("panel$", names(panels)))
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

# Arguments that may be vectors, with one value for each sample or gene: Python
# gets them as columns, or as names of genes.

# Arguments that are a column of the samples, by its name or as a vector. Those
# of a selection stay with the object, for functions that repeat it.
of_selections <- c("block", "preserve", "cell_weights", "groupby")
vectors <- c(of_selections, "labels", "domains", "library_key")

# Of the options those that are vectors, one value for each sample.
sample_vectors <- function(options, x) {
    found <- options[intersect(vectors, names(options))]
    if (is_record(options[["limits"]]))
        found$groupby <- options[["limits"]][["groupby"]]
    if (!is_target(found[["preserve"]], x))
        found["preserve"] <- NULL
    Filter(function(one) !is.null(one) && !is_string(one), found)
}

# Whether `preserve` is one value per sample: strings that are all genes are
# not, nor are numbers with names, which are weights.
is_target <- function(values, x) {
    if (is(values, "Rle"))
        values <- S4Vectors::decode(values)
    weights <- is.numeric(values) && !is.null(names(values)) &&
        !identical(names(values), colnames(x))
    if (is.list(values) || weights)
        return(FALSE)
    if (is.numeric(values) || is.logical(values))
        return(TRUE)
    (is.factor(values) || is.character(values)) && length(values) > 1L &&
        length(values) == ncol(x) && !all(values %in% rownames(x))
}

# The options with names of columns in place of vectors, and these columns,
# which the object does not have.
as_columns <- function(target, options, x) {
    given <- sample_vectors(options, x)
    key <- switch(
        target, select_genes = "glfs", classify = "glfs_class",
        paste0("glfs_", target)
    )
    stay <- names(given) %in% of_selections
    key <- c(options[["key_added"]], key)[1L]
    called <- paste0(ifelse(stay, key, "glfs"), "_", names(given),
        recycle0 = TRUE)
    samples <- stats::setNames(Map(function(values, name) switch(
        name, cell_weights = , preserve = sample_numbers(values, x, name),
        sample_labels(values, x, name)
    ), given, names(given)), called)
    of_limits <- names(given) == "groupby"
    options[names(given)[!of_limits]] <- called[!of_limits]
    if (any(of_limits))
        options[["limits"]][["groupby"]] <- called[of_limits]
    genes <- gene_vectors(options, x)
    options[sub("^glfs_", "", names(genes))] <- names(genes)
    for (name in c("limits", "platform"))
        if (is_record(options[[name]]))
            options[[name]] <- by_gene(options[[name]], x)
    list(options = options, samples = samples, stay = stay, genes = genes)
}

# Genes by one logical value each, as rowSubset() has them.
flags_as_genes <- function(options, x) {
    of_genes <- c("panel", "include", "exclude", "ignore", "genes", "drop")
    for (name in intersect(of_genes, names(options)))
        options[name] <- list(flagged(options[[name]], x))
    if (is_record(options[["panel"]]))
        options[["panel"]] <- lapply(options[["panel"]], flagged, x)
    options
}

flagged <- function(genes, x) {
    if (is.logical(genes) && length(genes) == nrow(x) && nrow(x) > 1L)
        row_names(x)[genes %in% TRUE]
    else genes
}

# Further names of the genes, one for each.
gene_vectors <- function(options, x) {
    found <- Filter(function(one) is.character(one) || is.factor(one),
        options[intersect(c("symbols", "ids"), names(options))])
    found <- lapply(found[lengths(found) != 1L], as.character)
    for (name in names(found))
        if (length(found[[name]]) != nrow(x))
            refuse(name, " has ", length(found[[name]]), " values for ",
                nrow(x), " genes: give one each.")
    stats::setNames(found, paste0("glfs_", names(found), recycle0 = TRUE))
}

# Values without names, one for each gene, by their names.
by_gene <- function(options, x) {
    for (name in names(options)) {
        values <- options[[name]]
        if (is.list(values) || !is.null(dim(values)) ||
            !is.null(names(values)) || length(values) != nrow(x) ||
            nrow(x) < 2L)
            next
        genes <- row_names(x)
        if (name %in% numbers_by_name && is.numeric(values))
            options[[name]] <- stats::setNames(values, genes)[!is.na(values)]
        else if (name == "genes")
            options[[name]] <- flagged(values, x)
        else if (name == "groups")
            options[[name]] <- split(genes, as.vector(values))
    }
    options
}

# One label per sample.
sample_labels <- function(labels, x, name) {
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
    values <- sample_values(labels, x, name)
    if (whole) values else factor(values)  # of numbers -1 is no label
}

# Whole numbers in a column could be labels; a vector of weights is none.
sample_numbers <- function(values, x, name) {
    numbers <- plain_vector(values)
    if (!is.numeric(numbers))
        return(sample_labels(values, x, name))
    total <- sum(numbers)
    divided <- name == "cell_weights" && is.finite(total) && total > 0 &&
        all(numbers == round(numbers))
    sample_values(numbers / if (divided) total else 1, x, name)
}

sample_values <- function(values, x, name) {
    if (length(values) != ncol(x))
        refuse(name, " has ", length(values), " value",
            if (length(values) != 1L) "s", " for ", ncol(x),
            " samples: give one each.")
    named <- names(values)
    if (!is.null(named) && !identical(named, colnames(x)) &&
        setequal(named, colnames(x)))
        refuse(name, " has names of the samples in another order: give ",
            name, "[colnames(x)].")
    unname(values)
}

with_columns <- function(parts, columns, item = 3L) {
    if (length(columns) == 0L)
        return(parts)
    extra <- plain_table(S4Vectors::DataFrame(columns, check.names = FALSE))
    table <- parts$items[[item]]
    there <- r_strings(table$names)
    stay <- !there %in% names(columns)
    table$columns <- c(table$columns[stay], extra$columns)
    table$names <- plain_strings(c(there[stay], names(columns)))
    parts$items[[item]] <- table
    parts
}

# Logical columns are labels as R writes them.
flags_as_labels <- function(parts) {
    table <- parts$items[[3L]]
    flags <- vapply(table$columns, is.logical, NA)
    table$columns[flags] <- lapply(table$columns[flags],
        function(values) plain_column(factor(values)))
    parts$items[[3L]] <- table
    parts
}

# Coordinates of the samples in space, which may be a matrix.
with_places <- function(parts, options, n) {
    places <- options[["spatial"]]
    if (length(dim(places)) == 2L) {
        places <- as.matrix(places)
        if (!is.numeric(places) || nrow(places) != n)
            refuse("spatial", " must be numbers with a row for each of the ", n,
                " samples, not ", paste(dim(places), collapse = " x "), " ",
                typeof(places), ".")
        reduced <- parts$items[[4L]]
        reduced$items <- c(reduced$items, list(plain_dense(unname(places))))
        reduced$names <- plain_strings(c(r_strings(reduced$names),
            "glfs_spatial"))
        parts$items[[4L]] <- reduced
        options[["spatial"]] <- "glfs_spatial"
    }
    list(parts = parts, options = options)
}

# Bioconductor's word for a reduced dimension.
with_dimred <- function(options, parts) {
    dimred <- options[["dimred"]]
    options["dimred"] <- NULL
    if (is.null(dimred))
        return(options)
    if (!is.null(options[["use_rep"]]))
        glfs_stop("dimred and use_rep both name a structure: give one of them.")
    if (length(dim(dimred)) == 2L)
        refuse(
            "dimred", " is a matrix: store it first, ",
            "reducedDim(x, \"mine\") <- coordinates, and name it."
        )
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

# One method a function, for objects of any class: read_object() and
# write_object() know what differs between classes, and refuse others. Packages
# may add methods for classes of their own.
set_method <- function(target, call = quote(run)) {
    name <- paste0("glfs_", target)
    method <- function() NULL
    formals(method) <- formals(name)
    body(method) <- if (identical(call, quote(run)))
        bquote(.(call)(.(target), x, given())) else bquote(.(call)(x, given()))
    setMethod(name, "ANY", method, where = topenv())
}

for (target in setdiff(generic_functions, "laprls")) set_method(target)
set_method("laprls", quote(fit))
