"""A reference without cells: what it tells, how it judges panels for others, and whom it reveals.

python -m benchmarks.without_cells
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

import glfs_bio
from glfs_bio import pp, tl
from glfs_bio._anndata.structure import without_cells
from glfs_bio.tl._panel import basis_of, request_for

from . import tables
from .data import KANG, LABEL, SETS, load, prepared, read, some
from .instruments import tissue
from .measures import neighbour_accuracy, variances
from .tables import say, section

if TYPE_CHECKING:
    import anndata as ad

KEY = "glfs_structure"
#: What of a result says how it came about.
ABOUT = {"kind", "params", "versions", "made_of", "request", "structure", "written"}
#: Sizes of panels, and how many of each size and kind.
SIZES, DRAWS = (20, 50, 100), 17
#: Cells on which accuracy is measured; resamples of the panels.
MOST_CELLS, RESAMPLES = 1500, 1000
#: Cells that are in a reference, others that are not, and draws of them.
MEMBERS, REPEATS = 1000, 5
OF_TYPE = (10, 20, 50, 100)


def with_structure(adata: ad.AnnData) -> ad.AnnData:
    """Return cells with a structure and moments, and without the labels of few cells."""
    often = adata.obs[LABEL].map(adata.obs[LABEL].value_counts()).astype(int) >= 10
    # categories stay in their order when they are written
    adata.obs[LABEL] = adata.obs[LABEL].astype(object).where(often).astype("category")
    pp.structure(adata, labels=LABEL)
    return adata


def answers(adata: ad.AnnData) -> tuple[dict, float]:
    """Return the results of every function that takes both, and seconds."""
    begin = time.perf_counter()
    names = adata.var_names
    sets = {str(k): list(names[k::50]) for k in range(10)}
    pp.select_genes(adata, 50)
    pp.select_genes(adata, 20, preserve=LABEL, key_added="labels")
    measures = ["preserved", "gene_sets"]
    tl.evaluate_panel(adata, measures=measures, gene_sets=sets, sizes=[20])
    tl.explain_panel(adata, labels=LABEL)
    tl.extend_panel(adata, "glfs", 60)
    tl.order_panel(adata, "glfs", refused="drop", labels=LABEL)
    seconds = time.perf_counter() - begin
    results = {key: entry for key, entry in adata.uns.items() if key.startswith(("glfs", "labels"))}
    del results[KEY]
    return results | {"var": adata.var}, seconds


def compared(here: object, there: object) -> tuple[int, float]:
    """Return how many numbers two results share, and the largest difference; inf of other texts."""
    if isinstance(here, dict | pd.DataFrame):
        pairs = [
            compared(here[name], there[name])
            for name in there
            if name in here and name not in ABOUT
        ]
        return sum(n for n, _ in pairs), max([0.0, *(most for _, most in pairs)])
    here, there = np.asarray(here), np.asarray(there)
    if here.dtype.kind not in "fiub" or here.shape != there.shape:
        return here.size, 0.0 if here.tolist() == there.tolist() else np.inf
    differences = np.abs(here.astype(float) - there.astype(float))
    return here.size, float(np.nan_to_num(differences, nan=0.0, posinf=0.0).max(initial=0.0))


def of_dataset(name: str) -> dict[str, object]:
    """Return what one dataset shows with and without its cells."""
    adata = load(name)
    begin = time.perf_counter()
    adata = with_structure(adata)
    computed = time.perf_counter() - begin
    nobody = without_cells(adata, KEY)
    with tempfile.TemporaryDirectory() as folder:
        sizes = []
        for of in (adata, nobody):
            of.write_h5ad(Path(folder) / "file.h5ad", compression="gzip")
            sizes.append((Path(folder) / "file.h5ad").stat().st_size / 1e6)
        nobody = glfs_bio.io.read_cells(Path(folder) / "file.h5ad")
    (here, seconds), (there, fewer) = answers(adata), answers(nobody)
    n_numbers, difference = compared(here, there)
    return {
        "cells": adata.n_obs,
        "genes": adata.n_vars,
        "values compared": n_numbers,
        "largest difference": f"{difference:.1e}",
        "MB with cells": round(sizes[0], 1),
        "MB without": round(sizes[1], 1),
        "seconds of the structure": round(computed, 1),
        "of the answers, with cells": round(seconds, 1),
        "without": round(fewer, 1),
    }


def panels_of(reference: ad.AnnData, shared: np.ndarray) -> list[np.ndarray]:
    """Return random panels, random ones of variable genes, and panels chosen from halves."""
    rng = np.random.default_rng(tables.SEED)
    by_variance = shared[np.argsort(-variances(reference.X[:, shared]), kind="stable")]
    panels = []
    outside = np.setdiff1d(np.arange(reference.n_vars), shared)
    nobody = without_cells(reference, KEY)
    halves = []
    for _ in range(DRAWS):
        out = np.append(outside, rng.choice(shared, len(shared) // 2, replace=False))
        names = list(nobody.var_names[out])
        frame = pp.select_genes(nobody, max(SIZES), exclude=names, inplace=False)
        halves.append(np.argsort(frame["glfs_rank"].to_numpy())[: max(SIZES)])
    for size in SIZES:
        for pool in (shared, by_variance[: 4 * size], by_variance[: 20 * size]):
            panels += [rng.choice(pool, size, replace=False) for _ in range(DRAWS)]
        panels += [order[:size] for order in halves]
    return panels


def judged(title: str, reference: ad.AnnData, target: ad.AnnData) -> pd.DataFrame:
    """Return how each judge orders panels as their accuracy on the target does."""
    shared = np.flatnonzero(reference.var_names.isin(target.var_names))
    panels = panels_of(reference, shared)
    nobody = without_cells(reference, KEY)
    cells = some(target, min(MOST_CELLS, target.n_obs))
    of_reference = some(reference, min(MOST_CELLS, reference.n_obs))
    of_reference = of_reference[of_reference.obs[LABEL].notna().to_numpy()]
    own = target[:, target.var_names.isin(reference.var_names)].copy()
    pp.structure(own)
    judges = {
        "without cells: preserved": (nobody, None),
        "without cells: preserved of the labels": (nobody, LABEL),
        "cells of the target: preserved": (own, None),
    }
    scores: dict[str, list[float]] = {}
    for judge, (adata, preserve) in judges.items():
        criterion = basis_of(adata, request_for(adata, preserve=preserve)).criterion
        rows = [adata.var_names.get_indexer(reference.var_names[genes]) for genes in panels]
        scores[judge] = [criterion.preserved(genes)[-1] for genes in rows]
        say(f"{title}: {judge}")
    accuracies = []
    scores["with cells: accuracy on the reference"] = []
    for genes in panels:
        there = target.var_names.get_indexer(reference.var_names[genes])
        accuracies.append(neighbour_accuracy(cells.X[:, there], cells.obs[LABEL]))
        here = neighbour_accuracy(of_reference.X[:, genes], of_reference.obs[LABEL])
        scores["with cells: accuracy on the reference"].append(here)
    say(f"{title}: accuracy")
    table, of_size = pd.DataFrame(scores), np.array([len(genes) for genes in panels])
    rows = {judge: agreement(table[judge].to_numpy(), accuracies, of_size) for judge in table}
    return pd.DataFrame(rows).T.rename_axis(title)


def agreement(scores: np.ndarray, accuracies: list[float], of_size: np.ndarray) -> dict[str, str]:
    """Return rank correlations with their intervals, over all panels and those of one size."""
    accuracies = np.asarray(accuracies)
    rng = np.random.default_rng(tables.SEED)

    def correlations(chosen: np.ndarray) -> list[float]:
        parts = [chosen, *(chosen[of_size[chosen] == size] for size in SIZES)]
        of_parts = [spearmanr(scores[part], accuracies[part])[0] for part in parts]
        return [*of_parts, float(np.mean(of_parts[1:]))]

    drawn = rng.integers(len(scores), size=(RESAMPLES, len(scores)))
    low, high = np.quantile([correlations(chosen) for chosen in drawn], [0.025, 0.975], axis=0)
    of_all = correlations(np.arange(len(scores)))
    texts = [f"{r:.3f} [{a:.3f}, {b:.3f}]" for r, a, b in zip(of_all, low, high, strict=True)]
    return dict(zip(["all", *map(str, SIZES), "of one size, mean"], texts, strict=True))


def evidence(
    cells: np.ndarray, moments: dict, column: int, own: np.ndarray
) -> dict[str, np.ndarray]:
    """Return log-likelihood ratios that cells are in a reference, by its moments and by one's own.

    `own` are other cells of the same kind, which an attacker has.
    """
    there, here = moments["means"][:, column], own.mean(axis=0)
    spread = np.maximum(own.var(axis=0), 1e-3)
    shift = ((cells - (here + there) / 2) * (there - here) / spread).sum(axis=1)
    p, q = (
        np.clip(of, 1e-3, 1 - 1e-3) for of in (moments["shares"][:, column], (own > 0).mean(axis=0))
    )
    is_on = cells > 0
    detection = (is_on * np.log(p / q) + ~is_on * np.log((1 - p) / (1 - q))).sum(axis=1)
    return {"means and variances": shift, "detection": detection}


def beyond(cells: np.ndarray, reference: ad.AnnData, own: ad.AnnData) -> np.ndarray:
    """Return how much more of cells lies in the axes of a reference than in those of one's own."""
    inside = []
    for of in (reference, own):
        axes = np.linalg.qr(of.varm[KEY])[0]
        centred = cells - of.uns[KEY]["moments"]["means"][:, 0]
        inside.append(((centred @ axes) ** 2).sum(axis=1) / (centred**2).sum(axis=1))
    return inside[0] - inside[1]


