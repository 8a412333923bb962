"""What others published on data that are here too, beside panels of glfs_bio.

    python -m benchmarks.published

gpsFISH's demonstration on its simulator, the panels of SpaceTx, and PERSIST's notebook.
`published.json` has their genes, and mean and standard deviation of what the simulator draws.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from anndata import AnnData
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import MultinomialNB

from . import tables
from .data import LABEL, SETS, load
from .instruments import counts, prepared
from .measures import neighbour_accuracy
from .methods import rivals
from .methods.ours import select_genes
from .tables import SEED, say, section

PUBLISHED = json.loads((tables.HOME / "published.json").read_text(encoding="utf-8"))
DRAWS, SPLITS, FOLDS = 20, 5, 5
#: A gene is a candidate of gpsFISH if cells of some type have so many counts of it on average.
FEWEST_COUNTS = 1.0
SIZES = (32, 64, 128, 256)
#: What PERSIST's notebook prints for its validation cells, the first fold of five.
PERSIST = {"accuracy": 0.90, "macro-F1": 0.74}

Ranker = Callable[[AnnData, int], np.ndarray]
OURS = {"glfs_bio": select_genes, "glfs_bio, labels": partial(select_genes, preserve=LABEL)}
RIVALS = {
    "Wilcoxon markers": partial(rivals.markers, test="wilcoxon"),
    "largest variance": rivals.variance,
}
METHODS: dict[str, Ranker] = OURS | RIVALS


def estimate(values: Iterable[float]) -> str:
    """Return the mean of repetitions, and its standard error."""
    values = np.asarray(list(values), dtype=float)
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def labels_of(adata: AnnData) -> np.ndarray:
    """Return the type of every cell."""
    return adata.obs[LABEL].astype(str).to_numpy()


def candidates(adata: AnnData) -> np.ndarray:
    """Return whether gpsFISH would consider each gene, by its counts and its name."""
    types = pd.get_dummies(labels_of(adata)).to_numpy(dtype=float)
    means = adata.layers["counts"].T @ types / types.sum(axis=0)
    names = adata.var_names
    unnamed = names.str.contains(".", regex=False) | names.str.upper().str.contains("-AS")
    listed = names.str.upper().isin(PUBLISHED["gpsFISH"])
    return (means.max(axis=1) >= FEWEST_COUNTS) & ~unnamed | listed


def simulated(shares: np.ndarray, genes: Iterable[str], draw: int) -> np.ndarray:
    """Return counts of an instrument by gpsFISH's simulator (Zhang et al. 2024).

    Parameters
    ----------
    shares : array, cells × genes
        Share of each cell's counts in the reference that falls on each gene.
    genes : list of str
        Their names: 33 have effects that gpsFISH measured, the effects of others are drawn.
    draw : int
        Seed.
    """
    rng = np.random.default_rng([SEED, draw])
    model = PUBLISHED["simulator"]
    names = ("alpha", "beta", "zi", "mu_gamma", "sigma_gamma", "mu_c", "sigma_c")
    alpha, beta, zeros, mean_gamma, sd_gamma, mean_c, sd_c = (
        rng.normal(*model[name]) for name in names
    )
    n_cells, n_genes = shares.shape
    gamma = np.exp(rng.normal(mean_gamma, abs(sd_gamma), n_genes))
    c = rng.normal(mean_c, abs(sd_c), n_genes)
    for place, gene in enumerate(genes):
        if gene in model["genes"]:
            gamma[place], c[place] = model["genes"][gene]
    rates = 1.0 / (1.0 + np.exp(-(gamma * np.sqrt(shares) + c)))
    totals = np.quantile(model["totals"], rng.uniform(size=(n_cells, 1)))
    means, sizes = np.exp(alpha) * rates * totals, np.exp(beta + rates)
    measured = rng.negative_binomial(sizes, sizes / (sizes + means))
    return measured * (rng.uniform(size=shares.shape) >= max(zeros, 0.0))


def bayes(values: np.ndarray, labels: np.ndarray) -> float:
    """Return the accuracy of gpsFISH's classifier, multinomial naive Bayes, in five folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    return accuracy_score(labels, cross_val_predict(MultinomialNB(), values, labels, cv=folds))


