"""Panels for imaging instruments, measured on cells of the instrument.

    python -m benchmarks.imaging [--only glfs_bio variance ...]

Chosen from the instrument's own cells and measured on these and on other cells; chosen from single
cells and measured on the instrument; and DREAM's challenge.  `results/imaging.md` has the tables.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import resampled, store, tables
from ..data import Cells
from ..measures import Panel, jaccard
from ..methods import DEFAULT, SECONDS, choose, shortened
from ..tables import say, section
from . import (
    OWN,
    PAIRS,
    SIZES,
    UNLABELLED,
    WITH_LABELS,
    cells,
    detected,
    dream,
    embryo,
    reference,
    splits,
    within,
)

METHODS = UNLABELLED | WITH_LABELS
RANDOM, ALL = "random", "all genes that are measured"
DRAWS = 20
#: What a row has beside its interval.
MEASURES = ("accuracy", "macro-F1")


def panels(name: str, method, source: Cells, sizes: tuple[int, ...]) -> dict[int, list[str]]:
    """Return the genes of each size, by name; none where the method failed."""
    fitting = [size for size in sizes if size <= source.adata.n_vars]
    entry = choose(name, method, source.name, source.adata, fitting)
    names = source.adata.var_names
    found = {size: entry.panel(size).get("genes") for size in fitting}
    return {size: list(names[genes]) for size, genes in found.items() if genes}


def scored(target: Cells, genes: list[str]) -> dict[str, np.ndarray]:
    """Return accuracy and macro-F1 of the cells, and resampled; genes not there drop out."""
    places = target.adata.var_names.get_indexer(genes)
    found = resampled.of_types(Panel(target, tuple(sorted(places[places >= 0].tolist()))))
    return {name: found[name] for name in MEASURES}


def chance(target: Cells, n_genes: int) -> dict[str, np.ndarray]:
    """Return the mean of random panels."""
    rng = np.random.default_rng(0)
    drawn = [
        scored(target, list(rng.choice(target.adata.var_names, n_genes, replace=False)))
        for _ in range(DRAWS)
    ]
    return {name: np.mean([one[name] for one in drawn], axis=0) for name in MEASURES}


def table(rows: dict[str, dict[int, list[dict]]], sizes: tuple[int, ...], measure: str):
    """Return means over datasets, and how far the first method is ahead of each, with intervals."""
    found: dict[str, dict[str, str]] = {}
    ours = rows[DEFAULT]
    for name, by_size in rows.items():
        found[name] = {}
        for size in sizes:
            if len(by_size.get(size, [])) < len(ours[size]):
                found[name][f"{size}"] = "–"
                continue
            own, other = (np.array([one[measure] for one in of[size]]) for of in (ours, by_size))
            text = f"{other[:, 0].mean():.3f}"
            if name != DEFAULT:
                text += f" ({tables.over_cells(own - other).difference})"
            found[name][f"{size}"] = text
    return pd.DataFrame(found).T


def collect(name: str, method, of: list[tuple[Cells, Cells]], sizes) -> dict[int, list[dict]]:
    """Return the scores of a method by size, one a dataset or split."""
    rows: dict[int, list[dict]] = {size: [] for size in sizes}
    for source, target in of:
        for size, genes in panels(name, method, source, sizes).items():
            rows[size].append(scored(target, genes))
    say(f"{name}: measured")
    return rows


def whole(rows: dict, targets: list[Cells], sizes: tuple[int, ...]) -> None:
    """Add random panels, and all genes, to the rows of methods."""
    rows[RANDOM] = {size: [chance(target, size) for target in targets] for size in sizes}
    every = [scored(target, list(target.adata.var_names)) for target in targets]
    rows[ALL] = dict.fromkeys(sizes, every)


def both(rows: dict, sizes: tuple[int, ...], title: str) -> list[str]:
    """Return the tables of both measures."""
    return [section(f"{title}: {one}", table(rows, sizes, one)) for one in MEASURES]


def of_same_cells(asked: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Panels from all cells of the instrument, measured on these: accuracy, and the other table."""
    of = [(cells(name), cells(name)) for name in OWN]
    rows = {name: collect(name, shortened(METHODS[name]), of, SIZES) for name in asked}
    whole(rows, [target for _, target in of], SIZES)
    accuracy, f1 = (table(rows, SIZES, one) for one in MEASURES)
    return accuracy, [section("The same: macro-F1", f1)]


