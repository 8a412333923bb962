"""The paper, written again from its text in numpy: what the package computes agrees to 1e-10."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio import laprls
from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.glfs2014 import path
from glfs_bio.glfs2014.path import kkt_residuals, minimise
from glfs_bio.glfs2014.variance import Variance
from glfs_bio.solvers.panel import method_of

RTOL, SHAPES = 1e-10, [(12, 30), (30, 12), (20, 20)]


class Paper:
    """Equations (6) to (9) for features × cells X, with inverses; λ2 = 1."""

    def __init__(self, x, b, name="exact"):
        self.x, self.m, self.name = x, np.linalg.inv(b), name

    def z(self, beta):
        """``(M + A)⁻¹`` and A."""
        a = (self.x.T * beta) @ self.x
        return np.linalg.inv(self.m + a), a

    def value(self, beta):
        (z, a), m = self.z(beta), self.m
        return np.trace(a @ z @ m @ z @ m if self.name == "exact" else a @ z @ z @ m @ m)

    def kernel(self, beta):
        """``∂Q/∂A`` from ``Q = Tr(M Z M) − Tr(M Z M Z M)``, or ``Tr(Z M²) − Tr(Z² M³)``."""
        (z, _), m = self.z(beta), self.m
        if self.name == "exact":
            turn = z @ m @ z @ m @ m @ z
            return turn + turn.T - z @ m @ m @ z
        turn = z @ z @ m @ m @ m @ z
        return turn + turn.T - z @ m @ m @ z

    def gradient(self, beta):
        return np.einsum("ij,jk,ik->i", self.x, self.kernel(beta), self.x)

    def hessian(self, beta):
        """Of the exact objective."""
        z, m, x = self.z(beta)[0], self.m, self.x
        first, second = x @ z @ m @ m @ z @ x.T, x @ z @ m @ z @ x.T
        return -2.0 * ((x @ z @ x.T) * (x @ self.kernel(beta) @ x.T) + first * second)

    def newton(self, beta, lam):
        """A stationary point near β, by projected Newton steps on genes that can move."""
        for _ in range(100):
            slope = self.gradient(beta) + lam
            free = (beta > 0) | (slope < 0)
            if np.abs(slope[free]).max() <= 1e-13 * lam:
                break
            step = np.zeros_like(beta)
            step[free] = np.linalg.solve(self.hessian(beta)[np.ix_(free, free)], -slope[free])
            length, before = 1.0, self.value(beta) + lam * beta.sum()
            while length > 1e-9:
                there = np.maximum(beta + length * step, 0.0)
                if self.value(there) + lam * there.sum() <= before:
                    break
                length /= 2.0
            beta = there
        return beta


def problem(n, d, *, seed=0):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(n, d)) + 3.0 * np.eye(3, d)[np.arange(n) % 3]
    smoother = laplacian(knn_graph(data, 4)).toarray()
    return (data - data.mean(axis=0)).T, np.eye(n) + 3.0 * smoother, rng.uniform(size=d)


def variance_of(x, b, name="exact"):
    kappa, basis = np.linalg.eigh(b)
    return Variance((method_of("objective", name).whitened(x @ (basis * np.sqrt(kappa)), kappa),))


@pytest.mark.parametrize("name", ["exact", "printed"])
@pytest.mark.parametrize("shape", SHAPES)
def test_value_gradient_and_conditions(shape, name):
    x, b, beta = problem(*shape)
    beta[::3] = 0.0
    paper, phi = Paper(x, b, name), variance_of(x, b, name)
    on_support = phi.of(np.flatnonzero(beta)).at(beta[beta > 0])
    for point, part in ((phi.at(beta), slice(None)), (on_support, beta > 0)):
        assert point.value == pytest.approx(paper.value(beta), rel=RTOL)
        expected = paper.gradient(beta)
        np.testing.assert_allclose(point.gradient, expected[part], atol=RTOL * abs(expected).max())
    if name == "exact":  # the covariance itself
        wide = np.sqrt(beta)[:, None] * x
        z = np.linalg.inv(wide @ b @ wide.T + np.eye(len(x)))
        assert paper.value(beta) == pytest.approx(np.trace(z @ wide @ wide.T @ z), rel=RTOL)
    gradient, lam = paper.gradient(beta), 0.1
    ours = kkt_residuals(beta, phi.at(beta).gradient, lam)
    pairs = zip(beta, gradient, strict=True)
    worst = [max(0, -1 - g / lam) if b == 0 else abs(1 + g / lam) for b, g in pairs]
    np.testing.assert_allclose(ours, worst, rtol=1e-8, atol=1e-8)


def test_the_minimiser_and_the_path():
    """Newton on the paper's formulas goes along until a direction leaves; all is stationary."""
    x, b, _ = problem(14, 8)
    phi, paper = variance_of(x, b), Paper(x, b)
    axes = np.linalg.eigvals(b @ (x.T @ x)).real
    beta = np.full(8, 100.0 / np.median(axes[axes > 1e-8 * axes.max()]))
    lam = -(beta @ paper.gradient(beta)) / beta.sum()
    solutions = path.walk(phi, tol=1e-11)
    whole = [solution for solution in solutions if solution.n_genes == 8]
    assert 10 < len(whole) < len(solutions)
    for solution in whole:
        assert solution.lam == pytest.approx(lam, rel=RTOL)
        beta = paper.newton(beta, lam)
        np.testing.assert_allclose(solution.beta, beta, atol=RTOL * beta.max())
        again = minimise(phi, 1.3 * beta, lam, tol=1e-11).beta
        np.testing.assert_allclose(again, beta, atol=RTOL * beta.max())
        beta, lam = beta * np.sqrt(1 / 1.2), 1.2 * lam
    for solution in solutions:
        slopes = paper.gradient(solution.beta) / solution.lam
        assert kkt_residuals(solution.beta, slopes, 1.0).max() <= 1e-10


