"""Panels chosen with labels on one half of the cells and measured on the other half.

    python benchmarks/panels/labels.py [--only ours] [--sets pbmc3k_2638 ...] [--seeds 0 1 ...]

Panels and measures are kept in `benchmarks/.cache/panels`, by the code they come from; methods that
`--only` leaves out are read from there.  With `--sets` or `--seeds` the tables are printed; without
them they are written to `benchmarks/results`.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
import warnings
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import cache
import metrics
import numpy as np
import pandas as pd
import scanpy as sc
from methods import OURS, RIVAL, Method, installed, named, parser, select_genes
from run import attempt, say
from sets import SETS, Cells
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from peers.environments import SECONDS, Peer

if TYPE_CHECKING:
    from collections.abc import Iterable

LABEL = "label"
SIZES = (10, 25, 50, 100)
SEEDS = range(5)
#: scanpy tests, and the paper's class graph takes, no type with fewer cells.
FEWEST = 2


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


def markers(adata, n_genes: int, *, test: str):
    """Best genes of rank_genes_groups, the types taking turns, the one of most cells first."""
    found = sc.AnnData(adata.X, adata.obs[[LABEL]].astype(str), adata.var[[]])
    counts = found.obs[LABEL].value_counts()
    types = list(counts.index[counts >= FEWEST])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        sc.tl.rank_genes_groups(found, LABEL, groups=types, method=test, n_genes=n_genes)
    names = found.uns["rank_genes_groups"]["names"]
    in_turn = (names[kind][place] for place in range(n_genes) for kind in types)
    return adata.var_names.get_indexer(list(dict.fromkeys(in_turn))[:n_genes])


def class_graph(adata, n_genes: int):
    """SupervisedGLFS in 50 components; a type of one cell counts as unlabelled."""
    codes, names = pd.factorize(adata.obs[LABEL].astype(str))
    codes[np.bincount(codes, minlength=len(names))[codes] < FEWEST] = -1
    model = glfs_bio.estimators.SupervisedGLFS(n_genes=n_genes, n_comps=50)
    return model.fit(adata.X, codes).get_support(indices=True)


_own = partial(Method, group=OURS, package="glfs-bio")

METHODS = {
    "GLFS, labels": _own(partial(select_genes, preserve=LABEL)),
    "GLFS, no labels": _own(select_genes),
    "SupervisedGLFS, 50 components": _own(class_graph, nested=False),
    "t-test, in turn": Method(partial(markers, test="t-test")),
    "Wilcoxon, in turn": Method(partial(markers, test="wilcoxon")),
    "logistic regression, in turn": Method(partial(markers, test="logreg")),
    "scGeneFit": Peer("scgenefit"),
    "NS-Forest": Peer("nsforest"),
    "PERSIST": Peer("persist"),
    "Spapros": Peer("spapros"),
}
#: Measured here: genes chosen with labels must beat every rival in the mean.
MARKS = ("accuracy", "logistic regression", "macro-F1", "rare-type F1")
#: Measured too: what `weights.py` shows.
FREQUENT = "frequent-type F1"
#: What the mean must exceed that of the best rival by; of the accuracy, nothing less than it.
WANTED = {10: -0.02, 25: -0.02, 50: 0.0, 100: 0.0}


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
    selections = cache.Selections(name, trial.name, method)
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
    selections = choose(name, method, trial) if run else cache.Selections(name, trial.name, method)
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


def trials_of(values: pd.DataFrame) -> list[str]:
    """Columns that name a trial."""
    return list(values.columns[: values.columns.get_loc("method")])


def on_part(name: str, n_trials: float, values: pd.DataFrame, mark: str) -> str:
    """A method, and on how many of the trials that have this measure, where not on all."""
    trials = values.dropna(subset=mark)[trials_of(values)].drop_duplicates()
    if n_trials == len(trials):
        return name
    unit = "halves" if "seed" in trials else "pairs"
    return f"{name} ({n_trials:.0f} of {len(trials)} {unit})"


def by_size(values: pd.DataFrame, mark: str, *, complete: bool = True) -> pd.DataFrame:
    """Mean over the trials of a set, then over the sets; a column a size.

    Nothing for a method without a panel on one of the sets, but where they need not be complete.
    """
    of_sets = values.groupby(["set", "method", "genes"])[mark].mean().reset_index()
    known = of_sets[of_sets.groupby("set")[mark].transform("count") > 0]
    table = known.pivot_table(
        mark, "method", "genes", aggfunc=lambda one: one.mean(skipna=not complete), dropna=False
    )
    counts = values.groupby(["method", "genes"])[mark].count().unstack().min(axis=1)
    return table.reindex(values["method"].unique()).rename(
        lambda name: on_part(name, counts[name], values, mark)
    )


def present(values: pd.DataFrame) -> list[str]:
    """Measures that the sets have: not all have rare types."""
    return [mark for mark in MARKS if values[mark].notna().any()]


def paired(values: pd.DataFrame, ours: str = "GLFS, labels") -> pd.DataFrame:
    """Every rival, with the margins of ours in place of the measures: of what both have."""
    place = [*trials_of(values), "genes"]
    rivals = values[[METHODS[name].group == RIVAL for name in values["method"]]]
    own = values[values["method"] == ours].set_index(place)[list(MARKS)]
    own = own.reindex(pd.MultiIndex.from_frame(rivals[place])).to_numpy()
    return rivals.assign(**(own - rivals[list(MARKS)]))


def margins(values: pd.DataFrame) -> str:
    """Over the best rival of every measure and size, in the mean."""
    lines = []
    for mark in present(values):
        table = by_size(paired(values), mark, complete=False).dropna(how="all")
        for size, over in table.items():
            margin, wanted = over.min(), 0.0 if mark == MARKS[0] else WANTED[size]
            lines.append(
                f"- {mark}, {size} genes: {margin:+.3f} to {over.idxmin()}; wanted {wanted:+.2f}: "
                f"{'holds' if np.round(margin, 9) >= wanted else 'falls short'}"
            )
    return "\n".join(lines) or "Not run."


def failures(values: pd.DataFrame) -> str:
    """Panels that are not there, and those of other code."""
    missing = values.dropna(subset="error").groupby(["method", "set", "error"], sort=False)
    lines = [
        f"- {method} on {name}: {error} ({len(part)} of "
        f"{len(values.query('method == @method and set == @name'))} panels)"
        for (method, name, error), part in missing
    ]
    small = values[values["held"] < values["genes"]].groupby(["method", "set", "genes"], sort=False)
    lines += [
        f"- {method} on {name}: all that it names is {part['held'].min():.0f} to "
        f"{part['held'].max():.0f} genes where {size} are asked for"
        for (method, name, size), part in small
    ]
    lines += [
        f"- {name}: some panels come from an earlier state of the code"
        for name in values.loc[values["old"], "method"].unique()
    ]
    return "\n".join(lines) or "None."


def sections(values: pd.DataFrame) -> list[str]:
    """Everything but the first table, as Markdown."""
    seconds = values.groupby(["method", "genes"])["seconds"].median().unstack()
    pinned = [peer.version for peer in METHODS.values() if isinstance(peer, Peer)]
    return [
        "## Margins of GLFS with labels\n\nOver the best rival of each measure and size: a margin "
        "is the mean, over the sets, of the differences on those halves or pairs alone that the "
        "rival has panels of.\n\n" + margins(values),
        *(
            f"## {mark}, margins over every rival\n\n"
            + by_size(paired(values), mark, complete=False).round(3).to_markdown()
            for mark in present(values)
        ),
        *(
            f"## {mark}, mean\n\n" + by_size(values, mark).round(3).to_markdown()
            for mark in present(values)[1:]
        ),
        *(
            f"## {mark} on {name}\n\n" + by_size(part, mark).round(3).to_markdown()
            for name, part in values.groupby("set", sort=False)
            for mark in present(part)
        ),
        "## Seconds, median\n\nOf the panels of all sizes together, but for SupervisedGLFS.\n\n"
        + seconds.reindex(list(METHODS)).round(1).to_markdown(),
        "## Failures\n\n" + failures(values),
        f"Rivals: {', '.join([installed('scanpy'), *pinned])}.",
    ]


NOTE = f"""\
Genes are chosen with the labels on one half of the cells, stratified by label, and measured on \
the other; {len(SEEDS)} seeds. Where a method has panels of a part of these halves only, the name \
of its row says so. normalize_total 1e4, log1p, genes in at least 3 cells; 4,000 cells \
of Kang. Accuracy, macro-F1 and rare-type F1: majority of the 15 nearest other cells of the same \
half, on the panel's genes, centred, or 30 principal components of them where there are more; a \
rare type has at most 5 % of the cells. Logistic regression: scikit-learn's, C = 1, \
fitted on the first half, the genes standardised by that half. rank_genes_groups: the best genes \
by score of every type, taken in turn, the type of most cells first. Every package runs with its \
authors' defaults, and at most {SECONDS} s of processor time for the panels of one half. NS-Forest \
names a few genes a type: its markers of all types in turn, then the others that it ranks by \
binary score. PERSIST and Spapros choose among scanpy's highly variable genes, as in their \
authors' examples. Larger is better."""


def main() -> None:
    """Choose, measure, write."""
    asked = parser(__doc__, METHODS, SETS)
    asked.add_argument(
        "--seeds", nargs="+", type=int, choices=SEEDS, default=list(SEEDS), metavar="SEED"
    )
    options = asked.parse_args()
    trials = halves_of(options.sets, options.seeds)
    values = collect(trials, METHODS, named(options.only, METHODS), ("set", "seed"))
    first = by_size(values, MARKS[0]).round(3)
    about = "Mean 15-NN accuracy over seeds and sets, above. " + NOTE
    if options.sets == list(SETS) and options.seeds == list(SEEDS):
        title = "Panels chosen with labels on one half of the cells, measured on the other"
        report.write("panels_labels", title, first, about, *sections(values))
    else:
        sys.stdout.write("\n\n".join([first.to_markdown(), about, *sections(values), ""]))


if __name__ == "__main__":
    main()
