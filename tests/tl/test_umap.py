from __future__ import annotations

import pytest
from refusals import refused

from glfs_bio import pp, tl
from glfs_bio._anndata import umap
from glfs_bio.errors import InvalidValue, NotFound


@pytest.fixture
def adata(pbmc):
    small = pbmc[::5, :200].copy()
    pp.select_genes(small, 8)
    return small


@pytest.mark.parametrize(
    ("options", "kind", "argument"),
    [
        ({"key": "nope"}, NotFound, "key"),
        ({"key": "a/b"}, InvalidValue, "key"),
        ({"n_genes": 0}, InvalidValue, "n_genes"),
        ({"layer": "nope"}, NotFound, "layer"),
        ({"random_state": -1}, InvalidValue, "random_state"),
    ],
)
def test_bad_input_leaves_the_object_alone(adata, options, kind, argument, monkeypatch):
    monkeypatch.setattr(umap, "_umap", lambda *_: pytest.fail("computed"))
    before = set(adata.obsm), set(adata.uns)
    with refused(kind, argument):
        tl.panel_umap(adata, **options)
    assert (set(adata.obsm), set(adata.uns)) == before
