"""The same call gives the same answer: again, from a record, and in a file."""

from __future__ import annotations

import inspect
import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from glfs_bio._anndata.results import request_of
from glfs_bio.glfs2014 import Exact, Printed
from glfs_bio.pp import select_genes, structure
from glfs_bio.solvers.panel import METHODS

COLUMNS = ("weight", "loss", "score", "rank", "selected", "included")
CALLS = [
    {},
    {"objective": Exact(lam=1e-4)},
    {"n_genes": 6, "objective": Exact(tol=1e-3), "n_comps": 10},
    {"objective": Printed(lam="line_search"), "n_comps": 10},
    {"n_genes": 8, "use_rep": "X", "random_state": 3},
    {"n_genes": 8, "include": ["CD3D", re.compile("^HLA-DR")], "exclude": re.compile("^RP[LS]")},
    {"n_genes": 8, "include": "cd3d", "symbols": "symbol", "exclude": "-", "missing": "ignore"},
    {"n_genes": 8, "exclude": "some", "batch_key": "phase", "n_comps": 10},
    {"n_genes": 8, "objective": "exact", "use_rep": "plain"},
    *({"n_genes": 8, "method": method} for method in METHODS if method != "glfs"),
]


@pytest.fixture
def cells(pbmc):
    pbmc = pbmc[::2].copy()
    pbmc.var["some"] = np.arange(pbmc.n_vars) < 400
    pbmc.var["symbol"] = pbmc.var_names.str.lower()
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
    recorded = request_of(again, "glfs").arguments()
    assert {name: recorded[name] for name in options} == options
    select_genes(again, **recorded)
    pd.testing.assert_frame_equal(columns(again), first, check_exact=True)


def test_every_parameter_and_version_is_recorded(cells):
    select_genes(cells, 5)
    entry = cells.uns["glfs"]
    # others say where it is written
    others = {"adata", "inplace", "key_added", "as_highly_variable", "subset"}
    assert set(entry["params"]) == set(inspect.signature(select_genes).parameters) - others
    assert {"glfs-bio", "numpy", "scipy", "scikit-learn", "anndata"} <= set(entry["versions"])
