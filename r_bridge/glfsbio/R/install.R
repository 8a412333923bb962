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
#' The environment takes 0.5 GB. No function of this package needs scanpy or
#' matplotlib, so they are not in it; for a Python with these and others give
#' [glfs_setup()] an environment of your own.
#'
#' # One per version
#'
#' Every version of this package, with every version of Python, has a folder of
#' its own in `tools::R_user_dir("glfsbio", "cache")`, the same in all sessions
#' and locales. It is made beside, started from R, and renamed when it is
#' complete, so that an interrupted installation leaves nothing that is used.
#' A second session that needs it meanwhile waits and then uses it. Where the
#' session that was making it has ended, or has not been heard of for ten
#' minutes on another host, the next one goes on in its place.
#'
#' Each session compares the files with those that were installed. If some are
#' missing or cut short, the environment is made anew. Those of other versions
#' stay, as sessions may be using them; `glfs_install()` names them. When no R
#' is using them, remove them with [unlink()], or all of them with
#' `unlink(tools::R_user_dir("glfsbio", "cache"), recursive = TRUE)`.
#'
#' # Clusters and mirrors
#'
#' The environment variable `R_USER_CACHE_DIR` moves the cache, for example to a
#' disk that several people share, who then need no right to write there. A
#' mirror of PyPI is named as for pip, by its configuration or the environment
#' variable `PIP_INDEX_URL`; proxies and certificates hold too. Other settings
#' of pip (`PIP_USER`, `PIP_TARGET`, ...) and of Python (`PYTHONPATH`,
#' `PYTHONHOME`, ...) do not reach this environment.
#'
#' # basilisk
#'
#' Bioconductor's basilisk keeps such promises with a conda of its own and,
#' where another Python runs, a second process. This package reaches Python
#' through reticulate in the process of R instead: an environment is a few
#' pinned wheels of PyPI, whose hashes are checked; matrices are not serialised
#' on their way; and `glfs_setup()` takes any environment that you have, which
#' basilisk does not.
#'
#' @param python Python to make it with, 3.11 or newer. NULL: the first of
#'   `python3` of the search path and `python3.14` to `python3.11` that this R
#'   can load.
#' @param renew Whether to replace an environment that is complete.
#' @param wait Seconds to wait for another session that is making it.
#' @return The folder of the environment, invisibly. One that is complete stays
#'   as it is, unless `renew` is TRUE or `python` is of another version.
#' @examples
#' if (interactive()) glfs_install()
#' @export
glfs_install <- function(
        python = NULL, renew = FALSE,
        wait = getOption("glfsbio.wait", 1800)) {
    check_seconds(wait)
    bases <- if (!is.null(python)) base_pythons(python)
    version <- names(bases)
    found <- installed_environment(version)
    if (length(found) > 0L && !renew)
        return(invisible(found))
    lock <- hold_lock(file.path(cache(), paste0("lock-", fingerprint())), wait)
    on.exit(release_lock(lock))
    if (!renew || lock$waited)
        found <- installed_environment(version)
    if (length(found) == 0L || (renew && !lock$waited)) {
        bases <- if (is.null(bases)) base_pythons() else bases
        found <- make_environment(bases, lock)
    }
    others <- setdiff(environments(), environments(fingerprint()))
    if (length(others) > 0L)
        message(
            "Environments of other versions of glfsbio are ",
            listed(others), ". They can go when no R is using them: see ",
            "?glfs_install."
        )
    invisible(found)
}

cache <- function() tools::R_user_dir("glfsbio", "cache")

# What travels in this package for Python.
carried <- function(...)
    system.file("python", ..., package = "glfsbio", mustWork = TRUE)

# Of the sources and the pins, whatever the locale: those of another version are
# another environment.
fingerprint <- function() {
    files <- list.files(carried(), "[.](py|toml|txt)$", recursive = TRUE)
    sums <- tools::md5sum(carried(sort(files, method = "radix")))
    file <- tempfile()
    on.exit(unlink(file))
    writeLines(unname(sums), file)
    substr(unname(tools::md5sum(file)), 1L, 12L)
}

