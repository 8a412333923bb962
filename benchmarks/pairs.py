"""Panels chosen from a reference, measured on the instrument that they are for.

    python -m benchmarks.pairs [--only "Wilcoxon, in turn" ...]
    python -m benchmarks.pairs --draws

Panels of other packages that `--only` leaves out are read from the store.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from anndata import AnnData
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import glfs_bio
from glfs_bio import Platform
from glfs_bio.measures.cells import coordinates
from glfs_bio.measures.labels import scores_by

from . import labels, resampled, store, tables
from .data import LABEL, SETS, some
from .imaging import DRAWS, MEASURES, RANDOM, UNLABELLED
from .imaging import table as compared
from .instruments import (
    ALL,
    INDEPENDENT,
    MOST_CELLS,
    SIZES,
    Tissue,
    prepared,
    tissue,
    told_by_reference,
)
from .measures import Panel
from .methods import (
    BEFORE_INSTRUMENT,
    DEFAULT,
    LABELLED,
    PUBLISHED,
    PUBLISHED_PLAIN,
    SECONDS,
    Method,
    Tool,
    before,
    choose,
    ours,
    own,
    rivals,
    shortened,
)
from .tables import say, section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .data import Cells

    #: By size and title, every measure of the cells and of resampled ones.
    Scores = dict[int, dict[str, dict[str, np.ndarray]]]

N_FOLDS = 3


def nearest_cells(cells: Cells, genes: list[int]) -> np.ndarray:
    """Predict labels by the 15 nearest other cells."""
    return Panel(cells, tuple(genes)).predicted


def logistic(cells: Cells, genes: list[int]) -> np.ndarray:
    """Predict labels by logistic regression on standardised genes, in three folds."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    return cross_val_predict(model, cells.adata.X[:, genes].toarray(), cells.labels, cv=folds)


def laprls(cells: Cells, genes: list[int]) -> np.ndarray:
    """Predict labels by LapRLS, as `tl.evaluate_panel` does."""
    names, codes = np.unique(cells.labels, return_inverse=True)
    values = cells.adata.X[:, genes].toarray().astype(float)
    where = coordinates(values)
    return names[scores_by(["laprls"], where, values, codes, list(names))["laprls"].predicted]


#: How labels are predicted from a panel.
NEAREST = "15-NN"
READINGS = {NEAREST: nearest_cells, "logistic regression": logistic, "LapRLS": laprls}
#: Those with intervals, and of every pair: LapRLS and logistic regression say much the same.
SHOWN = (NEAREST, "logistic regression")


def predicted(cells: Cells, genes: list[str], reading: str) -> np.ndarray:
    """Return the labels that a reading predicts; they are stored."""
    places = sorted(cells.adata.var_names.get_indexer(genes).tolist())
    key = store.digest(inspect.getsource(READINGS[reading]))
    path = store.HOME / cells.name / f"{store.digest(repr(places))}-{key}.npy"
    names = np.unique(cells.labels)
    if not path.exists():
        found = READINGS[reading](cells, places)
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.searchsorted(names, found).astype(np.uint8))
    return names[np.load(path)]


def measure(
    cells: Cells, genes: list[str], readings: tuple[str, ...] = tuple(READINGS)
) -> dict[str, np.ndarray]:
    """Return accuracy and macro-F1 of every reading, of the cells and then of resampled ones."""
    found = {}
    for reading in readings:
        scores = resampled.of_labels(cells, predicted(cells, genes, reading))
        found |= {f"{reading}, {name}": scores[name] for name in MEASURES}
    return found


# What is known of an instrument.


def elsewhere(of: Tissue) -> pd.DataFrame:
    """Return the efficiency of each gene on the instruments of the other pairs, and its spread.

    Logarithms, centred within a pair, have their mean over the pairs that measured the gene, in
    whatever species; a gene that none measured has the mean of all.  The spread is that of pairs
    about these means, or that of all genes.
    """
    logs = pd.DataFrame({title: _efficiencies(title) for title in ALL if title != of.title})
    level, logs = logs.mean().mean(), logs - logs.mean()
    names = of.reference.adata.var_names
    known = logs.mean(axis=1).reindex(names.str.upper()).to_numpy()
    spread = np.where(np.isnan(known), logs.stack().std(), np.sqrt(logs.var(axis=1).mean()))
    efficiency = np.exp(level + np.nan_to_num(known))
    return pd.DataFrame({"efficiency": efficiency, "spread": spread}, index=names)


