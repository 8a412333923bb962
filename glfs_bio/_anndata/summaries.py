"""Results in a line or a few: for a notebook, and for the shell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import MOST_NAMES

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
    from . import results

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
    parts = [f"{entry['n_genes']} of {entry['n_tested']} genes"]
    parts.append(f"{preserved(entry, entry['preserved'][-1])} preserved")
    if "n_axes" in entry:
        import numpy as np

        every = [int(one) for one in np.atleast_1d(entry["n_axes"])]  # of each set of cells
        axes = "axis" if every == [1] else "axes"
        parts.append(f"{', '.join(map(str, every))} {axes} above the noise")
    if "optimality" in entry:
        from . import results

        parts[-1] += certified(entry["optimality"][-1], results.constraints_of(entry))
    if "lam" in entry:
        parts.append(f"λ = {entry['lam']:.4g}")
    if "converged" in entry:
        parts.append("converged" if entry["converged"] else "NOT converged")
    return ", ".join(parts)


def evaluation(entry: Mapping[str, Any]) -> list[str]:
    """Return the most important results, one line each."""
    measures = entry["measures"]
    is_largest = measures.groupby("panel")["n_genes"].transform("max") == measures["n_genes"]
    largest, smaller = measures[is_largest], measures[~is_largest]
    lines = []
    for name, table in largest.groupby("panel", sort=False):
        rows = table.drop_duplicates("measure").set_index("measure")
        texts = [_preserved(entry, rows)] if "preserved" in rows.index else []
        if "overlap" not in entry:
            lines += texts
            rows = rows.drop(index=_NO_LINE, errors="ignore")
            lines += [_measure(row) for row in rows.reset_index().itertuples()]
        else:
            accuracies = [measure for measure in rows.index if measure.startswith(_ACCURACIES)]
            texts += [f"{measure} {rows['value'][measure]:.2f}" for measure in accuracies]
            lines.append(f"{name}: {'; '.join(texts)}")
    smaller = smaller[smaller["measure"] == "preserved"]
    for name, table in smaller.groupby("panel", sort=False):
        shares = (f"{row.n_genes} genes {percent(row.value)}" for row in table.itertuples())
        lines.append(f"first genes of {name} preserve: {', '.join(shares)}")
    if "overlap" in entry:
        return lines + [
            f"{row.panel} and {row.other} share {row.shared} genes: Jaccard index "
            f"{row.jaccard:.2f}, with substitutes {row.jaccard_with_substitutes:.2f}"
            for row in entry["overlap"].head(_PAIRS).itertuples()
        ]
    batches = largest[largest["measure"] == "preserved_in_batch"].dropna(subset="value")
    if len(batches):
        least = batches.loc[batches["value"].idxmin()]
        lines.append(
            f"of {len(batches)} batches, {least['reading']} is preserved least: "
            f"{percent(least['value'])}"
        )
    if "per_label" in entry:
        for (kind, reading), table in entry["per_label"].groupby(["kind", "reading"], sort=False):
            worst = table.sort_values("f1", kind="stable").head(_WORST)
            labels = (f"{row.label} ({row.f1:.2f})" for row in worst.itertuples())
            lines.append(f"lowest F1 of a {kind}, by {reading}: {', '.join(labels)}")
    if "leaks" in entry.get("forecast", {}):
        first = entry["forecast"]["leaks"].head(_WORST).itertuples()
        labels = (f"{row.label} as {row.predicted} ({percent(row.share)})" for row in first)
        lines.append(f"spillover has cells predicted wrongly: {', '.join(labels)}")
    if "gene_sets" in entry and (names := uncovered(entry["gene_sets"])):
        lines.append(f"largest gene sets without a gene: {', '.join(names[:_WORST])}")
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


def uncovered(table: pd.DataFrame) -> list[str]:
    """Return the gene sets without a gene of the panel, those of most genes first."""
    none = table[table["n_overlap"] == 0]
    return [*none.sort_values("n_set", ascending=False, kind="stable")["term"].astype(str)]


def markers(frame: pd.DataFrame) -> str:
    """Return how well the markers of labels distinguish them, as one line."""
    worst = frame.loc[frame["f_beta"].idxmin()]
    return (
        f"mean F-beta of {len(frame)} labels {frame['f_beta'].mean():.2f}; lowest "
        f"{worst['label']} ({worst['f_beta']:.2f})"
    )


def extension(entry: Mapping[str, Any]) -> str:
    """Return what genes that were added make of a panel, as one line."""
    return f"{len(entry['table'])} genes added: {selection(entry)}"


def replacement(table: pd.DataFrame) -> str:
    """Return what genes were replaced by, and at what price, as one line."""
    pairs = ", ".join(f"{row.gene} by {row.replaced_by or 'none'}" for row in table.itertuples())
    before, after = table["preserved_before"].iloc[0], table["preserved_after"].iloc[-1]
    return f"{pairs}: preserved {percent(before)} before, {percent(after)} after"


def stability(entry: Mapping[str, Any], n_cells: int, consensus: Any, selected: Any) -> str:
    """Return the agreement of the selections in subsamples, as one line."""
    return (
        f"{len(entry['n_genes'])} selections on {entry['n_cells']} of {n_cells} cells, "
        f"mean Jaccard index {entry['mean_jaccard']:.2f}, {(selected & consensus).sum()} of "
        f"{selected.sum()} genes in the consensus panel"
    )


def proof(entry: Mapping[str, Any]) -> list[str]:
    """Return how good a panel is among those of its size, and which genes are sure, a line each."""
    table = entry["table"]
    lines = [
        f"{entry['n_genes']} genes preserve {preserved(entry, entry['preserved'])}"
        f"{certified(entry['optimality'], '')}"
    ]
    come, gone = (table["gene"][~table[name]] for name in ("in_panel", "in_best"))
    if len(come):
        lines.append(
            f"{'the best' if entry['proven'] else 'a better'} panel has {_first(come)} in place of "
            f"{_first(gone)} and preserves "
            f"{100 * (entry['best_preserved'] - entry['preserved']):.2g} % more"
            + (f", under {entry['best']!r}" if "best" in entry else "")
        )
    lines.append(
        f"{entry['n_every']} genes are in every best panel and {entry['n_every_within']} in every "
        f"panel within {100 * entry['params']['tolerance']:.2g} % of it; {entry['n_open']} are open"
    )
    return lines


def _first(names: pd.Series) -> str:
    """Return some names, or how many there are."""
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} genes"


def order(entry: Mapping[str, Any]) -> list[str]:
    """Return what was checked of an order, and what was found, one line each."""
    lines = []
    for check in entry["checks"].itertuples():
        result = f"{check.n} {check.about}" if check.checked else "not checked"
        lines.append(f"{check.check}: {result}" + (f" ({check.genes})" if check.n else ""))
    return lines
