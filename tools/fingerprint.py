"""What the package computes, to the last bit: written before walls move, compared afterwards.

Usage: python tools/fingerprint.py write FILE       (in the project's environment)
       python tools/fingerprint.py compare FILE

The data are those of GLFS_BIO_DATA (`../shared/data`).  Bits depend on machine, BLAS and threads:
both runs must be on one machine.  Every result is a checksum of its numbers and a few of them, by
which a difference can be told from rounding.
"""

import hashlib
import json
import os
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc

import glfs_bio
from glfs_bio.glfs2014 import Exact

DATA = Path(os.environ.get("GLFS_BIO_DATA", "../shared/data"))
FIVE = (
    "pbmc3k_2638",
    "baron_human1_1937",
    "sc_mixology_singlets1021",
    "worm_neuron4186",
    "kang_ifnb13999",
)
RIVALS = ("lapaofs", "lapdofs", "laplacian_score", "q_alpha", "sparse_pca", "variance")
COLUMNS = ("selected", "rank", "score", "weight", "loss")
#: A selection from nothing: the structure comes from the matrix alone.
FRESH = {"use_rep": "X"}


def logarithmised(name):
    adata = ad.read_h5ad(DATA / f"{name}.h5ad")
    adata.layers["counts"] = adata.X.copy()
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def selection(adata, key="glfs"):
    """What a selection wrote."""
    entry = adata.uns[key]
    found = {name: adata.var[f"{key}_{name}"] for name in COLUMNS if f"{key}_{name}" in adata.var}
    found["preserved"] = entry.get("preserved", entry.get("preserved"))
    found["optimality"] = entry.get("optimality", entry.get("optimality"))
    return {name: value for name, value in found.items() if value is not None}


def select(adata, n_genes, **options):
    glfs_bio.pp.select_genes(adata, n_genes, **options)
    return selection(adata)


def printed(values):
    """A checksum, and what shows whether a difference is rounding."""
    if isinstance(values, pd.DataFrame):
        return [printed(values[name]) for name in values]
    array = np.asarray(values)
    if array.dtype.kind in "OSU" or isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        text = "\n".join(map(str, np.asarray(values, dtype=object).ravel()))
        return [hashlib.sha256(text.encode()).hexdigest()[:16], text[:60]]
    array = np.ascontiguousarray(array, dtype=np.float64)
    filled = np.nan_to_num(array.ravel())
    shown = [f"{value:.12g}" for value in (filled.sum(), *filled[:3])]
    return [hashlib.sha256(array.tobytes()).hexdigest()[:16], *shown]


def of_workbench(adata, labels):
    """What follows a selection."""
    yield "evaluate_panel", evaluation(adata, labels)
    found = glfs_bio.tl.substitutes(adata, "glfs", n=3, inplace=False)
    yield "substitutes", {"table": found}
    added = glfs_bio.tl.extend_panel(adata, list(adata.var_names[:5]), 10, inplace=False)
    yield "extend_panel", {"table": added}
    why = glfs_bio.tl.explain_panel(adata, "glfs", labels, inplace=False)
    yield "explain_panel", {"table": why}


def evaluation(adata, labels, **options):
    glfs_bio.tl.evaluate_panel(adata, "glfs", labels, **options)
    values = adata.uns["glfs_evaluation"]["measures"].set_index("measure")["value"]
    names = ("preserved", "optimality", "imputed", "knn_preservation", "accuracy", "macro_f1")
    return {name: values[name] for name in (*names, "mean_correlation")}


