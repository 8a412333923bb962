"""Limits as a user states them become rows over the genes; where genes are on."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import not_refused, refused
from scipy import sparse

from glfs_bio import pp
from glfs_bio._anndata import constraints
from glfs_bio._anndata.expression import Expression
from glfs_bio._anndata.names import Lookup, choose
from glfs_bio._anndata.results import request_of
from glfs_bio.criterion.platform import Detection
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import Caution, FileMissing, InvalidType, InvalidValue, NotFound
from glfs_bio.labels import Labels
from glfs_bio.options import Limits, Request

TYPES = ["B", "NK/T", "mono"]


@pytest.fixture
def adata():
    """60 cells of three types × 12 genes: 3 markers of each, 3 of none; counts in a layer."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(np.arange(3), 20)
    rate = np.full((3, 12), 0.3)
    for kind in range(3):
        rate[kind, 3 * kind : 3 * kind + 3] = 5.0
    counts = rng.poisson(rate[kinds])
    counts[:, 9:] += 1
    adata = ad.AnnData(sparse.csr_matrix(np.log1p(counts)), {"kind": np.array(TYPES)[kinds]})
    adata.obs_names = [f"cell{i}" for i in range(60)]
    adata.var_names = [f"g{i}" for i in range(12)]
    adata.layers["counts"] = sparse.csr_matrix(counts)
    adata.var["cost"] = np.arange(12) + 1.0
    adata.var["family"] = pd.Categorical([*"aaabbbccd", None, None, None])
    return adata


def rows_of(adata, limits, **options):
    return constraints.rows(adata, Request(limits=limits), **options)


def row(rows, name):
    """One row as a dense array, and its limits."""
    place = list(rows.names).index(name)
    return rows.matrix[[place]].toarray()[0], rows.lower[place], rows.upper[place]


def names(adata, mask):
    return list(adata.var_names[np.asarray(mask, dtype=bool)])


def assert_bounds(adata, measures, detection=None, **options):
    """Each bound allows the genes whose measure is within it."""
    for name, measure in measures.items():
        groupby = "kind" if name.endswith("type") else None
        bound = float(np.sort(measure)[5:7].mean())
        for bounds, fits in (((bound, None), measure >= bound), ((None, bound), measure <= bound)):
            wanted = Limits(expression={name: bounds}, groupby=groupby, **options)
            rows = rows_of(adata, wanted, detection=detection)
            np.testing.assert_array_equal(rows.allowed, fits)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_matrix, np.asarray])
def test_expression_of_single_genes(adata, container):
    dense = adata.X.toarray()
    adata.X = container(dense)
    of_types = [dense[adata.obs["kind"] == kind] for kind in TYPES]
    measures = {
        "mean": dense.mean(axis=0),
        "cells": (dense > 0).mean(axis=0),
        "mean_in_type": np.max([cells.mean(axis=0) for cells in of_types], axis=0),
        "cells_in_type": np.max([(cells > 0).mean(axis=0) for cells in of_types], axis=0),
    }
    assert_bounds(adata, measures)


@pytest.mark.parametrize("efficiency", [None, 0.5])
def test_counts_of_single_genes(adata, efficiency):
    """On a platform those that it detects."""
    counts = adata.layers["counts"].toarray() * (efficiency or 1.0)
    detection = Detection(None if efficiency is None else np.full(12, efficiency))
    of_types = [counts[adata.obs["kind"] == kind].mean(axis=0) for kind in TYPES]
    measures = {"counts": counts.mean(axis=0), "counts_in_type": np.max(of_types, axis=0)}
    assert_bounds(adata, measures, detection, counts_layer="counts")
    expected = {"expected_counts": {"g3": 60.0}, "counts_layer": "counts"}
    limits = Limits(expression={"counts": 50}, **expected)
    assert names(adata, ~rows_of(adata, limits).allowed) == ["g3"]


@pytest.mark.parametrize("form", ["column", "lists", "file"])
def test_numbers_of_groups(adata, tmp_path, form):
    lists = {"a": ["g0", "g1", "g2"], "b": ["g3", "g4", "g5"], "d": ["g9"]}
    adata.var["lineage"] = [*"aaabbb", None, "", np.nan, "d", None, None]
    path = tmp_path / "sheet.csv"
    lines = [f"{gene},{name}" for name, genes in lists.items() for gene in genes]
    path.write_text("\n".join(["gene,group", *lines]) + "\n")
    groups = {"column": "lineage", "lists": lists, "file": path}[form]
    per_group = {"a": (1, 2), "b": 1, "d": (1, None)}
    rows = rows_of(adata, Limits(groups=groups, per_group=per_group))
    ranges = [(1, 2), (0, 1), (1, np.inf)]
    names_of_rows = ["1 ≤ per_group ≤ 2 (a)", "per_group ≤ 1 (b)", "per_group ≥ 1 (d)"]
    limits = dict(zip(names_of_rows, ranges, strict=True))
    assert [*rows.names] == [*limits]
    for name, genes in zip(limits, lists.values(), strict=True):
        values, *bounds = row(rows, name)
        assert names(adata, values) == genes
        assert tuple(bounds) == limits[name]


