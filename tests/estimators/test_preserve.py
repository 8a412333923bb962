"""``GLFS(preserve=...)``: labels and numbers of the cells in place of their structure."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from glfs_bio import GLFS
from glfs_bio.errors import InvalidValue

#: Genes that tell the classes apart, and genes of a larger structure that does not.
TELLING, LOUD = {0, 1}, {2, 3, 4, 5}


@pytest.fixture(scope="module")
def cells():
    """90 cells of three classes, in two clusters that have nothing to do with them."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 30)
    X = rng.normal(scale=0.5, size=(90, 30))
    X[:, :2] += 2.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    X[:, 2:6] += 5.0 * np.repeat([0.0, 1.0], 45)[:, None]
    return X, y


def chosen(X, y, n_genes=2, **options):
    return set(GLFS(n_genes, n_comps=10, **options).fit(X, y).get_support(indices=True).tolist())


def test_labels_and_values_choose_other_genes_than_the_structure(cells):
    X, y = cells
    assert chosen(X, y, 1) <= LOUD
    assert chosen(X, y, preserve="labels") == TELLING
    assert chosen(X, X[:, :2] @ [1.0, 1.0], preserve="values") == TELLING
    assert chosen(X, X[:, :2], preserve="values") == TELLING


def test_genes_that_vary_more_count_more_for_expression(cells):
    X, _ = cells
    varying = X * np.where(np.isin(np.arange(30), list(TELLING)), 3.0, 1.0)
    assert chosen(varying, None, preserve="expression") == TELLING
    assert chosen(varying, None) & LOUD


@pytest.mark.parametrize("preserve", ["structure", "expression"])
def test_labels_are_ignored_by_default(cells, preserve):
    X, y = cells
    alone, beside = (GLFS(5, n_comps=10, preserve=preserve).fit(X, of) for of in (None, y))
    np.testing.assert_array_equal(alone.ranking_, beside.ranking_)


@pytest.mark.parametrize("unknown", [-1, np.nan, None])
def test_cells_without_a_label(cells, unknown):
    """They take part as cells, whatever stands for them."""
    X, y = cells
    some = y.astype(object)
    some[::4] = unknown
    if unknown is not None:
        some = some.astype(float)
    reference = np.where(np.arange(90) % 4 == 0, -1, y)
    found, expected = (
        GLFS(5, n_comps=10, preserve="labels").fit(X, of) for of in (some, reference)
    )
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    assert chosen(X, some, preserve="labels") == TELLING


def test_numbers_that_are_not_known(cells):
    X, _ = cells
    some = np.where(np.arange(90) % 4 == 0, np.nan, X[:, 0] + X[:, 1])
    assert chosen(X, some, preserve="values") == TELLING


def test_a_pipeline_hands_the_labels_on(cells):
    X, y = cells
    selector = GLFS(2, n_comps=10, preserve="labels")
    assert cross_val_score(make_pipeline(selector, LogisticRegression()), X, y).mean() > 0.9


def test_a_class_of_one_cell_is_no_obstacle(cells):
    X, y = cells
    y = y.copy()
    y[0] = 7
    assert GLFS(2, n_comps=10, preserve="labels").fit(X, y).get_support().sum() == 2


@pytest.mark.parametrize(
    ("preserve", "y", "argument"),
    [
        ("labels", None, "y"),
        ("labels", np.zeros(90, int), "y"),
        ("labels", np.full(90, -1), "y"),
        ("values", np.full(90, np.inf), "y"),
        ("types", np.ones(90), "preserve"),
    ],
)
def test_bad_labels(cells, preserve, y, argument):
    with refused(InvalidValue, argument):
        GLFS(2, n_comps=10, preserve=preserve).fit(cells[0], y)


@pytest.mark.parametrize(("preserve", "y"), [("labels", np.zeros(5)), ("values", np.ones(90))])
def test_labels_of_other_cells_and_numbers_that_do_not_vary(cells, preserve, y):
    with pytest.raises(ValueError, match=r"inconsistent numbers|vary"):
        GLFS(2, n_comps=10, preserve=preserve).fit(cells[0], y)
