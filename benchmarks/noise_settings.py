"""What W takes for structure, and the settings beside it, on single cells and on instruments.

    python -m benchmarks.noise_settings settings|sizes|expression|worst

The settings of the criterion are set for one process, in the modules that hold them.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np

import glfs_bio
from glfs_bio.cells import noise
from glfs_bio.criterion import criterion, targets

from . import imaging, measures
from .data import DATASETS, SETS, Cells
from .measures import Panel, accuracy, imputation, jaccard, macro_f1

GROUPS = {
    "single cells": ([DATASETS[name] for name in SETS], (10, 25, 50, 100, 200)),
    "instruments": ([imaging.cells(name) for name in imaging.OWN], imaging.SIZES),
}
PAIRS = 5
EDGE, NOISE, CRITERION = noise.edge, noise.SETTINGS, criterion.SETTINGS
#: Fields of the criterion and of the noise, times the edge, and parameters of the structure.
TRIALS = [
    {"edge": 1e-12},
    {},
    *({"edge": value} for value in (0.7, 1.5)),
    *({"noise": value} for value in (0.1, 0.15, 0.3, 0.4)),
    *({"power": value} for value in (0.33, 0.4, 0.6)),
    *({"noise": 0.1, "power": 0.4}, {"noise": 0.3, "power": 0.6}),
    *({"lambda1": value} for value in (10, 30, 300, 1000)),
    {"lambda1": 30, "noise": 0.1, "power": 0.4},
    *({"n_comps": value} for value in (30, 40, 75, 100)),
    *({"assay": value} for value in (0.15, 0.6)),
]


def chosen(adata, n_genes: int, trial: dict) -> list[int]:
    """Return the genes of a panel with some settings, best first."""
    n_genes = min(n_genes, adata.n_vars - 1)
    of_structure = {name: trial[name] for name in ("lambda1", "n_comps", "assay") if name in trial}
    options = {}
    if of_structure:
        options["use_rep"] = key = f"structure {of_structure}"
        if key not in adata.uns:
            noise.SETTINGS = replace(NOISE, assay=of_structure.pop("assay", NOISE.assay))
            if "n_comps" in of_structure:
                of_structure["n_comps"] = min(of_structure["n_comps"], adata.n_vars - 1)
            glfs_bio.pp.structure(adata, **of_structure, key_added=key)
            noise.SETTINGS = NOISE
    glfs_bio.pp.select_genes(adata, n_genes, **options)
    ranked = adata.var[adata.var["glfs_selected"]].sort_values("glfs_rank").index
    return adata.var_names.get_indexer(ranked).tolist()


def halves(one: Cells) -> list[tuple]:
    """Return pairs of halves of the cells."""
    found = []
    for seed in range(PAIRS):
        order, half = np.random.default_rng(seed).permutation(one.adata.n_obs), one.adata.n_obs // 2
        parts = order[:half], order[half : 2 * half]
        found.append(tuple(one.adata[np.sort(part)].copy() for part in parts))
    return found


def settings() -> None:
    """Print accuracy, macro-F1 and the genes that halves share, by setting and group."""
    parts = {one.name: halves(one) for sets, _ in GROUPS.values() for one in sets}
    for trial in TRIALS:
        edge = trial.get("edge", 1.0)
        noise.edge = lambda *of, edge=edge: edge * EDGE(*of)
        fields = {name: trial[name] for name in ("noise", "power") if name in trial}
        criterion.SETTINGS = replace(CRITERION, **fields)
        print(trial)
        for group, (sets, sizes) in GROUPS.items():
            scores, shared = [], []
            for one in sets:
                genes = chosen(one.adata, max(sizes), trial)
                panels = [Panel(one, tuple(sorted(genes[:size]))) for size in sizes]
                scores.append([[measure(p) for p in panels] for measure in (accuracy, macro_f1)])
                both = [[chosen(half, 50, trial) for half in pair] for pair in parts[one.name]]
                shared.append(
                    [
                        np.mean([jaccard([set(genes[:size]) for genes in pair]) for pair in both])
                        for size in (10, 50)
                    ]
                )
            print(" ", group, *np.mean(scores, axis=0).round(3), np.mean(shared, axis=0).round(3))
            sys.stdout.flush()


def sizes() -> None:
    """Print the fewest genes that keep .8 and .9, with and without the noise as structure."""
    for edge in (1e-12, 1.0):
        noise.edge = lambda *of, edge=edge: edge * EDGE(*of)
        for sets, _ in GROUPS.values():
            for one in sets:
                adata = one.adata.copy()
                glfs_bio.pp.select_genes(adata, min(500, adata.n_vars - 1))
                kept = adata.uns["glfs"]["kept"]
                print(edge, one.name, [int((kept < share).sum()) + 1 for share in (0.8, 0.9)])


class WithoutNoise(targets.Expression):
    """Expression with the noise taken off, by its edge."""

    def matrix(self, view):
        """W, shape (r, r)."""
        above, seen = view.problem.above_noise, view.problem.projections
        return view.counted(above @ seen.T @ seen @ above)


def expression() -> None:
    """Print the mean R² of imputed genes by panels for expression, with and without noise."""
    plain, n_wanted = targets.Expression.matrix, measures.IMPUTED
    for name, matrix in {"with noise": plain, "without": WithoutNoise.matrix}.items():
        targets.Expression.matrix = matrix
        found = []
        for sets, _ in GROUPS.values():
            for one in [one for one in sets if not one.name.startswith("worm")]:
                measures.IMPUTED = min(n_wanted, one.adata.n_vars - 100)
                adata = one.adata.copy()
                glfs_bio.pp.select_genes(adata, min(100, adata.n_vars - 1), preserve="expression")
                ranked = adata.var[adata.var["glfs_selected"]].sort_values("glfs_rank").index
                genes = adata.var_names.get_indexer(ranked).tolist()
                found.append([imputation(Panel(one, tuple(genes[:k]))) for k in (10, 25, 50, 100)])
        print(name, np.mean(found, axis=0).round(3))


def worst() -> None:
    """Print the least share of four sets with batches, by the softness of the largest."""
    sets = [(DATASETS[SETS[2]], "batch"), (DATASETS[SETS[3]], "stim")]
    sets += [(imaging.cells(name), "sample") for name in ("merfish_poa", "starmap_mpfc")]
    for sharpness in (3, 10, 40, 100, 300):
        criterion.SHARPNESS = float(sharpness)
        least = []
        for one, key in sets:
            adata = one.adata.copy()
            adata.obs[key] = adata.obs[key].astype(str)
            glfs_bio.pp.select_genes(adata, 50, batch_key=key, across="worst")
            least.append(adata.uns["glfs"]["kept_in_batches"].min(axis=1)[[3, 9, 24, 49]])
        print(sharpness, np.mean(least, axis=0).round(3))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"settings": settings, "sizes": sizes, "expression": expression, "worst": worst}[sys.argv[1]]()
