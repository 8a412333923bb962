"""The words of R: an error has class, argument, kind and R's names."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from glfs_bio.errors import (
    NO_VALUE,
    NONE,
    OBS,
    OBSM,
    InvalidValue,
    arg,
    call,
    listed,
    shown,
)
from glfs_bio.rbridge import words
from glfs_bio.rbridge.words import R

NAMESPACE = Path(__file__).parents[2] / "r_bridge" / "glfsbio" / "NAMESPACE"
#: What the refusals are asked of; R code → argument, kind, words of the message.
DATA = """
x <- matrix(abs(sin(1:800)), 20, dimnames = list(paste0("g", 1:20), paste0("c", 1:40)))
told <- function(code) tryCatch({ code; NULL }, error = function(e)
    c(class(e), e$argument, e$kind, conditionMessage(e)))
"""
REFUSED = {
    "glfs_select_genes(x, n_genes = 'ten')": ("InvalidType", "n_genes", 'n_genes = "ten" must be'),
    "glfs_select_genes(x, n_genes = 0)": ("InvalidValue", "n_genes", "or NULL"),
    "glfs_select_genes(x, 3, subset = 'yes')": ("InvalidType", "subset", "TRUE or FALSE"),
    "glfs_select_genes(x, 3, nope = 1)": ("InvalidType", "nope", "of glfs_select_genes(x): "),
    "glfs_evaluate_panel(x, c('g1', 'g2'), zz = 1)": ("InvalidType", "zz", "n_random"),
    "glfs_laprls(x, rep(1:2, 20), nope = 1)": ("InvalidType", "nope", "lambda1, lambda2"),
}


def test_functions_of_r_are_there():
    exported = NAMESPACE.read_text(encoding="utf-8")
    for one in words._CALLS.values():
        assert f"export({one.partition('(')[0]})" in exported.replace("exportMethods", "export")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (np.bool_(False), "FALSE"),
        ('a "b"', '"a \\"b\\""'),
        ("X_pca", '"PCA"'),
        (["a", 1], 'c("a", 1)'),
        ({"g1": 0.5}, "c(g1 = 0.5)"),
        (float("inf"), "Inf"),
        (np.int64(3), "3"),
        (np.array([True, False]), "logical vector of length 2"),
        (np.array(["a"], dtype=object), "character vector of length 1"),
    ],
)
def test_values(value, written):
    assert words.shown(value) == written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (arg("layer"), "assay.type"),
        (arg("objective", "exact"), 'objective = "exact"'),
        (arg("subset", True), "subset = TRUE"),
        (arg("max_size", None), "max_size = NULL"),
        (call("pp.structure"), "glfs_structure(x)"),
        (call("Limits"), "glfs_limits()"),
        (call("Platform"), "glfs_platform()"),
        (call("tl.enrich"), "glfs_bio.tl.enrich in Python"),
        (f"{OBSM}: {listed(['X_pca', 'other'])}", "reducedDims(x): PCA, other"),
        (shown("X_pca", None), '"PCA", NULL'),
    ],
)
def test_marks(text, said):
    assert R.show(text) == said


def test_a_vector_has_no_name():
    """The column that R puts it into is none that the user knows."""
    assert words.argument("labels", '"glfs_labels"') == "labels"
    assert words.argument("batch_key", '"glfs_block"') == "block"
    assert words.argument("labels", '"type"') == 'labels = "type"'


def test_words_of_a_class():
    text = f"{OBS}, {OBSM}: {listed(['X_pca'])}; {shown('X_umap')} {arg('layer')}"
    assert words.door("Seurat").show(text) == 'x[[]], Reductions(x): pca; "umap" layer'
    assert words.door("ExpressionSet").show(OBS) == "pData(x)"


def test_a_refusal():
    refusal = InvalidValue("adata", NO_VALUE, f"has no {OBS}", f"set {arg('layer')} to {NONE}")
    assert refusal.render(R) == "x has no colData(x): set assay.type to NULL."
    refusal = InvalidValue("preserve['X_pca']", 0, "must be above 0")
    assert refusal.render(R) == 'preserve["PCA"] = 0 must be above 0.'


@pytest.fixture(scope="module")
def told(ri):
    ri.evalr(f"library(glfsbio); {DATA}")
    return lambda code: list(ri.evalr(f"told({code})"))


@pytest.mark.parametrize("code", REFUSED)
def test_conditions_of_refusals(told, code):
    kind, argument, said = REFUSED[code]
    *classes, named, kind_named, message = told(code)
    assert {"glfs_error", "python.Refusal", f"python.{kind}"} <= set(classes)
    assert (named, kind_named) == (argument, kind)
    assert message.startswith(argument)
    assert said in message


def test_a_missing_column_is_refused_in_words_of_r(told):
    """Whatever Python says of it."""
    message = told("glfs_select_genes(x, 3, block = 'zz')")[-1]
    assert "zz" in message


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
typo <- data.frame()
fitted <- glfs_laprls(x, half)
learnt <- glfs_classify(x, half, 2, exclude = paste0('g', 5:40))
of <- function(layer) glfs_limits(max_total_per_cell = 3, counts_layer = layer)
folder <- tempfile(); dir.create(folder)
old <- file.path(folder, "old.gmt"); writeLines("old", old)
order <- glfs_order_panel(x, c("g1", "g2"), "merscope")
o <- function(...) glfs_order_panel(sce, c("g1", "g2"), ...)
s <- function(...) glfs_select_genes(x, ..., n_comps = NULL)
k <- function(...) glfs_structure(sce, ...)
kept <- k(key_added = "mine")
other <- kept
SummarizedExperiment::assay(other, "logcounts")[1, 1] <- 9
"""
TRY = """
`%||%` <- function(x, y) if (is.null(x)) y else x
function(code) tryCatch(
    { eval(parse(text = code), glfs_rows); rep("none", 4) },
    error = function(e) c(
        paste(class(e), collapse = " "), e$argument %||% "", e$kind %||% "", conditionMessage(e)
    )
)
"""
#: What a user of R has no use for: modules, classes and values of Python, and arrays.
FOREIGN = re.compile(
    r"glfs_bio\.|\badata|numpy|pandas|ndarray|array\(|dtype|\bNone\b|\bTrue\b|\bFalse\b|\.obs|\.var|\.uns"
    r"|\[\[[\d.-]|<class|\bdict\b|\btuple\b|inplace="
)
VALUE, TYPE, KEY, FILE = "InvalidValue", "InvalidType", "NotFound", "FileRefused"
#: Refused by R itself, which has no kinds.
IN_R = ""