def test_totals_of_counts(adata):
    counts = adata.layers["counts"].toarray()
    of_types = {"groupby": "kind", "counts_layer": "counts"}
    wanted = Limits(total_counts={"cell": 9, "type": {"NK/T": 7.5}}, **of_types)
    rows = rows_of(adata, wanted)
    assert len(rows.names) == 2
    for name, cells, most in (
        ("total_counts['cell'] ≤ 9", counts, 9.0),
        ("total_counts['type'] ≤ 7.5 (NK/T)", counts[20:40], 7.5),
    ):
        values, _, upper = row(rows, name)
        np.testing.assert_allclose(values, cells.mean(axis=0))
        assert upper == most
    every = rows_of(adata, Limits(total_counts={"type": 3}, **of_types))
    assert [*every.names] == [f"total_counts['type'] ≤ 3 ({kind})" for kind in TYPES]
    adata.X = adata.layers["counts"]
    same = rows_of(adata, Limits(total_counts={"cell": 9}, counts_layer="X"))
    np.testing.assert_allclose(row(same, "total_counts['cell'] ≤ 9")[0], counts.mean(axis=0))


def test_costs(adata):
    by_name = dict(zip(adata.var_names, adata.var["cost"], strict=True))
    for cost in ("cost", by_name):
        rows = rows_of(adata, Limits(cost=cost, budget=20))
        np.testing.assert_array_equal(row(rows, "budget ≤ 20")[0], adata.var["cost"])
        assert rows.budget
    rows = rows_of(adata, Limits(cost=2.5, budget=20))
    np.testing.assert_array_equal(row(rows, "budget ≤ 20")[0], 2.5)
    with refused(NotFound, "cost"):
        rows_of(adata, Limits(cost={**by_name, "absent": 3.0}, budget=20))
    del by_name["g3"]
    allowed = adata.var_names != "g3"
    rows_of(adata, Limits(cost=by_name, budget=20), allowed=allowed)
    with refused(InvalidValue, "cost"):
        rows_of(adata, Limits(cost=by_name, budget=20))


def test_a_maximum_of_all_groups(adata, caplog):
    assert rows_of(adata, None) is rows_of(adata, Limits()) is None
    rows = rows_of(adata, Limits(groups="family", per_group=2))
    assert [*rows.names] == ["per_group ≤ 2 (a)", "per_group ≤ 2 (b)"]
    assert names(adata, row(rows, "per_group ≤ 2 (b)")[0]) == ["g3", "g4", "g5"]
    listed = {"x": ["g0", "g7", "absent"], "y": ("g1", "absent")}
    rows = rows_of(adata, Limits(groups=listed, per_group=1))
    assert [*rows.names] == ["per_group ≤ 1 (x)"]
    assert names(adata, row(rows, "per_group ≤ 1 (x)")[0]) == ["g0", "g7"]
    (message,) = caplog.messages
    assert message.count("absent") == 1


def test_lists_out_of_files(adata, tmp_path):
    table = tmp_path / "lists.csv"
    table.write_text("type,gene\nx,g0\nx,g1\ny,g3\ny,g4\n")
    lists = {"x": ["g0", "g1"], "y": ["g3", "g4"]}
    for path in (table, str(table)):
        asked = Limits(groups=path, per_group=(1, 2))
        meant = Limits(groups=lists, per_group=(1, 2))
        assert constraints.with_lists(Lookup(adata), asked) == meant
        assert [*rows_of(adata, asked).names] == [*rows_of(adata, meant).names]
    pp.select_genes(adata, 3, n_comps=5, limits=Limits(groups=table, per_group=(1, None)))
    assert request_of(adata, "glfs").limits.groups == lists
    adata.var[str(table)] = "a column"
    limits = Limits(groups=str(table), per_group=1)
    assert constraints.with_lists(Lookup(adata), limits).groups == str(table)


def test_markers_of_types(adata):
    rows = rows_of(adata, Limits(per_type=2, groupby="kind"))
    for place, kind in enumerate(TYPES):
        values, lower, _ = row(rows, f"per_type ≥ 2 ({kind})")
        assert names(adata, values) == [f"g{3 * place + i}" for i in range(3)]
        assert lower == 2.0


def test_types_of_few_markers_or_cells(adata):
    """A type needs as many as it has; of two cells it has none; cells without one are in none."""
    with pytest.warns(Caution, match="fewer markers"):
        rows = rows_of(adata, Limits(per_type=5, groupby="kind"))
    assert {row(rows, f"per_type ≥ 5 ({kind})")[1] for kind in TYPES} == {3.0}
    with pytest.warns(Caution, match=r"B \(1\)"):  # others are excluded
        rows = rows_of(adata, Limits(per_type=2, groupby="kind"), allowed=np.arange(12) > 1)
    assert [row(rows, f"per_type ≥ 2 ({kind})")[1] for kind in TYPES] == [1.0, 2.0, 2.0]
    adata.obs["some"] = adata.obs["kind"].where(adata.obs["kind"] != "mono")
    rows = rows_of(adata, Limits(per_type=2, groupby="some"))
    assert len(rows.names) == 2
    assert names(adata, row(rows, "per_type ≥ 2 (B)")[0]) == ["g0", "g1", "g2"]
    adata.obs.loc[adata.obs_names[-2:], "kind"] = "few"
    adata.X[-2:, 9] = 7.0
    with pytest.warns(Caution, match=r"few \(0\)"):
        rows = rows_of(adata, Limits(per_type=1, groupby="kind"))
    assert row(rows, "per_type ≥ 1 (few)")[1] == 0.0
    adata.X = np.ones(adata.shape)
    with refused(InvalidValue, "per_type"):
        rows_of(adata, Limits(per_type=1, groupby="kind"))


