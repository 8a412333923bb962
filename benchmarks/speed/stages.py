"""Where the time of select_genes goes, stage by stage, beside what the machine could do.

python benchmarks/speed/stages.py [SET ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import scanpy as sc
import state
from watched import REST, STAGES, Watched
from work import Work

import glfs_bio
from glfs_bio.data import threads as parallel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SETS = ("pbmc3k_2638", "kang_ifnb13999")
RUNS = 3
N_GENES = 50
CASES = {"from nothing": {"use_rep": "X"}, "re-using pca and neighbors": {}}
#: Side of the square matrices that are multiplied, bytes that are copied, and how often.
_SIDE, _COPIED, _TRIES = 2000, 2**29, 5


@dataclass(frozen=True)
class Machine:
    """Floating-point operations and bytes a second, the best of some tries, on all threads."""

    single: float
    double: float
    bytes: float

    @classmethod
    def measured(cls, threads: int) -> Machine:
        """Products of dense matrices, and a copy, of which each thread makes a part."""
        rates = {}
        for precision in (np.float32, np.float64):
            matrix = np.ones((_SIDE, _SIDE), dtype=precision)
            rates[precision] = 2 * _SIDE**3 / _best(lambda matrix=matrix: matrix @ matrix)
        source, target = np.ones(_COPIED, dtype=np.uint8), np.zeros(_COPIED, dtype=np.uint8)
        parts = list(zip(np.split(target, threads), np.split(source, threads), strict=True))
        with ThreadPoolExecutor(threads) as pool:
            copied = _best(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))
        return cls(rates[np.float32], rates[np.float64], 2 * _COPIED / copied)

    def limit(self, work: Work) -> float:
        """Fewest seconds of wall clock that some work takes."""
        return max(work.single / self.single + work.double / self.double, work.bytes / self.bytes)


def _best(function) -> float:
    """Shortest time of some calls after one, in seconds of wall clock."""
    function()
    found = []
    for _ in range(_TRIES):
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return min(found)


def watched(adata, options: dict) -> list[Watched]:
    """Clocks and work of some selections after one that is not counted."""
    runs = []
    for _ in range(RUNS + 1):
        with Watched() as run:
            glfs_bio.pp.select_genes(adata, N_GENES, inplace=False, **options)
        runs.append(run)
    return runs[1:]


def by_stage(runs: list[Watched], machine: Machine) -> pd.DataFrame:
    """One row a stage, the whole call last."""
    rows = {}
    whole, total = Work(), 0.0
    for stage in STAGES:
        if stage not in runs[0].clocks:
            continue
        work = runs[0].work[stage]
        whole, total = whole + work, total + machine.limit(work)
        seconds = [(run.clocks[stage].cpu, run.clocks[stage].seconds) for run in runs]
        rows[stage] = _row(seconds, work, machine.limit(work) if stage != REST else np.nan)
    seconds = [
        (sum(c.cpu for c in run.clocks.values()), sum(c.seconds for c in run.clocks.values()))
        for run in runs
    ]
    rows["whole call"] = _row(seconds, whole, total)
    return pd.DataFrame(rows).T


def _row(seconds: list[tuple[float, float]], work: Work, limit: float) -> dict:
    processor, wall = np.median(seconds, axis=0)
    return {
        "processor (s)": round(processor, 3),
        "wall (s)": round(wall, 3),
        "Gflop, single": _told(work.single / 1e9),
        "Gflop, double": _told(work.double / 1e9),
        "GB": _told(work.bytes / 1e9),
        "limit (s)": "" if np.isnan(limit) else _told(limit),
        "share of the limit": "" if not limit > 0 else f"{limit / wall:.1%}",
    }


def _told(number: float) -> str:
    return f"{number:.2g}" if number else ""


def main() -> None:
    """Both sets, from nothing and re-using what scanpy computed."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    threads = parallel.n_threads()
    machine = Machine.measured(threads)
    tables = {}
    for name in asked.parse_args().sets:
        adata = report.log_counts(name)
        size = f"{name}, {adata.n_obs} × {adata.n_vars}, {adata.X.nnz:,} values"
        sc.pp.pca(adata)
        sc.pp.neighbors(adata)
        for case, options in CASES.items():
            tables[f"{size}, {case}"] = by_stage(watched(adata, options), machine)
    report.write(
        "speed_stages",
        "Where the time of select_genes goes, and the share of the machine's limit",
        pd.DataFrame({name: table.loc["whole call"] for name, table in tables.items()}).T,
        f"{N_GENES} genes, {threads} threads; medians of {RUNS} runs after a warm-up, of each "
        "stage by itself. Single and double: operations of the products that were made, of the "
        "orthogonalisation, of all distances between the cells, of the edges of the graph times "
        "the entries of a cell, and of the choice, counted from sizes. GB: what is read and "
        "written at the least.",
        "Limit: the longer of what these operations and these bytes take at the rates of this "
        f"machine in the same run, on {threads} threads: "
        f"{machine.single / 1e9:.3g} Gflop/s in single and {machine.double / 1e9:.3g} in double "
        f"precision (products of dense matrices of {_SIDE:,}), and {machine.bytes / 1e9:.3g} GB/s "
        f"(a copy of {_COPIED / 1e9:.2g} GB), the best of {_TRIES} tries. Share of the limit: the "
        "limit over wall time. That of the whole call is the sum over the stages. Sparse products "
        "and sums along edges cannot reach the rate of dense products.",
        state.told(),
        *(f"## {name}\n\n{table.to_markdown()}" for name, table in tables.items()),
    )


if __name__ == "__main__":
    main()
