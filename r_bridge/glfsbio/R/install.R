#' Make a Python environment for this package
#'
#' A virtual environment in your cache, with the versions of all packages that are
#' pinned in `system.file("python", "requirements.txt", package = "glfsbio")`, from
#' PyPI, with their hashes. [glfs_setup()] finds it without being told. Once made it
#' needs no network. Where R is interactive and no Python is named, `glfs_setup()` offers
#' to make it. In scripts call this function, or set `options(glfsbio.install = TRUE)`
#' or the environment variable `GLFSBIO_INSTALL=true`.
#'
#' Nothing outside the folder is changed. Removing the folder removes the environment:
#' `unlink(tools::R_user_dir("glfsbio", "cache"), recursive = TRUE)`. The environment
#' variable `R_USER_CACHE_DIR` moves it, for example to a disk that several people share.
#'
#' @param source Where the Python package glfs_bio comes from: a copy of its repository, a
#'   wheel or another thing that pip takes. By default the first that is set of
#'   `getOption("glfsbio.source")` and the environment variable `GLFSBIO_SOURCE`; else
#'   the package `glfs_bio` of PyPI.
#' @param python The Python to make it with, 3.11 or newer; by default `python3` of the
#'   search path.
#' @param renew Whether to make an environment anew that is there.
#' @return The folder of the environment, invisibly. If one is there it stays as it is,
#'   unless `renew` is TRUE.
#' @examples
#' # In a copy of the repository of glfs_bio:
#' if (interactive()) glfs_install(source = ".")
#' @export
glfs_install <- function(source = NULL, python = NULL, renew = FALSE) {
    folder <- environment_folder()
    if (length(installed_environment()) > 0L && !renew)
        return(invisible(folder))
    python <- base_python(python)
    unlink(folder, recursive = TRUE)
    dir.create(dirname(folder), showWarnings = FALSE, recursive = TRUE)
    message("Making a Python environment in ", folder, ", which takes some minutes.")
    made <- FALSE
    on.exit(if (!made) unlink(folder, recursive = TRUE))
    # Debian keeps what venv needs in a package of its own, and says so.
    install_step(python, c("-m", "venv", folder))
    inside <- find_python(folder, "folder")
    pip <- c("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    install_step(inside, c(
        pip, "--require-hashes", "--only-binary=:all:", "--requirement",
        system.file("python", "requirements.txt", package = "glfsbio", mustWork = TRUE)
    ))
    install_step(inside, c(pip, "--no-deps", python_source(source)))
    check_modules(inside, "reticulate")
    made <- file.create(file.path(folder, "complete"))
    invisible(folder)
}

# One for each version of the package, so that another has its own pins.
environment_folder <- function() {
    file.path(
        tools::R_user_dir("glfsbio", "cache"),
        paste0("python-", utils::packageVersion("glfsbio"))
    )
}

installed_environment <- function() {
    folder <- environment_folder()
    if (file.exists(file.path(folder, "complete"))) c(glfs_install = folder)
}

python_source <- function(source) {
    if (is.null(source))
        source <- getOption("glfsbio.source", Sys.getenv("GLFSBIO_SOURCE", "glfs_bio"))
    check_string(source, "source")
    if (file.exists(path.expand(source))) normalizePath(source) else source
}

base_python <- function(python) {
    if (is.null(python))
        python <- on_search_path()
    python <- if (length(python) > 0L) find_python(python[[1L]])
    version <- if (!is.null(python))
        ask_python(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    if (is.null(version) || !isTRUE(numeric_version(version, strict = FALSE) >= "3.11"))
        glfs_stop(
            "glfs_install() needs Python 3.11 or newer, ", if (is.null(python))
                "and there is no python3 on the search path" else paste0("not ", python),
            ". On Debian and Ubuntu: apt install python3-venv libpython3-dev. ",
            "Elsewhere: reticulate::install_python(\"3.12\"), and glfs_install(python = ) ",
            "with the path that it returns."
        )
    python
}

install_step <- function(python, arguments) {
    said <- ask_python(python, arguments)
    if (!is.null(attr(said, "status")))
        glfs_stop(
            "The environment could not be made: '", python, "' ",
            paste(arguments, collapse = " "), "\n", paste(utils::tail(said, 15L), collapse = "\n")
        )
}

# Asked once, where no Python is named and that of the search path does not do.
offer_environment <- function(bridge) {
    if (length(c(named_python(), installed_environment())) > 0L)
        return()
    told <- isTRUE(getOption("glfsbio.install", Sys.getenv("GLFSBIO_INSTALL") == "true"))
    if (!told && !interactive())
        return()
    there <- on_search_path()
    if (length(there) > 0L && length(look_at(there[[1L]], bridge)$missing) == 0L)
        return()
    if (told || utils::askYesNo(paste0(
        "glfsbio needs the Python package glfs_bio. Make an environment for it in ",
        environment_folder(), "? It takes some minutes and 0.9 GB of disk."
    ), default = FALSE) %in% TRUE)
        glfs_install()
}