@cache
def _efficiencies(title: str) -> pd.Series:
    """Return logarithms of efficiencies, by names in capitals, from all cells of an instrument."""
    of = tissue(title)
    sides, layer = (of.reference.adata, of.instrument.adata), "counts"
    table = glfs_bio.tl.estimate_efficiency(*sides, LABEL, counts_layer=layer, spatial_layer=layer)
    found = np.log(table.loc[table["measured"], "efficiency"])
    return found.groupby(found.index.str.upper()).mean()


def by_types(of: Tissue) -> pd.DataFrame:
    """Return the efficiencies that half of the cells have, type by type."""
    return glfs_bio.tl.estimate_efficiency(
        of.reference.adata, of.known, LABEL, counts_layer="counts"
    )


def on_in(adata: AnnData) -> pd.DataFrame:
    """Return the share of the cells of each type that express a gene: genes × types."""
    labels = adata.obs[LABEL].to_numpy()
    return pd.DataFrame(
        {name: (adata.X[labels == name] > 0).mean(axis=0).A1 for name in np.unique(labels)},
        index=adata.var_names,
    )


#: A gene is bright that is on in more than this share of the cells of its best type.
BRIGHT = 0.5


def bright(of: Tissue, n_genes: int) -> list[str]:
    """Return the genes that are bright on the instrument, or the brightest where these are few.

    The best type of a gene is the one whose cells express it most often in the reference.
    """
    here, there = on_in(of.reference.adata), on_in(of.known)
    best = here[there.columns].idxmax(axis=1)
    share = there.stack().reindex(pd.MultiIndex.from_arrays([best.index, best])).fillna(0.0)
    ranked = share.droplevel(1).sort_values(ascending=False, kind="stable")
    return list(ranked.index[: max(n_genes, int((ranked > BRIGHT).sum()))])


# Rows: what chooses, and what it is told.


@dataclass(frozen=True)
class Row:
    """How names of genes are chosen, best first, of a pair.

    A nested one is asked once, for the largest size.
    """

    select: Callable[[Tissue, int], list[str]]
    nested: bool = True


def selected(adata: AnnData, n_genes: int, **options) -> list[str]:
    """Return the names of the genes that glfs_bio selects."""
    return list(adata.var_names[ours.select_genes(adata, n_genes, **options)])


def on_platform(of: Tissue, n_genes: int, told: Callable | None, **options) -> list[str]:
    """Select for the instrument, as far as it is known."""
    platform = told(of) if told else None
    return selected(of.reference.adata, n_genes, platform=platform, **options)


def of_all_genes(of: Tissue, n_genes: int, **options) -> list[str]:
    """Select in the structure of all genes of the reference."""
    others = of.whole.var_names.difference(of.reference.adata.var_names)
    return selected(of.whole, n_genes, exclude=list(others), **options)


def of_instrument(of: Tissue, n_genes: int, **options) -> list[str]:
    """Select from the cells of the instrument that are not measured."""
    return selected(prepared(of.known), n_genes, **options)


def of_bright(of: Tissue, n_genes: int, choice: Callable) -> list[str]:
    """Choose among genes that are bright on the instrument."""
    genes = bright(of, n_genes)
    return choice(of.reference.adata[:, genes].copy(), n_genes)


def markers(adata: AnnData, n_genes: int) -> list[str]:
    """Return Wilcoxon markers, the types taking turns."""
    return list(adata.var_names[rivals.markers(adata, n_genes, test="wilcoxon")])


#: Cells of a pilot experiment.
PILOT = 300


def pilot(of: Tissue) -> AnnData:
    """Return few of the cells that are known."""
    return some(of.known, min(PILOT, of.known.n_obs))