environment_folder <- function(
        version = names(base_pythons())[1L], key = fingerprint())
    file.path(cache(), paste0("python", version, "-", key))

# Folders that are there, the last one first: of this key, or of all.
environments <- function(key = "", version = NULL) {
    begins <- paste0("python", if (!is.null(version)) paste0(version[1L], "-"))
    names <- list.files(cache(), "^python")
    names <- names[startsWith(names, begins) & endsWith(names, key)]
    marks <- file.path(cache(), names, "complete")
    marks <- marks[file.exists(marks)]
    dirname(marks[order(file.mtime(marks), decreasing = TRUE)])
}

# The last one of this package that was made whole, and still is.
installed_environment <- function(version = NULL) {
    for (folder in environments(fingerprint(), version))
        if (length(damage(folder)) == 0L)
            return(c(glfs_install = folder))
}

# Of one that was made whole, and no longer is.
damaged <- function() {
    for (folder in environments(fingerprint()))
        if (length(gone <- damage(folder)) > 0L)
            return(paste0(
                "The Python environment ", folder, " is damaged: ",
                length(gone), " of its files are missing or cut short (",
                listed(gone), "). "
            ))
}

# Files that are not as they were when the environment was made.
damage <- function(folder) {
    lines <- readLines(file.path(folder, "complete"))
    if (length(lines) == 0L)
        return("complete")
    files <- sub("^[^ ]* ", "", lines)
    made <- as.numeric(sub(" .*", "", lines))
    there <- file.size(file.path(folder, files))
    files[is.na(there) | (made != there & made >= 0)]
}

seal <- function(folder) {
    # Python adds and changes what it compiles; lib64 is a link to lib.
    files <- grep(
        "(^|/)__pycache__/|^lib64/",
        list.files(folder, recursive = TRUE, all.files = TRUE),
        value = TRUE, invert = TRUE
    )
    # What a link leads to may change, as when Python is updated.
    linked <- nzchar(Sys.readlink(file.path(folder, files)))
    sizes <- ifelse(linked, -1, file.size(file.path(folder, files)))
    writeLines(paste(sizes, files), file.path(folder, "complete"))
}

# Pythons to make it with, by their versions.
base_pythons <- function(python = NULL) {
    places <- if (is.null(python))
        Filter(nzchar, Sys.which(c("python3", paste0("python3.", 14:11))))
    else find_python(python)
    versions <- vapply(places, function(one) apart(ask_python(
        one, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"
    ))[1L], "")
    fit <- numeric_version(versions, strict = FALSE) >= "3.11"
    found <- stats::setNames(places, versions)[fit %in% TRUE]
    if (length(found) > 0L)
        return(found[!duplicated(found)])
    glfs_stop(
        "glfsbio needs Python 3.11 or newer, ", if (length(places) == 0L)
            "and there is no python3 on the search path"
        else paste0("not ", places[[1L]]),
        ". On Debian and Ubuntu: apt install python3-venv libpython3-dev. ",
        "Elsewhere: reticulate::install_python(\"3.11\"), and ",
        "glfs_install(python = ) with the path that it returns."
    )
}

# Beside its place, to which it moves when R has started it.
make_environment <- function(bases, lock) {
    message(
        damaged(), "glfsbio makes its Python environment in ", cache(),
        ", once; it takes some minutes."
    )
    clear_remains()
    on.exit(clear_remains())
    new <- tempfile(paste0("new-", fingerprint(), "-"), normalizePath(cache()))
    settings <- NULL
    step <- function(python, ...) install_step(python, c(
        "-I", carried("step.py"), lock$path, ...
    ), settings)
    version <- begin_environment(bases, new, step)
    folder <- environment_folder(version)
    python <- find_python(new)
    settings <- pip_settings(python)
    pip <- c("pip", "install", "--quiet", "--no-compile")
    step(python, pip, "--require-hashes", "--only-binary=:all:",
        "--requirement", pinned("requirements.txt", "build.txt"))
    # Of what was just installed: nothing is looked up for it.
    step(python, pip, "--no-index", "--no-deps", "--no-build-isolation",
        carried("source"))
    tools <- setdiff(pins("build.txt"), pins("requirements.txt"))
    step(python, "pip", "uninstall", "--quiet", "--yes",
        sub("==.*", "", tools), "setuptools", "pip")
    install_step(python, c("-I", carried("finish.py"), folder))
    touch(lock$path)
    why <- start_in_r(python, c(
        paste0("glfsbio::glfs_setup(", deparse1(new), ")"),
        "glfsbio::glfs_select_genes(glfsbio::glfs_example(), n_genes = 3)"
    ))
    if (!is.null(why))
        glfs_stop("The environment was made, and R cannot use it:\n", why)
    seal(new)
    move_in(new, folder, lock)
    folder
}

