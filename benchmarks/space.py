"""Panels for tissue: domains told apart, and Moran's I kept, on cells that chose nothing.

    python -m benchmarks.space [--osmfish osmFISH_prep_cell_coordinates.txt]

STARmap's layers, chosen from two sections and measured on the third; osmFISH's regions, chosen from
half of the blocks of a section and measured on the others.  The file of osmFISH's cells has no
coordinates: they are in drieslab/spatial-datasets, data/2018_osmFISH_SScortex/cell_locations.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.neighbors import kneighbors_graph

import glfs_bio
from glfs_bio.measures import cells as of_cells
from glfs_bio.measures import labels as readers
from glfs_bio.measures import space as places

from .data import LABEL
from .instruments import counts, prepared
from .methods.rivals import markers
from .tables import over_cells, parser, say, section, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anndata import AnnData

SIZES = (5, 10, 20, 40, 80)
DOMAIN, SECTION = "domain", "section"
#: Neighbours of squidpy's graph, draws of random panels, and resamples of blocks.
SQUIDPY, DRAWS, RESAMPLES = 6, 10, 1000
#: Ways of cutting the tissue into blocks, whose mean is shown.
CUTS = 5
READINGS = {"knn": "15-NN", "laprls": "LapRLS"}
DEFAULT, ALL, RANDOM = "glfs_bio", "all genes", "random"
LEAVE_ONE_OUT = "leave-one-out"


def starmap() -> AnnData:
    """Return the three sections of the cortex, with layers."""
    adata = counts("starmap_mpfc")
    adata.obs[DOMAIN], adata.obs[SECTION] = adata.obs["layer"].astype(str), adata.obs["sample"]
    return adata


def osmfish(coordinates: Path) -> AnnData:
    """Return the section of the cortex, with regions; cells that its authors excluded have none."""
    adata = counts("osmfish_cortex5328")
    table = pd.read_csv(coordinates, sep=None, engine="python", index_col=0)
    adata.obsm["spatial"] = table.loc[adata.obs_names].to_numpy(dtype=float)
    adata.obs[DOMAIN] = adata.obs["Region"].astype(str).replace("Excluded", np.nan)
    adata.obs[SECTION] = "1"
    return adata


def as_squidpy(adata: AnnData) -> None:
    """Add the graph that ``sq.gr.spatial_neighbors(adata, library_key=SECTION)`` adds."""
    graph = sparse.lil_matrix((adata.n_obs, adata.n_obs))
    for one in adata.obs[SECTION].unique():
        own = np.flatnonzero(adata.obs[SECTION] == one)
        graph[np.ix_(own, own)] = kneighbors_graph(adata.obsm["spatial"][own], SQUIDPY)
    adata.obsp["spatial_connectivities"] = graph.tocsr()
    adata.uns["spatial_neighbors"] = {
        "connectivities_key": "spatial_connectivities",
        "distances_key": "spatial_distances",
        "params": {"n_neighbors": SQUIDPY, "coord_type": "generic"},
    }


def selected(adata: AnnData, n_genes: int, **options: object) -> list[str]:
    """Return a panel of ours."""
    table = glfs_bio.pp.select_genes(adata, n_genes, inplace=False, subset=True, **options)
    return list(table.index)


def variable(adata: AnnData, n_genes: int) -> list[str]:
    """Return highly variable genes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = sc.pp.highly_variable_genes(adata, n_top_genes=n_genes, inplace=False)
    return list(table.sort_values("dispersions_norm", ascending=False).index[:n_genes])


def by_morans_i(adata: AnnData, n_genes: int) -> list[str]:
    """Return the genes of largest Moran's I, as ``sq.gr.spatial_autocorr`` ranks them."""
    graph = adata.obsp["spatial_connectivities"]
    shares = sparse.csr_matrix(graph / SQUIDPY)
    found = sc.metrics.morans_i(shares, sparse.csr_matrix(adata.X.T, dtype=float))
    return list(adata.var_names[np.argsort(-found)[:n_genes]])


def of_domains(adata: AnnData, n_genes: int) -> list[str]:
    """Return Wilcoxon markers of domains, in turn."""
    labelled = adata[adata.obs[DOMAIN].notna()].copy()
    labelled.obs[LABEL] = labelled.obs[DOMAIN].astype("category")
    return list(adata.var_names[markers(labelled, n_genes, test="wilcoxon")])


GRAPH = {"neighbors_key": "spatial_neighbors"}
BOTH = {"structure": 1, DOMAIN: 1}
CHOOSERS: dict[str, Callable[[AnnData, int], list[str]]] = {
    DEFAULT: selected,
    "glfs_bio, spatial graph": partial(selected, **GRAPH),
    "glfs_bio, domains": partial(selected, preserve=DOMAIN),
    "glfs_bio, domains, spatial graph": partial(selected, preserve=DOMAIN, **GRAPH),
    "glfs_bio, structure and domains": partial(selected, preserve=BOTH),
    "Wilcoxon of domains, in turn": of_domains,
    "Moran's I": by_morans_i,
    "HVG": variable,
}


