"""A hundred selections in forked and in socket workers of R."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from session import rscript


def main() -> None:
    """Needs R and the package, as make test installs them."""
    said = rscript(Path(__file__).with_suffix(".R"))
    columns = ["workers", "calls that ended", "time (s)", "largest difference"]
    report.write(
        "r_workers",
        "A hundred selections in workers of BiocParallel",
        pd.read_csv(io.StringIO(said), sep="\t", names=columns, index_col="workers"),
        "60 genes × 800 samples; Python had run in the session before. Socket workers start R and "
        "Python anew, which their time has. Differences of scores to those of the session.",
    )


if __name__ == "__main__":
    main()
