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
    expect_match(said, "lacks glfs_bio. Run glfs_install(), which", fixed = TRUE)
    expect_match(said, "bin/python' -m pip install", fixed = TRUE)
    expect_error(
        check_modules(file.path(folder, "bin", "python"), "rpy2"),
        if (getRversion() < "4.5.0") "RPY2_CFFI_MODE=ABI .*rpy2-rinterface<3.6.6" else "install rpy2"
    )
    expect_error(glfs_setup(folder), "a process has one Python")
    expect_error(
        check_running(file.path(folder, "bin", "python"), "reticulate"),
        "Another package has started .* lacks glfs_bio. Restart R and call glfs_setup\\(\\) before"
    )
})

test_that("a Python that refuses packages: an environment beside it", {
    lines <- install_lines("/usr/bin/python3", c("glfs_bio", "rpy2"), TRUE)
    expect_identical(lines[1], "'/usr/bin/python3' -m venv ~/venv")
    expect_true(all(grepl("~/venv", lines)))
    expect_false(any(grepl("python3' -m pip", lines)))
    skip_if_not(any(file.exists(Sys.glob("/usr/lib/python3*/EXTERNALLY-MANAGED"))))
    expect_error(check_modules("/usr/bin/python3", "reticulate"), "python3' -m venv ~/venv\n")
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

test_that("an environment of the package is found, offered, and made whole or not at all", {
    withr::local_envvar(
        R_USER_CACHE_DIR = withr::local_tempdir(), GLFSBIO_PYTHON = NA, RETICULATE_PYTHON = NA,
        VIRTUAL_ENV = NA, CONDA_PREFIX = NA
    )
    expect_null(installed_environment())
    expect_null(offer_environment("reticulate")) # not interactive: nothing is asked
    folder <- environment_folder()
    expect_error(glfs_install(python = "/bin/sh"), "needs Python 3.11 or newer, not /")
    expect_false(dir.exists(folder))
    dir.create(file.path(folder, "bin"), recursive = TRUE)
    file.create(file.path(folder, "bin", "python"))
    expect_null(installed_environment()) # as an interrupted installation leaves it
    file.create(file.path(folder, "complete"))
    expect_identical(find_python(NULL), file.path(normalizePath(folder), "bin", "python"))
    expect_identical(glfs_install(), folder)
    expect_error(install_step("/bin/sh", c("-c", "echo no network; exit 1")), "no network")
})

test_that("numbers travel in blocks", {
    need_python()
    here <- function(x) rapply(
        for_reticulate(x), reticulate::py_to_r, "python.builtin.object", how = "replace"
    )
    for (x in list(1:5, c(0.5, NA), integer(), list(a = 1, b = list(2L, "x", NULL))))
        expect_identical(from_reticulate(here(x)), x)
})
