test_that("an exception in Python is an R condition with the traceback", {
    error <- tryCatch(glfs_select_genes(cells(), n_comps = -1), error = identity)
    expect_s3_class(error, c("python.ValueError", "python.Exception", "glfs_error"))
    expect_identical(error[c("argument", "kind")], list(argument = "n_comps", kind = "InvalidValue"))
    expect_match(conditionMessage(error), "n_comps = -1", fixed = TRUE)
    expect_match(error$traceback, "Traceback.*select_genes")
})

test_that("what Python says is a message or a warning, in the words of R", {
    labels <- replace(groups, 10, "alone")
    expect_message(glfs_classify(cells(), labels, 2), "alone")
    sce <- sce_of(cells())
    expect_error(select(sce, block = "zz"), "colData(x)", fixed = TRUE)
    expect_warning(select(sce_of(round(10 * cells()))), "scuttle::logNormCounts()", fixed = TRUE,
        class = "python.UserWarning")
})

test_that("arguments are converted, or refused by name", {
    x <- cells()
    plain <- select(x)
    for (options in list(list(cell_weights = NULL), list(random_state = NULL),
        list(include = c("g1", "g2")), list(include = factor("g1"))))
        expect_identical(do.call(select, c(list(x), options))$glfs_selected, plain$glfs_selected)
    for (wrong in list(NA, mean))
        expect_refused(select(x, include = wrong), "include")
    expect_refused(select(x, inplace = FALSE), "inplace")
    odd <- c("\u00e9\u4e2d", "a\nb", "tab\t", "with \"quotes\"", "NA", "\u00e9")
    odd[6] <- iconv("\u00fc", "UTF-8", "latin1")
    rownames(x)[1:6] <- odd
    table <- select(x, include = odd[c(1, 6)])
    expect_identical(enc2utf8(rownames(table)), enc2utf8(rownames(x)))
    expect_identical(unlist(glfs_result(table)$params$include), enc2utf8(odd[c(1, 6)]))
    here <- function(x) unpacked(packed(x))
    for (x in list(1:5, c(0.5, NA), integer(), list(a = 1, b = list(2L, "x\u00e9", NULL))))
        expect_identical(here(x), x)
})

# In an R of its own: a process has one Python.
in_r <- function(code, env = character()) {
    file <- withr::local_tempfile(fileext = ".R")
    writeLines(c("suppressPackageStartupMessages(library(glfsbio))", code), file)
    withr::local_envvar(c(R_LIBS = paste(.libPaths(), collapse = ":"), PYTHONPATH = "", env))
    paste(run_command(file.path(R.home("bin"), "Rscript"), file), collapse = "\n")
}

