# Values for Python and from it, as plain vectors and lists with an element
# `kind`. The other half is glfs_bio/rbridge/values.py.

# What is made for Python already has this class.
plain <- function(kind, ...)
    structure(list(kind = kind, ...), class = "glfs_plain")

# Strings as one block of bytes, each ended by a zero.
plain_strings <- function(x) {
    x <- enc2utf8(as.vector(unclass(x)))
    missing <- is.na(x)
    # Of a file that was read without its encoding.
    foreign <- !missing & !validUTF8(x)
    x[foreign] <- iconv(x[foreign], "latin1", "UTF-8")
    plain(
        "strings",
        bytes = writeBin(x, raw()),
        missing = if (any(missing)) missing
    )
}

# A vector of any class as one of R's own types with its names: dates and times
# are texts, quantities with units numbers. NULL where it is no vector.
plain_vector <- function(x) {
    if (is(x, "Rle"))
        x <- S4Vectors::decode(x)
    if (is(x, "Factor"))
        x <- as.factor(x)
    if (inherits(x, "AsIs") && !isS4(x))
        class(x) <- setdiff(class(x), "AsIs")
    if (is.factor(x))
        return(if (!anyNA(levels(x))) x
        else factor(x, levels(x)[!is.na(levels(x))]))
    if (inherits(x, c("Date", "POSIXt", "yearmon", "yearqtr")))
        x <- format(x)
    if (inherits(x, "integer64"))
        x <- from_integer64(x)
    if (!(is.numeric(unclass(x)) || is.logical(x) || is.character(x)) ||
        length(dim(x)) > 2L || isTRUE(dim(x)[2L] != 1L))
        return(NULL)
    stats::setNames(as.vector(unclass(x)), names(x))
}

# Whole numbers that the package bit64 keeps in the bytes of doubles.
from_integer64 <- function(x) {
    bytes <- writeBin(as.vector(unclass(x)), raw(), endian = "little")
    halves <- readBin(bytes, integer(), 2L * length(x), endian = "little")
    halves <- matrix(as.double(halves), 2L)
    low <- halves[1L, ]
    low[is.na(low)] <- -2^31  # which is R's missing integer
    stats::setNames(halves[2L, ] * 2^32 + low %% 2^32, names(x))
}

plain_list <- function(items, names = NULL)
    plain("list", items = unname(items),
        names = if (!is.null(names)) plain_strings(names))

# An argument for a Python function: vectors of one element become scalars,
# unless it is one of `sequences`, and whole numbers integers. Of
# `numbers_by_name` a named vector holds a number of each name; `genes_by_name`
# are lists of genes.
plain_argument <- function(x, name = "") {
    if (is.null(x) || inherits(x, "glfs_plain"))
        return(x)
    if (is.list(x) && !is.object(x))
        return(plain_arguments_list(x, name))
    given <- class(x)[1L]
    dated <- inherits(x, c("Date", "POSIXt"))
    x <- plain_vector(x)
    if (is.null(x) || dated)
        refuse(
            name, " is a ", given, ": it must be NULL, numbers, strings, ",
            "logical values, or a list of these."
        )
    if (is.factor(x))
        x <- stats::setNames(as.character(x), names(x))
    if (anyNA(x))
        refuse(name, " has missing values: remove them.")
    if (is.double(x) && all(is.finite(x)) && all(x == round(x) & abs(x) < 2^31))
        storage.mode(x) <- "integer"
    labels <- names(x)
    x <- as.vector(x)
    if (name %in% numbers_by_name && is.numeric(x) && !is.null(labels))
        return(plain("named", names = plain_strings(labels), values = x))
    value <- if (is.character(x)) plain_strings(x) else x
    if (length(x) == 1L && !name %in% sequences)
        plain("scalar", value = value)
    else value
}

plain_arguments_list <- function(x, name) {
    items <- if (name %in% genes_by_name)
        lapply(x, function(genes) {
            # As a record has them.
            genes <- if (is.list(genes)) unlist(genes) else genes
            if (is.character(genes)) plain_strings(genes)
            else plain_argument(genes, name)
        })
    else if (is.null(names(x))) lapply(x, plain_argument, name = name)
    else Map(plain_argument, x, names(x))
    plain_list(items, names(x))
}

plain_arguments <- function(arguments) {
    labels <- names(arguments)
    if (length(arguments) > 0L && (is.null(labels) || !all(nzchar(labels))))
        glfs_stop("All further arguments must be given by name.")
    plain_list(
        Map(plain_argument, arguments, labels),
        if (is.null(labels)) character() else labels
    )
}

# A value from Python, where NaN is a missing number.
r_value <- function(x) {
    if (is.double(x))
        x[is.nan(x)] <- NA
    if (is.null(x) || is.atomic(x))
        return(x)
    switch(x$kind,
        strings = r_strings(x),
        logical = as.logical(x$values),
        factor = r_factor(x),
        dense = array(x$values, x$shape),
        sparse = methods::new(
            "dgCMatrix", p = x$p, i = x$i, x = x$x, Dim = as.integer(x$shape)
        ),
        list = r_list(x),
        table = r_table(x)
    )
}

r_strings <- function(x) {
    strings <- readBin(x$bytes, character(), sum(x$bytes == 0L))
    Encoding(strings) <- "UTF-8"
    if (!is.null(x$missing))
        strings[r_value(x$missing)] <- NA
    strings
}

r_factor <- function(x) {
    structure(
        x$codes,
        levels = r_value(x$levels),
        class = c(if (x$ordered) "ordered", "factor")
    )
}

r_list <- function(x) {
    values <- lapply(x$items, r_value)
    if (!is.null(x$names))
        names(values) <- r_value(x$names)
    values
}

r_table <- function(x) {
    columns <- lapply(x$columns, r_value)
    table <- S4Vectors::make_zero_col_DFrame(x$length)
    names <- r_value(x$names)
    for (j in seq_along(columns))
        table[[names[j]]] <- columns[[j]]
    rownames(table) <- r_value(x$rows)
    table
}

# Plain values for reticulate, with numbers as bytes; the other half is
# glfs_bio/rbridge/values.py. Its own conversion needs the NumPy that it was
# compiled for: version 1.28 fails with NumPy 2.

# A raw vector that R reads or writes in one go has less than 2^31 bytes.
block_bytes <- 2^30

for_reticulate <- function(x) {
    if (is.list(x))
        return(lapply(x, for_reticulate))
    if (is.logical(x))
        return(list(kind = "logical", values = for_reticulate(as.integer(x))))
    if (!is.numeric(x))
        return(x)
    block <- block_bytes / if (is.integer(x)) 4 else 8
    starts <- seq_len(ceiling(length(x) / block)) * block - block
    # Neither a class nor an attribute can be written.
    x <- as.vector(unclass(x))
    blocks <- lapply(starts, function(start) {
        part <- if (length(x) <= block) x
        else x[start + seq_len(min(block, length(x) - start))]
        # At once, so that the raw vectors of large matrices do not add up.
        reticulate::r_to_py(writeBin(part, raw()))
    })
    list(kind = "numbers", type = typeof(x), blocks = blocks)
}

from_reticulate <- function(x) {
    if (!is.list(x))
        return(x)
    if (!identical(x$kind, "numbers"))
        return(lapply(x, from_reticulate))
    size <- if (x$type == "integer") 4L else 8L
    parts <- lapply(x$blocks, function(block)
        readBin(block, x$type, length(block) / size))
    if (length(parts) == 1L) parts[[1L]] else c(vector(x$type), unlist(parts))
}
