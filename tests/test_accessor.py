"""``adata.glfs``, where anndata has accessors."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import anndata
import pytest

import glfs_bio
from glfs_bio import _on_import

accessors = pytest.mark.skipif(
    not hasattr(anndata, "register_anndata_namespace"), reason="this anndata has no accessors"
)


@accessors
def test_methods_do_what_functions_do(pbmc):
    pbmc.glfs.select_genes(5)
    other = pbmc.copy()
    glfs_bio.pp.select_genes(other, 5)
    assert pbmc.var["glfs_rank"].equals(other.var["glfs_rank"])
    assert len(pbmc.glfs.curve(8, inplace=False)) == 8
    assert pbmc.glfs.pl.genes(show=False).get_xlabel()
    assert pbmc.copy().glfs.evaluate_panel.__self__ is not pbmc


@accessors
def test_every_function_of_an_object_is_a_method(pbmc):
    for room in (glfs_bio.pp, glfs_bio.tl):
        for name in room.__all__:
            function = getattr(room, name)
            first, *others = inspect.signature(function).parameters
            if first == "adata":  # others are of two objects
                method = getattr(pbmc.glfs, name)
                assert method.__func__ is function
                assert list(inspect.signature(method).parameters) == others
                assert name in dir(pbmc.glfs)
    assert set(glfs_bio.pl.__all__) <= set(dir(pbmc.glfs.pl))
    assert "read_panel" not in dir(pbmc.glfs)
    for accessor in (pbmc.glfs, pbmc.glfs.pl):
        assert not any(name.startswith("_") for name in dir(accessor))
        with pytest.raises(AttributeError, match="nothing"):
            _ = accessor.nothing
    assert pickle.loads(pickle.dumps(pbmc)).glfs.select_genes


@accessors
def test_it_shows_what_is_there(pbmc):
    assert "no selection" in repr(pbmc.glfs)
    pbmc.glfs.select_genes(5)
    pbmc.glfs.evaluate_panel(measures="preserved", key_added="mine")
    text = repr(pbmc.glfs)
    assert all(part in text for part in ("glfs: 5 of 765 genes", "mine", "evaluate_panel"))
    assert "contributions" in repr(pbmc.glfs.pl)


@accessors
def test_the_package_may_be_imported_first():
    """Before anndata, which another package imports; after it, it is in every test here."""
    code = (
        "import sys, glfs_bio\n"
        "assert 'anndata' not in sys.modules\n"
        "import scanpy, anndata\n"
        "assert callable(anndata.AnnData().glfs.select_genes)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_an_anndata_without_accessors_is_left_alone(monkeypatch):
    monkeypatch.delattr(anndata, "register_anndata_namespace", raising=False)
    monkeypatch.delattr(anndata.AnnData, "glfs", raising=False)
    _on_import.when_imported("anndata", glfs_bio._register)
    assert not hasattr(anndata.AnnData, "glfs")
