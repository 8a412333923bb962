# Filled by one of the next two: the function that calls Python.
session <- new.env(parent = emptyenv())

# By the bridge of a Python that has started this R.
attach_rpy2 <- function(answer) {
    session$call <- function(target, arguments, of)
        answer(target, packed(arguments), of)
    invisible(NULL)
}

attach_reticulate <- function() {
    reticulate::py_run_string(import_installed, local = TRUE)
    calls <- reticulate::import("glfs_bio.rbridge.calls", convert = FALSE)
    session$call <- function(target, arguments, of) {
        sent <- packed(arguments, reticulate::r_to_py)
        reticulate::py_to_r(calls$answer(target, sent[[1L]], sent[[2L]], of))
    }
}

# Whether Python has started this R, by rpy2's mark.
embedded <- function() grepl(paste0("current_pid=", Sys.getpid(), ":"),
    Sys.getenv("PYTHON_SESSION_INITIALIZED"), fixed = TRUE)

#' Connect R with a Python that has glfs_bio
#'
#' Not needed before other functions: the first call of one of them connects. It
#' says which Python is used, or chooses one. A process has one Python: to change
#' it, restart R. Where another package has started Python already, as
#' zellkonverter may do, that Python is used if it has glfs_bio; if not, the error
#' tells the line that installs it there. In an R that Python has started through
#' rpy2 (`%%R` cells), call `glfs_bio.rbridge.register()` there instead.
#'
#' Variables of other Pythons, such as `PYTHONPATH`, reach a Python that you
#' name, and not the environment of [glfs_install()].
#'
#' @param python Folder of a virtual or conda environment, or a Python
#'   executable. NULL: the first that is set of `getOption("glfsbio.python")`
#'   and the environment variable `GLFSBIO_PYTHON`; else the environment of
#'   [glfs_install()]. Until that is made, the first of
#'   `RETICULATE_PYTHON`, `VIRTUAL_ENV`, `CONDA_PREFIX` and `python3` of the
#'   search path that has glfs_bio.
#' @param quiet Whether to say nothing when all is well.
#' @return Invisibly, a list: `python` (the executable), `python_version`, and
#'   the versions `glfs_bio` and `anndata`.
#' @examples
#' about <- glfs_setup()
#' about$glfs_bio
#' @export
glfs_setup <- function(python = NULL, quiet = FALSE) {
    connect(python)
    about <- call_python("about")
    session$python <- c(session$python, about$python)[1L]
    about$python <- session$python
    if (!quiet)
        message("glfs_bio ", about$glfs_bio, " (anndata ", about$anndata,
            ") in Python ", about$python_version, ", ", about$python)
    invisible(about)
}

connect <- function(python = NULL) {
    if (is.null(session$call) && embedded())
        glfs_stop("Python has started this R: run 'import ",
            "glfs_bio.rbridge; glfs_bio.rbridge.register()' there.")
    if (is.null(session$call))
        start_python(python)
    else if (!is.null(python) && !embedded())
        check_same(find_python(python))
}

# The Python that is named, or else the environment of this package; before that
# is made what is set for other purposes, if it has glfs_bio.
choose_python <- function(python = NULL) {
    named <- Filter(nzchar, c(python = python,
        "getOption(\"glfsbio.python\")" = getOption("glfsbio.python"),
        Sys.getenv("GLFSBIO_PYTHON", names = TRUE)))
    if (length(named) > 0L)
        return(find_python(named[[1L]], names(named)[1L]))
    if (dir.exists(environment_folder()))
        return(find_python(environment_folder()))
    variables <- c("RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX")
    for (place in Filter(nzchar, c(Sys.getenv(variables), Sys.which("python3")))) {
        python <- tryCatch(find_python(place), glfs_error = function(e) NULL)
        if (!is.null(python) && is.null(why_not(python)))
            return(python)
    }
    find_python(provided_environment())
}

find_python <- function(python, source = "python") {
    check_string(python, source)
    python <- path.expand(python)
    inside <- if (.Platform$OS.type == "windows")
        c("python.exe", "Scripts/python.exe") else c("bin/python", "bin/python3")
    files <- if (dir.exists(python)) file.path(python, inside) else python
    file <- Find(file.exists, files)
    if (is.null(file))
        refuse(source, " = \"", python, "\" is neither a Python executable nor a ",
            "folder with ", inside[1L], ".", made_again(python, paste0(
                " Create it with: python3 -m venv ", python)))
    # Not normalizePath(): a virtual environment is known by its link.
    file <- file.path(normalizePath(dirname(file)), basename(file))
    if (is.na(iconv(file))) # reticulate would fail without a reason
        glfs_stop("R's locale cannot read the path ", file, ": start R with ",
            "LC_ALL=C.UTF-8, or have Python elsewhere, by R_USER_CACHE_DIR.")
    file
}

# What a command prints, in a process of its own: R's library path would give
# Python the wrong libpython.
run_command <- function(command, arguments) tryCatch(
    withr::with_envvar(c(LD_LIBRARY_PATH = NA), suppressWarnings(
        system2(command, shQuote(arguments), stdout = TRUE, stderr = TRUE))),
    error = function(e) structure(conditionMessage(e), status = 127L))