def gpsfish() -> pd.DataFrame:
    """Return accuracy of 100 genes on what the simulator makes of the cells, and on these."""
    adata = prepared(counts("cortex_zeisel_ref", "pairs", fewest=1))
    labels, whole = labels_of(adata), adata.layers["counts"]
    is_candidate = candidates(adata)
    shares = (whole.multiply(1.0 / whole.sum(axis=1)).tocsr())[:, is_candidate].toarray()
    adata = adata[:, is_candidate].copy()
    theirs = np.flatnonzero(adata.var_names.str.upper().isin(PUBLISHED["gpsFISH"]))
    panels = {"gpsFISH, demonstration": theirs}
    panels |= {name: method(adata, len(theirs)) for name, method in METHODS.items()}
    draws: dict[str, list[float]] = {name: [] for name in panels}
    for draw in range(DRAWS):
        values = simulated(shares, adata.var_names, draw)
        for name, genes in panels.items():
            draws[name].append(bayes(values[:, genes], labels))
    say(f"gpsFISH: {len(theirs)} genes of {adata.n_vars} candidates, {DRAWS} draws")
    reference = adata.layers["counts"].toarray()
    rows = {
        name: {
            "simulated": estimate(draws[name]),
            "ahead of the demonstration": estimate(
                np.subtract(draws[name], draws["gpsFISH, demonstration"])
            ),
            "reference": f"{bayes(reference[:, genes], labels):.3f}",
        }
        for name, genes in panels.items()
    }
    return table_of(rows, f"{len(theirs)} genes")


def spacetx() -> pd.DataFrame:
    """Return 15-NN accuracy on halves of the cortex, of as many genes as each panel has there."""
    adata = prepared(counts("cortex_zeisel_ref", "pairs", fewest=1))
    labels = labels_of(adata)
    panels = {
        name: np.flatnonzero(adata.var_names.str.upper().isin({gene.upper() for gene in genes}))
        for name, genes in PUBLISHED["SpaceTx"].items()
    }
    largest = max(map(len, panels.values()))
    scores: dict[tuple[str, str], list[float]] = {}
    for seed in range(SPLITS):
        halves = train_test_split(
            np.arange(adata.n_obs), test_size=0.5, random_state=seed, stratify=labels
        )
        chosen, measured = (adata[np.sort(half)].copy() for half in halves)
        ranked = {name: method(chosen, largest) for name, method in METHODS.items()}
        for title, theirs in panels.items():
            by_method = {"published": theirs}
            by_method |= {name: genes[: len(theirs)] for name, genes in ranked.items()}
            for name, genes in by_method.items():
                score = neighbour_accuracy(measured.X[:, np.sort(genes)], labels_of(measured))
                scores.setdefault((title, name), []).append(score)
        say(f"SpaceTx: split {seed}")
    rows: dict[str, dict[str, Any]] = {}
    for (title, name), values in scores.items():
        row = rows.setdefault(
            title, {"genes": len(PUBLISHED["SpaceTx"][title]), "measured": len(panels[title])}
        )
        row[name] = estimate(values)
    return table_of(rows, "panel")


def persist() -> pd.DataFrame:
    """Return how well genes that are on or off tell the types of held-out cells."""
    adata = load(SETS[0])
    labels = labels_of(adata)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(adata.X, labels)
    scores: dict[tuple[str, int], list[dict[str, float]]] = {}
    for number, (learned, held_out) in enumerate(folds):
        chosen = adata[learned].copy()
        for name, method in METHODS.items():
            ranked = method(chosen, max(SIZES))
            for size in SIZES:
                is_on = (adata.X[:, ranked[:size]] > 0).toarray().astype(float)
                model = LogisticRegression(max_iter=1000).fit(is_on[learned], labels[learned])
                predicted = model.predict(is_on[held_out])
                score = {
                    "accuracy": accuracy_score(labels[held_out], predicted),
                    "macro-F1": f1_score(labels[held_out], predicted, average="macro"),
                }
                scores.setdefault((name, size), []).append(score)
        say(f"PERSIST's notebook: fold {number}")
    rows: dict[str, dict[str, Any]] = {}
    for (name, size), values in scores.items():
        row = rows.setdefault(name, {})
        for measure in PERSIST:
            if size == SIZES[0]:
                row[f"{measure}, {size}, first fold"] = f"{values[0][measure]:.3f}"
            row[f"{measure}, {size}"] = estimate(value[measure] for value in values)
    published = {
        f"{measure}, {SIZES[0]}, first fold": f"{value:.2f}" for measure, value in PERSIST.items()
    }
    return table_of({"PERSIST, its notebook": published} | rows, "method").fillna("–")


def table_of(rows: Mapping[str, Mapping[str, Any]], corner: str) -> pd.DataFrame:
    """Return rows as a table, with what stands in its corner."""
    return pd.DataFrame(rows).T.rename_axis(corner)


def main() -> None:
    """Write the page."""
    tables.parser(__doc__).parse_args()
    tables.write(
        "published",
        gpsfish(),
        section("Panels of SpaceTx", spacetx()),
        section("Blood, as in PERSIST's notebook", persist()),
        draws=DRAWS,
        splits=SPLITS,
        folds=FOLDS,
    )


if __name__ == "__main__":
    main()
