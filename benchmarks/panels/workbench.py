"""What the benchmarks of the panel workbench share: the criterion of a set, and rankings of genes.

Rankings of other packages are those that `run.py` keeps in `benchmarks/.cache/panels`.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import cache
import numpy as np
import pandas as pd
import scanpy as sc
import sets
from methods import METHODS, variance

from glfs_bio.cells.cells import Reduction, build_problems
from glfs_bio.criterion.criterion import Criterion
from glfs_bio.solvers import select

if TYPE_CHECKING:
    from glfs_bio.solvers.select import Panel

RIVALS = (
    "HVG seurat",
    "HVG cell_ranger",
    "HVG seurat_v3",
    "Pearson residuals",
    "triku",
    "hotspot, by Z",
    "hotspot, by C",
)
LARGEST = max(sets.SIZES)
#: A label of fewer cells has no test.
FEWEST_CELLS = 10


@dataclass(frozen=True)
class Workplace:
    """A set, its criterion from the matrix alone, and rankings of its genes."""

    cells: sets.Cells

    @cached_property
    def criterion(self) -> Criterion:
        """F; it sees no labels."""
        return Criterion(build_problems(self.cells.adata.X, Reduction()))

    @cached_property
    def best(self) -> Panel:
        """GLFS's own panels of 1 to 200 genes, with how far they are from the best possible."""
        every = np.arange(self.criterion.n_genes)
        return select(self.criterion, LARGEST, include=every[:0], candidates=every)

    def kept(self, genes) -> float:
        """Share of the structure that a panel keeps."""
        return float(self.criterion.kept(np.asarray(genes))[-1])

    @cached_property
    def most_kept(self) -> np.ndarray:
        """What no panel of 1 to 200 genes exceeds."""
        return np.fmin(self.best.kept / self.best.of_best_possible, 1.0)

    @cached_property
    def rivals(self) -> dict[str, list[int]]:
        """200 genes of every other package, best first, as `run.py` found them."""
        return {name: _cached(name, self.cells.name) for name in RIVALS}

    @cached_property
    def by_variance(self) -> np.ndarray:
        """Genes by variance, the largest first."""
        return np.asarray(variance(self.cells.adata, self.criterion.n_genes))

    @cached_property
    def by_mean(self) -> np.ndarray:
        """Genes by mean, the largest first."""
        mean = np.asarray(self.cells.adata.X.mean(axis=0)).ravel()
        return np.argsort(-mean, kind="stable")

    def markers(self, method: str) -> list[int]:
        """Markers of the labels in turn: the best of each, the second of each, and so on."""
        adata = self.cells.adata
        found = sc.AnnData(adata.X, adata.obs[["label"]].astype(str), adata.var)
        sizes = found.obs["label"].value_counts()
        labels = sorted(sizes.index[sizes >= FEWEST_CELLS])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=pd.errors.PerformanceWarning)
            sc.tl.rank_genes_groups(found, "label", groups=labels, method=method, n_genes=LARGEST)
        names = pd.DataFrame(found.uns["rank_genes_groups"]["names"]).to_numpy()
        return adata.var_names.get_indexer(list(dict.fromkeys(chain(*names)))).tolist()


def _cached(name: str, set_name: str) -> list[int]:
    found = cache.kept(name, set_name, METHODS[name]).get(LARGEST)
    if "genes" not in found:
        msg = f"No panel by {name} on {set_name}: run benchmarks/panels/run.py first."
        raise SystemExit(msg)
    return found["genes"]


def say(text: str) -> None:
    """Progress, on stderr."""
    sys.stderr.write(f"{text}\n")
