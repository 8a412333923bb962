"""Spapros' own figures of panels: python spapros_evaluator.py CELLS LABEL PANELS SCORES SECONDS.

PANELS is a JSON of gene names by key.  SCORES gets a line of JSON a panel as soon as it is done:
``{"key", "scores"}``, or ``{"key", "error"}`` where a panel took more than SECONDS of the
processor.  Runs in the environment of Spapros; its evaluator is called as it is, with all its
defaults and one process.
"""

import json
import signal
import sys
import warnings
from pathlib import Path

import anndata as ad
import spapros as sp

cells, label, panels, scores, seconds = sys.argv[1:]


def stop(*_):
    """Too long."""
    raise TimeoutError(f"not finished after {seconds} s")


warnings.filterwarnings("ignore")
signal.signal(signal.SIGPROF, stop)
adata = ad.read_h5ad(cells)
adata.obs[label] = adata.obs[label].astype(str).astype("category")
evaluator = sp.ev.ProbesetEvaluator(
    adata, celltype_key=label, results_dir=None, scheme="full", verbosity=0, n_jobs=1
)
evaluator.compute_or_load_shared_results()
for key, genes in json.loads(Path(panels).read_text(encoding="utf-8")).items():
    signal.setitimer(signal.ITIMER_PROF, float(seconds))
    try:
        evaluator.evaluate_probeset(genes, set_id=key)
        row = {"scores": evaluator.summary_results.loc[key].astype(float).to_dict()}
    except Exception as error:  # noqa: BLE001  whatever happens to a panel is reported
        row = {"error": f"{type(error).__name__}: {error}"}
    signal.setitimer(signal.ITIMER_PROF, 0)
    with Path(scores).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key} | row) + "\n")
