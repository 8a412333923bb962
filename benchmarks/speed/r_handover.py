"""Time to hand 5 million non-zeros of R over to Python, as often as a session would."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

NON_ZEROS, RUNS = 5_000_000, 20


def main() -> None:
    """Needs R and the package, as make test installs them."""
    environment = {
        "R_LIBS": str(Path(sys.prefix) / "r" / "library"),
        "GLFSBIO_PYTHON": sys.prefix,
        **os.environ,
    }
    script = Path(__file__).with_suffix(".R")
    said = subprocess.run(
        ["Rscript", script, str(NON_ZEROS), str(RUNS)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    columns = ["way", "median (s)", "largest (s)", "first call (s)"]
    table = pd.read_csv(io.StringIO(said), sep="\t", names=columns, index_col="way")
    report.write(
        "r_handover",
        f"Time to hand {NON_ZEROS:,} non-zeros of R over to Python",
        table.round(3),
        f"20,000 genes × 2,500 cells, with names and, in the object, a column each; {RUNS} calls "
        "after the first, in one R session. As a measure, writing the same matrix to a file.",
    )


if __name__ == "__main__":
    main()
