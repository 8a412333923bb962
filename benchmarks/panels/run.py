"""Panels of 10 to 200 genes by every method on every set, and what they keep.

    python benchmarks/panels/run.py [--only ours] [--sets pbmc3k_2638 ...] [--sizes 10 25 ...]

Panels and measures are kept in `benchmarks/.cache/panels`, panels of other packages in
`benchmarks/results/chosen`, by the code they come from, so that a second run computes only what
changed.  Methods that `--only` leaves out are read from there.  With
`--sets` or `--sizes` the tables are printed; without them they are written to `benchmarks/results`.
"""

from __future__ import annotations

import sys
import time
import traceback
from pathlib import Path

import cache
import numpy as np
import pandas as pd
import tables
from methods import METHODS, Method, named, parser
from sets import SETS, SIZES, Cells

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import report


def say(text: str) -> None:
    """Progress, on stderr."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")


def attempt(method: Method, adata, size: int) -> dict:
    """Genes and seconds, or what went wrong."""
    begin = time.perf_counter()
    try:
        genes = [int(gene) for gene in method.select(adata, size)]
    except Exception as error:  # noqa: BLE001  a peer may fail in any way: it is reported
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}
    return {"genes": genes, "seconds": time.perf_counter() - begin}


def select(name: str, cells: Cells, sizes: list[int]) -> None:
    """Choose the panels that the cache does not have; a method that fails is stored as failing."""
    method = METHODS[name]
    selections = cache.kept(name, cells.name, method)
    missing = [size for size in sizes if not (selections.current and selections.panel(size))]
    if not missing:
        return
    adata = method.prepare(cells.adata)
    for size in [max(SIZES)] if method.nested else missing:
        found = attempt(method, adata, size)
        say(f"{cells.name}, {name}, {size} genes: {found.get('seconds', np.nan):.1f} s")
        selections.put(size, **found)


def collect(sets: list[str], sizes: list[int], chosen: set[str]) -> pd.DataFrame:
    """One row a set, method and size, with every measure."""
    rows = []
    for set_name in sets:
        cells = Cells(set_name)
        for name, method in METHODS.items():
            if name in chosen:
                select(name, cells, sizes)
            selections = cache.kept(name, set_name, method)
            for size in sizes:
                panel = selections.panel(size)
                genes = panel.pop("genes", None)
                row = {"set": set_name, "method": name, "group": method.group, "genes": size}
                if genes is not None:
                    row |= cache.measures(cells, genes)
                elif not panel:
                    row["error"] = "not run"
                rows.append(row | panel | {"old": bool(genes) and not selections.current})
            say(f"{set_name}, {name}: measured")
    columns = ["seconds", "error", *cache.metrics.METRICS, *cache.metrics.OTHERS]
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=[*frame.columns.difference(columns, sort=False), *columns])


def main() -> None:
    """Select, measure, write."""
    asked = parser(__doc__, METHODS, SETS)
    asked.add_argument(
        "--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES), metavar="SIZE"
    )
    options = asked.parse_args()
    values = collect(options.sets, options.sizes, named(options.only, METHODS))
    first, *sections = tables.sections(values)
    if options.sets == list(SETS) and options.sizes == list(SIZES):
        report.write("panels", "What small panels keep, on five single-cell sets", first, *sections)
        tables.plot(values, report.RESULTS / "panels.png")
    else:
        sys.stdout.write("\n\n".join([first.to_markdown(), *sections, ""]))


if __name__ == "__main__":
    main()