test_that("setup says which Python it uses, or what is wrong with it", {
    withr::local_envvar(PYTHONPATH = "")
    python <- glfs_setup(quiet = TRUE)$python
    expect_message(glfs_setup(), python, fixed = TRUE)
    folder <- withr::local_tempdir()
    run_command(python, c("-m", "venv", "--without-pip", folder))
    # Beside a folder that is called as the package, and that is no installation.
    withr::local_dir(withr::local_tempdir())
    dir.create("glfs_bio")
    writeLines("raise SystemExit('not this one')", file.path("glfs_bio", "__init__.py"))
    said <- in_r(paste0("
        said <- function(...)
            cat(tryCatch(glfs_setup(...), glfs_error = conditionMessage), '\n\f')
        said()
        said('", folder, "')
        glfs_setup('", dirname(dirname(python)), "')
    "), c(GLFSBIO_PYTHON = "/no/such"))
    said <- strsplit(said, "\f", fixed = TRUE)[[1L]]
    expect_match(said[1L], "GLFSBIO_PYTHON = \"/no/such\"")
    expect_match(said[2L], "lacks glfs_bio.*bin/python' -m pip install")
    expect_match(said[3L], paste0("glfs_bio [0-9.]+ .*", python))
    umlaut <- withr::local_tempfile(fileext = "\u00fc")
    Encoding(umlaut) <- "unknown"
    file.create(umlaut)
    expect_error(withr::with_locale(c(LC_CTYPE = "C"), find_python(umlaut)), "LC_ALL=C.UTF-8")

    lacking <- file.path(folder, "bin", "python")
    expect_error(glfs_setup(folder), "a process has one Python")
    expect_error(check_package(lacking, runs = TRUE), "lacks glfs_bio.*Another package")
})

# An environment as far as it is looked at: modules that can be found.
environment_with <- function(folder, modules = "glfs_bio") {
    dir.create(file.path(folder, "bin"), recursive = TRUE)
    file.symlink(Sys.which("python3"), file.path(folder, "bin", "python"))
    for (module in modules)
        dir.create(file.path(folder, "site", module), recursive = TRUE)
    folder
}

test_that("the environment of the package wins over what is set for other things", {
    others <- environment_with(withr::local_tempdir())
    theirs <- file.path(normalizePath(others), "bin", "python")
    withr::local_envvar(
        R_USER_CACHE_DIR = withr::local_tempdir(), GLFSBIO_PYTHON = NA, GLFSBIO_INSTALL = "false",
        RETICULATE_PYTHON = NA, VIRTUAL_ENV = NA, CONDA_PREFIX = others, PYTHONPATH = NA)
    folder <- environment_with(environment_folder())
    cached <- file.path(normalizePath(folder), "bin", "python")
    withr::local_envvar(PATH = "")
    withr::local_options(glfsbio.python = NULL, glfsbio.install = NULL)
    expect_identical(glfs_install(), folder)
    for (name in c("RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"))
        withr::with_envvar(stats::setNames(others, name), expect_identical(choose_python(), cached))
    expect_identical(choose_python(others), theirs)
    withr::with_envvar(c(GLFSBIO_PYTHON = others), expect_identical(choose_python(), theirs))
    withr::with_options(list(glfsbio.python = others), expect_identical(choose_python(), theirs))
    expect_error(check_package(cached), "renew = TRUE")
    unlink(file.path(folder, "bin"), recursive = TRUE)
    expect_error(choose_python(), "renew = TRUE")
    unlink(folder, recursive = TRUE)
    expect_error(choose_python(), "glfs_install\\(\\) makes one")
})

test_that("what failed is named", {
    expect_refused(glfs_install(wait = "long"), "wait")
    expect_error(run_step("/bin/sh", c("-c", "echo no hash; exit 1")), "no hash")
    expect_match(remedy("NewConnectionError: Name or service not known"), "No network")
    untrusted <- "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]"
    expect_match(remedy(c(paste0("connection broken by ", untrusted), "(from versions: none)")),
        "certificate.*PIP_CERT")
})

test_that("settings of other Pythons reach them, and not ours", {
    withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir(), PYTHONPATH = "there",
        PIP_TARGET = "nowhere", PIP_CONSTRAINT = "none.txt", PIP_INDEX_URL = "https://mirror.test")
    dir.create(cache(), recursive = TRUE)
    seen <- function(python) with_python(python, Sys.getenv("PYTHONPATH"))
    expect_identical(seen("/usr/bin/python3"), "there")
    expect_identical(seen(file.path(normalizePath(cache()), "bin", "python")), "")
    expect_identical(with_settings(Sys.getenv("PIP_TARGET")), "")
    expect_identical(with_settings(Sys.getenv("PIP_INDEX_URL")), "https://mirror.test")
})

test_that("a lock has one holder, and that of a process that ended passes on", {
    withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir())
    lock <- hold_lock(file.path(cache(), "lock"), 0)
    expect_error(hold_lock(lock, 0), "remove the folder")
    # Its process has ended, on this host or on another one.
    ended <- file.path(lock, paste(2^22 + 1, "on", c(Sys.info()[["nodename"]], "elsewhere")))
    file.rename(list.files(lock, full.names = TRUE), ended[2L])
    expect_error(hold_lock(lock, 0), "remove the folder")
    file.rename(ended[2L], ended[1L])
    skip_if_not(dir.exists("/proc/self"))
    expect_identical(hold_lock(lock, 0), lock)
    expect_match(list.files(lock), paste0("^", Sys.getpid(), " on "))
})

test_that("the example and the sources of Python are carried along", {
    x <- glfs_example()
    expect_identical(dim(x), c(765L, 700L))
    for (file in c("glfs_bio/__init__.py", "pyproject.toml"))
        expect_true(file.exists(carried("source", file)))
})
