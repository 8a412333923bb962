"""All panels of a few genes, limits on them, F of blocks without cells, and measures of panels."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from glfs_bio.criterion.criterion import errors_along
from glfs_bio.criterion.error import Block, Largest, evaluate
from glfs_bio.solvers.constraints import Row, Rows
from glfs_bio.solvers.greedy import select
from glfs_bio.solvers.panel import Problem

EXAMPLES = settings(
    deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate], max_examples=30
)
N_GENES = 9
EVERY = np.arange(N_GENES)
NONE = np.empty(0, dtype=np.intp)
#: All panels, as rows of 0 and 1.
PANELS = np.array(
    [np.isin(EVERY, some) for size in range(N_GENES + 1) for some in combinations(EVERY, size)]
).astype(float)


def block_of(genes, wanted):
    """F over whitened genes, for W."""
    weights, basis = np.linalg.eigh(wanted)
    return Block(genes @ basis, np.maximum(weights, 0.0), np.zeros_like(basis))


def at_most(most, genes=EVERY, name="family", *, values=None):
    """An upper limit on the number of some genes, or on a sum over them."""
    genes = np.asarray(genes, dtype=np.intp)
    return Row(name, name, genes, np.ones(len(genes)) if values is None else values, upper=most)


def at_least(least, genes, name="types"):
    """A lower limit on the number of some genes."""
    genes = np.asarray(genes, dtype=np.intp)
    return Row(name, name, genes, np.ones(len(genes)), lower=least)


def random_limits(rng):
    """Costs, families and types of genes."""
    rows = []
    for name in ("cost", "total")[: rng.integers(3)]:
        values = rng.integers(1, 9, size=N_GENES) / 10.0
        rows.append(at_most(values.sum() * rng.uniform(0.1, 0.7), name=name, values=values))
    if rng.uniform() < 0.5:
        rows.append(at_most(1.0, np.flatnonzero(rng.uniform(size=N_GENES) < 0.5)))
    for name in ("a", "b")[: rng.integers(3)]:
        genes = np.flatnonzero(rng.uniform(size=N_GENES) < 0.5)
        rows.append(at_least(rng.integers(1, 3), genes, name))
    return Rows.of(rows, N_GENES)


#: Limits, a number of genes, and a seed.
LIMITS = st.tuples(
    st.integers(0, 10_000).map(lambda seed: random_limits(np.random.default_rng(seed))),
    st.integers(1, 6),
    st.integers(0, 100),
)


def feasible(rows, size, include=()):
    """All panels of at most so many genes within the limits."""
    sums = PANELS @ rows.matrix.toarray().T
    within = (sums <= rows.upper * (1 + 1e-9)).all(axis=1) & (sums >= rows.lower).all(axis=1)
    within &= (PANELS.sum(axis=1) <= size) & (PANELS[:, list(include)] == 1).all(axis=1)
    return PANELS[within]


def as_panel(genes):
    return np.isin(EVERY, genes).astype(float)


def problem_of(criterion, n_genes, rows=None, *, include=NONE, among=None):
    """Which genes, of all or `among` some, preserve most within limits."""
    n_features = criterion.n_genes
    among = np.arange(n_features) if among is None else among
    ignored = np.setdiff1d(np.arange(n_features), among)
    problem = Problem.of(n_features, include, ignored)
    return replace(problem, criterion=criterion, limits=rows, n_genes=n_genes)


def greedy_panel(criterion, n_genes, include=NONE):
    """The greedy choice among all genes."""
    return select(problem_of(criterion, n_genes, include=include))


def tried(panel, candidates=None):
    """Genes that a search tried, in its order, which may be more than the panel has."""
    order = panel.order[: len(panel.preserved)]
    return order if candidates is None else candidates[order]


class OfBlocks:
    """F of some blocks: their sum, or the largest of them."""

    def __init__(self, blocks, *, worst=False):
        self.blocks, self.worst = blocks, worst
        self.n_genes = len(blocks[0].genes)

    def on(self, genes):
        return [block.only(genes) for block in self.blocks]

    def across(self):
        starts = np.array([block.weights.sum() for block in self.blocks])
        return Largest(starts, 100.0) if self.worst else None

    def errors(self, order):
        errors = [errors_along(block) for block in self.on(order)]
        return np.max(errors, axis=0) if self.worst else np.sum(errors, axis=0)

    def preserved(self, order):
        errors = self.errors(order)
        return 1.0 - errors[1:] / errors[0]

    @property
    def scale(self):
        return -np.diff(self.errors(np.arange(self.n_genes))).sum()

    def bounding(self, _):
        return self.blocks, 0.0


def relaxed_by_scipy(blocks, matrix, most):
    """The best F at weights between 0 and 1 within ``matrix β ≤ most``."""
    n_genes = len(blocks[0].genes)
    best = minimize(
        lambda beta: evaluate(blocks, np.clip(beta, 0.0, 1.0))[:2],
        np.full(n_genes, 0.3),
        jac=True,
        bounds=[(0.0, 1.0)] * n_genes,
        constraints=LinearConstraint(matrix, ub=most),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert (matrix @ best.x <= most + 1e-9).all()
    return best.fun


def measured(entry):
    """Return the measures of the whole panel of an evaluation, by their names."""
    table = entry["measures"]
    table = table[table["n_genes"] == table["n_genes"].max()]
    return table.drop_duplicates("measure").set_index("measure")