# What a Python prints that does not run, or lacks the package; else NULL. Not in
# this R, where it would stay, nor from the working directory.
why_not <- function(python) {
    output <- with_python(python, run_command(python, c("-c", paste(
        "import sys; from importlib.util import find_spec;",
        "sys.path = [p for p in sys.path if p];",
        "sys.exit(None if find_spec('glfs_bio') else 'It lacks glfs_bio.')"))))
    if (!is.null(attr(output, "status")))
        paste(output, collapse = "\n")
}

check_package <- function(python, runs = FALSE) {
    why <- why_not(python)
    if (!is.null(why))
        glfs_stop(python, " cannot be used: ", why, if (runs) paste(" Another",
            "package has started it in this R session, which has one Python:",
            "restart R and call glfs_setup() before the other package."),
            made_again(python, paste0(" Name another Python with glfs_setup(), ",
                "or none: glfs_install() makes an environment. Or install it ",
                "there:\n  '", python, "' -m pip install '", carried("source"),
                "[xlsx]'")))
}

# The remedy for an environment that this package made, or for another Python.
made_again <- function(python, other) if (in_cache(python))
    " glfs_install(renew = TRUE) makes it again." else other

start_python <- function(python) {
    runs <- reticulate::py_available()
    if (runs)
        session$python <- reticulate::py_config()$python
    if (runs && !is.null(python))
        check_same(find_python(python))
    python <- if (runs) session$python else choose_python(python)
    check_package(python, runs)
    # Rather than use_python(), after which reticulate looks for others too.
    tryCatch(
        with_python(python, withr::with_envvar(
            c(RETICULATE_PYTHON = python), attach_reticulate())),
        error = function(e) glfs_stop(
            python, " cannot be used from this R: ", conditionMessage(e),
            made_again(python, paste(" Name another Python with glfs_setup(),",
                "or update reticulate.")))
    )
    session$python <- python
}

# Whether it is one that this package made.
in_cache <- function(python) !is.null(python) && dir.exists(cache()) &&
    startsWith(normalizePath(dirname(python), mustWork = FALSE),
        normalizePath(cache()))

# Evaluate code; a Python of the cache does not see settings of others.
with_python <- function(python, code)
    if (in_cache(python)) with_settings(code) else code

# reticulate looks into the working directory first, where any file may be.
import_installed <- "
import sys
from importlib import import_module
paths = sys.path[:]
sys.path[:] = [path for path in paths if path not in ('', '.')]
try:
    import_module('glfs_bio.rbridge')
finally:
    sys.path[:] = paths
"

check_same <- function(python) {
    if (normalizePath(python) != normalizePath(session$python) ||
        dirname(python) != dirname(session$python))
        glfs_stop("This R session uses ", session$python, " already, and a ",
            "process has one Python: restart R and call glfs_setup(\"", python,
            "\") first.")
}

# Every call goes through here, with the class whose words messages have. An
# exception in Python becomes an R condition.
call_python <- function(target, ..., of = "SummarizedExperiment") {
    on.exit(forget_parts())
    connect()
    arguments <- plain_list(Map(plain_argument, list(...), ...names()), TRUE)
    answer <- with_python(session$python,
        unpacked(session$call(target, arguments, of)))
    for (text in answer$messages)
        message(text)
    for (text in answer$warnings)
        warning(structure(list(message = text, call = NULL),
            class = c("python.UserWarning", "warning", "condition")))
    if (!answer$ok)
        raise_python(answer)
    answer$value
}

# Errors of this package have class `glfs_error`; those of Python carry the
# names of the exception's classes as well, so that tryCatch() can pick one.
glfs_stop <- function(..., class = NULL, fields = list())
    stop(structure(class = c(class, "glfs_error", "error", "condition"),
        c(list(message = paste0(...), call = NULL), fields)))

# What is wrong with an argument, which begins the message and is a field of the
# condition; refusals of Python have it, too, and their `kind`.
refuse <- function(argument, ...)
    glfs_stop(argument, ..., fields = list(argument = argument))

raise_python <- function(answer) {
    if ("KeyboardInterrupt" %in% answer$classes)
        raise_interrupt()
    fields <- c("argument", "kind", "traceback")
    glfs_stop(answer$message, fields = answer[intersect(fields, names(answer))],
        class = paste0("python.", setdiff(answer$classes, "BaseException")))
}

# As R does after Ctrl-C: handlers of "interrupt" first, then the top level. An
# R that Python has started has no top level; there it is an error.
raise_interrupt <- function() {
    text <- "Interrupted in Python."
    class <- "python.KeyboardInterrupt"
    signalCondition(structure(class = c(class, "interrupt", "condition"),
        list(message = text, call = NULL)))
    if (embedded())
        glfs_stop(text, class = class)
    if (interactive())
        invokeRestart("abort")
    message(text)
    quit(save = "no", status = 130L)
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

check_string <- function(x, name)
    if (!is_string(x))
        refuse(name, " must be one string, not ", if (is.character(x))
            paste(length(x), "strings") else class(x)[1L], ".")

listed <- function(names) {
    if (length(names) == 0L)
        return("there are none")
    paste(c(utils::head(names, 8L), if (length(names) > 8L) "..."),
        collapse = ", ")
}
