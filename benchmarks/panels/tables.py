"""Tables, margins and the plot of the panel benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from methods import METHODS, OURS, PLAIN, RANKER, RIVAL, installed
from metrics import ALIKE, METRICS, OTHERS, RESOLUTIONS, STARTS
from sets import BATCHES, N_COMPS, SETS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

#: What the mean accuracy must exceed that of the best single rival by, and where it may fall short.
MARGINS = {10: 0.08, 25: 0.03, 50: 0.01, 100: 0.01, 200: -0.005}
WORST_GAP = -0.02
#: Mean ranks are taken up to this size.
SMALL = 100
OUR_METHODS = [name for name, method in METHODS.items() if method.group == OURS]

NOTE = f"""\
Every method gets the matrix and no labels, one set of defaults, and selects on its own. \
normalize_total 1e4, log1p, genes in at least 3 cells; 4,000 cells of Kang. Hotspot and triku \
compute the principal components and the graph they need. All measures see the panel's genes, \
centred, or 30 principal components of them where there are more; those named "{N_COMPS} PCs" see \
{N_COMPS}, and are not in the margins and ranks. Larger is better. Accuracy: \
majority of the 15 nearest other cells. Leiden ARI: scanpy's 15-NN graph and Leiden, best of the \
resolutions {", ".join(map(str, RESOLUTIONS))}. k-means NMI: as many clusters as labels, {STARTS} \
starts. Batch mixing ({", ".join(f"{s} `{b}`" for s, b in BATCHES.items())}): one minus the \
normalised excess of same-batch cells among the 15 nearest of the same label; a panel without any \
structure mixes well too. Reconstruction: share of the 15 nearest cells in 50 principal components \
of all genes that are among the 15 nearest in the panel. Genes that no other repeats: share of \
those whose correlation with every other of the panel is below {ALIKE} in size, as Spapros' \
evaluator has it; not in the margins and ranks. Labels of all sets but sc_mixology come from \
clustering the same matrix. Seconds: the whole call, with the machine busy otherwise too; \
"re-used" leaves out the PCA and graph that are there already; a rival ranks once for all sizes. \
"select_genes, …": the paper's other rankers on the problem that GLFS is given, in its units of \
noise; with standardize=None on log counts as they are, as their authors have it."""


def sections(values: pd.DataFrame) -> list:
    """The mean accuracy, then everything else as Markdown."""
    first, *others = sorted(METRICS | OTHERS, key=_place)
    return [
        _means(values, first).round(3),
        "Mean 15-NN accuracy over the sets, above. " + NOTE,
        "## Margins\n\n" + "\n".join(_margins(values)),
        f"## Mean ranks, up to {SMALL} genes\n\n"
        "Over sets, sizes and measures; 1 is best; a method that failed comes last.\n\n"
        + _ranks(values).round(2).to_markdown(),
        *(f"## {name}, mean\n\n" + _means(values, name).round(3).to_markdown() for name in others),
        *(
            f"## Accuracy on {name}\n\n" + _means(part, first).round(3).to_markdown()
            for name, part in values.groupby("set", sort=False)
        ),
        "## Seconds for one selection, median over the sets\n\n"
        + _by_size(values, "seconds", "median").round(2).to_markdown(),
        "## Failures\n\n" + _failures(values),
        f"Rivals: {_versions()}.",
    ]


def _place(measure: str) -> int:
    """A measure taken in more components stands behind the same one in few."""
    names = list(METRICS)
    name = measure.partition(",")[0]
    return names.index(name) if name in names else len(names)


def _by_size(values: pd.DataFrame, column: str, how: str) -> pd.DataFrame:
    table = values.pivot_table(column, "method", "genes", how, dropna=False)
    return table.reindex([name for name in METHODS if name in set(values["method"])])


def _means(values: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean over the sets; nothing for a method that is missing on one that has the measure."""
    known = values[values.groupby("set")[metric].transform("count") > 0]
    complete = known.groupby(["method", "genes"])[metric].transform(lambda one: one.notna().all())
    return _by_size(known.assign(**{metric: known[metric].where(complete)}), metric, "mean")


