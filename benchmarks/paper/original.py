"""The original GLFS beside the default criterion, on the five single-cell datasets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import tables
from ..data import DATASETS, SETS
from ..measures import Panel, neighbours_of_cells
from ..methods import ours
from ..resampled import mean_of, of_types

SIZES = (10, 25, 50, 100, 150)
#: Rows, and the options that they select with.
METHODS = {
    "glfs_bio": {},
    "GLFS (2014)": {"objective": "exact"},
    "GLFS (2014), log counts": {"objective": "exact", "standardize": None},
}
ACCURACY, KEPT = MEASURES = ("accuracy", tables.TITLES["neighbours kept"])


def measured(dataset: str, method: str, size: int) -> dict[str, np.ndarray]:
    """Return both measures of a panel, on all cells and on resampled ones."""
    cells = DATASETS[dataset]
    genes = ours.select_genes(cells.adata, size, **METHODS[method])
    panel = Panel(cells, tuple(genes.tolist()))
    kept = mean_of(cells, neighbours_of_cells(panel, cells))
    return {ACCURACY: of_types(panel)["accuracy"], KEPT: kept}


def main() -> None:
    """Write both measures."""
    parser = tables.parser(__doc__)
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=list(SETS))
    datasets = parser.parse_args().datasets
    columns = {measure: {} for measure in MEASURES}
    for size in SIZES:
        for method in METHODS:
            figures = [measured(dataset, method, size) for dataset in datasets]
            for measure in MEASURES:
                mean = tables.over_cells(np.array([each[measure] for each in figures]))
                columns[measure].setdefault(size, {})[method] = mean.text
            tables.say(f"{method}, {size} genes: {mean.text}")
    tables.write(
        "original",
        pd.DataFrame(columns[ACCURACY]),
        tables.section(KEPT, pd.DataFrame(columns[KEPT])),
        whole=datasets == list(SETS),
    )


if __name__ == "__main__":
    main()
