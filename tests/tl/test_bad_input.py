"""Bad input to ``tl``, ``pl``, ``io`` and ``datasets``; no file and no figure is left."""

from __future__ import annotations

import inspect
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from matplotlib import pyplot as plt

from glfs_bio import datasets, io, pl, pp, rbridge, tl
from glfs_bio.errors import FileMissing, InvalidType, InvalidValue, NotFound

SETS = {"T cells": ["CD3D", "CD3E"], "MHC II": ["HLA-DRA", "HLA-DRB1"]}
OF_LABELS = {"labels": "bulk_labels", "n_genes": 5}
FEW = {"n_genes": 5, "n_resamples": 2}


def few(changed):
    """Arguments of a fast stability, those that are changed last."""
    return {name: FEW[name] for name in FEW if name not in changed} | changed


#: A classifier of two genes.
MODEL = {
    "genes": ["CD3D", "LYZ"],
    "classes": ["T", "M"],
    "coef": [[-1.0], [1.0]],
    "intercept": [0.0],
    "gene_means": [0.0, 0.0],
    "typical_margin": 1.0,
}

JUDGED = (pl.preserved, pl.labels, pl.confusion, pl.unexplained, pl.imputation)
WORKBENCH = (*JUDGED, pl.curve, pl.comparison)
MAPPED = (pl.comparison, pl.confusion, pl.unexplained, pl.stability, pl.panel)
COLOURED = (
    *(pl.preserved, pl.labels, pl.imputation, pl.curve, pl.path, pl.weights, pl.enrichment),
    *(pl.stability, pl.contributions, pl.markers, pl.upset),
)
PICTURES = (
    pl.upset,
    *(pl.path, pl.weights, pl.contributions, pl.stability, pl.enrichment, pl.panel, pl.markers),
    *WORKBENCH,
)

#: Arguments that all functions of the workbench have, and what is wrong with them.
COMMON = [
    ({"symbols": "x"}, NotFound),
    ({"key_added": 5}, InvalidType),
    ({"inplace": 1}, InvalidType),
]
SPACE = [
    ({"domains": "x"}, NotFound),
    ({"domains": "bulk_labels", "spatial": "x"}, NotFound),
    ({"domains": "bulk_labels", "spatial": "X_umap", "library_key": "x"}, NotFound),
]
PRESERVE = ({"preserve": "x"}, NotFound)
LABELS = ({"labels": "x"}, NotFound)
SEED = ({"random_state": "x"}, InvalidType)
PANEL = ({"panel": "x"}, NotFound)
COUNTS = ({"counts_layer": "x"}, NotFound)
EXCLUDE = ({"exclude": 5}, InvalidType)
LIMITS = ({"limits": 5}, InvalidType)
PLATFORM = ({"platform": 0.5}, InvalidType)
MATRIX = [({"layer": "x"}, NotFound), ({"use_raw": True}, InvalidValue)]
READINGS = ({"readings": ["x"]}, InvalidValue)
OF_REFERENCE = {"path": "x.zip", "labels": "phase", "ids": "glfs_selected"}
TWO = {"panels": {"a": "glfs", "b": "glfs"}}
SET = [({"gene_sets": 5}, InvalidType), ({"gene_sets": "no.gmt"}, FileMissing),
       ({"gene_sets": {"a": ["zz"]}}, InvalidValue)]  # fmt: skip
