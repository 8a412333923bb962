"""Tables of the benchmark of peers: `peers.md`, and set by set `peers_sets.md`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import details
import pandas as pd
from aggregates import (
    clusters_lost,
    difference,
    differences,
    differences_by_spapros,
    means,
    plain,
    plain_of_set,
    spent,
    tests,
)
from details import INDEPENDENT
from results import CLUSTERS, GROUPS, MEASURES, TRUTH, Results

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import report
from cases import BATCHES, CASES, FIVE, RESAMPLES, SIMULATED
from compared import COMPARED, SIZES, selections, versions
from peers.environments import SECONDS, SECONDS_WHOLE
from sets import N_COMPS
from spapros_scores import FIGURES, SCORED, SECONDS_PER_CELL
from spapros_scores import SECONDS as SPAPROS_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Per-type recall and quantiles of R² are shown at this size.
SHOWN = 50

NOTE = f"""\
Every method gets the matrix and no labels, has its authors' defaults, the same for all sets, and \
selects on its own; "GLFS, expression" has `preserve="expression"`. normalize_total 1e4, log1p, \
genes in at least 3 cells; 4,000 cells of Kang. \
Measures see the panel's genes, centred, or 30 principal components of them where there are more. \
Accuracy, macro-F1 and F1 of rare types (at most 5 % of the cells): majority of the 15 nearest \
other cells. Neighbours kept: share of the 15 nearest cells in {N_COMPS} principal components of \
all genes that are among the 15 nearest in the panel. Imputation: R² of the 1,000 genes of largest \
variance outside the panel, by ridge regression on the panel, fitted on one half of the cells and \
tested on the other, mean over these genes. Cell score: that of geneBasis, computed by our own \
code from its definition. These three again with independent noise: every molecule is drawn to one \
of two halves of the counts; the panel is seen in the first, and all genes in the second, whose \
1,000 genes of largest variance are predicted, the same for every panel, with a strength of \
regularisation that leave-one-out chooses. They were added after the losses in the other three \
were seen, to find their cause. Leiden ARI: best of 12 resolutions. k-means NMI: as many clusters \
as labels. Batch mixing ({", ".join(BATCHES)}): see `panels.md`. Larger is better, everywhere."""

INTERVALS = f"""\
In brackets: 95 % intervals. Those of a mean come from {RESAMPLES:,} samples of the cells, drawn \
with replacement; the neighbours of a cell are not searched again. The samples are the same for \
every method (seeds: the CRC-32 of the names of the sets). Those of a difference come from samples \
of the sets (seed 0) and, within these, of the cells. **Bold** is a difference whose interval \
excludes zero. Where a method lacks a set, its mean is left out; its differences are those on the \
sets that both have, whose number stands behind them."""


def losses(found: Results) -> str:
    """Every negative mean difference, those beyond their intervals first."""
    behind = found.behind
    lines = []
    for title, clear in (("Beyond the interval", True), ("Within the interval", False)):
        part = behind[behind["clear"] == clear]
        lines += [
            f"\n### {title}\n",
            *(
                f"- {row.group}, {row.measure}, {row.genes} genes, {row.method}: "
                f"{difference(row.difference)}, over the cells alone "
                f"[{row.cells.low:+.3f}, {row.cells.high:+.3f}] (sets: {row.sets})"
                for row in part.itertuples()
            ),
        ]
    lines.append("\n### Measures of clusters, without intervals")
    lines += [
        f"\n{group.capitalize()}:\n\n{_shown(clusters_lost(found, group))}"
        for group in GROUPS
        if found.sets(group)
    ]
    return "\n".join(lines)


def failures(found: Results) -> str:
    """Panels that failed, that are of other code, or that are small."""
    table = found.table
    failed = table[table["error"].notna() & (table["error"] != "not run")]
    lines = [
        f"- {name} on {title}: {error} ({', '.join(map(str, part['genes']))} genes)"
        for (name, title, error), part in failed.groupby(["method", "set", "error"], sort=False)
    ]
    lines += [
        f"- Spapros' evaluator, {row['method']} on {row['set']}, {row['genes']} genes: "
        f"{row['by Spapros']}"
        for _, row in table.dropna(subset="by Spapros").iterrows()
    ]
    lines += [
        f"- {name} on {title}, in a process of its own: {error}"
        for name, title, error in table.dropna(subset="alone")[["method", "set", "alone"]]
        .drop_duplicates()
        .itertuples(index=False)
    ]
    small = table[table["held"] < table["genes"]]
    lines += [
        f"- {name} on {title}: names {part['held'].min():.0f} to {part['held'].max():.0f} genes "
        f"where more are asked for"
        for (name, title), part in small.groupby(["method", "set"], sort=False)
    ]
    old = table[table["old"].eq(True)]
    lines += [
        f"- {name}: some panels come from an earlier state of the code"
        for name in old["method"].unique()
    ]
    return "\n".join(lines) or "None."


def missing(found: Results) -> str:
    """What is not run yet, in one paragraph; empty where nothing is missing."""
    table = found.table
    parts = []
    for group, part in table.groupby("group", sort=False):
        lacks = (part["error"] == "not run").groupby(part["method"], sort=False).sum()
        of = len(part) // len(lacks)
        whole, some = lacks[lacks == of], lacks[(lacks > 0) & (lacks < of)]
        names = [f"all of {', '.join(whole.index)}"] if len(whole) else []
        names += [f"{n} of {of} of {name}" for name, n in some.items()]
        if names:
            parts.append(f"Panels on the {group}: {'; '.join(names)}.")
    chosen = table[table["error"].isna()]
    for name, column in (("Measures", MEASURES[0]), ("Clusters", CLUSTERS[1])):
        lacks = chosen[column].isna().sum()
        if lacks:
            parts.append(f"{name} of {lacks} of {len(chosen)} panels.")
    scored = chosen[(chosen["group"] == FIVE) & chosen["method"].isin(SCORED)]
    lacks = (scored[[*FIGURES.values()]].isna().all(axis=1) & scored["by Spapros"].isna()).sum()
    if lacks:
        parts.append(f"Spapros' figures of {lacks} of {len(scored)} panels.")
    untimed = [name for name in COMPARED if name not in spent(found)["memory"].dropna()]
    if untimed:
        parts.append(f"Seconds and memory of {', '.join(untimed)}.")
    return f"**Not run yet.** {' '.join(parts)}" if parts else ""


def write(found: Results) -> None:
    """Both files."""
    table = means(found, FIVE, MEASURES[0])
    report.write(
        "peers",
        "Panels by GLFS, and by what else chooses genes without labels",
        table,
        "Mean accuracy over the five sets, above. " + NOTE,
        INTERVALS,
        missing(found),
        *sections(found),
    )
    report.write(
        "peers_sets",
        f"Sets one by one: accuracy; and recall of every type in panels of {SHOWN} genes",
        plain_of_set(found, next(iter(CASES)), MEASURES[0]),
        f"Accuracy on {next(iter(CASES))}, above. See `peers.md` for what the measures are.",
        *of_sets(found),
    )


def sections(found: Results) -> Iterator[str]:
    """Everything after the first table."""
    for group in GROUPS:
        if not found.sets(group):
            continue
        yield f"## {group.capitalize()}\n\n{', '.join(found.sets(group))}."
        if not found.having(group, MEASURES[0]):
            yield "Not run yet."
            continue
        for measure in (*MEASURES, *INDEPENDENT, *(TRUTH if group == SIMULATED else ())):
            if not found.having(group, measure):  # no set has rare types
                continue
            if (group, measure) != (FIVE, MEASURES[0]):
                mean = means(found, group, measure)
                yield f"### {measure}, {group}: mean\n\n{_shown(mean)}"
            over = differences(found, group, measure)
            yield f"### {measure}, {group}: GLFS minus others\n\n{_shown(over)}"
        for measure in CLUSTERS:
            yield f"### {measure}, {group}: mean\n\n{_shown(plain(found, group, measure))}"
        yield (
            f"### Tests, {group}\n\nMean of GLFS minus the other method over sets and sizes, and "
            "Wilcoxon's signed rank test of these differences, two-sided, with their number. "
            "Sizes of one set are not independent, so that p is too small.\n\n"
            + _shown(tests(found, group))
        )
    scored = found.having(FIVE, next(iter(FIGURES.values())))
    yield (
        "## Spapros' figures\n\n"
        "By its `ProbesetEvaluator`, as it is: the four parts of its scheme `full`, all genes as "
        f"the reference, one process, at most {SPAPROS_SECONDS} s of the processor and "
        f"{SECONDS_PER_CELL} s a cell for a part. Its clustering never ends where the graph of a "
        "panel has more than five components, and is then not asked for. The marker correlation is "
        "left out: it needs a list of markers from elsewhere, which these sets do not come with. "
        "Mean over those of the five sets where any panel is scored: "
        f"{', '.join(scored) or 'none yet'}. Differences are over the sets where both methods "
        "have the figure, with their number where it is smaller, and intervals over these sets."
    )
    for figure in FIGURES.values():
        yield f"### {figure}: mean\n\n{_shown(plain(found, FIVE, figure))}"
        over = differences_by_spapros(found, figure)
        yield f"### {figure}: GLFS minus others\n\n{_shown(over)}"
    yield "## Where GLFS loses\n\nEvery mean difference below zero.\n" + losses(found)
    yield (
        f"## Time and memory\n\nSeconds of the processor, and peak memory in MiB, of a process "
        "that starts, reads the cells, and chooses genes: medians over those of the five sets "
        f"where they are measured, {max(SIZES)} genes. A peer chooses the panels of all sizes in "
        f"one process, or each in its own where it cannot. It has {SECONDS_WHOLE} s for those of a "
        f"set, and {SECONDS} s for those of a quarter.\n\n" + _shown(spent(found).round(1))
    )
    yield "## Failures\n\n" + failures(found)
    yield f"Versions: {versions()}."


def of_sets(found: Results) -> Iterator[str]:
    """The other sets, recall of types, and quantiles of R²."""
    for title in list(CASES)[1:]:
        yield f"## {MEASURES[0]} on {title}\n\n{_shown(plain_of_set(found, title, MEASURES[0]))}"
    for title, case in CASES.items():
        recall, quantiles = {}, {}
        for name in COMPARED:
            genes = selections(name, case).panel(SHOWN).get("genes")
            kept = details.kept(case, genes, compute=False) if genes else {}
            if kept:
                recall[name], quantiles[name] = kept["recall"], kept["R² quantiles"]
        if recall:
            shares = details.types(case)
            table = pd.DataFrame(recall, [f"{kind} ({shares[kind]:.1%})" for kind in shares.index])
            yield f"## Recall of types on {title}, {SHOWN} genes\n\n" + _shown(table.T.round(2))
            spread = pd.DataFrame(quantiles, [f"{q:.0%}" for q in details.QUANTILES])
            yield (
                f"## Quantiles over genes of the R² of imputation on {title}, {SHOWN} genes\n\n"
                + _shown(spread.T.round(3))
            )


def _shown(table: pd.DataFrame) -> str:
    return "Not run yet." if table.empty else table.to_markdown()
