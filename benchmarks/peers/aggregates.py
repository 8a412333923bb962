"""Means, differences, tests and ranks from what is stored, as tables of text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import intervals
import numpy as np
import pandas as pd
from results import CLUSTERS, GROUPS, MEASURES, RIVALS, Results

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
from cases import CASES, FIVE
from compared import COMPARED, OURS, SIZES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        row = against.loc[rival, size]
        return difference(row["difference"]) + ("" if row["whole"] else f" ({row['sets']})")

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


def clusters_lost(found: Results) -> Iterator[str]:
    """Measures of clusters, which have no intervals, in which methods are ahead in the mean."""
    for group in GROUPS:
        for measure in CLUSTERS:
            values = plain(found, group, measure).apply(pd.to_numeric)
            if OURS not in values.index:
                continue
            for name, row in (values.loc[OURS] - values.drop(index=OURS)).iterrows():
                behind = [f"{size} genes {value:+.3f}" for size, value in row.items() if value < 0]
                if behind:
                    yield f"- {group}, {measure}, {name}: {'; '.join(behind)}."


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
