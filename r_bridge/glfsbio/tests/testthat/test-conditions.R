test_that("an exception in Python is an R condition with the traceback", {
    error <- tryCatch(glfs_select_genes(cells(), n_comps = -1), error = identity)
    expect_s3_class(error, c("python.ValueError", "python.Exception", "glfs_error"))
    expect_identical(error[c("argument", "kind")], list(argument = "n_comps", kind = "InvalidValue"))
    expect_match(conditionMessage(error), "n_comps = -1", fixed = TRUE)
    expect_match(error$traceback, "Traceback.*select_genes")
    expect_refused(select(cells(), no_such = 1), "no_such", "python.TypeError")
})

test_that("a warning in Python is an R warning", {
    counts <- round(10 * cells())
    expect_warning(select(counts), class = "python.UserWarning")
})

test_that("what Python says is a message, in the words of R", {
    labels <- replace(groups, 1:9, "unknown")
    expect_message(classified <- glfs_classify(cells(), labels, 2), "unknown")
    expect_silent(suppressMessages(glfs_classify(cells(), labels, 2)))
    labels[10] <- "alone"
    need_package("knitr")
    code <- "```{r}\nx <- glfs_classify(cells(), labels, 2)\n```"
    shown <- knitr::knit(text = code, quiet = TRUE, envir = environment())
    expect_match(shown, "## .*alone")
    expect_message(
        tryCatch(glfs_classify(cells(), labels, 2, lambda1 = -1), glfs_error = identity), NA
    )
    sce <- sce_of(cells())
    expect_refused(select(sce, block = "zz"), "block", "python.KeyError")
    expect_error(select(sce, block = "zz"), "colData(x)", fixed = TRUE)
    expect_error(select(sce, use_rep = "PCA"), "use_rep = \"PCA\" .*reducedDims\\(x\\)")
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
