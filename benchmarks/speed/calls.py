"""Time of select_genes beside scanpy, and of questions about the same cells.

    python -m benchmarks.speed.calls reuse
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.speed.calls structure

`reuse` has select_genes beside sc.pp.pca and sc.pp.neighbors; `structure` one question after the
other with and without the structure of the cells.  More threads wait for one another, which counts
as processor time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc
from anndata import AnnData
from threadpoolctl import threadpool_info

import glfs_bio

from .. import tables
from ..data import KANG, LABEL, log_counts
from ..methods import ours
from . import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

SETS = ("pbmc3k_2638", KANG)
ROUNDS, RUNS = 3, 5
N_SELECTED, N_MANY = 50, 100
PCA, NEIGHBORS, REUSED, FRESH = (
    "sc.pp.pca (s)",
    "sc.pp.neighbors (s)",
    "select_genes, re-using both (s)",
    "select_genes, from nothing (s)",
)


def n_threads() -> int:
    """Return the threads of the library that has most."""
    return max(library["num_threads"] for library in threadpool_info())


def timed(call: Callable[[], object]) -> Clock:
    """Return processor and wall time of a call."""
    with Clock() as clock:
        call()
    return clock


def write_reuse() -> None:
    """Compare select_genes with sc.pp.pca and sc.pp.neighbors, whole matrices, in one process."""
    rows = {}
    for name in SETS:
        adata = log_counts(name)
        calls = {
            PCA: partial(sc.pp.pca, adata),
            NEIGHBORS: partial(sc.pp.neighbors, adata),
            REUSED: partial(ours.table, adata, N_SELECTED, **ours.SCANPY),
            FRESH: partial(ours.table, adata, N_SELECTED),
        }
        rounds = [{one: timed(call) for one, call in calls.items()} for _ in range(ROUNDS + 1)]
        clocks = pd.DataFrame(rounds[1:])
        for kind, of in (("processor", "cpu"), ("wall", "seconds")):
            seconds = clocks.map(lambda one, of=of: getattr(one, of))
            both = seconds[PCA] + seconds[NEIGHBORS]
            table = seconds.assign(
                **{
                    "over pca": seconds[REUSED] / seconds[PCA],
                    "over pca + neighbors": seconds[FRESH] / both,
                }
            )
            order = [PCA, NEIGHBORS, REUSED, "over pca", FRESH, "over pca + neighbors"]
            rows[f"{name}, {adata.n_obs} × {adata.n_vars}, {kind}"] = table[order].median()
    tables.write(
        "speed_reuse",
        pd.DataFrame(rows).T.round(2),
        n_genes=N_SELECTED,
        rounds=ROUNDS,
        threads=n_threads(),
        code=tables.code(),
    )


def questions(adata: AnnData) -> dict[str, Callable[[AnnData], object]]:
    """Return functions of one object, which write nothing to it."""
    panel = list(adata.var_names[adata.var["glfs_selected"]])
    limits = glfs_bio.Limits(max_mean=3.0)
    tl = glfs_bio.tl
    return {
        f"a selection of {N_SELECTED} genes": lambda one: ours.table(one, N_SELECTED),
        "another size (100)": lambda one: ours.table(one, 2 * N_SELECTED),
        "limits (max_mean)": lambda one: ours.table(one, N_SELECTED, limits=limits),
        "labels (preserve=)": lambda one: ours.table(one, N_SELECTED, preserve=LABEL),
        "extension by 10 genes": lambda one: tl.extend_panel(one, panel, 10, inplace=False),
        "substitutes": lambda one: tl.substitutes(one, panel, inplace=False),
        "explanation": lambda one: tl.explain_panel(one, panel, inplace=False),
        "evaluation": lambda one: tl.evaluate_panel(one, panel, inplace=False),
    }


def forgotten(adata: AnnData) -> AnnData:
    """Return the same cells in a new object, since the first question keeps their structure."""
    return AnnData(adata.X, obs=adata.obs, var=adata.var)


def write_structure() -> None:
    """Time questions about one dataset; every state of the object is asked in turn."""
    bare = log_counts(KANG)
    stored = bare.copy()
    once = timed(lambda: glfs_bio.pp.structure(stored)).cpu
    glfs_bio.pp.select_genes(stored, N_SELECTED)
    states = {"from nothing (s)": lambda: forgotten(bare), "with the structure (s)": lambda: stored}
    rows = {}
    for name, question in questions(stored).items():
        question(stored)  # what is imported or compiled at the first call
        runs = 1 if name == "evaluation" else RUNS
        rows[name] = {
            state: np.median([timed(partial(question, given())).cpu for _ in range(runs)])
            for state, given in states.items()
        }
    tables.write(
        "speed_structure",
        pd.DataFrame(rows).T.round(2),
        cells=f"{KANG}, {bare.n_obs} × {bare.n_vars}",
        n_genes=N_SELECTED,
        threads=n_threads(),
        runs=RUNS,
        once=f"{once:.2f}",
        code=tables.code(),
    )


WRITE = {
    "reuse": write_reuse,
    "structure": write_structure,
}


def main() -> None:
    """Time, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("what", choices=WRITE)
    WRITE[parser.parse_args().what]()


if __name__ == "__main__":
    main()