# With the first Python that this R can load, before anything is downloaded.
begin_environment <- function(bases, new, step) {
    refused <- character()
    for (i in seq_along(bases)) {
        # Debian keeps what venv needs in a package of its own, and says so.
        why <- tryCatch({
            step(find_python(bases[[i]]), "venv", "--prompt", "glfsbio", new)
            start_in_r(find_python(new), "reticulate::py_run_string('pass')")
        }, glfs_error = conditionMessage)
        if (is.null(why))
            return(names(bases)[i])
        refused <- c(refused, paste0(bases[[i]], ": ", why))
        unlink(new, recursive = TRUE)
    }
    not_loaded("Python", paste(refused, collapse = "\n"))
}

# Of what was being made when a session ended: a lock has one holder.
clear_remains <- function() unlink(
    list.files(cache(), paste0("^new-", fingerprint()), full.names = TRUE),
    recursive = TRUE
)

# A session that runs keeps what it has loaded, and finds the same by its name.
move_in <- function(new, folder, lock) {
    if (!file.exists(lock$path))
        glfs_stop("Another R has taken over, and makes the environment.")
    old <- tempfile(paste0("new-", fingerprint(), "-"), cache())
    if (dir.exists(folder))
        file.rename(folder, old)
    if (!file.rename(new, folder))
        glfs_stop(new, " could not be renamed to ", folder, ".")
}

pins <- function(file)
    sub("[ ;].*", "", grep("==", readLines(carried(file)), value = TRUE))

# A file of the pins, each with its hashes, which the lock of the project has.
pinned <- function(...) {
    lock <- readLines(carried("lock.txt"))
    blocks <- split(lock, cumsum(!startsWith(lock, " ")))
    names(blocks) <- vapply(blocks, function(lines)
        sub("[ ;].*", "", lines[1L]), "")
    lines <- unlist(lapply(c(...), function(file) readLines(carried(file))))
    wanted <- unique(grep("==", lines, value = TRUE))
    file <- tempfile(fileext = ".txt")
    writeLines(unlist(lapply(wanted, function(pin)
        c(paste(pin, "\\"), blocks[[sub("[ ;].*", "", pin)]][-1L]))), file)
    file
}

install_step <- function(python, arguments, settings = NULL) {
    said <- apart(ask_python(python, arguments), c(settings, whole))
    if (is.null(attr(said, "status")))
        return(invisible())
    glfs_stop(
        "The environment could not be made. ", reason(said), "'", python,
        "' ", paste(arguments, collapse = " "), "\n",
        paste(utils::tail(said, 15L), collapse = "\n")
    )
}

# What to do about what pip, or the disk, has said.
reason <- function(said) {
    has <- function(pattern) any(grepl(pattern, said))
    if (has("No space left on device|Disk quota exceeded"))
        paste0(
            "The disk is full: 1 GB must be free in ", cache(), ", which ",
            "R_USER_CACHE_DIR moves, and in the folder TMPDIR.\n"
        )
    else if (has(paste0(
        "NewConnectionError|ConnectionError|NameResolutionError|Max retries|",
        "connection broken|timed out|ProxyError|SSLError|HTTPError|",
        "from versions: none" # all that is said without retries
    )))
        paste0(
            "No network: pip cannot reach the index of packages. ",
            "Once there is a network call glfs_install() again; name a mirror ",
            "with the environment variable PIP_INDEX_URL; or give ",
            "glfs_setup() an environment that has glfs_bio.\n"
        )
    else if (has("No matching distribution"))
        paste0(
            "The index that pip was told of lacks a version that is needed, ",
            "or has none for this Python: is a mirror complete? ",
            "glfs_install(python = ) takes another Python.\n"
        )
}

