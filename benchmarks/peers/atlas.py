"""Genes for the integration of batches and the mapping of queries, after Zappia et al. (2025).

    python benchmarks/peers/atlas.py [--methods GLFS ...] [--sets ...]

What is computed is kept in `benchmarks/.cache`, so that a second run goes on where the first one
ended; what `--methods` leaves out is read from there.  `--methods` without a name computes nothing
and writes what is there.  The measures are in `integration.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import sys
import time
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import integration
import numpy as np
import pandas as pd
import scanpy as sc
from cases import CASES, Case
from integration import Integrated, Mapped, Reference

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
import report
from methods import OURS, RIVAL, Method, select_genes
from run import attempt, say

if TYPE_CHECKING:
    from anndata import AnnData

N_GENES, N_CONTROL = 2000, 500
SEEDS = (1, 2, 3, 4, 5)
#: Labels of fewer cells are left out, as theirs are.
FEWEST = 20
N_PRE = 50
BATCH = "batch"


def whole(case: Case) -> AnnData:
    """The set without the labels of few cells; the batch in one column for all sets."""
    adata = case.adata.copy()
    adata.obs[BATCH] = adata.obs[case.batch].astype(str).astype("category")
    counts = adata.obs["label"].value_counts()
    return adata[adata.obs["label"].isin(counts.index[counts >= FEWEST])].copy()


def split(adata: AnnData, query: str) -> tuple[AnnData, AnnData, str]:
    """Reference, query, and the label that the reference lacks.

    It is the rarest of those with enough cells in the query for the distance of its centre.
    """
    parts = []
    for part in (adata[adata.obs[BATCH] != query], adata[adata.obs[BATCH] == query]):
        counts = part.obs["label"].value_counts()
        parts.append(part[part.obs["label"].isin(counts.index[counts >= FEWEST])])
    reference, asked = parts
    asked = asked[asked.obs["label"].isin(set(reference.obs["label"]))].copy()
    counts = asked.obs["label"].value_counts()
    unseen = str(counts[counts >= 2 * integration.N_COMPS].index[-1])
    reference = reference[reference.obs["label"] != unseen].copy()
    sc.pp.filter_genes(reference, min_cells=1)
    reference.obs[BATCH] = reference.obs[BATCH].cat.remove_unused_categories()
    return reference, asked[:, reference.var_names].copy(), unseen


@dataclass(frozen=True)
class Atlas:
    """One of the sets with batches, and the batch that is mapped to the others."""

    case: Case
    query: str

    @cached_property
    def cells(self):
        """All of them."""
        return whole(self.case)

    @cached_property
    def before(self):
        """Share of the variance of all genes that batches explain."""
        coordinates = sc.pp.pca(self.cells.X, n_comps=N_PRE, random_state=0)
        return integration.explained(coordinates, self.cells.obs[BATCH])

    @cached_property
    def mapping(self):
        """Reference, query and unseen label."""
        return split(self.cells, self.query)

    def integrated(self, genes: list[int]) -> dict[str, float]:
        """Measures of all cells in the space of these genes."""
        labels, batch = (self.cells.obs[key].astype(str).to_numpy() for key in ("label", BATCH))
        cells = Integrated(
            Reference(self.cells.X[:, genes], batch).coordinates, labels, batch, self.before
        )
        return {name: measure(cells) for name, measure in integration.OF_INTEGRATED.items()}

    def mapped(self, genes: list[int]) -> dict[str, float]:
        """Measures of the query in the space of the reference."""
        reference, query, unseen = self.mapping
        space = Reference(reference.X[:, genes], reference.obs[BATCH].astype(str).to_numpy())
        known, labels = (part.obs["label"].astype(str).to_numpy() for part in (reference, query))
        cells = Mapped(space.coordinates, known, space.mapped(query.X[:, genes]), labels, unseen)
        return {name: measure(cells) for name, measure in integration.OF_MAPPED.items()}


@dataclass(frozen=True)
class Chooser(Method):
    """A way to choose genes, and how many of them."""

    nested: bool = False
    size: int = N_GENES

    @property
    def fingerprint(self) -> str:
        """Changes with what could change the genes or their measures."""
        code = "".join(map(inspect.getsource, (integration, whole, split, Atlas)))
        code += f"{super().fingerprint} {self.size} {getattr(self.select, 'keywords', '')}"
        return hashlib.sha256(code.encode()).hexdigest()[:16]


def key_of(adata: AnnData, batches: bool) -> str | None:
    """The column of the batches, where they are asked for and there is more than one."""
    return BATCH if batches and adata.obs[BATCH].nunique() > 1 else None


def glfs(adata: AnnData, n_genes: int, *, batches: bool, **options):
    """select_genes of this package."""
    return select_genes(adata, n_genes, batch_key=key_of(adata, batches), **options)


def highly_variable(adata: AnnData, n_genes: int, *, flavor: str, batches: bool):
    """Scanpy's highly variable genes."""
    counts = flavor in ("seurat_v3", "pearson_residuals")
    rooms = {True: sc.experimental.pp, False: sc.pp}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="scanpy")
        table = rooms[flavor == "pearson_residuals"].highly_variable_genes(
            adata,
            n_top_genes=n_genes,
            flavor=flavor,
            batch_key=key_of(adata, batches),
            layer="counts" if counts else None,
            inplace=False,
        )
    return np.flatnonzero(table["highly_variable"])


