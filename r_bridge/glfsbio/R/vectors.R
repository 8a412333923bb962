# Arguments that may be vectors, with one value for each sample or gene: Python
# gets them as columns, or as names of genes.

# Arguments that are a column of the samples, by its name or as a vector. Those
# of a selection stay with the object, for functions that repeat it.
of_selections <- c("block", "preserve", "cell_weights", "groupby")
vectors <- c(of_selections, "labels", "train", "domains", "library_key")

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
        train = sample_flags(values, x), sample_labels(values, x, name)
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
    of_genes <- c("panel", "include", "exclude", "ignore", "genes", "failed")
    for (name in intersect(of_genes, names(options)))
        options[name] <- list(flagged(options[[name]], x))
    if (is.list(options[["panels"]]))
        options[["panels"]] <- lapply(options[["panels"]], flagged, x)
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
        else if (name %in% c("families", "groups"))
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

sample_flags <- function(flags, x) {
    values <- plain_vector(flags)
    if (!is.logical(values))
        refuse("train", " must be logical values, not ", class(flags)[1L], ".")
    sample_values(values, x, "train")
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

# Logical columns are labels as R writes them, but for samples to learn from.
flags_as_labels <- function(parts, train) {
    table <- parts$items[[3L]]
    flags <- vapply(table$columns, is.logical, NA) &
        !r_strings(table$names) %in% train
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