def _ranks(values: pd.DataFrame) -> pd.DataFrame:
    small = values[values["genes"] <= SMALL]
    ranks = {}
    for metric in METRICS:
        known = small[small.groupby(["set", "genes"])[metric].transform("count") > 0]
        placed = known.groupby(["set", "genes"])[metric].rank(ascending=False, na_option="bottom")
        ranks[metric] = placed
    table = values[["method"]].assign(**ranks)
    mean = table.groupby("method", sort=False).mean()
    mean.insert(0, "all", table.set_index("method").stack().groupby("method").mean())
    return mean.sort_values("all")


def _margins(values: pd.DataFrame) -> list[str]:
    against = {
        "other packages": [RIVAL],
        "these and the paper's rankers on log counts": [RIVAL, PLAIN],
        "all methods, in our units too": [RIVAL, PLAIN, RANKER],
    }
    ranks = _ranks(values)["all"]
    lines = []
    for ours in OUR_METHODS:
        for name, groups in against.items():
            lines += _margins_of(values, ours, groups, name)
            best = ranks[values.loc[values["group"].isin(groups), "method"].unique()]
            lines.append(
                f"- {ours} against {name}, mean rank: {ranks[ours]:.2f} (best: {best.idxmin()}, "
                f"{best.min():.2f}); wanted the best: {_verdict(best.min(), ranks[ours])}"
            )
    return lines


def _margins_of(values: pd.DataFrame, ours: str, groups: list[str], against: str) -> list[str]:
    means = _means(values, "accuracy")
    rivals = values[values["group"].isin(groups)]
    names = rivals["method"].unique()
    lines = []
    for size in means.columns:
        theirs = means.loc[names, size].dropna()
        if theirs.empty or np.isnan(means.loc[ours, size]):
            continue
        margin = means.loc[ours, size] - theirs.max()
        lines.append(
            f"- {ours} against {against}, {size} genes: {margin:+.3f} (best: {theirs.idxmax()}, "
            f"{theirs.max():.3f}); wanted {MARGINS[size]:+.3f}: {_verdict(margin, MARGINS[size])}"
        )
    cases = ["set", "genes"]
    own = values[values["method"] == ours].set_index(cases)["accuracy"]
    gaps = (own - rivals.groupby(cases)["accuracy"].max()).dropna()
    if len(gaps):
        where = gaps.idxmin()
        name = rivals.set_index(["method", *cases])["accuracy"].xs(where, level=cases).idxmax()
        lines.append(
            f"- {ours} against {against}, worst set and size: {gaps.min():+.3f} ({where[0]}, "
            f"{where[1]} genes, {name}); wanted {WORST_GAP:+.3f}: "
            f"{_verdict(gaps.min(), WORST_GAP)}; gaps beyond that: {int((gaps < WORST_GAP).sum())}"
        )
    return lines


def _verdict(value: float, wanted: float) -> str:
    return "holds" if value >= wanted else "falls short"


def _failures(values: pd.DataFrame) -> str:
    lines = [
        f"- {name} on {', '.join(part['set'].unique())}: {error}"
        for (name, error), part in values.dropna(subset="error").groupby(["method", "error"])
    ]
    lines += [
        f"- {name}: some panels come from an earlier state of the code"
        for name in values.loc[values["old"], "method"].unique()
    ]
    return "\n".join(lines) or "None."


def _versions() -> str:
    packages = {method.package for method in METHODS.values() if method.group == RIVAL}
    return ", ".join(map(installed, sorted(packages | {"igraph", "scikit-misc"})))


def plot(values: pd.DataFrame, path: Path) -> None:
    """Accuracy against the number of genes: the mean, then set by set."""
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    parts = {"mean": values} | {name: values[values["set"] == name] for name in SETS}
    colours = mpl.colormaps["tab20"].colors
    for axis, (title, part) in zip(axes.flat, parts.items(), strict=True):
        for place, (name, row) in enumerate(_means(part, "accuracy").iterrows()):
            group = METHODS[name].group
            axis.plot(
                row.index,
                row.to_numpy(),
                label=name,
                color="black" if group == OURS else colours[place % 20],
                linewidth=2.5 if group == OURS else 1.2,
                linestyle="--" if name == OUR_METHODS[-1] or group in (PLAIN, RANKER) else "-",
                marker=".",
                zorder=3 if group == OURS else 2,
            )
        axis.set_xscale("log")
        axis.set_xticks(row.index, row.index)
        axis.minorticks_off()
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.3)
    figure.supxlabel("genes")
    figure.supylabel("15-NN accuracy")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside right", fontsize=8)
    figure.savefig(path, dpi=120)
