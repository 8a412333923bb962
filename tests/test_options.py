"""Options as a user states them, and the rows that limits become."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from refusals import refused

from glfs_bio import codec, pp, tl
from glfs_bio.errors import InvalidType, InvalidValue
from glfs_bio.options import Limits, Platform, Preserve, Request

#: Limits that are refused, with the argument that is named.
UNUSABLE = [
    ("expression", {"expression": {"median": 1}}),
    ("expression", {"expression": {}}),
    ("expression['mean']", {"expression": {"mean": -1}}),
    ("expression['mean']", {"expression": {"mean": (2, 1)}}),
    ("expression['mean']", {"expression": {"mean": (None, None)}}),
    ("expression['cells']", {"expression": {"cells": 1.2}}),
    ("expression['mean_in_type']", {"expression": {"mean_in_type": 1}}),
    ("expression['counts']", {"expression": {"counts": 1}}),
    ("expression['counts_in_type']", {"expression": {"counts_in_type": 1}, "counts_layer": "c"}),
    ("total_counts", {"total_counts": {"gene": 1}}),
    ("total_counts['cell']", {"total_counts": {"cell": 1}}),
    ("total_counts['cell']", {"total_counts": {"cell": -1}, "counts_layer": "c"}),
    ("total_counts['type']", {"total_counts": {"type": 1}, "counts_layer": "c"}),
    ("total_counts['type']", {"total_counts": {"type": {}}, "groupby": "k"}),
    ("total_counts['type']", {"total_counts": {"type": {"B": -1}}, "groupby": "k"}),
    ("counts_layer", {"counts_layer": "c"}),
    ("counts_layer", {"counts_layer": "c", "expression": {"mean": 1}}),
    ("expected_counts", {"expected_counts": {"g": 1}}),
    ("groups", {"groups": "g"}),
    ("groups['B']", {"groups": {"B": []}, "per_group": 1}),
    ("per_group", {"per_group": {"T": 1}}),
    ("per_group", {"groups": "g", "per_group": {}}),
    ("per_group", {"groups": "g", "per_group": -1}),
    ("per_group['T']", {"groups": "g", "per_group": {"T": (3, 1)}}),
    ("per_group['T']", {"groups": "g", "per_group": {"T": (1, 2, 3)}}),
    ("per_group['T']", {"groups": "g", "per_group": {"T": (None, None)}}),
    ("per_type", {"per_type": 0, "groupby": "k"}),
    ("per_type", {"per_type": 1}),
    ("priority['x']", {"priority": {"x": -1}}),
    ("priority['x']", {"priority": {"x": np.nan}}),
    ("groupby", {"groupby": "k", "expression": {"mean": 1}}),
    ("cost", {"cost": "cost"}),
    ("budget", {"budget": 3}),
    ("budget", {"cost": 1, "budget": -3}),
]
OF_ANOTHER_TYPE = [
    ("expression", {"expression": 3}),
    ("expression['mean']", {"expression": {"mean": "1"}}),
    ("total_counts['cell']", {"total_counts": {"cell": {"T": 1}}}),
    ("groups['T']", {"groups": {"T": "x"}, "per_group": {"T": 1}}),
    ("groups", {"groups": 3, "per_group": 2}),
    ("per_group['T']", {"groups": "g", "per_group": {"T": 2.5}}),
    ("budget", {"cost": 1, "budget": "3"}),
]


@pytest.mark.parametrize(
    ("kind", "cases"), [(InvalidValue, UNUSABLE), (InvalidType, OF_ANOTHER_TYPE)]
)
def test_limits_check_themselves(kind, cases):
    for argument, options in cases:
        with refused(kind, argument):
            Limits(**options)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (2, (None, 2)),
        ((1, None), (1, None)),
        ([None, 4], (None, 4)),
        (np.array([1.0, np.inf]), (1, None)),  # as R has it
        (np.int64(3), (None, 3)),
    ],
)
def test_ranges(given, meant):
    for per_group, ranges in ((given, meant), ({"T": given}, {"T": meant})):
        limits = Limits(expression={"mean": given}, groups="lineage", per_group=per_group)
        assert (limits.expression, limits.per_group) == ({"mean": meant}, ranges)
        assert Limits(**codec.value_of(codec.text_of(limits))) == limits


def test_a_platform_and_what_to_preserve():
    with refused(InvalidValue, "platform"):
        Platform()  # it changes nothing
    assert Platform("name") == Platform(name="name")
    assert Platform("MERSCOPE") == Platform("merscope")
    with refused(InvalidValue, "name"):
        Platform("Xenium")  # v1, or Prime?
    for argument in ("cell_weights", "use_rep"):
        with refused(InvalidType, argument):
            Preserve("structure", **{argument: 5})
    assert Preserve() == Preserve("structure", None, None)


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"limits": {"budget": 1}}, InvalidType),
        ({"platform": "xenium_v1"}, InvalidType),
        ({"n_genes": 0}, InvalidValue),
        ({"across": "best"}, InvalidValue),
        ({"time_limit": -1.0}, InvalidValue),
        ({"objective": "exact", "method": "variance"}, InvalidValue),
        ({"n_gene": 5}, InvalidType),
        ({"preserve": Preserve("louvain")}, InvalidType),
    ],
)
def test_a_request_checks_itself(arguments, kind):
    with refused(kind, next(iter(arguments))):
        Request.of(**arguments)


def test_a_request_is_what_select_genes_takes():
    taken = inspect.signature(pp.select_genes).parameters
    where = {"adata", "key_added", "as_highly_variable", "subset", "inplace"}
    arguments = Request().arguments()
    assert set(arguments) == set(taken) - where
    assert {name: taken[name].default for name in arguments} == arguments


def test_fields_of_a_request_are_replaced():
    request = Request.of(5, n_comps=7, exclude=["A"])
    other = request.but(n_genes=9, layer="x")
    assert (other.n_genes, other.structure.layer, other.structure.n_comps) == (9, "x", 7)
    assert (other.exclude, request.n_genes) == (["A"], 5)


@pytest.mark.parametrize(
    ("function", "wrong", "right"),
    [
        (pp.select_genes, {"budget": 3}, "limits=Limits(budget=3)"),
        (pp.select_genes, {"efficiency": 0.5}, "platform=Platform(efficiency=0.5)"),
        (pp.select_genes, {"lambda1": 3.0}, "pp.structure"),
        (pp.select_genes, {"exlude": "CD3D"}, "exclude"),
        (tl.extend_panel, {"per_type": 2, "panel": ["LYZ"]}, "limits=Limits(per_type=2)"),
    ],
)
def test_where_an_argument_belongs(pbmc, function, wrong, right):
    with refused(InvalidType, next(iter(wrong))) as caught:
        function(pbmc, **wrong)
    assert right in str(caught.value)
    assert isinstance(caught.value, TypeError)
