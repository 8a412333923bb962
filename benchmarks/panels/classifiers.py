"""Which genes a classifier is best given, by the number of samples: the table behind its defaults.

    python benchmarks/panels/classifiers.py [--sets pbmc3k_2638 ...] [--seeds 0 1 ...]

With `--sets` or `--seeds` the tables are printed; without them they are written to
`benchmarks/results`.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc
from run import say
from sets import load
from sklearn.base import clone
from sklearn.metrics import f1_score

from glfs_bio import GLFS, datasets
from glfs_bio.estimators import GLFSLapRLSClassifier, LapRLSClassifier, SupervisedGLFS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

if TYPE_CHECKING:
    from collections.abc import Iterable

SETS = ("pbmc3k_2638", "baron_human1_1937", "kang_ifnb13999")
SEEDS = range(3)
#: Samples that are there at all, each with its label.
SAMPLES = (50, 100, 200, 400, 800)
#: Full rank of more takes minutes.
FULL_RANK = (50, 100, 200)
#: Labels a type, of all cells but those that are tested.
LABELS = (5, 20)
SIZES = (10, 25, 50)
N_VARIABLE = 2000
N_COMPS = 50
FOLD_SEEDS = range(3)
MARKS = ("accuracy", "macro-F1", "seconds")

RULES = {
    "classes": SupervisedGLFS(),
    "neighbors": GLFS(),
    "labels": GLFS(preserve="labels"),
}
#: The classifier of `benchmarks/paper/leukaemia.py`.
PAPERS = LapRLSClassifier(graph="classes", lambda1=1.0)


def cells(name: str) -> tuple:
    """Variable genes of a set, and its labels."""
    adata = load(name)
    sc.pp.highly_variable_genes(adata, n_top_genes=N_VARIABLE)
    values = adata.X[:, adata.var["highly_variable"].to_numpy()].tocsr()
    return values, np.unique(adata.obs["label"].astype(str), return_inverse=True)[1]


def drawn(labels: np.ndarray, seed: int, *, samples: int = 0, labels_per_type: int = 0) -> tuple:
    """Some samples, or half of all with some labels a type, −1 elsewhere; and the cells to test."""
    order = np.random.default_rng(seed).permutation(len(labels))
    inside, outside = np.split(order, [samples or len(order) // 2])
    given = labels[inside]
    if labels_per_type:
        place = pd.Series(given).groupby(given).cumcount().to_numpy()
        given = np.where(place < labels_per_type, given, -1)
    return inside, given, outside[np.isin(labels[outside], given)]


def one(name: str, data: tuple, seed: int, n_comps: int | None, **how) -> list[dict]:
    """Every rule and size on the same samples."""
    values, labels = data
    inside, given, outside = drawn(labels, seed, **how)
    found = []
    for (rule, selector), size in product(RULES.items(), SIZES):
        selector.set_params(n_comps=n_comps)
        begin = time.process_time()
        model = GLFSLapRLSClassifier(size, selector=selector).fit(values[inside], given)
        seconds = time.process_time() - begin
        predicted = model.predict(values[outside])
        place = {"set": name, "seed": seed, "components": str(n_comps or "all"), **how}
        found.append(
            {**place, "rule": rule, "genes": size, "seconds": seconds}
            | {"accuracy": np.mean(predicted == labels[outside])}
            | {"macro-F1": f1_score(labels[outside], predicted, average="macro")}
        )
    told = pd.DataFrame(found).groupby("rule", sort=False)[["accuracy", "seconds"]].mean().round(3)
    say(f"{name}, seed {seed}, {how}, {n_comps} components: {told.T.to_dict()}")
    return found


def collect(sets: list[str], seeds: list[int]) -> pd.DataFrame:
    """One row a draw and rule."""
    rows = []
    for name in sets:
        data = cells(name)
        for seed, samples in product(seeds, SAMPLES):
            rows += one(name, data, seed, N_COMPS, samples=samples)
        for seed, number in product(seeds, LABELS):
            rows += one(name, data, seed, N_COMPS, labels_per_type=number)
        for samples in FULL_RANK:
            rows += one(name, data, seeds[0], None, samples=samples)
    return pd.DataFrame(rows)


def table(values: pd.DataFrame, column: str, *rows: str) -> pd.DataFrame:
    """Mean over the draws, a column a rule."""
    found = values.pivot_table(column, list(rows), "rule")[list(RULES)]
    found.index = found.index.to_frame().astype(str).agg(", ".join, axis=1)
    return found.round(2 if column == "seconds" else 3).rename_axis(", ".join(rows))


def section(title: str, values: pd.DataFrame, column: str, *rows: str) -> str:
    """The same as Markdown."""
    return f"## {title}\n\n{table(values, column, *rows).to_markdown()}"


def golub() -> pd.DataFrame:
    """Every rule on 38 training samples, by ten-fold cross-validation, and on 34 others."""
    adata = datasets.golub()
    train = (adata.obs["split"] == "train").to_numpy()
    y = (adata.obs["label"] == "AML").to_numpy().astype(int)
    raw = adata.X.astype(float)
    forms = {"log10": np.log10(np.clip(raw, 100.0, 16000.0)), "raw": raw}
    ways = {}
    for (rule, selector), n_comps in product(RULES.items(), (None, N_COMPS)):
        of_rank = clone(selector).set_params(n_comps=n_comps)
        ways[f"{rule}, {n_comps or 'all'} components"] = of_rank, None
    ways["classes, leukaemia.md"] = SupervisedGLFS(n_comps=None), PAPERS
    found = {}
    for (form, X), (way, (selector, classifier)) in product(forms.items(), ways.items()):
        rows = []
        for seed in FOLD_SEEDS:
            model = GLFSLapRLSClassifier(
                selector=selector, classifier=classifier, random_state=seed
            )
            begin = time.process_time()
            model.fit(X[train], y[train])
            rows.append(
                {
                    "CV errors of 38": model.cv_errors_.min(),
                    "test errors of 34": np.sum(model.predict(X[~train]) != y[~train]),
                    "genes": len(model.genes_),
                    "seconds": round(time.process_time() - begin, 1),
                }
            )
        found[f"{form}, {way}"] = pd.DataFrame(rows).astype(str).agg(", ".join)
        say(f"Golub, {form}, {way}: {found[f'{form}, {way}'].to_dict()}")
    return pd.DataFrame(found).T


def _told(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def main() -> None:
    """Draw, fit, test, write."""
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET")
    asked.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), metavar="SEED")
    options = asked.parse_args()
    values = collect(options.sets, options.seeds)
    known = values.dropna(subset="samples").astype({"samples": int})
    reduced = known[known["components"] == str(N_COMPS)]
    first = table(reduced, "accuracy", "samples", "genes")
    full = known[(known["seed"] == options.seeds[0]) & known["samples"].isin(FULL_RANK)]
    few = values.dropna(subset="labels_per_type").astype({"labels_per_type": int})
    notes = [
        "Mean accuracy on the other cells, by the number of samples and of genes, above. Genes of "
        f"the {N_VARIABLE:,} most variable of each set, LapRLSClassifier on them; "
        f"draws of {', '.join(options.sets)} with the seeds {_told(options.seeds)}. Selectors: "
        'classes: SupervisedGLFS, neighbors: GLFS, labels: GLFS(preserve="labels"), each in '
        f"{N_COMPS} components. Tested on the cells outside the draw whose type is in it. Seconds "
        "are of the processor, for selection and classifier.",
        section("macro-F1", reduced, "macro-F1", "samples", "genes"),
        section("Seconds", reduced, "seconds", "samples"),
        *(
            section(f"{mark}, by set", reduced, mark, "set", "samples")
            for mark in ("accuracy", "macro-F1")
        ),
        "## Few labels among many samples\n\nHalf of the cells, some of each type with a label; "
        "tested on the other half.",
        *(section(mark, few, mark, "labels_per_type", "genes") for mark in MARKS),
        section("accuracy, by set", few, "accuracy", "set", "labels_per_type"),
        f"## Full rank and {N_COMPS} components\n\nThe first draw of each set.",
        *(section(mark, full, mark, "samples", "components") for mark in MARKS),
    ]
    if options.sets == list(SETS) and options.seeds == list(SEEDS):
        notes.append(
            "## Leukaemia\n\n38 training and 34 test samples, all 7,129 genes, 1 to 30 genes by "
            f"ten-fold cross-validation with the seeds {_told(FOLD_SEEDS)}. The row of "
            "`leukaemia.md` has the classifier of that table, on the graph of the classes.\n\n"
            + golub().to_markdown()
        )
        title = "Genes for a classifier: three ways to choose them, by the number of samples"
        report.write("classifiers", title, first, *notes)
    else:
        sys.stdout.write("\n\n".join([first.to_markdown(), *notes, ""]))


if __name__ == "__main__":
    main()
