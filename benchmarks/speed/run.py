"""Time and memory of select_genes and of what people run beside it, from 3,000 to a million cells.

    python benchmarks/speed/run.py [--sizes 3000 10000 ...] [--only METHOD ...] [--limit SECONDS]

Every measurement is a process of its own (`task.py`), with a limit of time and of memory, and is
kept in `benchmarks/.cache/speed`: a second run measures only what is missing, or, with `--again`,
everything that it was asked for.  The table shows all that is kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
import solver
import synthetic
from task import TASKS

from glfs_bio.datasets import simulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

HOME = Path(__file__).resolve().parents[1] / ".cache" / "speed"
SIZES = (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FEATURES = (1_000, 3_000, 10_000, 30_000, 60_004)
N_SAMPLES = 400
SETS = ("pbmc3k_2638", "kang_ifnb13999")
OF_CELLS = [name for name in TASKS if "full rank" not in name]
OF_FEATURES = [
    "select_genes",
    "LapAOFS (greedy)",
    "select_genes, full rank",
    "LapAOFS (greedy), full rank",
    "triku",
    "hotspot",
]
#: Beyond so many cells a method is not tried.
MOST_CELLS = {"triku": 100_000, "hotspot": 100_000}


def cells(n_cells: int) -> Path:
    """File of synthetic cells."""
    path = HOME / f"{n_cells}.h5ad"
    larger = HOME / f"{max(SIZES)}.h5ad"
    synthetic.write(path, n_cells, source=larger if larger.exists() else None)
    return path


def logged(name: str) -> Path:
    """A development set, filtered and logarithmised."""
    path = HOME / f"{name}.h5ad"
    if not path.exists():
        adata = report.data(name)
        sc.pp.filter_genes(adata, min_cells=3)
        sc.pp.normalize_total(adata, target_sum=1e4)
        sc.pp.log1p(adata)
        adata.write_h5ad(path)
    return path


def features(n_features: int) -> Path:
    """400 samples of the paper's simulation: four signals, the rest noise."""
    path = HOME / f"d{n_features}.h5ad"
    if not path.exists():
        simulated = simulate(n_samples=N_SAMPLES, n_noise=n_features - 4, random_state=0)
        ad.AnnData(np.asarray(simulated.X, dtype=np.float32)).write_h5ad(path)
    return path


def measure(name: str, path: Path, limit: float, memory: float) -> dict:
    """Seconds, CPU seconds and GiB, or why there are none."""
    command = [sys.executable, str(Path(__file__).with_name("task.py")), name, str(path)]
    most = int(memory * 2**30)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),
        )
    except subprocess.TimeoutExpired:
        return {"error": f"> {limit:g} s"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        out = "MemoryError" in done.stderr or done.returncode < 0
        return {"error": f"> {memory:g} GiB" if out else last[:60]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def collect(options: argparse.Namespace) -> dict[str, dict]:
    """Measure what is asked for and missing."""
    store = HOME / "results.json"
    kept = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    wanted = [(size, name, cells) for size in options.sizes for name in OF_CELLS]
    wanted += [(name, task, logged) for name in options.sets for task in OF_CELLS]
    wanted += [(d, name, features) for d in options.features for name in OF_FEATURES]
    for what, name, make in wanted:
        key = f"{make.__name__} {what}: {name}"
        if (options.only and name not in options.only) or (key in kept and not options.again):
            continue
        if make is cells and what > MOST_CELLS.get(name, np.inf):
            kept[key] = {"error": "not tried"}
        else:
            kept[key] = measure(name, make(what), options.limit, options.memory)
        sys.stderr.write(f"{key}: {kept[key]}\n")
        store.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return kept


def shown(found: dict | None, of: str) -> str:
    """A cell of the table."""
    if found is None:
        return ""
    return found.get("error") or f"{found[of]:.3g}"


def table(kept: dict[str, dict], of: str, kind: str, columns, names) -> pd.DataFrame:
    """Methods × sizes."""
    return pd.DataFrame(
        {
            f"{column:,}" if isinstance(column, int) else column: {
                name: shown(kept.get(f"{kind} {column}: {name}"), of) for name in names
            }
            for column in columns
        }
    )


def slope(kept: dict[str, dict], name: str, of: str) -> str:
    """Exponent of n from 10,000 cells on, fitted in log–log; how far it goes."""
    found = {n: kept.get(f"cells {n}: {name}", {}).get(of) for n in SIZES if n >= 10_000}
    known = {n: value for n, value in found.items() if value}
    if len(known) < 2:
        return f"{name}: not enough sizes"
    exponent = np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)[0]
    return f"{name}: time ~ n^{exponent:.2f} from 10,000 to {max(known):,} cells"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--features", nargs="*", type=int, default=FEATURES)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--only", nargs="+", choices=TASKS, metavar="METHOD")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds a measurement")
    parser.add_argument("--memory", type=float, default=16.0, help="GiB of address space")
    parser.add_argument("--again", action="store_true", help="measure what is kept, too")
    HOME.mkdir(parents=True, exist_ok=True)
    kept = collect(parser.parse_args())
    own = [name for name in OF_CELLS if name.startswith("select_genes")]
    sections = [
        "## Peak memory of the process (GiB)",
        table(kept, "peak", "cells", SIZES, OF_CELLS).to_markdown(),
        "## CPU time (s)",
        table(kept, "cpu", "cells", SIZES, OF_CELLS).to_markdown(),
        "## Real sets (s)",
        table(kept, "seconds", "logged", SETS, OF_CELLS).to_markdown(),
        f"## {N_SAMPLES} samples, number of features (s)",
        table(kept, "seconds", "features", FEATURES, OF_FEATURES).to_markdown(),
        "## Growth, by CPU time",
        "\n".join(f"- {slope(kept, name, 'cpu')}" for name in own),
        "## Solver",
        solver.told(),
        "Synthetic cells × 20,000 genes, 5 % of the entries not zero (`synthetic.py`); 100 genes. "
        "Each figure is one call in a new process, compilation by numba included, reading the file "
        "into memory not. Empty: not measured yet.",
    ]
    report.write(
        "speed",
        "Time (s) of select_genes and of what is run beside it",
        table(kept, "seconds", "cells", SIZES, OF_CELLS),
        *sections,
    )


if __name__ == "__main__":
    main()
