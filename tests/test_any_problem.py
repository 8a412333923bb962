"""Whatever the data are: a finite answer that says how good it is, or a message; never a warning
of NumPy's (pytest makes every warning an error)."""

from __future__ import annotations

import warnings

import numpy as np
from all_panels import EXAMPLES
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scipy import sparse

from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.options import Request
from glfs_bio.selection import rank_genes
from glfs_bio.solvers.panel import METHODS

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


def groups(rng, n, d):
    centres = rng.gamma(1.0, 2.0, size=(3, d)) * (rng.uniform(size=d) < 0.5)
    return np.maximum(centres[rng.integers(3, size=n)] + rng.normal(scale=0.3, size=(n, d)), 0.0)


def twins(rng, n, d, apart=0.0):
    data = groups(rng, n, d)
    data[:, d // 2 :] = data[:, : d - d // 2] * (1.0 + apart * rng.normal(size=(n, d - d // 2)))
    return data


def one_odd_cell(rng, n, d):
    data = np.ones((n, d))
    data[rng.integers(n)] += rng.normal(size=d)
    return data


def constant_but_one(rng, n, d):
    data = np.full((n, d), 7.0)
    data[:, rng.integers(d)] = rng.normal(size=n)
    return data


KINDS = {
    "groups": groups,
    "noise": lambda rng, n, d: rng.normal(size=(n, d)),
    "twins": twins,
    "near twins": lambda rng, n, d: twins(rng, n, d, 1e-9),
    "low rank": lambda rng, n, d: rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)),
    "cells of two kinds": lambda rng, n, d: rng.normal(size=(2, d))[np.arange(n) % 2],
    "one odd cell": one_odd_cell,
    "equal rows": lambda rng, n, d: np.tile(rng.normal(size=d), (n, 1)),
    "constant but one": constant_but_one,
    "far from zero": lambda rng, n, d: 1e7 + groups(rng, n, d),
    "units": lambda rng, n, d: groups(rng, n, d) * 10.0 ** rng.integers(-12, 13, size=d),
}
UNITS = [1.0, 1e-12, 1e12, 1e-320, 1e-200, 1e300]
DTYPES = ["float64", "float32", "int64", "int8", "bool"]
SHAPES = [(12, 30), (40, 12), (8, 70), (90, 4), (3, 2), (25, 25)]


@st.composite
def matrices(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    kind, shape = draw(st.sampled_from(list(KINDS))), draw(st.sampled_from(SHAPES))
    data = KINDS[kind](rng, *shape)
    event(kind)
    dtype = draw(st.sampled_from(DTYPES))
    if dtype == "float64":
        largest = np.abs(data).max()
        unit = draw(st.sampled_from(UNITS))
        data = data * min(unit, 1e307 / max(largest, 1.0))
    elif dtype == "bool":
        data = data > np.median(data)
    elif dtype in ("int64", "int8"):
        data = np.clip(np.round(10 * data), -100, 100).astype(dtype)
    else:
        data = data.astype(dtype)
    return draw(st.sampled_from([np.asarray, sparse.csr_matrix, sparse.csc_array]))(data)


@st.composite
def graphs(draw, n):
    """None, or a graph in several pieces, or one that leaves cells alone."""
    kind = draw(st.sampled_from([None, None, "pieces", "lonely", "all", "weak"]))
    if kind is None:
        return None
    rng = np.random.default_rng(draw(st.integers(0, 100)))
    graph = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.5)
    if kind == "all":
        graph = np.ones((n, n))
    graph = graph + graph.T
    if kind == "pieces":
        piece = np.arange(n) % 2
        graph *= piece[:, None] == piece
    if kind == "lonely":
        graph[n // 2 :] = graph[:, n // 2 :] = 0.0
        graph[0, 1] = graph[1, 0] = 1.0
    if kind == "weak":
        graph *= 1e-300
    return sparse.csr_array(graph) if (graph - np.diag(np.diag(graph))).any() else None


OPTIONS = st.fixed_dictionaries(
    {
        "n_comps": st.sampled_from([None, 3, 50]),
        "objective": st.sampled_from(["error", "error", "exact", "printed"]),
        "standardize": st.sampled_from(["auto", "noise", "unit", None]),
        "lambda1": st.sampled_from([0.0, 100.0, 1e-9, 1e4]),
    }
)


def answer_of(data, request, **given):
    """The ranking, checked; None where it was refused with a message."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("error")
        warnings.simplefilter("always", Caution)
        try:
            ranking = rank_genes(data, request, **given)
        except ValueError as error:
            event(type(error).__name__)
            if not (isinstance(error, InvalidValue) or "No gene varies" in str(error)):
                raise
            return None
    info = ranking.info
    d = data.shape[1]
    assert np.isfinite(ranking.weights).all()
    assert (ranking.weights >= 0).all() or info["method"] == "laplacian_score"
    assert np.isfinite(ranking.scores).all()
    assert len(np.unique(ranking.scores)) == d, ranking.scores
    assert sorted(ranking.ranks) == list(range(1, d + 1))
    assert 1 <= ranking.n_selected <= d
    assert ranking.preserved.shape == (ranking.n_selected,)
    assert (np.diff(ranking.preserved) >= -1e-9).all()
    assert -1e-9 <= ranking.preserved[-1] <= 1.0 + 1e-9
    assert ranking.losses.shape == (d,)
    assert (ranking.losses >= 0).all()  # rounding of a gene that loses nothing
    if request.ranker.by_criterion:
        assert (ranking.weights <= 1).all()
        share = ranking.optimality
        assert share.shape == (ranking.n_selected,)
        known = ~np.isnan(share)
        assert known.all() or info["n_axes"] == 0
        assert ((share > 0) & (share <= 1.0))[known].all()
    if "converged" in info:
        assert info["converged"] or warned  # it is said aloud
        assert bool(warned) == (not info["converged"]) or info["method"] != "glfs"
    if "kkt" in info:
        assert info["converged"] == (info["kkt"] <= 1e-4)
        event("converged" if info["converged"] else "not converged")
    return ranking


@settings(EXAMPLES, max_examples=50, suppress_health_check=SLOW)
@given(st.data(), matrices(), OPTIONS)
def test_glfs(data, matrix, options):
    n, d = matrix.shape
    graph = data.draw(graphs(n))
    n_genes = data.draw(st.sampled_from([None, 1, 2, d]))
    answer_of(matrix, Request.of(n_genes, **options), graph=graph)


@settings(EXAMPLES, max_examples=40, suppress_health_check=SLOW)
@given(matrices(), st.sampled_from(sorted(set(METHODS) - {"glfs"})), st.sampled_from([None, 3]))
def test_other_methods(matrix, method, n_comps):
    answer_of(matrix, Request.of(2, method=method, n_comps=n_comps))
