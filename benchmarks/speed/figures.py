"""Picture of the time and memory that methods take, by the number of cells."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import tables
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

if TYPE_CHECKING:
    from tables import Kept

#: Ours are black, told apart by their lines; names are those of the tables.
_OURS = {tables.FRESH: "-", tables.PRESENT: "--", tables.BACKED: ":"}
_OTHERS = (tables.PCA, tables.NEIGHBORS, *tables.PEERS)
DPI = 120


def _short(n_cells: int) -> str:
    """As 300k or 1M."""
    return f"{n_cells / 1e6:g}M" if n_cells >= 1e6 else f"{n_cells / 1e3:g}k"


def write(name: str, kept: Kept) -> None:
    """Both against cells, all axes logarithmic."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True)
    every = (*_OURS, *_OTHERS)
    sizes = [
        n for n in tables.SIZES if any(np.isfinite(kept.value("cells", n, one)) for one in every)
    ]
    for axis, (of, title) in zip(
        axes, {"cpu": "processor time (s)", "peak": "peak memory (GiB)"}.items(), strict=True
    ):
        for number, method in enumerate(every):
            values = [kept.value("cells", n, method, of) for n in sizes]
            if not np.isfinite(values).any():
                continue
            ours = method in _OURS
            axis.plot(
                sizes,
                values,
                _OURS.get(method, "-"),
                label=method,
                color="black" if ours else mpl.colormaps["tab10"].colors[number - len(_OURS)],
                marker=".",
                linewidth=2 if ours else 1.2,
                zorder=3 if ours else 2,
            )
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xticks(sizes, [_short(n) for n in sizes])
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        axis.set_title(title, fontsize=10)
        axis.grid(alpha=0.3)
    figure.supxlabel("cells")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right", fontsize=8)
    figure.savefig(report.RESULTS / f"{name}.png", dpi=DPI)
