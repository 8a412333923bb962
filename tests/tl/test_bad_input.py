"""Bad input to ``tl``, ``pl`` and ``io``; no file and no figure is left."""

from __future__ import annotations

import inspect
from pathlib import Path

import joblib
import numpy as np
import pytest
from anndata import AnnData
from matplotlib import pyplot as plt
from refusals import refusal_of

from glfs_bio import io, pl, pp, rbridge, tl
from glfs_bio._files import replacing
from glfs_bio.errors import FileExists, FileMissing, InvalidType, InvalidValue, NotFound

SETS = {"T cells": ["CD3D", "CD3E"], "MHC II": ["HLA-DRA", "HLA-DRB1"]}
NO_GENE = {"a": ["zz"]}
PLACES = {"domains": "bulk_labels", "spatial": "X_umap"}
GENES = ["CD3D", "LYZ"]

#: What any function refuses that has the argument, by kind; a tuple has several values.
ANYWHERE = {
    InvalidType: {
        "adata": (np.ones((4, 4)), None, 5), "ax": 5, "exclude": 5, "ignore": 5,
        "inplace": 1, "key_added": 5, "limits": 5, "overwrite": 5, "path": 5,
        "random_state": "x", "save": 5, "show": "x", "title": 5,
    },
    InvalidValue: {
        "across": "best", "color_map": "x", "key_added": "", "min_probes": 0,
        "n_genes": 0, "palette": (["x"],), "random_state": -1,
        "measures": (["x"], []), "save": ("x.nope", "no/ending", ".nope", "a\0.png"),
        "species": "x", "tolerance": (-0.1, 1, np.nan),
    },
    NotFound: {
        "basis": "x", "batch_key": "x", "counts_layer": "x", "domains": "x", "ids": "x", "key": "x",
        "labels": "x", "layer": "x", "library_key": "x", "neighbors_key": "x", "panel": "x",
        "preserve": "x", "spatial": "x", "symbols": "x", "use_rep": "x",
    },
}  # fmt: skip
#: Arguments with which functions are called while others are refused.
ARGUMENTS = {
    tl.evaluate_panel: PLACES,
    tl.extend_panel: {"n_genes": 4},
    tl.order_panel: {"platform": "xenium_v1"},
    tl.prove_panel: {"time_limit": 1.0},
    tl.stability: {"n_resamples": 2},
    tl.classify: {"labels": "bulk_labels", "n_genes": 5},
    tl.enrich: {"gene_sets": SETS},
    io.write_genes: {"path": "x.csv"},
    io.write_order: {"path": "x.csv"},
    io.write_reference: {"path": "x.zip", "labels": "phase", "ids": "glfs_selected"},
    io.write_report: {"path": "x.html"},
    rbridge.from_sce: {"sce": None},
    pl.dotplot: {"labels": "louvain"},
    pl.panel: {"color": "louvain"},
}
#: What functions refuse beside that.
REFUSED = {
    tl.evaluate_panel: {
        InvalidType: {"gene_sets": 5, "labels": "percent_mito", "panel": 3, "platform": 0.5},
        InvalidValue: {"counts_layer": "X", "gene_sets": NO_GENE, "sizes": ([0], 10**6)},
        FileMissing: {"gene_sets": "no.gmt"},
    },
    tl.extend_panel: {
        InvalidType: {"drop": 5, "platform": 0.5, "preserve": 1},
        InvalidValue: {
            "drop": ("NKG7", ["CD3D", "GNLY"], ["zz"]), "n_genes": (2, 766),
            "panel": ([],),
        },
        NotFound: {"panel": ["none"]},
    },
    tl.order_panel: {
        InvalidType: {"catalogue": 5, "genes": 5},
        InvalidValue: {"backups": -1, "platform": ("visium", 5), "refused": "x"},
        NotFound: {"catalogue": "x"},
        FileMissing: {"genes": "x.csv"},
    },
    tl.resolve_genes: {
        InvalidType: {"genes": b"x", "ids": 5},
        InvalidValue: {"genes": [], "key_added": "neighbors", "nomenclature": (5, "x.txt")},
        FileMissing: {"genes": "no.csv"},
    },
    tl.prove_panel: {
        InvalidType: {"time_limit": "x"},
        InvalidValue: {"key_added": "glfs", "time_limit": 0},
    },
    tl.explain_panel: {
        InvalidType: {"genes": 5, "preserve": 1},
        InvalidValue: {"n_substitutes": 0},
        NotFound: {"genes": ["zz"], "panel": ["none"]},
    },
    tl.stability: {
        InvalidType: {"finish": True, "key": 5, "lamda1": 3.0, "n_genes": "many"},
        InvalidValue: {
            "fraction": (0.0, 0.001, 1.0, np.nan), "method": "magic", "n_genes": 766, "n_jobs": 0,
            "n_resamples": 1, "use_rep": "",
        },
        NotFound: {"batch_key": "x", "include": ["x"], "layer": "x", "neighbors_key": "x"},
    },
    tl.classify: {
        InvalidType: {
            "labels": (5, ["bulk_labels"], "percent_mito"), "n_genes": ([1, 2.5], True), "new": 5,
        },
        InvalidValue: {"n_genes": ([], 766), "new": AnnData(np.ones((5, 3)))},
        NotFound: {"include": ["zz"]},
    },
    tl.enrich: {
        InvalidType: {"gene_sets": (5, {"a": "CD3D"}, {"a": 5}), "key": 5, "symbols": 5},
        InvalidValue: {
            "background": ("CD3D", 5, []), "gene_sets": ({}, {"a": ["cd3d"]}, NO_GENE),
            "method": "x", "min_size": 0,
        },
        FileMissing: {"gene_sets": "no.gmt"},
    },
    pp.structure: {
        InvalidValue: {"lambda1": -1, "n_comps": 0, "n_neighbors": 0, "standardize": "x"},
    },
    io.write_genes: {
        InvalidType: {"columns": 5, "selected_only": 1},
        InvalidValue: {"path": ("x.doc", "", "a\0.csv")},
        NotFound: {"columns": ["x"]},
        FileMissing: {"path": "no/x.csv"},
        FileExists: {"path": "old.txt"},
    },
    io.write_order: {InvalidValue: {"path": "x.pdf", "platform": "visium"}},
    io.write_reference: {
        InvalidType: {"symbols": 5},
        InvalidValue: {"max_bytes": 0, "path": "x.csv"},
    },
    io.write_report: {
        InvalidType: {"basis": (5, True)},
        InvalidValue: {"path": "x.pdf"},
        NotFound: {"basis": "x"},
    },
    io.read_cells: {
        InvalidType: {"backed": 1, "transpose": "yes"},
        InvalidValue: {"backed": True, "path": ("old.txt", ".")},
        FileMissing: {"path": "no.h5ad"},
    },
    io.read_genes: {
        InvalidType: {"species": 5},
        InvalidValue: {"species": "human"},
        FileMissing: {"path": "no.csv"},
    },
    io.read_markers: {
        InvalidType: {"sheet": 5},
        InvalidValue: {"path": "old.txt", "sheet": "x"},
        FileMissing: {"path": "no.csv"},
    },
    rbridge.to_sce: {InvalidType: {"X_name": 5}},
    rbridge.from_sce: {InvalidType: {"X_name": 5}},
    pl.comparison: {}, pl.labels: {},
    pl.confusion: {InvalidValue: {"reading": "x"}},
    pl.curve: {InvalidValue: {"palette": 5}, NotFound: {"key": "neighbors"}},
    pl.dotplot: {InvalidType: {"labels": None}},
    pl.genes: {InvalidValue: {"column": "x"}},
    pl.panel: {InvalidValue: {"palette": 5}, NotFound: {"basis": "x", "color": "x"}},
    pl.stability: {InvalidType: {"symbols": 5}, NotFound: {"key": "nothing"}},
}  # fmt: skip