#: function, what its calls have in common, rows
OF_WORKBENCH = [
    (tl.evaluate_panel, {}, [
        PANEL, LABELS, READINGS, COUNTS, SEED, PRESERVE, *MATRIX, *COMMON, *SPACE,
        PLATFORM, *SET,
        ({"n_random": -1}, InvalidValue),
        ({"n_axes": 0}, InvalidValue),
    ]),
    (tl.extend_panel, {"panel": "glfs", "n_extra": 2}, [
        PANEL, LABELS, EXCLUDE, SEED, LIMITS, PRESERVE, *MATRIX, *COMMON,
        ({"n_extra": 0}, InvalidValue),
        ({"across": "best"}, InvalidValue),
        ({"across": "worst"}, InvalidValue),
        PLATFORM,
        ({"n_extra": 765}, InvalidValue),
    ]),
    (tl.order_panel, {}, [
        PANEL, LABELS, COUNTS, EXCLUDE, LIMITS, *COMMON,
        ({"platform": "visium"}, InvalidValue),
        ({"platform": 5}, InvalidValue),
        ({"genes": 5}, InvalidType),
        ({"genes": "x.csv"}, FileMissing),
        ({"catalogue": 5}, InvalidType),
        ({"refused": "x"}, InvalidValue),
        ({"min_probes": 0.5}, InvalidType),
        ({"backups": -1}, InvalidValue),
        ({"platform": "xenium_v1", "probe_sets": "x"}, InvalidType),
        ({"platform": "xenium_v1", "force": 5}, InvalidType),
        ({"platform": "xenium_v1", "force": [5]}, NotFound),
        ({"ids": "x"}, NotFound),
        ({"species": "x"}, InvalidValue),
        ({"nomenclature": 5}, InvalidType),
    ]),
    (tl.resolve_genes, {}, [
        *COMMON,
        ({"genes": b"x"}, InvalidType),
        ({"ids": 5}, InvalidType),
        ({"species": 5}, InvalidType),
        ({"nomenclature": "x.txt"}, FileMissing),
        ({"min_probes": 0}, InvalidValue),
    ]),
    (tl.substitutes, {}, [
        PANEL, EXCLUDE, PRESERVE, *MATRIX, *COMMON,
        ({"genes": ["zz"]}, NotFound),
        ({"n": 0}, InvalidValue),
        ({"min_score": -1}, InvalidValue),
    ]),
    (tl.replace_genes, {"panel": ["CD3D", "LYZ"], "failed": "CD3D"}, [
        PANEL, EXCLUDE, PRESERVE, *COMMON,
        ({"failed": ["zz"]}, NotFound),
        ({"failed": "NKG7"}, InvalidValue),
        ({"failed": 5}, InvalidType),
        ({"limits": 5}, InvalidType),
        ({"platform": 5}, InvalidType),
        ({"layer": "x"}, NotFound),
        ({"use_raw": "yes"}, InvalidType),
        ({"across": "worst"}, InvalidValue),
        ({"random_state": "x"}, InvalidType),
    ]),
    (tl.explain_gene, {"panel": ["CD3D"], "genes": "LYZ"}, [
        PANEL, LABELS, PRESERVE, *COMMON,
        ({"genes": ["zz"]}, InvalidValue),
        ({"genes": 5}, InvalidType),
        ({"n_labels": 0}, InvalidValue),
        ({"layer": "x"}, NotFound),
        ({"use_raw": "yes"}, InvalidType),
    ]),
    (tl.prove_panel, {"panel": ["CD3D"], "time_limit": 1.0}, [
        PANEL, PRESERVE, *MATRIX, *COMMON,
        ({"tolerance": -1}, InvalidValue),
        ({"tolerance": 1}, InvalidValue),
        ({"time_limit": 0}, InvalidValue),
        ({"time_limit": "x"}, InvalidType),
    ]),
    (tl.markers, {"panel": ["CD3D"], "labels": "bulk_labels"}, [
        PANEL, LABELS, *COMMON,
        ({"labels": 5}, InvalidType),
        ({"n_markers": 0}, InvalidValue),
        ({"beta": 0}, InvalidValue),
        *MATRIX,
    ]),
    (tl.explain_panel, {}, [
        PANEL, LABELS, EXCLUDE, PRESERVE, *MATRIX, *COMMON, ({"n_labels": 0}, InvalidValue),
        ({"tolerance": -1.0}, InvalidValue), ({"tolerance": 1.0}, InvalidValue),
    ]),
    (tl.compare_panels, TWO, [
        LABELS, READINGS, COUNTS, SEED, PRESERVE, *MATRIX, *COMMON, *SPACE, *SET,
        ({"panels": ["a", "b"]}, InvalidType),
        ({"panels": {"a/b": "glfs", "c": "glfs"}}, InvalidValue),
    ]),
    (tl.curve, {"max_genes": 5}, [
        LABELS, READINGS, EXCLUDE, LIMITS, PRESERVE, *MATRIX, *COMMON,
        ({"max_genes": 0}, InvalidValue),
        ({"labels": "louvain", "sizes": [0]}, InvalidValue),
        ({"include": 5}, InvalidType),
    ]),
    (tl.panel_umap, {}, [
        ({"key": "x"}, NotFound),
        ({"n_genes": 0}, InvalidValue),
        ({"layer": "x"}, NotFound),
        ({"use_raw": True}, InvalidValue),
        ({"max_cells": 0}, InvalidValue),
        SEED,
    ]),
    (pp.structure, {}, [
        ({"lambda1": -1}, InvalidValue),
        ({"standardize": "x"}, InvalidValue),
        ({"n_comps": 0}, InvalidValue),
        ({"use_rep": "x"}, NotFound),
        ({"neighbors_key": "x"}, NotFound),
        ({"n_neighbors": 0}, InvalidValue),
        ({"layer": "x"}, NotFound),
        ({"use_raw": True}, InvalidValue),
        ({"batch_key": "x"}, NotFound),
        ({"ignore": 5}, InvalidType),
        ({"symbols": "x"}, NotFound),
        ({"key_added": 5}, InvalidType),
        SEED,
    ]),
]  # fmt: skip