WILCOXON = "Wilcoxon, in turn"
#: What a panel of ours preserves.
LABELS, BOTH = f"{DEFAULT}, labels", f"{DEFAULT}, labels and structure"
TARGETS = {
    DEFAULT: {},
    LABELS: {"preserve": LABEL},
    BOTH: {"preserve": {LABEL: 0.5, "structure": 0.5}},
}
NAMED = ", instrument named"
CELLS, TYPES = ", efficiency of its cells", ", efficiency of its types"
#: What ours is told of the instrument.
TOLD: dict[str, Callable[[Tissue], Platform] | None] = {
    "": None,
    NAMED: lambda of: Platform(of.pair.platform),
    ", efficiency of other pairs": lambda of: Platform(efficiency=elsewhere(of)),
    f", pilot of {PILOT} cells": lambda of: Platform(efficiency=pilot(of)),
    CELLS: lambda of: Platform(efficiency=of.known),
    TYPES: lambda of: Platform(efficiency=by_types(of)),
}
CHOICES = {
    **{name: partial(selected, **options) for name, options in TARGETS.items()},
    WILCOXON: markers,
}
_OURS = {
    f"{target}{told}": Row(partial(on_platform, told=platform, **options))
    for told, platform in TOLD.items()
    for target, options in TARGETS.items()
}
#: With a weight of its own, the column of labels comes without the structure.
_ALONE = {
    f"{LABELS} alone{told}": Row(partial(on_platform, told=platform, preserve={LABEL: 1.0}))
    for told, platform in TOLD.items()
    if platform
}
#: Rows of today, by those of the code before; a name alone changed nothing then.
BEFORE = {
    f"{target}{told}, before ({BEFORE_INSTRUMENT})": f"{target}{told}"
    for told in (NAMED, CELLS, TYPES)
    for target in TARGETS
}
_BRIGHT = {
    f"{name}, bright genes only": Row(partial(of_bright, choice=choice), nested=False)
    for name, choice in CHOICES.items()
}
#: Of other packages, and the published method.
_OTHERS = (
    PUBLISHED,
    PUBLISHED_PLAIN,
    "LapAOFS",
    "LapAOFS, log counts",
    "HVG seurat",
    "HVG cell_ranger",
    "HVG seurat_v3",
    "Pearson residuals",
    "variance",
    WILCOXON,
    "t-test, in turn",
    "logistic regression, in turn",
    "geneBasis",
    "Spapros",
    "NS-Forest",
    "PERSIST",
)
ROWS: dict[str, Row | Method | Tool] = {
    **_OURS,
    **_ALONE,
    **dict.fromkeys(BEFORE, before(BEFORE_INSTRUMENT, nested=True)),
    **{
        f"{name}, structure of all genes": Row(partial(of_all_genes, **options))
        for name, options in TARGETS.items()
    },
    **{name: (UNLABELLED | LABELLED)[name] for name in _OTHERS},
    "PERSIST": Tool("persist_few", packages="persist"),
    **_BRIGHT,
    **{
        f"{name}, from the instrument": Row(partial(of_instrument, **options))
        for name, options in TARGETS.items()
    },
}
EVERY = "all genes"
#: On other cells of the same assay.
SAME_ASSAY = {
    f"{name}{told}": own(ours.select_genes, **options, **platform)
    for name, options in (("glfs_bio, no labels", {}), *list(TARGETS.items())[1:])
    for told, platform in (("", {}), (NAMED, {"platform": Platform("instrument")}))
}
SEEDS = range(2)
#: Random parts of the candidates, and of the cells of each type, and what share of them each has.
PARTS, SHARE = 8, 0.6
CANDIDATES, CELLS_OF_IT = "60 % of the candidates", "60 % of the reference"
WHOLE = "All candidates and cells"


def panels(name: str, of: Tissue, *, run: bool = True) -> dict[int, dict]:
    """Return the names of the genes of each size, or what went wrong."""
    sizes, one = sizes_of(of), ROWS[name]
    if isinstance(one, Row):
        chosen = {size: one.select(of, size) for size in (sizes[-1:] if one.nested else sizes)}
        return {
            size: {"genes": chosen[max(chosen) if one.nested else size][:size]} for size in sizes
        }
    source, method = of.reference, shortened(one)
    if run:
        entry = choose(name, method, source.name, source.adata, sizes)
    else:
        entry = store.entry_of(name, source.name, method)
    found = {}
    for size in sizes:
        panel = entry.panel(size) or {"error": "not run"}
        genes = [source.adata.var_names[gene] for gene in panel.get("genes", [])]
        found[size] = panel | {"genes": genes, "old": not entry.current}
    return found


