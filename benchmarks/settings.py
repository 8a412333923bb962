"""Settings of the criterion on single cells and on instruments, by all that the rule asks for.

    python -m benchmarks.settings

Prints, by setting and group, the means over datasets of accuracy, macro-F1, rare-type F1 and kNN
preservation, by size; and for other objectives the genes that halves share.  Settings are set for
one process, in the modules that hold them.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

import glfs_bio
from glfs_bio.cells import noise
from glfs_bio.criterion import criterion

from . import imaging
from .data import DATASETS, SETS
from .measures import Panel, accuracy, jaccard, macro_f1, neighbours_kept, rare_f1
from .methods import ours

MEASURES = (accuracy, macro_f1, rare_f1, neighbours_kept)
GROUPS = {
    "single cells": ([DATASETS[name] for name in SETS], (10, 25, 50, 100, 200)),
    "instruments": ([imaging.cells(name) for name in imaging.OWN], imaging.SIZES),
}
PAIRS, SHARED = 5, (10, 50)
EDGE, NOISE, CRITERION = noise.edge, noise.SETTINGS, criterion.SETTINGS
OF_STRUCTURE = ("lambda1", "n_comps", "assay")
#: Other objectives, as options of a selection.
OTHERS = ({"objective": "exact"}, {"method": "lapaofs"})
#: Fields of the criterion and of the noise, times the edge, and parameters of the structure.
TRIALS = (
    {},
    {"edge": 1e-12},
    *({"edge": value} for value in (0.7, 1.5)),
    *({"noise": value} for value in (0.1, 0.15, 0.3, 0.4)),
    *({"power": value} for value in (0.33, 0.4, 0.6)),
    *({"noise": 0.1, "power": 0.4}, {"noise": 0.3, "power": 0.6}),
    *({"lambda1": value} for value in (10, 30, 300, 1000)),
    {"lambda1": 30, "noise": 0.1, "power": 0.4},
    *({"n_comps": value} for value in (30, 40, 75, 100)),
    *({"assay": value} for value in (0.15, 0.6)),
)


def options_of(adata, trial: dict) -> dict:
    """Return options of a selection with a setting; a structure of its own is kept."""
    if trial in OTHERS:
        return trial
    of = {name: trial[name] for name in OF_STRUCTURE if name in trial}
    if not of:
        return {}
    key = f"structure {of}"
    if key not in adata.uns:
        noise.SETTINGS = replace(NOISE, assay=of.pop("assay", NOISE.assay))
        if "n_comps" in of:
            of["n_comps"] = min(of["n_comps"], adata.n_vars - 1)
        glfs_bio.pp.structure(adata, **of, key_added=key)
        noise.SETTINGS = NOISE
    return {"use_rep": key}


def panels(adata, sizes: tuple[int, ...], trial: dict) -> dict[int, list[int]]:
    """Return the genes of each size; GLFS (2014) is asked for each."""
    options = options_of(adata, trial)

    def best(size: int) -> list[int]:
        return ours.select_genes(adata, min(size, adata.n_vars - 1), **options).tolist()

    if "objective" in trial:
        return {size: best(size) for size in sizes}
    ranked = best(max(sizes))
    return {size: ranked[:size] for size in sizes}


def shared(one, trial: dict) -> list[float]:
    """Return the Jaccard indices of panels of halves, by size."""
    found = []
    for seed in range(PAIRS):
        order, half = np.random.default_rng(seed).permutation(one.adata.n_obs), one.adata.n_obs // 2
        parts = order[:half], order[half : 2 * half]
        both = [panels(one.adata[np.sort(part)].copy(), SHARED, trial) for part in parts]
        found.append([jaccard([set(genes[size]) for genes in both]) for size in SHARED])
    return np.mean(found, axis=0).tolist()


def main() -> None:
    """Print a line a setting and group."""
    for trial in (*TRIALS, *OTHERS):
        scale = trial.get("edge", 1.0)
        noise.edge = lambda *of, scale=scale: scale * EDGE(*of)
        fields = {name: trial[name] for name in ("noise", "power") if name in trial}
        criterion.SETTINGS = replace(CRITERION, **fields)
        for group, (sets, sizes) in GROUPS.items():
            scores = []
            for one in sets:
                of_sizes = panels(one.adata, sizes, trial)
                seen = [Panel(one, tuple(sorted(of_sizes[size]))) for size in sizes]
                scores.append([[measure(panel) for panel in seen] for measure in MEASURES])
            print(trial, group, *np.nanmean(scores, axis=0).round(4).tolist())
            if trial in OTHERS:
                print("  halves", np.mean([shared(one, trial) for one in sets], axis=0).round(3))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
