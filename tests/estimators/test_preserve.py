"""``GLFS(preserve=...)``: labels and numbers of the cells in place of their structure."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio import GLFS

#: Genes that tell the classes apart, and genes of a larger structure that does not.
TELLING, LOUD = {0, 1}, {2, 3, 4, 5}


@pytest.fixture
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
    y[0] = 7  # a class of one cell is no obstacle
    assert len(chosen(X, y, preserve="labels")) == 2


def test_genes_that_vary_more_count_more_for_expression(cells):
    X, _ = cells
    varying = X * np.where(np.isin(np.arange(30), list(TELLING)), 3.0, 1.0)
    assert chosen(varying, None, preserve="expression") == TELLING
    assert chosen(varying, None) & LOUD


def test_labels_are_ignored_by_default(cells):
    X, y = cells
    for preserve in ("structure", "expression"):
        model = GLFS(5, n_comps=10, preserve=preserve)
        np.testing.assert_array_equal(model.fit(X, None).ranking_, model.fit(X, y).ranking_)


@pytest.mark.parametrize("unknown", [-1, np.nan, None])
def test_cells_without_a_label_or_number(cells, unknown):
    """They take part as cells, whatever stands for them."""
    X, y = cells
    some, numbers = y.astype(object if unknown is None else float), X[:, 0] + X[:, 1]
    some[::4], numbers[::4] = unknown, np.nan
    reference = np.where(np.arange(90) % 4 == 0, -1, y)
    model = GLFS(5, n_comps=10, preserve="labels")
    np.testing.assert_array_equal(model.fit(X, some).ranking_, model.fit(X, reference).ranking_)
    assert chosen(X, some, preserve="labels") == TELLING
    assert chosen(X, numbers, preserve="values") == TELLING
