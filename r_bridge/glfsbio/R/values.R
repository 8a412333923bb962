# Values for Python and from it. Plain are NULL, strings, raw vectors, numbers,
# and lists with an element `kind`: they travel as JSON, with numbers and texts
# as bytes beside it, since reticulate's own conversion fails with NumPy 2 in
# version 1.28. The other half is glfs_bio/rbridge/values.py.

# What is made for Python already has this class.
plain <- function(kind, ...)
    structure(list(kind = kind, ...), class = "glfs_plain")

# Strings as one block of bytes, each ended by a zero.
plain_strings <- function(x) {
    x <- enc2utf8(as.vector(unclass(x)))
    # Of a file that was read without its encoding.
    foreign <- !is.na(x) & !validUTF8(x)
    x[foreign] <- iconv(x[foreign], "latin1", "UTF-8")
    plain("strings", bytes = writeBin(x, raw()),
        missing = if (anyNA(x)) is.na(x))
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
    if (is.factor(x))
        return(factor(x, levels(x)[!is.na(levels(x))]))
    if (inherits(x, c("Date", "POSIXt", "yearmon", "yearqtr")))
        x <- format(x)
    is_vector <- is.atomic(x) && mode(x) %in% c("numeric", "logical", "character")
    if (is_vector && !inherits(x, "integer64") && length(dim(x)) < 3L &&
        !isTRUE(dim(x)[2L] != 1L))
        stats::setNames(as.vector(unclass(x)), names(x))
}

# With `named` what Python has as a dict, though it may be empty.
plain_list <- function(items, named = !is.null(names(items)))
    plain("list", items = unname(items),
        names = if (named) plain_strings(as.character(names(items))))

# An argument for a Python function: vectors of one element become scalars,
# unless they are sequences there, and whole numbers integers. Of
# `numbers_by_name` a named vector holds a number of each name; `genes_by_name`
# are lists of genes.
plain_argument <- function(x, name = "", is_sequence = name %in% sequences) {
    if (is.null(x) || inherits(x, "glfs_plain"))
        return(x)
    if (is_record(x)) {
        check_names(x, name)
        labels <- if (is.null(names(x))) rep(name, length(x)) else names(x)
        items <- Map(plain_argument, x, labels, labels %in% sequences |
            name %in% genes_by_name & vapply(x, is.character, NA))
        return(plain_list(stats::setNames(items, names(x)), !is.null(names(x))))
    }
    vector <- plain_vector(x)
    if (is.null(vector) || anyNA(vector))
        refuse(name, " is a ", class(x)[1L], if (anyNA(vector)) " with NA",
            ": give NULL, numbers, strings, logical values, or a list of these.")
    x <- vector
    if (is.double(x) && all(is.finite(x)) && all(x == round(x) & abs(x) < 2^31))
        storage.mode(x) <- "integer"
    if (name %in% numbers_by_name && is.numeric(x) && !is.null(names(x)))
        return(plain_list(x))
    x <- if (is_string(x)) path.expand(x) else as.vector(x)
    value <- if (is.character(x)) plain_strings(x) else x
    if (length(x) == 1L && !is_sequence) plain("scalar", value = value)
    else value
}

check_names <- function(x, name)
    if (anyDuplicated(names(x)) || any(names(x) %in% c("", NA)))
        refuse(name, " must have a name of its own for each element.")

# The JSON of a plain value, and the bytes that it names by number; each goes to
# Python at once, so that those of large matrices do not add up. A raw vector
# that R reads or writes in one go has less than 2^31 bytes.
packed <- function(value, hand_over = identity) {
    blocks <- list()
    number_of <- function(bytes) {
        blocks[[length(blocks) + 1L]] <<- hand_over(bytes)
        list(block = length(blocks) - 1L)
    }
    without_bytes <- function(x) {
        if (is.raw(x))
            return(number_of(x))
        if (is.list(x))
            return(lapply(x, without_bytes))
        if (!is.numeric(x) && !is.logical(x))
            return(x)
        x <- as.vector(unclass(x))
        size <- 2^30 / if (is.double(x)) 8 else 4
        starts <- seq_len(ceiling(length(x) / size)) * size - size
        list(kind = "numbers", type = typeof(x), blocks = lapply(starts,
            function(start) number_of(writeBin(if (length(x) <= size) x
                else x[start + seq_len(min(size, length(x) - start))], raw()))))
    }
    text <- jsonlite::toJSON(without_bytes(value), auto_unbox = TRUE,
        null = "null")
    list(as.character(text), blocks)
}

unpacked <- function(packed)
    r_value(jsonlite::parse_json(packed[[1L]]), packed[[2L]])

# A plain value as R has it; NaN is a missing number.
r_value <- function(x, blocks = NULL) {
    if (!is.list(x))
        return(x)
    if (identical(names(x), "block"))
        return(blocks[[x$block + 1L]])
    x <- lapply(x, r_value, blocks)
    switch(c(x$kind, "")[1L],
        numbers = {
            size <- if (x$type == "double") 8L else 4L
            numbers <- c(vector(x$type), unlist(lapply(x$blocks, function(block)
                readBin(block, x$type, length(block) / size))))
            replace(numbers, is.na(numbers), NA)
        },
        scalar = x$value,
        strings = {
            strings <- readBin(x$bytes, character(), sum(x$bytes == 0L))
            Encoding(strings) <- "UTF-8"
            replace(strings, x$missing, NA)
        },
        factor = structure(x$codes, levels = x$levels,
            class = c(if (x$ordered) "ordered", "factor")),
        dense = array(x$values, x$shape),
        sparse = methods::new("dgCMatrix", p = x$p, i = x$i, x = x$x,
            Dim = as.integer(x$shape)),
        list = stats::setNames(as.list(x$items), x$names),
        table = {
            table <- empty(x$length)
            table[x$names] <- x$columns
            rownames(table) <- x$rows
            table
        }, x)
}
