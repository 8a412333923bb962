"""What is said of a panel in memory, and of the same cells in a file."""

from __future__ import annotations

import copy
import zipfile

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc

from glfs_bio import Limits, Platform, io, pp, tl

LABELS = "bulk_labels"


@pytest.fixture(scope="module")
def cells():
    """Log expression with counts beside it."""
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    counts = adata.X.expm1().rint()
    counts.eliminate_zeros()
    adata.layers["counts"] = counts
    adata.var["id"] = [f"ENSG{place:011d}" for place in range(adata.n_vars)]
    return adata


@pytest.fixture(scope="module")
def both(cells, tmp_path_factory):
    """The cells in memory and in a file, with the same selection."""
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    cells.write_h5ad(path)
    held = ad.read_h5ad(path, backed="r")
    for adata in (cells, held):
        pp.select_genes(adata, 12)
        tl.classify(adata, LABELS, n_genes=5)
    np.testing.assert_array_equal(held.var["glfs_rank"], cells.var["glfs_rank"])
    yield cells, held
    held.file.close()


def first(adata, n=3):
    return list(adata.var["glfs_rank"].nsmallest(n).index)


def reference(adata, folder):
    path = folder / "reference.zip"
    io.write_reference(adata, path, LABELS, ids="id", max_bytes=6e4)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def predicted(adata, folder):
    io.write_classifier(adata, folder / "classifier.json", overwrite=True)
    tl.predict(adata, folder / "classifier.json", key_added="again")
    return adata.obs[["again_predicted", "again_margin"]]


def selected(adata, folder, **options):
    frame = pp.select_genes(adata, 12, inplace=False, **options)
    return frame[["glfs_rank", "glfs_score"]]


CALLS = {
    "curve": lambda a, _: tl.curve(a, 8, LABELS, sizes=[3, 8], inplace=False),
    "markers": lambda a, _: tl.markers(a, "glfs", LABELS, inplace=False),
    "explain_panel": lambda a, _: tl.explain_panel(a, "glfs", LABELS, inplace=False),
    "explain_gene": lambda a, _: tl.explain_gene(a, "IL7R", inplace=False),
    "substitutes": lambda a, _: tl.substitutes(a, "glfs", inplace=False),
    "extend_panel": lambda a, _: tl.extend_panel(a, "glfs", 2, inplace=False),
    "replace_genes": lambda a, _: tl.replace_genes(a, first(a), inplace=False),
    "prove_panel": lambda a, _: tl.prove_panel(a, first(a, 2), time_limit=20.0, inplace=False),
    "order_panel": lambda a, _: tl.order_panel(a, inplace=False),
    "enrich": lambda a, _: tl.enrich(
        a, {"some": [*first(a, 6), *a.var_names[:20]]}, min_cells=3, inplace=False
    ),
    "estimate_efficiency": lambda a, _: tl.estimate_efficiency(
        a, a[:, ::2].to_memory(), LABELS, counts_layer="counts", spatial_layer="counts"
    ),
    "cells of an instrument": lambda a, _: selected(a, _, platform=Platform(efficiency=a)),
    "limits": lambda a, _: selected(
        a, _, limits=Limits(max_counts=20.0, counts_layer="counts", groupby=LABELS, per_type=1)
    ),
    "write_reference": reference,
    "predict": predicted,
}


def as_frames(found):
    """Numbers of a result, by name."""
    if isinstance(found, pd.DataFrame | dict):
        return {"": found}
    return {name: getattr(found, name) for name in vars(found)}


@pytest.mark.filterwarnings("ignore:No cell expresses")
@pytest.mark.parametrize("name", CALLS)
def test_it_is_said_of_a_file_too(both, name, tmp_path):
    cells, held = both
    before = copy.deepcopy([*held.uns]), [*held.var]
    found = []
    for adata, place in ((cells, "memory"), (held, "file")):
        (tmp_path / place).mkdir()
        found.append(as_frames(CALLS[name](adata, tmp_path / place)))
    for part, expected in found[0].items():
        if isinstance(expected, pd.DataFrame):
            pd.testing.assert_frame_equal(found[1][part], expected, rtol=1e-6, atol=1e-9)
        elif isinstance(expected, dict):
            assert found[1][part] == expected
    if name != "predict":
        assert ([*held.uns], [*held.var]) == before


def test_datasets_of_files_are_selected_from_as_one(cells, tmp_path):
    """Also where one is in memory, and where their genes have another order."""
    other = cells[::2, ::-1].copy()
    other.obs_names = [f"{name}x" for name in other.obs_names]
    paths = [tmp_path / "one.h5ad", tmp_path / "other.h5ad"]
    for adata, path in zip((cells, other), paths, strict=True):
        adata.write_h5ad(path)
    files = [ad.read_h5ad(path, backed="r") for path in paths]
    options = {"n_comps": 10, "inplace": False}
    limits = Limits(max_counts=20.0, counts_layer="counts")
    for more in ({}, {"limits": limits}):
        expected = pp.select_genes([cells, other], 8, **options, **more)
        for sets in (files, [cells, files[1]]):
            found = pp.select_genes(sets, 8, **options, **more)
            pd.testing.assert_frame_equal(found, expected, rtol=1e-6)
    for one in files:
        one.file.close()
