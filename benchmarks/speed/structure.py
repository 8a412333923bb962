"""Time of one question after the other about the same cells, with and without their structure.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/speed/structure.py

More threads wait for one another, which counts as processor time.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import scanpy as sc

import glfs_bio
from glfs_bio.data import threads as parallel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

DATA, LABELS, KEY = "kang_ifnb13999", "label", "glfs_structure"
RUNS = 5
N_GENES = 50
#: Questions that take ten seconds are asked once.
SLOW = ("evaluation",)


def questions(adata) -> dict:
    """Functions of one object, which write nothing to it."""
    panel = list(adata.var_names[adata.var["glfs_selected"]])
    select = partial(glfs_bio.pp.select_genes, inplace=False)
    limits = glfs_bio.Limits(max_mean=3.0)
    return {
        f"a selection of {N_GENES} genes": lambda one: select(one, N_GENES),
        "another size (100)": lambda one: select(one, 2 * N_GENES),
        "limits (max_mean)": lambda one: select(one, N_GENES, limits=limits),
        "labels (preserve=)": lambda one: select(one, N_GENES, preserve=LABELS),
        "extension by 10 genes": lambda one: glfs_bio.tl.extend_panel(
            one, panel, 10, inplace=False
        ),
        "substitutes": lambda one: glfs_bio.tl.substitutes(one, panel, inplace=False),
        "explanation": lambda one: glfs_bio.tl.explain_panel(one, panel, inplace=False),
        "evaluation": lambda one: glfs_bio.tl.evaluate_panel(
            one, panel, inplace=False, show_progress=False
        ),
    }


def seconds(question, adata, runs: int) -> float:
    """Median of several runs in seconds of the processor."""
    times = []
    for _ in range(runs):
        begin = time.process_time()
        question(adata)
        times.append(time.process_time() - begin)
    return float(pd.Series(times).median())


def main() -> None:
    """One set, one process; every state of the object is asked in turn."""
    bare = report.log_counts(DATA)
    scanpy = bare.copy()
    sc.pp.pca(scanpy)
    sc.pp.neighbors(scanpy)
    kept = scanpy.copy()
    begin = time.process_time()
    glfs_bio.pp.structure(kept)
    once = time.process_time() - begin
    glfs_bio.pp.select_genes(kept, N_GENES)
    rows = {}
    for name, question in questions(kept).items():
        runs = 1 if name in SLOW else RUNS
        states = {
            "from nothing (s)": bare,
            "with X_pca and graph (s)": scanpy,
            "with the structure (s)": kept,
        }
        question(kept)  # what is imported or compiled at the first call
        rows[name] = {state: seconds(question, adata, runs) for state, adata in states.items()}
    report.write(
        "speed_structure",
        "Time of questions about the same cells, with and without their structure",
        pd.DataFrame(rows).T.round(2),
        f"{DATA}, {bare.n_obs} × {bare.n_vars}, panels of {N_GENES} genes; processor time on "
        f"{parallel.n_threads()} thread, median of {RUNS} runs, of the evaluation one, in one "
        f"process. `pp.structure` takes {once:.2f} s with `X_pca` and graph. The time includes the "
        "check that the matrix is the one that the structure is from. An evaluation clusters the "
        "cells. Asked for: under 0.3 s with the structure, but for the evaluation.",
    )


if __name__ == "__main__":
    main()
