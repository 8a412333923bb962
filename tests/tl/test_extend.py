"""A panel is extended within everything that it was chosen with."""

from __future__ import annotations

import numpy as np
import pytest

from glfs_bio import Limits, pp, tl


@pytest.fixture
def selection(pbmc):
    """Eight genes of low expression, without the genes that come first."""
    pp.select_genes(pbmc, 8)
    first = list(pbmc.var_names[pbmc.var["glfs_rank"] <= 30])
    pp.select_genes(pbmc, 8, exclude=first, limits=Limits(max_mean=1.0))
    return pbmc, first


def test_exclusions_and_limits_stay(selection):
    cells, first = selection
    mean = np.asarray(cells.X.mean(axis=0)).ravel()
    added = tl.extend_panel(cells, "glfs", 10, inplace=False)["gene"]
    assert not set(added) & set(first)
    assert (mean[cells.var_names.get_indexer(added)] <= 1.0).all()


def test_a_call_replaces_them(selection):
    cells, first = selection
    added = tl.extend_panel(cells, "glfs", 5, exclude=[], limits=Limits(), inplace=False)["gene"]
    assert set(added) & set(first)


def test_the_extension_brings_them_along(selection):
    cells, first = selection
    tl.extend_panel(cells, "glfs", 4)
    recorded = pp.recorded_parameters(cells, "glfs_extended")
    assert recorded["exclude"] == first
    assert recorded["limits"] == Limits(max_mean=1.0)
    assert recorded["n_genes"] == 12
    again = tl.extend_panel(cells, "glfs_extended", 6, inplace=False)["gene"]
    assert not set(again) & set(first)


def test_a_panel_that_is_no_selection_has_none(selection):
    cells, first = selection
    added = tl.extend_panel(cells, list(cells.var_names[:3]), 10, inplace=False)["gene"]
    assert set(added) & set(first)
