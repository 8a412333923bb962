"""A panel, and what it is evaluated by."""

from __future__ import annotations

import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio.errors import InvalidType, InvalidValue, NotFound

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


@pytest.mark.parametrize("call", [tl.extend_panel, tl.substitutes, tl.explain_panel])
def test_bad_input_changes_nothing(cells, call):
    extra = (1,) if call is tl.extend_panel else ()
    before = set(cells.uns), set(cells.var)
    for panel, options, kind in [
        ("none", {}, NotFound),
        (["none"], {}, InvalidValue),
        (PANEL, {"symbols": "none"}, NotFound),
        (PANEL, {"key_added": ""}, InvalidValue),
        (PANEL, {"preserve": 1}, InvalidType),
    ]:
        with refused(kind, [*options, "panel"][0]):
            call(cells, panel, *extra, **options)
    assert (set(cells.uns), set(cells.var)) == before
