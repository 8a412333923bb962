"""Panels of 10 to 200 genes by the methods of this environment, and what they preserve.

    python -m benchmarks.panels [--only ours] [--datasets pbmc3k_2638 ...] [--sizes 10 25 ...]

Panels and measures are stored by the code they come from, so that a second run computes only what
changed; methods that `--only` leaves out are read from the store.  With `--datasets` or `--sizes`
the tables are printed; without them they are written to `results/panels.md`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from . import store, tables
from .data import BATCHES, DATASETS, N_COMPS, SETS
from .measures import ALIKE, MEASURES, OTHERS, RESOLUTIONS, STARTS, measured
from .methods import METHODS, RIVAL, choose, versions
from .tables import installed, say, section

SIZES = (10, 25, 50, 100, 200)
#: Mean ranks are taken up to this size.
SMALL = 100
#: Titles of the measures, and of those that are not in the ranks.
TITLES = list(tables.titled(MEASURES))
UNRANKED = list(tables.titled(OTHERS))


def collect(names: list[str], sizes: list[int], to_run: list[str]) -> pd.DataFrame:
    """Return one row a dataset, method and size, with every measure."""
    rows = []
    for dataset in names:
        cells = DATASETS[dataset]
        for name, method in METHODS.items():
            if name in to_run:
                choose(name, method, cells.name, cells.adata, sizes)
            entry = store.entry_of(name, cells.name, method)
            for size in sizes:
                panel = entry.panel(size)
                genes = panel.pop("genes", None)
                row = {"dataset": dataset, "method": name, "group": method.group, "genes": size}
                if genes is not None:
                    row |= tables.titled(measured(cells, genes))
                elif not panel:
                    row["error"] = "not run"
                rows.append(
                    row | panel | {"held": np.nan, "old": bool(genes) and not entry.current}
                )
            say(f"{dataset}, {name}: measured")
    columns = ["seconds", "error", *TITLES, *UNRANKED]
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=[*frame.columns.difference(columns, sort=False), *columns])


def sections(values: pd.DataFrame) -> list[str]:
    """Return everything after the first table as Markdown."""
    first, *others = sorted([*TITLES, *UNRANKED], key=_place)
    packages = {name: one for name, one in METHODS.items() if one.group == RIVAL}
    return [
        f"## Mean ranks, up to {SMALL} genes\n\n"
        "Over datasets, sizes and measures; 1 is best; a method that failed comes last.\n\n"
        + ranks(values).round(2).to_markdown(),
        *(section(f"{name}, mean", means(values, name).round(3)) for name in others),
        *(
            section(f"accuracy on {name}", means(part, first).round(3))
            for name, part in values.groupby("dataset", sort=False)
        ),
        section(
            "Seconds for one selection, median over the datasets",
            by_size(values, "seconds", "median").round(2),
        ),
        section("Failures", tables.failures(values)),
        f"Rivals: {versions(packages)}, {installed('igraph')}, {installed('scikit-misc')}.",
    ]


def _place(measure: str) -> int:
    """Return where a measure stands: in more components behind the same one in few."""
    name = measure.partition(",")[0]
    return TITLES.index(name) if name in TITLES else len(TITLES)


def by_size(values: pd.DataFrame, column: str, how: str) -> pd.DataFrame:
    """Return methods by sizes."""
    table = values.pivot_table(column, "method", "genes", how, dropna=False)
    return table.reindex([name for name in METHODS if name in set(values["method"])])


def means(values: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return means over the datasets; nothing for a method that is missing on one of them."""
    known = values[values.groupby("dataset")[measure].transform("count") > 0]
    complete = known.groupby(["method", "genes"])[measure].transform(lambda one: one.notna().all())
    return by_size(known.assign(**{measure: known[measure].where(complete)}), measure, "mean")


def ranks(values: pd.DataFrame) -> pd.DataFrame:
    """Return the mean rank of every method, measure by measure."""
    small = values[values["genes"] <= SMALL]
    found = {}
    for measure in TITLES:
        known = small[small.groupby(["dataset", "genes"])[measure].transform("count") > 0]
        of_case = known.groupby(["dataset", "genes"])[measure]
        found[measure] = of_case.rank(ascending=False, na_option="bottom")
    table = values[["method"]].assign(**found)
    mean = table.groupby("method", sort=False).mean()
    mean.insert(0, "all", table.set_index("method").stack().groupby("method").mean())
    return mean.sort_values("all")


def main() -> None:
    """Select, measure, write."""
    parser = tables.selecting(__doc__, METHODS, SETS)
    parser.add_argument(
        "--sizes", nargs="+", type=int, choices=SIZES, default=list(SIZES), metavar="SIZE"
    )
    options = parser.parse_args()
    values = collect(options.datasets, options.sizes, tables.named(options.only, METHODS))
    store.merge()
    whole = options.datasets == list(SETS) and options.sizes == list(SIZES)
    tables.write(
        "panels",
        means(values, "accuracy").round(3),
        *sections(values),
        whole=whole,
        n_comps=N_COMPS,
        resolutions=", ".join(map(str, RESOLUTIONS)),
        starts=STARTS,
        batches=", ".join(f"{name} `{batch}`" for name, batch in BATCHES.items()),
        alike=ALIKE,
    )


if __name__ == "__main__":
    main()
