"""What is compared with the other tools, and all that is stored of it.

Panels, costs and Spapros' figures; then means, differences and ranks.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from . import measures, resampled, store, tables
from .data import DATASETS, FIVE, LABEL, MORE, QUARTERS, RESAMPLES, SIMULATED, Cells
from .methods import (
    COMPARED,
    DEFAULT,
    EXPRESSION,
    RIVALS,
    Method,
    Tool,
    environments,
    shortened,
)
from .tables import TITLES, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIZES = (10, 25, 50, 100, 150)
#: Processor time of a method of this environment.
SECONDS = 3600
EVALUATOR = environments.HERE / "spapros_evaluator.py"
#: Processor time for one of the four parts of Spapros' evaluation of a panel.
PART_SECONDS, SECONDS_PER_CELL, PARTS = 100, 0.1, 4
#: Spapros' figures take minutes a panel: of these methods only, on the five datasets.
SCORED = (
    DEFAULT,
    EXPRESSION,
    "Spapros PCA",
    "geneBasis",
    "SCMER",
    "GeneCover",
    "HVG seurat_v3",
    "Pearson residuals",
    "hotspot, by C",
)
#: What Spapros' evaluator calls its figures, and what the tables do.
FIGURES = {
    "cluster_similarity nmi_5_20": "NMI of 5 to 20 clusters",
    "cluster_similarity nmi_21_60": "NMI of 21 to 60 clusters",
    "knn_overlap mean_overlap_AUC": "kNN overlap, AUC",
    "forest_clfs accuracy": "forest accuracy",
    "forest_clfs perct acc > 0.8": "types with accuracy > 0.8",
    "gene_corr 1 - mean": "1 − mean gene correlation",
    "gene_corr perct max < 0.8": "genes correlated < 0.8",
}


def method_on(name: str, cells: Cells) -> Method | Tool:
    """Return a method as it is asked on a dataset: a tool has less time on quarters."""
    return shortened(COMPARED[name]) if cells.group == QUARTERS else COMPARED[name]


def panels(name: str, cells: Cells) -> store.Entry:
    """Return the panels of a method on a dataset that are stored."""
    return store.entry_of(name, cells.name, method_on(name, cells))


def genes_of(cells: Cells, names: list[str], sizes: list[int]) -> Iterator[list[int]]:
    """Return the genes of every panel that is stored."""
    for name in names:
        entry = panels(name, cells)
        for size in sizes:
            genes = entry.panel(size).get("genes")
            if genes:
                yield genes


def cost_alone(name: str, cells: Cells) -> store.Entry:
    """Return what is stored of a method of this environment in a process of its own."""
    method = COMPARED[name]
    return store.Entry(cells.name, f"{name} alone", method.fingerprint, shared=not method.own)


def measure_cost(name: str, cells: Cells) -> None:
    """Measure time and memory of the largest panel in a new process, where not stored.

    The tools run in processes of their own: so that both can be compared, these figures too include
    the start of Python, the imports, and reading the cells.
    """
    entry, largest = cost_alone(name, cells), max(SIZES)
    if entry.has(largest):
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cells.h5ad"
        cells.adata.write_h5ad(file)
        call = [sys.executable, "-m", "benchmarks.peers", "--alone", name, file]
        run = environments.run(call, tables.HOME.parent, SECONDS)
    found = {"error": run.error} if run.error else {"seconds": run.seconds, "memory": run.memory}
    entry.put(largest, **found)
    say(f"{cells.name}, {name} alone: {found}")


def spapros_figures(cells: Cells) -> store.Entry:
    """Return Spapros' figures: ``{"scores"}`` by key of the panel, with ``"error"`` of a part."""
    pinned = "\n".join(environments.REQUIREMENTS["spapros"])
    code = store.digest(EVALUATOR.read_bytes() + pinned.encode())
    return store.Entry(cells.name, "Spapros figures", code, shared=True)


def key(genes: list[int]) -> str:
    """Return the name of a panel, whichever order its genes have."""
    return store.digest(repr(sorted(genes)))


def evaluate(cells: Cells, chosen: list[list[int]]) -> None:
    """Have Spapros score the panels that are not scored yet, the smallest first.

    Its script writes a line a panel; where a run was interrupted, the next one takes these up.
    """
    entry = spapros_figures(cells)
    lines = store.HOME / cells.name / f"spapros-{entry.fingerprint}.jsonl"
    _take_up(lines, entry)
    names = cells.adata.var_names
    rising = sorted(chosen, key=len)
    missing = {key(genes): list(names[genes]) for genes in rising if not entry.has(key(genes))}
    if not missing:
        return
    lines.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file, panels_file = Path(folder) / "cells.h5ad", Path(folder) / "panels.json"
        cells.adata.write_h5ad(file)
        panels_file.write_text(json.dumps(missing), encoding="utf-8")
        python = COMPARED["Spapros PCA"].command()[:2]
        allowed = PART_SECONDS + SECONDS_PER_CELL * cells.adata.n_obs
        call = [*python, EVALUATOR, file, LABEL, panels_file, lines, str(allowed)]
        run = environments.run(call, folder, PARTS * allowed * (len(missing) + 1))
    _take_up(lines, entry)
    say(f"{cells.name}: Spapros scored {len(missing)} panels; {run.error or 'done'}")


