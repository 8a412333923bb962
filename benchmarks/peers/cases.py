"""The sets that panels are compared on: five, quarters of them, simulated ones, and more."""

from __future__ import annotations

import hashlib
import sys
import zlib
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import more_data
import numpy as np
import scanpy as sc
import simulated
from cell_score import CellScore
from independent_noise import Halves

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import sets
from sets import BATCHES, SETS, Cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

FIVE, QUARTERS, SIMULATED, MORE = "five sets", "quarters", "simulated sets", "more sets"
#: The five again, with half of the cells, other counts or another preprocessing: `perturbed.py`.
PERTURBED = "perturbed sets"
RESAMPLES = 1000


@dataclass(frozen=True)
class Case(Cells):
    """One set; `name` is its place in the cache, and changes with whatever it is made of."""

    group: str
    load: Callable[[], AnnData]
    batch: str | None = None

    @cached_property
    def adata(self):
        """Logarithmised expression, with the counts in a layer."""
        return self.load()

    @property
    def batches(self):
        """Batch of every cell, None where there is only one."""
        key = self.batch if self.batch in self.adata.obs else None
        return None if key is None else self.adata.obs[key].astype("category").cat.codes.to_numpy()

    @cached_property
    def drawn(self):
        """Every cell once, and then how often every resample has it; the same for all methods."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        even = np.full(self.adata.n_obs, 1 / self.adata.n_obs)
        resamples = rng.multinomial(self.adata.n_obs, even, RESAMPLES)
        return np.vstack([np.ones_like(resamples[:1]), resamples]).astype(np.float32)

    @cached_property
    def cell_score(self):
        """The score of geneBasis, ready for panels."""
        return CellScore(self.adata.X, self.batches)

    @cached_property
    def halves(self):
        """Halves of the counts, with noise that is independent."""
        return Halves.of(self.name, self.adata.layers["counts"], self.batches)


def prepared(read: Callable[[], AnnData]):
    """Counts, filtered and logarithmised as those of the five sets are."""
    adata = read()
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    return adata


def quarter(name: str):
    """A quarter of the cells of one of the five sets, drawn with seed 0."""
    adata = sets.load(name)
    cells = np.random.default_rng(0).choice(adata.n_obs, adata.n_obs // 4, replace=False)
    part = adata[np.sort(cells)].copy()
    sc.pp.filter_genes(part, min_cells=3)
    return part


def _cases() -> dict[str, Case]:
    code = hashlib.sha256(Path(simulated.__file__).read_bytes()).hexdigest()[:8]
    return {
        **{name: Case(name, FIVE, partial(sets.load, name), BATCHES.get(name)) for name in SETS},
        **{
            f"{name}, quarter": Case(
                f"{name}/quarter", QUARTERS, partial(quarter, name), BATCHES.get(name)
            )
            for name in SETS
        },
        **{
            f"simulated {name}": Case(
                f"simulated/{name}-{code}", SIMULATED, partial(prepared, one.draw), "batch"
            )
            for name, one in simulated.SIMULATIONS.items()
        },
        **{
            f"{path.stem}, more": Case(
                f"more/{path.stem}-{more_data.digest(path)}",
                MORE,
                partial(prepared, partial(more_data.read, path)),
                "batch",
            )
            for path in more_data.files()
        },
    }


CASES = _cases()
