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
        options$random_state <- sample.int(.Machine$integer.max, 1L)
    options
}

# A column that an object does not have is NULL, which would be no argument. An
# element of a list that is NULL is meant. What a wrapper passes on is an
# argument of its callers.
refuse_typos <- function(options, expressions, frame = parent.frame()) {
    callers <- sys.frames()
    place <- Position(function(one) identical(one, frame), callers)
    callers <- c(rev(callers[seq_len(place - 1L)]), globalenv())
    for (i in seq_along(options))
        if (is.null(options[[i]]) && reads_column(expressions[[i]], callers))
            refuse(names(options)[i], " = ", deparse1(expressions[[i]]),
                " is NULL, so that nothing was given: is the name right?")
}

# Whether an expression reads from what has columns, such as `x$typo`.
reads_column <- function(expression, callers) {
    if (!is.call(expression) ||
        !as.character(expression[[1L]])[1L] %in% c("$", "[[", "@"))
        return(FALSE)
    for (frame in callers) {
        from <- tryCatch(eval(expression[[2L]], frame),
            error = function(e) NULL)
        if (!is.null(from) && !is.function(from))
            break
    }
    has_samples(from) || is_table(from) || is(from, "AnnotatedDataFrame")
}

# Call a function of Python on an object, or on several of a list, and put into
# each what the function wrote.
run <- function(target, x, options) {
    refuse_unknown(target, options)
    several <- target == "select_genes" && is_record(x)
    if (several && length(x) == 0L)
        refuse("x", " is an empty list: give one object, or a list of several.")
    if (target == "structure" && !has_samples(x))
        refuse("x", " is a ", class(x)[1L], ", which has no place for a ",
            "structure: put it into a SummarizedExperiment.")
    sets <- if (several) x else list(x)
    for (one in if (several) sets)
        for (name in names(sample_vectors(options, one)))
            refuse(name, " must be the name of a column of the samples that ",
                "all objects have.")
    if (several && is.null(names(sets)))
        names(sets) <- seq_along(sets)
    check_names(sets, "x")
    asked <- lapply(sets, function(x) prepared(target, x, options))
    results <- call_python(target, sets = lapply(asked, `[[`, "parts"),
        options = asked[[1L]]$options, of = asked[[1L]]$parts$of)
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
            paste(takes, collapse = ", "), ".",
            if (name %in% names(formals(glfs_structure)) && "dimred" %in% takes)
                " Give it to glfs_structure(), and the key of that as dimred.")
    needed <- takes[vapply(defaults[takes], deparse1, "") == ""]
    for (name in setdiff(needed, names(options)))
        refuse(name, " is missing: ", function_name, "(x) needs it.")
}

# Functions that look at no panel, so that no result tells the assay.
of_cells <- c("select_genes", "structure", "classify", "laprls")

# What Python gets: the parts of an object, and the options.
prepared <- function(target, x, options) {
    if (nrow(x) == 0L)
        refuse("x", " has no genes.")
    vectors <- as_columns(target, flags_as_genes(options, x), x)
    options <- checked(vectors$options)
    words <- c("assay.type", "assay", "layer")
    place <- options[intersect(words, names(options))]
    options[words] <- NULL
    place$counts_layer <- unique(unlist(c(
        options["counts_layer"], limits_of(target, x, options)["counts_layer"]
    )))
    place <- Filter(Negate(is.null), place)
    if (inherits(x, "Seurat") && is.null(place$assay) && target %in% of_cells)
        place$assay <- SeuratObject::DefaultAssay(x)
    platform <- options[["platform"]]
    if (!is.null(platform) && !(target == "order_panel" && is_string(platform)))
        options[["platform"]] <- read_platform(platform, x, place)
    places <- options[["spatial"]]
    if (length(dim(places)) == 2L)
        options[["spatial"]] <- "glfs_spatial"
    parts <- do.call(read_object, c(list(x), place, list(
        named = texts(options), obs = vectors$samples, var = vectors$genes)))
    parts$obs <- flags_as_labels(parts$obs)
    if (length(dim(places)) == 2L)
        parts$reduced$glfs_spatial <- plain_places(places, ncol(x))
    list(parts = parts, options = named_list(options), columns = vectors,
        assay = place$assay)
}

# The limits that are given, or those of the selection that is meant, which hold
# again in whatever chooses other genes.
limits_of <- function(target, x, options) {
    again <- c("extend_panel", "explain_panel", "prove_panel", "order_panel",
        "write_order", "stability")
    key <- Find(Negate(is.null),
        list(options[["limits"]], options[["panel"]], options[["key"]], "glfs"))
    if (!is_string(key) || !target %in% again || !has_samples(x))
        return(options[["limits"]])
    record <- records_of(x, key, "x")[[key]]
    if (is_result(record)) record$params$limits
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
    result$records <- lapply(result$records, as_result)
    write_object(x, result, asked$assay)
}

