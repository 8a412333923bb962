"""Spapros' own figures of panels: python spapros_evaluator.py CELLS LABEL PANELS SCORES SECONDS.

PANELS is a JSON of gene names by key.  SCORES gets a line of JSON a panel as soon as it is done:
``{"key", "scores"}``, with ``"error"`` where one of the four parts of the evaluation failed or took
more than SECONDS of the processor; the other parts are then scored all the same.  Runs in the
environment of Spapros; its evaluator is called as it is, part by part, with all its defaults and
one process.  Files of what all panels share are left in the present folder.

The clustering is not asked for where it would never end: the evaluator halves the resolution until
there are at most five clusters, and a graph of more components never has as few.
"""

import json
import signal
import sys
import warnings
from pathlib import Path

import anndata as ad
import scanpy as sc
import spapros as sp
from scipy.sparse.csgraph import connected_components

#: What the evaluator's scheme "full" consists of, and the folder for what all panels share: without
#: one it is computed for every panel.  Correlations of all genes are computed sooner than read.
PARTS = {"cluster_similarity": ".", "knn_overlap": ".", "forest_clfs": None, "gene_corr": None}


#: Clusters at which the evaluator's search for the lowest resolution ends.
FEWEST = 5


class Late(BaseException):
    """More time than allowed; not an `Exception`, which the evaluation may catch and go on."""


def stop(*_):
    """Too long."""
    raise Late(f"not finished after {float(seconds):.0f} s")


def endless(genes):
    """Why the clustering would never end; empty where it does."""
    part = adata[:, genes].copy()
    sc.pp.pca(part)
    sc.pp.neighbors(part)
    n_components, _ = connected_components(part.obsp["connectivities"], directed=False)
    return f"never ends with {n_components} components" if n_components > FEWEST else ""


cells, label, panels, scores, seconds = sys.argv[1:]
warnings.filterwarnings("ignore")
signal.signal(signal.SIGPROF, stop)
adata = ad.read_h5ad(cells)
adata.obs[label] = adata.obs[label].astype(str).astype("category")
evaluators = {}
for part, folder in PARTS.items():
    evaluators[part] = sp.ev.ProbesetEvaluator(
        adata,
        celltype_key=label,
        results_dir=None,
        reference_dir=folder,
        scheme="custom",
        metrics=[part],
        verbosity=0,
        n_jobs=1,
    )
    if folder:
        evaluators[part].compute_or_load_shared_results()
for key, genes in json.loads(Path(panels).read_text(encoding="utf-8")).items():
    row, errors = {"key": key, "scores": {}}, []
    for part, evaluator in evaluators.items():
        if part == "cluster_similarity" and (reason := endless(genes)):
            errors.append(f"{part}: {reason}")
            continue
        # Again every second: compiled code may lose what a signal raises in it.
        signal.setitimer(signal.ITIMER_PROF, float(seconds), 1.0)
        try:
            evaluator.evaluate_probeset(genes, set_id=key)
            row["scores"] |= evaluator.summary_results.loc[key].astype(float).to_dict()
        except (Exception, Late) as error:  # noqa: BLE001  whatever happens is reported
            errors.append(f"{part}: {error or type(error).__name__}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    if errors:
        row["error"] = "; ".join(errors)
    with Path(scores).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