def of_single_cells(name):
    adata = logarithmised(name)
    large = name.startswith("kang")
    yield "from nothing", select(adata, 50, **FRESH)
    glfs_bio.pp.structure(adata, **FRESH)
    yield "with the structure kept", select(adata, 50, **FRESH)
    yield "automatic size", select(adata, None, **FRESH)
    yield "labels", select(adata, 30, preserve="label", **FRESH)
    yield "expression", select(adata, 30, preserve="expression", **FRESH)
    yield "rare cells", select(adata, 30, cell_weights="label", **FRESH)
    yield (
        "included and excluded",
        select(
            adata,
            30,
            include=list(adata.var_names[:3]),
            exclude=list(adata.var_names[3:90]),
            **FRESH,
        ),
    )
    limits = glfs_bio.Limits(max_mean=2.0, per_type=1, groupby="label")
    yield "limits", select(adata, 40, limits=limits, **FRESH)
    yield "failures", select(adata, 20, **failing(0.1), **FRESH)
    yield "detection", select(adata, 20, **detecting(0.5), **FRESH)
    yield "structure kept again", select(adata, 50, **FRESH)
    if not large:
        yield from of_workbench(adata, "label")
        yield "original", select(adata, 20, objective="exact", **FRESH)
        for method in RIVALS:
            yield method, select(adata, 20, method=method, **FRESH)
        sc.pp.pca(adata, n_comps=50)
        sc.pp.neighbors(adata)
        named = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
        adata.uns.pop("glfs_structure", None)
        yield "named structure", select(adata, 50, **named)
    if name.startswith("sc_mix") or large:
        key = "batch" if "batch" in adata.obs else "stim"
        yield "batches", select(adata, 20, batch_key=key, **FRESH)
        yield "worst batch", select(adata, 20, batch_key=key, across="worst", **FRESH)
    if large:
        # By the structure of all cells, which was once re-used for a selection within batches.
        glfs_bio.pp.structure(adata, key_added="named")
        named = glfs_bio.Preserve(use_rep="named")
        yield "evaluate_panel", evaluation(adata, "label", preserve=named)


def failing(share):
    """Arguments for a probability of failure."""
    return {"platform": glfs_bio.Platform(failure=share)}


def detecting(share):
    """Arguments for a detection efficiency."""
    return {"platform": glfs_bio.Platform(efficiency=share)}


def of_leukaemia():
    adata = glfs_bio.datasets.golub()
    whole = {"n_comps": None, **FRESH}
    for objective in ("error", "exact"):
        yield objective, select(adata, 20, objective=objective, **whole)
    yield "line search", select(adata, None, objective=Exact(lam="line_search"), **whole)
    adata.obs["learn"] = (adata.obs["split"] == "train").to_numpy()
    glfs_bio.tl.classify(adata, "label", train="learn", n_genes=20)
    found = adata.obs[[name for name in adata.obs if name.startswith("glfs")]]
    yield "classify", {name: found[name] for name in found}


def of_faces():
    adata = ad.read_h5ad(DATA / "orl400.h5ad")
    adata.X = np.asarray(adata.X, dtype=np.float64) / 255.0
    for objective in ("exact", "printed"):
        yield objective, select(adata, 60, objective=objective, n_comps=None, **FRESH)
    estimator = glfs_bio.GLFS(n_genes=25).fit(np.asarray(adata.X))
    yield "estimator", {"weights": estimator.weights_, "support": estimator.get_support()}


def of_file():
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pbmc.h5ad"
        logarithmised("pbmc3k_2638").write_h5ad(path)
        adata = sc.read_h5ad(path, backed="r")
        yield "backed", select(adata, 50, **FRESH)
        adata.file.close()


def everything():
    parts = {name: of_single_cells(name) for name in FIVE}
    parts |= {"golub72": of_leukaemia(), "orl400": of_faces(), "file": of_file()}
    results = {}
    for name, cases in parts.items():
        begun = time.perf_counter()
        for case, found in cases:
            results[f"{name}: {case}"] = {key: printed(value) for key, value in found.items()}
        print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)
    return results


def compare(old, new):
    """Print what differs; the number of results that do."""
    n_different = 0
    for case in sorted(old.keys() | new.keys()):
        one, other = old.get(case), new.get(case)
        for key in sorted((one or {}).keys() | (other or {}).keys()):
            before, after = (one or {}).get(key), (other or {}).get(key)
            if before != after:
                n_different += 1
                print(f"{case}: {key}\n  before {before}\n  after  {after}")
    n_all = sum(len(found) for found in old.values())
    print(f"{n_all} results of {len(old)} cases, {n_different} different")
    return n_different


def main():
    mode, file = sys.argv[1], Path(sys.argv[2])
    warnings.simplefilter("ignore")
    results = json.loads(json.dumps(everything()))
    if mode == "write":
        file.write_text(json.dumps(results, indent=1))
        print(f"{len(results)} cases in {file}")
    else:
        sys.exit(compare(json.loads(file.read_text()), results) > 0)


if __name__ == "__main__":
    main()
