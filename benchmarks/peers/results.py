"""All that is stored of the compared methods: means, differences, tests and ranks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import measures, resampled, tables
from ..data import DATASETS, FIVE, MORE, QUARTERS, RESAMPLES, SIMULATED
from ..methods import COMPARED, DEFAULT, RIVALS, Method
from ..tables import TITLES
from . import FIGURES, SIZES, cost_alone, key, panels, spapros_figures

if TYPE_CHECKING:
    from collections.abc import Callable


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
