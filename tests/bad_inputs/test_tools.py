"""Bad input to ``tl``, ``pl``, ``io`` and ``datasets``; no file and no figure is left."""

from __future__ import annotations

import inspect
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from matplotlib import pyplot as plt

from glfs_bio import datasets, io, pl, pp, rbridge, tl

INT, NUMBER, STRING = "must be an integer ≥ 1", "must be a finite number", "must be a string"
SETS = {"T cells": ["CD3D", "CD3E"], "MHC II": ["HLA-DRA", "HLA-DRB1"]}
GROUPS = {"groupby": "bulk_labels", "n_genes": 5}
FEW = {"n_genes": 5, "n_resamples": 2, "show_progress": False}

#: A classifier of two genes.
MODEL = {
    "genes": ["CD3D", "LYZ"],
    "classes": ["T", "M"],
    "coef": [[-1.0], [1.0]],
    "intercept": [0.0],
    "gene_means": [0.0, 0.0],
    "typical_margin": 1.0,
}

JUDGED = (pl.kept, pl.labels, pl.confusion, pl.missed, pl.imputation)
WORKBENCH = (*JUDGED, pl.curve, pl.comparison)
PICTURES = (pl.path, pl.weights, pl.stability, pl.enrichment, pl.panel, *WORKBENCH)