@dataclass(frozen=True)
class Part:
    """Cells that choose a panel, and others that it is measured on."""

    chosen_from: AnnData
    measured: AnnData

    @cached_property
    def graph(self) -> sparse.csr_array:
        """Neighbours in space among the measured cells."""
        number = pd.factorize(self.measured.obs[SECTION])[0]
        return places.neighbours(self.measured.obsm["spatial"], number)

    @cached_property
    def domains(self) -> list[places.Domains]:
        """Domains of the measured cells, by different blocks."""
        codes, names = pd.factorize(self.measured.obs[DOMAIN], sort=True)
        return [places.Domains.of(self.graph, codes, list(names), cut) for cut in range(CUTS)]

    @cached_property
    def genes(self) -> places.Autocorrelation:
        """Moran's I of the measured genes."""
        varying = np.flatnonzero(self.measured.X.toarray().std(axis=0) > 0)
        return places.Autocorrelation.of(self.graph, self.measured.X, varying)

    @cached_property
    def drawn(self) -> np.ndarray:
        """How often each block is in a resample, shape (RESAMPLES, n_blocks)."""
        n_blocks = places.blocks(self.graph, 0).max() + 1
        rng = np.random.default_rng(0)
        return rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=RESAMPLES)

    def resampled(self, hits: np.ndarray) -> np.ndarray:
        """Return accuracy in all cells, then in resamples of blocks of tissue."""
        block = places.blocks(self.graph, 0)[self.domains[0].cells]
        n_blocks = self.drawn.shape[1]
        right, every = (np.bincount(block, some, n_blocks) for some in (hits, np.ones(len(hits))))
        return np.append(hits.mean(), (self.drawn @ right) / (self.drawn @ every))

    def measure(self, panel: list[str]) -> dict[str, np.ndarray]:
        """Return what a panel says of the measured cells."""
        places_of = np.flatnonzero(self.measured.var_names.isin(panel))
        values = self.measured.X[:, places_of]
        where, values = of_cells.coordinates(values), readers.standardised(values)
        found: dict[str, np.ndarray] = {}
        cuts = [one.scores(list(READINGS), where, values, 0) for one in self.domains]
        for reading, called in READINGS.items():
            hits = [cut[reading].predicted == self.domains[0].codes for cut in cuts]
            found[f"accuracy, {called}"] = self.resampled(np.mean(hits, axis=0))
            mean = np.mean([cut[reading].macro_f1 for cut in cuts])
            found[f"macro-F1, {called}"] = np.array([mean])
        codes, names = pd.factorize(self.measured.obs[LABEL], sort=True)
        found["types"] = np.array([readers.label_scores(where, codes, list(names)).accuracy])
        found["kept"] = np.array([self.genes.preserved(places_of)])
        return found


def parts(adata: AnnData) -> Iterator[Part]:
    """Leave out each section, or choose from each half of the blocks of one."""
    number = pd.factorize(adata.obs[SECTION])[0]
    if number.max() == 0:
        block = places.blocks(places.neighbours(adata.obsm["spatial"], number), 0)
        halves = StratifiedGroupKFold(2, shuffle=True, random_state=0)
        for _, own in halves.split(block, adata.obs[DOMAIN].astype(str), block):
            number[own] += 1
            break
    for out in range(number.max() + 1):
        chosen_from, measured = (prepared(adata[rows]) for rows in (number != out, number == out))
        as_squidpy(chosen_from)
        shared = chosen_from.var_names.intersection(measured.var_names)
        yield Part(chosen_from[:, shared].copy(), measured[:, shared].copy())


def measured(adata: AnnData) -> dict[str, dict[int, dict[str, np.ndarray]]]:
    """Return every measure of every panel: methods, sizes, measures of shape (n_parts, ...)."""
    found: dict[str, dict[int, list[dict[str, np.ndarray]]]] = {}
    sizes = [size for size in SIZES if size < adata.n_vars]
    for number, part in enumerate(parts(adata)):
        for name, choose in CHOOSERS.items():
            for size in sizes:
                panel = choose(part.chosen_from, size)
                found.setdefault(name, {}).setdefault(size, []).append(part.measure(panel))
            say(f"part {number}, {name}: measured")
        rng, names = np.random.default_rng(0), part.measured.var_names
        for size in sizes:
            drawn = [part.measure(list(rng.choice(names, size, False))) for _ in range(DRAWS)]
            mean = {one: np.mean([draw[one] for draw in drawn], axis=0) for one in drawn[0]}
            found.setdefault(RANDOM, {}).setdefault(size, []).append(mean)
        whole = part.measure(list(names))
        for size in sizes:
            found.setdefault(ALL, {}).setdefault(size, []).append(whole)
    return {
        name: {
            size: {one: np.stack([p[one] for p in of]) for one in of[0]} for size, of in by.items()
        }
        for name, by in found.items()
    }


