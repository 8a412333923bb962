"""Panels for imaging instruments, measured on cells of the instrument.

    python -m benchmarks.imaging [--only glfs_bio variance ...]

Chosen from the instrument's own cells and measured on these and on other cells; chosen from single
cells and measured on the instrument; and DREAM's challenge.  `results/imaging.md` has the tables.
The data are those of the folder ``imaging`` in GLFS_BIO_DATA.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import glfs_bio

from . import resampled, store, tables
from .data import Cells, folder
from .instruments import PAIRS, SIZES, Pair, counts, prepared
from .measures import Panel, jaccard
from .methods import (
    BEFORE_NOISE,
    DEFAULT,
    LABELLED,
    METHODS,
    PEER,
    PUBLISHED,
    SECONDS,
    TOOLS,
    Method,
    choose,
    ours,
    shortened,
)
from .tables import say, section

if TYPE_CHECKING:
    from anndata import AnnData

#: Panels are chosen from cells of the instrument itself.
OWN = ("merfish_poa", "cosmx_nsclc", "starmap_mpfc", "xenium_breast")

_LABELLED = ("t-test, in turn", "Wilcoxon, in turn", "logistic regression, in turn")
_own = partial(replace, METHODS[DEFAULT])
#: Without labels, then with labels.
UNLABELLED = {
    **{
        name: METHODS[name]
        for name in (DEFAULT, BEFORE_NOISE, PUBLISHED, f"{PUBLISHED}, log counts")
    },
    "LapAOFS": METHODS["select_genes, lapaofs"],
    "LapAOFS, log counts": METHODS["select_genes, lapaofs, standardize=None"],
    **{name: one for name, one in METHODS.items() if one.group == "rivals" and name != "random"},
    **{name: replace(one, group=PEER) for name, one in TOOLS.items()},
}
WITH_LABELS = {
    "glfs_bio, labels": LABELLED["glfs_bio, labels"],
    **{name: LABELLED[name] for name in (*_LABELLED, "Spapros")},
}


def cells(name: str) -> Cells:
    """Return all cells of an instrument."""
    return Cells(f"imaging/{name}", lambda: prepared(counts(name)))


def splits(name: str) -> list[tuple[Cells, Cells]]:
    """Return cells to choose from and others to measure: each section left out, or halves."""
    adata = counts(name)
    if "sample" in adata.obs:
        section = pd.factorize(adata.obs["sample"])[0]
    else:
        section = np.random.default_rng(0).permutation(adata.n_obs) % 2
    found = []
    for out in range(section.max() + 1):
        parts = [adata[section != out], adata[section == out]]
        both = [
            Cells(f"imaging/{name}/{side}{out}", lambda part=part: prepared(part))
            for side, part in zip(("without", "of"), parts, strict=True)
        ]
        found.append(tuple(both))
    return found


def reference(pair: Pair, *, measured_only: bool = True) -> Cells:
    """Return the single cells, with the genes that the instrument measures or with all genes."""
    adata = counts(pair.reference)
    if measured_only:
        on_panel = adata.var_names.isin(cells(pair.instrument).adata.var_names)
        adata = adata[:, on_panel]
    place = f"imaging/{pair.reference}{'' if measured_only else '/all'}"
    return Cells(place, lambda: prepared(adata))


def detected(pair: Pair) -> Method:
    """Return our selection told what the instrument detects of each gene."""
    platform = glfs_bio.Platform(efficiency=cells(pair.instrument).adata)

    def select(adata: AnnData, n_genes: int) -> np.ndarray:
        return ours.select_genes(adata, n_genes, platform=platform)

    return _own(select=select)


def within(pair: Pair) -> Method:
    """Return our selection in the structure of all genes, among those that are measured."""
    measured = cells(pair.instrument).adata.var_names

    def select(adata: AnnData, n_genes: int) -> np.ndarray:
        others = list(adata.var_names[~adata.var_names.isin(measured)])
        return ours.select_genes(adata, n_genes, exclude=others)

    return _own(select=select, nested=False)


@dataclass(frozen=True)
class Embryo:
    """1,297 cells and 3,039 places of a fly embryo, by 84 genes that are on or off."""

    cells: AnnData
    places: np.ndarray
    geometry: np.ndarray


@cache
def embryo() -> Embryo:
    """Return the data of DREAM's challenge."""
    with zipfile.ZipFile(folder() / "imaging" / "dream_sctc.zip") as archive:
        tables = {
            name: pd.read_csv(io.BytesIO(archive.read(name)), index_col=column)
            for name, column in {
                "dge_binarized_distMap.csv": 0,
                "binarized_bdtnp.csv": None,
                "geometry.csv": None,
            }.items()
        }
    places = tables["binarized_bdtnp.csv"]
    of_cells = tables["dge_binarized_distMap.csv"].T
    of_cells.columns = places.columns  # the same genes in the same order, spelt by R
    on = csr_matrix(of_cells.to_numpy(dtype=np.float32))
    adata = ad.AnnData(on, pd.DataFrame(index=of_cells.index), pd.DataFrame(index=places.columns))
    adata.layers["counts"] = adata.X.copy()
    return Embryo(adata, places.to_numpy(dtype=float), tables["geometry.csv"].to_numpy(dtype=float))


