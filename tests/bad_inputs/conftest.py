"""What every table of bad input is run with: the call must fail as told, and change nothing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

import glfs_bio


def pytest_make_parametrize_id(val, argname):
    """Short names: functions and arrays have none of their own."""
    if argname in ("value", "call"):
        return re.sub(r"\W+", "_", getattr(val, "__name__", None) or repr(val))[:40]
    return None


def same(one, other) -> bool:
    """Whether two values are of one type and alike, to the bit."""
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, pd.DataFrame | pd.Series | pd.Index):
        return one.equals(other)
    if sparse.issparse(one):
        one, other = one.tocsr(), other.tocsr()
        parts = ("data", "indices", "indptr")
        return all(same(getattr(one, part), getattr(other, part)) for part in parts)
    if isinstance(one, np.ndarray):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and (one.tobytes() == other.tobytes() or bool((one == other).all()))
    return one == other


def contents(adata) -> dict:
    """All that an AnnData object holds, except the matrix."""
    mappings = ("uns", "obsm", "varm", "obsp", "varp", "layers")
    return {"obs": adata.obs, "var": adata.var} | {
        name: dict(getattr(adata, name)) for name in mappings
    }


@pytest.fixture
def refuses():
    """Make a call that must fail, and look whether the object is what it was."""

    def check(call, adata, kind, argument):
        copied = adata.copy() if hasattr(adata, "obsm") else None
        if argument is None:  # Python itself says it
            with pytest.raises(kind):
                call()
        else:
            with refused(kind, argument):
                call()
        if copied is not None:
            assert same(copied.X, adata.X)
            assert same(contents(copied), contents(adata))

    return check


@pytest.fixture(scope="session")
def _analysed(_pbmc):
    adata = _pbmc.copy()
    glfs_bio.pp.select_genes(adata, 10)
    glfs_bio.tl.stability(adata, 5, n_resamples=2)
    glfs_bio.tl.enrich(adata, {"T cells": ["CD3D", "CD3E"], "MHC II": ["HLA-DRA", "HLA-DRB1"]})
    glfs_bio.tl.evaluate_panel(adata, "glfs", "bulk_labels", n_random=2)
    glfs_bio.tl.compare_panels(adata, {"a": "glfs", "b": ["CD3D", "LYZ"]})
    glfs_bio.tl.curve(adata, 10)
    return adata


@pytest.fixture
def analysed(_analysed):
    """Blood cells with a selection, its stability and enrichment, and a panel that was judged."""
    return _analysed.copy()
