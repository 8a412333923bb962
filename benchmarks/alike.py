"""The default panel with genes of nearly one sequence, as before, and with one of each set.

python -m benchmarks.alike
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import glfs_bio

from . import tables
from .data import LABEL, SETS, load
from .measures import neighbour_accuracy
from .tables import say

SIZES = (10, 25, 50, 100, 150)
WAYS = {
    "all of a set, as before": glfs_bio.Limits(nearly_identical=True),
    "one of a set, the default": None,
}


def main() -> None:
    """Write the table."""
    tables.parser(__doc__).parse_args()
    rows = {}
    for name in SETS:
        adata = load(name)
        labels = np.asarray(adata.obs[LABEL].astype(str))
        panels = {}
        for way, limits in WAYS.items():
            found = glfs_bio.pp.select_genes(adata, SIZES[-1], limits=limits, inplace=False)
            order = np.argsort(found["glfs_rank"].to_numpy(), kind="stable")
            panels[way] = order[: SIZES[-1]]
            rows[name, way] = {
                size: neighbour_accuracy(adata.X[:, order[:size]], labels) for size in SIZES
            }
        first, second = (set(panel) for panel in panels.values())
        rows[name, way]["others"] = len(second - first)
        say(f"{name}: done")
    table = pd.DataFrame(rows).T.rename_axis(["dataset", "genes of nearly one sequence"])
    means = table[list(SIZES)].groupby(level=1, sort=False).mean()
    means.index = pd.MultiIndex.from_product([["mean"], means.index], names=table.index.names)
    table = pd.concat([table, means])
    table[list(SIZES)] = table[list(SIZES)].astype(float).round(3)
    table["others"] = [f"{number:.0f}" if number >= 0 else "" for number in table["others"]]
    tables.write("panels_alike", table.reset_index().set_index("dataset"))


if __name__ == "__main__":
    main()
