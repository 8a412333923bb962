"""The part of the machine's dgemm rate that the solver reaches at r = 100, d = 20,000."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

from glfs_bio.glfs2014 import bounded_qp, newton, path, variance
from glfs_bio.glfs2014.exact import Exact
from glfs_bio.glfs2014.variance import Objective

if TYPE_CHECKING:
    from glfs_bio.glfs2014.descent import Solution

N_GENES, RANK, N_RUNS = 20_000, 100, 7


def block() -> Exact:
    """Genes that follow types of cells, and noise, seen through 100 directions."""
    rng = np.random.default_rng(0)
    directions = np.linspace(3.0, 0.2, RANK)
    genes = rng.normal(size=(N_GENES, RANK)) * rng.lognormal(sigma=0.5, size=(N_GENES, 1))
    return Exact.of(0.1 * genes * directions, np.diag(np.linspace(1.0, 60.0, RANK)))


def dgemm() -> float:
    """Flop a second of one thread, on square matrices of 2,000."""
    a = np.random.default_rng(0).normal(size=(2000, 2000))
    a @ a
    begin = time.process_time()
    for _ in range(3):
        a @ a
    return 3 * 2 * 2000**3 / (time.process_time() - begin)


@contextmanager
def counted(flops: list[float]):
    """Count the flop of products and factorisations, by the shapes that they are called with.

    Products count in full, as the formulas of `objective/variance` stand, where symmetry saves half
    or one is used twice.  Those of `objective/gram`, which takes over below 100 genes, are left
    out.
    """
    point = variance._DensePoint
    gradient, hessian, made = point.gradient, point.hessian, point.__init__
    factor, drop = newton.factor, point.largest_drop
    solve = bounded_qp.cholesky.solve

    def counting_init(self, block, on_support, beta):
        made(self, block, on_support, beta)
        r, m = block.genes.shape[1], np.count_nonzero(beta)
        flops.append(2 * m * r**2 + (1 / 3 + 2) * r**3)

    def counting_gradient(self, genes):
        m, r = genes.shape
        flops.append(2 * m * r**2 + 2 * m * r)
        return gradient(self, genes)

    def counting_hessian(self, among):
        m, r = len(among), self.block.genes.shape[1]
        flops.append(5 * 2 * m * r**2 + 4 * 2 * m**2 * r + 2 * r**3)
        return hessian(self, among)

    def counting_factor(matrix):
        flops.append(len(matrix) ** 3 / 3)
        return factor(matrix)

    def counting_solve(matrix, right):
        flops.append(len(matrix) ** 3 / 3)
        return solve(matrix, right)

    def counting_drop(self, step):
        m, r = np.count_nonzero(step), self.block.genes.shape[1]
        flops.append(4 * m * r**2 + 4 / 3 * r**3)
        return drop(self, step)

    with (
        mock.patch.object(point, "__init__", counting_init),
        mock.patch.object(point, "gradient", counting_gradient),
        mock.patch.object(point, "hessian", counting_hessian),
        mock.patch.object(point, "largest_drop", counting_drop),
        mock.patch.object(bounded_qp.cholesky, "solve", counting_solve),
        mock.patch.object(newton, "factor", counting_factor),
    ):
        yield


def told() -> str:
    """One line: rates of the gradient over all genes and of a whole path."""
    with threadpool_limits(1):
        problem = Objective(block())
        runs = [rates(problem) for _ in range(N_RUNS)]
    best, gradient, whole = np.median([rate for rate, _, _ in runs], axis=0)
    _, solutions, flops = runs[0]
    return (
        f"r = {RANK}, d = {N_GENES:,}, one thread: dgemm {best / 1e9:.1f} Gflop/s; gradient over "
        f"all genes {gradient:.0%} of it; a path of {len(solutions)} λ down to "
        f"{solutions[-1].n_genes} genes {whole:.0%} "
        f"({flops / 1e9:.0f} Gflop in the products and factorisations of its formulas, each "
        f"in full where symmetry saves half; CPU time; medians of {N_RUNS} runs)."
    )


def rates(problem: Objective) -> tuple[tuple[float, float, float], list[Solution], float]:
    """Flop a second of dgemm, the shares of it of gradient and path, and what the path took."""
    best = dgemm()
    beta, _ = path.start(problem)
    point = problem.at(beta)
    begin = time.process_time()
    for _ in range(5):
        point.full_gradient()
    gradient = 5 * 2 * N_GENES * RANK**2 / (time.process_time() - begin)
    flops: list[float] = []
    begin = time.process_time()
    with counted(flops):
        solutions = path.until(path.walk(problem), 100)
    whole = sum(flops) / (time.process_time() - begin)
    return (best, gradient / best, whole / best), solutions, sum(flops)


if __name__ == "__main__":
    sys.stdout.write(told() + "\n")