def of_other_cells(asked: list[str]) -> list[str]:
    """Panels from parts of the cells, measured on the others, and what these panels share.

    The tools, which take minutes, and methods whose panels are stored are left out.
    """
    quick = [one for one in asked if getattr(METHODS[one], "select", None)]
    of = [pair for name in OWN for pair in splits(name)]
    rows = {name: collect(name, METHODS[name], of, SIZES) for name in quick}
    whole(rows, [target for _, target in of], SIZES)
    shared = {
        name: {
            size: f"{np.mean(agreement):.3f}"
            for size in (10, 40)
            if (agreement := _agreement(name, size))
        }
        for name in quick
    }
    return [
        *both(rows, SIZES, "Chosen from some cells of the instrument, measured on others"),
        section("Genes that panels of these parts share", pd.DataFrame(shared).T),
    ]


def _agreement(name: str, size: int) -> list[float]:
    """Jaccard indices of the panels of parts of one dataset, two by two."""
    found = []
    for dataset in OWN:
        chosen = [
            panels(name, METHODS[name], source, SIZES).get(size) for source, _ in splits(dataset)
        ]
        sets = [set(genes) for genes in chosen if genes]
        pairs = [(a, b) for place, a in enumerate(sets) for b in sets[:place]]
        found += [jaccard([a, b]) for a, b in pairs]
    return found


def of_pairs(asked: list[str]) -> list[str]:
    """Panels from single cells, measured on the instrument."""
    found = []
    for title, pair in PAIRS.items():
        source, target = reference(pair), cells(pair.instrument)
        of = [(source, target)]
        rows = {name: collect(name, shortened(METHODS[name]), of, pair.sizes) for name in asked}
        name = f"{DEFAULT}, detection given"
        rows[name] = collect(name, detected(pair), of, pair.sizes)
        name = f"{DEFAULT}, structure of all genes"
        everything = reference(pair, measured_only=False)
        rows[name] = collect(name, within(pair), [(everything, target)], pair.sizes)
        name = f"{DEFAULT}, from the instrument"
        rows[name] = collect(DEFAULT, METHODS[DEFAULT], [(target, target)], pair.sizes)
        whole(rows, [target], pair.sizes)
        found += both(rows, pair.sizes, title)
    return found


def of_embryo(asked: list[str]) -> str:
    """DREAM's challenge, by methods that get no labels."""
    source = Cells("imaging/dream", lambda: embryo().cells)
    rows: dict[str, dict[str, str]] = {}
    for name in [one for one in asked if one in UNLABELLED]:
        rows[name] = {}
        entry = choose(name, shortened(METHODS[name]), source.name, source.adata, list(dream.SIZES))
        for size in dream.SIZES:
            genes = entry.panel(size).get("genes")
            for score, values in dream.scores(genes).items() if genes else ():
                text = tables.over_cells(values[None]).text if size == 20 else f"{values[0]:.3f}"
                rows[name][f"{score}, {size}"] = text
    rng = np.random.default_rng(0)
    n_genes = source.adata.n_vars
    rows[RANDOM] = {}
    for size in dream.SIZES:
        drawn = [dream.scores(list(rng.permutation(n_genes)[:size])) for _ in range(DRAWS)]
        for score in ("s1", "s2", "s3"):
            rows[RANDOM][f"{score}, {size}"] = f"{np.mean([one[score][0] for one in drawn]):.3f}"
    found = pd.DataFrame(rows).T.dropna(how="all").fillna("–")
    return section("DREAM: cells of a fly embryo, placed by some genes", found)


def failures(asked: list[str]) -> str:
    """Return the panels that a method has not, of all sets from which one was chosen."""
    sources = [(cells(name), SIZES) for name in OWN]
    sources += [(reference(pair), pair.sizes) for pair in PAIRS.values()]
    rows = []
    for name in asked:
        for source, sizes in sources:
            fitting = [size for size in sizes if size <= source.adata.n_vars]
            entry = choose(name, shortened(METHODS[name]), source.name, source.adata, fitting)
            for size in fitting:
                panel = entry.panel(size)
                row = {"dataset": source.name, "method": name, "genes": size}
                held = len(panel.get("genes", [])) or np.nan
                rows.append({**row, "error": panel.get("error"), "held": held, "old": False})
    return section("Failures", tables.failures(pd.DataFrame(rows)))


def main() -> None:
    """Choose, measure, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--only", nargs="*", default=list(METHODS), choices=METHODS)
    asked = list(dict.fromkeys([DEFAULT, *parser.parse_args().only]))
    first, sections = of_same_cells(asked)
    sections += [*of_other_cells(asked), *of_pairs(asked), of_embryo(asked)]
    sections.append(failures(asked))
    store.merge()
    save = set(asked) == set(METHODS)
    tables.write("imaging", first, *sections, save=save, draws=DRAWS, seconds=SECONDS)


if __name__ == "__main__":
    main()
