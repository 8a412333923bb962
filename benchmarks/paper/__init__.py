"""What the paper's benchmarks share: the methods under one call, repeated runs, bold, plots."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING

import joblib
import numpy as np
import pandas as pd
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from glfs_bio.rivals import SparsePCA

from .. import tables
from ..methods import ours

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

#: Our name of a method, and the paper's.
METHODS = {
    "glfs": "GLFS (2014), full rank",
    "glfs_default": "glfs_bio",
    "lapdofs": "LapDOFS",
    "lapaofs": "LapAOFS",
    "laplacian_score": "Laplacian Score",
    "q_alpha": "Q−α",
    "sparse_pca": "SPCA",
    "sparse_pca_4": "SPCA, 4 components",
    "variance": "variance",
}
ALPHA = 0.05


def ranked(
    values: NDArray[np.float64], n_features: int, method: str, **options: object
) -> tuple[NDArray[np.intp], dict] | None:
    """Rank the features at full rank, everything else at its default.

    Returns the ranks, 1 the best, and what the selection tells; None where a method gives up.
    ``glfs_default`` is what :func:`glfs_bio.pp.select_genes` does unless told otherwise.
    """
    if method == "glfs_default":
        method = "glfs"
    else:
        options["n_comps"] = None
        if method == "glfs":
            options.setdefault("objective", "exact")
    ranker = SparsePCA(n_components=4) if method == "sparse_pca_4" else method
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return ours.ranked(values, n_features, method=ranker, **options)
    except ValueError as error:
        sys.stderr.write(f"{method} failed on {values.shape}: {error}\n")
        return None


def best(ranks: NDArray[np.intp], n_features: int) -> NDArray[np.intp]:
    """Return the best features, best first."""
    return np.argsort(ranks, kind="stable")[:n_features]


def arguments(description: str) -> argparse.ArgumentParser:
    """Return the options that every table has."""
    parser = tables.parser(description)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument(
        "--resume", action="store_true", help="take the rows that an earlier run left"
    )
    return parser


def asks_for_all(parser: argparse.ArgumentParser, options: argparse.Namespace) -> bool:
    """Return whether options ask for the whole table."""
    return all(
        value == parser.get_default(name)
        for name, value in vars(options).items()
        if name not in ("jobs", "resume")
    )


def collect(
    name: str, tasks: list[tuple], run: Callable[..., list[dict]], *, jobs: int, resume: bool
) -> pd.DataFrame:
    """Return rows of all tasks with their commits.

    Each is appended to a file of `.cache` as it comes, where nothing is deleted; of a task that ran
    several times the last rows are taken.
    """
    file = tables.CACHE / "paper" / f"{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    asked = [repr(task) for task in tasks]
    done = set(pd.read_csv(file)["task"]) if resume and file.exists() else set()
    waiting = [task for task in tasks if repr(task) not in done]
    commit = tables.commit()
    calls = (joblib.delayed(_timed)(run, task) for task in waiting)
    for task, rows in joblib.Parallel(jobs, return_as="generator_unordered")(calls):
        run_of = {"task": repr(task), "commit": commit, "ended": time.time()}
        frame = pd.DataFrame([run_of | row for row in rows])
        frame.to_csv(file, mode="a", index=False, header=not file.exists())
        tables.say(f"{name} {task}")
    rows = pd.read_csv(file)
    rows = rows[rows["task"].isin(asked)]
    return in_order(rows[rows["ended"] == rows.groupby("task")["ended"].transform("max")])


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows in the order of the methods."""
    order = {method: place for place, method in enumerate(METHODS)}
    places = rows["method"].map(order).fillna(len(order))
    return rows.iloc[np.argsort(places, kind="stable")]


def complete(rows: pd.DataFrame, repeated: str) -> pd.DataFrame:
    """Return rows of the draws or seeds on which every method ran."""
    ran = rows.groupby(repeated)["method"].nunique()
    return rows[rows[repeated].isin(ran.index[ran == ran.max()])]


def _timed(run: Callable[..., list[dict]], task: tuple) -> tuple[tuple, list[dict]]:
    return task, run(*task)


def best_of(samples: dict[str, NDArray[np.float64]]) -> set[str]:
    """Return the method of largest mean and those that a paired t-test does not find below it.

    A method without a figure in one of the samples is not among them.
    """
    complete = {name: values for name, values in samples.items() if np.isfinite(values).all()}
    if not complete:
        return set()
    first = max(complete, key=lambda name: complete[name].mean())
    return {name for name, values in complete.items() if not _below(values, complete[first])}


def _below(values: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    differences = best - values
    if len(values) < 2 or np.ptp(differences) == 0:
        return bool(differences.mean() > 0)
    return bool(stats.ttest_rel(best, values).pvalue < ALPHA)


def cell(mean: float, paper: float | None, *, bold: bool, digits: int = 3) -> str:
    """Return our figure, bold or not, and the paper's in brackets."""
    if not np.isfinite(mean):
        return "–"
    text = f"{mean:.{digits}f}".replace("0.", ".", 1) if mean < 1 else f"{mean:.{digits}f}"
    text = f"**{text}**" if bold else text
    return text if paper is None else f"{text} ({paper:.{digits}f})".replace("(0.", "(.")


#: Row of what the original GLFS is above the paper's figure for it, or below.
DIFFERENCE = f"{METHODS['glfs']}, minus the paper's"


def difference(mean: float, paper: float | None) -> str:
    """Return how far a mean is above the figure of the paper, or below."""
    return "–" if paper is None or not np.isfinite(mean) else f"{mean - paper:+.3f}"


def plot(axes: Axes, table: pd.DataFrame, x: str, y: str, title: str, *, scale: str) -> None:
    """Draw the mean of `y` against `x`, a line a method, error bars of one standard deviation."""
    for method in [m for m in METHODS if m in set(table["method"])]:
        groups = table[table["method"] == method].groupby(x)[y]
        axes.errorbar(
            groups.mean().index,
            groups.mean(),
            yerr=groups.std(),
            label=METHODS[method],
            marker="o",
            markersize=3,
            capsize=2,
            linewidth=2.5 if method.startswith("glfs") else 1,
        )
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.set_xscale(scale)


def legend(figure: Figure, axes: Axes) -> None:
    """Name the lines of `axes` below all panels, where they hide nothing."""
    lines, methods = axes.get_legend_handles_labels()
    figure.legend(lines, methods, loc="outside lower center", ncols=5, frameon=False)
