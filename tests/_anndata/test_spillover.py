"""Types of neighbouring cells, out of cells with positions or a table."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import not_refused, refused
from scipy import sparse

from glfs_bio import Platform, codec
from glfs_bio._anndata import platform as platforms
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.labels import coded


@pytest.fixture
def line(monkeypatch):
    """Five cells along a line, and one nearest cell for each."""
    monkeypatch.setattr(platforms, "N_NEIGHBORS", 1)
    adata = ad.AnnData(np.ones((5, 2)), {"type": pd.Categorical(list("aabbb"))})
    adata.obsm["spatial"] = np.array([[0, 0], [1, 0], [2.1, 0], [3.0, 0], [9.0, 0]])
    return adata


def test_pairs_are_counted(line):
    # 0–1, 2–3, and 4, whose nearest is 3; every pair both ways
    pairs = platforms.neighbor_counts(line, "type")
    expected = pd.DataFrame([[2.0, 0.0], [0.0, 4.0]], index=["a", "b"], columns=["a", "b"])
    pd.testing.assert_frame_equal(pairs, expected)
    line.obsm["spatial"] = line.obsm["spatial"].astype(object)
    pd.testing.assert_frame_equal(platforms.neighbor_counts(line, "type"), expected)
    line.obs["type"] = ["a", None, "b", "b", "b"]  # a cell without a label does not count
    np.testing.assert_array_equal(platforms.neighbor_counts(line, "type"), [[0, 0], [0, 4]])
    line.obs["type"], line.obs["sample"] = list("aabbb"), ["x", "y", "x", "x", "y"]
    # neighbours are of one section: in x 0–2, 2–3; in y 1–4
    np.testing.assert_array_equal(platforms.neighbor_counts(line, "type"), [[0, 2], [2, 2]])


def test_the_graph_of_squidpy_comes_first(line):
    """In it a cell is no neighbour of itself."""
    edges = np.zeros((5, 5))
    edges[0, 4] = edges[4, 0] = 1.0
    one_way = np.eye(5)
    one_way[0, 4] = 1.0
    for graph in (edges, one_way):
        line.obsp["spatial_connectivities"] = sparse.csr_matrix(graph)
        line.uns["spatial_neighbors"] = {
            "connectivities_key": "spatial_connectivities",
            "params": {"coord_type": "generic"},
        }
        np.testing.assert_array_equal(platforms.neighbor_counts(line, "type"), [[0, 1], [1, 0]])


def read(given, values, share=0.2):
    labels, _ = coded(pd.Series(values))
    return platforms.spillover_of(
        Platform(spillover=share, spillover_to=given), share, "type", labels
    )


def test_frequencies_are_of_the_labels_of_the_data(caplog):
    table = pd.DataFrame([[1, 3, 4], [1, 1, 0]], index=["a", "b"], columns=["a", "b", "other"])
    types = ["b", "a", "c", "c"]
    given = read(table, types)
    np.testing.assert_allclose(given.neighbors, [[0.25, 0.75, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])
    assert given.share == 0.2
    assert "other" in caplog.text
    assert "c" in caplog.text
    alone = read(None, types)
    np.testing.assert_allclose(alone.neighbors, np.tile([0.25, 0.25, 0.5], (3, 1)))


def test_cells_and_their_table_say_the_same_and_are_recorded(line):
    from_cells = read(line, ["a", "b"])
    from_table = read(platforms.neighbor_counts(line, "type"), ["a", "b"])
    np.testing.assert_array_equal(from_cells.neighbors, from_table.neighbors)
    table = pd.DataFrame([[1, 3], [1, 1]], index=["a/1", "b"], columns=["a/1", "b"])
    platform = Platform(spillover=0.1, spillover_to=table)
    assert platform.spillover_to == {"a/1": {"a/1": 0.25, "b": 0.75}, "b": {"a/1": 0.5, "b": 0.5}}
    assert Platform(**codec.value_of(codec.text_of(platform))) == platform
    cells = codec.text_of(Platform(spillover=0.1, spillover_to=line))
    number = Platform(**codec.value_of(cells))
    labels, _ = coded(pd.Series(["a", "b"]))
    with refused(InvalidValue, "spillover_to"):  # of cells their number is recorded
        platforms.spillover_of(number, 0.1, "type", labels)


def test_neighbours_that_a_platform_refuses():
    twice = pd.DataFrame([[1, 1]], index=["a"], columns=["a", "a"])
    cases = [
        ({"spillover_to": {"a": {"a": 1}}}, InvalidValue, "spillover_to"),  # without a share
        *(({"spillover": share}, InvalidValue, "spillover") for share in (-0.1, 1.0, 2)),
    ]
    for kind, values in (
        (InvalidType, ["cells.h5ad", ["a"], {"a": 1}]),
        (InvalidValue, [{"a": {"a": 0}}, {}, twice]),
    ):
        given = [{"spillover": 0.1, "spillover_to": value} for value in values]
        cases += [(options, kind, "spillover_to") for options in given]
    assert not_refused(Platform, cases) == []
    with pytest.raises(InvalidValue, match="spillover_to"):
        Platform(spillover=0.1, spillover_to={"a": {"b": -1}})


def test_cells_that_say_no_neighbours_are_refused(line):
    wanted = ["a", "b"]
    with refused(InvalidValue, "spillover_to"):
        read(line, ["c", "d"])
    line.obs["section"] = ["x", None, "x", "x", None]  # such cells would be neighbours
    with refused(InvalidValue, "spillover_to"):
        read(line, wanted)
    line.obs["section"] = list("vwxyz")
    with refused(InvalidValue, "spillover_to"):
        read(line, wanted)
    del line.obs["section"]
    where = line.obsm["spatial"].copy()
    where[2] = np.nan
    for places in (where.astype(object), np.full((5, 2), np.nan)):
        line.obsm["spatial"] = places
        with refused(InvalidValue, "spillover_to"):
            read(line, wanted)
    del line.obsm["spatial"]
    with pytest.raises(NotFound, match="'spatial': give positions or a table"):
        read(line, wanted)
    del line.obs["type"]
    with refused(NotFound, "labels"):
        read(line, wanted)