#: Of DREAM's challenge.
DREAM_SIZES = (60, 40, 20)
N_PLACES = 10
DREAM_DRAWS = 500


def matthews(hits, ones, others, n) -> np.ndarray:
    """Return Matthews correlations: `hits` are ones in both, `ones` and `others` in each; or 0."""
    covariance = n * hits - ones * others
    spread = np.sqrt(ones * (n - ones) * others * (n - others))
    return np.divide(covariance, spread, out=np.zeros_like(spread), where=spread > 0)


def correlations(data: Embryo, genes: np.ndarray) -> np.ndarray:
    """Return the correlation of every cell with every place, over some genes."""
    on, places = data.cells.X[:, genes].toarray().astype(float), data.places[:, genes]
    ones, others = on.sum(axis=1)[:, None], places.sum(axis=1)[None]
    return matthews(on @ places.T, ones, others, len(genes))


def best(scores: np.ndarray) -> np.ndarray:
    """Return the ten best places of every cell."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :N_PLACES]


@cache
def truth() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the place of every cell, how far its ten are from it, and whether it is certain."""
    data = embryo()
    scores = correlations(data, np.arange(data.cells.n_vars))
    places = best(scores)
    first_two = np.sort(scores, axis=1)[:, :-3:-1]
    return places[:, 0], distance(data, places, places[:, 0]), first_two[:, 0] != first_two[:, 1]


