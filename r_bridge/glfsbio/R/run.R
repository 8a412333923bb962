# The arguments of the function that calls this which are there, by name; the
# defaults of all others are Python's.
call_arguments <- function(frame = parent.frame()) {
    ask <- function(what, name) eval(call(what, as.name(name)), frame)
    names <- Filter(function(name) !ask("missing", name), setdiff(ls(frame), "x"))
    options <- c(mget(names, envir = frame), eval(quote(list(...)), frame))
    if (sum(nzchar(names(options))) < length(options))
        glfs_stop("All further arguments must be given by name.")
    refuse_typos(options, c(lapply(names, ask, what = "substitute"),
        as.list(eval(quote(substitute(list(...))), frame))[-1L]), frame)
    if ("random_state" %in% ls(frame) && is.null(frame$random_state))
        options$random_state <- drawn_seed()
    options
}

drawn_seed <- function() sample.int(.Machine$integer.max, 1L)

# A column that an object does not have is NULL, which would be no argument. An
# element of a list that is NULL is meant. What a wrapper passes on is an
# argument of its callers.
refuse_typos <- function(options, expressions, frame = parent.frame()) {
    frames <- sys.frames()
    place <- Position(function(one) identical(one, frame), frames)
    callers <- c(rev(frames[seq_len(place - 1L)]), globalenv())
    for (i in seq_along(options))
        if (is.null(options[[i]]) && reads_column(expressions[[i]], callers))
            refuse(names(options)[i], " = ", deparse1(expressions[[i]]),
                " is NULL, so that nothing was given: is the name right?")
}

# Whether an expression reads from what has columns, such as `x$typo`.
reads_column <- function(expression, callers) {
    if (!is.call(expression) || !deparse1(expression[[1L]]) %in% c("$", "[["))
        return(FALSE)
    read <- function(frame) tryCatch(eval(expression[[2L]], frame),
        error = function(e) NULL)
    from <- Find(function(value) !is.null(value) && !is.function(value),
        lapply(callers, read))
    has_samples(from) || is_table(from)
}

# Call a function of Python on an object, or on several of a list, and put into
# each what the function wrote.
run <- function(target, x, options) {
    refuse_unknown(target, options)
    several <- target == "select_genes" && is_record(x)
    if (several && length(x) == 0L)
        refuse("x", " is an empty list: give one object, or several.")
    if (target == "structure" && !has_samples(x))
        refuse("x", " is a ", class(x)[1L], ", which has no place for a ",
            "structure: put it into a SummarizedExperiment.")
    sets <- if (several) x else list(x)
    for (name in if (several) names(sample_vectors(options, x[[1L]])))
        refuse(name, " must be the name of a column that all objects have.")
    if (several && is.null(names(sets)))
        names(sets) <- seq_along(sets)
    check_names(sets, "x")
    asked <- lapply(sets, function(x) prepared(target, x, options))
    results <- call_python(target, sets = lapply(asked, `[[`, "parts"),
        options = asked[[1L]]$options, of = asked[[1L]]$of)
    written <- Map(put_back, sets, results, asked)
    if (several) written else written[[1L]]
}

# Names that are no arguments of a function, or fields of a record; and what it
# cannot do without.
refuse_unknown <- function(target, options) {
    function_name <- paste0("glfs_", target)
    defaults <- formals(get(function_name))
    if (target == "stability") # which takes those of the selection, too
        defaults <- c(defaults, formals(glfs_select_genes))
    takes <- setdiff(names(defaults), c("x", "..."))
    for (name in setdiff(names(options), takes))
        refuse(name, " is no argument of ", function_name, "(): it takes ",
            paste(takes, collapse = ", "), ".")
    needed <- names(Filter(is.name, defaults[takes]))
    for (name in setdiff(needed, names(options)))
        refuse(name, " is missing: ", function_name, "(x) needs it.")
}

