# Filled by attach_python(): the R function that calls Python.
session <- new.env(parent = emptyenv())

attach_python <- function(call, bridge = "rpy2") {
    session$call <- call
    session$bridge <- bridge
    invisible(NULL)
}

# Whether Python has started this R, by rpy2's mark.
embedded <- function() {
    started <- Sys.getenv("PYTHON_SESSION_INITIALIZED")
    grepl(paste0("current_pid=", Sys.getpid(), ":"), started, fixed = TRUE)
}

#' Connect R with a Python that has glfs_bio
#'
#' Not needed before other functions: the first call of one of them connects. It
#' says which Python is used, or chooses one. Where none is named the
#' environment of [glfs_install()] is used, which is made on first use.
#'
#' A process has one Python: to change it, restart R. Where another package has
#' started Python in this session already, as zellkonverter or a script with
#' reticulate may do, that Python is used if it has glfs_bio; if not, the error
#' tells the line that installs it there, and the order of calls that avoids it.
#' In an R that was started by Python through rpy2 (`%%R` cells), call
#' `glfs_bio.rbridge.register()` there instead; this function then only reports.
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
#' @param bridge What carries the data. `"reticulate"` needs nothing besides.
#'   `"rpy2"` needs the Python package rpy2, and gives the same results.
#' @return Invisibly, a list: `python` (the executable), `python_version`,
#'   `bridge`, and the versions `glfs_bio` and `anndata`.
#' @examples
#' # glfs_setup("~/venv")
#' about <- glfs_setup()
#' about$glfs_bio
#' @export
glfs_setup <- function(
        python = NULL, quiet = FALSE,
        bridge = getOption("glfsbio.bridge", c("reticulate", "rpy2"))) {
    connect(python, bridge)
    about <- call_python("about")
    if (is.null(session$python))
        session$python <- about$python
    if (!quiet)
        message(
            "glfs_bio ", about$glfs_bio, " (anndata ", about$anndata, ", by ",
            session$bridge, ") in Python ", about$python_version, ", ",
            session$python
        )
    invisible(utils::modifyList(
        about, list(python = session$python, bridge = session$bridge)
    ))
}

connect <- function(
        python = NULL, bridge = getOption("glfsbio.bridge", "reticulate")) {
    if (is.null(session$call)) {
        if (embedded())
            glfs_stop(
                "Python has started this R: run ",
                "'import glfs_bio.rbridge; glfs_bio.rbridge.register()' there."
            )
        bridge <- match.arg(bridge, c("reticulate", "rpy2"))
        start_python(python, bridge)
    } else if (!is.null(python) && !embedded()) {
        check_same(find_python(python))
    }
}

# The Python that is named, or else the environment of this package.
chosen_python <- function(python, bridge) {
    if (!is.null(python))
        return(find_python(python))
    option <- c("getOption(\"glfsbio.python\")" = getOption("glfsbio.python"))
    named <- c(option, Sys.getenv("GLFSBIO_PYTHON", names = TRUE))
    named <- Filter(nzchar, named)
    if (length(named) > 0L)
        return(find_python(named[[1L]], names(named)[1L]))
    ours <- installed_environment()
    if (is.null(ours))
        ours <- around(bridge)
    find_python(if (is.null(ours)) provided_environment() else ours[[1L]])
}

# What is set for other purposes, or on the search path, if it has glfs_bio.
around <- function(bridge) {
    places <- c(
        Sys.getenv(c("RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX")),
        Sys.which("python3")
    )
    for (place in unique(Filter(nzchar, places))) {
        has <- tryCatch({
            python <- find_python(place)
            length(look_at(python, bridge)$missing) == 0L
        }, glfs_error = function(e) FALSE)
        if (has)
            return(python)
    }
}

find_python <- function(python, source = "python") {
    check_string(python, source)
    python <- path.expand(python)
    inside <- if (.Platform$OS.type == "windows")
        c("python.exe", file.path("Scripts", "python.exe"))
    else file.path("bin", c("python", "python3"))
    executable <- if (dir.exists(python)) file.path(python, inside) else python
    executable <- executable[file.exists(executable)]
    if (length(executable) == 0L)
        refuse(
            source, " = \"", python,
            "\" is neither a Python executable nor a folder ",
            "with ", inside[1L], ": create it with 'python3 -m venv ", python,
            "'."
        )
    # Not normalizePath(): a virtual environment is known by its link.
    file.path(
        normalizePath(dirname(executable[1L])), basename(executable[1L])
    )
}

# What a Python prints, in a process of its own: R's library path would give it
# the wrong libpython.
ask_python <- function(python, ...) {
    tryCatch(
        suppressWarnings(system2(
            python, shQuote(c(...)), stdout = TRUE, stderr = TRUE,
            env = "LD_LIBRARY_PATH="
        )),
        error = function(e) structure(conditionMessage(e), status = 127L)
    )
}

