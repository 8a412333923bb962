"""Bad input in R: an error of class glfs_error, in the words that Python has for it, or R's own."""

from __future__ import annotations

import pytest

#: What the rows call; run once, in one R.
OBJECTS = """
set.seed(1)
x <- matrix(rnorm(40 * 60, 1, 0.3), 40, dimnames = list(paste0("g", 1:40), paste0("c", 1:60)))
for (i in 1:3) x[i, 20 * (i - 1) + 1:20] <- x[i, 20 * (i - 1) + 1:20] + 3
put <- function(value) { x[3, 5] <- value; x }
sce <- SingleCellExperiment::SingleCellExperiment(
    list(logcounts = x), colData = S4Vectors::DataFrame(batch = rep(c("a", "b"), 30))
)
eset <- Biobase::ExpressionSet(x)
twins <- x; rownames(twins)[2] <- "g1"
genes <- glfs_select_genes(x, n_genes = 3, n_comps = NULL)
half <- rep(c("a", "b"), 30)
fitted <- glfs_laprls(x, half)
learnt <- glfs_classify(x, half, 2, mask_var = 1:40 < 5)
folder <- tempfile(); dir.create(folder)
old <- file.path(folder, "old.gmt"); writeLines("old", old)
s <- function(...) glfs_select_genes(x, ..., n_comps = NULL)
"""
TRY = """
function(code) tryCatch(
    { eval(parse(text = code), glfs_rows); c("none", "") },
    error = function(e) c(paste(class(e), collapse = " "), conditionMessage(e))
)
"""
PYTHON_VALUE, PYTHON_TYPE, PYTHON_KEY = (f"python.{kind}Error" for kind in ("Value", "Type", "Key"))
R = "glfs_error"

