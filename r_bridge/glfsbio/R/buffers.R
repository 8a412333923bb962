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