def everything(adata: AnnData, n_genes: int):
    """All genes."""
    return np.arange(adata.n_vars)


def random(adata: AnnData, n_genes: int, *, seed: int):
    """Any genes."""
    return np.random.default_rng(seed).choice(adata.n_vars, n_genes, replace=False)


ALL, CONTROL = "all genes", f"random, {N_CONTROL:,} genes"
REFERENCE = "HVG cell_ranger, batch_key"
#: What the range of a measure is taken from.
BASELINES = (ALL, CONTROL, REFERENCE)
#: A measure on which the baselines differ by less says nothing, and would weigh most.
LEAST_RANGE = 0.01
METHODS = {
    "GLFS": Chooser(partial(glfs, batches=False), OURS, "glfs-bio"),
    "GLFS, batch_key": Chooser(partial(glfs, batches=True), OURS, "glfs-bio"),
    **{
        f"{name}, standardize=None": Chooser(
            partial(glfs, batches=batches, standardize=None), OURS, "glfs-bio"
        )
        for name, batches in (("GLFS", False), ("GLFS, batch_key", True))
    },
    **{
        f"HVG {flavor}{', batch_key' if batches else ''}": Chooser(
            partial(highly_variable, flavor=flavor, batches=batches), RIVAL, "scanpy"
        )
        for flavor in ("seurat", "cell_ranger", "seurat_v3", "pearson_residuals")
        for batches in (False, True)
    },
    ALL: Chooser(everything, RIVAL, "numpy"),
    **{
        f"random, {size:,} genes; {seed}": Chooser(
            partial(random, seed=seed), RIVAL, "numpy", size=size
        )
        for size in (N_CONTROL, N_GENES)
        for seed in SEEDS
    },
}
ROWS = list(dict.fromkeys(name.partition(";")[0] for name in METHODS))
ATLASES = {
    title: Atlas(CASES[title], query)
    for title, query in {
        "sc_mixology_singlets1021": "sc_dropseq",
        "simulated batches": "batch 3",
        "kang_ifnb13999": "STIM",
    }.items()
}


def stored(name: str, title: str) -> cache.Selections:
    """What is kept of a method on a set."""
    return cache.Selections(name, f"{ATLASES[title].case.name}/atlas", METHODS[name])


def measure(name: str, title: str) -> None:
    """Choose genes on all cells and on the reference alone, and measure both."""
    atlas, method, kept = ATLASES[title], METHODS[name], stored(name, title)
    if kept.has(method.size):
        return
    begin = time.perf_counter()
    chosen = [attempt(method, part, method.size) for part in (atlas.cells, atlas.mapping[0])]
    found = {"seconds": sum(one.get("seconds", np.nan) for one in chosen)}
    if all("genes" in one for one in chosen):
        genes, of_reference = (one["genes"] for one in chosen)
        found["measures"] = atlas.integrated(genes) | atlas.mapped(of_reference)
        found |= {"genes": genes, "genes of the reference": of_reference}
    else:
        found["error"] = next(one["error"] for one in chosen if "error" in one)
    kept.put(method.size, **found)
    say(f"{title}, {name}: measured in {time.perf_counter() - begin:.0f} s")


