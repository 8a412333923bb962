"""All that is stored of the compared methods, as tables are made from it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import costs
import details
import intervals
import numpy as np
import pandas as pd
import spapros_scores

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
from cases import CASES, FIVE, MORE, QUARTERS, RESAMPLES, SIMULATED
from compared import COMPARED, EXPRESSION, OURS, RIVALS, SIZES, Method, selections
from details import INDEPENDENT

GROUPS = (FIVE, QUARTERS, SIMULATED, MORE)
#: With resamples, and so with intervals.
MEASURES = (
    "accuracy",
    "macro-F1",
    "rare-type F1",
    "neighbours kept",
    "imputation",
    "cell score",
)
#: Of simulated cells.
TRUTH = ("true genes", "true directions")
RESAMPLED = (*MEASURES, *INDEPENDENT, *TRUTH)
CLUSTERS = ("Leiden ARI", "k-means NMI", "batch mixing")
#: For an interval over sets alone.
FEWEST_SETS = 3


@dataclass
class Results:
    """A row a set, method and size; and the resampled measures by these three."""

    table: pd.DataFrame
    resampled: dict[tuple[str, str, int], dict[str, np.ndarray]]

    def sets(self, group: str) -> list[str]:
        """Titles of the sets of a group."""
        return list(self.table.loc[self.table["group"] == group, "set"].unique())

    def known(self, group: str, measure: str, size: int, *methods: str) -> list[str]:
        """Sets of the group on which all these methods have the measure."""
        return [
            title
            for title in self.sets(group)
            if all(
                np.isfinite(self.resampled.get((title, one, size), {}).get(measure, [np.nan])[0])
                for one in methods
            )
        ]

    def stack(self, sets: list[str], measure: str, size: int, method: str) -> np.ndarray:
        """Sets × (1 + resamples)."""
        return np.stack([self.resampled[title, method, size][measure] for title in sets])

    def having(self, group: str, measure: str) -> list[str]:
        """Sets on which any method has the measure: not all have rare types."""
        part = self.table[self.table["group"] == group].dropna(subset=measure)
        return list(part["set"].unique())

    @cached_property
    def against(self) -> pd.DataFrame:
        """GLFS minus every other method, as `minus_others` has it."""
        return self.minus_others(OURS)

    @cached_property
    def expression_against(self) -> pd.DataFrame:
        """The same with panels that are chosen for the expression of all genes."""
        return self.minus_others(EXPRESSION)

    def minus_others(self, own: str) -> pd.DataFrame:
        """An `Estimate` a group, measure, size and method of another package.

        The interval of `difference` is over sets and cells, that of `cells` over cells alone.
        `sets` says on how many sets both have the measure, and `whole` whether those are all.
        """
        rows = []
        for group, measure, rival in product(GROUPS, RESAMPLED, RIVALS):
            wanted = len(self.having(group, measure))
            for size in SIZES:
                sets = self.known(group, measure, size, own, rival)
                if sets:
                    ours, theirs = (self.stack(sets, measure, size, one) for one in (own, rival))
                    found = intervals.paired(ours, theirs), intervals.over_cells(ours - theirs)
                    rows.append(
                        (group, measure, rival, size, *found, len(sets), len(sets) == wanted)
                    )
        columns = ["group", "measure", "method", "genes", "difference", "cells", "sets", "whole"]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def by_evaluator(self) -> pd.DataFrame:
        """GLFS minus every other method in the figures of Spapros, as `against` has them.

        The evaluator gives a number a set, so that the interval of `difference` is over sets alone;
        two sets have none.
        """
        five = self.table[self.table["group"] == FIVE]
        five = five.set_index(["method", "genes", "set"]).sort_index()
        rows = []
        for figure, rival, size in product(spapros_scores.FIGURES.values(), RIVALS, SIZES):
            both = pd.DataFrame({one: five.loc[(one, size), figure] for one in (OURS, rival)})
            values = both.dropna().to_numpy().T[..., None]
            n_sets = values.shape[1]
            if n_sets:
                found = intervals.paired(*np.broadcast_to(values, (2, n_sets, 1 + RESAMPLES)))
                if n_sets < FEWEST_SETS:
                    found = replace(found, low=np.nan, high=np.nan)
                whole = n_sets == len(self.having(FIVE, figure))
                rows.append((figure, rival, size, found, n_sets, whole))
        columns = ["measure", "method", "genes", "difference", "sets", "whole"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def behind(self) -> pd.DataFrame:
        """Rows of `against` where GLFS is behind, and whether that is beyond the interval."""
        against = self.against
        means, clear = (
            np.array([getattr(one, name) for one in against["difference"]])
            for name in ("mean", "clear")
        )
        return against.assign(clear=clear)[means < 0]


def read() -> Results:
    """Everything that is stored; nothing is computed."""
    rows, resampled = [], {}
    for title, case in CASES.items():
        for name, method in COMPARED.items():
            kept = selections(name, case)
            alone = costs.stored(name, case) if isinstance(method, Method) else {}
            for size in SIZES:
                row = {"set": title, "group": case.group, "method": name, "genes": size}
                panel = kept.panel(size)
                genes = panel.pop("genes", None)
                row |= {"seconds": panel.get("seconds"), "memory": panel.get("memory")}
                if isinstance(method, Method):
                    row |= {"seconds": alone.get("seconds"), "memory": alone.get("memory")}
                    row |= {"alone": alone.get("error")}
                if genes is None:
                    row["error"] = panel.get("error", "not run")
                else:
                    found = details.kept(case, genes, compute=False)
                    resampled[title, name, size] = found
                    row |= {one: found[one][0] for one in RESAMPLED if one in found}
                    clusters = cache.measures(case, genes, compute=False)
                    row |= {one: clusters.get(one) for one in CLUSTERS}
                    row |= _by_spapros(case, genes)
                    row |= {"held": len(genes), "old": not kept.current}
                rows.append(row)
    texts = ["set", "group", "method", "genes", "error", "alone", "by Spapros", "old"]
    numbers = ["seconds", "memory", "held", *RESAMPLED, *CLUSTERS]
    numbers += spapros_scores.FIGURES.values()
    table = pd.DataFrame(rows).reindex(columns=[*texts, *numbers])
    return Results(table.astype(dict.fromkeys(numbers, float)), resampled)


def _by_spapros(case, genes: list[int]) -> dict:
    scored = spapros_scores.stored(case).get(spapros_scores.key(genes), {})
    scores = scored.get("scores", {})
    found = {title: scores.get(name) for name, title in spapros_scores.FIGURES.items()}
    return found | {"by Spapros": scored.get("error")}
