"""Time and memory of select_genes and of what people run beside it, from 3,000 to a million cells.

    python benchmarks/speed/run.py [--sizes 3000 10000 ...] [--only METHOD ...] [--limit SECONDS]
    python benchmarks/speed/run.py --quick

Every measurement is a process of its own (`task.py`), with a limit of time and of memory, and is
kept in `benchmarks/.cache/speed`, in one file for each state of the code and of the peers
(`state.py`): a second run measures only what is missing, or, with `--again`, everything that it was
asked for.  It stops where the code changes while it runs.  A method that was stopped at a size is
not tried at larger ones, nor where the line through the two sizes before says that it would be.
The table shows all that is kept of the present state.

`--quick` measures some methods on 3,000 to 30,000 cells, all anew, and writes a table of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import anndata as ad
import figures
import numpy as np
import state
import synthetic
import tables
from task import TASKS

from glfs_bio.datasets import simulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HOME = Path(__file__).resolve().parents[1] / ".cache" / "speed"
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
#: CPU seconds a measurement with `--quick`.
QUICK_LIMIT = 40.0
_WALL = 6  # times the limit of processor time


def cells(n_cells: int) -> Path:
    """File of synthetic cells."""
    path = HOME / f"{n_cells}.h5ad"
    larger = HOME / f"{max(tables.SIZES)}.h5ad"
    synthetic.write(path, n_cells, source=larger if larger.exists() else None)
    return path


def counts(n_genes: int) -> Path:
    """File of few synthetic cells with more or fewer genes."""
    path = HOME / f"counts{n_genes}.h5ad"
    synthetic.write(path, tables.N_SAMPLES, n_genes)
    return path


def logged(name: str) -> Path:
    """A development set, filtered and logarithmised."""
    path = HOME / f"{name}.h5ad"
    if not path.exists():
        report.log_counts(name).write_h5ad(path)
    return path


def features(n_features: int) -> Path:
    """400 samples of the paper's simulation: four signals, the rest noise."""
    path = HOME / f"d{n_features}.h5ad"
    if not path.exists():
        simulated = simulate(n_samples=tables.N_SAMPLES, n_noise=n_features - 4, random_state=0)
        ad.AnnData(np.asarray(simulated.X, dtype=np.float32)).write_h5ad(path)
    return path


MAKERS = {make.__name__: make for make in (cells, logged, features, counts)}


def measure(name: str, path: Path, limit: float, memory: float) -> dict:
    """Seconds, CPU seconds and GiB, or why there are none."""
    task = str(Path(__file__).with_name("task.py"))
    most = int(memory * 2**30)
    try:
        done = subprocess.run(
            [sys.executable, task, name, str(path), str(limit)],
            capture_output=True,
            text=True,
            timeout=_WALL * limit,
            check=False,
            env=os.environ | ONE_THREAD,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )
    except subprocess.TimeoutExpired:
        return {"error": f"> {_WALL * limit:g} s wall"}
    if done.returncode == -signal.SIGXCPU:
        return {"error": f"> {limit:g} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        out = any(word in done.stderr for word in ("MemoryError", "Cannot allocate", "allocat"))
        return {"error": f"> {memory:g} GiB" if out else last[:60]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def hopeless(kept: dict, kind: str, size: int, name: str, options: argparse.Namespace) -> str:
    """Why a measurement is not worth its time, if it is not; the backed file is always tried."""
    if name == tables.BACKED:
        return ""
    before = [n for n in tables.COLUMNS[kind] if n < size and f"{kind} {n}: {name}" in kept]
    found = [kept[f"{kind} {n}: {name}"] for n in before]
    if found and found[-1].get("error", "").startswith(">"):
        return "not run"
    if found and found[-1].get("error"):
        return found[-1]["error"]
    if len(found) < 2:
        return ""
    for of, most, unit in (("cpu", options.limit, "s"), ("peak", options.memory, "GiB")):
        low, high = (one[of] for one in found[-2:])
        expected = high + (high - low) / (before[-1] - before[-2]) * (size - before[-1])
        if expected > most:
            return f"not run, about {float(f'{expected:.2g}'):g} {unit}"
    return ""


def known(store: Path) -> dict[str, dict]:
    """What is kept."""
    return json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}


def collect(options: argparse.Namespace) -> dict[str, dict]:
    """Measure what is asked for and missing."""
    now = state.fingerprint()
    store = HOME / f"{'quick' if options.quick else now}.json"
    if options.quick:
        store.unlink(missing_ok=True)
    kept = known(store)
    asked = {
        "logged": options.sets,
        "cells": options.sizes,
        "features": options.features,
        "counts": options.features,
    }
    wanted = [
        (kind, what, name)
        for kind, columns in asked.items()
        for what in columns
        for name in (tables.QUICK if options.quick else tables.ROWS[kind])
    ]
    for kind, what, name in wanted:
        key = f"{kind} {what}: {name}"
        if (options.only and name not in options.only) or (key in kept and not options.again):
            continue
        if state.fingerprint() != now:
            sys.exit("The code has changed since the first measurement: run this again.")
        reason = hopeless(kept, kind, what, name, options) if kind != "logged" else ""
        if reason:
            kept[key] = {"error": reason}
        else:
            kept[key] = measure(name, MAKERS[kind](what), options.limit, options.memory)
        sys.stderr.write(f"{key}: {kept[key]}\n")
        kept = known(store) | {key: kept[key]}  # with what another run measured in the meantime
        draft = store.with_suffix(".part")
        draft.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        draft.replace(store)
    return kept


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", nargs="*", type=int, default=tables.SIZES)
    parser.add_argument("--features", nargs="*", type=int, default=tables.FEATURES)
    parser.add_argument("--sets", nargs="*", default=tables.SETS)
    parser.add_argument("--only", nargs="+", choices=TASKS, metavar="METHOD")
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds a measurement")
    parser.add_argument("--memory", type=float, default=11.0, help="GiB of address space")
    parser.add_argument("--again", action="store_true", help="measure what is kept, too")
    parser.add_argument("--quick", action="store_true", help="some methods, up to 30,000 cells")
    HOME.mkdir(parents=True, exist_ok=True)
    options = parser.parse_args()
    if options.quick:
        parser.set_defaults(sizes=tables.QUICK_SIZES, features=(), sets=(), limit=QUICK_LIMIT)
        options = parser.parse_args()
    kept = tables.Kept(collect(options))
    (tables.write_quick if options.quick else tables.write)(kept, options)
    figures.write("speed_quick" if options.quick else "speed", kept)


if __name__ == "__main__":
    main()
