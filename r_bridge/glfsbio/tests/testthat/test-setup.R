# Every one in an R of its own: a process has one Python.
in_r <- function(code, env = character()) {
    file <- withr::local_tempfile(fileext = ".R")
    writeLines(c("library(glfsbio)", code), file)
    paste(suppressWarnings(system2(
        file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = TRUE, stderr = TRUE,
        env = c(paste0("R_LIBS=", paste(.libPaths(), collapse = ":")), env)
    )), collapse = "\n")
}

test_that("setup says which Python it uses", {
    need_python()
    python <- glfs_setup(quiet = TRUE)$python
    expect_match(in_r(paste0("glfs_setup('", dirname(dirname(python)), "')")), python,
        fixed = TRUE)
    expect_message(glfs_setup(), python, fixed = TRUE)
    expect_message(glfs_setup(python), "glfs_bio [0-9.]+ ")
})

test_that("a Python without the package: the line that mends it", {
    need_python()
    folder <- withr::local_tempdir()
    python <- glfs_setup(quiet = TRUE)$python
    withr::with_envvar(c(LD_LIBRARY_PATH = ""), system2(
        python, c("-m", "venv", "--without-pip", shQuote(folder))
    ))
    # A copy of the repository in the working directory is no installation.
    withr::local_dir(withr::local_tempdir())
    dir.create("glfs_bio")
    said <- in_r(paste0("glfs_setup('", folder, "')"))
    expect_match(said, "lacks glfs_bio and rpy2")
    expect_match(said, "bin/python' -m pip install", fixed = TRUE)
    if (getRversion() < "4.5.0")
        expect_match(said, "RPY2_CFFI_MODE=ABI .*rpy2-rinterface<3.6.6")
    expect_error(glfs_setup(folder), "a process has one Python")
})

test_that("a Python that refuses packages: an environment beside it", {
    lines <- install_lines("/usr/bin/python3", c("glfs_bio", "rpy2"), TRUE)
    expect_identical(lines[1], "'/usr/bin/python3' -m venv ~/venv")
    expect_true(all(grepl("~/venv", lines)))
    expect_false(any(grepl("python3' -m pip", lines)))
    skip_if_not(any(file.exists(Sys.glob("/usr/lib/python3*/EXTERNALLY-MANAGED"))))
    expect_error(check_modules("/usr/bin/python3"), "python3' -m venv ~/venv\n")
})

test_that("no such Python", {
    nowhere <- "GLFSBIO_PYTHON=/no/such"
    expect_match(
        in_r("print(glfs_available())", c(nowhere, "GLFSBIO_REQUIRE_PYTHON=")),
        "GLFSBIO_PYTHON = \"/no/such\" is neither a Python executable.*FALSE"
    )
    expect_match(
        in_r("print(glfs_available())", c(nowhere, "GLFSBIO_REQUIRE_PYTHON=1")),
        "Error.*neither a Python"
    )
})
