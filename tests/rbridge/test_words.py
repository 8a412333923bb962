"""The words and arguments of R are Python's; an error has class, argument, kind and R's names."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path

import pytest

from glfs_bio.rbridge import formals, words

R_BRIDGE = Path(__file__).parents[2] / "r_bridge"
R_PACKAGE = R_BRIDGE / "glfsbio"
#: What writes the functions of R.
WRITER = runpy.run_path(str(R_BRIDGE / "functions.py"))


def test_functions_of_r_are_there():
    exported = (R_PACKAGE / "NAMESPACE").read_text(encoding="utf-8")
    for one in words._CALLS.values():
        assert f"export({one.partition('(')[0]})" in exported


def test_arguments_are_those_of_python(ri):
    """With their defaults."""
    wrong = []
    for name, function in (formals.FUNCTIONS | formals.RECORDS).items():
        told = ri.evalr(f"""local({{
            all <- formals(glfsbio::glfs_{name})
            c(rbind(names(all), vapply(all, deparse1, "")))
        }})""")
        arguments = dict(zip(told[::2], told[1::2], strict=True))
        for one in inspect.signature(function).parameters.values():
            if one.kind is one.VAR_KEYWORD or one.name in formals.NOT_IN_R:
                continue
            if one.name == "random_state" and arguments["random_state"] == "NULL":
                continue
            default = None if one.default in {one.empty, "recorded"} else one.default
            written = arguments[formals.RENAMED.get(one.name, one.name)] or "NULL"
            if default is None:
                is_same = written == "NULL"
            else:
                several = default if isinstance(default, tuple) else (default,)
                is_same = tuple(ri.evalr(written)) == several
            if not is_same:
                wrong.append((name, one.name, written, default))
    assert not wrong


def test_arguments_that_are_not_there(attempt, ri):
    """The message has all that are."""
    for code, text in (
        ("glfs_explain_panel(x, 'g1', zzzzz = 1)", "it takes panel, labels"),
        ("glfs_select_genes(x, n_top_genes = 3)", "n_genes"),
    ):
        assert text in attempt(ri.StrSexpVector([code]))[3]


def test_the_functions_are_up_to_date():
    """`make r-functions` writes them."""
    file = R_PACKAGE / "R" / "functions.R"
    assert file.read_text(encoding="utf-8") == WRITER["functions"]()


def test_every_argument_is_on_its_page():
    for file in (R_PACKAGE / "man").glob("*.Rd"):
        page = file.read_text(encoding="utf-8")
        for name in [name for name in formals.FUNCTIONS if f"\\alias{{glfs_{name}}}" in page]:
            told = {
                one.strip().replace("\\dots", "...")
                for item in re.findall(r"\\item\{([^}]*)\}\{", page)
                for one in item.split(",")
            }
            assert set(WRITER["formals"](name)) <= told, file.name


def test_pages_have_the_words_of_r():
    """Also where a line of Python's docstring ends within them; and no empty item."""
    text = "\n".join(map(WRITER["page"], formals.CALLED))
    for text_of_r in (
        "list(mean = c(-Inf, 3), cells_in_type = c(0.1, Inf))",
        'list("T cells" = c(2, 10), HLA = 1)',
        "from 0 to below 1. It is part",
    ):
        assert text_of_r in text
    assert not re.search(r"\n- *\n|\ba\s+a\b|NULL,\s|\blist of numbers|\bdict\b", text)


def test_every_result_is_on_its_page():
    """Columns and fields of the record, as `r_bridge/pages.R` writes them."""
    for name in WRITER["KEYS"]:
        page = (R_PACKAGE / "man" / f"glfs_{name}.Rd").read_text(encoding="utf-8")
        columns, fields = WRITER["results"](name)
        for item in columns + fields:
            for result in re.findall(r"`(\w+)`", item.partition(":")[0]):
                assert f"\\code{{{result}}}" in page, (name, result)


def test_values():
    for value, written in (
        (None, "NULL"),
        (False, "FALSE"),
        ('a "b"', '"a \\"b\\""'),
        (["a", 1], 'c("a", 1)'),
        ({"g1": 0.5}, "c(g1 = 0.5)"),
    ):
        assert words.shown(value) == written


def test_code_of_python():
    for code, text in (
        ("layer", "assay.type"),
        ("objective='exact'", 'objective = "exact"'),
        ("subset=True", "subset = TRUE"),
        ("max_size=None", "max_size = NULL"),
        ("glfs_bio.pp.structure(adata)", "glfs_structure(x)"),
        ("glfs_bio.Limits", "glfs_limits()"),
        ("glfs_bio.tl.enrich(adata)", "glfs_bio.tl.enrich in Python"),
        ("adata.obsm", "reducedDims(x)"),
        ("preserve['PCA']=0", 'preserve["PCA"] = 0'),
    ):
        assert words.door().show(f"`{code}` is") == f"{text} is"


def test_a_vector_has_no_name():
    """The column that R puts it into is none that the user knows."""
    show = words.door().argument
    assert show("labels", '"glfs_labels"') == "labels"
    assert show("batch_key", '"glfs_block"') == "block"
    assert show("labels", '"type"') == 'labels = "type"'


