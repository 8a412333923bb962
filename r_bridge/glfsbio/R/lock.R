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
