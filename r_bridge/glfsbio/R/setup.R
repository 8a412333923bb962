# Filled by attach_python(): the R function that calls Python.
session <- new.env(parent = emptyenv())

attach_python <- function(call) {
    session$call <- call
    invisible(NULL)
}

# Whether Python has started this R, by rpy2's mark.
embedded <- function() {
    started <- Sys.getenv("PYTHON_SESSION_INITIALIZED")
    grepl(paste0("current_pid=", Sys.getpid(), ":"), started, fixed = TRUE)
}

#' Connect R with a Python that has glfs_bio
#'
#' Says which Python is used and what it has. Where the Python package is missing
#' there, the error tells the line that installs it; nothing is installed or
#' downloaded, and no other Python is searched for.
#'
#' A process has one Python: to change it, restart R. In an R that was started by
#' Python through rpy2 (`%%R` cells), call `glfs_bio.rbridge.register()` there
#' instead; this function then only reports.
#'
#' @param python Folder of a virtual or conda environment, or a Python executable.
#'   By default the first that is set of `getOption("glfsbio.python")` and the
#'   environment variables `GLFSBIO_PYTHON`, `RETICULATE_PYTHON`, `VIRTUAL_ENV`
#'   and `CONDA_PREFIX`; else `python3` of the search path.
#' @param quiet Whether to say nothing when all is well.
#' @return For `glfs_setup()`, invisibly, a list: `python` (the executable),
#'   `python_version`, and the versions `glfs_bio`, `rpy2` and `anndata`. For
#'   `glfs_available()`, whether Python with glfs_bio can be used; with the
#'   environment variable `GLFSBIO_REQUIRE_PYTHON` set, FALSE is an error, so that
#'   a check of packages cannot pass by skipping everything.
#' @examples
#' # glfs_setup("~/venv")
#' if (glfs_available()) {
#'     about <- glfs_setup()
#'     about$glfs_bio
#' }
#' @export
glfs_setup <- function(python = NULL, quiet = FALSE) {
    if (is.null(session$call)) {
        if (embedded())
            glfs_stop(
                "Python has started this R: run ",
                "'import glfs_bio.rbridge; glfs_bio.rbridge.register()' there."
            )
        start_python(find_python(python))
    } else if (!is.null(python) && !embedded()) {
        check_same(find_python(python))
    }
    about <- call_python("about")
    if (is.null(session$python))
        session$python <- about$python
    if (!quiet)
        message(
            "glfs_bio ", about$glfs_bio, " (rpy2 ", about$rpy2, ", anndata ",
            about$anndata, ") in Python ", about$python_version, ", ", session$python
        )
    invisible(utils::modifyList(about, list(python = session$python)))
}

#' @rdname glfs_setup
#' @export
glfs_available <- function() {
    found <- tryCatch({
        glfs_setup(quiet = TRUE)
        TRUE
    }, glfs_error = function(e) e)
    if (isTRUE(found))
        return(TRUE)
    if (nzchar(Sys.getenv("GLFSBIO_REQUIRE_PYTHON")))
        stop(found)
    message(conditionMessage(found))
    FALSE
}

find_python <- function(python) {
    source <- "python"
    if (is.null(python)) {
        variables <- c(
            "GLFSBIO_PYTHON", "RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"
        )
        candidates <- c(getOption("glfsbio.python"), Sys.getenv(variables))
        names(candidates) <- utils::tail(
            c("getOption(\"glfsbio.python\")", variables), length(candidates)
        )
        candidates <- candidates[nzchar(candidates)]
        source <- names(candidates)[1L]
        python <- if (length(candidates)) candidates[[1L]] else Sys.which("python3")[[1L]]
        if (!nzchar(python))
            glfs_stop(
                "There is no python3 on the search path: name a Python that has ",
                "glfs_bio, for example glfs_setup(\"~/venv\")."
            )
    }
    check_string(python, source)
    python <- path.expand(python)
    inside <- if (.Platform$OS.type == "windows")
        c("python.exe", file.path("Scripts", "python.exe"))
    else file.path("bin", c("python", "python3"))
    executable <- if (dir.exists(python)) file.path(python, inside) else python
    executable <- executable[file.exists(executable)]
    if (length(executable) == 0L)
        glfs_stop(
            source, " = \"", python, "\" is neither a Python executable nor a folder ",
            "with ", inside[1L], ": create it with 'python3 -m venv ", python, "'."
        )
    # Not normalizePath(): a virtual environment is known by its link.
    file.path(
        normalizePath(dirname(executable[1L])), basename(executable[1L])
    )
}

