"""Technical noise on the graph, and the units that it gives genes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from glfs_bio.cells import noise
from glfs_bio.cells.graph import knn_graph, laplacian
from glfs_bio.data import threads as parallel


def test_noise_is_the_quadratic_form(clusters, container):
    smoother = laplacian(knn_graph(clusters, 5))
    centred = clusters - clusters.mean(axis=0)
    expected = np.einsum("ij,ij->j", centred, smoother.toarray() @ centred) / len(clusters)
    np.testing.assert_allclose(
        noise.graph_residuals(container(clusters), smoother), expected, rtol=1e-10
    )
    np.testing.assert_allclose(noise.variances(container(clusters)), centred.var(axis=0))


def test_noise_in_chunks(clusters, container, monkeypatch):
    smoother = laplacian(knn_graph(clusters, 5))
    whole = noise.graph_residuals(container(clusters), smoother)
    monkeypatch.setattr(noise, "SETTINGS", noise.Settings(block=90 * 7))
    np.testing.assert_allclose(noise.graph_residuals(container(clusters), smoother), whole)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("compiled", [True, False])
def test_quadratic_forms_compiled_or_not(compiled, n_threads, monkeypatch):
    monkeypatch.setattr(noise, "SETTINGS", noise.Settings(rows=5))
    monkeypatch.setattr(parallel, "n_threads", lambda: n_threads)
    if not compiled:
        monkeypatch.setattr(noise, "_forms_of_rows", noise._forms_of_rows.py_func)
    rng = np.random.default_rng(0)
    data = sparse.csr_array(rng.normal(size=(12, 7)) * (rng.uniform(size=(12, 7)) < 0.4))
    form = rng.normal(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.3)
    form = sparse.csr_array(form + form.T)
    twice = sparse.csr_array(  # an entry that is there twice counts as their sum
        (np.r_[data.data[:1] / 2, data.data[:1] / 2, data.data[1:]],
         np.r_[data.indices[:1], data.indices], np.r_[0, data.indptr[1:] + 1]),
        shape=data.shape,
    )  # fmt: skip
    dense = data.toarray()
    expected = np.einsum("ij,ik,kj->j", dense, form.toarray(), dense)
    for x in (data, twice):
        found = noise._quadratic_forms(x, form)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_structured_genes_are_the_reliable_ones(clusters):
    variance = noise.variances(clusters)
    share = noise.reliability(variance, noise.measure(clusters, variance, knn_graph(clusters, 5)))
    assert share[:6].min() > 0.8
    assert share[6:].max() < 0.5
