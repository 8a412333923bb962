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
# are texts, several texts in one place one, quantities with units numbers. NULL
# where it is no vector.
plain_vector <- function(x) {
    if (is(x, "Rle"))
        x <- S4Vectors::decode(x)
    if (is(x, "Factor"))
        x <- as.factor(x)
    if (is(x, "CharacterList"))
        x <- S4Vectors::unstrsplit(x, "|")
    if (inherits(x, "AsIs") && !isS4(x))
        class(x) <- setdiff(class(x), "AsIs")
    if (is.factor(x))
        return(factor(x, levels(x)[!is.na(levels(x))]))
    if (inherits(x, c("Date", "POSIXt", "yearmon", "yearqtr")))
        x <- format(x)
    is_vector <- is.numeric(unclass(x)) || is.logical(x) || is.character(x)
    if (inherits(x, "integer64") || !is_vector || length(dim(x)) > 2L ||
        isTRUE(dim(x)[2L] != 1L))
        return(NULL)
    stats::setNames(as.vector(unclass(x)), names(x))
}

plain_list <- function(items)
    plain("list", items = unname(items),
        names = if (!is.null(names(items))) plain_strings(names(items)))

# What Python has as a dict, though it may be empty.
named_list <- function(items)
    stats::setNames(items, as.character(names(items)))

plain_named <- function(items) plain_list(named_list(items))

# An argument for a Python function: vectors of one element become scalars,
# unless it is one of `sequences`, and whole numbers integers. Of
# `numbers_by_name` a named vector holds a number of each name; `genes_by_name`
# are lists of genes.
plain_argument <- function(x, name = "") {
    if (is.null(x) || inherits(x, "glfs_plain"))
        return(x)
    if (inherits(x, "glfs_cells"))
        return(plain("cells", parts = plain_argument(unclass(x))))
    if (is_record(x)) {
        if (name %in% genes_by_name)
            x <- lapply(x, plain_genes, name)
        check_names(x, name)
        labels <- if (is.null(names(x))) rep(name, length(x)) else names(x)
        return(plain_list(stats::setNames(Map(plain_argument, x, labels),
            names(x))))
    }
    given <- class(x)[1L]
    dated <- inherits(x, c("Date", "POSIXt"))
    x <- plain_vector(x)
    if (is.null(x) || dated)
        refuse(name, " is a ", given, ": it must be NULL, numbers, strings, ",
            "logical values, or a list of these.")
    if (anyNA(x))
        refuse(name, " has missing values: remove them.")
    if (is.double(x) && all(is.finite(x)) && all(x == round(x) & abs(x) < 2^31))
        storage.mode(x) <- "integer"
    labels <- names(x)
    x <- if (is_string(x)) path.expand(x) else as.vector(x)
    if (name %in% numbers_by_name && is.numeric(x) && !is.null(labels))
        return(plain("list", items = x, names = plain_strings(labels)))
    value <- if (is.character(x)) plain_strings(x) else x
    if (length(x) == 1L && !name %in% sequences)
        plain("scalar", value = value)
    else value
}

check_names <- function(x, name)
    if (!is.null(names(x)) && (anyDuplicated(names(x)) ||
        !all(nzchar(names(x), keepNA = TRUE) %in% TRUE)))
        refuse(name, " must have a name of its own for each element.")

# As a record has them, too.
plain_genes <- function(genes, name) {
    genes <- if (is.list(genes)) unlist(genes) else genes
    if (is.character(genes)) plain_strings(genes)
    else plain_argument(genes, name)
}

# A value from Python; its NaN is a missing number.
r_value <- function(x) {
    if (!is.list(x))
        return(x)
    x <- lapply(x, r_value)
    switch(c(x$kind, "")[1L],
        numbers = {
            size <- if (x$type == "double") 8L else 4L
            parts <- lapply(x$blocks, function(block)
                readBin(block, x$type, length(block) / size))
            numbers <- if (length(parts) == 1L) parts[[1L]]
            else c(vector(x$type), unlist(parts))
            if (anyNA(numbers)) replace(numbers, is.na(numbers), NA) else numbers
        },
        scalar = x$value,
        strings = r_strings(x$bytes, x$missing),
        factor = structure(x$codes, levels = x$levels,
            class = c(if (x$ordered) "ordered", "factor")),
        dense = array(x$values, x$shape),
        sparse = methods::new("dgCMatrix", p = x$p, i = x$i, x = x$x,
            Dim = as.integer(x$shape)),
        list = stats::setNames(as.list(x$items), x$names),
        table = {
            table <- S4Vectors::make_zero_col_DFrame(x$length)
            table[x$names] <- x$columns
            rownames(table) <- x$rows
            table
        }, x)
}

r_strings <- function(bytes, missing = NULL) {
    strings <- readBin(bytes, character(), sum(bytes == 0L))
    Encoding(strings) <- "UTF-8"
    if (!is.null(missing))
        strings[missing] <- NA
    strings
}

# Plain values for Python, with numbers as bytes: reticulate's own conversion
# needs the NumPy that it was compiled for, and version 1.28 fails with NumPy 2.

# A raw vector that R reads or writes in one go has less than 2^31 bytes.
block_bytes <- 2^30

for_python <- function(x, hand_over) {
    if (is.list(x))
        return(lapply(x, for_python, hand_over))
    if (!is.numeric(x) && !is.logical(x))
        return(x)
    x <- as.vector(unclass(x)) # neither a class nor an attribute can be written
    block <- block_bytes / if (is.double(x)) 8 else 4
    starts <- seq_len(ceiling(length(x) / block)) * block - block
    blocks <- lapply(starts, function(start) {
        part <- if (length(x) <= block) x
        else x[start + seq_len(min(block, length(x) - start))]
        # At once, so that the raw vectors of large matrices do not add up.
        hand_over(writeBin(part, raw()))
    })
    list(kind = "numbers", type = typeof(x), blocks = blocks)
}
