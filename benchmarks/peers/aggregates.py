"""Means, differences, tests and ranks from what is stored, as tables of text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import intervals
import numpy as np
import pandas as pd
from results import CLUSTERS, MEASURES, Results

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
from cases import CASES, FIVE
from compared import COMPARED, OURS, RIVALS, SIZES

if TYPE_CHECKING:
    from collections.abc import Callable

    from intervals import Estimate


def number(value: float) -> str:
    """Three digits."""
    return f"{value:.3f}"


def estimate(found: Estimate) -> str:
    """A mean and its interval."""
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def difference(found: Estimate) -> str:
    """With its sign, bold where the interval excludes zero; without one where there is none."""
    if np.isnan(found.low):
        return f"{found.mean:+.3f}"
    text = f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
    return f"**{text}**" if found.clear else text


def counted(row: pd.Series) -> str:
    """A difference, with the number of its sets where the methods do not share all."""
    return difference(row["difference"]) + ("" if row["whole"] else f" ({row['sets']})")


def by_size(methods: list[str], cell: Callable[[str, int], str]) -> pd.DataFrame:
    """A row a method, a column a size; rows without any content are left out."""
    table = pd.DataFrame([[cell(name, size) for size in SIZES] for name in methods], methods, SIZES)
    return table[(table != "").any(axis=1)].rename_axis("method")


def means(found: Results, group: str, measure: str) -> pd.DataFrame:
    """Means over the sets of a group, of methods that have all."""
    sets = found.having(group, measure)

    def cell(name: str, size: int) -> str:
        if not sets or found.known(group, measure, size, name) != sets:
            return ""
        return estimate(intervals.over_cells(found.stack(sets, measure, size, name)))

    return by_size(list(COMPARED), cell)


def differences(found: Results, group: str, measure: str) -> pd.DataFrame:
    """GLFS minus every other method."""
    return _by_rival(found.against.query("group == @group and measure == @measure"))


def differences_by_spapros(found: Results, figure: str) -> pd.DataFrame:
    """The same of a figure of Spapros, with intervals over the sets."""
    return _by_rival(found.by_evaluator.query("measure == @figure"))


def _by_rival(against: pd.DataFrame) -> pd.DataFrame:
    against = against.set_index(["method", "genes"])

    def cell(rival: str, size: int) -> str:
        if (rival, size) not in against.index:
            return ""
        return counted(against.loc[rival, size])

    return by_size(RIVALS, cell)


def tests(found: Results, group: str) -> pd.DataFrame:
    """Mean difference over sets and sizes, and the p value of Wilcoxon's signed rank test."""
    rows = {}
    for rival in RIVALS:
        row = {}
        for measure in MEASURES:
            pairs = [
                found.stack(sets, measure, size, OURS)[:, 0]
                - found.stack(sets, measure, size, rival)[:, 0]
                for size in SIZES
                if (sets := found.known(group, measure, size, OURS, rival))
            ]
            if pairs:
                values = np.concatenate(pairs)
                p = intervals.signed_rank(values)
                row[measure] = f"{values.mean():+.3f}, p = {p:.1g} ({len(values)})"
        rows[rival] = row
    table = pd.DataFrame.from_dict(rows, orient="index").reindex(columns=MEASURES)
    return table.dropna(how="all").fillna("").rename_axis("method")


def ranks(found: Results, group: str) -> pd.DataFrame:
    """Mean rank over sets and sizes, measure by measure, of methods that have all panels."""
    table = found.table[found.table["group"] == group]
    measures = [*MEASURES, *CLUSTERS]
    placed = {}
    for measure in measures:
        known = table[table.groupby("set")[measure].transform("count") > 0]
        full = known.groupby("method")[measure].transform(lambda one: one.notna().all())
        known = known[full]
        rank = known.groupby(["set", "genes"])[measure].rank(ascending=False)
        placed[measure] = rank.groupby(known["method"]).mean()
    found_ranks = pd.DataFrame(placed).reindex(list(COMPARED))
    found_ranks = found_ranks.dropna(how="all").dropna(axis="columns", how="all")
    return found_ranks.loc[found_ranks.mean(axis=1).sort_values().index].rename_axis("method")


def plain(found: Results, group: str, measure: str) -> pd.DataFrame:
    """Means without intervals, of methods that have all sets."""
    table = found.table[found.table["group"] == group]
    sets = found.having(group, measure)

    def cell(name: str, size: int) -> str:
        part = table[(table["method"] == name) & (table["genes"] == size)]
        part = part.loc[part["set"].isin(sets), measure]
        return number(part.mean()) if len(part) and part.notna().all() else ""

    return by_size(list(COMPARED), cell)


def clusters_lost(found: Results, group: str) -> pd.DataFrame:
    """Measures of clusters, which have no intervals, in which methods are ahead in the mean."""
    lost = {}
    for measure in CLUSTERS:
        values = plain(found, group, measure).apply(pd.to_numeric)
        if OURS in values.index:
            over = values.loc[OURS] - values.loc[values.index.isin(RIVALS)]
            lost[measure] = over.map(lambda one: f"{one:+.3f}" if one < 0 else "")
    return _rows(pd.concat(lost)) if lost else pd.DataFrame()


def lost(found: Results, group: str) -> pd.DataFrame:
    """Differences below zero, a row a measure and a method that is ahead in the mean."""
    behind = found.behind.query("group == @group")
    texts = behind.assign(text=[counted(row) for _, row in behind.iterrows()])
    texts = texts.set_index(["measure", "method"])
    order = texts.index.unique()
    table = texts.set_index("genes", append=True)["text"].unstack("genes")
    return _rows(table.reindex(index=order, columns=SIZES).fillna(""))


def _rows(table: pd.DataFrame) -> pd.DataFrame:
    """With measure and method as columns, and no row without content."""
    table = table[(table != "").any(axis=1)]
    return table.rename_axis(["measure", "method"]).reset_index().set_index("measure")


def spent(found: Results) -> pd.DataFrame:
    """Median over the five sets of processor time and peak memory."""
    table = found.table[(found.table["group"] == FIVE) & (found.table["genes"] == max(SIZES))]
    return table.groupby("method", sort=False)[["seconds", "memory"]].median().dropna(how="all")


def plain_of_set(found: Results, title: str, measure: str) -> pd.DataFrame:
    """A measure on one set, with intervals over its cells."""
    group = CASES[title].group

    def cell(name: str, size: int) -> str:
        if title not in found.known(group, measure, size, name):
            return ""
        return estimate(intervals.over_cells(found.stack([title], measure, size, name)))

    return by_size(list(COMPARED), cell)
