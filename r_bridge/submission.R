#!/usr/bin/env Rscript
# The package as Bioconductor takes it: of the release of R that it is developed with, and
# with a maintainer and addresses in place of those at example.org.
#   Rscript r_bridge/submission.R FOLDER "Given Family <name@place>" https://address/of/the/repository
# Then, in FOLDER: git init, a commit, and a push to the branch that is submitted.
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) != 3L)
    stop("Usage: Rscript submission.R FOLDER \"Given Family <name@place>\" ADDRESS")
folder <- arguments[1L]
if (dir.exists(folder))
    stop(folder, " exists: name a new folder.")
maintainer <- as.person(arguments[2L])
if (is.null(maintainer$email) || is.null(maintainer$family))
    stop("The maintainer must be given as \"Given Family <name@place>\".")
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
source <- file.path(dirname(script), "glfsbio")
dir.create(folder, recursive = TRUE)
invisible(file.copy(list.files(source, full.names = TRUE), folder, recursive = TRUE))
file <- file.path(folder, "DESCRIPTION")
fields <- read.dcf(file, keep.white = "Authors@R")
fields[, "Depends"] <- "R (>= 4.5.0)"
fields[, "Authors@R"] <- sprintf(
    "person(\"%s\", \"%s\", email = \"%s\",\n    role = c(\"aut\", \"cre\"))",
    maintainer$given, maintainer$family, maintainer$email
)
fields[, "URL"] <- arguments[3L]
fields[, "BugReports"] <- paste0(sub("/$", "", arguments[3L]), "/issues")
write.dcf(fields, file, keep.white = "Authors@R")
left <- Filter(
    function(path) any(grepl("example.org", readLines(path, warn = FALSE), fixed = TRUE)),
    list.files(folder, recursive = TRUE, full.names = TRUE)
)
if (length(left) > 0L)
    stop("example.org is still in ", paste(left, collapse = ", "))
cat("Written to ", folder, "\n", sep = "")
