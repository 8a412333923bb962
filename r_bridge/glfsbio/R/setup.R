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
#' Says which Python is used and what it has. Where the Python package is missing
#' there, the error tells what to do. No other Python is searched for, and nothing is
#' installed unless you say so: see [glfs_install()].
#'
#' A process has one Python: to change it, restart R. Where another package has
#' started Python in this session already, as zellkonverter or a script with
#' reticulate may do, that Python is used if it has glfs_bio; if not, the error tells
#' the line that installs it there, and the order of calls that avoids it. In an R that
#' was started by Python through rpy2 (`%%R` cells), call
#' `glfs_bio.rbridge.register()` there instead; this function then only reports.
#'
#' @param python Folder of a virtual or conda environment, or a Python executable.
#'   By default the first that is set of `getOption("glfsbio.python")` and the
#'   environment variables `GLFSBIO_PYTHON`, `RETICULATE_PYTHON`, `VIRTUAL_ENV`
#'   and `CONDA_PREFIX`; else the environment that [glfs_install()] made; else `python3`
#'   of the search path.
#' @param quiet Whether to say nothing when all is well.
#' @param bridge What carries the data. `"reticulate"` needs nothing besides.
#'   `"rpy2"` needs the Python package rpy2, and gives the same results.
#' @return For `glfs_setup()`, invisibly, a list: `python` (the executable),
#'   `python_version`, `bridge`, and the versions `glfs_bio` and `anndata`. For
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
glfs_setup <- function(
        python = NULL, quiet = FALSE,
        bridge = getOption("glfsbio.bridge", c("reticulate", "rpy2"))) {
    connect(python, bridge, ask = TRUE)
    about <- call_python("about")
    if (is.null(session$python))
        session$python <- about$python
    if (!quiet)
        message(
            "glfs_bio ", about$glfs_bio, " (anndata ", about$anndata, ", by ",
            session$bridge, ") in Python ", about$python_version, ", ", session$python
        )
    invisible(utils::modifyList(
        about, list(python = session$python, bridge = session$bridge)
    ))
}

connect <- function(python = NULL, bridge = getOption("glfsbio.bridge", "reticulate"), ask) {
    if (is.null(session$call)) {
        if (embedded())
            glfs_stop(
                "Python has started this R: run ",
                "'import glfs_bio.rbridge; glfs_bio.rbridge.register()' there."
            )
        bridge <- match.arg(bridge, c("reticulate", "rpy2"))
        start_python(python, bridge, ask)
    } else if (!is.null(python) && !embedded()) {
        check_same(find_python(python))
    }
}

#' @rdname glfs_setup
#' @export
glfs_available <- function() {
    found <- tryCatch({
        connect(ask = FALSE)
        TRUE
    }, glfs_error = function(e) e)
    if (isTRUE(found))
        return(TRUE)
    if (nzchar(Sys.getenv("GLFSBIO_REQUIRE_PYTHON")))
        stop(found)
    message(conditionMessage(found))
    FALSE
}

# What names a Python: options and environment variables.
named_python <- function() {
    variables <- c("GLFSBIO_PYTHON", "RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX")
    candidates <- c(getOption("glfsbio.python"), Sys.getenv(variables))
    names(candidates) <- utils::tail(
        c("getOption(\"glfsbio.python\")", variables), length(candidates)
    )
    utils::head(candidates[nzchar(candidates)], 1L)
}

find_python <- function(python, source = "python") {
    if (is.null(python)) {
        python <- c(named_python(), installed_environment(), on_search_path())
        if (length(python) == 0L)
            glfs_stop(
                "There is no python3 on the search path: install Python 3.11 or newer, and ",
                "run glfs_install(); or name a Python that has glfs_bio, for example ",
                "glfs_setup(\"~/venv\")."
            )
        source <- names(python)[1L]
        python <- python[[1L]]
    }
    check_string(python, source)
    python <- path.expand(python)
    inside <- if (.Platform$OS.type == "windows")
        c("python.exe", file.path("Scripts", "python.exe"))
    else file.path("bin", c("python", "python3"))
    executable <- if (dir.exists(python)) file.path(python, inside) else python
    executable <- executable[file.exists(executable)]
    if (length(executable) == 0L)
        refuse(
            source, " = \"", python, "\" is neither a Python executable nor a folder ",
            "with ", inside[1L], ": create it with 'python3 -m venv ", python, "'."
        )
    # Not normalizePath(): a virtual environment is known by its link.
    file.path(
        normalizePath(dirname(executable[1L])), basename(executable[1L])
    )
}

on_search_path <- function() Filter(nzchar, Sys.which("python3"))

# What a Python prints, in a process of its own: R's library path would give it the
# wrong libpython.
ask_python <- function(python, ...) {
    suppressWarnings(system2(
        python, shQuote(c(...)), stdout = TRUE, stderr = TRUE, env = "LD_LIBRARY_PATH="
    ))
}

# What this Python lacks, and whether it refuses packages that its system did not
# install, as Debian's. Not in this R: a Python that lacks the package would stay.
look_at <- function(python, bridge) {
    modules <- paste0("'", c("glfs_bio", if (bridge == "rpy2") "rpy2"), "'", collapse = ", ")
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
    if (found$managed)
        found$missing <- union("glfs_bio", found$missing)
    glfs_stop(
        python, " lacks ", paste(found$missing, collapse = " and "), ". Run glfs_install(), ",
        "which makes an environment of its own, or install with\n  ",
        paste(install_lines(python, found$missing, found$managed), collapse = "\n  "),
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

start_python <- function(python, bridge, ask) {
    if (!requireNamespace("reticulate", quietly = TRUE))
        glfs_stop(
            "The R package reticulate, which starts Python, is missing: ",
            "install.packages(\"reticulate\")."
        )
    running <- reticulate::py_available()
    if (running) {
        session$python <- reticulate::py_config()$python
        if (!is.null(python))
            check_same(find_python(python))
        check_running(session$python, bridge)
        python <- session$python
    } else {
        if (is.null(python) && ask)
            offer_environment(bridge)
        python <- find_python(python)
        check_modules(python, bridge)
    }
    # Rather than use_python(), after which reticulate looks for others too.
    tryCatch(
        withr::with_envvar(c(RETICULATE_PYTHON = python), switch(bridge,
            reticulate = {
                calls <- reticulate::import("glfs_bio.rbridge._calls", convert = FALSE)
                attach_python(function(target, arguments) from_reticulate(
                    reticulate::py_to_r(calls$answer_reticulate(target, for_reticulate(arguments)))
                ), "reticulate")
            },
            rpy2 = reticulate::import("glfs_bio.rbridge", convert = FALSE)$register()
        )),
        error = function(e) {
            glfs_stop(python, " cannot be used from R: ", conditionMessage(e))
        }
    )
    session$python <- python
}

# Somebody else has started Python: what glfs_bio needs must be there.
check_running <- function(python, bridge) {
    missing <- look_at(python, bridge)$missing
    if (length(missing) > 0L)
        glfs_stop(
            "Another package has started ", python, " in this R session, and a process has one ",
            "Python. It lacks ", paste(missing, collapse = " and "), ". Restart R and call ",
            "glfs_setup() before the other package; or install it there:\n  ",
            paste(install_lines(python, missing, FALSE), collapse = "\n  ")
        )
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
