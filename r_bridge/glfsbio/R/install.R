#' Make the Python environment of this package
#'
#' A virtual environment in your cache, with glfs_bio as it travels in this
#' package and everything it needs, of 0.6 GB: the versions in
#' `system.file("python", "requirements.txt", package = "glfsbio")`, from PyPI,
#' each checked by its hash. Once made it needs no network. It is made on first
#' use, after a question where R is interactive; the environment variable
#' `GLFSBIO_INSTALL=false` forbids that.
#'
#' @details Every version of this package has a folder of its own in the cache,
#' `tools::R_user_dir("glfsbio", "cache")`, which the environment variable
#' `R_USER_CACHE_DIR` moves, for example to a disk that several people read.
#' Those of other versions stay: remove them with [unlink()] when no R is using
#' them. A mirror of PyPI is named as for pip, by its configuration or
#' `PIP_INDEX_URL`. Variables of other Pythons do not reach this environment.
#'
#' Bioconductor's basilisk (>= 1.22, R 4.5) can make the same, without hashes:
#' with `pins`, the versions of `requirements.txt`, call
#' `env <- basilisk::BasiliskEnvironment("python", "glfsbio", packages = pins,
#' paths = "python/source")`, and then
#' `glfs_setup(basilisk::obtainEnvironmentPath(env))`.
#'
#' @param python Python to make it with, 3.11 or newer. NULL: the first of
#'   `python3`, `python3.14` to `python3.11` and `python` of the search path
#'   that this R can load.
#' @param renew Whether to replace an environment that is there.
#' @param wait Seconds to wait for another session that is making it.
#' @return The folder of the environment, invisibly.
#' @examples
#' if (interactive()) glfs_install()
#' @export
glfs_install <- function(python = NULL, renew = FALSE, wait = 1800) {
    if (!is.numeric(wait) || length(wait) != 1L || is.na(wait) || wait < 0)
        refuse("wait", " must be a number of seconds, 0 or more.")
    folder <- environment_folder()
    if (dir.exists(folder) && !renew)
        return(invisible(folder))
    lock <- hold_lock(paste0(folder, ".lock"), wait)
    on.exit(unlink(lock, recursive = TRUE))
    if (renew || !dir.exists(folder))
        make_environment(python, folder)
    invisible(folder)
}

cache <- function() tools::R_user_dir("glfsbio", "cache")

# Path of what travels in this package for Python.
carried <- function(...)
    system.file("python", ..., package = "glfsbio", mustWork = TRUE)

# Named after the sources and the pins, in the same order in all locales.
environment_folder <- function() {
    files <- list.files(carried(), "[.](py|toml|txt)$", recursive = TRUE)
    sums <- tools::md5sum(carried(sort(files, method = "radix")))
    sum <- tools::md5sum(withr::local_tempfile(lines = unname(sums)))
    file.path(cache(), paste0("python-", substr(sum, 1L, 12L)))
}

# Next to its folder, to which it moves when R has started it.
make_environment <- function(python, folder) {
    message("glfsbio makes its Python environment, once, in ", folder, ".")
    prefix <- paste0(basename(folder), ".new")
    # What sessions left that were killed.
    unlink(list.files(cache(), prefix, full.names = TRUE), recursive = TRUE)
    new <- check_path(tempfile(prefix, normalizePath(cache())))
    on.exit(unlink(new, recursive = TRUE))
    run_step(base_python(python), c("-I", "-m", "venv", new))
    python <- find_python(new)
    # Of pip's settings those say where packages come from. Errors come last.
    pip <- c("-Iu", "-m", "pip", "install", "--no-compile", "--no-user")
    run_step(python, c(pip, "--require-hashes", "--only-binary=:all:",
        "--requirement", carried("requirements.txt")))
    # With what is installed by now: nothing is looked up for it.
    run_step(python, c(pip, "--no-index", "--no-deps", "--no-build-isolation",
        carried("source")))
    start_in_r(python, import_installed)
    unlink(folder, recursive = TRUE)
    if (!file.rename(new, folder))
        glfs_stop(new, " could not be renamed to ", folder, ".")
}

# The first Python that this R can load, before anything is downloaded.
base_python <- function(python = NULL) {
    names <- c("python3", paste0("python3.", 14:11), "python")
    candidates <- if (is.null(python)) unique(Filter(nzchar, Sys.which(names)))
        else find_python(python)
    check <- paste("import sys, venv, ensurepip; sys.version_info >= (3, 11)",
        "or sys.exit('It is older than 3.11.'); print(sys.executable)")
    refusals <- NULL
    for (candidate in candidates) {
        why <- tryCatch({
            path <- utils::tail(run_step(candidate, c("-I", "-c", check)), 1L)
            start_in_r(path, "pass")
            return(path)
        }, glfs_error = conditionMessage)
        refusals <- paste0(refusals, candidate, ": ", why, "\n")
    }
    glfs_stop(refusals, "glfsbio needs Python (>= 3.11) that this R can load, ",
        "with venv: on Debian apt install python3-venv libpython3-dev, or ",
        "glfs_install(python = reticulate::install_python(\"3.11\"))")
}

