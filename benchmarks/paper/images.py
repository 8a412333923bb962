"""The object recognition tables of the paper: k-means and nearest neighbours in 100 pixels."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import rivals
from rivals import report
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

if TYPE_CHECKING:
    import argparse

N_PIXELS = 100
SETS = {"MNIST": "mnist_1000_1000", "COIL20": "coil20", "AT&T": "orl400"}
CLASSES = {"MNIST": (3, 5, 7, 9), "COIL20": (5, 10, 15), "AT&T": (10, 20, 30)}
#: NMI of the paper, in the order of CLASSES, and accuracy, in the order of SETS.
PAPER_NMI = {
    "glfs": (0.596, 0.506, 0.483, 0.482, 0.792, 0.789, 0.778, 0.756, 0.740, 0.750),
    "lapdofs": (0.590, 0.493, 0.483, 0.479, 0.789, 0.777, 0.770, 0.739, 0.737, 0.735),
    "lapaofs": (0.569, 0.504, 0.484, 0.474, 0.774, 0.785, 0.776, 0.728, 0.735, 0.736),
    "laplacian_score": (0.471, 0.399, 0.387, 0.393, 0.735, 0.717, 0.695, 0.728, 0.690, 0.684),
    "q_alpha": (0.358, 0.360, 0.372, 0.376, 0.674, 0.684, 0.669, 0.629, 0.649, 0.661),
    "sparse_pca": (0.504, 0.487, 0.379, 0.468, 0.764, 0.707, 0.689, 0.665, 0.703, 0.721),
}
PAPER_1NN = {
    "glfs": (0.896, 1.000, 0.940),
    "lapdofs": (0.896, 1.000, 0.903),
    "lapaofs": (0.893, 1.000, 0.893),
    "laplacian_score": (0.749, 0.877, 0.863),
    "q_alpha": (0.850, 0.991, 0.840),
    "sparse_pca": (0.821, 0.924, 0.876),
}
CELLS = [(name, k) for name in SETS for k in CLASSES[name]]


def images(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of 32 × 32 and labels; MNIST's 28 × 28 get a margin, as the paper's have."""
    adata = report.data(SETS[name])
    pixels = np.asarray(adata.X, dtype=float)
    if name == "MNIST":
        squares = pixels.reshape(-1, 28, 28)
        pixels = np.pad(squares, ((0, 0), (2, 2), (2, 2))).reshape(len(pixels), -1)
    return pixels, adata.obs["label"].astype(str).to_numpy()


def clustered(
    name: str, n_classes: int, draw: int, methods: tuple[str, ...], starts: int, init: str
) -> list[dict]:
    """NMI of every method on the images of some classes drawn at random."""
    pixels, labels = images(name)
    rng = np.random.default_rng([draw, n_classes])
    chosen = rng.choice(np.unique(labels), n_classes, replace=False)
    some = np.isin(labels, chosen)
    pixels, labels = pixels[some], labels[some]
    rows = []
    for method in methods:
        begin = time.perf_counter()
        ranking = rivals.ranked(pixels, N_PIXELS, method)
        seconds = time.perf_counter() - begin
        row = {"set": name, "k": n_classes, "draw": draw, "method": method, "seconds": seconds}
        for start in range(starts):
            found = (np.nan, np.nan)
            if ranking is not None:
                seen = pixels[:, ranking.order[:N_PIXELS]]
                found = nmi(seen, labels, n_classes, start, init)
            rows.append({**row, "start": start, "NMI": found[0], "inertia": found[1]})
    return rows


def nmi(
    seen: np.ndarray, labels: np.ndarray, n_clusters: int, start: int, init: str
) -> tuple[float, float]:
    """Mutual information over the larger entropy (Xu et al. 2003), and inertia, of one start."""
    model = KMeans(n_clusters, init=init, n_init=1, random_state=start).fit(seen)
    found = normalized_mutual_info_score(labels, model.labels_, average_method="max")
    return found, model.inertia_


def classified(name: str, method: str, objective: str) -> list[dict]:
    """Whether the nearest other image has an image's label, for all images of a set."""
    pixels, labels = images(name)
    begin = time.perf_counter()
    options = {} if objective == "exact" else {"objective": objective}
    seen, kkt = pixels, np.nan
    if method != "all pixels":
        ranking = rivals.ranked(pixels, N_PIXELS, method, **options)
        if ranking is None:
            return [{"set": name, "method": method, "objective": objective, "accuracy": np.nan}]
        seen, kkt = pixels[:, ranking.order[:N_PIXELS]], ranking.info.get("kkt", np.nan)
    seconds = time.perf_counter() - begin
    accuracy = report.neighbour_accuracy(seen, labels, 1, n_comps=0)
    row = {"set": name, "method": method, "objective": objective, "accuracy": accuracy}
    return [{**row, "n": len(labels), "KKT": kkt, "seconds": seconds}]


