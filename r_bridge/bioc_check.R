# BiocCheck on the tarball in this folder, without a network; fails on errors and on warnings.
result <- BiocCheck::BiocCheck(
    Sys.glob("glfsbio_*.tar.gz"), checkDir = ".",
    # These four ask Bioconductor's servers.
    `no-check-bioc-help` = TRUE, `no-check-CRAN` = TRUE,
    `no-check-deprecated` = TRUE, `no-check-version-num` = TRUE
)
quit(status = length(result$error) + length(result$warning) > 0L)
