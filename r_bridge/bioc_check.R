# BiocCheck on the tarball in this folder or above it, without a network; fails on errors and on
# warnings. With an argument, a library that has the package: BiocCheck does not install it again.
library <- commandArgs(TRUE)
if (length(library) > 0L)
    utils::assignInNamespace("installAndLoad", function(...) {
        folder <- tempfile()
        dir.create(folder)
        file.symlink(library, file.path(folder, "lib"))
        folder
    }, "BiocCheck")
# It asks Bioconductor's servers for the names of all packages, and no argument leaves it out.
if (exists("checkBiocDepsDESC", asNamespace("BiocCheck")))
    utils::assignInNamespace("checkBiocDepsDESC", function(...) NULL, "BiocCheck")
result <- BiocCheck::BiocCheck(
    Sys.glob(c("glfsbio_*.tar.gz", "../glfsbio_*.tar.gz"))[1L], checkDir = ".",
    # These four ask them, too.
    `no-check-bioc-help` = TRUE, `no-check-CRAN` = TRUE,
    `no-check-deprecated` = TRUE, `no-check-version-num` = TRUE
)
quit(status = length(result$error) + length(result$warning) > 0L)
