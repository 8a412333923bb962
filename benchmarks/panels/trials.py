"""Trials: genes are chosen on one part of the cells of a set, and measured on another."""

from __future__ import annotations

import hashlib
import inspect
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import cache
import metrics
import numpy as np
import pandas as pd
from run import attempt, say
from sets import Cells
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from peers.environments import Peer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from methods import Method

LABEL = "label"
SIZES = (10, 25, 50, 100)
SEEDS = range(5)
#: Measured here: genes chosen with labels must beat every rival in the mean.
MARKS = ("accuracy", "logistic regression", "macro-F1", "rare-type F1")
#: Measured too: what `weights.py` shows.
FREQUENT = "frequent-type F1"


@dataclass(frozen=True)
class Part(Cells):
    """Cells of a set that genes are chosen on, or measured on."""

    part: np.ndarray
    whole: Cells

    @property
    def adata(self):
        """Logarithmised expression of these cells."""
        return self.__dict__.setdefault("_adata", self.whole.adata[self.part].copy())


@dataclass(frozen=True)
class Trial:
    """Where genes are chosen, and where they are measured; the names are places in the cache."""

    name: str
    chosen: Part
    measured: Part
    measured_on: str = ""


def trial(name: str, whole: Cells, chosen, measured, measured_on: str = "") -> Trial:
    """Two parts of one set."""
    parts = (Part(whole.name, np.sort(part), whole) for part in (chosen, measured))
    return Trial(f"{whole.name}/{name}", *parts, measured_on)


def halves(whole: Cells, seed: int) -> Trial:
    """Halves of the cells, stratified by label."""
    parts = train_test_split(
        np.arange(whole.adata.n_obs), test_size=0.5, random_state=seed, stratify=whole.labels
    )
    return trial(f"labels/{seed}", whole, *parts)


def halves_of(sets: Iterable[str], seeds: Iterable[int]) -> dict[tuple[str, int], Trial]:
    """Halves of every set, by set and seed."""
    wholes = {name: Cells(name) for name in sets}
    return {(name, seed): halves(wholes[name], seed) for name, seed in product(wholes, seeds)}


def logistic_regression(trial: Trial, genes: list[int]) -> float:
    """Accuracy on the measured cells, fitted where the genes were chosen, each standardised."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(trial.chosen.adata.X[:, genes].toarray(), trial.chosen.labels)
    return float(model.score(trial.measured.adata.X[:, genes].toarray(), trial.measured.labels))


def measures(trial: Trial, genes: list[int]) -> dict[str, float]:
    """What the panel keeps of the types."""
    panel = metrics.Panel(trial.measured, tuple(genes))
    return {
        "accuracy": metrics.accuracy(panel),
        "logistic regression": logistic_regression(trial, genes),
        "macro-F1": metrics.macro_f1(panel),
        "rare-type F1": metrics.rare_f1(panel),
        FREQUENT: metrics.frequent_f1(panel),
    }


@dataclass(frozen=True)
class Measured:
    """What the measures come from, for the cache."""

    @property
    def fingerprint(self) -> str:
        """Changes with whatever could change a measure."""
        parts = (cache.sets.load, cache.sets.nearest, metrics.Panel, logistic_regression, measures)
        measured = (metrics.accuracy, metrics.macro_f1, metrics.rare_f1, metrics.frequent_f1)
        code = "".join(map(inspect.getsource, (*parts, *measured)))
        return hashlib.sha256(code.encode()).hexdigest()[:16]


def choose(name: str, method: Method | Peer, trial: Trial) -> cache.Selections:
    """Panels of one method; those that the cache does not have are chosen."""
    selections = cache.kept(name, trial.name, method)
    missing = [size for size in SIZES if not selections.has(size)]
    if missing:
        for size, found in panels(method, trial.chosen.adata, missing).items():
            selections.put(size, **found)
        say(f"{trial.name}, {name}: {found.get('seconds', np.nan):.1f} s")
    return selections


def panels(method: Method | Peer, adata, sizes: list[int]) -> dict[int, dict]:
    """Genes and seconds of every size, or what went wrong."""
    if isinstance(method, Peer):
        return method.panels(adata, LABEL, sizes)
    if not method.nested:
        return {size: attempt(method, adata, size) for size in sizes}
    found = attempt(method, adata, max(SIZES))
    if "error" in found:
        return dict.fromkeys(SIZES, found)
    return {size: found | {"genes": found["genes"][:size]} for size in SIZES}


def rows(name: str, method: Method | Peer, trial: Trial, *, run: bool) -> list[dict]:
    """Every size of one method on one trial, measured."""
    selections = choose(name, method, trial) if run else cache.kept(name, trial.name, method)
    place = f"{trial.name}/{trial.measured_on}"
    known = cache.Selections(f"{name} measures", place, Measured())
    found = []
    for size in SIZES:
        panel = dict(selections.get(size))
        genes = sorted(panel.pop("genes", []))
        if genes and not (known.has(size) and known.get(size)["genes"] == genes):
            known.put(size, genes=genes, measures=measures(trial, genes))
        row = {"genes": size} | (known.get(size)["measures"] if genes else {})
        row |= panel or {"error": "not run"}
        old = bool(genes) and not selections.current
        found.append(row | {"held": len(genes) or np.nan, "old": old})
    return found


def collect(
    trials: dict[tuple, Trial],
    methods: dict[str, Method | Peer],
    chosen: set[str],
    names: tuple[str, ...],
) -> pd.DataFrame:
    """One row a trial, method and size; `names` are those of the keys of the trials."""
    found = []
    for key, one in trials.items():
        for name, method in methods.items():
            place = dict(zip(names, key, strict=True)) | {"method": name}
            found += [place | row for row in rows(name, method, one, run=name in chosen)]
        say(f"{one.name} {one.measured_on}: measured")
    columns = [*names, "method", "genes", *MARKS, FREQUENT, "seconds", "error", "held", "old"]
    return pd.DataFrame(found).reindex(columns=columns)