#: R expression, class of the condition, words of the message
ROWS = [
    ("s(n_genes = 0)", PYTHON_VALUE, "n_genes=0 must be an integer"),
    ("s(n_genes = -2)", PYTHON_VALUE, "n_genes=-2"),
    ("s(n_genes = 2.5)", PYTHON_TYPE, "n_genes=2.5"),
    ("s(n_genes = 'ten')", PYTHON_TYPE, "n_genes='ten'"),
    ("s(n_genes = TRUE)", PYTHON_TYPE, "n_genes=TRUE"),
    ("s(n_genes = 41)", PYTHON_VALUE, "n_genes=41 is more than the 40 genes"),
    ("s(n_genes = NA)", R, "n_genes has missing values"),
    ("s(n_genes = mean)", R, "n_genes is a function"),
    ("s(method = 'magic')", PYTHON_VALUE, "method='magic' is not known"),
    ("s(method = 'variance')", PYTHON_VALUE, "only method='glfs' chooses a number"),
    ("s(objective = 'x')", PYTHON_VALUE, "objective='x' is not known"),
    ("s(objective = 'mse')", PYTHON_VALUE, "objective='mse' is there no more"),
    ("s(lam = 1)", PYTHON_VALUE, "lam=1 is for objective='exact' or objective='printed'"),
    ("s(objective = 'exact', lam = -1)", PYTHON_VALUE, "lam=-1"),
    ("s(objective = 'exact', lam = 'x')", PYTHON_VALUE, "lam='x'"),
    ("s(objective = 'exact', lam = 1e12)", PYTHON_VALUE, "leaves no gene"),
    ("s(objective = 'exact', lam = Inf)", PYTHON_VALUE, "lam=inf"),
    ("s(lambda1 = -1)", PYTHON_VALUE, "lambda1=-1"),
    ("s(lambda1 = NaN)", R, "lambda1"),
    ("s(lambda1 = 'much')", PYTHON_TYPE, "lambda1='much'"),
    ("s(lambda1 = NULL)", PYTHON_TYPE, "lambda1=NULL"),
    ("s(lambda1 = 1i)", R, "lambda1 is a complex"),
    ("s(lambda1 = Sys.Date())", R, "lambda1 is a Date"),
    ("s(standardize = 'z')", PYTHON_VALUE, "standardize='z'"),
    ("glfs_select_genes(x, n_comps = 0)", PYTHON_VALUE, "n_comps=0"),
    ("glfs_select_genes(x, n_comps = 'x')", PYTHON_TYPE, "n_comps='x'"),
    ("s(n_neighbors = 0)", PYTHON_VALUE, "n_neighbors=0"),
    ("s(include = 'zz')", PYTHON_KEY, "'zz'"),
    ("s(include = NA)", R, "include has missing values"),
    ("s(exclude = 5)", PYTHON_TYPE, "exclude=5"),
    ("s(include = 'g1', exclude = 'g1')", PYTHON_VALUE, "rule out: g1"),
    ("s(mask_var = 'zz')", PYTHON_KEY, "mask_var='zz'"),
    ("s(mask_var = c(TRUE, FALSE))", PYTHON_VALUE, "mask_var must be logical with 40 entries"),
    ("s(mask_var = rep(FALSE, 40))", PYTHON_VALUE, "mask_var leaves nothing"),
    ("s(key_added = 'a/b')", PYTHON_VALUE, "slash"),
    ("s(key_added = '')", PYTHON_VALUE, "key_added=''"),
    ("s(random_state = -1)", PYTHON_VALUE, "random_state=-1"),
    ("s(random_state = 'x')", PYTHON_TYPE, "random_state='x'"),
    ("s(subset = 'yes')", PYTHON_TYPE, "subset='yes'"),
    ("s(inplace = FALSE)", R, "inplace has no meaning in R"),
    ("s(no_such = 1)", PYTHON_TYPE, "no_such"),
    ("glfs_select_genes(x, 5, 100)", R, "must be given by name"),
    ("glfs_select_genes(put(NA), 3)", R, "missing"),
    ("glfs_select_genes(put(NaN), 3)", R, ""),
    ("glfs_select_genes(put(Inf), 3)", PYTHON_VALUE, "NaN or infinite"),
    ("glfs_select_genes(twins, 3)", R, "g1"),
    ("glfs_select_genes(x[, 1:2], 3)", PYTHON_VALUE, "There are 2 cells"),
    ("glfs_select_genes(x[1, , drop = FALSE], 1)", PYTHON_VALUE, "There is 1 gene"),
    ("glfs_select_genes(x * 0, 3)", PYTHON_VALUE, "No gene varies"),
    ("glfs_select_genes(matrix('a', 4, 4), 2)", R, ""),
    ("glfs_select_genes(NULL, 3)", R, ""),
    ("glfs_select_genes('cells.h5ad', 3)", R, ""),
    ("glfs_select_genes(mean, 3)", R, ""),
    ("glfs_select_genes(sce, 3, assay = 'counts')", R, "counts"),
    ("glfs_select_genes(sce, 3, assay = 5)", R, "assay"),
    ("glfs_select_genes(eset, 3, assay = 'x')", R, "x"),
    ("glfs_select_genes(sce, 3, batch_key = 'zz')", PYTHON_KEY, "batch_key='zz'"),
    ("glfs_select_genes(sce, 3, use_rep = 'PCA')", PYTHON_KEY, "use_rep='PCA' is not in reduced"),
    ("s(limits = list(max_meen = 3))", R, "limits has max_meen, which is none of min_mean"),
    ("s(limits = 3)", R, "limits must be made by glfs_limits(), not a numeric"),
    ("s(limits = glfs_limits(max_cells = 3))", PYTHON_VALUE, "max_cells=3 must be a share"),
    ("s(limits = glfs_limits(per_type = 1))", PYTHON_VALUE, "name their column with groupby="),
    ("s(limits = glfs_limits(families = list(1), per_family = 1))", PYTHON_TYPE, "families"),
    ("s(2, cost = c(g1 = 1), budget = 2)", PYTHON_VALUE, "cost has no finite value for 39 genes"),
    ("s(2, cost = c(g1 = NA), budget = 2)", R, "cost has missing values"),
    ("s(2, cost = 'zz', budget = 2)", PYTHON_KEY, "cost='zz' is not a column"),
    ("s(2, failure = c(zz = 0.1))", PYTHON_KEY, "zz"),
    (
        "s(2, preserve = 'zz')",
        PYTHON_KEY,
        "preserve='zz' is neither 'structure' nor 'expression' nor in colData(x)",
    ),
    ("s(2, preserve = 5)", PYTHON_TYPE, "preserve=5 must be"),
    ("s(2, preserve = NA)", R, "preserve has missing values"),
    ("s(2, preserve = mean)", R, "preserve is a function"),
    ("s(2, preserve = c(structure = 'x'))", R, "it must hold one weight each"),
    ("s(2, preserve = list(structure = 1, 2))", R, "it must hold one weight each"),
    ("s(2, preserve = c(structure = NA_real_))", R, "preserve has missing values"),
    ("s(2, preserve = c(structure = 0))", PYTHON_VALUE, "preserve['structure']=0"),
    ("s(2, cell_weights = 'zz')", PYTHON_KEY, "cell_weights='zz' is not in colData(x)"),
    ("glfs_curve(x, 4, preserve = 'zz')", PYTHON_KEY, "preserve='zz' is neither"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), cell_weights = 5)", PYTHON_TYPE, "cell_weights=5"),
    ("s(2, counts_layer = 'counts')", R, "x is a matrix: put both into a SummarizedExperiment"),
    ("glfs_select_genes(sce, 2, counts_layer = 'counts')", R, "is not an assay of x: logcounts"),
    ("glfs_select_genes(eset, 2, counts_layer = 'raw')", R, "is not in assayData: exprs"),
    ("glfs_evaluate_panel(x)", PYTHON_KEY, "panel='glfs' is no file, no key of a selection"),
    ("glfs_evaluate_panel(x, c('g1', 'zz'), missing = 'raise')", PYTHON_KEY, "zz"),
    ("glfs_evaluate_panel(x, 'g1')", PYTHON_KEY, "Give names as a list"),
    ("glfs_evaluate_panel(x, 1:3)", R, "panel must be names of genes"),
    ("glfs_evaluate_panel(x, mean)", R, "panel is a function"),
    ("glfs_evaluate_panel(x, c('g1', NA))", R, "panel has missing values"),
    ("glfs_evaluate_panel(sce, c('g1', 'g2'), 'zz')", PYTHON_KEY, "zz"),
    (
        "glfs_evaluate_panel(x, c('g1', 'g2'), structure_key = 'a', n_comps = 3)",
        PYTHON_VALUE,
        "structure_key names a structure that is there: leave n_comps out",
    ),
    ("glfs_structure(x)", R, "x is a matrix, which has no place for a structure"),
    ("glfs_select_genes(list())", R, "x is an empty list"),
    ("glfs_select_genes(list(sce, eset), 3, block = half)", R, "block must be the name"),
    ("glfs_select_genes(list(a = x, b = x[1:20, ]), 30)", PYTHON_VALUE, "30 is more than the 20"),
    ("glfs_plot_panel(sce)", R, "run glfs_select_genes() first"),
    ("glfs_plot_curve(1)", R, "must be a result of glfs_curve()"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), nope = 1)", PYTHON_TYPE, "nope"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), NULL, 5)", R, "must be given by name"),
    ("glfs_extend_panel(x, c('g1', 'g2'), 0)", PYTHON_VALUE, "n_extra=0"),
    ("glfs_extend_panel(x, c('g1', 'g2'), 40)", PYTHON_VALUE, "more than the 38 genes"),
    ("glfs_substitutes(x, c('g1', 'g2'), 'g3')", PYTHON_VALUE, "not in the panel: g3"),
    ("glfs_substitutes(x, c('g1', 'g2'), n = 0)", PYTHON_VALUE, "n=0"),
    ("glfs_explain_panel(x, c('g1', 'g2'), n_labels = 0)", PYTHON_VALUE, "n_labels=0"),
    ("glfs_compare_panels(x, c('g1', 'g2'))", R, "panels must be a named list of panels"),
    ("glfs_compare_panels(x, list(a = 'g1'))", PYTHON_TYPE, "at least two panels"),
    ("glfs_curve(x, 41)", PYTHON_VALUE, "max_genes=41 is more than the 40 genes"),
    ("glfs_curve(x, 4, sizes = 2)", PYTHON_VALUE, "sizes= is for labels="),
    ("glfs_stability(x)", PYTHON_KEY, "is not in metadata(x)"),
    ("glfs_stability(x, 3.5)", PYTHON_TYPE, "n_genes=3.5"),
    ("glfs_stability(x, 3, n_resamples = 1)", PYTHON_VALUE, "n_resamples=1"),
    ("glfs_stability(x, 3, fraction = 2)", PYTHON_VALUE, "fraction=2"),
    ("glfs_stability(x, 3, nope = 1)", PYTHON_TYPE, "nope=1 is not one of"),
    ("glfs_laprls(x, half[-1])", R, "labels has 59 entries for 60 samples"),
    ("glfs_laprls(x, rep('a', 60))", PYTHON_VALUE, "one class"),
    ("glfs_laprls(x, rep(NA_character_, 60))", PYTHON_VALUE, "label"),
    ("glfs_laprls(x, rnorm(60))", R, "labels must be a factor"),
    ("glfs_laprls(sce, 'zz')", R, 'labels = "zz" is not a column'),
    ("glfs_classify(x, half[-1])", R, "labels has 59 entries for 60 samples"),
    ("glfs_classify(x, rnorm(60))", R, "labels must be a factor"),
    ("glfs_classify(x, half, n_genes = 0)", PYTHON_VALUE, "n_genes=0"),
    ("glfs_classify(x, half, 2, nope = 1)", PYTHON_TYPE, "nope"),
    ("glfs_classify(x, half, 2, graph = 'x')", PYTHON_VALUE, "graph='x'"),
    ("glfs_classify(x, rep('a', 60), 2)", PYTHON_VALUE, "one class"),
    ("glfs_classify(sce, 'zz', 2)", PYTHON_KEY, "zz"),
    ("glfs_predict(x, 5)", R, "model is a numeric: it must be"),
    ("glfs_predict(x, sce)", R, 'model has no classifier under "glfs_class"'),
    ("glfs_predict(x, 'no.json')", "python.OSError", "no.json does not exist"),
    ("glfs_predict(x[5:9, ], learnt)", PYTHON_VALUE, "No gene of the model is in"),
    ("glfs_predict(x, learnt, unsure = -1)", PYTHON_VALUE, "unsure=-1"),
    ("glfs_write_classifier(learnt, 'x.txt')", PYTHON_VALUE, "must end with .json"),
    ("glfs_write_classifier(learnt, 5)", R, "path must be one string"),
    ("glfs_write_classifier(sce, 'x.json', 'mine')", R, 'with key_added = "mine" first'),
    ("glfs_read_classifier(old)", PYTHON_VALUE, "is not a classifier"),
    ("glfs_laprls(x, half, lambda1 = -1)", PYTHON_VALUE, "lambda1=-1"),
    ("glfs_laprls(x, half, lambda2 = 0)", PYTHON_VALUE, "lambda2=0"),
    ("predict(fitted, x[20:40, ])", R, "newdata lacks"),
    ("glfs_gene_sets(x)", R, "not a result of glfs_select_genes"),
    ("glfs_gene_sets(genes, key = 'zz')", R, "x has no zz_selected"),
    ("glfs_gene_sets(genes, gmt = old)", R, "exists"),
    ("glfs_gene_sets(genes, gmt = 'no/such/x.gmt')", R, "folder no/such does not exist"),
    ("glfs_gene_sets(genes, gmt = 5)", R, "gmt must be one string"),
    ("glfs_gene_sets(genes, c('glfs', 'glfs'), rnk = 'x.rnk')", R, "rnk takes the ranking of one"),
    ("glfs_scores(genes, key = 5)", R, "key must be one string"),
    ("glfs_scores(1:3)", R, "not a result"),
    ("glfs_read_h5ad('no.h5ad')", R, "does not exist"),
    ("glfs_read_h5ad(old)", "python.OSError", ""),
    ("glfs_read_h5ad(5)", R, "must be one string"),
]  # fmt: skip


@pytest.fixture(scope="module")
def attempt(ri):
    ri.evalr("glfs_rows <- new.env(); library(glfsbio)")
    ri.baseenv["eval"](ri.parse(OBJECTS), ri.globalenv["glfs_rows"])
    return ri.evalr(TRY)


@pytest.mark.parametrize(("code", "condition", "words"), ROWS)
def test_refused(attempt, ri, code, condition, words):
    classes, message = attempt(ri.StrSexpVector([code]))
    assert condition in classes.split()
    assert "glfs_error" in classes.split()
    assert words in message
    assert "Traceback" not in message