def attacked() -> pd.DataFrame:
    """Return AUC of telling members from others, by what a reference without cells holds."""
    adata = prepared(read(KANG))
    del adata.layers["counts"]
    labels = adata.obs[LABEL].astype(str).to_numpy()
    rows: dict[tuple[str, int], list[dict[str, float]]] = {}
    for seed in range(REPEATS):
        rng = np.random.default_rng(seed)
        order = rng.permutation(adata.n_obs)
        ends = [MEMBERS, 2 * MEMBERS, 6 * MEMBERS]
        members, others, own = (adata[part].copy() for part in np.split(order, ends)[:3])
        for of in (members, own):
            pp.structure(of)
        cells = np.vstack([of.X.toarray() for of in (members, others)])
        is_member = np.repeat([1, 0], MEMBERS)
        told = evidence(cells, members.uns[KEY]["moments"], 0, own.X.toarray())
        told["axes"] = beyond(cells, members, own)
        rows.setdefault(("all cells", MEMBERS), []).append(
            {name: roc_auc_score(is_member, values) for name, values in told.items()}
        )
        for name in np.unique(labels):
            of_type = order[labels[order] == name]
            for size in OF_TYPE:
                if len(of_type) < 4 * size or len(of_type) < 400:
                    continue
                inside, outside, rest = np.split(of_type, [size, size + 100])
                block = adata.X[inside].toarray()
                moments = {
                    "means": block.mean(axis=0)[:, None],
                    "shares": (block > 0).mean(axis=0)[:, None],
                }
                cells = np.vstack([block, adata.X[outside].toarray()])
                is_member = np.repeat([1, 0], [size, len(outside)])
                told = evidence(cells, moments, 0, adata.X[rest[:1000]].toarray())
                rows.setdefault(("a type", size), []).append(
                    {name: roc_auc_score(is_member, values) for name, values in told.items()}
                )
        say(f"attack {seed}")
    means = {key: pd.DataFrame(values) for key, values in rows.items()}
    table = pd.DataFrame(
        {
            key: {n: f"{f[n].mean():.3f} ± {f[n].std() / len(f) ** 0.5:.3f}" for n in f}
            for key, f in means.items()
        }
    ).T
    return (
        table.rename_axis(["moments of", "cells"]).reset_index().fillna("").set_index("moments of")
    )


def main() -> None:
    """Compare, judge, attack, write."""
    tables.parser(__doc__).parse_args()
    same = {}
    for name in SETS:
        same[name] = of_dataset(name)
        say(name)
    zeisel = tissue("Zeisel → STARmap, cortex")
    pairs = [
        ("PBMC 3k → sorted blood", load(SETS[0]), prepared(read("pbmc_facs3774"))),
        ("Zeisel → STARmap, cortex", zeisel.whole, zeisel.instrument.adata),
    ]
    judges = [judged(title, with_structure(of), target) for title, of, target in pairs]
    tables.write(
        "without_cells",
        pd.DataFrame(same).T.rename_axis("dataset"),
        *(section(f"Panels judged by another reference: {of.index.name}", of) for of in judges),
        section("Is a cell among those of the reference? AUC", attacked()),
        panels=4 * DRAWS * len(SIZES),
        cells=MOST_CELLS,
        members=MEMBERS,
        repeats=REPEATS,
    )


if __name__ == "__main__":
    main()