#: R expression; kind of the refusal; the argument, or None where it is none
ROWS = [
    ("s(n_genes = 0)", VALUE, "n_genes"),
    ("s(n_genes = -2)", VALUE, "n_genes"),
    ("s(n_genes = 2.5)", TYPE, "n_genes"),
    ("s(n_genes = 'ten')", TYPE, "n_genes"),
    ("s(n_genes = TRUE)", TYPE, "n_genes"),
    ("s(n_genes = 41)", VALUE, "n_genes"),
    ("s(n_genes = NA)", IN_R, "n_genes"),
    ("s(n_genes = mean)", IN_R, "n_genes"),
    ("s(method = 'magic')", VALUE, "method"),
    ("s(method = 'variance')", VALUE, "n_genes"),
    ("s(objective = 'x')", VALUE, "objective"),
    ("s(objective = 'mse')", VALUE, "objective"),
    ("s(lam = 1)", VALUE, "lam"),
    ("s(objective = 'exact', lam = -1)", VALUE, "lam"),
    ("s(objective = 'exact', lam = 'x')", VALUE, "lam"),
    ("s(objective = 'exact', lam = 1e12)", VALUE, "lam"),
    ("s(objective = 'exact', lam = Inf)", VALUE, "lam"),
    ("s(swaps = 1)", TYPE, "swaps"),
    ("s(mask_var = 'zz')", TYPE, "mask_var"),
    ("s(as_highly_variable = 'yes')", TYPE, "as_highly_variable"),
    ("s(lambda1 = 20)", TYPE, "lambda1"),
    ("k(lambda1 = -1)", VALUE, "lambda1"),
    ("k(lambda1 = NaN)", IN_R, "lambda1"),
    ("k(lambda1 = 'much')", TYPE, "lambda1"),
    ("k(lambda1 = NULL)", TYPE, "lambda1"),
    ("k(lambda1 = typo$lambda1)", IN_R, "lambda1"),
    ("k(lambda1 = 1i)", IN_R, "lambda1"),
    ("k(lambda1 = Sys.Date())", IN_R, "lambda1"),
    ("k(standardize = 'z')", VALUE, "standardize"),
    ("k(n_neighbors = 0)", VALUE, "n_neighbors"),
    ("k(mask_var = 'zz')", TYPE, "mask_var"),
    ("k(key_added = 'a/b')", VALUE, "key_added"),
    ("glfs_select_genes(x, n_comps = 0)", VALUE, "n_comps"),
    ("glfs_select_genes(x, n_comps = 'x')", TYPE, "n_comps"),
    ("s(include = 'zz')", KEY, "include"),
    ("s(include = NA)", IN_R, "include"),
    ("s(exclude = 5)", TYPE, "exclude"),
    ("s(include = 'g1', exclude = 'g1')", VALUE, "include"),
    ("s(key_added = 'a/b')", VALUE, "key_added"),
    ("s(key_added = '')", VALUE, "key_added"),
    ("s(random_state = -1)", VALUE, "random_state"),
    ("s(random_state = 'x')", TYPE, "random_state"),
    ("s(subset = 'yes')", TYPE, "subset"),
    ("s(inplace = FALSE)", TYPE, "inplace"),
    ("s(no_such = 1)", TYPE, "no_such"),
    ("glfs_select_genes(x, 5, 100)", IN_R, None),
    ("glfs_select_genes(put(NA), 3)", IN_R, None),
    ("glfs_select_genes(put(NaN), 3)", IN_R, None),
    ("glfs_select_genes(put(Inf), 3)", VALUE, "x"),
    ("glfs_select_genes(twins, 3)", IN_R, None),
    ("glfs_select_genes(x[, 1:2], 3)", VALUE, "x"),
    ("glfs_select_genes(x[1, , drop = FALSE], 1)", VALUE, "x"),
    ("glfs_select_genes(x * 0, 3)", VALUE, "x"),
    ("glfs_select_genes(matrix('a', 4, 4), 2)", IN_R, None),
    ("glfs_select_genes(NULL, 3)", IN_R, "x"),
    ("glfs_select_genes('cells.h5ad', 3)", IN_R, "x"),
    ("glfs_select_genes(mean, 3)", IN_R, "x"),
    ("glfs_select_genes(sce, 3, assay = 'counts')", IN_R, "assay"),
    ("glfs_select_genes(sce, 3, assay = 5)", IN_R, "assay"),
    ("glfs_select_genes(eset, 3, assay = 'x')", IN_R, "assay"),
    ("glfs_select_genes(sce, 3, block = 'zz')", KEY, "block"),
    ("glfs_select_genes(sce, 3, use_rep = 'PCA')", KEY, "use_rep"),
    ("glfs_select_genes(other, 3, use_rep = 'mine')", VALUE, "use_rep"),
    ("glfs_select_genes(kept, 3, use_rep = 'mine', block = 'batch')", VALUE, "block"),
    ("glfs_select_genes(sce, 3, batch_key = 'batch')", IN_R, "batch_key"),
    ("glfs_select_genes(sce, 3, dimred = 'PCA')", IN_R, "dimred"),
    ("glfs_select_genes(sce, 3, assay.type = 'counts')", IN_R, "assay.type"),
    ("glfs_select_genes(sce, 3, block = sce$typo)", IN_R, "block"),
    ("glfs_select_genes(sce, 3, cell_weights = 1:3)", IN_R, "cell_weights"),
    ("glfs_evaluate_panel(kept, c('g1', 'g2'), use_rep = 'zz')", KEY, "use_rep"),
    ("glfs_evaluate_panel(kept, c('g1', 'g2'), use_rep = 'mine', n_comps = 3)", VALUE, "use_rep"),
    ("s(limits = list(max_meen = 3))", TYPE, "max_meen"),
    ("s(limits = 3)", IN_R, "limits"),
    ("glfs_limits(3)", IN_R, None),
    ("glfs_limits(max_meen = 3)", IN_R, "max_meen"),
    ("s(limits = glfs_limits(max_total_per_cell = 3))", VALUE, "counts_layer"),
    ("s(platform = 3)", IN_R, "platform"),
    ("s(platform = glfs_platform())", VALUE, "platform"),
    ("glfs_platform(3)", IN_R, None),
    ("s(platform = list(fails = 3))", TYPE, "fails"),
    ("s(2, platform = glfs_platform(efficiency = -1))", VALUE, "efficiency"),
    ("s(2, platform = glfs_platform(efficiency = mean))", IN_R, "efficiency"),
    ("s(limits = glfs_limits(max_cells = 3))", VALUE, "max_cells"),
    ("s(limits = glfs_limits(per_type = 1))", VALUE, "per_type"),
    ("s(limits = glfs_limits(families = list(1), per_family = 1))", TYPE, "families"),
    ("s(2, limits = glfs_limits(cost = c(g1 = 1), budget = 2))", VALUE, "cost"),
    ("s(2, limits = glfs_limits(cost = c(g1 = NA), budget = 2))", IN_R, "cost"),
    ("s(2, limits = glfs_limits(cost = 'zz', budget = 2))", KEY, "cost"),
    ("s(2, cost = 1)", TYPE, "cost"),
    ("s(2, platform = glfs_platform(failure = c(zz = 0.1)))", KEY, "failure"),
    ("s(2, failure = 0.1)", TYPE, "failure"),
    ("s(2, preserve = 'zz')", KEY, "preserve"),
    ("s(2, preserve = 5)", IN_R, "preserve"),
    ("s(2, preserve = NA)", IN_R, "preserve"),
    ("s(2, preserve = mean)", IN_R, "preserve"),
    ("s(2, preserve = c(structure = 'x'))", IN_R, "preserve"),
    ("s(2, preserve = list(structure = 1, 2))", IN_R, "preserve"),
    ("s(2, preserve = c(structure = NA_real_))", IN_R, "preserve"),
    ("s(2, preserve = c(structure = 0))", VALUE, "preserve"),
    ("s(2, cell_weights = 'zz')", KEY, "cell_weights"),
    ("glfs_curve(x, 4, preserve = 'zz')", KEY, "preserve"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), cell_weights = 5)", IN_R, "cell_weights"),
    ("s(2, limits = of('counts'))", IN_R, "counts_layer"),
    ("glfs_select_genes(sce, 2, limits = of('counts'))", IN_R, "counts_layer"),
    ("glfs_select_genes(eset, 2, limits = of('raw'))", IN_R, "counts_layer"),
    ("glfs_evaluate_panel(sce, c('g1', 'g2'), counts_layer = 'counts')", IN_R, "counts_layer"),
    ("glfs_evaluate_panel(x)", KEY, "panel"),
    ("glfs_evaluate_panel(x, c('g1', 'zz'), missing = 'raise')", TYPE, "missing"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), show_progress = TRUE)", TYPE, "show_progress"),
    ("glfs_evaluate_panel(x, 'zz')", KEY, "panel"),
    ("glfs_evaluate_panel(x, NULL)", IN_R, "panel"),
    ("glfs_evaluate_panel(x, typo$genes)", IN_R, "panel"),
    ("glfs_evaluate_panel(x, typo[['genes']])", IN_R, "panel"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), typo$type)", IN_R, "labels"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), half[-1])", IN_R, "labels"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), lambda1 = typo$lambda1)", IN_R, "lambda1"),
    ("glfs_evaluate_panel(x, 1:3)", IN_R, "panel"),
    ("glfs_evaluate_panel(x, mean)", IN_R, "panel"),
    ("glfs_evaluate_panel(x, c('g1', NA))", IN_R, "panel"),
    ("glfs_evaluate_panel(sce, c('g1', 'g2'), 'zz')", KEY, "labels"),
    ("glfs_structure(x)", IN_R, "x"),
    ("glfs_select_genes(list())", IN_R, "x"),
    ("glfs_select_genes(list(sce, eset), 3, block = half)", IN_R, "block"),
    ("glfs_select_genes(list(a = x, b = x[1:20, ]), 30)", VALUE, "n_genes"),
    ("glfs_plot_panel(sce)", IN_R, "x"),
    ("glfs_plot_curve(1)", IN_R, "x"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), nope = 1)", TYPE, "nope"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), NULL, 5)", IN_R, None),
    ("glfs_extend_panel(x, c('g1', 'g2'), 0)", VALUE, "n_extra"),
    ("glfs_extend_panel(x, c('g1', 'g2'), 40)", VALUE, "n_extra"),
    ("glfs_substitutes(x, c('g1', 'g2'), 'g3')", VALUE, "genes"),
    ("glfs_substitutes(x, c('g1', 'g2'), n = 0)", VALUE, "n"),
    ("glfs_explain_panel(x, c('g1', 'g2'), n_labels = 0)", VALUE, "n_labels"),
    ("glfs_compare_panels(x, c('g1', 'g2'))", IN_R, "panels"),
    ("glfs_compare_panels(x, list(a = 'g1'))", TYPE, "panels"),
    ("glfs_curve(x, 41)", VALUE, "max_genes"),
    ("glfs_curve(x, 4, sizes = 2)", VALUE, "sizes"),
    ("glfs_stability(x)", KEY, "key"),
    ("glfs_stability(x, 3.5)", TYPE, "n_genes"),
    ("glfs_stability(x, 3, n_resamples = 1)", VALUE, "n_resamples"),
    ("glfs_stability(x, 3, fraction = 2)", VALUE, "fraction"),
    ("glfs_stability(x, 3, nope = 1)", TYPE, "nope"),
    ("glfs_laprls(x, half[-1])", IN_R, "labels"),
    ("glfs_laprls(x, rep('a', 60))", VALUE, "labels"),
    ("glfs_laprls(x, rep(NA_character_, 60))", VALUE, "labels"),
    ("glfs_laprls(x, rnorm(60))", IN_R, "labels"),
    ("glfs_laprls(sce, 'zz')", KEY, "labels"),
    ("glfs_laprls(sce)", TYPE, "labels"),
    ("glfs_classify(x, half[-1])", IN_R, "labels"),
    ("glfs_classify(x, rnorm(60))", IN_R, "labels"),
    ("glfs_classify(x, half, n_genes = 0)", VALUE, "n_genes"),
    ("glfs_classify(x, half, 2, nope = 1)", TYPE, "nope"),
    ("glfs_classify(x, half, 2, graph = 'x')", VALUE, "graph"),
    ("glfs_classify(x, rep('a', 60), 2)", VALUE, "labels"),
    ("glfs_classify(sce, 'zz', 2)", KEY, "labels"),
    ("glfs_predict(x, 5)", IN_R, "model"),
    ("glfs_predict(x, sce)", IN_R, "model"),
    ("glfs_predict(x, 'no.json')", FILE, "model"),
    ("glfs_predict(x[5:9, ], learnt)", VALUE, "model"),
    ("glfs_predict(x, learnt, unsure = -1)", VALUE, "unsure"),
    ("glfs_write_classifier(learnt, 'x.txt')", VALUE, "path"),
    ("glfs_write_classifier(learnt, 5)", IN_R, "path"),
    ("glfs_write_classifier(sce, 'x.json', 'mine')", IN_R, "x"),
    ("glfs_read_classifier(old)", VALUE, "path"),
    ("glfs_laprls(x, half, lambda1 = -1)", VALUE, "lambda1"),
    ("glfs_laprls(x, half, lambda2 = 0)", VALUE, "lambda2"),
    ("predict(fitted, x[20:40, ])", IN_R, "newdata"),
    ("glfs_gene_sets(x)", IN_R, "x"),
    ("glfs_gene_sets(genes, key = 'zz')", IN_R, "x"),
    ("glfs_gene_sets(genes, gmt = old)", IN_R, None),
    ("glfs_gene_sets(genes, gmt = 'no/such/x.gmt')", IN_R, None),
    ("glfs_gene_sets(genes, gmt = 5)", IN_R, "gmt"),
    ("glfs_gene_sets(genes, c('glfs', 'glfs'), rnk = 'x.rnk')", IN_R, "rnk"),
    ("glfs_scores(genes, key = 5)", IN_R, "key"),
    ("glfs_scores(1:3)", IN_R, "x"),
    ("glfs_resolve_genes(x, 'no.csv')", FILE, "genes"),
    ("glfs_resolve_genes(x, 5)", IN_R, "genes"),
    ("glfs_resolve_genes(x, typo$genes)", IN_R, "genes"),
    ("glfs_resolve_genes(x, data.frame(symbol = ''))", VALUE, "genes"),
    ("glfs_resolve_genes(x, species = 'fly')", VALUE, "species"),
    ("glfs_resolve_genes(x, nomenclature = 5)", IN_R, "nomenclature"),
    ("glfs_resolve_genes(x, min_probes = 0)", VALUE, "min_probes"),
    ("glfs_resolve_genes(sce, ids = 'zz')", KEY, "ids"),
    ("glfs_resolve_genes(sce, symbols = 'zz')", KEY, "symbols"),
    ("glfs_resolve_genes(x, nope = 1)", TYPE, "nope"),
    ("glfs_order_panel(x)", KEY, "panel"),
    ("glfs_order_panel(x, data.frame(g = 'g1'))", IN_R, "panel"),
    ("o('visium')", VALUE, "platform"),
    ("o(5)", IN_R, "platform"),
    ("o(glfs_platform(failure = 0.1))", VALUE, "platform"),
    ("o('xenium_v1')", VALUE, "panel"),
    ("o(genes = 'g1')", FILE, "genes"),
    ("o(genes = c('g1', 'g3'))", VALUE, "panel"),
    ("o(genes = c('g3', 'g4'), refused = 'drop')", VALUE, "panel"),
    ("o(refused = 'maybe')", VALUE, "refused"),
    ("o(catalogue = 5)", IN_R, "catalogue"),
    ("o(catalogue = 'zz')", KEY, "catalogue"),
    ("o(catalogue = c('g1', 'g2'))", VALUE, "panel"),
    ("o(exclude = 5)", TYPE, "exclude"),
    ("o(labels = half[-1])", IN_R, "labels"),
    ("o(labels = 'zz')", KEY, "labels"),
    ("o(limits = 3)", IN_R, "limits"),
    ("o(limits = of('counts'))", IN_R, "counts_layer"),
    ("o(counts_layer = 'counts')", IN_R, "counts_layer"),
    ("o(counts_layer = 'logcounts')", VALUE, "counts_layer"),
    ("o(probe_sets = 3)", VALUE, "probe_sets"),
    ("o(force = 'g1')", VALUE, "force"),
    ("o(key_added = 'a/b')", VALUE, "key_added"),
    ("o(inplace = FALSE)", TYPE, "inplace"),
    ("glfs_write_order(order, 5)", IN_R, "path"),
    ("glfs_write_order(order, 'x.txt')", VALUE, "path"),
    ("glfs_write_order(order, 'no/such/x.csv')", FILE, "path"),
    ("glfs_write_order(order, old)", FILE, "path"),
    ("glfs_write_order(order, 'x.csv', 'visium')", VALUE, "platform"),
    ("glfs_write_order(order, 'x.csv', 'xenium_v1')", VALUE, "platform"),
    ("glfs_write_order(order, 'x.csv', glfs_platform(failure = 0.1))", IN_R, "platform"),
    ("glfs_write_order(order, 'x.csv', key = 5)", IN_R, "key"),
    ("glfs_write_order(order, 'x.csv', key = 'mine')", KEY, "key"),
    ("glfs_write_order(order, 'x.csv', overwrite = 'yes')", TYPE, "overwrite"),
    ("glfs_write_order(sce, 'x.csv')", KEY, "key"),
    ("glfs_write_order(x, 'x.csv')", IN_R, "x"),
    ("glfs_write_order(genes, 'x.csv')", IN_R, "x"),
    ("glfs_write_reference(x, 'x.zip', half)", KEY, "ids"),
    ("glfs_write_reference(x, 'x.zip', typo$half)", IN_R, "labels"),
    ("glfs_write_reference(x, 'x.zip', half[-1])", IN_R, "labels"),
    ("glfs_write_reference(x, 'x.csv', half)", VALUE, "path"),
    ("glfs_write_reference(x, 'x.zip', half, max_bytes = 0)", VALUE, "max_bytes"),
    ("glfs_write_reference(x, 'x.zip', half, random_state = 'x')", TYPE, "random_state"),
    ("glfs_write_reference(sce, 'x.zip', half)", IN_R, "counts_layer"),
    ("glfs_write_reference(sce, 'x.zip', 'zz', 'logcounts')", KEY, "labels"),
    ("glfs_read_panel('no.csv')", FILE, "path"),
    ("glfs_read_panel(old)", VALUE, "path"),
    ("glfs_read_panel(old, column = 'gene')", VALUE, "column"),
    ("glfs_read_panel(5)", IN_R, "path"),
    ("glfs_read_h5ad('no.h5ad')", IN_R, "path"),
    ("glfs_read_h5ad(old)", IN_R, "path"),
    ("glfs_read_h5ad(5)", IN_R, "path"),
]  # fmt: skip


@pytest.fixture(scope="module")
def attempt(ri):
    ri.evalr("glfs_rows <- new.env(); library(glfsbio)")
    ri.baseenv["eval"](ri.parse(OBJECTS), ri.globalenv["glfs_rows"])
    return ri.evalr(TRY)


@pytest.mark.parametrize(("code", "kind", "argument"), ROWS)
def test_refused(attempt, ri, code, kind, argument):
    classes, refused, named, message = attempt(ri.StrSexpVector([code]))
    assert "glfs_error" in classes.split(), message
    assert message
    assert "Traceback" not in message
    assert not FOREIGN.search(message), message
    assert len(message) < 700
    assert refused == (argument or ""), message
    assert bool(named) == bool(kind and argument), message
    if kind:
        assert f"python.{kind}" in classes.split()
