"""Options as a user states them, and the rows that limits become."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.options import Limits, Platform, Preserve, Request


@pytest.mark.parametrize(
    ("arguments", "kind", "argument"),
    [
        ({"min_mean": -1}, InvalidValue, "min_mean"),
        ({"min_mean": "1"}, InvalidType, "min_mean"),
        ({"max_cells": 1.2}, InvalidValue, "max_cells"),
        ({"min_mean": 2, "max_mean": 1}, InvalidValue, "min_mean"),
        ({"min_cells": 0.2, "max_cells": 0.1}, InvalidValue, "min_cells"),
        ({"max_mean_in_type": 1}, InvalidValue, "max_mean_in_type"),
        ({"max_total_per_cell": 1}, InvalidValue, "counts_layer"),
        ({"max_total_per_type": 1, "groupby": "k"}, InvalidValue, "counts_layer"),
        ({"max_total_per_type": 1, "counts_layer": "c"}, InvalidValue, "max_total_per_type"),
        ({"max_total_per_type": {}, "groupby": "k"}, InvalidValue, "max_total_per_type"),
        (
            {"max_total_per_type": {"B": -1}, "groupby": "k"},
            InvalidValue,
            "max_total_per_type['B']",
        ),
        ({"counts_layer": "c"}, InvalidValue, "counts_layer"),
        ({"max_counts": 1}, InvalidValue, "counts_layer"),
        ({"max_counts": -1, "counts_layer": "c"}, InvalidValue, "max_counts"),
        ({"min_counts": 2, "max_counts": 1, "counts_layer": "c"}, InvalidValue, "min_counts"),
        ({"max_counts_in_type": 1, "counts_layer": "c"}, InvalidValue, "max_counts_in_type"),
        ({"groups": "g"}, InvalidValue, "groups"),
        ({"groups": {"T": "x"}, "per_group": {"T": 1}}, InvalidType, "groups"),
        ({"per_group": {"T": 1}}, InvalidValue, "per_group"),
        ({"groups": "g", "per_group": 2}, InvalidType, "per_group"),
        ({"groups": "g", "per_group": {}}, InvalidValue, "per_group"),
        ({"groups": "g", "per_group": {"T": (3, 1)}}, InvalidValue, "per_group['T']"),
        ({"groups": "g", "per_group": {"T": (1, 2, 3)}}, InvalidValue, "per_group['T']"),
        ({"groups": "g", "per_group": {"T": (None, None)}}, InvalidValue, "per_group['T']"),
        ({"groups": "g", "per_group": {"T": 2.5}}, InvalidType, "per_group['T']"),
        ({"counts_layer": "c", "max_mean": 1}, InvalidValue, "counts_layer"),
        ({"per_type": 0, "groupby": "k"}, InvalidValue, "per_type"),
        ({"per_type": 1}, InvalidValue, "per_type"),
        ({"markers": {"B": ["x"]}}, InvalidValue, "markers"),
        ({"markers": {"B": "x"}, "per_type": 1}, InvalidType, "markers"),
        ({"markers": {"B": []}, "per_type": 1}, InvalidValue, "markers"),
        ({"markers": 3, "per_type": 1}, InvalidType, "markers"),
        ({"families": "family"}, InvalidValue, "families"),
        ({"per_family": 2}, InvalidValue, "per_family"),
        ({"families": 3, "per_family": 2}, InvalidType, "families"),
        ({"priority": {"x": -1}}, InvalidValue, "priority['x']"),
        ({"priority": {"x": np.nan}}, InvalidValue, "priority['x']"),
        ({"groupby": "k", "max_mean": 1}, InvalidValue, "groupby"),
        ({"cost": "cost"}, InvalidValue, "cost"),
        ({"budget": 3}, InvalidValue, "budget"),
        ({"cost": 1, "budget": -3}, InvalidValue, "budget"),
        ({"cost": 1, "budget": "3"}, InvalidType, "budget"),
    ],
)
def test_limits_check_themselves(arguments, kind, argument):
    with refused(kind, argument):
        Limits(**arguments)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (2, (2, 2)),
        ((1, None), (1, None)),
        ([None, 4], (None, 4)),
        (np.array([1.0, np.inf]), (1, None)),  # as R has it
        (np.int64(3), (3, 3)),
        ((0, 0), (0, 0)),
    ],
)
def test_numbers_of_a_group(given, meant):
    limits = Limits(groups="lineage", per_group={"T": given})
    assert limits.per_group == {"T": meant}
    assert Limits.restored(limits.record()) == limits


def test_a_platform_that_changes_nothing_is_refused():
    with refused(InvalidValue, "platform"):
        Platform()
    assert Platform("name") == Platform(name="name")


@pytest.mark.parametrize("argument", ["cell_weights", "use_rep"])
def test_what_to_preserve_has_names(argument):
    with refused(InvalidType, argument):
        Preserve("structure", **{argument: 5})
    assert Preserve() == Preserve("structure", None, None)


@pytest.mark.parametrize(
    ("arguments", "kind", "argument"),
    [
        ({"limits": {"max_mean": 1}}, InvalidType, "limits"),
        ({"platform": "xenium_v1"}, InvalidType, "platform"),
        ({"n_genes": 0}, InvalidValue, "n_genes"),
        ({"n_comps": 0}, InvalidValue, "n_comps"),
        ({"across": "best"}, InvalidValue, "across"),
        ({"search": "worst"}, InvalidValue, "search"),
        ({"time_limit": -1.0}, InvalidValue, "time_limit"),
        ({"objective": "exact", "method": "variance"}, InvalidValue, "objective"),
        ({"n_gene": 5}, InvalidType, "n_gene"),
    ],
)
def test_a_request_checks_itself(arguments, kind, argument):
    with refused(kind, argument):
        Request.of(**arguments)


def test_a_request_is_what_select_genes_takes():
    taken = inspect.signature(pp.select_genes).parameters
    where = {"adata", "use_raw", "key_added", "as_highly_variable", "subset", "inplace"}
    assert set(Request().arguments()) == set(taken) - where
    assert {name: taken[name].default for name in Request().arguments()} == Request().arguments()


def test_fields_of_a_request_are_replaced():
    request = Request.of(5, n_comps=7, exclude=["A"])
    other = request.but(n_genes=9, layer="x")
    assert (other.n_genes, other.structure.layer, other.structure.n_comps) == (9, "x", 7)
    assert other.exclude == ["A"]
    assert request.n_genes == 5


@pytest.mark.parametrize(
    ("function", "given", "told"),
    [
        (pp.select_genes, {"max_mean": 3}, "limits=Limits(max_mean=3)"),
        (pp.select_genes, {"efficiency": 0.5}, "platform=Platform(efficiency=0.5)"),
        (pp.select_genes, {"lambda1": 3.0}, "pp.structure"),
        (pp.select_genes, {"exlude": "CD3D"}, "exclude"),
        (tl.extend_panel, {"panel": ["LYZ"], "per_type": 2}, "limits=Limits(per_type=2)"),
        (tl.stability, {"n_genes": 5, "max_mean": 3}, "limits=Limits(max_mean=3)"),
    ],
)
def test_where_an_argument_belongs(pbmc, function, given, told):
    with refused(
        InvalidType, next(name for name in given if name not in ("panel", "n_genes"))
    ) as caught:
        function(pbmc, **given)
    assert told in str(caught.value)
    assert isinstance(caught.value, TypeError)