#: function, arguments of which the last is refused, and kind of refusal
CALLS = [
    *(
        (call, {name: base[name] for name in base if name not in value} | value, *rest)
        for call, base, rows in OF_WORKBENCH
        for value, *rest in rows
    ),
    *((draw, {"key": "x"}, NotFound) for draw in JUDGED),
    *((draw, {"ax": 5}, InvalidType) for draw in WORKBENCH),
    (pl.unexplained, {"basis": "x"}, NotFound),
    (pl.curve, {"key": "x"}, NotFound),
    (pl.comparison, {"key": "x"}, NotFound),
    (pl.upset, {"key": "x"}, NotFound),
    (io.write_gene_list, {"path": "x.csv", "explanation_key": "x"}, NotFound),
    (io.write_report, {"path": "x.html", "results": 5}, InvalidType),
    (io.write_report, {"path": "x.html", "results": {"x": "x"}}, InvalidValue),
    (tl.stability, {"key": 5}, InvalidType),
    (tl.classify, {"labels": "nope"}, NotFound),
    (tl.classify, {"labels": 5}, InvalidType),
    (tl.classify, {"labels": ["bulk_labels"]}, InvalidType),
    (tl.classify, {"labels": "percent_mito"}, InvalidType),
    (tl.classify, OF_LABELS | {"n_genes": 0}, InvalidValue),
    (tl.classify, OF_LABELS | {"n_genes": []}, InvalidValue),
    (tl.classify, OF_LABELS | {"n_genes": [1, 2.5]}, InvalidType),
    (tl.classify, OF_LABELS | {"n_genes": True}, InvalidType),
    (tl.classify, OF_LABELS | {"n_genes": 766}, InvalidValue),
    (tl.classify, OF_LABELS | {"graph": "x"}, InvalidValue),
    (tl.classify, OF_LABELS | {"lambda1": -1}, InvalidValue),
    (tl.classify, OF_LABELS | {"lambda2": 0}, InvalidValue),
    (tl.classify, OF_LABELS | {"n_comps": "x"}, InvalidValue),
    (tl.classify, OF_LABELS | {"n_comps": 0}, InvalidValue),
    (tl.classify, OF_LABELS | {"layer": "x"}, NotFound),
    (tl.classify, OF_LABELS | {"use_raw": True}, InvalidValue),
    (tl.classify, OF_LABELS | {"cv": 1}, InvalidValue),
    (tl.classify, OF_LABELS | {"cv": "a"}, InvalidType),
    (tl.classify, OF_LABELS | {"include": ["zz"]}, NotFound),
    (tl.classify, OF_LABELS | {"exclude": "CD3D", "include": ["CD3D"] * 2}, InvalidValue),
    (tl.classify, OF_LABELS | {"exclude": 5}, InvalidType),
    (tl.classify, OF_LABELS | {"ignore": 5}, InvalidType),
    (tl.classify, OF_LABELS | {"symbols": "x"}, NotFound),
    (tl.classify, OF_LABELS | {"batch_key": "x"}, NotFound),
    (tl.predict, {"model": 5}, InvalidType),
    (tl.predict, {"model": {}}, InvalidValue),
    (tl.predict, {"model": "no.json"}, FileNotFoundError),
    (tl.predict, {"model": "old.txt"}, InvalidValue),
    (tl.predict, {"model": MODEL, "missing": "x"}, InvalidValue),
    (tl.predict, {"model": MODEL | {"coef": [[1.0]]}}, InvalidValue),
    (tl.predict, {"model": MODEL | {"coef": [["a"], ["b"]]}}, InvalidType),
    (tl.predict, {"model": MODEL | {"genes": [1, 2]}}, InvalidValue),
    (tl.predict, {"model": MODEL | {"genes": ["LYZ", "LYZ"]}}, InvalidValue),
    (tl.predict, {"model": MODEL | {"genes": ["CD3D", "zz"]}}, NotFound),
    (tl.predict, {"model": MODEL | {"genes": ["yy", "zz"]}}, InvalidValue),
    (tl.predict, {"model": MODEL, "layer": "x"}, NotFound),
    (tl.predict, {"model": MODEL, "use_raw": True}, InvalidValue),
    (tl.predict, {"model": MODEL, "symbols": "x"}, NotFound),
    (tl.predict, {"model": MODEL, "unsure": -1}, InvalidValue),
    (tl.predict, {"model": MODEL, "key_added": 5}, InvalidType),
    (io.write_classifier, {"path": "m.pkl"}, InvalidValue),
    (io.write_classifier, {"path": "m.json", "key": "x"}, NotFound),
    (io.write_classifier, {"path": "m.json", "key": "glfs"}, NotFound),
    (io.write_classifier, {"path": "m.json", "overwrite": 1}, InvalidType),
    (tl.classify, OF_LABELS | {"key_added": 5}, InvalidType),
    (tl.classify, OF_LABELS | {"random_state": "a"}, InvalidType),
    (tl.classify, OF_LABELS | {"random_state": -1}, InvalidValue),
    (tl.classify, OF_LABELS | {"train": "x"}, NotFound),
    (tl.classify, OF_LABELS | {"train": np.zeros(700, dtype=bool)}, InvalidValue),
    (tl.classify, OF_LABELS | {"train": np.ones(3, dtype=bool)}, InvalidValue),
    (tl.stability, few({"n_genes": 0}), InvalidValue),
    (tl.stability, few({"n_genes": "x"}), InvalidType),
    (tl.stability, few({"n_genes": 766}), InvalidValue),
    (tl.stability, few({"n_resamples": 1}), InvalidValue),
    (tl.stability, few({"n_resamples": 2.0}), InvalidType),
    (tl.stability, few({"fraction": 0}), InvalidValue),
    (tl.stability, few({"fraction": 1}), InvalidValue),
    (tl.stability, few({"fraction": 1e-9}), InvalidValue),
    (tl.stability, few({"fraction": "x"}), InvalidType),
    (tl.stability, few({"n_jobs": 0}), InvalidValue),
    (tl.stability, few({"n_jobs": 1.5}), InvalidValue),
    (tl.stability, few({"key_added": 5}), InvalidType),
    (tl.stability, few({"random_state": 2**40}), InvalidValue),
    (tl.stability, few({"nope": 1}), InvalidType),
    (tl.stability, few({"layer": ["x"]}), InvalidType),
    (tl.stability, few({"objective": "x"}), InvalidValue),
    (tl.stability, few({"finish": "greedy"}), InvalidType),
    (tl.stability, few({"swaps": True}), InvalidType),
    (tl.stability, few({"batch_key": "x"}), NotFound),
    (tl.stability, few({"use_rep": "x"}), NotFound),
    (tl.stability, few({"lambda1": 1.0}), InvalidType),
    (tl.enrich, {"gene_sets": {}}, InvalidValue),
    (tl.enrich, {"gene_sets": 5}, InvalidType),
    (tl.enrich, {"gene_sets": {"a": "CD3D"}}, InvalidType),
    (tl.enrich, {"gene_sets": {"a": 5}}, InvalidType),
    (tl.enrich, {"gene_sets": {"a": ["cd3d"]}}, InvalidValue),
    (tl.enrich, {"gene_sets": {"a": ["zz"]}}, InvalidValue),
    (tl.enrich, {"gene_sets": "no.gmt"}, FileNotFoundError),
    (tl.enrich, {"gene_sets": SETS, "key": "x"}, NotFound),
    (tl.enrich, {"gene_sets": SETS, "key": 5}, InvalidType),
    (tl.enrich, {"gene_sets": SETS, "method": "x"}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "organism": "x"}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "background": "CD3D"}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "background": 5}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "background": []}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "symbols": "x"}, NotFound),
    (tl.enrich, {"gene_sets": SETS, "symbols": 5}, InvalidType),
    (tl.enrich, {"gene_sets": SETS, "min_size": 0}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "min_cells": 0}, InvalidValue),
    (
        tl.enrich,
        {"gene_sets": SETS, "background": ["CD3D"], "min_cells": 3},
        InvalidValue,
    ),
    (tl.enrich, {"min_size": 50, "gene_sets": SETS}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "max_size": 0}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "n_permutations": 0}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "weight": -1}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "n_jobs": 0}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "key_added": 5}, InvalidType),
    (tl.enrich, {"gene_sets": SETS, "random_state": -1}, InvalidValue),
    (tl.enrich, {"gene_sets": SETS, "inplace": "x"}, InvalidType),
    (pl.path, {"key": "x"}, NotFound),
    (pl.path, {"key": 5}, InvalidType),
    (pl.path, {"key": "neighbors"}, NotFound),
    (pl.path, {"ax": 5}, InvalidType),
    *((draw, {"save": 5}, InvalidType) for draw in PICTURES),
    *((draw, {"save": "x.nope"}, InvalidValue) for draw in PICTURES),
    *((draw, {"save": "no/ending"}, InvalidValue) for draw in PICTURES),
    *((draw, {"save": ".nope"}, InvalidValue) for draw in PICTURES),
    *((draw, {"save": "a\0.png"}, InvalidValue) for draw in PICTURES),
    *((draw, {"show": "x"}, InvalidType) for draw in PICTURES),
    *((draw, {"title": 5}, InvalidType) for draw in PICTURES),
    *((draw, {"figsize": 5}, InvalidType) for draw in PICTURES),
    *((draw, {"figsize": (0, 1)}, InvalidValue) for draw in PICTURES),
    (pl.confusion, {"reading": "x"}, InvalidValue),
    *((draw, {"palette": 5}, InvalidType) for draw in COLOURED),
    *((draw, {"palette": ["x"]}, InvalidValue) for draw in COLOURED),
    *((draw, {"cmap": "x"}, InvalidValue) for draw in MAPPED),
    (pl.panel, {"labels": "louvain", "palette": 5}, InvalidType),
    (pl.panel, {"keep": 1}, InvalidType),
    (pl.enrichment, {"ax": 5}, InvalidType),
    (pl.panel, {"key": "x"}, NotFound),
    (pl.panel, {"ax": 5}, InvalidType),
    (pl.panel, {"kind": "heatmap", "labels": "louvain", "ax": 5}, InvalidValue),
    (pl.stability, {"symbols": 5}, InvalidType),
    (pl.weights, {"n_genes": 0}, InvalidValue),
    (pl.weights, {"key": "x"}, NotFound),
    (pl.weights, {"symbols": "x"}, NotFound),
    (pl.weights, {"ax": "x"}, InvalidType),
    (pl.contributions, {"n_genes": 0}, InvalidValue),
    (pl.contributions, {"key": "x"}, NotFound),
    (pl.contributions, {"symbols": "x"}, NotFound),
    (pl.contributions, {"ax": "x"}, InvalidType),
    (pl.markers, {"symbols": "x"}, NotFound),
    (pl.markers, {"key": "x"}, NotFound),
    (pl.markers, {"key": "nothing"}, NotFound),
    (pl.markers, {"ax": "x"}, InvalidType),
    (pl.dotplot, {"labels": "x"}, NotFound),
    (pl.dotplot, {"labels": None}, InvalidValue),
    (pl.dotplot, {"labels": "louvain", "key": "x"}, NotFound),
    (pl.dotplot, {"labels": "louvain", "n_genes": 0}, InvalidValue),
    (pl.dotplot, {"labels": "louvain", "cmap": "x"}, InvalidValue),
    (pl.dotplot, {"labels": "louvain", "save": "x.nope"}, InvalidValue),
    (pl.dotplot, {"labels": "louvain", "symbols": "x"}, NotFound),
    (pl.dotplot, {"labels": "louvain", "palette": ["x"]}, InvalidValue),
    (pl.dotplot, {"labels": "louvain", "title": 5}, InvalidType),
    (pl.dotplot, {"labels": "louvain", "figsize": 5}, InvalidType),
    (pl.dotplot, {"labels": "louvain", "show": "x"}, InvalidType),
    (pl.panel, {"ncols": 0}, InvalidValue),
    (pl.panel, {"legend_loc": "x"}, InvalidValue),
    (pl.stability, {"n_genes": 0}, InvalidValue),
    (pl.stability, {"key": "nothing"}, NotFound),
    (pl.stability, {"ax": [1, 2, 3]}, InvalidType),
    (pl.enrichment, {"n_terms": 0}, InvalidValue),
    (pl.enrichment, {"key": "x"}, NotFound),
    (pl.enrichment, {"key": "nothing"}, NotFound),
    (pl.panel, {"kind": "x"}, InvalidValue),
    (pl.panel, {"labels": "x"}, NotFound),
    (pl.panel, {"kind": "heatmap"}, InvalidValue),
    (pl.panel, {"n_genes": 0}, InvalidValue),
    (pl.panel, {"symbols": "x"}, NotFound),
    (io.write_gene_list, {"path": "x.doc"}, InvalidValue),
    (io.write_gene_list, {"path": 5}, InvalidType),
    (io.write_gene_list, {"path": ""}, InvalidValue),
    (io.write_gene_list, {"path": "a\0.csv"}, InvalidValue),
    (io.write_gene_list, {"path": "no/x.csv"}, FileNotFoundError),
    (io.write_gene_list, {"path": "old.txt"}, FileExistsError),
    (io.write_gene_list, {"path": "x.csv", "columns": ["x"]}, NotFound),
    (io.write_gene_list, {"path": "x.csv", "columns": 5}, InvalidType),
    (io.write_gene_list, {"path": "x.txt", "columns": ["x"]}, InvalidValue),
    (io.write_gene_list, {"path": "x.csv", "key": "x"}, NotFound),
    (io.write_gene_list, {"path": "x.csv", "symbols": "x"}, NotFound),
    (io.write_gene_list, {"path": "x.csv", "selected_only": 1}, InvalidType),
    (io.write_gene_list, {"path": "x.csv", "overwrite": "x"}, InvalidType),
    (io.write_rnk, {"path": "x.rnk", "key": "x"}, NotFound),
    (io.write_rnk, {"path": 5}, InvalidType),
    (io.write_rnk, {"path": "x.rnk", "symbols": "x"}, NotFound),
    (io.write_rnk, {"path": "x.rnk", "overwrite": 1}, InvalidType),
    (io.write_gmt, {"path": "x.gmt", "symbols": "x"}, NotFound),
    (io.write_gmt, {"path": "x.gmt", "overwrite": 1}, InvalidType),
    (io.write_gmt, {"path": "x.gmt", "stability_key": 5}, InvalidType),
    (io.write_report, {"path": "x.html", "symbols": "x"}, NotFound),
    (io.write_report, {"path": "x.html", "overwrite": 1}, InvalidType),
    (io.write_report, {"path": "x.html", "umaps": 1}, InvalidType),
    (pp.recorded_parameters, {"key": 5}, InvalidType),
    (pp.recorded_parameters, {"key": "neighbors"}, NotFound),
    (io.write_gmt, {"path": "x.gmt", "key": 5}, InvalidType),
    (io.write_gmt, {"path": "x.gmt", "key": "x"}, NotFound),
    (io.write_gmt, {"path": "x.gmt", "key": None}, InvalidValue),
    (io.write_gmt, {"path": "x.gmt", "groups": 5}, InvalidType),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a": 5}}, InvalidType),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a": ["zz"]}}, NotFound),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a": []}}, InvalidValue),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a\tb": ["CD3D"]}}, InvalidValue),
    (io.write_gmt, {"path": "x.gmt", "thresholds": 2}, InvalidValue),
    (io.write_gmt, {"path": "x.gmt", "thresholds": None}, InvalidType),
    (io.write_order, {"path": "x.pdf"}, InvalidValue),
    (io.write_order, {"path": "x.csv", "platform": "visium"}, InvalidValue),
    (io.write_order, {"path": "x.csv", "key": "x"}, NotFound),
    (io.write_order, {"path": "x.csv", "overwrite": 1}, InvalidType),
    *((io.write_reference, OF_REFERENCE | bad, kind)
      for bad, kind in (
        ({"counts_layer": "x"}, NotFound),
        ({"max_bytes": 0}, InvalidValue),
        ({"random_state": "x"}, InvalidType),
        ({"overwrite": 1}, InvalidType),
        ({"symbols": 5}, InvalidType),
    )),
    (io.write_reference, {"labels": "phase", "path": "x.csv"}, InvalidValue),
    (io.write_reference, {"path": "x.zip", "labels": "x"}, NotFound),
    (io.write_reference, {"path": "x.zip", "labels": "phase", "ids": "x"}, NotFound),
    (io.write_report, {"path": "x.pdf"}, InvalidValue),
    (io.write_report, {"path": "x.html", "key": "x"}, NotFound),
    (io.write_report, {"path": "x.html", "labels": "x"}, NotFound),
    (io.write_report, {"path": "x.html", "link": 5}, InvalidType),
    (io.write_report, {"path": "x.html", "link": "javascript:{gene}"}, InvalidValue),
    (io.write_report, {"path": "x.html", "link": "https://x"}, InvalidValue),
    (io.write_report, {"path": "x.html", "title": 5}, InvalidType),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("old")
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert Path("old.txt").read_text() == "old"