# In a process of its own: a Python that lacks the package would stay in this R.
check_modules <- function(python) {
    code <- paste0(
        "import sys, sysconfig; from importlib.util import find_spec as f; ",
        "from pathlib import Path; ",
        "sys.path = [p for p in sys.path if p]; ", # not the working directory
        "print(*(m for m in ('glfs_bio', 'rpy2') if f(m) is None), sep=' '); ",
        "print(sys.prefix == sys.base_prefix and ",
        "Path(sysconfig.get_path('stdlib'), 'EXTERNALLY-MANAGED').exists()); ",
        "print('ok')"
    )
    # R's library path would give this Python the wrong libpython.
    said <- suppressWarnings(system2(
        python, c("-c", shQuote(code)), stdout = TRUE, stderr = TRUE,
        env = "LD_LIBRARY_PATH="
    ))
    if (length(said) == 0L || said[length(said)] != "ok")
        glfs_stop(python, " does not run: ", paste(said, collapse = "\n"))
    missing <- strsplit(said[length(said) - 2L], " ", fixed = TRUE)[[1L]]
    if (length(missing) == 0L)
        return(invisible())
    # Such a Python, as Debian's, refuses packages that its system did not install.
    managed <- said[length(said) - 1L] == "True"
    if (managed)
        missing <- c("glfs_bio", "rpy2")
    glfs_stop(
        python, " lacks ", paste(missing, collapse = " and "),
        ". Install with\n  ", paste(install_lines(python, missing, managed), collapse = "\n  "),
        "\nor name another Python with glfs_setup()."
    )
}

install_lines <- function(python, missing, managed) {
    pip <- paste0("'", python, "' -m pip install")
    if (managed)
        pip <- "~/venv/bin/pip install"
    old <- getRversion() < "4.5.0"
    c(
        if (managed) paste0("'", python, "' -m venv ~/venv"),
        if ("rpy2" %in% missing && old)
            paste0("RPY2_CFFI_MODE=ABI ", pip, " --no-cache-dir 'rpy2-rinterface<3.6.6' rpy2"),
        if ("rpy2" %in% missing && !old) paste0(pip, " rpy2"),
        if ("glfs_bio" %in% missing)
            paste0(pip, " '.[scanpy]'    # in a copy of the glfs_bio repository"),
        if (managed) "and run glfs_setup(\"~/venv\")"
    )
}

start_python <- function(python) {
    if (!requireNamespace("reticulate", quietly = TRUE))
        glfs_stop(
            "The R package reticulate, which starts Python, is missing: ",
            "install.packages(\"reticulate\")."
        )
    if (reticulate::py_available()) {
        session$python <- reticulate::py_config()$python
        check_same(python)
    }
    check_modules(python)
    # Rather than use_python(), after which reticulate looks for others too.
    tryCatch(
        withr::with_envvar(c(RETICULATE_PYTHON = python), {
            bridge <- reticulate::import("glfs_bio.rbridge", convert = FALSE)
            bridge$register()
        }),
        error = function(e) {
            glfs_stop(python, " cannot be used from R: ", conditionMessage(e))
        }
    )
    session$python <- python
}

check_same <- function(python) {
    if (normalizePath(python) != normalizePath(session$python) ||
        dirname(python) != dirname(session$python))
        glfs_stop(
            "This R session uses ", session$python, " already, and a process has one ",
            "Python: restart R and call glfs_setup(\"", python, "\") first."
        )
}

# Every call goes through here. An exception in Python becomes an R condition.
call_python <- function(target, ...) {
    if (is.null(session$call))
        glfs_setup()
    arguments <- list(...)
    answer <- r_value(session$call(
        target, plain_list(arguments, as.character(names(arguments)))
    ))
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
