test_that("an exception in Python is an R condition with the traceback", {
    error <- tryCatch(glfs_select_genes(cells(), n_comps = -1), error = identity)
    expect_s3_class(error, c("python.ValueError", "python.Exception", "glfs_error"))
    expect_identical(error[c("argument", "kind")], list(argument = "n_comps", kind = "InvalidValue"))
    expect_match(conditionMessage(error), "n_comps = -1", fixed = TRUE)
    expect_match(error$traceback, "Traceback.*select_genes")
    expect_refused(select(cells(), no_such = 1), "no_such")
})

test_that("a warning in Python is an R warning", {
    counts <- round(10 * cells())
    expect_warning(select(counts), class = "python.UserWarning")
})

test_that("what Python says is a message, in the words of R", {
    labels <- replace(groups, 10, "alone")
    expect_message(classified <- glfs_classify(cells(), labels, 2), "alone")
    expect_silent(suppressMessages(glfs_classify(cells(), labels, 2)))
    need_package("knitr")
    code <- "```{r}\nx <- glfs_classify(cells(), labels, 2)\n```"
    shown <- knitr::knit(text = code, quiet = TRUE, envir = environment())
    expect_match(shown, "## .*alone")
    expect_message(
        tryCatch(glfs_classify(cells(), labels, 2, include = "zz"), glfs_error = identity), NA
    )
    sce <- sce_of(cells())
    expect_refused(select(sce, block = "zz"), "block", "python.KeyError")
    expect_error(select(sce, block = "zz"), "colData(x)", fixed = TRUE)
    expect_error(select(sce, dimred = "PCA"), "dimred = \"PCA\" .*reducedDims\\(x\\)")
    expect_error(select(sce, random_state = "a"), "or NULL")
    expect_warning(select(sce_of(round(10 * cells()))),
        "scuttle::logNormCounts()", fixed = TRUE)
    expect_refused(glfs_laprls(cells(), rep("a", 90)), "labels", "python.ValueError")
})

test_that("an error of R below Python comes back with its message", {
    skip_if(Sys.getenv("R_COVR") == "true")
    path <- withr::local_tempfile(fileext = ".h5ad")
    writeLines("not HDF5", path)
    expect_refused(glfs_read_h5ad(path), "path", "python.ValueError")
    expect_refused(glfs_read_h5ad("no such file"), "path")
})

test_that("arguments are converted, or refused by name", {
    x <- cells()
    plain <- select(x)
    for (options in list(
        list(cell_weights = NULL), list(random_state = NULL), list(include = "g1"),
        list(include = c("g1", "g2")), list(include = factor("g1"))
    ))
        expect_identical(
            do.call(select, c(list(x), options))$glfs_selected, plain$glfs_selected
        )
    expect_refused(select(x, include = NA), "include")
    expect_refused(select(x, include = mean), "include")
    expect_refused(select(x, across = Sys.Date()), "across")
    expect_error(glfs_select_genes(x, 5, 100), class = "glfs_error")
})

test_that("strings of all kinds come through", {
    x <- cells()
    odd <- c("\u00e9\u4e2d", "a\nb", "tab\t", "with \"quotes\"", "NA", "\u00e9")
    odd[6] <- iconv("\u00fc", "UTF-8", "latin1")
    rownames(x)[1:6] <- odd
    table <- select(x, include = odd[c(1, 6)])
    expect_identical(enc2utf8(rownames(table)), enc2utf8(rownames(x)))
    expect_identical(unlist(S4Vectors::metadata(table)$glfs$params$include),
        enc2utf8(odd[c(1, 6)]))
})

# In an R of its own: a process has one Python.
in_r <- function(code, env = character()) {
    file <- withr::local_tempfile(fileext = ".R")
    writeLines(c("suppressPackageStartupMessages(library(glfsbio))", code), file)
    withr::local_envvar(c(R_LIBS = paste(.libPaths(), collapse = ":"), env))
    paste(run_command(file.path(R.home("bin"), "Rscript"), file), collapse = "\n")
}

# Beside a folder that is called as the package, and that is no installation.
beside_another <- function(.local_envir = parent.frame()) {
    withr::local_dir(withr::local_tempdir(.local_envir = .local_envir), .local_envir = .local_envir)
    dir.create("glfs_bio")
    writeLines("raise SystemExit('not this one')", file.path("glfs_bio", "__init__.py"))
}