def main() -> None:
    """Both tables."""
    parser = rivals.arguments(__doc__)
    parser.add_argument("--draws", type=int, default=20, help="draws of classes")
    parser.add_argument("--starts", type=int, default=10, help="starts of k-means")
    parser.add_argument("--init", choices=("random", "k-means++"), default="random")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--classes", type=int, nargs="+", help="only these numbers of classes")
    parser.add_argument("--tables", nargs="+", choices=("nmi", "1nn"), default=("nmi", "1nn"))
    options = parser.parse_args()
    running = {"jobs": options.jobs, "resume": options.resume}
    methods = tuple(options.methods)
    if "nmi" in options.tables:
        tasks = [
            (name, k, draw, methods, options.starts, options.init)
            for name, k in CELLS
            if name in options.sets and k in (options.classes or CLASSES[name])
            for draw in range(options.draws)
        ]
        rows = rivals.collect("images_nmi", tasks, clustered, **running)
        write_nmi(rows, options)
    if "1nn" in options.tables:
        tasks = [(name, method, "exact") for name in options.sets for method in methods]
        tasks += [(name, "all pixels", "exact") for name in options.sets]
        if "AT&T" in options.sets and "glfs" in methods:
            tasks.append(("AT&T", "glfs", "printed"))
        write_1nn(rivals.collect("images_1nn", tasks, classified, **running))


def write_nmi(rows: pd.DataFrame, options: argparse.Namespace) -> None:
    """Mean NMI over all starts, as in the paper, and of the best start of every draw."""
    every, told = compared(rows)
    best = rows.loc[rows.groupby(["task", "method"], sort=False)["inertia"].idxmin().dropna()]
    of_best, told_best = compared(best)
    seconds = rows.drop_duplicates(["task", "method"]).groupby(["set", "k", "method"], sort=False)
    report.write(
        "images_nmi",
        "k-means in the 100 best pixels: NMI, and the paper's in brackets",
        every,
        f"Mean over {options.draws} draws of k classes × {options.starts} starts ({options.init}). "
        f"Bold: the best, and what a paired t-test (α = {rivals.ALPHA}) over the draws, each the "
        "mean of its starts, does not find below it. NMI: mutual information over the larger "
        "entropy.",
        told,
        f"The start with the lowest inertia of the {options.starts} in every draw:",
        of_best.to_markdown(),
        told_best,
        "Mean seconds of a selection:\n\n"
        + seconds["seconds"].mean().unstack().rename(columns=rivals.METHODS).round(1).to_markdown(),
    )


def compared(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Table of means, bold where nothing is better, and how GLFS does in it."""
    columns, counts = {}, {"at or above the paper": 0, "not below a rival": 0, "cells": 0}
    for number, (name, k) in enumerate(CELLS):
        part = rows[(rows["set"] == name) & (rows["k"] == k)]
        if part.empty:
            continue
        wide = part.pivot_table("NMI", "draw", "method", sort=False, dropna=False)
        samples = {method: wide[method].to_numpy() for method in wide}
        best = rivals.best_of(samples)
        columns[f"{name} k={k}"] = {
            rivals.METHODS[method]: rivals.cell(
                np.nanmean(values) if np.isfinite(values).any() else np.nan,
                PAPER_NMI[method][number] if method in PAPER_NMI else None,
                bold=method in best,
            )
            for method, values in samples.items()
        }
        if "glfs" in samples:
            counts["cells"] += 1
            counts["not below a rival"] += "glfs" in best
            mean = samples["glfs"].mean().round(3)
            counts["at or above the paper"] += bool(mean >= PAPER_NMI["glfs"][number])
    told = "GLFS: " + ", ".join(f"{name}: {count}" for name, count in counts.items()) + "."
    return pd.DataFrame(columns), told


def write_1nn(rows: pd.DataFrame) -> None:
    """Accuracy on the three sets."""
    table, seconds = {}, {}
    for (method, objective), part in rows.groupby(["method", "objective"], sort=False):
        label = rivals.METHODS.get(method, method)
        label += ", printed objective" if objective == "printed" else ""
        for row in part.itertuples():
            paper = PAPER_1NN.get(method) if objective == "exact" else None
            number = list(SETS).index(row.set)
            best = rows[(rows["set"] == row.set) & rows["method"].isin(rivals.METHODS)]
            table.setdefault(label, {})[row.set] = rivals.cell(
                row.accuracy,
                None if paper is None else paper[number],
                bold=row.accuracy == best["accuracy"].max(),
            )
            seconds.setdefault(label, {})[row.set] = round(row.seconds, 1)
    report.write(
        "images_1nn",
        "Nearest neighbour, leave-one-out, with 100 pixels: accuracy, and the paper's in brackets",
        in_order(table),
        "Bold: the best of a set; every method gives one figure a set.  The paper prints the "
        "formula of the second objective, and does not say which it used.",
        "Seconds:\n\n" + in_order(seconds).to_markdown(),
        f"Largest KKT residual of GLFS: {rows['KKT'].max():.2g}.",
    )


def in_order(cells: dict[str, dict[str, object]]) -> pd.DataFrame:
    """One row a method, one column a set; a dash where it was not run."""
    table = pd.DataFrame(cells).T
    return table.where(table.notna(), "–")[[name for name in SETS if name in table]]


if __name__ == "__main__":
    main()
