"""The view of the cells by all genes, and by a panel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from glfs_bio import pp, tl
from glfs_bio._anndata import structure
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.data.products import Products, principal_components
from glfs_bio.measures import cells


@pytest.mark.parametrize("dense", [False, True])
def test_components_of_many_cells_are_those_of_a_part(pbmc, monkeypatch, dense):
    data = pbmc.X.toarray() if dense else pbmc.X.tocsr()
    exact = principal_components(Products.of(data), 50, 0)
    monkeypatch.setattr(structure, "MOST_EXACT", 350)
    near = structure.components(RowMatrix(data), 0)
    assert near.shape == exact.shape
    angles = subspace_angles(near[:, :5] - near[:, :5].mean(axis=0), exact[:, :5])
    assert np.degrees(angles.max()) < 10
    lengths = [np.linalg.norm(axes - axes.mean(axis=0), axis=0) for axes in (near, exact)]
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=0.1)


def test_many_cells_are_clustered_in_part(pbmc, monkeypatch):
    pp.select_genes(pbmc, 20)
    measured = {"measures": ["neighbors", "clusters"], "inplace": False}
    whole = tl.evaluate_panel(pbmc, "glfs", **measured)["measures"].set_index("measure")["value"]
    del pbmc.uns[structure.ALL_GENES]
    monkeypatch.setattr(cells, "CLUSTERED", 500)
    part = tl.evaluate_panel(pbmc, "glfs", **measured)["measures"].set_index("measure")["value"]
    assert len(pbmc.uns[structure.ALL_GENES]["clusters"]["5"]) == 500
    assert part["knn_preservation"] == whole["knn_preservation"]
    assert abs(part["cluster_preservation_fine"] - whole["cluster_preservation_fine"]) < 0.1
