"""Panels for which every type counts alike: rare types, and what they cost the frequent ones.

    python benchmarks/panels/weights.py [--only ours] [--sets pbmc3k_2638 ...]

The halves, measures and cache of `labels.py`.  With `--sets` the tables are printed; without it
they are written to `benchmarks/results`.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from labels_methods import METHODS
from labels_tables import by_size, failures
from methods import OURS, Method, named, parser, select_genes
from sets import SETS
from trials import FREQUENT, LABEL, MARKS, SEEDS, collect, halves_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report

_balanced = partial(partial, select_genes, cell_weights=LABEL)
_own = partial(Method, group=OURS, package="glfs-bio")

#: What is kept, as it is and with the cells weighted.
PAIRS = {"GLFS, no labels": "GLFS, no labels, balanced", "GLFS, labels": "GLFS, labels, balanced"}
COMPARED = {
    "GLFS, no labels": METHODS["GLFS, no labels"],
    "GLFS, no labels, balanced": _own(_balanced()),
    "GLFS, labels": METHODS["GLFS, labels"],
    "GLFS, labels, balanced": _own(_balanced(preserve=LABEL)),
}
SHOWN = ("rare-type F1", FREQUENT, *MARKS[:3])

NOTE = f"""\
Genes are chosen on one half of the cells and measured on the other; {len(SEEDS)} seeds; the \
halves and measures are those of `panels_labels.md`. Balanced: `cell_weights` is the column of the \
labels, so that the cells of every type weigh the same in the sum. No labels, balanced: the \
structure of cells so weighted is kept. Labels, balanced: the same genes as without, since the \
means of the types, which are told apart, do not depend on weights that are the same within a \
type. A rare type has at most 5 % of the cells, a frequent type \
more; their F1 is the mean over the types. The set without rare types has no part in the first \
table. Larger is better."""


def changes(values) -> str:
    """What the weights change in the mean over the halves, and on how many halves, by size."""
    by_half = values.pivot(index=["set", "seed", "genes"], columns="method")
    lines = []
    for mark in SHOWN:
        for plain, balanced in PAIRS.items():
            change = (by_half[mark, balanced] - by_half[mark, plain]).dropna().round(9)
            sizes = change.groupby("genes")
            told = ", ".join(
                f"{one.groupby('set').mean().mean():+.3f} ({np.sum(one > 0)} of {len(one)} up, "
                f"{np.sum(one < 0)} down)"
                for _, one in sizes
            )
            lines.append(f"- {mark}, {plain}: {told}")
    return "\n".join(lines)


def main() -> None:
    """Choose, measure, write."""
    options = parser(__doc__, COMPARED, SETS).parse_args()
    trials = halves_of(options.sets, SEEDS)
    values = collect(trials, COMPARED, named(options.only, COMPARED), ("set", "seed"))
    first, *others = (by_size(values, mark).round(3) for mark in SHOWN)
    notes = [
        f"Mean {SHOWN[0]} over seeds and sets, above. {NOTE}",
        "## What the weights change\n\nMean over the sets, at 10, 25, 50 and 100 genes, and the "
        "number of halves on which it goes up or down.\n\n" + changes(values),
        *(
            f"## {mark}, mean\n\n{table.to_markdown()}"
            for mark, table in zip(SHOWN[1:], others, strict=True)
        ),
        *(
            f"## {mark} on {name}\n\n{by_size(part, mark).round(3).to_markdown()}"
            for name, part in values.groupby("set", sort=False)
            for mark in SHOWN[:2]
            if part[mark].notna().any()
        ),
        "## Failures\n\n" + failures(values),
    ]
    if options.sets == list(SETS):
        title = "Panels with every type counting alike, measured on the other half of the cells"
        report.write("panels_weights", title, first, *notes)
    else:
        sys.stdout.write("\n\n".join([first.to_markdown(), *notes, ""]))


if __name__ == "__main__":
    main()
