"""Docstrings, of which the reference page on outputs is made, have every key that is written."""

from __future__ import annotations

import re
import warnings
from operator import attrgetter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import glfs_bio
from glfs_bio import pp, tl
from glfs_bio._anndata import structure
from glfs_bio._signatures import section
from glfs_bio.errors import Caution

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "outputs.md"
LABELS = "bulk_labels"
SETS = {"MHC": ["HLA-DRA", "HLA-DRB1"], "T cells": ["CD3D", "CD3E"]}
#: Tables whose columns have names of their own.
TABLES = {"table", "genes", "groups", "pairs", "per_label", "counts_per_label", "unexplained"}
#: Calls by the heading of their section; each writes to what the calls before it left.
CALLS = {
    "pp.select_genes": lambda adata: pp.select_genes(
        adata,
        8,
        platform=glfs_bio.Platform(failure=0.05),
        batch_key="batch",
        as_highly_variable=True,
        exclude="none",
        missing="ignore",
    ),
    "pp.structure": pp.structure,
    "tl.evaluate_panel": lambda adata: tl.evaluate_panel(
        adata, "glfs", LABELS, counts_layer="counts", gene_sets=SETS
    ),
    "tl.compare_panels": lambda adata: tl.compare_panels(
        adata, {"a": "glfs", "b": ["CD3D", "LYZ"]}
    ),
    "tl.explain_panel": lambda adata: tl.explain_panel(adata, "glfs", LABELS),
    "tl.extend_panel": lambda adata: tl.extend_panel(adata, ["CD3D", "none"], 3, labels=LABELS),
    "tl.substitutes": tl.substitutes,
    "tl.replace_genes": lambda adata: tl.replace_genes(
        adata, ["CD3D", "none"], ["CD3D", "LYZ", "none", "nor"]
    ),
    "tl.explain_gene": lambda adata: tl.explain_gene(adata, ["CD3D", "LYZ"], "glfs", LABELS),
    "tl.prove_panel": lambda adata: tl.prove_panel(adata, time_limit=1.0),
    "tl.resolve_genes": tl.resolve_genes,
    "tl.order_panel": lambda adata: tl.order_panel(
        adata, ["CD3D", "LYZ"], counts_layer="counts", labels=LABELS, backups=1
    ),
    "tl.curve": lambda adata: tl.curve(adata, 10, LABELS),
    "tl.markers": lambda adata: tl.markers(adata, "glfs", LABELS),
    "tl.stability": lambda adata: tl.stability(adata, key="glfs_extended", n_resamples=2),
    "tl.classify": lambda adata: tl.classify(adata, LABELS, train="half", n_genes=[5, 8], cv=3),
    "tl.predict": lambda adata: tl.predict(adata, adata.uns["glfs_class"], unsure=0.1),
    "tl.enrich": lambda adata: tl.enrich(adata, SETS),
    "tl.panel_umap": tl.panel_umap,
}


@pytest.fixture(scope="module")
def written(blood) -> dict[str, set[str]]:
    """Names of everything that each call writes, without the key."""
    found = {}
    for name, call in CALLS.items():
        before = {part: set(getattr(blood, part).keys()) for part in ("obs", "var", "obsm", "varm")}
        records = {key: id(entry) for key, entry in blood.uns.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Caution)  # of a name that is missing
            call(blood)
        columns = {key for part, old in before.items() for key in set(getattr(blood, part)) - old}
        new = {key for key, entry in blood.uns.items() if records.get(key) != id(entry)}
        if name != "pp.structure":  # which other functions store on their way
            by_the_way = {structure.KEY, structure.BESIDE}
            new, columns = new - by_the_way, columns - by_the_way
        if name == "tl.prove_panel":  # which sharpens what is written by others
            new = new - {"glfs_explanation"}
        found[name] = {_without(key, new) for key in columns}
        for key in new:
            for entry, value in blood.uns[key].items():
                found[name].add(entry)
                if isinstance(value, pd.DataFrame) and entry in TABLES:
                    found[name] |= set(map(str, value))
    return found


@pytest.fixture(scope="module")
def blood():
    sc = pytest.importorskip("scanpy")
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs["batch"] = pd.Categorical(np.where(np.arange(adata.n_obs) % 2, "a", "b"))
    adata.obs["half"] = np.arange(adata.n_obs) % 2 == 0
    adata.layers["counts"] = adata.X.copy()
    adata.layers["counts"].data = np.round(np.expm1(adata.layers["counts"].data))
    return adata


def _without(name: str, keys: set[str]) -> str:
    for key in sorted(keys, key=len, reverse=True):
        if name.startswith(f"{key}_"):
            return name.removeprefix(f"{key}_")
    return "key_added" if name in keys else name.replace("umap_glfs", "umap_{key")


def outputs(name: str) -> str:
    """Return what a docstring says of outputs, and the page of all records."""
    own = [" ".join(one) for one in section(attrgetter(name)(glfs_bio), "Returns")]
    selects = dict.fromkeys(
        ("tl.extend_panel", "tl.replace_genes", "tl.prove_panel"), "pp.select_genes"
    )
    more = {**selects, "tl.predict": "tl.classify"}.get(name)
    return "\n".join([PAGE.read_text("utf-8"), *own, outputs(more) if more else ""])


@pytest.mark.parametrize("name", CALLS)
def test_every_key_is_documented(written, name):
    text = outputs(name)
    missing = {
        key for key in written[name] if not re.search(rf"(?<![a-z]){re.escape(key)}\b", text)
    }
    others = {"tl.compare_panels": "tl.evaluate_panel", "tl.order_panel": "tl.explain_panel"}
    if name in others:  # its table is that of the other
        missing -= set(re.findall(r"\w+", outputs(others[name])))
    assert not missing
