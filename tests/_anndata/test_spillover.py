"""Types of neighbouring cells, out of cells with positions or a table."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import Platform
from glfs_bio._anndata import spillover
from glfs_bio.errors import InvalidType, InvalidValue, NotFound
from glfs_bio.labels import coded


def placed(labels, where, **obs):
    """Cells with labels and positions."""
    adata = ad.AnnData(np.ones((len(labels), 2)))
    adata.obs["type"] = pd.Categorical(labels)
    for name, values in obs.items():
        adata.obs[name] = values
    adata.obsm["spatial"] = np.asarray(where, dtype=float)
    return adata


@pytest.fixture
def line(monkeypatch):
    """Five cells along a line, and one nearest cell for each."""
    monkeypatch.setattr(spillover, "N_NEIGHBORS", 1)
    return placed(list("aabbb"), [[0, 0], [1, 0], [2.1, 0], [3.0, 0], [9.0, 0]])


def test_pairs_are_counted(line):
    # 0–1, 2–3, and 4, whose nearest is 3; every pair both ways
    found = spillover.frequencies(line, "type")
    expected = pd.DataFrame([[2.0, 0.0], [0.0, 4.0]], index=["a", "b"], columns=["a", "b"])
    pd.testing.assert_frame_equal(found, expected)


def test_neighbours_are_of_one_section(line):
    line.obs["sample"] = ["x", "y", "x", "x", "y"]
    # in x: 0–2, 2–3; in y: 1–4
    found = spillover.frequencies(line, "type")
    np.testing.assert_array_equal(found, [[0, 2], [2, 2]])


def test_a_cell_without_a_section_is_refused(line):
    """Such cells would be neighbours of one another."""
    line.obs["section"] = ["x", None, "x", "x", None]
    with refused(InvalidValue, "spillover_to"):
        spillover.frequencies(line, "type")


def test_a_cell_is_no_neighbour_of_itself(line):
    joined = sparse.eye_array(5, format="lil")
    joined[0, 4] = 1.0
    line.obsp["spatial_connectivities"] = joined.tocsr()
    np.testing.assert_array_equal(spillover.frequencies(line, "type"), [[0, 1], [1, 0]])


def test_positions_may_be_numbers_of_any_type(line):
    before = spillover.frequencies(line, "type")
    line.obsm["spatial"] = line.obsm["spatial"].astype(object)
    pd.testing.assert_frame_equal(spillover.frequencies(line, "type"), before)
    line.obsm["spatial"][2] = np.nan
    with refused(InvalidType, "spillover_to"):
        spillover.frequencies(line, "type")


def test_cells_without_a_label_do_not_count(line):
    line.obs["type"] = ["a", None, "b", "b", "b"]
    np.testing.assert_array_equal(spillover.frequencies(line, "type"), [[0, 0], [0, 4]])


def test_the_graph_of_squidpy_comes_first(line):
    rows, others = [0, 4], [4, 0]
    line.obsp["spatial_connectivities"] = sparse.csr_matrix(
        (np.ones(2), (rows, others)), shape=(5, 5)
    )
    np.testing.assert_array_equal(spillover.frequencies(line, "type"), [[0, 1], [1, 0]])


def read(given, values, share=0.2):
    labels, _ = coded(pd.Series(values))
    return spillover.of_labels(Platform(spillover=share, spillover_to=given), share, "type", labels)


def test_frequencies_are_of_the_labels_of_the_data():
    table = pd.DataFrame([[1, 3, 4], [1, 1, 0]], index=["a", "b"], columns=["a", "b", "other"])
    found = read(table, ["b", "a", "c", "c"])
    np.testing.assert_allclose(found.neighbors, [[0.25, 0.75, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]])
    assert found.share == 0.2
    alone = read(None, ["b", "a", "c", "c"])
    np.testing.assert_allclose(alone.neighbors, np.tile([0.25, 0.25, 0.5], (3, 1)))


def test_neighbours_that_are_not_known_are_said(caplog):
    read({"a": {"a": 1, "other": 1}}, ["a", "b"])
    assert "other" in caplog.text
    assert "b" in caplog.text


def test_cells_and_their_table_say_the_same(line):
    from_cells = read(line, ["a", "b"])
    from_table = read(spillover.frequencies(line, "type"), ["a", "b"])
    np.testing.assert_array_equal(from_cells.neighbors, from_table.neighbors)


def test_a_platform_is_recorded_with_its_table():
    table = pd.DataFrame([[1, 3], [1, 1]], index=["a/1", "b"], columns=["a/1", "b"])
    given = Platform(spillover=0.1, spillover_to=table)
    assert given.spillover_to == {"a/1": {"a/1": 0.25, "b": 0.75}, "b": {"a/1": 0.5, "b": 0.5}}
    assert Platform.restored(given.record()) == given


def test_cells_are_recorded_by_their_number(line):
    again = Platform.restored(Platform(spillover=0.1, spillover_to=line).record())
    labels, _ = coded(pd.Series(["a", "b"]))
    with refused(InvalidValue, "spillover_to"):
        spillover.of_labels(again, 0.1, "type", labels)


@pytest.mark.parametrize("share", [-0.1, 1.0, 2])
def test_a_share_is_below_1(share):
    with refused(InvalidValue, "spillover"):
        Platform(spillover=share)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("cells.h5ad", InvalidType),
        (["a"], InvalidType),
        ({"a": 1}, InvalidType),
        ({"a": {"a": 0}}, InvalidValue),
        ({}, InvalidValue),
        (pd.DataFrame([[1, 1]], index=["a"], columns=["a", "a"]), InvalidValue),
    ],
    ids=["path", "list", "numbers", "zero", "empty", "twice"],
)
def test_other_neighbours_are_refused(given, kind):
    with refused(kind, "spillover_to"):
        Platform(spillover=0.1, spillover_to=given)


def test_negative_frequencies_are_refused():
    with pytest.raises(InvalidValue, match="spillover_to"):
        Platform(spillover=0.1, spillover_to={"a": {"b": -1}})


def test_neighbours_need_a_share():
    with refused(InvalidValue, "spillover_to"):
        Platform(spillover_to={"a": {"a": 1}})


def test_cells_without_positions_or_labels_are_refused(line):
    del line.obsm["spatial"]
    with refused(NotFound, "spillover_to"):
        read(line, ["a", "b"])
    line.obsm["spatial"] = np.full((5, 2), np.nan)
    with refused(InvalidType, "spillover_to"):
        read(line, ["a", "b"])
    with refused(NotFound, "labels"):
        line.obs.pop("type")
        read(line, ["a", "b"])


def test_other_labels_are_refused(line):
    with refused(InvalidValue, "spillover_to"):
        read(line, ["c", "d"])
    line.obs["sample"] = list("vwxyz")
    with refused(InvalidValue, "spillover_to"):
        read(line, ["a", "b"])
