"""The words of R: its conditions have argument, kind and R's names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from glfs_bio.errors import (
    NO_VALUE,
    NONE,
    OBS,
    OBSM,
    InvalidType,
    InvalidValue,
    arg,
    call,
    listed,
    shown,
)
from glfs_bio.rbridge import _targets, words
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
    "glfs_evaluate_panel(x, c('g1', 'g2'), nope = 1)": ("InvalidType", "nope", "n_random"),
    "glfs_laprls(x, rep(1:2, 20), nope = 1)": ("InvalidType", "nope", "lambda1, lambda2"),
}


def test_functions_of_r_are_there():
    exported = NAMESPACE.read_text(encoding="utf-8")
    calls = [words.call(f"tl.{name}") for name in words._ALIKE] + list(words._FUNCTIONS.values())
    for one in calls:
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


def test_an_argument_that_is_missing():
    with refused(InvalidType, "model") as caught:
        _targets._arguments("predict", {})
    assert caught.value.render(R) == "model is missing: glfs_predict(x) needs it."


def test_a_missing_column_is_refused_in_words_of_r(told):
    """Whatever Python says of it."""
    message = told("glfs_select_genes(x, 3, block = 'zz')")[-1]
    assert "zz" in message
