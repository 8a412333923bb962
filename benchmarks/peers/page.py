"""Writes docs/comparison.md from `comparison.template.md` and the figures of the benchmark."""

from __future__ import annotations

import sys
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import figures
import pandas as pd
import summary
from aggregates import clusters_lost, counted, lost, plain
from details import INDEPENDENT
from results import GROUPS, MEASURES, TRUTH, Results

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
from cases import FIVE, SIMULATED
from compared import SIZES
from spapros_scores import FIGURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEMPLATE = Path(__file__).with_name("comparison.template.md")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"
VERDICTS = (
    "ahead, beyond the interval",
    "ahead, within it",
    "behind, within it",
    "behind, beyond it",
)


def write(found: Results) -> None:
    """The page and its pictures."""
    figures.write(found)
    text = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        missing=summary.missing(found),
        counts=counts(found).to_markdown(),
        nearest=nearest(found.against, MEASURES).to_markdown(),
        independent=nearest(found.against, INDEPENDENT).to_markdown(),
        expression=nearest(found.expression_against, (*MEASURES, *INDEPENDENT)).to_markdown(),
        wins="\n".join(wins(found)) or "Nowhere.",
        losses=by_group(lost, found),
        clusters=by_group(clusters_lost, found),
        spapros=by_spapros(found).to_markdown(),
        scored=", ".join(found.having(FIVE, next(iter(FIGURES.values())))) or "none yet",
        truth=truth(found).to_markdown(),
        size=figures.SIZE,
        ranks=figures.RANKS,
        time=figures.TIME,
        time_genes=figures.N_GENES,
    )
    PAGE.write_text(text, encoding="utf-8")


def counts(found: Results) -> pd.DataFrame:
    """How many differences, over measures and sizes, are of which kind.

    A row a method for the five sets, and one for all methods on the sets of every other group.
    """
    against = found.against[found.against["measure"].isin(MEASURES)]
    kinds = [
        VERDICTS[(0 if one.clear else 1) if one.mean >= 0 else (3 if one.clear else 2)]
        for one in against["difference"]
    ]
    five = against["group"] == FIVE
    sets = against.groupby("group")["sets"].max()
    names = {group: f"all methods, {n} {group}" for group, n in sets.items()}
    rows = against["method"].where(five, against["group"].map(names)).rename("GLFS against")
    table = pd.crosstab(rows, pd.Series(kinds, against.index))
    return table.reindex(index=rows.unique(), columns=VERDICTS, fill_value=0)


def nearest(against: pd.DataFrame, measures: tuple[str, ...]) -> pd.DataFrame:
    """On the five sets, the difference to the method that is nearest or furthest ahead."""
    table = pd.DataFrame("", measures, SIZES)
    for (measure, size), part in _five(against, measures):
        table.loc[measure, size] = _worst(part)
    return table


def _worst(against: pd.DataFrame) -> str:
    row = against.loc[against["difference"].map(lambda one: one.mean).idxmin()]
    return f"{counted(row)}, {row['method']}"


def wins(found: Results) -> Iterator[str]:
    """Measures and sizes at which no other method is ahead, in the mean of the five sets."""
    measures = (*MEASURES, *INDEPENDENT)
    ahead = [
        place
        for place, part in _five(found.against, measures)
        if all(one.mean >= 0 for one in part["difference"])
    ]
    for measure in measures:
        sizes = [size for one, size in ahead if one == measure]
        if sizes:
            yield f"- {measure}: at {_listed(sizes)} genes."


def by_group(table: Callable[[Results, str], pd.DataFrame], found: Results) -> str:
    """A table a group of sets, below its name."""
    parts = {group: table(found, group) for group in GROUPS if found.sets(group)}
    return "\n\n".join(
        f"**{group.capitalize()}**\n\n{part.to_markdown() if len(part) else 'None.'}"
        for group, part in parts.items()
    )


def _five(against: pd.DataFrame, measures: tuple[str, ...]):
    """By measure and size, the differences on all of the five sets."""
    against = against[(against["group"] == FIVE) & against["whole"]]
    against = against[against["measure"].isin(measures)]
    return against.groupby(["measure", "genes"], sort=False)


def by_spapros(found: Results) -> pd.DataFrame:
    """In the figures of the evaluator, the method that is nearest or furthest ahead.

    Of those that have the figure on most sets.
    """
    table = pd.DataFrame("", FIGURES.values(), SIZES)
    for (figure, size), part in found.by_evaluator.groupby(["measure", "genes"], sort=False):
        table.loc[figure, size] = _worst(part[part["sets"] == part["sets"].max()])
    return table


def truth(found: Results) -> pd.DataFrame:
    """Of the simulated sets, what panels of every size hold of the truth."""
    tables = {measure: plain(found, SIMULATED, measure) for measure in TRUTH}
    return pd.concat(tables, axis=1).fillna("").pipe(_flat)


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    table.columns = [f"{measure}, {size}" for measure, size in table.columns]
    return table


def _listed(sizes: list[int]) -> str:
    *first, last = map(str, sizes)
    return f"{', '.join(first)} and {last}" if first else last