def distance(data: Embryo, places: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Return the mean distance of ten places from one, for every cell."""
    apart = data.geometry[places] - data.geometry[true][:, None]
    return np.linalg.norm(apart, axis=2).mean(axis=1)


def dream_scores(genes: list[int]) -> dict[str, np.ndarray]:
    """Return s1, s2 and s3, of all cells and then of cells drawn with replacement.

    Tanevski et al. (2020), Gene selection for optimal prediction of cell position in tissues from
    single-cell transcriptomics data, Life Science Alliance 3:e202000867.  A cell is placed where
    the genes of the panel correlate best (Matthews), by ten places.  The truth is where all 84
    place it.
    """
    data, chosen = embryo(), np.array(genes)
    true, known, certain = truth()
    places = best(correlations(data, chosen))
    precision = known / distance(data, places, true)
    panel = data.places[:, chosen]
    there, told = panel[true], panel[places[:, 0]]
    alike = matthews(
        (there * told).sum(axis=1), there.sum(axis=1), told.sum(axis=1), float(len(chosen))
    )
    n_cells = int(certain.sum())
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(n_cells, np.full(n_cells, 1 / n_cells), DREAM_DRAWS)
    drawn = np.vstack([np.ones(n_cells), drawn]).astype(float)
    weight, alike = precision[certain], alike[certain]
    on = data.cells.X[:, chosen].toarray()[certain].astype(float)
    of_genes = [
        matthews(drawn @ (seen * on), drawn @ seen, drawn @ on, float(n_cells))
        for seen in (there[certain], told[certain])
    ]
    # The organisers divide s1 by the precision of all cells, those of uncertain place too.
    every = precision.sum() * drawn @ weight / weight.sum()
    return {
        "s1": drawn @ (weight * alike) / every,
        "s2": drawn @ weight / n_cells,
        "s3": (of_genes[0] * of_genes[1]).sum(axis=1) / of_genes[0].sum(axis=1),
    }


#: All that choose here.
CHOOSERS = UNLABELLED | WITH_LABELS
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


def table(
    rows: dict[str, dict[int, list[dict]]],
    sizes: tuple[int, ...],
    measure: str,
    first: str = DEFAULT,
) -> pd.DataFrame:
    """Return means over datasets, and how far the first method is ahead of each, with intervals."""
    found: dict[str, dict[str, str]] = {}
    ours = rows[first]
    for name, by_size in rows.items():
        found[name] = {}
        for size in sizes:
            if len(by_size.get(size, [])) < len(ours[size]):
                found[name][f"{size}"] = "–"
                continue
            own, other = (np.array([one[measure] for one in of[size]]) for of in (ours, by_size))
            text = f"{other[:, 0].mean():.3f}"
            if name != first:
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
    rows = {name: collect(name, shortened(CHOOSERS[name]), of, SIZES) for name in asked}
    whole(rows, [target for _, target in of], SIZES)
    accuracy, f1 = (table(rows, SIZES, one) for one in MEASURES)
    return accuracy, [section("The same: macro-F1", f1)]


def of_other_cells(asked: list[str]) -> list[str]:
    """Panels from parts of the cells, measured on the others, and what these panels share.

    The tools, which take minutes, and methods whose panels are stored are left out.
    """
    quick = [one for one in asked if getattr(CHOOSERS[one], "select", None)]
    of = [pair for name in OWN for pair in splits(name)]
    rows = {name: collect(name, CHOOSERS[name], of, SIZES) for name in quick}
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
            panels(name, CHOOSERS[name], source, SIZES).get(size) for source, _ in splits(dataset)
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
        rows = {name: collect(name, shortened(CHOOSERS[name]), of, pair.sizes) for name in asked}
        name = f"{DEFAULT}, detection given"
        rows[name] = collect(name, detected(pair), of, pair.sizes)
        name = f"{DEFAULT}, structure of all genes"
        everything = reference(pair, measured_only=False)
        rows[name] = collect(name, within(pair), [(everything, target)], pair.sizes)
        name = f"{DEFAULT}, from the instrument"
        rows[name] = collect(DEFAULT, CHOOSERS[DEFAULT], [(target, target)], pair.sizes)
        whole(rows, [target], pair.sizes)
        found += both(rows, pair.sizes, title)
    return found


def of_embryo(asked: list[str]) -> str:
    """DREAM's challenge, by methods that get no labels."""
    source = Cells("imaging/dream", lambda: embryo().cells)
    rows: dict[str, dict[str, str]] = {}
    for name in [one for one in asked if one in UNLABELLED]:
        rows[name] = {}
        entry = choose(
            name, shortened(CHOOSERS[name]), source.name, source.adata, list(DREAM_SIZES)
        )
        for size in DREAM_SIZES:
            genes = entry.panel(size).get("genes")
            for score, values in dream_scores(genes).items() if genes else ():
                text = tables.over_cells(values[None]).text if size == 20 else f"{values[0]:.3f}"
                rows[name][f"{score}, {size}"] = text
    rng = np.random.default_rng(0)
    n_genes = source.adata.n_vars
    rows[RANDOM] = {}
    for size in DREAM_SIZES:
        drawn = [dream_scores(list(rng.permutation(n_genes)[:size])) for _ in range(DRAWS)]
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
            entry = choose(name, shortened(CHOOSERS[name]), source.name, source.adata, fitting)
            for size in fitting:
                panel = entry.panel(size)
                row = {"dataset": source.name, "method": name, "genes": size}
                held = len(panel.get("genes", [])) or np.nan
                rows.append({**row, "error": panel.get("error"), "held": held, "old": False})
    return section("Failures", tables.failures(pd.DataFrame(rows)))


def main() -> None:
    """Choose, measure, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--only", nargs="*", default=list(CHOOSERS), choices=CHOOSERS)
    asked = list(dict.fromkeys([DEFAULT, *parser.parse_args().only]))
    first, sections = of_same_cells(asked)
    sections += [*of_other_cells(asked), *of_pairs(asked), of_embryo(asked)]
    sections.append(failures(asked))
    store.merge()
    whole = set(asked) == set(CHOOSERS)
    tables.write("imaging", first, *sections, whole=whole, draws=DRAWS, seconds=SECONDS)


if __name__ == "__main__":
    main()
