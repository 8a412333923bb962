"""Small panels by every method that needs no labels, on sets of four kinds, and what they keep.

    python benchmarks/peers/run.py [--steps panels ...] [--only GLFS ...] [--sets ...] [--sizes ...]

Steps: `panels` chooses genes and measures them; `clusters` adds the measures that cluster cells;
`spapros` has Spapros score the panels of some methods; `costs` measures processor time and memory.
Everything is kept by the code it comes from, so that a second run goes on where the first one
ended: in `benchmarks/.cache`, and for other packages in `benchmarks/results/chosen`.  At the end of
every run `peers.md`, `peers_sets.md`, the pictures and `docs/comparison.md` are written from all
that is there; without steps only that is done.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import costs
import details
import page
import results
import spapros_scores
import summary

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
from cases import CASES, FIVE
from compared import COMPARED, SIZES, Method, choose, say, selections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cases import Case

STEPS = ("panels", "clusters", "spapros", "costs")


def panels_of(case: Case, methods: list[str], sizes: list[int]) -> Iterator[tuple[str, list[int]]]:
    """Method and genes of every panel that is stored."""
    for name in methods:
        kept = selections(name, case)
        for size in sizes:
            genes = kept.panel(size).get("genes")
            if genes:
                yield name, genes


def main() -> None:
    """The steps, one after the other, and the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    groups = list(dict.fromkeys(method.group for method in COMPARED.values()))
    choices = {"steps": STEPS, "only": [*groups, *COMPARED], "sets": list(CASES), "sizes": SIZES}
    for name, among in choices.items():
        parser.add_argument(
            f"--{name}", nargs="*", type=type(among[0]), choices=among, default=list(among)
        )
    options = parser.parse_args()
    methods = [name for name, one in COMPARED.items() if {name, one.group} & set(options.only)]
    cases = [CASES[title] for title in options.sets]
    if "panels" in options.steps:
        for case in cases:
            for name in methods:
                choose(name, case, options.sizes)
            for _, genes in panels_of(case, methods, options.sizes):
                details.kept(case, genes, compute=True)
            say(f"{case.name}: measured")
    if "clusters" in options.steps:
        for case in cases:
            for _, genes in panels_of(case, methods, options.sizes):
                cache.measures(case, genes)
            say(f"{case.name}: clustered")
    if "costs" in options.steps:
        for case in cases:
            for name in methods:
                if case.group == FIVE and isinstance(COMPARED[name], Method):
                    costs.measure(name, case)
    if "spapros" in options.steps:
        scored = [name for name in methods if name in spapros_scores.SCORED]
        for case in cases:
            if case.group == FIVE:
                panels = [genes for _, genes in panels_of(case, scored, options.sizes)]
                spapros_scores.evaluate(case, panels)
    found = results.read()
    summary.write(found)
    page.write(found)


if __name__ == "__main__":
    main()
