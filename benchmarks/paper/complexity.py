"""Time of a selection against the numbers of samples and features, and the paper's line search.

The paper states O(T n² d) for T steps (section 2.4), and 10 trials of λ for its line search.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from glfs_bio.glfs2014 import Exact

from .. import paper, tables
from ..methods import ours
from .glioblastoma import tumours
from .images import images

if TYPE_CHECKING:
    import pandas as pd

N_SELECTED = 50
SAMPLES, FEATURES = (100, 200, 400, 800), (1000, 2000, 4000, 8000, 16_000)
#: What is fixed while the other varies.
FEATURES_FIXED, SAMPLES_FIXED = 1000, 200
METHODS = ("glfs", "lapaofs", "lapdofs", "glfs_default")
SEARCH = ["data", "method", "solutions", "steps", "features", "λ", "seconds"]


def timed(n_samples: int, n_features: int, method: str) -> list[dict]:
    """Return the time of a selection from ten clusters among noise, and the steps it took."""
    rng = np.random.default_rng(tables.SEED)
    clusters = np.eye(10)[rng.permutation(np.arange(n_samples) % 10)]
    noise = rng.normal(scale=0.2, size=(n_samples, n_features - 10))
    begin = time.process_time()
    _, told = paper.ranked(np.hstack([clusters, noise]), N_SELECTED, method)
    row = {"n": n_samples, "d": n_features, "method": method}
    return [{**row, "seconds": time.process_time() - begin, "steps": told.get("n_iter")}]


def searched(name: str) -> list[dict]:
    """Return what the line search and the path of 50 features or more end with."""
    values = tumours()[0] if name == "glioblastoma" else images(name)[0]
    rows = []
    for way, lam, size in (("line search", "line_search", None), ("path", None, N_SELECTED)):
        begin = time.process_time()
        told = ours.ranked(values, size, objective=Exact(lam=lam), n_comps=None)[1]
        row = {"data": name, "method": way, "solutions": len(told["path"]["lam"])}
        row |= {"steps": told["n_iter"], "features": int(told["path"]["n_genes"][-1])}
        rows.append({**row, "λ": told["lam"], "seconds": time.process_time() - begin})
    return rows


def main() -> None:
    """Write both tables."""
    parser = paper.arguments(__doc__)
    options = parser.parse_args()
    running = {"jobs": options.jobs, "resume": options.resume}
    sizes = [(n, FEATURES_FIXED) for n in SAMPLES] + [(SAMPLES_FIXED, d) for d in FEATURES]
    methods = [method for method in METHODS if method in options.methods]
    tasks = [(*size, method) for size in dict.fromkeys(sizes) for method in methods]
    rows = paper.collect("complexity", tasks, timed, **running)
    tasks = [(name,) for name in ("glioblastoma", "AT&T")]
    searches = paper.collect("line_search", tasks, searched, **running)
    n_fixed = rows[rows["d"] == FEATURES_FIXED]
    d_fixed = rows[rows["n"] == SAMPLES_FIXED]
    tables.write(
        "complexity",
        against(d_fixed, "d"),
        tables.section(f"Against n, d = {FEATURES_FIXED}", against(n_fixed, "n")),
        tables.section(
            "Line search",
            searches[SEARCH]
            .set_index("data")
            .map(lambda value: value if isinstance(value, str) else f"{value:.3g}"),
        ),
        whole=paper.asks_for_all(parser, options),
        commits=rows["commit"],
        n_selected=N_SELECTED,
        n_samples=SAMPLES_FIXED,
    )


def against(rows: pd.DataFrame, x: str) -> pd.DataFrame:
    """Return seconds of every method, and steps of GLFS, at every n or d."""
    table = rows.pivot_table("seconds", "method", x, sort=False).rename(index=paper.METHODS)
    steps = rows[rows["method"] == "glfs"].set_index(x)["steps"]
    table.loc["seconds a thousand steps of GLFS"] = 1000 * table.iloc[0] / steps
    return table.round(2)


if __name__ == "__main__":
    main()