def table(found: dict, measure: str) -> pd.DataFrame:
    """Return means over parts, with intervals over blocks of tissue where there are some."""
    return pd.DataFrame(
        {
            name: {size: _text(values[measure]) for size, values in by.items()}
            for name, by in found.items()
        }
    ).T


def _text(values: np.ndarray) -> str:
    return over_cells(values).text if values.shape[1] > 1 else f"{values.mean():.3f}"


def beside(found: dict, measure: str) -> pd.DataFrame:
    """Return how far the others are from the default, with paired intervals."""
    return pd.DataFrame(
        {
            name: {
                size: over_cells(values[measure] - found[DEFAULT][size][measure]).difference
                for size, values in by.items()
            }
            for name, by in found.items()
            if name != DEFAULT
        }
    ).T


def leaks(title: str, adata: AnnData) -> dict[str, dict[str, str]]:
    """Return the accuracy of all genes, and of genes of noise alone, by how cells are left out."""
    adata = prepared(adata)
    number = pd.factorize(adata.obs[SECTION])[0]
    graph = places.neighbours(adata.obsm["spatial"], number)
    codes, names = pd.factorize(adata.obs[DOMAIN], sort=True)
    joined = graph + sparse.eye_array(adata.n_obs, format="csr")
    whole = sparse.csr_array(sparse.diags_array(1 / joined.sum(axis=1)) @ joined)
    ways: dict[str, list[places.Domains]] = {}
    usual = places.CELLS_OF_BLOCK
    for size in (usual, usual // 2, usual * 2):
        places.CELLS_OF_BLOCK = size
        ways[f"blocks of {size} cells, averages end at folds"] = [
            places.Domains.of(graph, codes, list(names), cut) for cut in range(CUTS)
        ]
    places.CELLS_OF_BLOCK = usual
    uncut = [replace(one, averages=whole) for one in next(iter(ways.values()))]
    ways[f"blocks of {usual} cells, averages across folds"] = uncut
    if number.max() > 0:
        ways["sections"] = [replace(uncut[0], fold=number[uncut[0].cells])]
    ways[LEAVE_ONE_OUT] = uncut[:1]
    shown = {
        ALL: of_cells.coordinates(adata.X),
        "ten genes of noise": np.random.default_rng(0).normal(size=(adata.n_obs, 10)),
    }
    found: dict[str, dict[str, str]] = {}
    for way, several in ways.items():
        row = found.setdefault(f"{title}, {way}", {})
        for what, where in shown.items():
            scores = [
                readers.label_scores(
                    *((one.averages @ where)[one.cells], one.codes, list(names)),
                    fold=None if way == LEAVE_ONE_OUT else one.fold,
                )
                for one in several
            ]
            for measure in ("accuracy", "macro_f1"):
                values = [getattr(one, measure) for one in scores]
                row[f"{what}: {measure.replace('macro_f', 'macro-F')}"] = f"{np.mean(values):.3f}"
    largest = np.bincount(uncut[0].codes).max() / len(uncut[0].codes)
    found[f"{title}, the largest domain for all"] = {f"{ALL}: accuracy": f"{largest:.3f}"}
    return found


def main() -> None:
    """Choose, measure, write."""
    arguments = parser(__doc__)
    arguments.add_argument("--osmfish", type=Path, help="coordinates of osmFISH's cells")
    given = arguments.parse_args()
    tissues = {"STARmap, layers": starmap()}
    if given.osmfish is not None:
        tissues["osmFISH, regions"] = osmfish(given.osmfish)
    first, sections = None, []
    leak = {way: row for title, one in tissues.items() for way, row in leaks(title, one).items()}
    sections.append(section("Domains that are read in space", pd.DataFrame(leak).T.fillna("–")))
    for title, adata in tissues.items():
        found = measured(adata)
        accuracy = "accuracy, LapRLS"
        if first is None:
            first = table(found, accuracy)
        else:
            sections.append(section(f"{title}: {accuracy}", table(found, accuracy)))
        sections.append(section(f"{title}: {accuracy}, beside glfs_bio", beside(found, accuracy)))
        sections.append(section(f"{title}: accuracy, 15-NN", table(found, "accuracy, 15-NN")))
        other = beside(found, "accuracy, 15-NN")
        sections.append(section(f"{title}: accuracy, 15-NN, beside glfs_bio", other))
        sections.append(section(f"{title}: macro-F1, LapRLS", table(found, "macro-F1, LapRLS")))
        sections.append(section(f"{title}: Moran's I kept", table(found, "kept")))
        sections.append(section(f"{title}: accuracy of cell types, 15-NN", table(found, "types")))
    whole = given.osmfish is not None
    write("space", first, *sections, whole=whole, draws=DRAWS, cuts=CUTS)


if __name__ == "__main__":
    main()
