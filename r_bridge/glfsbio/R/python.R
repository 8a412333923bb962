# Filled by one of the next two: the function that calls Python. And what was
# said once.
session <- new.env(parent = emptyenv())

# By the bridge of a Python that has started this R.
attach_rpy2 <- function(answer) {
    session$call <- function(target, arguments, of)
        answer(target, packed(arguments), of)
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
#' Not needed before other functions: the first call of one of them connects. A
#' process has one Python: to change it, restart R. Where another package has
#' started Python already, that is used if it has glfs_bio; if not, the error
#' tells the line that installs it there.
#'
#' @param python Folder of a virtual or conda environment, or a Python
#'   executable. NULL: the first that is set of `getOption("glfsbio.python")`
#'   and the environment variable `GLFSBIO_PYTHON`; else the environment of
#'   [glfs_install()].
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
    about$python <- session$python <- session$python %or% about$python
    if (!quiet)
        message("glfs_bio ", about$glfs_bio, " (anndata ", about$anndata,
            ") in Python ", about$python_version, ", ", about$python)
    invisible(about)
}

connect <- function(python = NULL) {
    if (is.null(session$call) && embedded())
        glfs_stop("Python has started this R: run 'import ",
            "glfs_bio.rbridge; glfs_bio.rbridge.register()' there.")
    if (is.null(session$call) && reticulate::py_available())
        session$python <- reticulate::py_config()$python
    if (!is.null(python) && !is.null(session$python) && !embedded())
        check_same(find_python(python))
    if (is.null(session$call))
        start_python(python)
}

# The Python that is named, or else the environment of this package.
choose_python <- function(python = NULL) {
    named <- Filter(nzchar, c(python = python,
        "getOption(\"glfsbio.python\")" = getOption("glfsbio.python"),
        Sys.getenv("GLFSBIO_PYTHON", names = TRUE)))
    if (length(named) > 0L) find_python(named[[1L]], names(named)[1L])
    else find_python(provided_environment())
}

find_python <- function(python, source = "python") {
    check_string(python, source)
    python <- path.expand(python)
    inside <- if (.Platform$OS.type == "windows")
        c("python.exe", "Scripts/python.exe") else c("bin/python", "bin/python3")
    files <- if (dir.exists(python)) file.path(python, inside) else python
    file <- Find(file.exists, files)
    if (is.null(file))
        refuse(source, " = \"", python, "\" is neither a Python executable nor ",
            "a folder with ", inside[1L], ".", made_again(python, ""))
    # Not normalizePath(): a virtual environment is known by its link.
    check_path(file.path(normalizePath(dirname(file)), basename(file)))
}

# Without it R and reticulate would fail, and give no reason.
check_path <- function(path) {
    if (is.na(iconv(path)))
        glfs_stop("R's locale cannot read the path ", path, ": start R with ",
            "LC_ALL=C.UTF-8, or have Python elsewhere, by R_USER_CACHE_DIR.")
    path
}

# What a command prints, in a process of its own: R's library path would give
# Python the wrong libpython.
run_command <- function(command, arguments) tryCatch(
    withr::with_envvar(c(LD_LIBRARY_PATH = NA), suppressWarnings(
        system2(command, shQuote(arguments), stdout = TRUE, stderr = TRUE))),
    error = function(e) structure(conditionMessage(e), status = 127L))

# Whether a Python runs and has the package. Not in this R, where it would stay,
# nor from the working directory.
check_package <- function(python, runs = FALSE) {
    output <- with_python(python, run_command(python, c("-c", paste(
        "import sys; from importlib.util import find_spec;",
        "sys.path = [p for p in sys.path if p];",
        "sys.exit(None if find_spec('glfs_bio') else 'It lacks glfs_bio.')"))))
    if (!is.null(attr(output, "status")))
        refuse_python(python, paste(output, collapse = "\n"), if (runs) paste(
            " Another package has started it in this R: restart R, and call",
            "glfs_setup() before the other package."), " Or install it there:",
            "\n  '", python, "' -m pip install '", carried("source"), "[xlsx]'")
}

refuse_python <- function(python, why, ...) glfs_stop(python,
    " cannot be used: ", why, made_again(python, paste0(" Name another with ",
        "glfs_setup(), or none: glfs_install() makes one.", ...)))

# The remedy for an environment that this package made, or for another Python.
made_again <- function(python, other) if (in_cache(python))
    " glfs_install(renew = TRUE) makes it again." else other

start_python <- function(python) {
    runs <- !is.null(session$python)
    python <- session$python %or% choose_python(python)
    check_package(python, runs)
    # Rather than use_python(), after which reticulate looks for others too.
    tryCatch(with_python(python, withr::with_envvar(
        c(RETICULATE_PYTHON = python), attach_reticulate())),
        error = function(e) refuse_python(python, conditionMessage(e),
            " Or update reticulate."))
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
paths = sys.path
sys.path = [path for path in paths if path not in ('', '.')]
try:
    import glfs_bio.rbridge
finally:
    sys.path = paths
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
    on.exit(unlink(file.path(tempdir(), paste0(temporary(), "*"))))
    arguments <- list(...)
    if ("path" %in% names(arguments))
        check_string(arguments$path, "path")
    connect()
    arguments <- plain_list(Map(plain_argument, arguments, ...names()), TRUE)
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
    classes <- paste0("python.", setdiff(answer$classes, "BaseException"))
    if ("KeyboardInterrupt" %in% answer$classes)
        raise_interrupt(classes[1L])
    fields <- intersect(c("argument", "kind", "traceback"), names(answer))
    glfs_stop(answer$message, fields = answer[fields], class = classes)
}

# As R does after Ctrl-C: handlers of "interrupt" first, then the top level. An
# R that Python has started has no top level; there it is an error.
raise_interrupt <- function(class) {
    text <- "Interrupted in Python."
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
say_once <- function(...) {
    text <- paste0(...)
    if (!text %in% session$said)
        message(text)
    session$said <- union(session$said, text)
}

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

check_string <- function(x, name)
    if (!is_string(x))
        refuse(name, " must be one string, not ", class(x)[1L], ".")

listed <- function(names) if (length(names) == 0L) "there are none" else
    toString(c(utils::head(names, 8L), if (length(names) > 8L) "..."))
