"""LapRLS against the formula of the paper, and normal equations."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from glfs_bio import laprls
from glfs_bio.cells.graph import knn_graph, laplacian


def problem(n, d, kind="normalized", seed=0):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(n, d)) * rng.uniform(0.5, 3.0, size=d) + rng.normal(size=d)
    targets = rng.integers(0, 2, size=(n, 3)).astype(float)
    return data, targets, laplacian(knn_graph(data, 5), kind)


def printed(data, targets, smoother, lambda1, lambda2):
    """The paper's w = (XXᵀ + λ1 XLXᵀ + λ2 I)⁻¹ X y for features × samples X."""
    x = data.T
    left = x @ x.T + lambda1 * x @ smoother.toarray() @ x.T + lambda2 * np.eye(len(x))
    return np.linalg.inv(left) @ x @ targets


def distance(coef, expected):
    return np.linalg.norm(coef - expected) / np.linalg.norm(expected)


def test_the_formula_of_the_paper():
    """With as many equations as there are features, or samples."""
    kinds, shapes = ("normalized", "unnormalized"), ((40, 12), (12, 40), (20, 20))
    for kind, shape, lambdas in product(kinds, shapes, ((1.0, 1.0), (100.0, 0.1), (0.0, 10.0))):
        data, targets, smoother = problem(*shape, kind)
        data, targets = data - data.mean(axis=0), targets - targets.mean(axis=0)
        lambda1, lambda2 = lambdas
        coef, _ = laprls.solve(data, targets, smoother, lambda1=lambda1, lambda2=lambda2)
        assert distance(coef, printed(data, targets, smoother, lambda1, lambda2)) < 1e-8


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_sparse_data_give_the_same(shape):
    data, targets, smoother = problem(*shape)
    data[data < 0.5] = 0.0
    options = {"lambda1": 5.0, "lambda2": 1.0, "sample_weight": np.arange(shape[0]) % 3.0}
    dense, level = laprls.solve(data, targets, smoother, **options)
    for container in (sparse.csr_array, sparse.csc_matrix):
        coef, intercept = laprls.solve(container(data), targets, smoother, **options)
        assert distance(coef, dense) < 1e-9
        np.testing.assert_allclose(intercept, level, atol=1e-9)


@pytest.mark.parametrize("n_features", [8, 40])
def test_it_is_a_minimum_and_unlabelled_targets_are_not_looked_at(n_features):
    data, targets, smoother = problem(25, n_features)
    labelled = np.arange(25) % 2 == 0
    options = {"lambda1": 3.0, "lambda2": 0.5, "sample_weight": 1.0 * labelled}
    coef, intercept = laprls.solve(data, targets, smoother, **options)
    other = np.where(labelled[:, None], targets, np.nan)
    np.testing.assert_array_equal(coef, laprls.solve(data, other, smoother, **options)[0])

    def loss(w, b):
        f = data @ w
        centred = f - f[labelled].mean(axis=0)
        squares = np.sum((targets - f - b)[labelled] ** 2)
        return squares + 3.0 * np.trace(centred.T @ smoother @ centred) + 0.5 * np.sum(w**2)

    rng = np.random.default_rng(1)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=coef.shape)
        assert loss(coef + step, intercept) > loss(coef, intercept)
        assert loss(coef, intercept + step[0]) > loss(coef, intercept)


def test_unlabelled_samples_act_through_the_graph_alone():
    data, targets, smoother = problem(25, 8)
    labelled = np.arange(25) < 15
    with_them, joined = (
        laprls.solve(
            data, targets, smoother, lambda1=lambda1, lambda2=1.0, sample_weight=1.0 * labelled
        )[0]
        for lambda1 in (0.0, 10.0)
    )
    of_labelled = data[labelled], targets[labelled], smoother[:15][:, :15]
    without, _ = laprls.solve(*of_labelled, lambda1=0.0, lambda2=1.0)
    np.testing.assert_allclose(with_them, without, atol=1e-12)
    assert distance(joined, with_them) > 0.1


def test_class_graph_joins_the_samples_of_a_class():
    expected = np.zeros((5, 5))
    expected[[0, 2, 1, 4], [2, 0, 4, 1]] = 1.0
    codes = np.array([1, 0, 1, -1, 0])
    np.testing.assert_array_equal(laprls.class_graph(codes).toarray(), expected)


@pytest.mark.parametrize("lambda1", [0.0, 0.3])
def test_held_out_samples_against_each_fit(lambda1):
    """The values of a fold are those of the normal equations of the others, solved alone."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 4))
    data -= data.mean(axis=0)
    targets, weight = rng.normal(size=(40, 2)), rng.uniform(0.5, 2.0, 40)
    weight[::7] = 0.0
    fold = rng.integers(0, 3, 40)
    graph = sparse.random(40, 40, 0.2, random_state=0, format="csr")
    smoother = laplacian(sparse.csr_array(graph + graph.T))
    values = laprls.held_out(
        data, targets, smoother, fold, lambda1=lambda1, lambda2=0.7, sample_weight=weight
    )
    for k in range(3):
        j = np.where(fold == k, 0.0, weight)
        ones = np.column_stack([data, np.ones(40)])
        left = ones.T @ (j[:, None] * ones)
        left[:4, :4] += lambda1 * data.T @ (smoother @ data) + 0.7 * np.eye(4)
        coef = np.linalg.solve(left, ones.T @ (j[:, None] * targets))
        np.testing.assert_allclose(values[fold == k], (ones @ coef)[fold == k])
