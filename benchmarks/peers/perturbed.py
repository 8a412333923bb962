"""How much of a panel stays when the cells, the counts, the seed or the preprocessing change.

    python benchmarks/peers/perturbed.py [--methods GLFS ...] [--sets ...] [--draws 1]

Panels are kept in `benchmarks/.cache`, so that a second run goes on where the first one ended; what
`--methods` leaves out is read from there.  `--methods` without a name computes nothing and writes
what is there.  The peers in environments of their own are run where they are named.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import sys
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc
from cases import CASES, PERTURBED, Case, prepared

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
import report
from compared import COMPARED, OURS, RANKED, Method, attempt, choose, say, selections
from methods import select_genes
from peers.environments import SECONDS, SECONDS_WHOLE
from sets import SETS
from stability import halves, mean_jaccard

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

SIZES = (10, 50)
#: Another seed than the default.  The others take none: their Pearson residuals, dispersions and
#: autocorrelations are exact, and the adapters of the peers pass none.
SEEDED = {OURS: partial(select_genes, random_state=1)}
SEED = "another seed"
NOT_RUN, REFUSED, UNSEEDED = "not run", "not applicable", "none"
#: Reasons that hold whatever is run.
NEVER = (REFUSED, UNSEEDED)
#: A seeded permutation says nothing.
METHODS = [name for name in COMPARED if name != "random"]
DEFAULT = [name for name in METHODS if isinstance(COMPARED[name], Method)]
#: They undo the logarithm, or count the cells that express a gene; and the largest variance of
#: residuals is what the row of Pearson residuals has.
NOT_OF_RESIDUALS = ("HVG seurat", "HVG cell_ranger", "triku", "variance")


def counts(name: str) -> AnnData:
    """Counts of one of the five sets, with the genes that it is compared on."""
    adata = CASES[name].adata.copy()
    adata.X = adata.layers["counts"].copy()
    adata.uns.clear()
    return adata


def thinned(name: str, seed: int, *, share: float) -> AnnData:
    """Every molecule is kept with this probability."""

    def read():
        adata = counts(name)
        kept = np.random.default_rng(seed).binomial(adata.X.data.astype(int), share)
        adata.X.data = kept.astype(np.float32)
        adata.X.eliminate_zeros()
        return adata

    return prepared(read)


def per_million(name: str, seed: int) -> AnnData:
    """Logarithms of counts per million."""
    adata = counts(name)
    sc.pp.normalize_total(adata, target_sum=1e6)
    sc.pp.log1p(adata)
    return adata


def residuals(name: str, seed: int) -> AnnData:
    """Analytic Pearson residuals."""
    adata = counts(name)
    sc.experimental.pp.normalize_pearson_residuals(adata)
    return adata


def half(name: str, seed: int, *, part: int) -> AnnData:
    """One of two halves of the cells, those of `panels/stability.py`."""
    adata = CASES[name].adata
    cells = halves(adata.n_obs, seed + 1)[2 * seed + part]
    adata = adata[cells].copy()
    sc.pp.filter_genes(adata, min_cells=3)
    return adata


@dataclass(frozen=True)
class Perturbation:
    """How the data are made, whether by chance, and what cannot take them."""

    make: Callable[[str, int], AnnData]
    drawn: bool = False
    refused: tuple[str, ...] = ()

    def case(self, name: str, title: str, seed: int) -> Case:
        """The set as it is then; its place in the cache changes with the code that makes it."""
        function = getattr(self.make, "func", self.make)
        code = "".join(map(inspect.getsource, (counts, prepared, function)))
        digest = hashlib.sha256(code.encode()).hexdigest()[:8]
        return Case(f"{name}/{title}, {seed}-{digest}", PERTURBED, partial(self.make, name, seed))

    def pair(self, name: str, title: str, seed: int) -> tuple[Case, Case]:
        """Whose panels are compared: the set as it is, and as it is then."""
        return CASES[name], self.case(name, title, seed)


class HalvesOfCells(Perturbation):
    """Two sets are made, and compared with one another; `make` takes which half."""

    def pair(self, name: str, title: str, seed: int) -> tuple[Case, Case]:
        """Two sets without a cell in common."""
        first, second = (replace(self, make=partial(self.make, part=part)) for part in (0, 1))
        return first.case(name, "first half", seed), second.case(name, "second half", seed)


PERTURBATIONS = {
    "two halves of the cells": HalvesOfCells(half, drawn=True),
    "counts thinned to 50 %": Perturbation(partial(thinned, share=0.5), drawn=True),
    "counts thinned to 20 %": Perturbation(partial(thinned, share=0.2), drawn=True),
    "counts per million": Perturbation(per_million),
    "Pearson residuals": Perturbation(residuals, refused=NOT_OF_RESIDUALS),
}


def chosen(panel: dict, genes_of: AnnData, size: int) -> dict:
    """Names of the genes of a stored panel, or why there are none."""
    if "genes" in panel:
        return {"genes": set(genes_of.var_names[panel["genes"][:size]])}
    return {"reason": panel.get("error", NOT_RUN)}


def of_case(method: str, case: Case, size: int) -> dict:
    """The panel of a method on a set, if it is there and of this code."""
    kept = selections(method, case)
    return chosen(kept.panel(size) if kept.current else {}, case.adata, size)


def of_seed(method: str, name: str, size: int, *, compute: bool) -> dict:
    """The panel of a method with another seed."""
    if method not in SEEDED:
        return {"reason": UNSEEDED}
    chooser, adata = replace(COMPARED[method], select=SEEDED[method]), CASES[name].adata
    kept = cache.Selections(method, f"{name}/{SEED}", chooser)
    if compute and not kept.has(RANKED):
        kept.put(RANKED, **attempt(chooser, chooser.prepare(adata), RANKED))
    return chosen(kept.get(RANKED) if kept.current else {}, adata, size)


def compared(name: str, asked: list[str], draws: int) -> list[dict]:
    """A row a perturbation, draw, method and size: the Jaccard index, or why there is none."""
    rows = []

    def add(title: str, method: str, size: int, *panels: dict) -> None:
        row = {"set": name, "perturbation": title, "method": method, "genes": size}
        reasons = [one["reason"] for one in panels if "reason" in one]
        row["reason"] = min(reasons, key=lambda one: one not in NEVER, default=None)
        row["Jaccard"] = np.nan if reasons else mean_jaccard([one["genes"] for one in panels])
        rows.append(row)

    for title, one in PERTURBATIONS.items():
        for seed in range(draws if one.drawn else 1):
            pair = one.pair(name, title, seed)
            for method in METHODS:
                if method in one.refused:
                    for size in SIZES:
                        add(title, method, size, {"reason": REFUSED})
                    continue
                sizes = list(SIZES)
                for case in pair if method in asked else ():
                    choose(method, case, sizes)
                    # Without the first panel there is nothing to compare the second with.
                    sizes = [size for size in SIZES if "genes" in of_case(method, case, size)]
                for size in SIZES:
                    add(title, method, size, *(of_case(method, case, size) for case in pair))
    for method, size in product(METHODS, SIZES):
        other = of_seed(method, name, size, compute=method in asked)
        add(SEED, method, size, of_case(method, CASES[name], size), other)
    say(f"{name}: compared")
    return rows


def table(rows: pd.DataFrame, sets: list[str]) -> pd.DataFrame:
    """Methods by sets, and their mean, in words where there is no number."""
    complete = rows.groupby(["method", "set"])["Jaccard"].agg(lambda part: part.mean(skipna=False))
    values = complete.unstack("set").reindex(METHODS)[sets]
    values["mean"] = values.mean(axis=1, skipna=False)
    texts = values.map("{:.3f}".format)
    for method, part in rows.dropna(subset="reason").groupby("method"):
        # Of several draws one reason is enough, and so it is for the mean over the sets.
        known = {
            name: reason if reason in (NOT_RUN, *NEVER) else "failed"
            for name, reason in zip(part["set"], part["reason"], strict=True)
        }
        texts.loc[method, list(known)] = list(known.values())
        texts.loc[method, "mean"] = next(iter(known.values()))
    return texts


def main() -> None:
    """Every method, perturbation and set; then the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--methods", nargs="*", default=DEFAULT, choices=METHODS, metavar="METHOD")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS, metavar="SET")
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    rows = pd.DataFrame(
        row for name in options.sets for row in compared(name, options.methods, options.draws)
    )
    titles = [*PERTURBATIONS, SEED]
    tables = {
        (title, size): table(
            rows[(rows["perturbation"] == title) & (rows["genes"] == size)], options.sets
        )
        for size in sorted(SIZES, reverse=True)
        for title in titles
    }
    means = {
        size: pd.DataFrame({title: tables[title, size]["mean"] for title in titles})
        for size in SIZES
    }
    missing = rows.dropna(subset="reason")
    missing = missing[~missing["reason"].isin(NEVER)]
    waiting = [
        f"{method} on {', '.join(part['set'].unique())}: {reason}"
        for (method, reason), part in missing.groupby(["method", "reason"], sort=False)
    ]
    report.write(
        "peers_stability",
        "Mean Jaccard index of panels of 50 genes and those of perturbed data, mean over the sets",
        means[50],
        *([f"**Not complete.** {'; '.join(waiting)}."] if waiting else []),
        "Each panel is compared with that of the data as they are: normalize_total 1e4, log1p, "
        "genes in at least 3 cells; 4,000 cells of Kang. But panels of halves are compared with "
        f"one another: {options.draws} pair(s) without a cell in common, of which "
        "`panels_stability.md` has twenty for the methods of this environment. Thinned counts are "
        f"filtered and normalised anew, {options.draws} draw(s). Counts per million are "
        "logarithmised. Methods that choose by counts get counts in every preprocessing, so that "
        "theirs changes nothing. Every method has its defaults. GeneCover takes rank correlations, "
        "which counts per million do not change. A peer has "
        f"{SECONDS_WHOLE} s of the processor for the panels of the data as they are, and "
        f"{SECONDS} s for those of halves and perturbed data. "
        f"Only {', '.join(SEEDED)} takes a seed among the methods of this environment.",
        "Residuals cannot be taken by what undoes the logarithm (HVG seurat, cell_ranger) or "
        "counts the cells that express a gene (triku). The largest variance of residuals is what "
        "the method Pearson residuals takes.",
        "## Panels of 10 genes, mean over the sets\n\n" + means[10].to_markdown(),
        *(
            f"## {title}, {size} genes\n\n{one.to_markdown()}"
            for (title, size), one in tables.items()
        ),
    )


if __name__ == "__main__":
    main()