@pytest.mark.parametrize("shape", SHAPES)
def test_laprls(shape):
    """Equation (3), with the label of a new sample as in (11)."""
    x, b, _ = problem(*shape)
    y = np.arange(shape[0]) % 3 == 0.0
    y = y - y.mean()
    smoother = (b - np.eye(shape[0])) / 3.0
    w = np.linalg.inv(x @ x.T + 7.0 * x @ smoother @ x.T + 0.5 * np.eye(len(x))) @ x @ y
    coef, level = laprls.solve(x.T, y[:, None], smoother, lambda1=7.0, lambda2=0.5)
    np.testing.assert_allclose(coef[:, 0], w, atol=RTOL * abs(w).max())
    np.testing.assert_allclose(x.T @ coef[:, 0] + level, w @ x, atol=1e-9)


def test_mutual_information_of_the_tables():
    """Xu, Liu & Gong: ``Σ p log(p/(p_i p_j)) / max(H, H')``; of Strehl: over ``√(H H')``."""
    images = pytest.importorskip("benchmarks.paper.images")
    rng = np.random.default_rng(0)
    values, labels = rng.normal(size=(60, 3)), np.repeat(list("abc"), 20)
    values[:20] += 3.0
    clusters = images.KMeans(3, init="random", n_init=1, random_state=4).fit_predict(values)
    joint = np.array([[np.mean((labels == a) & (clusters == k)) for k in range(3)] for a in "abc"])
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    some = joint > 0
    mutual = np.sum(joint[some] * np.log((joint / np.outer(rows, columns))[some]))
    first, second = (-np.sum(p * np.log(p)) for p in (rows, columns))
    measured = images.nmi(values, labels, 3, 4)
    assert measured["NMI"] == pytest.approx(mutual / max(first, second), rel=RTOL)
    assert measured["NMI of Strehl"] == pytest.approx(mutual / np.sqrt(first * second), rel=RTOL)