def sizes_of(of: Tissue) -> list[int]:
    """Return the sizes of panels that a pair has."""
    return [size for size in SIZES if size in of.pair.sizes]


def collect(name: str, *, run: bool = True) -> tuple[Scores, list[dict]]:
    """Return the measures of a row by size and pair, and what its panels hold."""
    scores: Scores = {size: {} for size in SIZES}
    held = []
    for title in ALL:
        of = tissue(title)
        for size, panel in panels(name, of, run=run).items():
            genes = panel["genes"]
            if genes:
                scores[size][title] = measure(of.measured, genes)
            row = {"dataset": title, "method": name, "error": panel.get("error")}
            old = bool(genes) and panel.get("old", False)
            held.append(row | {"genes": size, "held": len(genes) or np.nan, "old": old})
    say(f"{name}: measured")
    return scores, held


def drawn(of: Tissue, size: int) -> dict[str, np.ndarray]:
    """Return the mean of random panels."""
    rng, names = np.random.default_rng(size), list(of.reference.adata.var_names)
    found = [
        measure(of.measured, list(rng.choice(names, size, replace=False))) for _ in range(DRAWS)
    ]
    return {name: np.mean([one[name] for one in found], axis=0) for name in found[0]}


def ends() -> dict[str, Scores]:
    """Return the measures of random panels, and of all genes."""
    having = {size: [of for of in map(tissue, ALL) if size in of.pair.sizes] for size in SIZES}
    every = {
        title: measure(of.measured, list(of.reference.adata.var_names))
        for title, of in zip(ALL, map(tissue, ALL), strict=True)
    }
    return {
        RANDOM: {size: {of.title: drawn(of, size) for of in some} for size, some in having.items()},
        EVERY: {size: {of.title: every[of.title] for of in some} for size, some in having.items()},
    }


def levels(
    rows: dict[str, Scores], reading: str, titles: Iterable[str] = tuple(ALL)
) -> pd.DataFrame:
    """Return accuracy / macro-F1, means over the pairs that have a size."""
    found: dict[str, dict[str, str]] = {}
    for name, scores in rows.items():
        found[name] = {}
        for size in SIZES:
            having = [title for title in titles if size in ALL[title].sizes]
            if having:
                some = [scores[size].get(title) for title in having]
                found[name][f"{size}"] = "–" if None in some else _means(some, reading)
    return pd.DataFrame(found).T


def _means(some: list[dict[str, np.ndarray]], reading: str) -> str:
    """Return the means of both measures over pairs."""
    columns = [f"{reading}, {measure}" for measure in MEASURES]
    return " / ".join(f"{np.mean([one[column][0] for one in some]):.3f}" for column in columns)


def ahead(rows: dict[str, Scores], reading: str, measure: str, first: str) -> pd.DataFrame:
    """Return means over the pairs, and how far one row is ahead of each; its own with interval."""
    lists = {
        name: {size: list(some.values()) for size, some in scores.items()}
        for name, scores in rows.items()
    }
    column = f"{reading}, {measure}"
    found = compared(lists, SIZES, column, first)
    found.loc[first] = [
        tables.over_cells(np.array([one[column] for one in lists[first][size]])).text
        for size in SIZES
    ]
    return found


def since(rows: dict[str, Scores], reading: str, measure: str) -> pd.DataFrame:
    """Return means over the pairs before and after, and the difference with its interval."""
    column, found = f"{reading}, {measure}", {}
    for earlier, name in BEFORE.items():
        found[name] = {}
        for size in SIZES:
            old, new = (
                np.array([one[column] for one in rows[row][size].values()])
                for row in (earlier, name)
            )
            change = tables.over_cells(new - old).difference
            found[name][f"{size}"] = f"{old[:, 0].mean():.3f} → {new[:, 0].mean():.3f} ({change})"
    return pd.DataFrame(found).T


