"""The tables of `run.py`, and what they are to show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import solver
import state

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

SIZES = (3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FEATURES = (1_000, 3_000, 10_000, 30_000, 60_004)
N_SAMPLES = 400
SETS = ("pbmc3k_2638", "kang_ifnb13999")
COLUMNS = {"cells": SIZES, "features": FEATURES, "counts": FEATURES, "logged": SETS}

PRESENT, FRESH, AGAIN, BACKED = (
    "select_genes, PCA and graph present",
    "select_genes",
    "select_genes, second call",
    "select_genes, backed",
)
PCA, NEIGHBORS = "sc.pp.pca", "sc.pp.neighbors"
FULL, LAPAOFS = "select_genes, full rank", "LapAOFS (greedy)"
LAPAOFS_FULL = f"{LAPAOFS}, full rank"
LAPAOFS_PLAIN = f"{LAPAOFS_FULL}, without updates"
TRIKU, HOTSPOT, HOTSPOT_EXACT = "triku", "hotspot", "hotspot, exact neighbours"
PEERS = (LAPAOFS, "HVG seurat_v3", TRIKU, HOTSPOT, HOTSPOT_EXACT)
_OF_CELLS = (PCA, NEIGHBORS, PRESENT, FRESH, AGAIN, BACKED, *PEERS)
ROWS = {
    "cells": _OF_CELLS,
    "logged": _OF_CELLS,
    "features": (FRESH, LAPAOFS, FULL, LAPAOFS_FULL, LAPAOFS_PLAIN),
    "counts": (FRESH, TRIKU, HOTSPOT),
}
#: With `--quick`: hotspot with exact neighbours, which take it less time for so few cells.
QUICK_SIZES = SIZES[:3]
QUICK = (PCA, NEIGHBORS, PRESENT, FRESH, BACKED, "HVG seurat_v3", TRIKU, HOTSPOT_EXACT)
_SHOWN = (PRESENT, FRESH, AGAIN, BACKED, PCA, NEIGHBORS, *PEERS)


class Kept:
    """What was measured, by kind, column and method."""

    def __init__(self, found: dict[str, dict]) -> None:
        self._found = found

    def value(self, kind: str, column: str | int, name: str, of: str = "cpu") -> float:
        """A number, or nan where there is none."""
        return self._found.get(f"{kind} {column}: {name}", {}).get(of, np.nan)

    def shown(self, kind: str, column: str | int, name: str, of: str) -> str:
        """A cell of a table."""
        found = self._found.get(f"{kind} {column}: {name}")
        if found is None:
            return ""
        return found.get("error") or f"{found[of]:.3g}"

    def table(self, kind: str, of: str) -> pd.DataFrame:
        """Methods × sizes."""
        names = _SHOWN if kind in ("cells", "logged") else ROWS[kind]
        return self._table(kind, of, names, COLUMNS[kind])

    def quick(self, sizes: Sequence[int], of: str) -> pd.DataFrame:
        """Methods of the quick run × sizes."""
        return self._table("cells", of, QUICK, sizes)

    def _table(
        self, kind: str, of: str, names: Sequence[str], columns: Sequence[int | str]
    ) -> pd.DataFrame:
        return pd.DataFrame(
            {
                f"{column:,}" if isinstance(column, int) else column: {
                    name: self.shown(kind, column, name, of) for name in names
                }
                for column in columns
            }
        )

    def ratios(self, kind: str, name: str, other: str, *, compiled: bool = False) -> str:
        """How many times as long another method takes, at every size where both finished.

        With `compiled`, less all that it takes at the smallest size, which bounds what of it is
        compilation: to be held against a method that has compiled.
        """
        first = COLUMNS[kind][0]
        less = self.value(kind, first, other) if compiled else 0.0
        both = {
            column: (self.value(kind, column, other) - less) / self.value(kind, column, name)
            for column in COLUMNS[kind]
            if not compiled or column != first
        }
        if compiled:
            shown = f"{first:,}" if isinstance(first, int) else first
            other = f"({other} less its time at {shown})"
        known = {column: ratio for column, ratio in both.items() if np.isfinite(ratio)}
        if not known:
            return f"- {other} / {name}: nowhere did both finish"
        told = ", ".join(
            f"{ratio:.3g} ({column:,})" if isinstance(column, int) else f"{ratio:.3g} ({column})"
            for column, ratio in known.items()
        )
        return f"- {other} / {name}: {told}"

    def slope(self, name: str) -> str:
        """Exponent of n from 10,000 cells on, fitted in log–log; how far it goes."""
        found = {n: self.value("cells", n, name) for n in SIZES if n >= 10_000}
        known = {n: value for n, value in found.items() if np.isfinite(value)}
        if len(known) < 2:
            return f"- {name}: not enough sizes"
        exponent = np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)[0]
        return f"- {name}: time ~ n^{exponent:.2f} from {min(known):,} to {max(known):,} cells"

    def share_of_passes(self, n_cells: int) -> str:
        """How much of a run on a file was the passes over it."""
        whole, passes, reading = (
            [self.value("cells", n_cells, BACKED, f"{part}{of}") for of in ("cpu", "seconds")]
            for part in ("", "passes ", "reading ")
        )
        number = self.value("cells", n_cells, BACKED, "passes")
        if not np.isfinite(number):
            return f"- {n_cells:,} cells, backed: not measured"
        return (
            f"- {n_cells:,} cells, backed: passes over the file ({number:.0f}) took "
            f"{passes[0]:.3g} of {whole[0]:.3g} s of processor time "
            f"({passes[0] / whole[0]:.0%}), reading and unpacking {reading[0]:.3g} s of them; "
            f"wall time {passes[1]:.4g} of {whole[1]:.4g} s, "
            f"{reading[1]:.3g} s reading"
        )


def comparisons(kept: Kept) -> list[str]:
    """Ratios of processor times."""
    lines = [
        kept.ratios(kind, name, other, compiled=compiled)
        for kind in ("logged", "cells", "counts")
        for other in (TRIKU, HOTSPOT, HOTSPOT_EXACT)
        if other in ROWS[kind]
        for name, compiled in (
            ((FRESH, False), (AGAIN, True), (PRESENT, False), (PRESENT, True))
            if kind != "counts"
            else ((FRESH, False),)
        )
    ]
    lines += [kept.ratios(kind, PCA, PRESENT) for kind in ("logged", "cells")]
    lines += [
        kept.ratios("features", name, other)
        for name in (FRESH, FULL)
        for other in (LAPAOFS, LAPAOFS_FULL, LAPAOFS_PLAIN)
    ]
    return lines


def arithmetic(n_features: int, n_genes: int = 100) -> str:
    """Flop of LapAOFS against those of one gradient of GLFS, at full rank."""
    d, r = n_features, N_SAMPLES
    updates, gradient = n_genes * 4 * d * r, 2 * d * r**2
    whole = updates + 2 * gradient
    return (
        f"At full rank with {d:,} features LapAOFS picks {n_genes} by rank-one updates in "
        f"4·d·n·{n_genes} = {updates / 1e9:.3g} Gflop after 4·d·n² = {2 * gradient / 1e9:.3g} to "
        f"begin with. One gradient of GLFS over all features is 2·d·n² = {gradient / 1e9:.3g} "
        f"Gflop: to be ten times faster it would have to descend in {whole / gradient / 10:.2f} of "
        "a gradient. Without the updates, as its authors write it, each step evaluating the "
        f"criterion of all features from scratch, LapAOFS takes {2 * n_genes * gradient / 1e9:.4g} "
        "Gflop (`plain_lapaofs.py`; the time of its problem's reduction is not in that row)."
    )


def _note(options: argparse.Namespace, more: str = "") -> str:
    return (
        "Synthetic cells × 20,000 genes, 5 % of the entries not zero (`synthetic.py`); 100 genes. "
        "Each figure is one call in a new process on one thread, compilation by numba included "
        f"where it is not kept on disk, reading the file into memory not. {more}triku and hotspot "
        "compute the components and the graph that they need. "
        f"A method past {options.limit:g} s of "
        "processor time was stopped and not run at larger sizes; no process had more than "
        f"{options.memory:g} GiB of addresses, of a machine that others used too. "
        '"About": what the two sizes before lead to expect. Empty: not measured. '
        f"{state.told()}"
    )


def write_quick(kept: Kept, options: argparse.Namespace) -> None:
    """Tables of some thousand cells, and ratios."""
    report.write(
        "speed_quick",
        "Processor time (s) of select_genes and of what is run beside it, one quick run",
        kept.quick(options.sizes, "cpu"),
        _note(options),
        "## Wall time (s)",
        kept.quick(options.sizes, "seconds").to_markdown(),
        "## Peak memory of the process (GiB)",
        kept.quick(options.sizes, "peak").to_markdown(),
        "## How many times as long, by processor time",
        "\n".join(
            kept.ratios("cells", name, other)
            for name in (FRESH, PRESENT)
            for other in (PCA, NEIGHBORS, TRIKU, HOTSPOT_EXACT)
        ),
        "`speed_quick.png` has them as a picture.",
    )


def write(kept: Kept, options: argparse.Namespace) -> None:
    """All tables."""
    report.write(
        "speed",
        "Processor time (s) of select_genes and of what is run beside it",
        kept.table("cells", "cpu"),
        _note(
            options,
            "The second call follows one that is not counted; hotspot's neighbours are approximate "
            "by default, which pynndescent finds. ",
        ),
        "## Peak memory of the process (GiB)",
        kept.table("cells", "peak").to_markdown(),
        "## Wall time (s)",
        kept.table("cells", "seconds").to_markdown(),
        "## Real sets, processor time (s)",
        kept.table("logged", "cpu").to_markdown(),
        f"## The paper's simulation, {N_SAMPLES} samples, number of features, processor time (s)",
        kept.table("features", "cpu").to_markdown(),
        f"## Counts, {N_SAMPLES} cells, number of genes, processor time (s)",
        kept.table("counts", "cpu").to_markdown(),
        "## How many times as long, by processor time",
        "\n".join(comparisons(kept)),
        arithmetic(max(FEATURES)),
        "## Growth, by processor time",
        "\n".join(kept.slope(name) for name in (PRESENT, FRESH, BACKED)),
        "## Passes over the file",
        "\n".join(kept.share_of_passes(n) for n in SIZES[1:]),
        "## Solver",
        solver.told(),
    )
