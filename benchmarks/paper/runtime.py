"""Time of every method against the number of features and of samples, at full rank."""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import rivals
from rivals import report
from threadpoolctl import threadpool_info

from glfs_bio.datasets import simulate

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

FEATURES = (1000, 2000, 5000, 10_000, 20_000, 60_000)
SAMPLES = (100, 200, 400, 800)
N_SAMPLES, N_FEATURES, N_SELECTED = 400, 2000, 100
#: Seconds that a process may take before its work begins.
STARTING = 60.0


def timed(
    method: str, n_samples: int, n_noise: int, n_selected: int, limit: float
) -> tuple[float, float]:
    """Seconds from the matrix to the ranking, graph and problem included; NaN beyond the limit.

    Those on the wall, and those of the processor.

    Each run has a process of its own, since nothing else can be ended in the middle of a product.
    """
    context = multiprocessing.get_context("spawn")
    answer = context.SimpleQueue()
    process = context.Process(target=_run, args=(answer, method, n_samples, n_noise, n_selected))
    process.start()
    process.join(limit + STARTING)
    if process.is_alive():
        process.kill()
        process.join()
    seconds, of_processor = (np.nan, np.nan) if answer.empty() else answer.get()
    return (seconds, of_processor) if seconds <= limit else (np.nan, np.nan)


def _run(answer: SimpleQueue, method: str, n_samples: int, n_noise: int, n_selected: int) -> None:
    # What is imported at the first call is no part of the time.
    rivals.ranked(simulate(50, 16, sigma=0.2).X, 4, method)
    values = simulate(n_samples, n_noise, sigma=0.2).X
    begin = time.perf_counter(), time.process_time()
    ranking = rivals.ranked(values, n_selected, method)
    end = time.perf_counter(), time.process_time()
    taken = tuple(np.subtract(end, begin).tolist())
    answer.put((np.nan, np.nan) if ranking is None else taken)


def growing(method: str, by: str, sizes: tuple[int, ...], limit: float) -> list[dict]:
    """Seconds at growing size, until one run did not end within the limit."""
    rows = []
    for size in sizes:
        shape = (N_SAMPLES, size) if by == "features" else (size, N_FEATURES)
        seconds, cpu = timed(method, *shape, N_SELECTED, limit)
        rows.append({"method": method, "by": by, "size": size, "seconds": seconds, "cpu": cpu})
        if np.isnan(seconds):
            break
    return rows


def compared(n_noise: int, limit: float) -> list[dict]:
    """GLFS, for 4 and for 100 features, and LapAOFS for 100, on one problem."""
    runs = (("glfs", 4), ("glfs", 100), ("lapaofs", 100))
    rows = []
    for method, k in runs:
        seconds, cpu = timed(method, N_SAMPLES, n_noise, k, limit)
        row = {"method": method, "by": f"same {k}", "size": n_noise}
        rows.append({**row, "seconds": seconds, "cpu": cpu})
    return rows


def run(kind: str, *options: object) -> list[dict]:
    """One task of either kind."""
    return growing(*options) if kind == "growing" else compared(*options)


def main() -> None:
    """Two tables of seconds with slopes, and the ratio."""
    parser = rivals.arguments(__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--samples", type=int, nargs="*", default=SAMPLES)
    parser.add_argument(
        "--limit", type=float, default=600.0, help="seconds of a run; no larger size after"
    )
    parser.add_argument("--ratio", type=int, default=60_000, help="noise features; 0: no ratio")
    options = parser.parse_args()
    tasks = []
    for by, sizes in (("features", options.features), ("samples", options.samples)):
        tasks += [("growing", m, by, tuple(sizes), options.limit) for m in options.methods if sizes]
    if options.ratio:
        tasks.append(("compared", options.ratio, options.limit))
    rows = rivals.collect("runtime", tasks, run, jobs=options.jobs, resume=options.resume)
    sections = []
    for by in ("features", "samples"):
        part = rows[rows["by"] == by]
        if part.empty:
            continue
        fixed = f"{N_SAMPLES} samples" if by == "features" else f"{N_FEATURES} + 4 features"
        rivals.plot(
            f"runtime_{by}",
            part.rename(columns={"size": by}),
            by,
            "seconds",
            f"{N_SELECTED} features, {fixed}",
            logarithmic="xy",
            errors=False,
        )
        sections.append(f"## Seconds against {by}, {fixed}\n\n{table(part, options.limit)}")
        sections.append(f"![seconds against {by}](runtime_{by}.png)")
    same = rows[rows["by"].str.startswith("same")]
    ratio = pd.DataFrame(
        {"seconds": same["seconds"].to_numpy(), "of the processor": same["cpu"].to_numpy()},
        index=[
            f"{rivals.METHODS[method]}, {by.split()[1]} features"
            for method, by in zip(same["method"], same["by"], strict=True)
        ],
    )
    processor = ratio["of the processor"]
    ratio["LapAOFS, 100 features / this"] = processor.iloc[-1:].sum() / processor
    threads = max((library["num_threads"] for library in threadpool_info()), default=1)
    report.write(
        "runtime",
        f"Time at full rank, {N_SAMPLES} × {options.ratio + 4} in one run",
        ratio.round(2),
        *sections,
        f"Wall-clock seconds of one run each, neighbour graph included, {threads} threads of BLAS; "
        f"> marks what did not end within {options.limit:g} s; larger sizes were then not tried.  "
        "Slope: least squares of log seconds on log size; the ratio is one of processor time.  "
        "The paper claims that GLFS is linear in the number of features.",
    )


def table(part: pd.DataFrame, limit: float) -> str:
    """Seconds and slope of every method."""
    wide = part.pivot_table("seconds", "method", "size", sort=False, dropna=False)
    wide = wide.reindex(columns=sorted(wide.columns))
    slopes = {}
    for method, row in wide.iterrows():
        seen = row.dropna()
        if len(seen) > 1:
            x, y = np.log(seen.index.to_numpy(dtype=float)), np.log(seen.to_numpy())
            slopes[method] = np.polyfit(x, y, 1)[0]
    shown = wide.map("{:.2f}".format).where(wide.notna(), "–")
    for row in part[part["seconds"].isna()].itertuples():
        shown.loc[row.method, row.size] = f"> {limit:g}"
    shown["slope"] = pd.Series(slopes, dtype=float).round(2)
    return shown.rename(index=rivals.METHODS).to_markdown()


if __name__ == "__main__":
    main()
