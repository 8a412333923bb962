"""The same call gives the same answer: again, from a record, in a file, and on more threads."""

from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from glfs_bio.glfs2014 import Exact, Printed
from glfs_bio.methods import METHODS
from glfs_bio.pp import recorded_parameters, select_genes, structure

COLUMNS = ("weight", "loss", "score", "rank", "selected", "included")
CALLS = [
    {"n_genes": 12},
    {},
    {"objective": Exact(lam=1e-4)},
    {"n_genes": 6, "objective": Exact(solver="owlqn", tol=1e-3), "n_comps": 10},
    {"objective": Printed(lam="line_search"), "n_comps": 10},
    {"n_genes": 8, "use_rep": "X", "random_state": 3},
    {"n_genes": 8, "include": ["CD3D", re.compile("^HLA-DR")], "exclude": re.compile("^RP[LS]")},
    {"n_genes": 8, "exclude": "some", "batch_key": "phase", "n_comps": 10},
    {"n_genes": 8, "objective": "exact", "use_rep": "plain"},
    *({"n_genes": 8, "method": method} for method in METHODS if method != "glfs"),
]


@pytest.fixture
def cells(pbmc):
    pbmc.var["some"] = np.arange(pbmc.n_vars) < 400
    pbmc.layers["copy"] = pbmc.X.copy()
    structure(pbmc, standardize=None, layer="copy", key_added="plain")
    return pbmc


def columns(adata, key="glfs"):
    return adata.var[[f"{key}_{name}" for name in COLUMNS]]


@pytest.mark.parametrize("options", CALLS)
def test_again_and_from_the_record_of_a_file(cells, tmp_path, options):
    select_genes(cells, **options)
    first = columns(cells).copy()
    select_genes(cells, **options)
    pd.testing.assert_frame_equal(columns(cells), first, check_exact=True)
    cells.write_h5ad(tmp_path / "panel.h5ad")
    again = ad.read_h5ad(tmp_path / "panel.h5ad")
    again.var = again.var.drop(columns=first.columns)
    select_genes(again, **recorded_parameters(again))
    pd.testing.assert_frame_equal(columns(again), first, check_exact=True)


def test_every_parameter_and_version_is_recorded(cells):
    import inspect

    select_genes(cells, 5)
    entry = cells.uns["glfs"]
    assert set(entry["params"]) == set(inspect.signature(select_genes).parameters) - {
        "adata",
        "inplace",
        "use_raw",  # layer="raw"
        *("key_added", "as_highly_variable", "subset"),  # where it is written
    }
    assert {"glfs-bio", "numpy", "scipy", "scikit-learn", "anndata"} <= set(entry["versions"])


@pytest.mark.parametrize("use_rep", [None, "X"])
def test_to_the_bit_over_containers(cells, use_rep):
    """Dense and sparse sums are in another order: those agree to rounding, each to the bit."""
    dense = cells.X.toarray()
    kinds = {
        "dense": [np.ascontiguousarray, np.asfortranarray],
        "sparse": [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array],
    }
    found = {}
    for kind, containers in kinds.items():
        for container in containers:
            cells.X = container(dense)
            frame = select_genes(cells, 12, use_rep=use_rep, inplace=False)
            found.setdefault(kind, []).append(frame)
    for frames in found.values():
        for frame in frames:
            np.testing.assert_array_equal(frame["glfs_rank"], found["dense"][0]["glfs_rank"])
            np.testing.assert_allclose(
                frame["glfs_weight"], found["dense"][0]["glfs_weight"], rtol=1e-6, atol=1e-12
            )
    matrix, array = found["sparse"][:2]
    pd.testing.assert_frame_equal(matrix, array, check_exact=True)


@pytest.mark.parametrize("options", [{"n_genes": 12}, {"n_genes": 12, "use_rep": "X"}])
def test_on_more_threads(cells, options):
    with threadpool_limits(1):
        one = select_genes(cells, **options, inplace=False)
    with threadpool_limits(2):
        two = select_genes(cells, **options, inplace=False)
    largest = one["glfs_weight"].max()
    np.testing.assert_allclose(two["glfs_weight"], one["glfs_weight"], atol=1e-10 * largest)
    np.testing.assert_array_equal(two["glfs_rank"], one["glfs_rank"])
