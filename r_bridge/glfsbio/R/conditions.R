# Errors of this package have class `glfs_error`; those of Python carry the
# names of the exception's classes as well, so that tryCatch() can pick one.
glfs_stop <- function(..., class = NULL, fields = list()) {
    condition <- structure(
        class = c(class, "glfs_error", "error", "condition"),
        c(list(message = paste0(...), call = NULL), fields)
    )
    stop(condition)
}

# What is wrong with an argument, which begins the message and is a field of the
# condition; refusals of Python have it, too, and their `kind`.
refuse <- function(argument, ...) {
    glfs_stop(argument, ..., fields = list(argument = argument))
}

raise_python <- function(answer) {
    if ("KeyboardInterrupt" %in% answer$classes)
        raise_interrupt()
    class <- setdiff(answer$classes, "BaseException")
    glfs_stop(
        answer$message,
        class = paste0("python.", class),
        fields = answer[intersect(c("argument", "kind", "traceback"),
            names(answer))]
    )
}

# As R does after Ctrl-C: handlers of "interrupt" first, then the top level. An
# R that Python has started has no top level; there it is an error.
raise_interrupt <- function() {
    signalCondition(structure(
        class = c("python.KeyboardInterrupt", "interrupt", "condition"),
        list(message = "Interrupted in Python.", call = NULL)
    ))
    if (embedded())
        glfs_stop("Interrupted in Python.", class = "python.KeyboardInterrupt")
    if (!interactive()) {
        message("Interrupted in Python.")
        quit(save = "no", status = 130L)
    }
    invokeRestart("abort")
}

# A message of which one in a session is enough.
said <- new.env(parent = emptyenv())

say_once <- function(...) {
    text <- paste0(...)
    if (is.null(said[[text]]))
        message(text)
    said[[text]] <- TRUE
}

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

check_string <- function(x, name) {
    if (!is_string(x))
        refuse(
            name, " must be one string, not ",
            if (is.character(x)) paste(length(x), "strings") else class(x)[1L],
            "."
        )
}

listed <- function(names) {
    if (length(names) == 0L)
        return("there are none")
    paste0(
        paste(utils::head(names, 8L), collapse = ", "),
        if (length(names) > 8L) ", ..."
    )
}