# What this Python lacks, and whether it refuses packages that its system did
# not install, as Debian's. Not in this R: a Python that lacks the package would
# stay.
look_at <- function(python, bridge) {
    modules <- paste0("'", c("glfs_bio", if (bridge == "rpy2") "rpy2"), "'",
        collapse = ", ")
    said <- ask_python(python, "-c", paste0(
        "import sys, sysconfig; from importlib.util import find_spec as f; ",
        "from pathlib import Path; ",
        "sys.path = [p for p in sys.path if p]; ", # not the working directory
        "print(*(m for m in (", modules, ",) if f(m) is None), sep=' '); ",
        "print(sys.prefix == sys.base_prefix and ",
        "Path(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED').exists()); ",
        "print('ok')"
    ))
    if (length(said) == 0L || said[length(said)] != "ok")
        glfs_stop(python, " does not run: ", paste(said, collapse = "\n"))
    list(
        missing = strsplit(said[length(said) - 2L], " ", fixed = TRUE)[[1L]],
        managed = said[length(said) - 1L] == "True"
    )
}

check_modules <- function(python, bridge) {
    found <- look_at(python, bridge)
    if (length(found$missing) == 0L)
        return(invisible())
    if (is_ours(python) && !"rpy2" %in% found$missing)
        glfs_stop(
            python, ", of the environment of glfsbio, does not find glfs_bio ",
            "there: it may have become another version. ",
            "glfs_install(renew = TRUE) makes the environment anew."
        )
    if (found$managed)
        found$missing <- union("glfs_bio", found$missing)
    glfs_stop(
        python, " lacks ", paste(found$missing, collapse = " and "),
        ", and is the ",
        "Python that was named. Install with\n  ",
        paste(install_lines(python, found$missing, found$managed),
            collapse = "\n  "),
        "\nor name another one with glfs_setup(), or none: glfs_install() ",
        "makes an ",
        "environment."
    )
}

install_lines <- function(python, missing, managed) {
    pip <- paste0("'", python, "' -m pip install")
    if (managed)
        pip <- "~/venv/bin/pip install"
    old <- getRversion() < "4.5.0"
    c(
        if (managed) paste0("'", python, "' -m venv ~/venv"),
        if ("rpy2" %in% missing && old) paste0(
            "RPY2_CFFI_MODE=ABI ", pip,
            " --no-cache-dir 'rpy2-rinterface<3.6.6' rpy2"
        ),
        if ("rpy2" %in% missing && !old) paste0(pip, " rpy2"),
        if ("glfs_bio" %in% missing)
            paste0(pip, " '", carried("source"), "[xlsx]'"),
        if (managed) "and run glfs_setup(\"~/venv\")"
    )
}

start_python <- function(python, bridge) {
    if (reticulate::py_available()) {
        session$python <- reticulate::py_config()$python
        if (!is.null(python))
            check_same(find_python(python))
        check_running(session$python, bridge)
        python <- session$python
    } else {
        python <- chosen_python(python, bridge)
        if_ours(python, check_modules(python, bridge))
    }
    # Rather than use_python(), after which reticulate looks for others too.
    tryCatch(
        if_ours(python, withr::with_envvar(c(RETICULATE_PYTHON = python),
            attach_bridge(bridge))),
        error = function(e) not_started(python, conditionMessage(e))
    )
    session$python <- python
}

# Whether it is one that this package made.
is_ours <- function(python)
    !is.null(python) && dir.exists(cache()) && startsWith(
        normalizePath(dirname(python), mustWork = FALSE), normalizePath(cache())
    )

not_started <- function(python, why) {
    if (!reticulate::py_available())
        not_loaded(python, why)
    glfs_stop(
        python, " cannot be used from R: ", why, if (is_ours(python))
            "\nglfs_install(renew = TRUE) makes the environment anew."
    )
}

# Settings of other Pythons do not reach ours, nor what it starts.
if_ours <- function(python, code)
    if (is_ours(python)) apart(code) else code

attach_bridge <- function(bridge) {
    reticulate::py_run_string(import_installed, local = TRUE)
    if (bridge == "rpy2")
        return(reticulate::import("glfs_bio.rbridge",
            convert = FALSE)$register())
    calls <- reticulate::import("glfs_bio.rbridge.calls", convert = FALSE)
    attach_python(function(target,
        arguments) from_reticulate(reticulate::py_to_r(
        calls$answer_reticulate(target, for_reticulate(arguments))
    )), "reticulate")
}

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

# Somebody else has started Python: what glfs_bio needs must be there.
check_running <- function(python, bridge) {
    missing <- look_at(python, bridge)$missing
    if (length(missing) > 0L)
        glfs_stop(
            "Another package has started ", python,
            " in this R session, and a ",
            "process has one Python. It lacks ",
            paste(missing, collapse = " and "),
            ". Restart R and call glfs_setup() before the other package; or ",
            "install ",
            "it there:\n  ",
            paste(install_lines(python, missing, FALSE), collapse = "\n  ")
        )
}

check_same <- function(python) {
    if (normalizePath(python) != normalizePath(session$python) ||
        dirname(python) != dirname(session$python))
        glfs_stop(
            "This R session uses ", session$python,
            " already, and a process has one ",
            "Python: restart R and call glfs_setup(\"", python, "\") first."
        )
}

# Every call goes through here. An exception in Python becomes an R condition.
call_python <- function(target, ...) {
    on.exit(forget_parts())
    connect()
    answer <- if_ours(session$python,
        r_value(session$call(target, plain_arguments(list(...)))))
    for (text in answer$messages)
        message(text)
    for (text in answer$warnings)
        warning(structure(
            class = c("python.UserWarning", "warning", "condition"),
            list(message = text, call = NULL)
        ))
    if (!answer$ok)
        raise_python(answer)
    answer$value
}

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