@pytest.mark.parametrize(("call", "value", "kind"), CALLS)
def test_call(analysed, refuses, folder, call, value, kind):
    shown = {"show": False} if call in PICTURES and "show" not in value else {}
    figures = plt.get_fignums()
    refuses(lambda: call(analysed, **value, **shown), analysed, kind, [*value][-1])
    assert plt.get_fignums() == figures


def test_every_argument_has_a_row():
    for room in (tl, pl, io, pp):
        for name in room.__all__:
            call = getattr(room, name)
            if call in (pp.select_genes, tl.estimate_efficiency) or call in OF_FILES:
                continue  # with rows of their own
            tried = {"adata", "select"}.union(*(value for one, value, *_ in CALLS if one is call))
            assert set(inspect.signature(call).parameters) <= tried, name


#: Their rows are among READERS.
OF_FILES = (io.read_cells, io.read_classifier, io.read_genes, io.read_gmt, io.read_markers,
            io.read_panel, io.PanelFile, io.check_target, io.replacing)  # fmt: skip

FUNCTIONS = [
    (tl.classify, ("bulk_labels",)),
    (tl.predict, (MODEL,)),
    (io.write_classifier, ("x.json",)),
    (tl.stability, (5,)),
    (tl.enrich, (SETS,)),
    (pp.recorded_parameters, ()),
    (rbridge.to_sce, ()),
    (tl.evaluate_panel, (["CD3D"],)),
    (tl.extend_panel, (["CD3D"], 1)),
    (tl.order_panel, (["CD3D"],)),
    (tl.resolve_genes, ()),
    (io.write_order, ("x.csv",)),
    (io.write_reference, ("x.zip", "bulk_labels")),
    (tl.substitutes, (["CD3D"],)),
    (tl.replace_genes, ("CD3D", ["CD3D", "LYZ"])),
    (tl.explain_gene, ("CD3D", ["CD3D"])),
    (tl.explain_panel, (["CD3D"],)),
    (tl.prove_panel, (["CD3D"],)),
    (tl.markers, (["CD3D"], "bulk_labels")),
    (tl.compare_panels, ({"a": ["CD3D"], "b": ["LYZ"]},)),
    (tl.curve, ()),
    (tl.panel_umap, ()),
    (pp.structure, ()),
    (pl.dotplot, ("louvain",)),
    *((function, ()) for function in PICTURES),
    *((getattr(io, f"write_{what}"), (f"x.{end}",)) for what, end in (
        ("gene_list", "txt"), ("rnk", "rnk"), ("gmt", "gmt"), ("report", "html"))),
]  # fmt: skip


