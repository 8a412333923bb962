"""Whether the kept share, which sees no labels, ranks panels as their accuracy with labels does.

python benchmarks/panels/workbench_scores.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import sets
from matplotlib.figure import Figure
from metrics import Panel, accuracy
from scipy.stats import spearmanr
from workbench import RIVALS, Workplace, say

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

SIZES = (10, 20, 50, 100, 200)
#: Panels of each size.
PANELS = 40
#: Pools of random panels hold so many times as many genes as the panel.
POOL = 4
#: Wanted: Spearman's ρ on every set, in the mean, and in the mean among panels of one size.
EACH, MEAN, ONE_SIZE = 0.92, 0.95, 0.85
#: Of the best possible: bands that accuracy is told for.
BANDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)

_BLOOD = (
    "IL7R CD14 MS4A1 CD8A GNLY FCGR3A FCER1A PPBP LYZ NKG7 "
    "CD3D CD79A MS4A7 CST3 CCR7 S100A8 CD8B KLRB1 S100A4 LGALS3"
)
#: Markers that tutorials and the sets' own papers name, in turn by type.
TEXTBOOK = {
    "pbmc3k_2638": _BLOOD,
    "kang_ifnb13999": _BLOOD,
    "baron_human1_1937": (
        "GCG INS SST PPY PRSS1 KRT19 VWF PDGFRA RGS5 GHRL "
        "SOX10 CD68 TPSAB1 CD3D CPA1 PECAM1 COL1A1 TTR IAPP SPP1"
    ),
}
RANDOM, AMONG_VARIANCE, AMONG_MEAN = "random", "random of most variable", "random of largest mean"
AT_RANDOM = (RANDOM, AMONG_VARIANCE, AMONG_MEAN)
GLFS = "GLFS"


def rankings(place: Workplace) -> dict[str, list[int]]:
    """Genes of every method that has an order, best first."""
    found = {
        GLFS: place.best.order.tolist(),
        **place.rivals,
        "variance": place.by_variance.tolist(),
        "mean": place.by_mean.tolist(),
        "markers of the labels, t-test": place.markers("t-test"),
        "markers of the labels, Wilcoxon": place.markers("wilcoxon"),
    }
    known = TEXTBOOK.get(place.cells.name)
    if known is not None:
        genes = place.cells.adata.var_names.get_indexer(known.split())
        variable = found["HVG seurat"]
        found["textbook markers"] = list(dict.fromkeys([*genes[genes >= 0].tolist(), *variable]))
    return found


def panels(place: Workplace) -> list[tuple[str, int, list[int]]]:
    """As many of every size: those of all methods, the others random, of three pools in turn."""
    orders = rankings(place)
    rng = np.random.default_rng(0)
    every = np.arange(place.criterion.n_genes)
    found = []
    for size in SIZES:
        found += [(name, size, genes[:size]) for name, genes in orders.items()]
        pools = (every, place.by_variance[: POOL * size], place.by_mean[: POOL * size])
        for draw in range(PANELS - len(orders)):
            genes = rng.choice(pools[draw % len(pools)], size, replace=False)
            found.append((AT_RANDOM[draw % len(pools)], size, genes.tolist()))
    return found


def one_set(name: str) -> pd.DataFrame:
    """One row a panel."""
    place = Workplace(sets.Cells(name))
    rows = pd.DataFrame(
        [
            (name, kind, size, place.kept(genes), accuracy(Panel(place.cells, tuple(genes))))
            for kind, size, genes in panels(place)
        ],
        columns=["set", "panels", "genes", "kept", "accuracy"],
    )
    rows["most"] = place.most_kept[rows["genes"] - 1]
    rows["of best"] = rows["kept"] / rows["most"]
    best = rows[rows["panels"] == GLFS].set_index("genes")["accuracy"]
    rows["lost"] = rows["genes"].map(best) - rows["accuracy"]
    say(f"{name} done")
    return rows


def rank_correlations(rows: pd.DataFrame) -> dict[str, float]:
    """Of the kept share with accuracy: all panels, those of one size, those not drawn at random."""
    chosen = rows[~rows["panels"].isin(AT_RANDOM)]
    within = _within(rows)
    return {
        "panels": len(rows),
        "all": _rho(rows),
        "of one size, mean": np.mean(list(within.values())),
        **{f"of {size} genes": rho for size, rho in within.items()},
        "all but random": _rho(chosen),
        "all but random, of one size, mean": np.mean(list(_within(chosen).values())),
    }


def _rho(rows: pd.DataFrame) -> float:
    return float(spearmanr(rows["kept"], rows["accuracy"])[0])


def _within(rows: pd.DataFrame) -> dict[int, float]:
    return {size: _rho(part) for size, part in rows.groupby("genes")}


def verdicts(table: pd.DataFrame) -> str:
    """What was wanted."""
    each, sizes = table["all"], table["of one size, mean"]
    told = [
        (f"every set (least: {each.idxmin()})", each.min(), EACH),
        ("mean over the sets", each.mean(), MEAN),
        ("mean among panels of one size", sizes.mean(), ONE_SIZE),
    ]
    return "\n".join(
        f"- {what}: {value:.3f}; wanted {wanted}: {'holds' if value >= wanted else 'falls short'}"
        for what, value, wanted in told
    )


def scale(rows: pd.DataFrame) -> pd.DataFrame:
    """What random panels, GLFS and the best possible keep at each size, and their accuracy."""
    found = {}
    for (name, size), part in rows.groupby(["set", "genes"], sort=False):
        random = part[part["panels"] == RANDOM]
        variable = part[part["panels"] == AMONG_VARIANCE]
        own = part[part["panels"] == GLFS].iloc[0]
        low, middle, high = random["kept"].quantile([0.1, 0.5, 0.9])
        found[name, size] = {
            "random: kept, 10 %": low,
            "50 %": middle,
            "90 %": high,
            "random of most variable: kept, 50 %": variable["kept"].median(),
            "GLFS: kept": own["kept"],
            "best possible, at most": own["most"],
            "random: accuracy, 50 %": random["accuracy"].median(),
            "random of most variable: accuracy, 50 %": variable["accuracy"].median(),
            "GLFS: accuracy": own["accuracy"],
            "most accurate of all": part["accuracy"].max(),
        }
    return pd.DataFrame(found).T.rename_axis(["set", "genes"]).reset_index().set_index("set")


def by_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """Kept share, share of the best possible, and accuracy of every kind of panel."""
    means = rows.groupby(["panels", "set", "genes"], sort=False)[["kept", "of best", "accuracy"]]
    means = means.mean().groupby(["panels", "genes"], sort=False).mean()
    table = means.unstack("genes").astype(float)
    table.columns = [f"{what}, {size}" for what, size in table.columns]
    sets_of = rows.groupby("panels")["set"].nunique()
    table.insert(0, "sets", sets_of[table.index])
    return table


def by_band(rows: pd.DataFrame) -> pd.DataFrame:
    """Accuracy lost against GLFS of the same size, by the share of the best possible."""
    bands = pd.cut(rows["of best"], BANDS)
    lost = rows[rows["panels"] != GLFS].groupby(bands, observed=True)["lost"]
    table = lost.quantile([0.1, 0.5, 0.9]).unstack()
    table.columns = ["10 %", "50 %", "90 %"]
    table.insert(0, "panels", lost.size())
    return table.rename_axis("of the best possible")


def plot(rows: pd.DataFrame, path: Path) -> None:
    """Accuracy against the kept share, a point a panel."""
    figure = Figure(figsize=(15, 3.6), layout="constrained")
    axes = figure.subplots(1, len(sets.SETS))
    colours = dict(
        zip(SIZES, mpl.colormaps["viridis"](np.linspace(0, 0.9, len(SIZES))), strict=True)
    )
    for axis, (name, part) in zip(axes, rows.groupby("set", sort=False), strict=True):
        for size, own in part.groupby("genes"):
            drawn = own["panels"].isin(AT_RANDOM)
            for marker, some in ((".", own[drawn]), ("^", own[~drawn])):
                label = f"{size} genes" if marker == "^" else None
                axis.scatter(
                    some["kept"],
                    some["accuracy"],
                    s=14,
                    marker=marker,
                    color=colours[size],
                    label=label,
                )
        axis.set_title(f"{name}: ρ = {_rho(part):.3f}", fontsize=9)
        axis.grid(alpha=0.3)
    figure.supxlabel("kept share, without labels")
    figure.supylabel("15-NN accuracy")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Every set."""
    rows = pd.concat([one_set(name) for name in sets.SETS], ignore_index=True)
    table = pd.DataFrame(
        {name: rank_correlations(part) for name, part in rows.groupby("set", sort=False)}
    ).T
    mean = table.mean().to_frame("mean").T
    report.write(
        "workbench_scores",
        "The kept share against 15-NN accuracy, over 200 panels a set: Spearman's ρ",
        pd.concat([table, mean]).round(3),
        verdicts(table),
        "The kept share sees no labels, and the rank correlation compares it with leave-one-out "
        f"accuracy. Of each of the sizes {', '.join(map(str, SIZES))} there are {PANELS} panels: "
        f"GLFS, {', '.join(RIVALS)}, variance, mean, markers of the labels in turn (t-test, "
        "Wilcoxon), textbook markers where there are some (blood, pancreas; filled up with HVG "
        "seurat), and random panels: of all genes, and of "
        f'{POOL} times as many genes of largest variance or mean. "All but random" is without '
        "these. Genes in at least 3 cells; 4,000 cells of Kang.",
        "## What a value means\n\n"
        "Shares of one size can be compared; across sizes all grow. So the share stands beside "
        "random panels and the best possible of that size (`evaluate_panel`: `random_kept`, "
        "`of_best_possible`).\n\n" + scale(rows).round(3).to_markdown(),
        "## Accuracy lost against GLFS of the same size, by the share of the best possible\n\n"
        "Quantiles over the panels of all sets and sizes.\n\n"
        + by_band(rows).round(3).to_markdown(),
        "## By kind of panel, mean over the sets that have it\n\n"
        "Kept share; share of the best possible of that size, at least; accuracy.\n\n"
        + by_kind(rows).round(3).to_markdown(),
    )
    plot(rows, report.RESULTS / "workbench_scores.png")


if __name__ == "__main__":
    main()
