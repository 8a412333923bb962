"""Panels by glfs_bio and by what else chooses genes without labels, on datasets of four kinds.

    python -m benchmarks.peers [--steps panels ...] [--only glfs_bio ...] [--sizes ...]

Steps: `panels` chooses genes and measures them; `clusters` adds the measures that cluster cells;
`costs` measures processor time and memory; `spapros` has Spapros score the panels of some methods.
Everything is stored by the code it comes from, so that a second run goes on where the first one
ended.  At the end of every run `peers.md` and `peers_datasets.md` are written from all that is
there; without steps only that is done.
"""

from __future__ import annotations

import sys

import anndata as ad

from .. import measures, resampled, store, tables
from ..data import DATASETS, FIVE, Cells
from ..methods import COMPARED, Method, choose
from ..tables import say
from . import SCORED, SIZES, evaluate, genes_of, measure_cost, method_on, page, results

STEPS = ("panels", "clusters", "costs", "spapros")


def run(steps: list[str], names: list[str], datasets: list[Cells], sizes: list[int]) -> None:
    """Run the steps, one after the other."""
    if "panels" in steps:
        for cells in datasets:
            for name in names:
                choose(name, method_on(name, cells), cells.name, cells.adata, sizes)
            for genes in genes_of(cells, names, sizes):
                resampled.measured(cells, genes, compute=True)
            say(f"{cells.name}: measured")
    if "clusters" in steps:
        for cells in datasets:
            for genes in genes_of(cells, names, sizes):
                measures.measured(cells, genes)
            say(f"{cells.name}: clustered")
    five = [cells for cells in datasets if cells.group == FIVE]
    if "costs" in steps:
        for cells in five:
            for name in names:
                if isinstance(COMPARED[name], Method):
                    measure_cost(name, cells)
    if "spapros" in steps:
        for cells in five:
            scored = [name for name in names if name in SCORED]
            evaluate(cells, list(genes_of(cells, scored, sizes)))
    store.merge()


def main() -> None:
    """Run the steps, and write the tables."""
    if sys.argv[1:2] == ["--alone"]:
        method = COMPARED[sys.argv[2]]
        method.select(method.prepare(ad.read_h5ad(sys.argv[3])), max(SIZES))
        return
    parser = tables.selecting(__doc__, COMPARED, DATASETS)
    parser.add_argument("--steps", nargs="*", choices=STEPS, default=list(STEPS))
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES))
    options = parser.parse_args()
    names = tables.named(options.only, COMPARED)
    run(options.steps, names, [DATASETS[title] for title in options.datasets], options.sizes)
    page.write(results.read())


if __name__ == "__main__":
    main()