def _take_up(lines: Path, entry: store.Entry) -> None:
    if lines.exists():
        for row in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
            entry.put(row.pop("key"), **row)
        lines.unlink()


GROUPS = (FIVE, QUARTERS, SIMULATED, MORE)
#: With resamples, and so with intervals over cells.
MEASURES = (
    "accuracy",
    "macro-F1",
    "rare-type F1",
    "kNN preservation",
    "imputation",
    "cell score",
)
#: With panel and reference from disjoint halves of the molecules.
SPLIT = tuple(TITLES[name] for name in resampled.INDEPENDENT)
#: Of simulated cells.
TRUTH = ("true genes", "true axes")
RESAMPLED = (*MEASURES, *SPLIT, *TRUTH)
#: One number a dataset: the interval of a difference is over datasets alone, of three at least.
SCORES = tuple(FIGURES.values())
CLUSTERS = ("Leiden ARI", "k-means NMI", "batch mixing")
FEWEST_DATASETS = 3


@dataclass
class Results:
    """A row a dataset, method and size; and the resampled measures by these three."""

    table: pd.DataFrame
    values: dict[tuple[str, str, int], dict[str, np.ndarray]]

    def datasets(self, group: str) -> list[str]:
        """Return the titles of the datasets of a group."""
        return list(self.table.loc[self.table["group"] == group, "dataset"].unique())

    def known(self, group: str, measure: str, size: int, *methods: str) -> list[str]:
        """Return the datasets of the group on which all these methods have the measure."""
        return [
            title
            for title in self.datasets(group)
            if all(
                np.isfinite(self.values.get((title, one, size), {}).get(measure, [np.nan])[0])
                for one in methods
            )
        ]

    def stack(self, datasets: list[str], measure: str, size: int, method: str) -> np.ndarray:
        """Return an array of datasets × (1 + resamples)."""
        return np.stack([self.values[title, method, size][measure] for title in datasets])

    def having(self, group: str, measure: str) -> list[str]:
        """Return the datasets on which any method has the measure: not all have rare types."""
        part = self.table[self.table["group"] == group].dropna(subset=measure)
        return list(part["dataset"].unique())

    @property
    def scored(self) -> list[str]:
        """Sets where Spapros has scored any panel."""
        return self.having(FIVE, SCORES[0])

    @cached_property
    def against(self) -> pd.DataFrame:
        """glfs_bio minus every other method: an `Estimate` a group, measure, size and method.

        The interval of `difference` is over datasets and cells, that of `cells` over cells alone.
        `datasets` is the number of those where both have the measure, `whole` if those are all.
        """
        rows = []
        for group, measure, rival in product(GROUPS, (*RESAMPLED, *SCORES), RIVALS):
            n_datasets = len(self.having(group, measure))
            for size in SIZES:
                datasets = self.known(group, measure, size, DEFAULT, rival)
                if measure in SCORES:  # the draws of datasets depend on their order
                    datasets = sorted(datasets)
                if datasets:
                    ours, theirs = (
                        self.stack(datasets, measure, size, one) for one in (DEFAULT, rival)
                    )
                    paired, over = tables.paired(ours, theirs), tables.over_cells(ours - theirs)
                    if measure in SCORES and len(datasets) < FEWEST_DATASETS:
                        paired = tables.Estimate(paired.mean, np.nan, np.nan)
                    place = group, measure, rival, size
                    rows.append((*place, paired, over, len(datasets), len(datasets) == n_datasets))
        columns = [
            "group",
            "measure",
            "method",
            "genes",
            "difference",
            "cells",
            "datasets",
            "whole",
        ]
        return pd.DataFrame(rows, columns=columns)

    @property
    def behind(self) -> pd.DataFrame:
        """Rows of `against` where glfs_bio is behind, without the figures of Spapros."""
        against = self.against[~self.against["measure"].isin(SCORES)]
        return against[[one.mean < 0 for one in against["difference"]]]