def test_priorities(adata):
    rows = rows_of(adata, Limits(priority={"g3": 2.0, "g5": 0.0}))
    np.testing.assert_array_equal(rows.priority, [1, 1, 1, 2, 1, 0, 1, 1, 1, 1, 1, 1])
    assert not len(rows.names)
    rows = rows_of(adata, Limits(priority="cost"))
    np.testing.assert_array_equal(rows.priority, adata.var["cost"])
    adata.var.loc["g4", "cost"] = np.nan
    with refused(InvalidValue, "priority"):
        rows_of(adata, Limits(priority="cost"))


def test_a_choice_within_limits(adata):
    mean = adata.X.toarray().mean(axis=0)
    most = float(np.sort(mean)[8])
    wanted = Limits(expression={"mean": most})
    every = choose(adata, Request())
    genes = constraints.within(adata, every, Request.of(5, limits=wanted))
    np.testing.assert_array_equal(genes.allowed, mean <= most)
    request = Request.of(5, limits=wanted, include=adata.var_names[np.argmax(mean)])
    with refused(InvalidValue, "include"):
        constraints.within(adata, choose(adata, request), request)
    with refused(InvalidValue, "n_genes"):
        pp.select_genes(adata, 10, limits=wanted)
    few = {"mean": (None, float(np.sort(mean)[5]))}
    both = Limits(per_type=3, groupby="kind", expression=few)
    with refused(InvalidValue, "limits"):
        constraints.within(adata, every, Request.of(limits=both))


TOTAL = {"total_counts": {"cell": 1}}
OF_TYPE = {
    "total_counts": {"type": {"T": 1}},
    "groupby": "kind",
    "counts_layer": "counts",
}
ABSENT = [
    ({"cost": "price", "budget": 3}, NotFound, "cost"),
    ({"cost": "family", "budget": 3}, InvalidType, "cost"),
    ({"cost": -1, "budget": 3}, InvalidValue, "cost"),
    (TOTAL | {"counts_layer": "raw"}, NotFound, "counts_layer"),
    (TOTAL | {"counts_layer": "X"}, InvalidValue, "counts_layer"),
    ({"per_type": 1, "groupby": "type"}, NotFound, "groupby"),
    ({"groups": "fam", "per_group": 1}, NotFound, "groups"),
    ({"groups": "no.csv", "per_group": 1}, FileMissing, "groups"),
    ({"priority": "prio"}, NotFound, "priority"),
    ({"priority": {"no1": 2.0}}, NotFound, "priority"),
    ({"groups": {"a": ["g0"]}, "per_group": {"b": 1}}, NotFound, "per_group"),
    (OF_TYPE, NotFound, "total_counts['type']"),
]


def test_what_the_data_do_not_have(adata):
    assert not_refused(lambda **limits: rows_of(adata, Limits(**limits)), ABSENT) == []


#: What 40 cells of a type, 40 of another, and two of a third have of a gene; what it marks.
MARKS = {
    "off elsewhere": ([[5] * 40, [0] * 40, [0] * 2], "a"),
    "on everywhere": ([[9] * 40, [3] * 40, [3] * 2], None),
    "ambient": ([[99] * 40, [2] * 40, [2] * 2], "a"),
    "in half as many": ([[9] * 40, [0, 4] * 20, [0] * 2], "a"),
    "in more": ([[9] * 40, [0, 4, 4, 4] * 10, [0] * 2], None),
    "noise of two cells": ([[0] * 40, [0] * 40, [7] * 2], None),
    "signs of logarithms": ([[2] * 40, [0] * 30 + [30] * 10, [0] * 2], None),
}


@pytest.mark.parametrize("unlog", [False, True])
def test_a_marker_is_on_in_its_type_and_off_elsewhere(unlog):
    counts = np.array([np.concatenate(of_types) for of_types, _ in MARKS.values()], dtype=float).T
    types = Labels(np.repeat(range(3), [40, 40, 2]), np.array(["a", "b", "c"]))
    for values in (counts, sparse.csr_array(counts)):
        data = RowMatrix(np.log1p(values) if unlog else values)
        marks = Expression.of(data, types, unit=float(unlog)).marked
        named = [types.names[place] if place >= 0 else None for place in marks]
        assert dict(zip(MARKS, named, strict=True)) == {name: of for name, (_, of) in MARKS.items()}
