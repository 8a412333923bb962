"""Panels chosen with labels on one half of the cells and measured on the other half.

    python benchmarks/panels/labels.py [--only ours] [--sets pbmc3k_2638 ...] [--seeds 0 1 ...]

Panels and measures are kept in `benchmarks/.cache/panels`, by the code they come from; methods that
`--only` leaves out are read from there.  With `--sets` or `--seeds` the tables are printed; without
them they are written to `benchmarks/results`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from labels_methods import METHODS
from labels_tables import by_size, sections
from methods import named, parser
from sets import SETS
from trials import MARKS, SEEDS, collect, halves_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report
from peers.environments import SECONDS

NOTE = f"""\
Genes are chosen with the labels on one half of the cells, stratified by label, and measured on \
the other; {len(SEEDS)} seeds. Where a method has panels of a part of these halves only, the name \
of its row says so. normalize_total 1e4, log1p, genes in at least 3 cells; 4,000 cells \
of Kang. Accuracy, macro-F1 and rare-type F1: majority of the 15 nearest other cells of the same \
half, on the panel's genes, centred, or 30 principal components of them where there are more; a \
rare type has at most 5 % of the cells. Logistic regression: scikit-learn's, C = 1, \
fitted on the first half, the genes standardised by that half. rank_genes_groups: the best genes \
by score of every type, taken in turn, the type of most cells first. Every package runs with its \
authors' defaults, and at most {SECONDS} s of processor time for the panels of one half. NS-Forest \
names a few genes a type: its markers of all types in turn, then the others that it ranks by \
binary score. PERSIST and Spapros choose among scanpy's highly variable genes, as in their \
authors' examples. Larger is better."""


def main() -> None:
    """Choose, measure, write."""
    asked = parser(__doc__, METHODS, SETS)
    asked.add_argument(
        "--seeds", nargs="+", type=int, choices=SEEDS, default=list(SEEDS), metavar="SEED"
    )
    options = asked.parse_args()
    trials = halves_of(options.sets, options.seeds)
    values = collect(trials, METHODS, named(options.only, METHODS), ("set", "seed"))
    first = by_size(values, MARKS[0]).round(3)
    about = "Mean 15-NN accuracy over seeds and sets, above. " + NOTE
    if options.sets == list(SETS) and options.seeds == list(SEEDS):
        title = "Panels chosen with labels on one half of the cells, measured on the other"
        report.write("panels_labels", title, first, about, *sections(values))
    else:
        sys.stdout.write("\n\n".join([first.to_markdown(), about, *sections(values), ""]))


if __name__ == "__main__":
    main()
