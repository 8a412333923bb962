"""A panel of 50 genes after each gene is swapped for its first substitute, in several orders.

python benchmarks/panels/workbench_substitutes.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import sets
from glfs_bio.criterion.substitutes import swaps
from metrics import Panel, accuracy, macro_f1
from workbench import Workplace, say

from glfs_bio.measures.cells import neighbors_kept

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SIZE, DRAWS = 50, 3
TAKEN_OVER, LOST = "most taken over (substitutes)", "least lost (F(S − i + j))"
CORRELATED, RANDOM = "most correlated", "random"
PANEL, NONE = "the panel", "none (without the gene)"
MEASURES = ("kept", "accuracy", "macro-F1", "predicted as before", "nearest as before")


def correlations(values, panel: np.ndarray) -> np.ndarray:
    """|Pearson| of the panel's genes with every gene, over log counts; 0 where nothing varies."""
    own = values[:, panel].toarray().astype(float)
    own -= own.mean(axis=0)
    own /= np.linalg.norm(own, axis=0)
    mean = np.asarray(values.mean(axis=0)).ravel()
    spread = np.asarray(values.multiply(values).sum(axis=0)).ravel() - len(own) * mean**2
    lengths = np.sqrt(np.maximum(spread, 0.0))
    product = np.abs((values.T @ own).T)
    return np.divide(product, lengths, out=np.zeros_like(product), where=lengths > 1e-8)


def orders(place: Workplace, panel: np.ndarray) -> dict[str, np.ndarray]:
    """A score of every gene as a substitute of every gene of the panel, larger is better."""
    found = swaps(place.criterion, panel, panel)
    scores = {
        TAKEN_OVER: found.taken_over,
        LOST: -found.lost,
        CORRELATED: correlations(place.cells.adata.X, panel),
    }
    for draw in range(DRAWS):
        scores[f"{RANDOM} {draw}"] = np.random.default_rng(draw).random(found.lost.shape)
    for score in scores.values():
        score[:, panel] = -np.inf
    return scores


def distinct(scores: np.ndarray) -> list[int]:
    """The first substitute of each gene that none before it has."""
    chosen: list[int] = []
    for score in scores:
        left = score.copy()
        left[chosen] = -np.inf
        chosen.append(int(left.argmax()))
    return chosen


def measured(place: Workplace, genes: list[int], before: Panel) -> dict[str, float]:
    """Kept share and accuracy, and whether cells look as they do in the panel."""
    panel = Panel(place.cells, tuple(genes))
    return {
        "kept": place.kept(genes),
        "accuracy": accuracy(panel),
        "macro-F1": macro_f1(panel),
        "predicted as before": float(np.mean(panel.predicted == before.predicted)),
        "nearest as before": float(neighbors_kept(panel.nearest, before.nearest).mean()),
    }


def one_set(name: str) -> list[dict]:
    """One row a swap, and one for all swaps at once."""
    place = Workplace(sets.Cells(name))
    panel = place.best.order[:SIZE]
    before = Panel(place.cells, tuple(panel))
    rows = [
        {"by": PANEL, "how": how} | measured(place, panel.tolist(), before)
        for how in ("one", "all")
    ]
    for gene in panel:
        rest = panel[panel != gene].tolist()
        rows.append({"by": NONE, "how": "one"} | measured(place, rest, before))
    for by, scores in orders(place, panel).items():
        firsts = scores.argmax(axis=1)
        about = {"by": by.rstrip("0123456789 "), "substitutes": len(np.unique(firsts))}
        for i, first in enumerate(firsts):
            genes = panel.copy()
            genes[i] = first
            rows.append(about | {"how": "one"} | measured(place, genes.tolist(), before))
        rows.append(about | {"how": "all"} | measured(place, distinct(scores), before))
        say(f"{name}, {by}: done")
    return [{"set": name} | row for row in rows]


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over the sets, and accuracy set by set."""
    by_set = rows.groupby(["by", "set"], sort=False)[[*MEASURES, "substitutes"]].mean()
    table = by_set.groupby("by", sort=False).mean()
    accuracies = by_set["accuracy"].unstack("set")[list(sets.SETS)]
    return table.join(accuracies.add_prefix("accuracy, "))


def verdicts(one: pd.DataFrame, all_at_once: pd.DataFrame) -> str:
    """Which order of substitutes is better, by every measure."""
    lines = []
    for how, table in (("one at a time", one), ("all at once", all_at_once)):
        for what in MEASURES:
            values = table.loc[[TAKEN_OVER, LOST, CORRELATED, RANDOM], what]
            told = ", ".join(f"{by} {value:.4f}" for by, value in values.items())
            lines.append(f"- {how}, {what}: {told}; best: {values.idxmax()}")
    return "\n".join(lines)


def main() -> None:
    """Every set."""
    rows = pd.DataFrame([row for name in sets.SETS for row in one_set(name)])
    one, all_at_once = (summary(rows[rows["how"] == how]) for how in ("one", "all"))
    report.write(
        "workbench_substitutes",
        f"A panel of {SIZE} genes after one gene is swapped for its first substitute",
        one.round(4),
        f"GLFS's {SIZE} genes; means over the {SIZE} swaps of every set, then over the sets. "
        "Predicted, nearest as before: share of the cells whose predicted label, and of their 15 "
        "nearest cells, that are those of the panel before the swap. `substitutes`: how many of "
        f"the {SIZE} first substitutes differ. Most correlated: |Pearson| over log counts. Random: "
        f"mean of {DRAWS} draws. No order sees labels.",
        f"## All {SIZE} genes swapped at once, for distinct substitutes\n\n"
        "Each gene in turn gets its first substitute that is not taken yet. With the least lost "
        "these are little else than the next genes that GLFS would choose.\n\n"
        + all_at_once.drop(columns="substitutes").round(4).to_markdown(),
        "## Which order is better\n\n" + verdicts(one, all_at_once),
    )


if __name__ == "__main__":
    main()
