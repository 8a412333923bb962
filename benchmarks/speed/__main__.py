"""Time and memory of every function from a file, and of scanpy's nearest, to a million cells.

    python -m benchmarks.speed [--sizes 10000 100000 ...] [--only NAME ...] [--limit SECONDS]

Every measurement is a process of its own (`tasks.py`), with a limit of time and of memory, and is
kept in `.cache/speed`, in one file for each state of the code and of the rivals: a second run
measures only what is missing, or, with `--again`, everything that it was asked for.  It stops where
the code changes while it runs.  What was stopped at a size is not tried at larger ones.  The table
shows all that is kept of the present state.  Files of cells, of 8 GB at a million, are removed at
the end; `--keep` keeps them.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .. import store, tables
from ..methods import ours
from ..tables import section
from . import HOME, OPENED, cells_file, remove, tasks

if TYPE_CHECKING:
    import argparse

SIZES = (10_000, 100_000, 1_000_000)
#: Cells that are read from other containers, too, and by which calls.
ELSEWHERE = 100_000
PASSES = (tasks.FRESH, f"{tasks.EVALUATION}, first", tasks.EVALUATION, "explain_panel")
#: In the picture: ours, black, and others.
_OURS = {
    tasks.FRESH: "-",
    f"{tasks.EVALUATION}, first": "-.",
    "explain_panel": ":",
    f"{tasks.REPORT}, without UMAPs": "--",
}
_OTHERS = tuple(name for name, task in tasks.TASKS.items() if task.place is None)
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
RIVALS = ("numpy", "scipy", "scikit-learn", "numba", "anndata", "scanpy", "triku", "hotspotsc")
_WALL = 6  # times the limit of processor time


def fingerprint() -> str:
    """Return what changes with the package, with what is measured, and with the rivals."""
    scripts = [*Path(__file__).parent.glob("*.py"), *Path(ours.__file__).parent.glob("*.py")]
    told = [ours.package_digest(), *map(tables.installed, RIVALS)]
    return store.digest("".join([*told, *(one.read_text("utf-8") for one in sorted(scripts))]))


def measure(name: str, path: Path, place: str, limit: float, memory: float) -> dict:
    """Return seconds, CPU seconds and GiB, or why there are none."""
    most = int(memory * 2**30)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.speed.tasks", name, path, place, str(limit)],
            capture_output=True,
            text=True,
            timeout=_WALL * limit,
            check=False,
            cwd=tables.HOME.parent,
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


def hopeless(kept: dict, size: int, name: str) -> bool:
    """Return whether a call was stopped at a smaller size, or is not for so many cells."""
    few = name in tasks.FOR_FEW and size > SIZES[1]
    return few or any("error" in kept.get(f"{n}: {name}", {}) for n in SIZES if n < size)


def asked(options: argparse.Namespace) -> list[tuple[str, int, str, str]]:
    """Return key, size, name and container of each measurement."""
    found = [
        (f"{size}: {name}", size, name, tasks.TASKS[name].place or "memory")
        for size in options.sizes
        for name in options.only
    ]
    if ELSEWHERE in options.sizes:
        found += [
            (f"{place}: {name}", ELSEWHERE, name, place)
            for place in OPENED
            for name in PASSES
            if name in options.only
        ]
    return found


def collect(options: argparse.Namespace) -> dict[str, dict]:
    """Measure what is asked for and missing."""
    now = fingerprint()
    kept_in = HOME / f"{now}.json"
    kept = store.read(kept_in)
    for key, size, name, place in asked(options):
        if key in kept and not options.again:
            continue
        if fingerprint() != now:
            sys.exit("The code has changed since the first measurement: run this again.")
        if hopeless(kept, size, name):
            found = {"error": "not run"}
        else:
            path = cells_file(size, place)
            found = measure(name, path, place, options.limit, options.memory)
        tables.say(f"{key}: {found}")
        kept = store.read(kept_in) | {key: found}  # with what another run measured meanwhile
        store.write(kept_in, kept)
    return kept


def shown(found: dict, of: str) -> str:
    """Return a figure of a measurement, or why there is none."""
    return found.get("error") or (f"{found[of]:.3g}" if found else "")


def table(kept: dict[str, dict], of: str) -> pd.DataFrame:
    """Return calls by sizes, and the power of the number of cells by which a figure grew last."""

    def growth(name: str) -> str:
        values = of_cells(kept, name, of).dropna()
        if len(values) < 2:
            return ""
        steps = np.diff(np.log10(values)) / np.diff(np.log10(values.index))
        return f"{steps[-1]:.2f}"

    columns = {
        f"{size:,}": {name: shown(kept.get(f"{size}: {name}", {}), of) for name in tasks.TASKS}
        for size in SIZES
    }
    return pd.DataFrame(columns | {"power": {name: growth(name) for name in tasks.TASKS}})


def of_cells(kept: dict[str, dict], name: str, of: str) -> pd.Series:
    """Return a figure of a call by the number of cells."""
    found = {n: kept.get(f"{n}: {name}", {}).get(of, np.nan) for n in SIZES}
    return pd.Series(found, dtype=float)


def elsewhere(kept: dict[str, dict]) -> pd.DataFrame:
    """Return seconds and GiB of calls by containers."""
    titles = {"cpu": "s", "peak": "GiB"}
    return pd.DataFrame(
        {
            f"{name} ({unit})": {
                place: shown(kept.get(f"{place}: {name}", {}), of) for place in OPENED
            }
            for name in PASSES
            for of, unit in titles.items()
        }
    )


def write(kept: dict[str, dict], options: argparse.Namespace) -> None:
    """Write all tables."""
    tables.write(
        "speed",
        table(kept, "cpu"),
        section("Wall time (s)", table(kept, "seconds")),
        section("Peak memory of the process (GiB)", table(kept, "peak")),
        section(f"Containers of {ELSEWHERE:,} cells", elsewhere(kept)),
        limit=f"{options.limit:g}",
        memory=f"{options.memory:g}",
    )


def plot(kept: dict[str, dict]) -> None:
    """Draw time and memory against cells, all axes logarithmic; ours are black."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True)
    every = (*_OURS, *_OTHERS)
    titles = {"cpu": "processor time (s)", "peak": "peak memory (GiB)"}
    for axis, (of, title) in zip(axes, titles.items(), strict=True):
        for number, method in enumerate(every):
            values = of_cells(kept, method, of).dropna()
            own = method in _OURS
            axis.plot(
                values.index,
                values,
                linestyle=_OURS.get(method, "-"),
                label=method,
                color="black" if own else mpl.colormaps["tab10"].colors[number - len(_OURS)],
                marker=".",
                linewidth=2 if own else 1.2,
                zorder=3 if own else 2,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks(SIZES, ["10k", "100k", "1M"])
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.3)
    figure.supxlabel("cells")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right", fontsize=8)
    figure.savefig(tables.RESULTS / "speed.png", dpi=120)


def main() -> None:
    """Measure and write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument(
        "--only", nargs="+", choices=tasks.TASKS, default=list(tasks.TASKS), metavar="NAME"
    )
    parser.add_argument("--limit", type=float, default=600.0, help="CPU seconds a measurement")
    parser.add_argument("--memory", type=float, default=20.0, help="GiB of address space")
    parser.add_argument("--again", action="store_true", help="measure what is kept, too")
    parser.add_argument("--keep", action="store_true", help="keep the files of cells")
    options = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    try:
        kept = collect(options)
    finally:
        if not options.keep:
            remove()
    write(kept, options)
    plot(kept)


if __name__ == "__main__":
    main()
