#' Make the Python environment of this package
#'
#' A virtual environment in your cache, with glfs_bio as it travels in this
#' package and everything it needs: the versions that are pinned in
#' `system.file("python", "requirements.txt", package = "glfsbio")`, from PyPI,
#' each checked by its hash. Once made it needs no network. It is made on first
#' use: where R is interactive you are asked, and a script makes it with a
#' message. `options(glfsbio.install = FALSE)` or the environment variable
#' `GLFSBIO_INSTALL=false` forbids that.
#'
#' Nothing outside the folder is changed. Removing the folder removes the
#' environment: `unlink(tools::R_user_dir("glfsbio", "cache"), recursive =
#' TRUE)`. The environment variable `R_USER_CACHE_DIR` moves it, for example to
#' a disk that several people share.
#'
#' @param python Python to make it with, 3.11 or newer. NULL: `python3` of the
#'   search path, or else `python3.14` to `python3.11`.
#' @param renew Whether to replace an existing environment.
#' @return The folder of the environment, invisibly. An existing one stays as it
#'   is, unless `renew` is TRUE.
#' @examples
#' if (interactive()) glfs_install()
#' @export
glfs_install <- function(python = NULL, renew = FALSE) {
    folder <- environment_folder()
    if (length(installed_environment()) > 0L && !renew)
        return(invisible(folder))
    python <- base_python(python)
    dir.create(dirname(folder), showWarnings = FALSE, recursive = TRUE)
    lock <- paste0(folder, ".lock")
    if (!dir.create(lock, showWarnings = FALSE))
        glfs_stop(
            "Another R is making the environment of glfsbio: wait until it ",
            "has. ",
            "If none is, remove the folder ", lock, "."
        )
    made <- FALSE
    on.exit(unlink(c(lock, if (!made) folder), recursive = TRUE))
    unlink(folder, recursive = TRUE)
    message(
        "glfsbio makes its Python environment in ", folder,
        ", once; it takes some minutes."
    )
    # Debian keeps what venv needs in a package of its own, and says so.
    install_step(python, c("-m", "venv", folder))
    inside <- find_python(folder, "folder")
    pip <- c("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    install_step(inside, c(
        pip, "--require-hashes", "--only-binary=:all:", "--requirement",
        pinned()
    ))
    # Of what was just installed: nothing is looked up for it.
    install_step(inside, c(
        pip, "--no-index", "--no-deps", "--no-build-isolation",
        carried("source")
    ))
    check_modules(inside, "reticulate")
    writeLines(fingerprint(), file.path(folder, "complete"))
    made <- TRUE
    invisible(folder)
}

# A file of the pins, each with its hashes, which the lock of the project has.
pinned <- function() {
    version <- function(line) sub("[ ;].*", "", line)
    lock <- readLines(carried("lock.txt"))
    blocks <- split(lock, cumsum(!startsWith(lock, " ")))
    names(blocks) <- vapply(blocks, function(lines) version(lines[1L]), "")
    pins <- grep("==", readLines(carried("requirements.txt")), value = TRUE)
    file <- tempfile(fileext = ".txt")
    writeLines(unlist(lapply(pins, function(pin)
        c(paste(pin, "\\"), blocks[[version(pin)]][-1L]))), file)
    file
}

# What travels in this package for Python.
carried <- function(...)
    system.file("python", ..., package = "glfsbio", mustWork = TRUE)

# Of the sources and the pins: those of another version are another environment.
fingerprint <- function() {
    files <- list.files(carried(), "[.](py|toml|txt)$", recursive = TRUE)
    sums <- tools::md5sum(carried(sort(files)))
    file <- tempfile()
    on.exit(unlink(file))
    writeLines(unname(sums), file)
    unname(tools::md5sum(file))
}

environment_folder <- function()
    file.path(tools::R_user_dir("glfsbio", "cache"), "python")

# One that was made whole, from what this package carries.
installed_environment <- function() {
    folder <- environment_folder()
    made_from <- file.path(folder, "complete")
    if (file.exists(made_from) && identical(readLines(made_from),
        fingerprint()))
        c(glfs_install = folder)
}

base_python <- function(python) {
    candidates <- if (is.null(python))
        Filter(nzchar, Sys.which(c("python3", paste0("python3.", 14:11))))
    else find_python(python)
    for (one in candidates) {
        version <- ask_python(
            one, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"
        )
        if (isTRUE(numeric_version(version[1L], strict = FALSE) >= "3.11"))
            return(find_python(one))
    }
    glfs_stop(
        "glfsbio needs Python 3.11 or newer, ", if (length(candidates) == 0L)
            "and there is no python3 on the search path"
        else paste0("not ", candidates[[1L]]),
        ". On Debian and Ubuntu: apt install python3-venv libpython3-dev. ",
        "Elsewhere: ",
        "reticulate::install_python(\"3.12\"), and glfs_install(python = ) ",
        "with the ",
        "path that it returns."
    )
}

install_step <- function(python, arguments) {
    said <- ask_python(python, arguments)
    if (!is.null(attr(said, "status")))
        glfs_stop(
            "The environment could not be made: '", python, "' ",
            paste(arguments, collapse = " "), "\n",
            paste(utils::tail(said, 15L), collapse = "\n")
        )
}

# On first use: asked where somebody can answer.
provided_environment <- function() {
    told <- getOption("glfsbio.install", Sys.getenv("GLFSBIO_INSTALL", NA))
    told <- if (is.na(told)) NA else isTRUE(as.logical(told))
    if (is.na(told))
        told <- !interactive() || isTRUE(utils::askYesNo(paste0(
            "glfsbio needs the Python package glfs_bio. Make an environment ",
            "for it ",
            "in ", environment_folder(),
            "? It takes some minutes and 0.9 GB of disk."
        )))
    if (!told)
        glfs_stop(
            "glfsbio needs a Python with the package glfs_bio: run ",
            "glfs_install(), ",
            "which makes one, or name yours with glfs_setup()."
        )
    glfs_install()
}