# Run code of Python in an R of its own.
start_in_r <- function(python, code) {
    call <- paste0("reticulate::py_run_string(", deparse1(code), ")")
    script <- withr::local_tempfile(lines = call, fileext = ".R")
    libraries <- paste(.libPaths(), collapse = .Platform$path.sep)
    run_step(file.path(R.home("bin"), "Rscript"), c("--vanilla", script),
        c(R_LIBS = libraries, R_TESTS = "", RETICULATE_PYTHON = python))
}

run_step <- function(command, arguments, settings = NULL) {
    force(command)
    output <- with_settings(run_command(command, arguments), settings)
    if (!is.null(attr(output, "status")))
        glfs_stop(remedy(output), "\n", toString(c(command, arguments)), "\n",
            paste(utils::tail(output, 6L), collapse = "\n"))
    output
}

# What to do, by a pattern of what pip or the disk has said: the first counts.
remedy <- function(output) {
    remedies <- c(
        "No space left on device|quota exceeded" =
            "The disk is full: glfsbio takes 1 GB of R_USER_CACHE_DIR.",
        "SSLError|CERTIFICATE_VERIFY_FAILED|TLS CA certificate" = paste(
            "pip does not trust the certificate of the index of packages:",
            "set PIP_CERT to the file with the certificates of your network."),
        "[Cc]onnection|timed out|ProxyError|versions: none" = paste(
            "No network: pip cannot reach the index of packages. Call",
            "glfs_install() where there is one; name a mirror with",
            "PIP_INDEX_URL; or give glfs_setup() a Python with glfs_bio."))
    said <- paste(output, collapse = "\n")
    c(remedies[vapply(names(remedies), grepl, NA, said)], "This failed:")[[1L]]
}

# Evaluate code with these settings and without those of other Pythons.
with_settings <- function(code, settings = NULL) {
    pattern <- paste0("^(PYTHON[A-Z]|__PYVENV|VIRTUAL_ENV$|PIP_(USER|TARGET|",
        "PREFIX|ROOT|CONSTRAINT|NO_BINARY|REQUIRE.*)$)")
    foreign <- grep(pattern, names(Sys.getenv()), value = TRUE)
    unset <- stats::setNames(rep(NA, length(foreign)), foreign)
    withr::with_envvar(c(unset, settings), code)
}

# On first use: asked where somebody can answer.
provided_environment <- function() {
    allowed <- as.logical(
        getOption("glfsbio.install", Sys.getenv("GLFSBIO_INSTALL", NA)))
    if (dir.exists(environment_folder()))
        return(environment_folder())
    if (is.na(allowed))
        allowed <- !interactive() || isTRUE(utils::askYesNo(paste0(
            "Make a Python environment for glfsbio in ", cache(), "? It takes ",
            "some minutes and 0.6 GB.")))
    if (!allowed)
        glfs_stop("glfsbio needs a Python with glfs_bio: glfs_install() makes ",
            "one, and glfs_setup() names yours.")
    glfs_install()
}

# A lock is a folder, which one process can make, with a file named after that.
# Of several that rename the file of a process that has ended, one succeeds.
hold_lock <- function(lock, wait) {
    dir.create(cache(), showWarnings = FALSE, recursive = TRUE)
    if (file.access(cache(), 2L) != 0L)
        glfs_stop("The cache ", cache(), " cannot be written: name another ",
            "folder as R_USER_CACHE_DIR, for example in ~/.Renviron.")
    end <- Sys.time() + wait
    host <- paste(" on", Sys.info()[["nodename"]])
    own <- file.path(lock, paste0(Sys.getpid(), host))
    busy <- paste0("Another R is making the environment of glfsbio. If none ",
        "is, since it was killed, remove the folder ", lock, ".")
    while (!dir.create(lock, showWarnings = FALSE)) {
        holder <- list.files(lock, full.names = TRUE)
        process <- file.path("/proc", sub(" on .*", "", basename(holder)))
        if (dir.exists("/proc/self") && isTRUE(endsWith(holder, host)) &&
            !dir.exists(process) && suppressWarnings(file.rename(holder, own)))
            return(lock)
        if (Sys.time() >= end)
            glfs_stop(busy, " It took longer than ", wait, " seconds.")
        say_once(busy, " Waiting for it, up to ", wait, " seconds.")
        Sys.sleep(0.5)
    }
    file.create(own)
    lock
}