def test_words_of_a_class():
    text = "`adata.obs`, `adata.obsm`; `layer`"
    assert words.door("Seurat").show(text) == "x[[]], Reductions(x); layer"
    assert words.door("ExpressionSet").show("`adata.obs`") == "pData(x)"


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
fitted <- glfs_classify(x, half, 2)
of <- function(layer) glfs_limits(total_counts = c(cell = 3), counts_layer = layer)
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
    ("s(n_genes = 2.5)", TYPE, "n_genes"),
    ("s(n_genes = NA)", IN_R, "n_genes"),
    ("s(objective = 'exact', lam = 'x')", VALUE, "lam"),
    ("s(swaps = 1)", IN_R, "swaps"),
    ("s(as_highly_variable = 'yes')", IN_R, "as_highly_variable"),
    ("k(lambda1 = NaN)", IN_R, "lambda1"),
    ("k(lambda1 = typo$lambda1)", IN_R, "lambda1"),
    ("k(standardize = 'z')", VALUE, "standardize"),
    ("s(include = 'zz')", KEY, "include"),
    ("s(include = NA)", IN_R, "include"),
    ("s(inplace = FALSE)", IN_R, "inplace"),
    ("glfs_select_genes(x, 5, 100)", IN_R, None),
    ("glfs_select_genes(put(NaN), 3)", IN_R, None),
    ("glfs_select_genes(put(Inf), 3)", VALUE, "x"),
    ("glfs_select_genes(twins, 3)", IN_R, None),
    ("glfs_select_genes('cells.h5ad', 3)", IN_R, "x"),
    ("glfs_select_genes(eset, 3, assay = 'x')", IN_R, "assay"),
    ("glfs_select_genes(sce, 3, block = 'zz')", KEY, "block"),
    ("glfs_select_genes(other, 3, dimred = 'mine')", VALUE, "dimred"),
    ("glfs_select_genes(sce, 3, batch_key = 'batch')", IN_R, "batch_key"),
    ("glfs_select_genes(sce, 3, dimred = 'PCA')", KEY, "dimred"),
    ("glfs_select_genes(sce, 3, cell_weights = 1:3)", IN_R, "cell_weights"),
    ("glfs_select_genes(list(sce, eset), 3, block = half)", IN_R, "block"),
    ("glfs_select_genes(list(a = x, b = x[1:20, ]), 30)", VALUE, "n_genes"),
    ("glfs_evaluate_panel(kept, c('g1', 'g2'), dimred = 'mine', n_comps = 3)", IN_R, "n_comps"),
    ("s(limits = list(expresion = 3))", IN_R, "expresion"),
    ("s(2, platform = glfs_platform(efficiency = mean))", IN_R, "efficiency"),
    ("s(limits = glfs_limits(groups = list(1), per_group = 1))", TYPE, "groups"),
    ("s(2, limits = glfs_limits(cost = c(g1 = NA), budget = 2))", IN_R, "cost"),
    ("s(2, platform = glfs_platform(failure = c(zz = 0.1)))", KEY, "failure"),
    ("s(2, preserve = c(structure = 'x'))", KEY, "preserve"),
    ("glfs_select_genes(sce, 2, limits = of('counts'))", IN_R, "counts_layer"),
    ("glfs_evaluate_panel(x)", KEY, "panel"),
    ("glfs_evaluate_panel(x, typo[['genes']])", IN_R, "panel"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), half[-1])", IN_R, "labels"),
    ("glfs_extend_panel(x, c('g1', 'g2'), 50)", VALUE, "n_genes"),
    ("glfs_extend_panel(x, c('g1', 'g2'), drop = 'g3')", VALUE, "drop"),
    ("glfs_explain_panel(x, c('g1', 'g2'), n_substitutes = 0)", VALUE, "n_substitutes"),
    ("glfs_evaluate_panel(x, list(a = 'g1', 'g2'))", IN_R, "panel"),
    ("glfs_classify(sce)", IN_R, "labels"),
    ("glfs_evaluate_panel(x, c('g1', 'g2'), sizes = 0)", VALUE, "sizes"),
    ("glfs_stability(x, n_genes = 3, fraction = 2)", VALUE, "fraction"),
    ("glfs_classify(x, rep('a', 60))", VALUE, "labels"),
    ("glfs_classify(x, half, 0)", VALUE, "n_genes"),
    ("glfs_classify(x, half, 2, graph = 'x')", IN_R, "graph"),
    ("predict(fitted, x[20:40, ])", IN_R, "newdata"),
    ("glfs_scores(1:3)", IN_R, "x"),
    ("glfs_resolve_genes(x, 'no.csv')", FILE, "genes"),
    ("glfs_resolve_genes(x, data.frame(symbol = ''))", VALUE, "genes"),
    ("o(genes = c('g1', 'g3'))", VALUE, "panel"),
    ("glfs_write_order(order, 'no/such/x.csv')", FILE, "path"),
    ("glfs_write_order(order, 'x.csv', 'visium')", VALUE, "platform"),
    ("glfs_write_reference(sce, 'x.zip', half)", IN_R, "counts_layer"),
    ("glfs_read_panel(old, column = 'gene')", VALUE, "column"),
    ("glfs_read_h5ad(old)", VALUE, "path"),
]


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
