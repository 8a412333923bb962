"""Results in a line or a few: for a notebook, and for the shell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import listed
from . import results

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

#: Labels that the summary of an evaluation names.
_WORST = 3
#: Pairs of panels that it says the overlap of.
_PAIRS = 6
#: Measures without a line of their own in an evaluation, and those that one of several panels has.
_NO_LINE = ["preserved", "optimality", "best_preserved", "preserved_in_batch"]
_NO_LINE += ["rare_f1", "rare_f1_laprls", "mean_correlation", "n_effective"]
_ACCURACIES = ("accuracy", "domain_accuracy")


def percent(share: float) -> str:
    """Return a share as text."""
    return "an unknown share" if math.isnan(share) else f"{100 * share:.0f} %"


def preserved(entry: Mapping[str, Any], share: float) -> str:
    """Return the preserved share of the target, as text."""
    return f"{percent(share)} of {results.preserved_of(entry)}"


def certified(share: float, among: str = "without constraints") -> str:
    """Return the bound on optimality, rounded down, and among which panels; empty for NaN."""
    if math.isnan(share):
        return ""
    if share >= 1.0:
        return f", proven to be the best of its size {among}".rstrip()
    return f", optimality at least {math.floor(100 * share)} % {among}".rstrip()


def selection(entry: Mapping[str, Any]) -> str:
    """Return the result of a selection, as one line."""
    texts = [f"{entry['n_genes']} of {entry['n_tested']} genes"]
    texts.append(f"{preserved(entry, entry['preserved'][-1])} preserved")
    if "n_axes" in entry:
        n_axes = [int(n) for n in np.atleast_1d(entry["n_axes"])]  # of each set of cells
        axes = "axis" if n_axes == [1] else "axes"
        texts.append(f"{', '.join(map(str, n_axes))} {axes} above the noise")
    if "optimality" in entry:
        texts[-1] += certified(entry["optimality"][-1], results.constraints_of(entry))
    if "lam" in entry:
        texts.append(f"λ = {entry['lam']:.4g}")
    if "converged" in entry:
        texts.append("converged" if entry["converged"] else "NOT converged")
    return ", ".join(texts)


def evaluation(entry: Mapping[str, Any]) -> list[str]:
    """Return the most important results, one line each."""
    measures, lines = entry["measures"], []
    is_largest = measures.groupby("panel")["n_genes"].transform("max") == measures["n_genes"]
    smaller = measures[~is_largest & (measures["measure"] == "preserved")]
    for name, table in measures[is_largest].groupby("panel", sort=False):
        rows = table.drop_duplicates("measure").set_index("measure", drop=False)
        texts = [_preserved(entry, rows)] if "preserved" in rows.index else []
        if "overlap" in entry:
            accuracies = rows[rows["measure"].str.startswith(_ACCURACIES)]
            texts += [f"{row.measure} {row.value:.2f}" for row in accuracies.itertuples()]
            lines.append(f"{name}: {'; '.join(texts)}")
        else:
            lines += texts
            lines += [_measure(row) for row in rows.itertuples() if row.measure not in _NO_LINE]
    for name, table in smaller.groupby("panel", sort=False):
        shares = (f"{row.n_genes} genes {percent(row.value)}" for row in table.itertuples())
        lines.append(f"first genes of {name} preserve: {', '.join(shares)}")
    if "overlap" in entry:
        return lines + [
            f"{row.panel} and {row.other} share {row.shared} genes: Jaccard index "
            f"{row.jaccard:.2f}, with substitutes {row.jaccard_with_substitutes:.2f}"
            for row in entry["overlap"].head(_PAIRS).itertuples()
        ]
    if "per_label" in entry:
        for (kind, reading), table in entry["per_label"].groupby(["kind", "reading"], sort=False):
            worst = table.sort_values("f1", kind="stable").head(_WORST)
            labels = (f"{row.label} ({row.f1:.2f})" for row in worst.itertuples())
            lines.append(f"lowest F1 of a {kind}, by {reading}: {', '.join(labels)}")
    if len(entry["unexplained"]):
        axis = entry["unexplained"].iloc[0]
        sides = (axis[side] for side in ("genes_up", "genes_down") if axis[side])
        where = f", in {axis['labels']}" if axis.get("labels") else ""
        lines.append(f"largest unexplained axis: {' against '.join(sides)}{where}")
    return lines


def _preserved(entry: Mapping[str, Any], rows: pd.DataFrame) -> str:
    """Return what a panel preserves, next to the bound and random panels."""
    first = rows.loc["preserved"]
    line = f"{first['n_genes']} genes preserve {preserved(entry, first['value'])}"
    if "optimality" in rows.index:
        line += certified(rows.loc["optimality", "value"])
    if not math.isnan(first["random"]):
        line += f"; random panels preserve {percent(first['random'])}"
    return line


def _measure(row: Any) -> str:
    """Return a row of the table of measures as a line."""
    compared = {"all genes": row.all_genes, "random panels": row.random}
    texts = [f"{name} {value:.2f}" for name, value in compared.items() if not math.isnan(value)]
    if not math.isnan(row.low):
        texts.append(f"{row.low:.2f} to {row.high:.2f}")
    if row.reading:
        texts.append(row.reading)
    return f"{row.measure} {row.value:.2f}" + (f" ({', '.join(texts)})" if texts else "")


def extension(entry: Mapping[str, Any]) -> list[str]:
    """Return what genes that were added make of a panel, as one line."""
    table = entry["table"]
    line = f"{len(table)} genes added: {selection(entry)}"
    if "dropped" in entry:
        pairs = ", ".join(f"{row.replaces} by {row.gene}" for row in table.itertuples())
        line += f", {percent(entry['preserved_before'])} before; {pairs}"
    return [line]


def explanation(entry: Mapping[str, Any]) -> list[str]:
    """Return what the genes of a panel do for it, as one line, or a line for each of some genes."""
    table = entry["table"]
    if "genes" in entry:
        rows = entry["genes"].to_dict("records")
        return [_standing(row, entry["n_candidates"]) for row in rows]
    least, most = table.loc[table["loss"].idxmin()], table.loc[table["loss"].idxmax()]
    needless = int(table["role"].str.endswith("adds nothing").sum())
    weak = int((~table["acceptable"]).sum()) - needless
    return [
        f"{len(table)} genes preserve {preserved(entry, table['preserved'].iloc[-1])}; largest "
        f"contribution {most['gene']} ({percent(most['loss'])}), smallest {least['gene']} "
        f"({percent(least['loss'])}); {needless} add nothing, {weak} have no acceptable substitute"
    ]


def _standing(row: Mapping[str, Any], n_candidates: int) -> str:
    """Return how a gene stands to a panel, in a sentence."""
    is_ranked, gene = not math.isnan(row["rank"]), row["gene"]
    rank = f", rank {row['rank']:.0f} of {n_candidates:,}" if is_ranked else ""
    if row["selected"]:
        texts = [f"{gene} is in the panel{rank}", f"{_small(row['loss'])} is lost without it"]
    else:
        texts = [f"{gene} is not in the panel{rank}, as {row['why_not']}"]
        texts.append(f"it would add {_small(row['gain'])}")
    if row["replaces"]:
        change = "lose" if row["price"] > 0 else "gain"
        texts.append(f"{change} {_small(abs(row['price']))} in the place of {row['replaces']}")
    if row["predicted_by"]:
        predicted = f"{_small(row['r2'])} of its structure is predicted by others in the panel"
        texts.append(f"{predicted}, first {row['predicted_by']}")
    return f"{'; '.join(texts)}."


def _small(share: float) -> str:
    """Return a share that may be small, as people read it."""
    if share >= 0.1:
        return f"{100 * share:.0f} %"
    return f"{100 * share:.2g} %" if share >= 1e-6 else "nothing"


def stability(entry: Mapping[str, Any]) -> list[str]:
    """Return the agreement of the selections in subsamples, as one line."""
    n_genes = entry["n_genes"]
    return [
        f"{len(n_genes)} selections, each on {entry['n_cells']} cells "
        f"({percent(entry['params']['fraction'])}), mean Jaccard index "
        f"{entry['mean_jaccard']:.2f}, {entry['n_shared']} genes of the panel in the consensus "
        f"panel of {round(n_genes.mean())}"
    ]


def proof(entry: Mapping[str, Any]) -> list[str]:
    """Return how good a panel is among those of its size, and which genes are sure, a line each."""
    table = entry["table"]
    share = preserved(entry, entry["preserved"]) + certified(entry["optimality"], "")
    lines = [f"{entry['n_genes']} genes preserve {share}"]
    come, gone = (table["gene"][~table[name]] for name in ("in_panel", "in_best"))
    if len(come):
        which = "the best" if entry["proven"] else "a better"
        more = 100 * (entry["best_preserved"] - entry["preserved"])
        text = f"{which} panel has {listed(come)} in place of {listed(gone)}"
        where = f", under {entry['best']!r}" if "best" in entry else ""
        lines.append(f"{text} and preserves {more:.2g} % more{where}")
    lines.append(
        f"{entry['n_every']} genes are in every best panel and {entry['n_every_within']} in every "
        f"panel within {100 * entry['params']['tolerance']:.2g} % of it; {entry['n_open']} are open"
    )
    return lines


def order(entry: Mapping[str, Any]) -> list[str]:
    """Return what was checked of an order, and what was found, one line each."""
    lines = []
    for check in entry["checks"].itertuples():
        result = f"{check.n} {check.about}" if check.checked else "not checked"
        lines.append(f"{check.check}: {result}" + (f" ({check.genes})" if check.n else ""))
    return lines
