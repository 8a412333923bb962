"""Panels chosen with labels on one technology, or on control cells, and measured on others.

    python benchmarks/panels/labels_transfer.py [--only ours] [--sets sc_mixology_singlets1021]

The methods, measures and cache of `labels.py`.  With `--sets` the tables are printed; without it
they are written to `benchmarks/results`.
"""

from __future__ import annotations

import sys
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from labels_methods import METHODS
from labels_tables import by_size, sections
from methods import named, parser
from sets import BATCHES, Cells
from trials import MARKS, collect, trial

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from peers.environments import SECONDS

if TYPE_CHECKING:
    import pandas as pd
    from trials import Trial

MIXOLOGY, KANG = BATCHES
#: Batches of each protocol, or condition.
PARTS = {
    MIXOLOGY: {
        "CEL-seq2, 3 lines": ["sc_celseq2"],
        "Drop-seq, 3 lines": ["sc_dropseq"],
        "CEL-seq2, 5 lines": ["sc_celseq2_5cl_p1", "sc_celseq2_5cl_p2", "sc_celseq2_5cl_p3"],
    },
    KANG: {"CTRL": ["CTRL"], "STIM": ["STIM"]},
}
PAIRS = {MIXOLOGY: list(permutations(PARTS[MIXOLOGY], 2)), KANG: [("CTRL", "STIM")]}
#: Size of the panels that are shown pair by pair.
SHOWN = 25

NOTE = f"""\
Genes are chosen with the labels on the cells of one protocol (mixture of cell lines, two sets of \
plates with CEL-seq2 and one with Drop-seq), or on the control cells (Kang), and measured on those \
of each other, or on the stimulated cells: on the types that were there when the genes were \
chosen. Logistic regression is fitted on the cells that the genes were chosen on. Measures, \
methods and their settings are those of `panels_labels.md`; at most {SECONDS} s of processor time \
for the panels of one part. The mean is over pairs of protocols, then over the two sets; where a \
method has panels of a part of the pairs only, the name of its row says so. Larger is better."""


def trials(name: str) -> dict[tuple, Trial]:
    """Every pair of parts of one set."""
    whole = Cells(name)
    batches = whole.adata.obs[BATCHES[name]].astype(str)
    inside = {part: batches.isin(of).to_numpy() for part, of in PARTS[name].items()}
    found = {}
    for chosen, measured in PAIRS[name]:
        known = np.isin(whole.labels, whole.labels[inside[chosen]])
        parts = np.flatnonzero(inside[chosen]), np.flatnonzero(inside[measured] & known)
        found[name, chosen, measured] = trial(f"transfer/{chosen}", whole, *parts, measured)
    return found


def by_pair(values: pd.DataFrame, mark: str) -> str:
    """Panels of one size, a column a pair."""
    shown = values[values["genes"] == SHOWN]
    pairs = (shown["chosen on"] + " → " + shown["measured on"]).rename("pair")
    table = shown.assign(pair=pairs).pivot_table(mark, "method", "pair", sort=False, dropna=False)
    table = table.reindex(list(METHODS)).round(3)
    return f"## {mark} of {SHOWN} genes, pair by pair\n\n{table.to_markdown()}"


def main() -> None:
    """Choose, measure, write."""
    options = parser(__doc__, METHODS, PARTS).parse_args()
    pairs = {key: one for name in options.sets for key, one in trials(name).items()}
    chosen = named(options.only, METHODS)
    values = collect(pairs, METHODS, chosen, ("set", "chosen on", "measured on"))
    first = by_size(values, MARKS[0]).round(3)
    notes = [
        "Mean 15-NN accuracy, above. " + NOTE,
        *sections(values),
        *(by_pair(values, mark) for mark in MARKS[:2]),
    ]
    if options.sets == list(PARTS):
        title = "Panels chosen with labels on one technology or condition, measured on another"
        report.write("panels_transfer", title, first, *notes)
    else:
        sys.stdout.write("\n\n".join([first.to_markdown(), *notes, ""]))


if __name__ == "__main__":
    main()