def on_same_assay() -> list[str]:
    """Return what naming an instrument costs where there is none: halves of single cells."""
    halves = labels.halves(SETS, SEEDS)
    values = labels.collect(halves, SAME_ASSAY, list(SAME_ASSAY))
    title = "What naming an instrument costs on the same assay"
    return [
        section(f"{title}: {measure}", labels.by_size(values, measure))
        for measure in ("accuracy", "macro-F1", "logistic regression")
    ] + [
        section(f"{title}: accuracy on {name}", labels.by_size(part, "accuracy"))
        for name, part in values.groupby("dataset", sort=False)
    ]


def draws_of(reference: AnnData, kind: str, draw: int) -> AnnData:
    """Return a random part of the candidates, or of the cells of each type, or all of them."""
    if kind == WHOLE:
        return reference.copy()
    rng = np.random.default_rng(draw)
    if kind == CANDIDATES:
        n_genes = int(SHARE * reference.n_vars)
        return reference[:, np.sort(rng.choice(reference.n_vars, n_genes, False))].copy()
    cells = reference.obs.groupby(LABEL, observed=True).sample(frac=SHARE, random_state=draw).index
    return reference[reference.obs_names.isin(cells)].copy()


#: What chooses from parts of a reference; the last one is compared with the others.
FROM_PARTS = {
    WILCOXON: markers,
    **{
        f"{target}{NAMED}": partial(selected, platform=Platform("instrument"), **TARGETS[target])
        for target in (BOTH, LABELS)
    },
}


def of_part(title: str, kind: str, draw: int) -> list[dict]:
    """Return 15-NN accuracy and macro-F1 of panels from a part of a reference."""
    part, rows = draws_of(tissue(title).reference.adata, kind, draw), []
    sizes = [size for size in SIZES if size <= (1.0 if kind == WHOLE else 0.75) * part.n_vars]
    for name, chosen in FROM_PARTS.items():
        genes = chosen(part.copy(), sizes[-1])
        for size in sizes:
            scores = measure(tissue(title).measured, genes[:size], (NEAREST,))
            about = {"pair": title, "kind": kind, "draw": draw, "method": name, "size": size}
            rows += [about | {"measure": of, "value": float(scores[of][0])} for of in scores]
    return rows


def of_draws() -> pd.DataFrame:
    """Return the measures of all parts, those that the file has from there."""
    file = tables.RESULTS / "pairs_draws.csv"
    rows = pd.read_csv(file).to_dict("records") if file.exists() else []
    measured = {(row["kind"], row["draw"]) for row in rows}
    for kind, draw in [(WHOLE, 0), *product((CANDIDATES, CELLS_OF_IT), range(PARTS))]:
        if (kind, draw) not in measured:
            rows += [row for title in ALL for row in of_part(title, kind, draw)]
            pd.DataFrame(rows).to_csv(file, index=False)
            say(f"{kind}, part {draw}: measured")
    return pd.DataFrame(rows)


