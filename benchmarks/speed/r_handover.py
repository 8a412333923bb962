"""Time and memory to hand 5 and 50 million non-zeros of R over to Python, by either bridge."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "r"))
import report
from session import rscript

#: Non-zeros, and calls after the first.
SIZES = {5_000_000: 20, 50_000_000: 3}
#: Writing a file is for comparison.
WAYS = {
    "reticulate (the default)": "reticulate",
    "rpy2": "rpy2",
    "Matrix::writeMM, writing alone": "file",
}
COLUMNS = ["median (s)", "largest (s)", "first call (s)", "R before (GB)", "added at peak (GB)"]


def measured(way: str, non_zeros: int, runs: int) -> list[float]:
    """In an R of its own."""
    said = rscript(Path(__file__).with_suffix(".R"), way, non_zeros, runs)
    return [float(value) for value in said.split("\t")]


def main() -> None:
    """Needs R and the package, as make test installs them."""
    rows = {
        (f"{non_zeros:,}", way): measured(name, non_zeros, runs)
        for non_zeros, runs in SIZES.items()
        for way, name in WAYS.items()
        if name != "file" or non_zeros == min(SIZES)
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=COLUMNS).round(3)
    table.index = pd.MultiIndex.from_tuples(table.index, names=["non-zeros", "way"])
    report.write(
        "r_handover",
        "Time and memory to hand non-zeros of R over to Python",
        table.reset_index().set_index("non-zeros"),
        "A SingleCellExperiment with 20,000 genes, of which every cell has 2,000, with names and a "
        f"column each; {' and '.join(map(str, SIZES.values()))} calls after the first, every way "
        "in an R session of its own. The last column is how much the largest memory of the process "
        "grows: Python's copy, and what is needed on the way.",
    )


if __name__ == "__main__":
    main()