# Whether there is a place for columns of the samples.
has_samples <- function(x)
    is(x, "SummarizedExperiment") || is(x, "ExpressionSet") || inherits(x,
        "Seurat")

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

# The options as Python takes them, or an error.
checked <- function(options) {
    for (name in intersect(c("panel", "catalogue"), names(options)))
        if (name == "panel" || !is.null(options[[name]]))
            options[[name]] <- check_panel(options[[name]], name)
    if (!is.null(options[["limits"]]))
        options[["limits"]] <- check_record(options[["limits"]], "limits")
    workers <- options[["BPPARAM"]]
    if (is(workers, "BiocParallelParam"))
        options[["BPPARAM"]] <- BiocParallel::bpnworkers(workers)
    else if (!is.null(workers))
        refuse("BPPARAM", " must be a parameter of BiocParallel, such as ",
            "BiocParallel::MulticoreParam(2).")
    for (name in intersect(c("genes", "nomenclature"), names(options)))
        if (is_table(options[[name]]))
            options[[name]] <- plain_table(options[[name]],
                own_names(options[[name]]))
    options
}

is_table <- function(x) is.data.frame(x) || is(x, "DataFrame")

# Names of genes, one string, a table of glfs_read_panel(), or several of these
# by name.
check_panel <- function(panel, name) {
    if (is_record(panel) && !is.null(names(panel)))
        return(Map(check_panel, panel, paste0(name, "$", names(panel))))
    if (is.null(panel) || is.numeric(panel) || is.logical(panel))
        refuse(name, " must be names of genes, such as rownames(x)[1:3], or ",
            "one string, not of class ", class(panel)[1L], ".")
    if (!is_table(panel))
        return(panel)
    if (!all(c("gene", "id") %in% names(panel)))
        refuse(name, " is a table without gene and id: give names of genes, ",
            "or a table of glfs_read_panel().")
    plain("panel", table = plain_table(panel))
}

# Row names that are not numbers that R gave.
own_names <- function(table)
    if (!is.data.frame(table) || .row_names_info(table) > 0L) rownames(table)

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
    vectors <- sample_vectors(options, x)
    arguments <- names(vectors)
    key <- c(options[["key_added"]], switch(target, select_genes = "glfs",
        classify = "glfs_class", paste0("glfs_", target)))[1L]
    stay <- arguments %in% of_selections
    columns <- paste0(ifelse(stay, key, "glfs"), "_", arguments,
        recycle0 = TRUE)
    samples <- stats::setNames(Map(sample_values, vectors, arguments,
        MoreArgs = list(x = x)), columns)
    of_limits <- arguments == "groupby"
    options[arguments[!of_limits]] <- columns[!of_limits]
    if (any(of_limits))
        options[["limits"]][["groupby"]] <- columns[of_limits]
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

# One value per sample: of numbers -1 is no label, and whole numbers in a column
# could be labels, where a vector of weights is none.
sample_values <- function(values, name, x) {
    kind <- class(values)[1L]
    values <- plain_vector(values)
    numbers <- is.numeric(values)
    whole <- numbers && all(values == round(values), na.rm = TRUE)
    may_be_numbers <- name %in% c("cell_weights", "preserve")
    if (is.null(values) || numbers && !whole && !may_be_numbers)
        refuse(name, " must be a factor, strings, whole numbers or logical ",
            "values, not ", kind, ".")
    if (length(values) != ncol(x))
        refuse(name, " has ", length(values), " value",
            if (length(values) != 1L) "s", " for ", ncol(x),
            " samples: give one each.")
    named <- names(values)
    if (!is.null(named) && !identical(named, colnames(x)) &&
        setequal(named, colnames(x)))
        refuse(name, " has names of the samples in another order: give ",
            name, "[colnames(x)].")
    values <- unname(values)
    if (!may_be_numbers || !numbers)
        return(if (numbers) values else factor(values))
    total <- if (name == "cell_weights" && whole) sum(values) else 1
    values / if (is.finite(total) && total > 0) total else 1
}

# Logical columns are labels as R writes them.
flags_as_labels <- function(table) {
    flags <- vapply(table$columns, is.logical, NA)
    table$columns[flags] <- lapply(table$columns[flags],
        function(values) plain_column(factor(values)))
    table
}

# Coordinates of the samples in space.
plain_places <- function(places, n) {
    places <- coordinates(places)
    if (is.null(places) || nrow(places) != n)
        refuse("spatial", " must be numbers with a row for each of the ", n,
            " samples.")
    plain_dense(unname(places))
}