# In an R of its own: NULL, or why this Python cannot be used there.
start_in_r <- function(python, code) {
    script <- tempfile(fileext = ".R")
    on.exit(unlink(script))
    writeLines(code, script)
    said <- apart(suppressWarnings(system2(
        file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)),
        stdout = TRUE, stderr = TRUE
    )), c(
        whole, R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep),
        R_TESTS = "", RETICULATE_PYTHON = python
    ))
    if (!is.null(attr(said, "status")))
        paste(utils::tail(said, 5L), collapse = "\n")
}

not_loaded <- function(python, why) glfs_stop(
    python, " cannot be used from this R, with reticulate ",
    as.character(utils::packageVersion("reticulate")), ":\n", why,
    "\nName another Python, such as 3.11, with glfs_install(python = ) or ",
    "glfs_setup(), or update reticulate, which takes the Pythons of its time."
)

# Settings of other Pythons, which are none of this one's.
foreign <- c(
    "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONSTARTUP",
    "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE", "PYTHONOPTIMIZE",
    "PYTHONWARNINGS", "PYTHONCASEOK", "__PYVENV_LAUNCHER__", "VIRTUAL_ENV"
)

# Evaluates code without them, and with what is given.
apart <- function(code, set = NULL) {
    unset <- stats::setNames(rep(NA, length(foreign)), foreign)
    withr::with_envvar(c(unset, set), code)
}

# So that modules are compiled once, when it is made, and where they lie.
whole <- c(PYTHONDONTWRITEBYTECODE = NA, PYTHONPYCACHEPREFIX = NA)

# Of pip's settings, files of its own included, where packages come from.
pip_settings <- function(python) {
    keep <- paste(
        "index-url", "extra-index-url", "find-links", "no-index",
        "trusted-host", "proxy", "cert", "client-cert", "timeout",
        "default-timeout", "retries", "cache-dir", "no-cache-dir",
        "keyring-provider", "use-feature", "use-deprecated", sep = "|"
    )
    said <- apart(ask_python(python, "-m", "pip", "config", "list"))
    pattern <- paste0("^(global|install|:env:)[.](", keep, ")=['\"](.*)['\"]$")
    lines <- grep(pattern, said, value = TRUE)
    # The environment comes last, as it wins.
    lines <- lines[order(startsWith(lines, ":env:"))]
    kept <- stats::setNames(
        gsub("\\n", " ", sub(pattern, "\\3", lines), fixed = TRUE),
        paste0("PIP_", toupper(gsub("-", "_", sub(pattern, "\\2", lines))))
    )
    set <- c(
        kept[!duplicated(names(kept), fromLast = TRUE)],
        PIP_CONFIG_FILE = nullfile(), PIP_DISABLE_PIP_VERSION_CHECK = "1"
    )
    others <- setdiff(grep("^PIP_", names(Sys.getenv()), value = TRUE),
        names(set))
    c(set, stats::setNames(rep(NA, length(others)), others))
}

# On first use: asked where somebody can answer.
provided_environment <- function() {
    told <- getOption("glfsbio.install", Sys.getenv("GLFSBIO_INSTALL", NA))
    told <- if (is.na(told)) NA else isTRUE(as.logical(told))
    if (is.na(told))
        told <- !interactive() || isTRUE(utils::askYesNo(paste0(
            "glfsbio needs the Python package glfs_bio. Make an environment ",
            "for it in ", cache(),
            "? It takes some minutes and 0.5 GB of disk."
        )))
    if (!told)
        glfs_stop(
            damaged(),
            "glfsbio needs a Python with the package glfs_bio: run ",
            "glfs_install(), ",
            "which makes one, or name yours with glfs_setup()."
        )
    glfs_install()
}