def collect(sets: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Measures by set and method, the mean of the seeds of random genes; and what is missing."""
    rows, missing = [], []
    for title in sets:
        for name, method in METHODS.items():
            kept = stored(name, title)
            found = kept.get(method.size) if kept.current else {}
            if "measures" in found:
                row = {"set": title, "method": name.partition(";")[0]}
                rows.append(row | {"seconds": found["seconds"]} | found["measures"])
            else:
                missing.append(f"{name} on {title}: {found.get('error', 'not run')}")
    columns = ["set", "method", *integration.OF_INTEGRATED, *integration.OF_MAPPED, "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    return table.groupby(["set", "method"], sort=False).mean(), missing


def scaled(values: pd.DataFrame) -> pd.DataFrame:
    """Measures of one set: 0 for the lowest, 1 for the highest of the baselines."""
    baselines = values.reindex(BASELINES)
    low, high = (getattr(baselines, how)(skipna=False) for how in ("min", "max"))
    return (values - low) / (high - low).where(high - low >= LEAST_RANGE)


def summary(values: pd.DataFrame) -> pd.DataFrame:
    """Mean of every kind of measures, scaled, and overall, as Zappia et al. weigh them."""
    one = scaled(values)
    kinds = {kind: one[list(names)].mean(axis=1) for kind, names in integration.SUMMARY.items()}
    table = pd.DataFrame(kinds)
    integrated = table[[integration.BATCH, integration.BIOLOGY]].mean(axis=1, skipna=False)
    others = [integration.MAPPING, integration.LABELS, integration.UNSEEN]
    table["overall"] = (integrated + table[others].mean(axis=1, skipna=False)) / 2
    return table


def section(title: str, table: pd.DataFrame) -> str:
    """A table with a heading, the methods in their order."""
    return f"## {title}\n\n" + table.reindex(ROWS).dropna(how="all").round(3).to_markdown()


def main() -> None:
    """Every method on every set; then the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, among in {"methods": METHODS, "sets": ATLASES}.items():
        parser.add_argument(f"--{name}", nargs="*", default=list(among), choices=list(among))
    options = parser.parse_args()
    for title in options.sets:
        for name in options.methods:
            measure(name, title)
    values, missing = collect(options.sets)
    sets = list(values.index.unique("set"))
    scalable = [title for title in sets if set(BASELINES) <= set(values.loc[title].index)]
    if not scalable:
        parser.exit(message="No set has all baselines yet.\n")
    summaries = {title: summary(values.loc[title]) for title in scalable}
    mean = sum(one.reindex(ROWS) for one in summaries.values()) / len(summaries)
    of_summary = [one for names in integration.SUMMARY.values() for one in names]
    alike = {title: scaled(values.loc[title])[of_summary].isna().all() for title in scalable}
    left_out = [f"{', '.join(one.index[one])} on {title}" for title, one in alike.items()]
    queries = "; ".join(
        f"{title}: `{ATLASES[title].query}` is the query, {ATLASES[title].mapping[2]} is unseen"
        for title in sets
    )
    report.write(
        "atlas",
        f"{N_GENES:,} genes for integration and mapping, scaled by baselines, mean over the sets",
        mean.round(3),
        f"Mean over {', '.join(scalable)}.",
        *([f"**Not complete.** {'; '.join(missing)}."] if missing else []),
        "After Zappia et al. (2025), doi:10.1038/s41592-025-02624-3. A measure is 0 at the lowest "
        f"and 1 at the highest of the baselines ({'; '.join(BASELINES)}); larger is better. Their "
        "overall score: half the mean of batch and biology, half that of mapping, labels and "
        "unseen. Theirs scales by every range; here a measure on which the baselines differ by "
        f"less than {LEAST_RANGE} is left out: {'; '.join(left_out)}. The measures as they are "
        f"stand below. Random genes are the mean of {len(SEEDS)} draws. Seconds: both choices, "
        "with the machine busy otherwise.",
        f"Sets: {queries}. Labels with fewer than {FEWEST} cells are left out. The unseen label is "
        f"the rarest with {2 * integration.N_COMPS} cells in the query. The genes are chosen on "
        "all batches for the integration, and on the reference alone for the mapping.",
        "What differs from theirs. Their ten atlases are not here: the sets are those of this "
        "benchmark that have batches, and they are small. Integration is ComBat of scanpy, genes "
        f"scaled and clipped, {integration.N_COMPS} principal components; theirs is scVI, scANVI "
        "and Harmony with Symphony. The query is put into the components of the reference and is "
        "not corrected. Kang has two batches, so that its reference is one batch. Theirs "
        "integrates the reference alone; here all batches, as the references have few.",
        "Not run of their measures: CMS and ldfDiff (CellMixS, R) and Milo (an environment of its "
        "own); qLISI, as each query is one batch. Not run of their baselines: stable genes "
        "(scSEGIndex, R); with them the lowest baseline could be lower. LISI is taken on exact "
        "neighbours, and not on the graph. Clusters are Leiden's at twelve resolutions. ComBat "
        "takes the differences of the batches' means away, so that batch PCR says little here.",
        *(section(f"{title}, scaled", one) for title, one in summaries.items()),
        *(section(f"{title}, as measured", values.loc[title]) for title in sets),
    )


if __name__ == "__main__":
    main()
