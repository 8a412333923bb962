"""Free places of panels: how many, what may stand there, and how near the certificate is.

python -m benchmarks.places [--draws 2000]
"""

from __future__ import annotations

from time import process_time

import numpy as np
import pandas as pd

import glfs_bio
from glfs_bio.solvers.certificate import TOLERANCE
from glfs_bio.tl._explain import ANY_GENE
from glfs_bio.tl._panel import find

from . import tables
from .data import SETS, load
from .tables import say

SIZES = (25, 50, 100)
REPEATS = 5


def worst(adata, table: pd.DataFrame, draws: int) -> float:
    """Return the largest share of the tolerance that random choices for all places lose.

    One of the genes of each list, its own included; any gene may stand in the others: none does,
    which loses most.
    """
    criterion, rng = find(adata, "glfs").basis.criterion, np.random.default_rng(0)
    place_of = adata.var_names.get_indexer
    choices = [
        [gene, *filter(None, text.split(", "))]
        for gene, text in zip(table["gene"], table["alternatives"], strict=True)
        if text != ANY_GENE
    ]
    start, *_, now = criterion.errors(place_of(table["gene"]))
    after = [
        criterion.errors(place_of([rng.choice(genes) for genes in choices]))[-1]
        for _ in range(draws)
    ]
    return (max(after) - now) / (start - now) / TOLERANCE


def seconds(adata) -> float:
    """Return the processor time of an explanation, the best of some."""
    taken = []
    for _ in range(REPEATS):
        start = process_time()
        glfs_bio.tl.explain_panel(adata)
        taken.append(process_time() - start)
    return min(taken)


def main() -> None:
    """Write the table."""
    parser = tables.parser(__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="joint choices a panel (2000)")
    draws, rows = parser.parse_args().draws, {}
    for name in SETS:
        adata = load(name)
        for size in SIZES:
            glfs_bio.pp.select_genes(adata, size)
            taken = seconds(adata)
            found = adata.uns["glfs_explanation"]
            table = found["table"]
            text = table["alternatives"]
            lists = text[~text.isin(["", ANY_GENE])].str.split(", ").str.len()
            rows[name, size] = {
                "indispensable": (table["certificate_within"] == "every").sum(),
                "free places": (text != "").sum(),
                "any gene": (text == ANY_GENE).sum(),
                "with a list": len(lists),
                "genes a list": f"{lists.min()}–{lists.max()}" if len(lists) else "",
                "certified": f"{found['joint_loss'] / TOLERANCE:.2f}",
                "worst drawn": f"{worst(adata, table, draws):.2f}",
                "seconds": f"{taken:.2f}",
            }
        say(f"{name}: done")
    table = pd.DataFrame(rows).T.rename_axis(["dataset", "genes"])
    tables.write("places", table.reset_index().set_index("dataset"), draws=draws)


if __name__ == "__main__":
    main()