def test_every_function_of_cells_has_a_row():
    public = {getattr(room, name) for room in (tl, pl, io, pp, rbridge) for name in room.__all__}
    of_cells = {call for call in public if "adata" in inspect.signature(call).parameters}
    assert of_cells == {call for call, _ in FUNCTIONS} | {pp.select_genes}


@pytest.mark.parametrize(("call", "arguments"), FUNCTIONS)
def test_other_objects(refuses, folder, call, arguments):
    takes_names = call is tl.resolve_genes  # also in a file
    for thing in (np.ones((4, 4)), None, "cells.h5ad"):
        kind = InvalidValue if takes_names and isinstance(thing, str) else InvalidType
        refuses(lambda: call(thing, *arguments), None, kind, "adata")  # noqa: B023


#: call, kind of refusal, argument
READERS = [
    (lambda: io.read_cells(5), InvalidType, "path"),
    (lambda: io.read_cells("no.h5ad"), FileNotFoundError, "path"),
    (lambda: io.read_cells("old.txt"), InvalidValue, "path"),
    (lambda: io.read_cells("old.txt", transpose="yes"), InvalidType, "transpose"),
    (lambda: io.read_cells("."), InvalidValue, "path"),
    (lambda: io.read_classifier(5), InvalidType, "path"),
    (lambda: io.read_classifier("no.json"), FileNotFoundError, "path"),
    (lambda: io.read_classifier("."), FileMissing, "path"),
    (lambda: io.read_classifier("old.txt"), InvalidValue, "path"),
    (lambda: io.read_genes(5), InvalidType, "path"),
    (lambda: io.read_genes("no.csv"), FileNotFoundError, "path"),
    (lambda: io.read_genes("old.txt", species=5), InvalidType, "species"),
    (lambda: io.read_genes("old.txt", species="human"), InvalidValue, "species"),
    (lambda: io.read_gmt(5), InvalidType, "path"),
    (lambda: io.read_gmt("no.gmt"), FileNotFoundError, "path"),
    (lambda: io.read_gmt("."), FileMissing, "path"),
    (lambda: io.read_gmt("old.txt"), InvalidValue, "path"),
    (lambda: io.read_markers(5), InvalidType, "path"),
    (lambda: io.read_markers("no.csv"), FileMissing, "path"),
    (lambda: io.read_markers("old.txt"), InvalidValue, "path"),
    (lambda: io.read_markers("old.txt", sheet=5), InvalidType, "sheet"),
    (lambda: io.read_markers("old.txt", sheet="x"), InvalidValue, "sheet"),
    (lambda: datasets.simulate(3), InvalidValue, "n_samples"),
    (lambda: datasets.simulate(10.5), InvalidType, "n_samples"),
    (lambda: datasets.simulate(10, -1), InvalidValue, "n_noise"),
    (lambda: datasets.simulate(10, 5, sigma=-1), InvalidValue, "sigma"),
    (lambda: datasets.simulate(10, 5, sigma=np.nan), InvalidValue, "sigma"),
    (lambda: datasets.simulate(10, 5, shape="x"), InvalidValue, "shape"),
    (lambda: datasets.simulate(10, 5, random_state=-1), InvalidValue, "random_state"),
    (lambda: io.read_cells("old.txt", backed=1), InvalidType, "backed"),
    (lambda: io.read_cells("old.txt", backed=True), InvalidValue, "backed"),
    (lambda: io.check_target(5, overwrite=True), InvalidType, "path"),
    (lambda: io.check_target("x", overwrite=5), InvalidType, "overwrite"),
    (lambda: io.check_target("old.txt", overwrite=False), FileExistsError, "path"),
    (lambda: io.replacing(5).__enter__(), InvalidType, "path"),
    (lambda: io.replacing("x", overwrite=5).__enter__(), InvalidType, "overwrite"),
    (lambda: rbridge.to_sce(5), InvalidType, "adata"),
    (
        lambda: rbridge.to_sce(ad.AnnData(np.ones((3, 3))), X_name=5),
        InvalidType,
        "X_name",
    ),
    (lambda: rbridge.from_sce(None, X_name=5), InvalidType, "X_name"),
]


@pytest.mark.parametrize(("call", "kind", "argument"), READERS)
def test_readers(refuses, folder, call, kind, argument):
    refuses(call, None, kind, argument)