# One session makes the environment, others wait. A lock is a folder with one
# file, named after its holder, who touches it. It comes into being by renaming
# a folder, and passes to another holder by renaming the file: of several who
# try one succeeds.

# A holder that was not heard of for so many seconds has ended.
silent <- 600

hold_lock <- function(lock, wait) {
    make_cache()
    mine <- file.path(lock, paste(host(), Sys.getpid(), basename(tempfile("")),
        sep = "~"))
    begun <- proc.time()[["elapsed"]]
    waited <- FALSE
    repeat {
        if (place_lock(lock, basename(mine)) || take_over(lock, mine))
            return(list(path = mine, waited = waited))
        if (proc.time()[["elapsed"]] - begun > wait)
            glfs_stop(
                "Another R (", holder(lock), ") is still making the ",
                "environment of glfsbio, after ", wait, " seconds. Try later; ",
                "wait longer, with options(glfsbio.wait = ); or, if there is ",
                "no such process, remove the folder ", lock, "."
            )
        if (!waited)
            message(
                "Another R (", holder(lock), ") is making the environment of ",
                "glfsbio: waiting for it, up to ", wait, " seconds."
            )
        waited <- TRUE
        Sys.sleep(0.5)
    }
}

release_lock <- function(lock) {
    folder <- dirname(lock$path)
    aside <- tempfile("lock-", dirname(folder))
    if (file.exists(lock$path) && file.rename(folder, aside))
        unlink(aside, recursive = TRUE)
}

place_lock <- function(lock, name) {
    aside <- tempfile("lock-", dirname(lock))
    on.exit(unlink(aside, recursive = TRUE))
    made <- dir.create(aside, showWarnings = FALSE) &&
        file.create(file.path(aside, name), showWarnings = FALSE)
    if (!made)
        not_writable()
    suppressWarnings(file.rename(aside, lock))
}

# Touched first, so that nobody else finds it silent after it was renamed.
take_over <- function(lock, mine) {
    theirs <- list.files(lock, full.names = TRUE)[1L]
    if (is.na(theirs) || !has_ended(theirs))
        return(FALSE)
    touch(theirs)
    suppressWarnings(file.rename(theirs, mine))
}

touch <- function(file) Sys.setFileTime(file, Sys.time())

has_ended <- function(file) {
    about <- strsplit(basename(file), "~", fixed = TRUE)[[1L]]
    heard <- file.mtime(file)
    if (is.na(heard))
        return(FALSE)
    difftime(Sys.time(), heard, units = "secs") > silent ||
        (identical(about[1L], host()) && !is_running(as.integer(about[2L])))
}

# One of another user takes no signal.
is_running <- function(pid)
    .Platform$OS.type == "windows" || tools::pskill(pid, 0L) ||
        file.exists(file.path("/proc", pid))

# This host, or container, as processes of others have other numbers.
host <- function() {
    space <- gsub("[^0-9]", "", Sys.readlink("/proc/self/ns/pid"))
    gsub("[^[:alnum:].-]", "-", paste0(Sys.info()[["nodename"]], "-", space))
}

holder <- function(lock) {
    about <- strsplit(c(list.files(lock), "?~?")[1L], "~", fixed = TRUE)[[1L]]
    paste("process", about[2L], "on", about[1L])
}

make_cache <- function() {
    dir.create(cache(), showWarnings = FALSE, recursive = TRUE)
    if (!dir.exists(cache()))
        not_writable()
}

not_writable <- function() glfs_stop(
    damaged(), "The environment of glfsbio cannot be made, as the cache ",
    cache(), " cannot be written. Name a folder that can, with the ",
    "environment variable R_USER_CACHE_DIR, for example in ~/.Renviron."
)

check_seconds <- function(wait)
    if (!is.numeric(wait) || length(wait) != 1L || is.na(wait) || wait < 0)
        refuse("wait", " must be a number of seconds, 0 or more.")
