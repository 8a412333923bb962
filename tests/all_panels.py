"""All panels of a few genes, and random limits on them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st

from glfs_bio.solvers.constraints import Row, Rows

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


@st.composite
def limits(draw):
    """Costs, families and types of genes, and a number of genes."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    rows = []
    for name in draw(st.sampled_from([(), ("cost",), ("cost", "total")])):
        values = rng.integers(1, 9, size=N_GENES) / 10.0
        upper = float(values.sum() * rng.uniform(0.1, 0.6))
        rows.append(Row(name, name, EVERY, values, upper=upper))
    if draw(st.booleans()):
        family = np.flatnonzero(rng.uniform(size=N_GENES) < 0.5)
        rows.append(Row("family", "family", family, np.ones(len(family)), upper=1.0))
    for name in draw(st.sampled_from([(), ("a",), ("a", "b")])):
        genes = np.flatnonzero(rng.uniform(size=N_GENES) < 0.4)
        lower = float(rng.integers(1, 3))
        rows.append(Row("types", name, genes, np.ones(len(genes)), lower=lower))
    return Rows.of(rows, N_GENES), draw(st.integers(1, 6)), draw(st.integers(0, 100))


def feasible(rows, size):
    """All panels of at most so many genes within the limits."""
    sums = PANELS @ rows.matrix.toarray().T
    within = (sums <= rows.upper * (1 + 1e-9)).all(axis=1) & (sums >= rows.lower).all(axis=1)
    return PANELS[within & (PANELS.sum(axis=1) <= size)]


def as_panel(genes):
    return np.isin(EVERY, genes).astype(float)


def tried(panel, candidates=None):
    """Genes that a search tried, in its order, which may be more than the panel has."""
    order = panel.order[: len(panel.preserved)]
    return order if candidates is None else candidates[order]