def read() -> Results:
    """Return everything that is stored; nothing is computed."""
    rows, values = [], {}
    for title, cells in DATASETS.items():
        scored = spapros_figures(cells)
        for name, method in COMPARED.items():
            entry = panels(name, cells)
            alone = {}
            if isinstance(method, Method):
                alone = cost_alone(name, cells).get(max(SIZES))
            for size in SIZES:
                row = {"dataset": title, "group": cells.group, "method": name, "genes": size}
                panel = entry.panel(size)
                genes = panel.pop("genes", None)
                row |= {"seconds": panel.get("seconds"), "memory": panel.get("memory")}
                if isinstance(method, Method):
                    row |= {"seconds": alone.get("seconds"), "memory": alone.get("memory")}
                    row |= {"alone": alone.get("error")}
                if genes is None:
                    row["error"] = panel.get("error", "not run")
                else:
                    by_spapros = scored.get(key(genes)) if scored.current else {}
                    found = tables.titled(resampled.measured(cells, genes, compute=False))
                    for figure, value in by_spapros.get("scores", {}).items():
                        found[FIGURES[figure]] = np.full(1 + RESAMPLES, value)
                    values[title, name, size] = found
                    row |= {one: found[one][0] for one in (*RESAMPLED, *SCORES) if one in found}
                    clusters = measures.measured(cells, genes, compute=False)
                    row |= {one: clusters.get(one) for one in CLUSTERS}
                    row |= {"by Spapros": by_spapros.get("error")}
                    row |= {"held": len(genes), "old": not entry.current}
                rows.append(row)
    texts = ["dataset", "group", "method", "genes", "error", "alone", "by Spapros", "old"]
    numbers = ["seconds", "memory", "held", *RESAMPLED, *SCORES, *CLUSTERS]
    table = pd.DataFrame(rows).reindex(columns=[*texts, *numbers])
    return Results(table.astype(dict.fromkeys(numbers, float)), values)


def counted(row: pd.Series) -> str:
    """Return a difference, with the number of its datasets where the methods do not share all."""
    return row["difference"].difference + ("" if row["whole"] else f" ({row['datasets']})")


def by_size(methods: list[str], cell: Callable[[str, int], str]) -> pd.DataFrame:
    """Return a row a method, a column a size; rows without any content are left out."""
    table = pd.DataFrame([[cell(name, size) for size in SIZES] for name in methods], methods, SIZES)
    return table[(table != "").any(axis=1)].rename_axis("method")


def means(found: Results, group: str, measure: str) -> pd.DataFrame:
    """Return means over the datasets of a group, of methods that have all."""
    datasets = found.having(group, measure)

    def cell(name: str, size: int) -> str:
        if not datasets or found.known(group, measure, size, name) != datasets:
            return ""
        return tables.over_cells(found.stack(datasets, measure, size, name)).text

    return by_size(list(COMPARED), cell)


def differences(found: Results, group: str, measure: str) -> pd.DataFrame:
    """Return glfs_bio minus every other method."""
    against = found.against.query("group == @group and measure == @measure")
    against = against.set_index(["method", "genes"])

    def cell(rival: str, size: int) -> str:
        if (rival, size) not in against.index:
            return ""
        return counted(against.loc[rival, size])

    return by_size(RIVALS, cell)


def plain(found: Results, group: str, measure: str) -> pd.DataFrame:
    """Return means without intervals, of methods that have all datasets."""
    table = found.table[found.table["group"] == group]
    datasets = found.having(group, measure)

    def cell(name: str, size: int) -> str:
        part = table[(table["method"] == name) & (table["genes"] == size)]
        part = part.loc[part["dataset"].isin(datasets), measure]
        return f"{part.mean():.3f}" if len(part) and part.notna().all() else ""

    return by_size(list(COMPARED), cell)


def clusters_lost(found: Results, group: str) -> pd.DataFrame:
    """Return the measures of clusters in which methods are ahead in the mean."""
    lost = {}
    for measure in CLUSTERS:
        values = plain(found, group, measure).apply(pd.to_numeric)
        if DEFAULT in values.index:
            over = values.loc[DEFAULT] - values.loc[values.index.isin(RIVALS)]
            lost[measure] = over.map(lambda one: f"{one:+.3f}" if one < 0 else "")
    if not lost:
        return pd.DataFrame()
    table = pd.concat(lost)
    table = table[(table != "").any(axis=1)]
    return table.rename_axis(["measure", "method"]).reset_index().set_index("measure")


def spent(found: Results) -> pd.DataFrame:
    """Return the median over the five datasets of processor time and peak memory."""
    table = found.table[(found.table["group"] == FIVE) & (found.table["genes"] == max(SIZES))]
    return table.groupby("method", sort=False)[["seconds", "memory"]].median().dropna(how="all")


def plain_of_dataset(found: Results, title: str, measure: str) -> pd.DataFrame:
    """Return a measure on one dataset, with intervals over its cells."""
    group = DATASETS[title].group

    def cell(name: str, size: int) -> str:
        if title not in found.known(group, measure, size, name):
            return ""
        return tables.over_cells(found.stack([title], measure, size, name)).text

    return by_size(list(COMPARED), cell)