def of_whole(values: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy / macro-F1 of panels from whole references, means over the pairs."""
    of_all = values[values["kind"] == WHOLE]
    means = of_all.groupby(["method", "size", "measure"])["value"].mean().unstack()
    texts = [" / ".join(f"{value:.3f}" for value in row) for row in means.to_numpy()]
    return pd.Series(texts, means.index).unstack().loc[list(FROM_PARTS)]


def over_draws(values: pd.DataFrame) -> list[str]:
    """Return means over pairs and draws, and how far the last method is ahead of the others."""
    *others, ours_named = FROM_PARTS
    sections = []
    of_draws = values[values["kind"] != WHOLE].groupby(["kind", "measure"], sort=False)
    for (kind, column), of_kind in of_draws:
        table = of_kind.pivot_table("value", ["size", "pair", "draw"], "method")
        shown = {
            name: {
                f"{size}": f"{of_size[name].groupby('pair').mean().mean():.3f}"
                for size, of_size in table.groupby("size")
            }
            for name in FROM_PARTS
        }
        for name in others:
            ahead_of = table[ours_named] - table[name]
            shown[f"labels, named, minus {name}"] = {
                f"{size}": _errors(of_size.unstack("draw"))
                for size, of_size in ahead_of.groupby("size")
            }
        sections.append(section(f"{kind}, {column}", pd.DataFrame(shown).T))
    return sections


def _errors(differences: pd.DataFrame) -> str:
    """Return the mean of pairs × draws, its standard errors over both, and the pairs ahead."""
    by_draw, of_pairs = differences.mean(axis=0), differences.mean(axis=1)
    errors = (of.std(ddof=1) / np.sqrt(len(of)) for of in (by_draw, of_pairs))
    over = " ".join(f"± {error:.3f}" for error in errors)
    return f"{of_pairs.mean():+.3f} {over} ({(of_pairs > 0).sum()} of {len(of_pairs)})"


def with_draws() -> None:
    """Write the page of resampled references, and of left-out cells of the same assay."""
    values = of_draws()
    rows = {name: SAME_ASSAY[name] for name in (LABELS, f"{BOTH}{NAMED}", f"{LABELS}{NAMED}")}
    of_halves = labels.collect(labels.halves(SETS, SEEDS), rows, list(rows))
    same = [
        section(f"On the same assay: {measure}", labels.by_size(of_halves, measure))
        for measure in ("accuracy", "macro-F1", "logistic regression")
    ]
    tables.write(
        "pairs_draws", of_whole(values), *over_draws(values), *same, parts=PARTS, seeds=len(SEEDS)
    )


def of_all_cells() -> pd.DataFrame:
    """All cells of three instruments, from which what is known of them comes too."""
    rows: dict[str, Scores] = {}
    for title in INDEPENDENT:
        of = tissue(title)
        cells = of.instrument
        of = replace(
            of, known=AnnData(cells.adata.layers["counts"], cells.adata.obs, cells.adata.var)
        )
        for name, row in ROWS.items():
            if isinstance(row, Row) or name == WILCOXON:
                scores = rows.setdefault(name, {size: {} for size in SIZES})
                for size, panel in panels(name, of).items():
                    scores[size][title] = measure(cells, panel["genes"], (NEAREST,))
    say("all cells of three instruments: measured")
    return levels(rows, NEAREST, INDEPENDENT)


def main() -> None:
    """Choose, measure, write."""
    parser = tables.parser(__doc__)
    others = [name for name, row in ROWS.items() if not getattr(row, "own", True)]
    parser.add_argument("--only", nargs="*", default=others, choices=others, metavar="METHOD")
    parser.add_argument("--draws", action="store_true", help="resampled references alone")
    arguments = parser.parse_args()
    if arguments.draws:
        with_draws()
        return
    asked = arguments.only
    rows, held = {}, []
    for name in ROWS:
        run = getattr(ROWS[name], "own", True) or name in asked
        rows[name], panels_of = collect(name, run=run)
        held += panels_of
    rows |= ends()
    store.merge()
    first, *others = (levels(rows, reading) for reading in READINGS)
    sections = [
        section(f"Accuracy / macro-F1 by {reading}", table)
        for reading, table in zip(list(READINGS)[1:], others, strict=True)
    ]
    labelled = {name: rows[name] for name in rows if name.startswith((WILCOXON, LABELS))}
    sections += [
        section(f"Before ({BEFORE_INSTRUMENT}) → today: {measure} by {reading}", table)
        for reading in SHOWN
        for measure in MEASURES
        for table in [since(rows, reading, measure)]
    ]
    sections += [
        section(f"{name} minus each: {measure} by {reading}", ahead(some, reading, measure, name))
        for name, some in ((DEFAULT, rows), (WILCOXON, labelled))
        for reading in SHOWN
        for measure in MEASURES
    ]
    sections += [
        section(f"{title}: accuracy / macro-F1 by {reading}", levels(rows, reading, [title]))
        for title in ALL
        for reading in SHOWN
    ]
    sections.append(section("All cells of three instruments, by 15-NN", of_all_cells()))
    sections += [
        section(f"What the reference says of a gene on the instrument: {name}", table)
        for name, table in told_by_reference().items()
    ]
    sections += on_same_assay()
    sections.append(section("Failures", tables.failures(pd.DataFrame(held))))
    tables.write(
        "pairs",
        first,
        *sections,
        draws=DRAWS,
        seconds=SECONDS,
        most=MOST_CELLS,
        folds=N_FOLDS,
        seeds=len(SEEDS),
    )


if __name__ == "__main__":
    main()