#: Arguments that all functions of the workbench have, and what is wrong with them.
COMMON = [
    ({"symbols": "x"}, KeyError, "symbols='x' is not a column"),
    ({"missing": "x"}, ValueError, "missing='x'"),
    ({"structure_key": 5}, TypeError, f"structure_key=5 {STRING}"),
    ({"key_added": 5}, TypeError, f"key_added=5 {STRING}"),
    ({"inplace": 1}, TypeError, "inplace=1 must be True or False"),
]
KEPT = [
    (
        {"preserve": "x"},
        KeyError,
        "preserve='x' is neither 'structure' nor 'expression' nor in adata.obs",
    ),
    ({"cell_weights": "x"}, KeyError, "cell_weights='x' is not in adata.obs"),
]
LABELS = ({"labels": "x"}, KeyError, "labels='x' is not in adata.obs")
SEED = ({"random_state": "x"}, TypeError, "random_state='x'")
PANEL = ({"panel": "x"}, KeyError, "panel='x' is no file, no key of a selection")
COUNTS = ({"counts_layer": "x"}, KeyError, "counts_layer='x' is not in adata.layers")
SHOWN = ({"show_progress": "x"}, TypeError, "show_progress='x'")
EXCLUDE = ({"exclude": 5}, TypeError, "exclude=5 must be names")
WITHIN = [
    ({"limits": 5}, TypeError, "limits is a int"),
    ({"counts_layer": "x"}, ValueError, "counts_layer='x' changes nothing"),
    ({"cost": 1.0}, ValueError, "cost= and budget= need each other"),
    ({"budget": 1.0}, ValueError, "cost= and budget= need each other"),
]
TWO = {"panels": {"a": "glfs", "b": "glfs"}, "show_progress": False}
#: function, what its calls have in common, rows
OF_WORKBENCH = [
    (tl.evaluate_panel, {"show_progress": False}, [
        PANEL, LABELS, COUNTS, SEED, SHOWN, *KEPT, *COMMON,
        ({"failure": 2}, ValueError, "failure is above 1 for 765 genes"),
        ({"n_random": -1}, ValueError, "n_random=-1"),
        ({"n_directions": 0}, ValueError, "n_directions=0"),
    ]),
    (tl.extend_panel, {"panel": "glfs", "n_extra": 2}, [
        PANEL, LABELS, EXCLUDE, SEED, *WITHIN, *KEPT, *COMMON,
        ({"n_extra": 0}, ValueError, "n_extra=0"),
        ({"detection": 2.0}, ValueError, "detection is above 1"),
        ({"n_extra": 765}, ValueError, "n_extra=765 is more than the 755 genes"),
        ({"failure": -1}, ValueError, "failure"),
    ]),
    (tl.substitutes, {}, [
        PANEL, EXCLUDE, *KEPT, *COMMON,
        ({"genes": ["zz"]}, ValueError, "genes has no gene that is in"),
        ({"n": 0}, ValueError, "n=0"),
        ({"share": -1}, ValueError, "share=-1"),
    ]),
    (tl.markers, {"panel": ["CD3D"], "labels": "bulk_labels"}, [
        PANEL, LABELS, *[row for row in COMMON if "structure_key" not in row[0]],
        ({"labels": 5}, TypeError, "labels=5"),
        ({"n_markers": 0}, ValueError, "n_markers=0"),
        ({"beta": 0}, ValueError, "beta=0"),
        ({"layer": "x"}, KeyError, "layer='x' is not in adata.layers"),
    ]),
    (tl.explain_panel, {}, [
        PANEL, LABELS, EXCLUDE, *KEPT, *COMMON, ({"n_labels": 0}, ValueError, "n_labels=0"),
    ]),
    (tl.compare_panels, TWO, [
        LABELS, COUNTS, SEED, SHOWN, *KEPT, *COMMON,
        ({"panels": ["a", "b"]}, TypeError, "panels must be a dict of at least two"),
        ({"panels": {"a/b": "glfs", "c": "glfs"}}, ValueError, "panels has the name 'a/b'"),
        ({"share": "x"}, TypeError, "share='x'"),
    ]),
    (tl.curve, {"max_genes": 5}, [
        LABELS, EXCLUDE, *WITHIN, *KEPT, *COMMON,
        ({"max_genes": 0}, ValueError, "max_genes=0"),
        ({"labels": "louvain", "sizes": [0]}, ValueError, "sizes=0"),
        ({"include": 5}, TypeError, "include=5 must be names"),
    ]),
    (tl.panel_umap, {}, [
        ({"key": "x"}, KeyError, "no selection under key='x'"),
        ({"n_genes": 0}, ValueError, "n_genes=0"),
        ({"layer": "x"}, KeyError, "layer='x'"),
        ({"show_progress": 1}, TypeError, "show_progress=1"),
        SEED,
    ]),
    (pp.structure, {}, [
        ({"lambda1": -1}, ValueError, "lambda1=-1"),
        ({"standardize": "x"}, ValueError, "standardize='x'"),
        ({"n_comps": 0}, ValueError, "n_comps=0"),
        ({"use_rep": "x"}, KeyError, "use_rep='x'"),
        ({"neighbors_key": "x"}, KeyError, "neighbors_key='x'"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0"),
        ({"layer": "x"}, KeyError, "layer='x'"),
        ({"mask_var": "x"}, KeyError, "mask_var='x'"),
        ({"batch_key": "x"}, KeyError, "batch_key='x'"),
        ({"key_added": 5}, TypeError, f"key_added=5 {STRING}"),
        SEED,
    ]),
]  # fmt: skip

#: function, arguments, exception, words
CALLS = [
    *((call, base | value, *rest) for call, base, rows in OF_WORKBENCH for value, *rest in rows),
    *((draw, {"key": "x"}, KeyError, "run glfs_bio.tl.evaluate_panel") for draw in JUDGED),
    *((draw, {"ax": 5}, TypeError, "ax=5 must be matplotlib axes") for draw in WORKBENCH),
    (pl.missed, {"basis": "x"}, KeyError, "basis='x'"),
    (pl.curve, {"key": "x"}, KeyError, "run glfs_bio.tl.curve"),
    (pl.comparison, {"key": "x"}, KeyError, "run glfs_bio.tl.compare_panels"),
    (io.write_gene_list, {"path": "x.csv", "explanation_key": "x"}, KeyError, "tl.explain_panel"),
    (io.write_report, {"path": "x.html", "evaluation_key": "x"}, KeyError, "tl.evaluate_panel"),
    (io.write_report, {"path": "x.html", "explanation_key": "x"}, KeyError, "tl.explain_panel"),
    (io.write_report, {"path": "x.html", "substitutes_key": "x"}, KeyError, "tl.substitutes"),
    (io.write_report, {"path": "x.html", "show_progress": 1}, TypeError, "show_progress=1"),
    (tl.stability, {"key": 5}, TypeError, f"key=5 {STRING}"),
    (tl.classify, {"groupby": "nope"}, KeyError, "groupby='nope' is not in adata.obs"),
    (tl.classify, {"groupby": 5}, TypeError, f"groupby=5 {STRING}"),
    (tl.classify, {"groupby": ["bulk_labels"]}, TypeError, STRING),
    (tl.classify, {"groupby": "percent_mito"}, TypeError, "dtype float32"),
    (tl.classify, GROUPS | {"n_genes": 0}, ValueError, "n_genes=0"),
    (tl.classify, GROUPS | {"n_genes": []}, ValueError, "n_genes=[] must hold numbers"),
    (tl.classify, GROUPS | {"n_genes": [1, 2.5]}, TypeError, "n_genes=2.5"),
    (tl.classify, GROUPS | {"n_genes": True}, TypeError, "n_genes=True"),
    (tl.classify, GROUPS | {"n_genes": 766}, ValueError, "the 765 genes"),
    (tl.classify, GROUPS | {"graph": "x"}, ValueError, "graph='x'"),
    (tl.classify, GROUPS | {"lambda1": -1}, ValueError, "lambda1=-1"),
    (tl.classify, GROUPS | {"lambda2": 0}, ValueError, "lambda2=0"),
    (tl.classify, GROUPS | {"n_comps": "x"}, ValueError, "n_comps='x'"),
    (tl.classify, GROUPS | {"n_comps": 0}, ValueError, "n_comps=0"),
    (tl.classify, GROUPS | {"mask_var": "x"}, KeyError, "mask_var='x'"),
    (tl.classify, GROUPS | {"layer": "x"}, KeyError, "layer='x'"),
    (tl.classify, GROUPS | {"cv": 1}, ValueError, "cv=1"),
    (tl.classify, GROUPS | {"cv": "a"}, TypeError, "cv='a'"),
    (tl.classify, GROUPS | {"include": ["zz"]}, KeyError, "include: 'zz' is neither"),
    (tl.classify, GROUPS | {"include": ["CD3D"] * 2, "exclude": "CD3D"}, ValueError, "rule out"),
    (tl.classify, GROUPS | {"exclude": 5}, TypeError, "exclude=5 must be names"),
    (tl.classify, GROUPS | {"symbols": "x"}, KeyError, "symbols='x'"),
    (tl.classify, GROUPS | {"missing": "x"}, ValueError, "missing='x'"),
    (tl.classify, GROUPS | {"batch_key": "x"}, KeyError, "batch_key='x'"),
    (tl.predict, {"model": 5}, TypeError, "model is a int: it must be adata.uns[key]"),
    (tl.predict, {"model": {}}, ValueError, "model is not what glfs_bio.tl.classify writes"),
    (tl.predict, {"model": "no.json"}, FileNotFoundError, "no.json does not exist"),
    (tl.predict, {"model": "old.txt"}, ValueError, "old.txt is not a classifier"),
    (tl.predict, {"model": MODEL | {"coef": [[1.0]]}}, ValueError, "model is damaged"),
    (tl.predict, {"model": MODEL | {"coef": [["a"], ["b"]]}}, TypeError, "coef of model has dtype"),
    (tl.predict, {"model": MODEL | {"genes": [1, 2]}}, ValueError, "model is damaged"),
    (tl.predict, {"model": MODEL | {"genes": ["LYZ", "LYZ"]}}, ValueError, "model is damaged"),
    (tl.predict, {"model": MODEL | {"genes": ["CD3D", "zz"]}}, KeyError, "1 of 2 genes of the"),
    (tl.predict, {"model": MODEL | {"genes": ["yy", "zz"]}}, ValueError, "No gene of the model"),
    (tl.predict, {"model": MODEL, "layer": "x"}, KeyError, "layer='x'"),
    (tl.predict, {"model": MODEL, "symbols": "x"}, KeyError, "symbols='x'"),
    (tl.predict, {"model": MODEL, "missing": "x"}, ValueError, "missing='x'"),
    (tl.predict, {"model": MODEL, "unsure": -1}, ValueError, "unsure=-1"),
    (tl.predict, {"model": MODEL, "key_added": 5}, TypeError, f"key_added=5 {STRING}"),
    (io.write_classifier, {"path": "m.pkl"}, ValueError, "must end with .json"),
    (io.write_classifier, {"path": "m.json", "key": "x"}, KeyError, "run glfs_bio.tl.classify"),
    (io.write_classifier, {"path": "m.json", "key": "glfs"}, KeyError, "it has no classes"),
    (io.write_classifier, {"path": "m.json", "overwrite": 1}, TypeError, "overwrite=1"),
    (tl.classify, GROUPS | {"key_added": 5}, TypeError, f"key_added=5 {STRING}"),
    (tl.classify, GROUPS | {"random_state": "a"}, TypeError, "random_state='a'"),
    (tl.classify, GROUPS | {"random_state": -1}, ValueError, "random_state=-1"),
    (tl.classify, GROUPS | {"train": "x"}, KeyError, "train='x'"),
    (tl.classify, GROUPS | {"train": np.zeros(700, dtype=bool)}, ValueError, "train leaves"),
    (tl.classify, GROUPS | {"train": np.ones(3, dtype=bool)}, ValueError, "with 700 entries"),
    (tl.stability, FEW | {"n_genes": 0}, ValueError, "n_genes=0"),
    (tl.stability, FEW | {"n_genes": "x"}, TypeError, "n_genes='x'"),
    (tl.stability, FEW | {"n_genes": 766}, ValueError, "is more than the 765 genes"),
    (tl.stability, FEW | {"n_resamples": 1}, ValueError, "n_resamples=1"),
    (tl.stability, FEW | {"n_resamples": 2.0}, TypeError, "n_resamples=2.0"),
    (tl.stability, FEW | {"fraction": 0}, ValueError, "fraction=0"),
    (tl.stability, FEW | {"fraction": 1}, ValueError, "fraction=1 must be below 1"),
    (tl.stability, FEW | {"fraction": 1e-9}, ValueError, "too few"),
    (tl.stability, FEW | {"fraction": "x"}, TypeError, "fraction='x'"),
    (tl.stability, FEW | {"n_jobs": 0}, ValueError, "n_jobs=0"),
    (tl.stability, FEW | {"n_jobs": 1.5}, ValueError, "n_jobs=1.5"),
    (tl.stability, FEW | {"key_added": 5}, TypeError, f"key_added=5 {STRING}"),
    (tl.stability, FEW | {"random_state": 2**40}, ValueError, "random_state=1099511627776"),
    (tl.stability, FEW | {"show_progress": "x"}, TypeError, "show_progress='x'"),
    (tl.stability, FEW | {"nope": 1}, TypeError, "nope=1 is not one of"),
    (tl.stability, FEW | {"layer": ["x"]}, TypeError, STRING),
    (tl.stability, FEW | {"objective": "x"}, ValueError, "objective='x'"),
    (tl.stability, FEW | {"finish": "greedy"}, TypeError, "finish='greedy' is not one of"),
    (tl.stability, FEW | {"lam": 1.0}, ValueError, "lam=1.0"),
    (tl.stability, FEW | {"batch_key": "x"}, KeyError, "batch_key='x'"),
    (tl.stability, FEW | {"use_rep": "x"}, KeyError, "use_rep='x'"),
    (tl.stability, FEW | {"lambda1": -1}, ValueError, "lambda1=-1"),
    (tl.enrich, {"gene_sets": {}}, ValueError, "gene_sets is empty"),
    (tl.enrich, {"gene_sets": 5}, TypeError, "gene_sets is a int"),
    (tl.enrich, {"gene_sets": {"a": "CD3D"}}, TypeError, "gene_sets['a'] is 'CD3D'"),
    (tl.enrich, {"gene_sets": {"a": 5}}, TypeError, "gene_sets['a'] is 5"),
    (tl.enrich, {"gene_sets": {"a": ["cd3d"]}}, ValueError, "upper and lower case"),
    (tl.enrich, {"gene_sets": {"a": ["zz"]}}, ValueError, "no name in common"),
    (tl.enrich, {"gene_sets": "no.gmt"}, FileNotFoundError, "no.gmt does not exist"),
    (tl.enrich, {"gene_sets": SETS, "key": "x"}, KeyError, "no selection under key='x'"),
    (tl.enrich, {"gene_sets": SETS, "key": 5}, TypeError, f"key=5 {STRING}"),
    (tl.enrich, {"gene_sets": SETS, "method": "x"}, ValueError, "method='x'"),
    (tl.enrich, {"gene_sets": SETS, "organism": "x"}, ValueError, "organism='x'"),
    (tl.enrich, {"gene_sets": SETS, "background": "CD3D"}, ValueError, "must be a list"),
    (tl.enrich, {"gene_sets": SETS, "background": 5}, ValueError, "background=5 must be a list"),
    (tl.enrich, {"gene_sets": SETS, "background": []}, ValueError, "background is empty"),
    (tl.enrich, {"gene_sets": SETS, "symbols": "x"}, KeyError, "symbols='x'"),
    (tl.enrich, {"gene_sets": SETS, "symbols": 5}, TypeError, f"symbols=5 {STRING}"),
    (tl.enrich, {"gene_sets": SETS, "min_size": 0}, ValueError, "min_size=0"),
    (tl.enrich, {"gene_sets": SETS, "min_cells": 0}, ValueError, "min_cells=0 must be an integer"),
    (
        tl.enrich,
        {"gene_sets": SETS, "min_cells": 3, "background": ["CD3D"]},
        ValueError,
        "min_cells=3 is for the tested genes",
    ),
    (tl.enrich, {"gene_sets": SETS, "min_size": 50}, ValueError, "the largest has 2"),
    (tl.enrich, {"gene_sets": SETS, "max_size": 0}, ValueError, "max_size=0"),
    (tl.enrich, {"gene_sets": SETS, "n_permutations": 0}, ValueError, "n_permutations=0"),
    (tl.enrich, {"gene_sets": SETS, "weight": -1}, ValueError, "weight=-1"),
    (tl.enrich, {"gene_sets": SETS, "n_jobs": 0}, ValueError, "n_jobs=0"),
    (tl.enrich, {"gene_sets": SETS, "key_added": 5}, TypeError, f"key_added=5 {STRING}"),
    (tl.enrich, {"gene_sets": SETS, "random_state": -1}, ValueError, "random_state=-1"),
    (tl.enrich, {"gene_sets": SETS, "inplace": "x"}, TypeError, "inplace='x'"),
    (pl.path, {"key": "x"}, KeyError, "run glfs_bio.pp.select_genes"),
    (pl.path, {"key": 5}, TypeError, f"key=5 {STRING}"),
    (pl.path, {"key": "neighbors"}, KeyError, "is not what glfs_bio.pp.select_genes writes"),
    (pl.path, {"ax": 5}, TypeError, "ax=5 must be matplotlib axes"),
    *((draw, {"save": 5}, TypeError, "save=5 must be a path") for draw in PICTURES),
    *((draw, {"save": "x.nope"}, ValueError, "save='x.nope' must end with") for draw in PICTURES),
    *((draw, {"save": "weights"}, ValueError, "save='weights' must end") for draw in PICTURES),
    *((draw, {"save": ".nope"}, ValueError, "save='.nope' must end with") for draw in PICTURES),
    *((draw, {"save": "a\0.png"}, ValueError, "zero byte") for draw in PICTURES),
    *((draw, {"show": "x"}, TypeError, "show='x' must be True or False") for draw in PICTURES),
    (pl.enrichment, {"ax": 5}, TypeError, "ax=5 must be matplotlib axes"),
    (pl.panel, {"key": "x"}, KeyError, "no selection under key='x'"),
    (pl.panel, {"ax": 5}, TypeError, "ax=5 must be matplotlib axes"),
    (pl.panel, {"ax": 5, "kind": "heatmap", "groupby": "louvain"}, ValueError, "ax is for kind="),
    (pl.stability, {"symbols": 5}, TypeError, f"symbols=5 {STRING}"),
    (pl.weights, {"n_genes": 0}, ValueError, "n_genes=0"),
    (pl.weights, {"key": "x"}, KeyError, "no selection under key='x'"),
    (pl.weights, {"symbols": "x"}, KeyError, "symbols='x'"),
    (pl.weights, {"ax": "x"}, TypeError, "ax='x' must be matplotlib axes"),
    (pl.stability, {"n_genes": 0}, ValueError, "n_genes=0"),
    (pl.stability, {"key": "glfs"}, KeyError, "is not what glfs_bio.tl.stability writes"),
    (pl.stability, {"ax": [1, 2, 3]}, TypeError, "must be matplotlib axes"),
    (pl.enrichment, {"n_terms": 0}, ValueError, "n_terms=0"),
    (pl.enrichment, {"key": "x"}, KeyError, "run glfs_bio.tl.enrich"),
    (pl.enrichment, {"key": "glfs"}, KeyError, "it has no results"),
    (pl.panel, {"kind": "x"}, ValueError, "kind='x'"),
    (pl.panel, {"groupby": "x"}, KeyError, "groupby='x'"),
    (pl.panel, {"kind": "heatmap"}, ValueError, "needs groupby="),
    (pl.panel, {"n_genes": 0}, ValueError, "n_genes=0"),
    (pl.panel, {"layer": "x"}, KeyError, "layer='x'"),
    (pl.panel, {"symbols": "x"}, KeyError, "symbols='x'"),
    (pl.panel, {"show_progress": "x"}, TypeError, "show_progress='x' must be True or False"),
    (pl.panel, {"random_state": "x"}, TypeError, "random_state='x'"),
    (pl.panel, {"random_state": -1}, ValueError, "random_state=-1"),
    (io.write_gene_list, {"path": "x.doc"}, ValueError, "must end with .txt, .csv, .tsv or .xlsx"),
    (io.write_gene_list, {"path": 5}, TypeError, "path=5 must be a path"),
    (io.write_gene_list, {"path": ""}, ValueError, "path=''"),
    (io.write_gene_list, {"path": "a\0.csv"}, ValueError, "zero byte"),
    (io.write_gene_list, {"path": "no/x.csv"}, FileNotFoundError, "folder no does not exist"),
    (io.write_gene_list, {"path": "old.txt"}, FileExistsError, "old.txt exists"),
    (io.write_gene_list, {"path": "x.csv", "columns": ["x"]}, KeyError, "columns: 'x'"),
    (io.write_gene_list, {"path": "x.csv", "columns": 5}, TypeError, "columns=5"),
    (io.write_gene_list, {"path": "x.txt", "columns": ["x"]}, ValueError, "is for a table"),
    (io.write_gene_list, {"path": "x.csv", "key": "x"}, KeyError, "key='x'"),
    (io.write_gene_list, {"path": "x.csv", "symbols": "x"}, KeyError, "symbols='x'"),
    (io.write_gene_list, {"path": "x.csv", "selected_only": 1}, TypeError, "selected_only=1"),
    (io.write_gene_list, {"path": "x.csv", "overwrite": "x"}, TypeError, "overwrite='x'"),
    (io.write_rnk, {"path": "x.rnk", "key": "x"}, KeyError, "key='x'"),
    (io.write_rnk, {"path": 5}, TypeError, "path=5"),
    (io.write_rnk, {"path": "x.rnk", "symbols": "x"}, KeyError, "symbols='x'"),
    (io.write_rnk, {"path": "x.rnk", "overwrite": 1}, TypeError, "overwrite=1"),
    (io.write_gmt, {"path": "x.gmt", "symbols": "x"}, KeyError, "symbols='x'"),
    (io.write_gmt, {"path": "x.gmt", "overwrite": 1}, TypeError, "overwrite=1"),
    (io.write_gmt, {"path": "x.gmt", "stability_key": 5}, TypeError, f"stability_key=5 {STRING}"),
    (io.write_report, {"path": "x.html", "symbols": "x"}, KeyError, "symbols='x'"),
    (io.write_report, {"path": "x.html", "overwrite": 1}, TypeError, "overwrite=1"),
    (pp.recorded_parameters, {"key": 5}, TypeError, f"key=5 {STRING}"),
    (pp.recorded_parameters, {"key": "neighbors"}, KeyError, "is not what glfs_bio.pp.select"),
    (io.write_gmt, {"path": "x.gmt", "key": 5}, TypeError, "key=5"),
    (io.write_gmt, {"path": "x.gmt", "key": "x"}, KeyError, "key='x'"),
    (io.write_gmt, {"path": "x.gmt", "key": None}, ValueError, "nothing to write"),
    (io.write_gmt, {"path": "x.gmt", "groups": 5}, TypeError, "groups=5"),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a": 5}}, TypeError, "groups['a'] is 5"),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a": ["zz"]}}, KeyError, "groups['a'] has genes"),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a": []}}, ValueError, "no gene with a name"),
    (io.write_gmt, {"path": "x.gmt", "groups": {"a\tb": ["CD3D"]}}, ValueError, "has a tab"),
    (io.write_gmt, {"path": "x.gmt", "thresholds": 2}, ValueError, "thresholds=2"),
    (io.write_gmt, {"path": "x.gmt", "thresholds": None}, TypeError, "thresholds=None"),
    (io.write_report, {"path": "x.pdf"}, ValueError, "must end with .html"),
    (io.write_report, {"path": "x.html", "key": "x"}, KeyError, "key='x'"),
    (io.write_report, {"path": "x.html", "groupby": "x"}, KeyError, "groupby='x'"),
    (io.write_report, {"path": "x.html", "layer": "x"}, KeyError, "layer='x'"),
    (io.write_report, {"path": "x.html", "link": 5}, TypeError, f"link=5 {STRING}"),
    (io.write_report, {"path": "x.html", "link": "javascript:{gene}"}, ValueError, "web address"),
    (io.write_report, {"path": "x.html", "link": "https://x"}, ValueError, "web address"),
    (io.write_report, {"path": "x.html", "title": 5}, TypeError, f"title=5 {STRING}"),
    (io.write_report, {"path": "x.html", "stability_key": "x"}, KeyError, "tl.stability"),
    (io.write_report, {"path": "x.html", "enrichment_key": "glfs"}, KeyError, "no results"),
    (io.write_report, {"path": "x.html", "random_state": "x"}, TypeError, "random_state='x'"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("old")
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert Path("old.txt").read_text() == "old"


@pytest.mark.parametrize(("call", "value", "error", "words"), CALLS)
def test_call(analysed, refuses, folder, call, value, error, words):
    shown = {"show": False} if call in PICTURES and "show" not in value else {}
    figures = plt.get_fignums()
    refuses(lambda: call(analysed, **value, **shown), analysed, error, words)
    assert plt.get_fignums() == figures


def test_every_argument_has_a_row():
    for room in (tl, pl, io, pp):
        for name in room.__all__:
            call = getattr(room, name)
            if call is pp.select_genes or call in OF_FILES:
                continue
            tried = {"adata", "select"}.union(*(value for one, value, *_ in CALLS if one is call))
            assert set(inspect.signature(call).parameters) <= tried, name


#: Their rows are among READERS.
OF_FILES = (io.read_cells, io.read_classifier, io.read_gmt, io.read_panel, io.check_target,
            io.replacing)  # fmt: skip

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
    (tl.substitutes, (["CD3D"],)),
    (tl.explain_panel, (["CD3D"],)),
    (tl.markers, (["CD3D"], "bulk_labels")),
    (tl.compare_panels, ({"a": ["CD3D"], "b": ["LYZ"]},)),
    (tl.curve, ()),
    (tl.panel_umap, ()),
    (pp.structure, ()),
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
    for thing, name in ((np.ones((4, 4)), "ndarray"), (None, "NoneType"), ("cells.h5ad", "str")):
        refuses(lambda: call(thing, *arguments), None, TypeError, f"adata is a {name}: it must")  # noqa: B023


#: call, exception, words
READERS = [
    (lambda: io.read_cells(5), TypeError, "path=5 must be a path"),
    (lambda: io.read_cells("no.h5ad"), FileNotFoundError, "no.h5ad does not exist"),
    (lambda: io.read_cells("old.txt"), ValueError, "no columns of numbers"),
    (lambda: io.read_cells("old.txt", transpose="yes"), TypeError, "transpose='yes'"),
    (lambda: io.read_cells("."), ValueError, "it must have one file matrix.mtx"),
    (lambda: io.read_classifier(5), TypeError, "path=5 must be a path"),
    (lambda: io.read_classifier("no.json"), FileNotFoundError, "no.json does not exist"),
    (lambda: io.read_classifier("."), FileNotFoundError, ". is no file"),
    (lambda: io.read_classifier("old.txt"), ValueError, "it is no JSON"),
    (lambda: io.read_gmt(5), TypeError, "path=5 must be a path"),
    (lambda: io.read_gmt("no.gmt"), FileNotFoundError, "no.gmt does not exist"),
    (lambda: io.read_gmt("."), ValueError, ". is a folder"),
    (lambda: io.read_gmt("old.txt"), ValueError, "line 1 must hold a name"),
    (lambda: datasets.simulate(3), ValueError, "n_samples=3"),
    (lambda: datasets.simulate(10.5), TypeError, "n_samples=10.5"),
    (lambda: datasets.simulate(10, -1), ValueError, "n_noise=-1"),
    (lambda: datasets.simulate(10, 5, sigma=-1), ValueError, "sigma=-1"),
    (lambda: datasets.simulate(10, 5, sigma=np.nan), ValueError, "sigma=nan"),
    (lambda: datasets.simulate(10, 5, shape="x"), ValueError, "shape='x'"),
    (lambda: datasets.simulate(10, 5, random_state=-1), ValueError, "random_state=-1"),
    (lambda: io.read_cells("old.txt", backed=1), TypeError, "backed=1 must be True or False"),
    (lambda: io.read_cells("old.txt", backed=True), ValueError, "backed is for .h5ad"),
    (lambda: io.check_target(5, overwrite=True), TypeError, "path=5 must be a path"),
    (lambda: io.check_target("x", overwrite=5), TypeError, "overwrite=5"),
    (lambda: io.check_target("old.txt", overwrite=False), FileExistsError, "old.txt exists"),
    (lambda: io.replacing(5).__enter__(), TypeError, "path=5 must be a path"),
    (lambda: io.replacing("x", overwrite=5).__enter__(), TypeError, "overwrite=5"),
    (lambda: rbridge.to_sce(5), TypeError, "adata is a int"),
    (
        lambda: rbridge.to_sce(ad.AnnData(np.ones((3, 3))), X_name=5),
        TypeError,
        f"X_name=5 {STRING}",
    ),
    (lambda: rbridge.from_sce(None, X_name=5), TypeError, f"X_name=5 {STRING}"),
]


@pytest.mark.parametrize(("call", "error", "words"), READERS)
def test_readers(refuses, folder, call, error, words):
    refuses(call, None, error, words)
