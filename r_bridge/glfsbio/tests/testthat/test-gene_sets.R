table_of <- function() {
    S4Vectors::DataFrame(
        glfs_weight = c(0, 1, 0.9, 0.1), glfs_score = c(NA, 3, 2.5, 1 / 3),
        glfs_rank = c(NA, 1L, 2L, 3L), glfs_selected = c(FALSE, TRUE, TRUE, FALSE),
        row.names = c("A", "B", "C", "\u00c9")
    )
}

test_that("sets are in the order of the ranks, scores in that of the scores", {
    expect_identical(glfs_gene_sets(table_of()), list(glfs = c("B", "C")))
    expect_identical(glfs_scores(table_of()), c(B = 3, C = 2.5, "\u00c9" = 1 / 3))
    expect_refused(glfs_gene_sets(table_of(), key = "panel"), "x")
    expect_refused(glfs_gene_sets(1), "x")
})

test_that("files are written whole, and not over others", {
    gmt <- withr::local_tempfile(fileext = ".gmt")
    rnk <- withr::local_tempfile(fileext = ".rnk")
    glfs_gene_sets(table_of(), gmt = gmt, rnk = rnk)
    expect_identical(readLines(gmt), "glfs\tGLFS selection\tB\tC")
    lines <- readLines(rnk, encoding = "UTF-8")
    expect_identical(sub("\t.*", "", lines), c("B", "C", "\u00c9"))
    expect_identical(as.numeric(sub(".*\t", "", lines)), c(3, 2.5, 1 / 3))
    expect_error(glfs_gene_sets(table_of(), gmt = gmt), class = "glfs_error")
    glfs_gene_sets(table_of(), gmt = gmt, overwrite = TRUE)
    expect_error(
        glfs_gene_sets(table_of(), gmt = file.path(gmt, "a.gmt")), class = "glfs_error"
    )
    expect_refused(glfs_gene_sets(table_of(), gmt = tempdir(), overwrite = TRUE), "gmt")
})

test_that("a name that would break a line is refused before anything is written", {
    path <- withr::local_tempfile()
    for (name in c("B\tC", "B\nC", "")) {
        table <- table_of()
        rownames(table)[2] <- name
        expect_refused(glfs_gene_sets(table, gmt = path), "gmt")
        expect_refused(glfs_gene_sets(table, rnk = path), "rnk")
    }
    expect_false(file.exists(path))
})