# What Python gets, the parts of an object and the options; and the columns that
# the object does not have.
prepared <- function(target, x, options) {
    if (length(dim(x)) != 2L)
        contents_of(x) # which refuses it
    if (nrow(x) == 0L)
        refuse("x", " has no genes.")
    columns <- as_columns(target, checked(options, x), x)
    options <- columns$options
    words <- c("assay.type", "assay", "layer")
    place <- options[intersect(words, names(options))]
    # In functions that look at no panel no result tells the assay.
    if (inherits(x, "Seurat") && is.null(place$assay) &&
        target %in% c("select_genes", "structure", "classify"))
        place$assay <- SeuratObject::DefaultAssay(x)
    platform <- options[["platform"]]
    if (!is.null(platform) && !is_string(platform))
        options[["platform"]] <- read_platform(platform, x, place)
    options <- options[setdiff(names(options), words)]
    parts <- read_object(x, place,
        counts_layer = unique(c(options[["counts_layer"]],
            options[["limits"]][["counts_layer"]])),
        named = unlist(options[c("neighbors_key", "spatial")]),
        obs = columns$samples, var = columns$genes)
    # Logical columns are labels as R writes them.
    parts$obs$columns <- lapply(parts$obs$columns, function(values)
        if (is.logical(values)) plain_column(factor(values)) else values)
    if (!is.null(columns$places))
        parts$reduced$glfs_spatial <- plain_dense(columns$places)
    list(parts = as_cells(parts), columns = columns, assay = place$assay,
        options = plain_list(Map(plain_argument, options, names(options)), TRUE),
        of = parts$of)
}

put_back <- function(x, result, asked) {
    for (name in grep("_rank$", names(result$var), value = TRUE))
        result$var[[name]] <- as.integer(result$var[[name]])
    # So that the record of a selection names columns that are there.
    if (has_samples(x)) {
        stay <- asked$columns$samples[asked$columns$stay]
        result$obs[names(stay)] <- stay
        result$var[names(asked$columns$genes)] <-
            lapply(asked$columns$genes, `[`, result$rows)
    }
    result$records <- lapply(result$records, as_result)
    write_object(x, result, asked$assay)
}

# A record of Python, whose arrays have no names.
as_result <- function(record) {
    if (is.matrix(record$preserved_in_batches))
        colnames(record$preserved_in_batches) <- record$batches
    if (is.matrix(record$coef))
        dimnames(record$coef) <- list(record$genes,
            if (ncol(record$coef) == length(record$classes)) record$classes)
    if (!is.null(record$support))
        dimnames(record$support) <- list(record$table$gene, record$labels)
    kept <- record$kept
    record$kept <- NULL
    methods::new("GLFSResult", record, names = names(record), kept = kept)
}

# The options as Python takes them, but for vectors, or an error.
checked <- function(options, x) {
    for (name in intersect(c("limits", "platform"), names(options)))
        if (!is.null(options[[name]]) && !is_string(options[[name]]))
            options[[name]] <- check_record(options[[name]], name)
    options <- Map(by_gene, options, names(options), MoreArgs = list(x = x))
    for (name in intersect(c("panel", "catalogue"), names(options)))
        if (name == "panel" || !is.null(options[[name]]))
            options[[name]] <- check_panel(options[[name]], name)
    if (is(options[["BPPARAM"]], "BiocParallelParam"))
        options[["BPPARAM"]] <- BiocParallel::bpnworkers(options[["BPPARAM"]])
    if (is_table(options[["genes"]]))
        options[["genes"]] <- plain_table(options[["genes"]],
            own_names(options[["genes"]]))
    options
}

# Names of genes, one string, a table of glfs_read_panel(), or several of these
# by name.
check_panel <- function(panel, name) {
    if (is_record(panel) && !is.null(names(panel)))
        return(Map(check_panel, panel, paste0(name, "$", names(panel))))
    if (!is_table(panel) && !mode(panel) %in% c("NULL", "numeric", "logical"))
        return(panel)
    if (!all(c("gene", "id") %in% names(panel)))
        refuse(name, " is a ", class(panel)[1L], ": it must be names of genes, ",
            "one string, or a table of glfs_read_panel().")
    plain("panel", table = plain_table(panel))
}

# Row names that are not numbers that R gave.
own_names <- function(table)
    if (!is.data.frame(table) || .row_names_info(table) > 0L) rownames(table)