test_that("setup says which Python it uses, or what is wrong with it", {
    python <- glfs_setup(quiet = TRUE)$python
    expect_message(glfs_setup(), python, fixed = TRUE)
    expect_message(glfs_setup(python), "glfs_bio [0-9.]+ ")
    folder <- withr::local_tempdir()
    run_command(python, c("-m", "venv", "--without-pip", folder))
    beside_another()
    said <- in_r(paste0("
        said <- function(...)
            cat(tryCatch(glfs_setup(...), glfs_error = conditionMessage), '\n\f')
        said()
        said('", folder, "')
        glfs_setup('", dirname(dirname(python)), "')
    "), c(GLFSBIO_PYTHON = "/no/such"))
    said <- strsplit(said, "\f", fixed = TRUE)[[1L]]
    expect_match(said[1L], "GLFSBIO_PYTHON = \"/no/such\" is neither a Python executable")
    expect_match(said[2L], "lacks glfs_bio. Name another Python with glfs_setup()", fixed = TRUE)
    expect_match(said[2L], "bin/python' -m pip install", fixed = TRUE)
    expect_match(said[3L], python, fixed = TRUE)
    expect_match(said[3L], "glfs_bio [0-9.]+ ")

    umlaut <- withr::local_tempfile(fileext = "\u00fc")
    Encoding(umlaut) <- "unknown"
    file.create(umlaut)
    expect_error(withr::with_locale(c(LC_CTYPE = "C"), find_python(umlaut)), "LC_ALL=C.UTF-8")

    lacking <- file.path(folder, "bin", "python")
    expect_error(glfs_setup(folder), "a process has one Python")
    expect_error(
        check_package(lacking, runs = TRUE),
        "lacks glfs_bio, and another package has started it.* Restart R and call\\s+glfs_setup\\(\\) before"
    )
})

system_python <- Sys.which("python3")

# An environment as far as it is looked at: modules that can be found.
environment_with <- function(folder, modules = "glfs_bio") {
    python <- file.path(folder, "bin", "python")
    dir.create(dirname(python), recursive = TRUE)
    file.symlink(system_python, python)
    site <- file.path(folder, "site")
    for (module in modules)
        dir.create(file.path(site, module), recursive = TRUE)
    folder
}

test_that("the environment of the package wins over what is set for other things", {
    others <- environment_with(withr::local_tempdir())
    withr::local_envvar(
        R_USER_CACHE_DIR = withr::local_tempdir(), GLFSBIO_PYTHON = NA, GLFSBIO_INSTALL = "false",
        RETICULATE_PYTHON = NA, VIRTUAL_ENV = NA, CONDA_PREFIX = NA, PATH = ""
    )
    withr::local_options(glfsbio.python = NULL, glfsbio.install = NULL)
    expect_error(choose_python(), "glfs_install\\(\\) makes one")
    # An active one is used if it has the package.
    theirs <- file.path(normalizePath(others), "bin", "python")
    withr::local_envvar(CONDA_PREFIX = others)
    expect_error(choose_python(), "glfs_install\\(\\) makes one")
    withr::with_envvar(
        c(PYTHONPATH = file.path(others, "site")), expect_identical(choose_python(), theirs)
    )
    folder <- environment_with(environment_folder())
    cached <- file.path(normalizePath(folder), "bin", "python")
    expect_identical(glfs_install(), folder)
    for (name in c("RETICULATE_PYTHON", "VIRTUAL_ENV", "CONDA_PREFIX"))
        withr::with_envvar(stats::setNames(others, name), expect_identical(choose_python(), cached))
    expect_identical(choose_python(others), theirs)
    withr::with_envvar(
        c(GLFSBIO_PYTHON = others), expect_identical(choose_python(), theirs)
    )
    withr::with_options(
        list(glfsbio.python = others), expect_identical(choose_python(), theirs)
    )
    expect_error(check_package(cached), "renew = TRUE")
    unlink(file.path(folder, "bin"), recursive = TRUE)
    expect_error(choose_python(), "renew = TRUE")
})

test_that("what failed is named", {
    expect_refused(glfs_install(wait = "long"), "wait")
    expect_error(run_step("/bin/sh", c("-c", "echo no hash; exit 1")), "no hash")
    expect_match(remedy("OSError: [Errno 28] No space left on device"), "disk is full")
    expect_match(remedy("NewConnectionError: Name or service not known"), "No network")
    untrusted <- "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]"
    expect_match(remedy(c(paste0("connection broken by ", untrusted), "(from versions: none)")),
        "certificate.*PIP_CERT")
    expect_match(remedy("ERROR: hashes"), "failed")
})

test_that("settings of other Pythons reach them, and not ours", {
    withr::local_envvar(R_USER_CACHE_DIR = withr::local_tempdir(), PYTHONPATH = "there",
        PIP_TARGET = "nowhere", PIP_CONSTRAINT = "none.txt", PIP_INDEX_URL = "https://mirror.example.org/simple")
    dir.create(cache(), recursive = TRUE)
    seen <- function(python) with_python(python, Sys.getenv("PYTHONPATH"))
    expect_identical(seen("/usr/bin/python3"), "there")
    expect_identical(seen(file.path(normalizePath(cache()), "bin", "python")), "")
    expect_identical(Sys.getenv("PYTHONPATH"), "there")
    expect_identical(with_settings(Sys.getenv("PIP_TARGET")), "")
    expect_identical(with_settings(Sys.getenv("PIP_CONSTRAINT")), "")
    expect_identical(with_settings(Sys.getenv("PIP_INDEX_URL")), "https://mirror.example.org/simple")
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

test_that("the example is what scanpy ships", {
    x <- glfs_example()
    expect_identical(dim(x), c(765L, 700L))
    expect_identical(
        SingleCellExperiment::reducedDimNames(x), c("PCA", "UMAP")
    )
    expect_length(unique(x$bulk_labels), 10)
    path <- system.file("extdata", "pbmc.h5ad", package = "glfsbio")
    few <- suppressMessages(glfs_read_h5ad(path, X_name = "scaled"))
    expect_true(all(rownames(few) %in% rownames(x)) && all(colnames(few) %in% colnames(x)))
})

test_that("the sources of Python are carried along", {
    expect_true(file.exists(carried("source", "glfs_bio", "__init__.py")))
    expect_true(file.exists(carried("source", "pyproject.toml")))
})

test_that("numbers travel in blocks", {
    here <- function(x) r_value(for_python(x, identity))
    for (x in list(1:5, c(0.5, NA), integer(), list(a = 1, b = list(2L, "x", NULL))))
        expect_identical(here(x), x)
})
