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