#: Arguments that do not go together: the last is refused, with a kind.
COMBINATIONS = [
    (tl.classify, {"labels": "louvain", "exclude": "CD3D", "include": ["CD3D"]}, InvalidValue),
    (tl.classify, {"labels": "louvain", "n_genes": 1, "include": GENES}, InvalidValue),
    (tl.enrich, {"min_size": 50, "gene_sets": SETS}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "method": "prerank", "background": GENES}, InvalidValue),
    (tl.order_panel, {"counts_layer": None, "limits": 3}, InvalidType),
    (io.write_genes, {"path": "x.txt", "columns": ["x"]}, InvalidValue),
]


def rows(call):
    """Kind of refusal, argument and value of all that a function has to refuse."""
    for table in (ANYWHERE, REFUSED[call]):
        for kind, values in table.items():
            for argument, value in values.items():
                if table is not ANYWHERE or argument in inspect.signature(call).parameters:
                    for each in value if isinstance(value, tuple) else (value,):
                        yield kind, argument, each


def fingerprint(adata):
    """A hash of all that an object holds."""
    mappings = ("uns", "obsm", "varm", "obsp", "varp", "layers")
    parts = [dict(getattr(adata, name)) for name in mappings]
    return joblib.hash([adata.X, adata.obs, adata.var, *parts])


@pytest.fixture
def untouched(analysed, tmp_path, monkeypatch):
    """Blood cells, in a folder with one file: both stay as they are, and no figure is left."""
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("old")
    before, figures = fingerprint(analysed), plt.get_fignums()
    yield analysed
    assert fingerprint(analysed) == before
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert Path("old.txt").read_text() == "old"
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused(untouched, quick_umaps, monkeypatch, call):
    monkeypatch.setattr(
        "glfs_bio.pl._panel._umap", lambda *_: pytest.fail("computed before the refusal")
    )
    given = {"adata": untouched, "panel": GENES, "path": "old.txt", "show": False}
    parameters = inspect.signature(call).parameters
    arguments = {name: given[name] for name in given if name in parameters}
    arguments |= ARGUMENTS.get(call, {})
    accepted = []
    with quick_umaps():
        for kind, argument, value in rows(call):
            refusal = refusal_of(call, **(arguments | {argument: value}))
            if refusal != (kind, argument):
                accepted.append((argument, value, refusal))
    assert not accepted


def test_what_does_not_go_together(untouched):
    accepted = []
    for call, arguments, kind in COMBINATIONS:
        refusal = refusal_of(call, untouched, **arguments)
        if refusal != (kind, [*arguments][-1]):
            accepted.append((call.__name__, arguments, refusal))
    assert not accepted


def test_a_file_is_replaced_at_a_path(untouched):
    assert refusal_of(replacing(5).__enter__) == (InvalidType, "path")
    assert refusal_of(replacing("x", overwrite=5).__enter__) == (InvalidType, "overwrite")


def test_every_function_has_a_row_of_every_argument():
    missing = []
    for module in (tl, pl, io, pp, rbridge):
        for name in module.__all__:
            call = getattr(module, name)
            parameters = set(inspect.signature(call).parameters)
            if "adata" in parameters and call is not pp.select_genes:
                tried = {argument for _, argument, _ in rows(call)}
                missing += [(name, argument) for argument in parameters - tried - {"select"}]
    assert not missing
