# One method a class, with the arguments of the generic function: read_object()
# and write_object() know what differs between classes.
set_methods <- function(target, call = quote(run)) {
    name <- paste0("glfs_", target)
    method <- function() NULL
    formals(method) <- formals(name)
    body(method) <- if (identical(call, quote(run)))
        bquote(.(call)(.(target), x, given())) else bquote(.(call)(x, given()))
    # Seurat's class need not be there: its package is suggested.
    for (class in object_classes)
        suppressMessages(setMethod(name, class, method, where = topenv()))
}

for (target in setdiff(generic_functions, "laprls")) set_methods(target)
set_methods("laprls", quote(fit))
