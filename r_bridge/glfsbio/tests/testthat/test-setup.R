# Every one in an R of its own: a process has one Python.
in_r <- function(code, env = character()) {
    file <- withr::local_tempfile(fileext = ".R")
    writeLines(c("suppressPackageStartupMessages(library(glfsbio))", code), file)
    paste(suppressWarnings(system2(
        file.path(R.home("bin"), "Rscript"), shQuote(file), stdout = TRUE, stderr = TRUE,
        env = c(paste0("R_LIBS=", paste(.libPaths(), collapse = ":")), env)
    )), collapse = "\n")
}

test_that("setup says which Python it uses", {
    python <- glfs_setup(quiet = TRUE)$python
    expect_match(in_r(paste0("glfs_setup('", dirname(dirname(python)), "')")), python,
        fixed = TRUE)
    expect_message(glfs_setup(), python, fixed = TRUE)
    expect_message(glfs_setup(python), "glfs_bio [0-9.]+ ")
})

test_that("a Python without the package: the line that mends it", {
    folder <- withr::local_tempdir()
    python <- glfs_setup(quiet = TRUE)$python
    withr::with_envvar(c(LD_LIBRARY_PATH = ""), system2(
        python, c("-m", "venv", "--without-pip", shQuote(folder))
    ))
    # A copy of the repository in the working directory is no installation.
    withr::local_dir(withr::local_tempdir())
    dir.create("glfs_bio")
    said <- in_r(paste0("glfs_setup('", folder, "')"))
    expect_match(said, "lacks glfs_bio, and is the Python that was named", fixed = TRUE)
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
    said <- in_r("glfs_example()", "GLFSBIO_PYTHON=/no/such")
    expect_match(said, "GLFSBIO_PYTHON = \"/no/such\" is neither a Python executable")
})

# An environment as far as it is looked at: modules that can be found.
environment_with <- function(folder, modules = "glfs_bio") {
    python <- file.path(folder, "bin", "python")
    dir.create(dirname(python), recursive = TRUE)
    file.symlink(Sys.which("python3"), python)
    site <- file.path(folder, "site")
    for (module in modules)
        dir.create(file.path(site, module), recursive = TRUE)
    folder
}

test_that("the environment of the package wins over what is set for other things", {
    cache <- withr::local_tempdir()
    others <- environment_with(withr::local_tempdir())
    withr::local_envvar(
        R_USER_CACHE_DIR = cache, GLFSBIO_PYTHON = NA, GLFSBIO_INSTALL = "false",
        RETICULATE_PYTHON = NA, VIRTUAL_ENV = NA, CONDA_PREFIX = NA
    )
    withr::local_options(glfsbio.python = NULL, glfsbio.install = NULL)
    folder <- environment_with(environment_folder())
    expect_null(installed_environment()) # as an interrupted installation leaves it
    writeLines("of another version", file.path(folder, "complete"))
    expect_null(installed_environment())
    writeLines(fingerprint(), file.path(folder, "complete"))
    ours <- file.path(normalizePath(folder), "bin", "python")
    expect_identical(glfs_install(), folder)
    for (name in c("RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"))
        withr::with_envvar(
            stats::setNames(others, name),
            expect_identical(chosen_python(NULL, "reticulate"), ours)
        )
    theirs <- file.path(normalizePath(others), "bin", "python")
    expect_identical(chosen_python(others, "reticulate"), theirs)
    withr::with_envvar(
        c(GLFSBIO_PYTHON = others),
        expect_identical(chosen_python(NULL, "reticulate"), theirs)
    )
    withr::with_options(
        list(glfsbio.python = others),
        expect_identical(chosen_python(NULL, "reticulate"), theirs)
    )
    # Without ours, others are looked at; one without glfs_bio is none.
    unlink(file.path(folder, "complete"))
    withr::local_envvar(PATH = "", CONDA_PREFIX = others)
    expect_error(chosen_python(NULL, "reticulate"), "run glfs_install\\(\\)")
    withr::with_envvar(
        c(PYTHONPATH = file.path(others, "site")),
        expect_identical(chosen_python(NULL, "reticulate"), theirs)
    )
})

test_that("an environment is made whole or not at all", {
    withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
    folder <- environment_folder()
    expect_error(glfs_install(python = "/bin/sh"), "needs Python 3.11 or newer, not /")
    expect_error(install_step("/bin/sh", c("-c", "echo no network; exit 1")), "no network")
    dir.create(paste0(folder, ".lock"), recursive = TRUE)
    expect_error(glfs_install(), "Another R is making")
    expect_false(dir.exists(folder))
})

test_that("nothing is taken from the working directory", {
    withr::local_dir(withr::local_tempdir())
    dir.create("glfs_bio")
    writeLines("raise SystemExit('not this one')", file.path("glfs_bio", "__init__.py"))
    python <- glfs_setup(quiet = TRUE)$python
    expect_match(in_r(paste0("glfs_setup('", python, "')")), "glfs_bio [0-9.]+ ")
    expect_true(file.exists(carried("source", "glfs_bio", "__init__.py")))
    expect_true(file.exists(carried("source", "pyproject.toml")))
})

test_that("numbers travel in blocks", {
    here <- function(x) rapply(
        for_reticulate(x), reticulate::py_to_r, "python.builtin.object", how = "replace"
    )
    for (x in list(1:5, c(0.5, NA), integer(), list(a = 1, b = list(2L, "x", NULL))))
        expect_identical(from_reticulate(here(x)), x)
})