# One value for each gene as Python has it: flags, as rowSubset() has them, are
# names of genes, and in limits and platforms numbers are by gene, and groups
# lists.
by_gene <- function(value, name, x, inside = FALSE) {
    if (is_record(value) && length(value) > 0L) {
        inside <- name %in% c("limits", "platform")
        names <- if (inside) names(value) else name
        return(Map(by_gene, value, names, list(x), inside))
    }
    genes <- row_names(x)
    if (length(value) != nrow(x) || nrow(x) < 2L || !is.null(dim(value)) ||
        !is.null(names(value)))
        value
    else if (is.logical(value) && name %in% of_genes)
        genes[value %in% TRUE]
    else if (inside && is.numeric(value) && name %in% numbers_by_name)
        stats::setNames(value, genes)[!is.na(value)]
    else if (inside && name == "groups" && is.atomic(value))
        split(genes, as.vector(value))
    else value
}

of_genes <- c("panel", "include", "exclude", "ignore", "genes", "drop")

# Arguments that are a column of the samples, by its name or as a vector. Those
# of a selection stay with the object, for functions that repeat it.
of_selections <- c("block", "preserve", "cell_weights", "groupby")
of_samples <- c(of_selections, "labels", "domains", "library_key")

# Of the options those that are vectors, one value for each sample.
sample_vectors <- function(options, x) {
    vectors <- options[intersect(of_samples, names(options))]
    if (is_record(options[["limits"]]))
        vectors$groupby <- options[["limits"]][["groupby"]]
    if (!is_target(vectors[["preserve"]], x))
        vectors["preserve"] <- NULL
    Filter(function(values) !is.null(values) && !is_string(values), vectors)
}

# Whether `preserve` is one value per sample: strings that are all genes are
# not, nor are numbers with names, which are weights.
is_target <- function(values, x) {
    values <- plain_vector(values)
    if (is.numeric(values))
        return(is.null(names(values)) || identical(names(values), colnames(x)))
    is.logical(values) || length(values) > 1L && length(values) == ncol(x) &&
        !all(values %in% rownames(x))
}

# The options with names of columns in place of vectors, and these columns.
as_columns <- function(target, options, x) {
    vectors <- sample_vectors(options, x)
    key <- c(options[["key_added"]], switch(target, select_genes = "glfs",
        classify = "glfs_class", paste0("glfs_", target)))[1L]
    stay <- names(vectors) %in% of_selections
    columns <- paste0(ifelse(stay, key, "glfs"), "_", names(vectors),
        recycle0 = TRUE)
    samples <- Map(sample_values, vectors, names(vectors), list(x))
    options[names(vectors)] <- columns
    if (!is.null(vectors$groupby)) {
        options[["limits"]][["groupby"]] <- options[["groupby"]]
        options[["groupby"]] <- NULL
    }
    genes <- lapply(Filter(function(names) length(names) > 1L,
        options[intersect(c("symbols", "ids"), names(options))]), as.character)
    for (name in names(genes))
        if (length(genes[[name]]) != nrow(x))
            refuse(name, " must have one value for each gene, ", nrow(x), ".")
    of_genes <- paste0("glfs_", names(genes), recycle0 = TRUE)
    options[names(genes)] <- of_genes
    places <- options[["spatial"]]
    if (length(dim(places)) == 2L) {
        options[["spatial"]] <- "glfs_spatial"
        places <- coordinates(places)
        if (is.null(places) || nrow(places) != ncol(x))
            refuse("spatial", " must be numbers with a row for each sample.")
    } else places <- NULL
    list(options = options, samples = stats::setNames(samples, columns),
        stay = stay, genes = stats::setNames(genes, of_genes), places = places)
}

# One value per sample: of numbers -1 is no label, and whole numbers in a column
# could be labels, where a vector of weights is none.
sample_values <- function(values, name, x) {
    kind <- class(values)[1L]
    values <- plain_vector(values)
    whole <- is.numeric(values) && all(values == round(values), na.rm = TRUE)
    may_be_numbers <- name %in% c("cell_weights", "preserve")
    if (is.null(values) || is.numeric(values) && !whole && !may_be_numbers)
        refuse(name, " must be a factor, strings, whole numbers or logical ",
            "values, not ", kind, ".")
    if (length(values) != ncol(x))
        refuse(name, " must have one value for each sample, ", ncol(x), ".")
    if (!identical(names(values), colnames(x)) &&
        setequal(names(values), colnames(x)))
        refuse(name, " has names in another order: take ", name, "[colnames(x)].")
    values <- unname(values)
    total <- if (name == "cell_weights" && whole) sum(values) else 1
    if (!is.numeric(values)) factor(values)
    else if (may_be_numbers && is.finite(total) && total > 0) values / total
    else values
}
