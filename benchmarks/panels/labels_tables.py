"""Trials as tables: means, paired margins, and what has no panel."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from labels_methods import METHODS
from methods import RIVAL, installed
from trials import MARKS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from peers.environments import Peer

#: What the mean must exceed that of the best rival by; of the accuracy, nothing less than it.
WANTED = {10: -0.02, 25: -0.02, 50: 0.0, 100: 0.0}


def trials_of(values: pd.DataFrame) -> list[str]:
    """Columns that name a trial."""
    return list(values.columns[: values.columns.get_loc("method")])


def on_part(name: str, values: pd.DataFrame, mark: str) -> str:
    """A method, and on how many of the trials that have this measure, where not on all."""
    trials = values.dropna(subset=mark)[trials_of(values)].drop_duplicates()
    by_genes = values[values["method"] == name].groupby("genes")[mark].count()
    least, most = by_genes.min(), by_genes.max()
    if least == len(trials):
        return name
    unit = "halves" if "seed" in trials else "pairs"
    if least == most:
        return f"{name} ({least} of {len(trials)} {unit})"
    return f"{name} ({least} to {most} of {len(trials)} {unit}, by size)"


def by_size(values: pd.DataFrame, mark: str, *, complete: bool = True) -> pd.DataFrame:
    """Mean over the trials of a set, then over the sets; a column a size.

    Nothing for a method without a panel on one of the sets, but where they need not be complete.
    """
    of_sets = values.groupby(["set", "method", "genes"])[mark].mean().reset_index()
    known = of_sets[of_sets.groupby("set")[mark].transform("count") > 0]
    table = known.pivot_table(
        mark, "method", "genes", aggfunc=lambda one: one.mean(skipna=not complete), dropna=False
    )
    return table.reindex(values["method"].unique()).rename(lambda name: on_part(name, values, mark))


def present(values: pd.DataFrame) -> list[str]:
    """Measures that the sets have: not all have rare types."""
    return [mark for mark in MARKS if values[mark].notna().any()]


def paired(values: pd.DataFrame, ours: str = "GLFS, labels") -> pd.DataFrame:
    """Every rival, with the margins of ours in place of the measures: of what both have."""
    place = [*trials_of(values), "genes"]
    rivals = values[[METHODS[name].group == RIVAL for name in values["method"]]]
    own = values[values["method"] == ours].set_index(place)[list(MARKS)]
    own = own.reindex(pd.MultiIndex.from_frame(rivals[place])).to_numpy()
    return rivals.assign(**(own - rivals[list(MARKS)]))


def margins(values: pd.DataFrame) -> str:
    """Over the best rival of every measure and size, in the mean."""
    lines = []
    for mark in present(values):
        table = by_size(paired(values), mark, complete=False).dropna(how="all")
        for size, over in table.items():
            margin, wanted = over.min(), 0.0 if mark == MARKS[0] else WANTED[size]
            lines.append(
                f"- {mark}, {size} genes: {margin:+.3f} to {over.idxmin()}; wanted {wanted:+.2f}: "
                f"{'holds' if np.round(margin, 9) >= wanted else 'falls short'}"
            )
    return "\n".join(lines) or "Not run."


def failures(values: pd.DataFrame) -> str:
    """Panels that are not there, and those of other code."""
    missing = values.dropna(subset="error").groupby(["method", "set", "error"], sort=False)
    lines = [
        f"- {method} on {name}: {error} ({len(part)} of "
        f"{len(values.query('method == @method and set == @name'))} panels)"
        for (method, name, error), part in missing
    ]
    small = values[values["held"] < values["genes"]].groupby(["method", "set", "genes"], sort=False)
    lines += [
        f"- {method} on {name}: all that it names is {part['held'].min():.0f} to "
        f"{part['held'].max():.0f} genes where {size} are asked for"
        for (method, name, size), part in small
    ]
    lines += [
        f"- {name}: some panels come from an earlier state of the code"
        for name in values.loc[values["old"], "method"].unique()
    ]
    return "\n".join(lines) or "None."


def sections(values: pd.DataFrame) -> list[str]:
    """Everything but the first table, as Markdown."""
    seconds = values.groupby(["method", "genes"])["seconds"].median().unstack()
    pinned = [peer.version for peer in METHODS.values() if isinstance(peer, Peer)]
    return [
        "## Margins of GLFS with labels\n\nOver the best rival of each measure and size: a margin "
        "is the mean, over the sets, of the differences on those halves or pairs alone that the "
        "rival has panels of.\n\n" + margins(values),
        *(
            f"## {mark}, margins over every rival\n\n"
            + by_size(paired(values), mark, complete=False).round(3).to_markdown()
            for mark in present(values)
        ),
        *(
            f"## {mark}, mean\n\n" + by_size(values, mark).round(3).to_markdown()
            for mark in present(values)[1:]
        ),
        *(
            f"## {mark} on {name}\n\n" + by_size(part, mark).round(3).to_markdown()
            for name, part in values.groupby("set", sort=False)
            for mark in present(part)
        ),
        "## Seconds, median\n\nOf the panels of all sizes together, but for SupervisedGLFS.\n\n"
        + seconds.reindex(list(METHODS)).round(1).to_markdown(),
        "## Failures\n\n" + failures(values),
        f"Rivals: {', '.join([installed('scanpy'), *pinned])}.",
    ]
