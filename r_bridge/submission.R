#!/usr/bin/env Rscript
# The package as Bioconductor takes it, built and checked:
#   Rscript r_bridge/submission.R [--only-build] FOLDER "Given Family <name@place>" \
#       https://address/of/the/repository
# FOLDER is the tree to submit: the files that git tracks, those of Python in place of links to
# them; R of Bioconductor's next release; the maintainer and addresses in place of those of the
# project at example.org. Without --only-build R CMD build, R CMD check and BiocCheck follow, and
# a report.
# Then, in FOLDER: git init, a commit, and a push to the branch that is submitted.
BIOC_R <- "4.5.0"
PLACEHOLDER <- "https://example.org/glfs-bio"
PLACEHOLDERS <- "example\\.org/glfs-bio|glfs-bio@example\\.org" # tests may name other hosts there

script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
repository <- dirname(dirname(script))

# Files that git tracks in a folder of the repository, and what they are called in a copy of it.
# A link to a folder stands for the tracked files of that folder.
tracked <- function(folder, name = "") {
    listed <- system2(
        "git", c("-C", shQuote(file.path(repository, folder)), "-c core.quotepath=off ls-files"),
        stdout = TRUE
    )
    if (!is.null(attr(listed, "status")))
        stop("The files of the package are those that git tracks: run this in a clone.")
    found <- file.path(repository, folder, listed)
    files <- stats::setNames(found, paste0(name, listed))
    linked <- dir.exists(found)
    for (i in which(linked)) {
        target <- substring(normalizePath(found[i]), nchar(repository) + 2L)
        files <- c(files, tracked(target, paste0(names(files)[i], "/")))
    }
    files[!c(linked, logical(length(files) - length(linked)))]
}

copied <- function(files, folder) {
    to <- file.path(folder, names(files))
    for (place in unique(dirname(to)))
        dir.create(place, recursive = TRUE, showWarnings = FALSE)
    if (!all(file.copy(files, to)))
        stop("These could not be copied: ", toString(files[!file.exists(to)]))
    to
}

# In all files the address, and in DESCRIPTION maintainer and R too.
addressed <- function(files, address) {
    for (file in files) {
        text <- readLines(file, warn = FALSE, encoding = "bytes")
        if (!any(grepl(PLACEHOLDERS, text, useBytes = TRUE)))
            next
        # Pages of the documentation are in the repository too.
        for (place in paste0(PLACEHOLDER, c("/docs", "")))
            text <- gsub(place, address, text, fixed = TRUE, useBytes = TRUE)
        writeLines(text, file, useBytes = TRUE)
    }
}

described <- function(file, person) {
    kept <- colnames(read.dcf(file)) # whose lines stay as they are
    fields <- read.dcf(file, keep.white = kept)
    fields[, "Depends"] <- sub("R \\(>= [0-9.]+\\)", sprintf("R (>= %s)", BIOC_R), fields[, "Depends"])
    fields[, "Authors@R"] <- sprintf(
        "person(\"%s\", \"%s\", email = \"%s\",\n    role = c(\"aut\", \"cre\"))",
        paste(person$given, collapse = " "), person$family, person$email
    )
    write.dcf(fields, file, keep.white = kept)
}

built <- function(folder, person, address) {
    files <- copied(tracked("r_bridge/glfsbio"), folder)
    addressed(files, sub("/$", "", address))
    described(file.path(folder, "DESCRIPTION"), person)
    left <- Filter(
        function(file) any(grepl(PLACEHOLDERS, readLines(file, warn = FALSE), useBytes = TRUE)), files
    )
    if (length(left) > 0L)
        stop("An address at example.org is still in ", toString(left))
}

# What the three programs say of the tree, and whether they find no error and no warning.
checked <- function(folder) {
    work <- tempfile("submission")
    dir.create(work)
    on.exit(unlink(work, recursive = TRUE))
    file.copy(folder, work, recursive = TRUE)
    tree <- file.path(work, basename(folder))
    older <- getRversion() < BIOC_R
    if (older) { # the tree itself needs an R that is not here
        file <- file.path(tree, "DESCRIPTION")
        writeLines(sub(BIOC_R, getRversion(), readLines(file), fixed = TRUE), file)
    }
    R <- function(...) system2(file.path(R.home("bin"), "R"), c("CMD", ...))
    before <- setwd(work)
    on.exit(setwd(before), add = TRUE, after = FALSE)
    if (R("build", shQuote(tree)) != 0L)
        return(list(said = "R CMD build: failed", passed = FALSE))
    tarball <- Sys.glob("glfsbio_*.tar.gz")
    said <- sprintf("R CMD build: %s, %.1f MB", tarball, file.size(tarball) / 1e6)
    R("check", "--no-manual", tarball)
    status <- grep("^Status:", readLines("glfsbio.Rcheck/00check.log"), value = TRUE)
    tests <- "glfsbio.Rcheck/tests/testthat.Rout"
    tests <- if (file.exists(tests)) grep("^\\[ FAIL", readLines(tests), value = TRUE)
    log <- "BiocCheck.log"
    code <- system2(
        file.path(R.home("bin"), "Rscript"), shQuote(file.path(dirname(script), "bioc_check.R")),
        stdout = log, stderr = log
    )
    found <- grep("ERRORS \\|", readLines(log), value = TRUE)
    cat(readLines(log), sep = "\n")
    list(
        said = c(
            said, paste("R CMD check:", c(status, tests)), paste("BiocCheck:", found),
            if (older) sprintf("Checked with R %s: repeat it with %s or newer.", getRversion(), BIOC_R)
        ),
        passed = code == 0L && length(found) == 1L && length(status) == 1L &&
            !grepl("ERROR|WARNING", status)
    )
}

arguments <- commandArgs(trailingOnly = TRUE)
only_build <- "--only-build" %in% arguments
arguments <- setdiff(arguments, "--only-build")
if (length(arguments) != 3L)
    stop("Usage: Rscript submission.R [--only-build] FOLDER \"Given Family <name@place>\" ADDRESS")
folder <- arguments[1L]
if (file.exists(folder))
    stop(folder, " exists: name a new folder.")
person <- as.person(arguments[2L])
if (length(person) != 1L || is.null(person$email) || is.null(person$family))
    stop("The maintainer must be given as \"Given Family <name@place>\".")
built(folder, person, arguments[3L])
cat("Written to ", folder, "\n", sep = "")
if (!only_build) {
    report <- checked(normalizePath(folder))
    cat("", report$said, sep = "\n")
    quit(status = !report$passed)
}
