"""Half of a panel of 100 genes, and 50 more: by extend_panel, and by every other ranking.

python benchmarks/panels/workbench_extensions.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import sets
from metrics import Panel, accuracy, macro_f1, reconstruction
from workbench import RIVALS, Workplace, say

import glfs_bio

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SIZE, HALVES = 100, 5
EXTEND, AT_ONCE, ALONE = "extend_panel", f"GLFS, {SIZE} at once", "the half alone"
OWN, MARKERS = "GLFS", "markers of the labels"
MEASURES = {"accuracy": accuracy, "macro-F1": macro_f1, "neighbours kept": reconstruction}


def extended(place: Workplace, half: list[int], rng: np.random.Generator) -> dict[str, list[int]]:
    """The half with 50 more genes, by every method."""
    adata, n_more = place.cells.adata, SIZE - len(half)
    added = glfs_bio.tl.extend_panel(adata, adata.var_names[half].tolist(), n_more, inplace=False)
    orders = {
        **place.rivals,
        "variance": place.by_variance.tolist(),
        "random": rng.permutation(adata.n_vars).tolist(),
    }
    held = set(half)
    more = {name: [gene for gene in genes if gene not in held] for name, genes in orders.items()}
    return {
        ALONE: half,
        EXTEND: half + adata.var_names.get_indexer(added["gene"]).tolist(),
        AT_ONCE: place.best.order[:SIZE].tolist(),
        **{name: half + genes[:n_more] for name, genes in more.items()},
    }


def one_set(name: str) -> list[dict]:
    """One row a panel to begin with, half and method."""
    place = Workplace(sets.Cells(name))
    glfs_bio.pp.structure(place.cells.adata)
    whole = {OWN: place.best.order[:SIZE], MARKERS: np.array(place.markers("t-test")[:SIZE])}
    rows = []
    for start, genes in whole.items():
        for draw in range(HALVES):
            rng = np.random.default_rng(draw)
            half = rng.permutation(genes)[: SIZE // 2].tolist()
            for method, found in extended(place, half, rng).items():
                panel = Panel(place.cells, tuple(found))
                row = {"set": name, "start": start, "method": method, "kept": place.kept(found)}
                rows.append(row | {what: measure(panel) for what, measure in MEASURES.items()})
        say(f"{name}, half of {start}: done")
    return rows


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over halves and sets, and accuracy set by set."""
    measures = ["kept", *MEASURES]
    by_set = rows.groupby(["method", "set"], sort=False)[measures].mean()
    table = by_set.groupby("method", sort=False).mean()
    accuracies = by_set["accuracy"].unstack("set")[list(sets.SETS)]
    return table.join(accuracies.add_prefix("accuracy, "))


def verdicts(table: pd.DataFrame) -> str:
    """extend_panel against 100 at once and the best of the others, in the mean over the sets."""
    others = table.loc[[*RIVALS, "variance", "random"]]
    lines = []
    for what in ("kept", *MEASURES):
        ours, best = table.loc[EXTEND, what], others[what].idxmax()
        lines.append(
            f"- {what}: {ours:.3f}; {ours - table.loc[AT_ONCE, what]:+.3f} against {AT_ONCE}, "
            f"{ours - others.loc[best, what]:+.3f} against the best other ({best}), "
            f"{ours - table.loc[ALONE, what]:+.3f} against {ALONE}"
        )
    columns = [column for column in table if column.startswith("accuracy, ")]
    gaps = table.loc[EXTEND, columns] - others[columns].max()
    worst = gaps.idxmin()
    lines.append(
        f"- worst set: {gaps[worst]:+.3f} against the best other there "
        f"({others[worst].idxmax()}, {worst.removeprefix('accuracy, ')})"
    )
    return "\n".join(lines)


def main() -> None:
    """Every set."""
    rows = pd.DataFrame([row for name in sets.SETS for row in one_set(name)])
    tables = {start: summary(part) for start, part in rows.groupby("start", sort=False)}
    report.write(
        "workbench_extensions",
        f"A random half of GLFS's {SIZE} genes, and {SIZE // 2} more",
        tables[OWN].round(3),
        verdicts(tables[OWN]),
        f"Means over {HALVES} random halves of every set. Others: the next {SIZE // 2} genes of "
        "their own ranking that the half does not hold. No method sees labels; accuracy and "
        "macro-F1 are of the 15 nearest cells, leave-one-out.",
        f"## A random half of {SIZE} markers of the labels, and {SIZE // 2} more\n\n"
        "A panel that GLFS did not choose: markers by Welch's t, of the labels in turn.\n\n"
        + tables[MARKERS].round(3).to_markdown(),
        verdicts(tables[MARKERS]),
    )


if __name__ == "__main__":
    main()
