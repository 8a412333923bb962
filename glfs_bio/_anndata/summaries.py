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
#: Preserved shares for which the summary of a curve has the panel size.
_SHARES = (0.25, 0.5, 0.9)


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
    import numpy as np

    from ..measures.labels import suffixed

    random = entry["random_preserved"]
    beside = f"; random panels preserve {percent(random.mean())}" if len(random) else ""
    lines = [
        f"{entry['n_genes']} genes preserve {preserved(entry, entry['preserved'])}"
        f"{certified(entry['optimality'])}{beside}"
    ]
    for name, said in {
        "preserved_on_platform": "on the platform they preserve",
        "accuracy_on_platform": "accuracy there:",
    }.items():
        if name in entry:
            value, low, high = (percent(entry[f"{name}{end}"]) for end in ("", "_low", "_high"))
            lines.append(f"{said} {value} ({low} to {high})")
    if "accuracy_without_spillover" in entry:
        lines[-1] += f", without spillover {percent(entry['accuracy_without_spillover'])}"
        lines += spilled(entry)
    if np.isfinite(entry.get("preserved_in_batches", [])).any():
        kept = entry["preserved_in_batches"]
        least = int(np.nanargmin(kept))
        lines.append(
            f"of {len(kept)} batches, {entry['batches'][least]} is preserved least: "
            f"{percent(kept[least])}"
        )
    for reading, said in entry.get("readings", {}).items():
        accuracy, of_all, macro_f1, f1 = (
            suffixed(name, reading) for name in ("accuracy", "accuracy_all_genes", "macro_f1", "f1")
        )
        worst = entry["per_label"].sort_values(f1, kind="stable").head(_WORST)
        names = ", ".join(f"{name} ({value:.2f})" for name, value in worst[f1].items())
        lines.append(
            f"{said}: accuracy {entry[accuracy]:.2f} (all genes {entry[of_all]:.2f}), "
            f"macro-F1 {entry[macro_f1]:.2f}; lowest F1: {names}"
        )
    lines += _in_space(entry)
    lines.append(
        f"{percent(entry['knn_preservation'])} of the nearest cells preserved; median R² of the "
        f"structure of unmeasured genes {entry['imputed']:.2f}"
    )
    if "gene_sets" in entry:
        first = ", ".join(uncovered(entry["gene_sets"])[:_WORST])
        without = f"; largest without: {first}" if first else ""
        lines.append(
            f"{percent(entry['gene_set_coverage'])} of {len(entry['gene_sets'])} gene sets with a "
            f"gene in the data have one of the panel{without}"
        )
    if "counts_share" in entry:
        lines.append(f"{percent(entry['counts_share'])} of all counts are of the panel")
    first = entry["unexplained"].iloc[0]
    genes = " against ".join(first[side] for side in ("genes_up", "genes_down") if first[side])
    where = f", in {first['labels']}" if first.get("labels") else ""
    lines.append(f"largest unexplained axis: {genes}{where}")
    return lines


def uncovered(table: pd.DataFrame) -> list[str]:
    """Return the gene sets without a gene of the panel, those of most genes first."""
    none = table[table["n_overlap"] == 0]
    return [*none.sort_values("n_set", ascending=False, kind="stable").index.astype(str)]


def spilled(entry: Mapping[str, Any]) -> list[str]:
    """Return what spillover confuses most, and what it does to markers, one line each."""
    lines = []
    if "leaks" in entry:
        first = entry["leaks"].head(_WORST)
        pairs = zip(first["label"], first["predicted"], first["share"], strict=True)
        said = ", ".join(f"{label} as {other} ({percent(share)})" for label, other, share in pairs)
        lines.append(f"spillover has cells predicted wrongly: {said}")
    if "mecr_on_platform" in entry:
        lines.append(
            "of cells with one of two markers that exclude each other, "
            f"{percent(entry['mecr_on_platform'])} have both there "
            f"(reference {percent(entry['mecr_reference'])})"
        )
    return lines


def _in_space(entry: Mapping[str, Any]) -> list[str]:
    """Return what was found of cells in space, one line each."""
    from ..measures.labels import suffixed

    lines = []
    for reading, said in entry.get("domain_readings", {}).items():
        accuracy, of_all = (
            entry[suffixed(f"domain_accuracy{of}", reading)] for of in ("", "_all_genes")
        )
        random = entry[suffixed("random_domain_accuracy", reading)]
        beside = f"; random panels {random.mean():.2f}" if len(random) else ""
        lines.append(f"domains, {said}: accuracy {accuracy:.2f} (all genes {of_all:.2f}{beside})")
    if "morans_i" in entry:
        random = entry["random_morans_i_kept"]
        beside = f" (random panels {percent(random.mean())})" if len(random) else ""
        lines.append(
            f"mean Moran's I {entry['morans_i']:.2f} (all genes "
            f"{entry['morans_i_all_genes']:.2f}); {percent(entry['morans_i_kept'])} of that of all "
            f"genes kept{beside}"
        )
    return lines


def comparison(entry: Mapping[str, Any]) -> list[str]:
    """Return what each panel preserves and each pair shares, one line each."""
    from ..measures.labels import suffixed

    lines = []
    for name, row in entry["table"].iterrows():
        line = (
            f"{name}: {row['n_genes']:.0f} genes preserve "
            f"{preserved(entry, row['preserved'])}{certified(row['optimality'])}"
        )
        for reading, said in entry.get("readings", {}).items():
            line += f"; accuracy {row[suffixed('accuracy', reading)]:.2f} ({said})"
        for reading, said in entry.get("domain_readings", {}).items():
            line += f"; of domains {row[suffixed('domain_accuracy', reading)]:.2f} ({said})"
        lines.append(line)
    for _, row in pairs(entry).iterrows():
        lines.append(
            f"{row['panel']} and {row['other']} share {row['shared']} genes: Jaccard index "
            f"{row['jaccard']:.2f}, with substitutes {row['jaccard_with_substitutes']:.2f}"
        )
    return lines


def pairs(found: Mapping[str, Any]) -> pd.DataFrame:
    """Return the overlap of each pair of panels, one row per pair."""
    from itertools import combinations

    import pandas as pd

    names = ("shared", "jaccard", "jaccard_with_substitutes")
    return pd.DataFrame(
        [
            {"panel": one, "other": other, **{name: found[name].loc[one, other] for name in names}}
            for one, other in combinations(found["shared"].index, 2)
        ]
    )


def extension(entry: Mapping[str, Any]) -> str:
    """Return what genes that were added make of a panel, as one line."""
    return f"{len(entry['table'])} genes added: {selection(entry)}"


def replacement(table: pd.DataFrame) -> str:
    """Return what genes were replaced by, and at what price, as one line."""
    pairs = ", ".join(f"{row.gene} by {row.replaced_by or 'none'}" for row in table.itertuples())
    before, after = table["preserved_before"].iloc[0], table["preserved_after"].iloc[-1]
    return f"{pairs}: preserved {percent(before)} before, {percent(after)} after"


def curve(frame: pd.DataFrame) -> str:
    """Return how many genes preserve some shares, as one line."""
    last = len(frame) - 1
    reached = [frame["preserved"] >= share for share in _SHARES]
    sizes = [
        (one.idxmax(), share) for one, share in zip(reached, _SHARES, strict=True) if one.any()
    ]
    return "; ".join(
        f"{frame['n_genes'][row]} genes preserve {percent(share)}"
        for row, share in [*sizes, (last, frame["preserved"][last])]
    )


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
