"""Panels as optimal designs: beside an exchange code of R, and on instances that were published.

    python -m benchmarks.designs [--datasets pbmc3k_2638 ...] [--only exchange fusion]

The exchange code is AlgDesign, which R must have.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

import glfs_bio
from glfs_bio.criterion.error import Block
from glfs_bio.data.threads import one_thread
from glfs_bio.solvers.constraints import Rows
from glfs_bio.solvers.greedy import Greedy
from glfs_bio.solvers.prove import Search
from glfs_bio.tl._panel import beside, find

from . import store, tables
from .data import SETS
from .proofs import SECONDS, percent, proof_of, whole
from .tables import say, section

if TYPE_CHECKING:
    from anndata import AnnData

SCRIPT = Path(__file__).with_suffix(".R")
#: Criteria of AlgDesign: with the genes as I-optimal design for W it is F, with A of W = I.
CRITERIA = {"I": "F", "A": "A-optimal", "D": "D-optimal"}
#: Sizes, and seconds for a design: at 200 genes AlgDesign needs minutes.
SIZES = (10, 25, 50, 100)
PATIENCE = 300
#: Of the random instances: experiments, experiments a parameter, and how many of each.
EXPERIMENTS, RATIOS, SEEDS = (50, 60, 80, 100, 120), (4, 10), range(1, 6)
SECONDS_OF_RANDOM = 5.0
#: Where others stop: an optimum is one within this share.
OTHERS_STOP = 0.01


def exchanged(genes: np.ndarray, weights: np.ndarray, criterion: str, size: int) -> dict:
    """Return seconds and places of the design of AlgDesign, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder) / "genes.csv", genes, delimiter=",")
        np.savetxt(Path(folder) / "weights.csv", weights)
        command = ["Rscript", str(SCRIPT), folder, criterion, str(size)]
        try:
            found = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return {"error": f"not in {PATIENCE} s"}
        except subprocess.CalledProcessError as error:
            return {"error": error.stderr.strip().splitlines()[-1]}
    seconds, *places = map(float, found.stdout.split())
    return {"seconds": seconds, "places": [int(place) - 1 for place in places]}


def of_dataset(name: str, adata: AnnData, size: int) -> dict:
    """Return what nested, best and exchanged panels preserve, and how many genes are others."""
    proof = proof_of(name, adata, "structure", size, SECONDS)
    glfs_bio.pp.select_genes(adata, size)
    found = find(adata, "glfs")
    criterion = found.basis.criterion
    candidates = beside(adata, found, np.empty(0, dtype=np.intp))
    genes = candidates.genes
    (block,) = criterion.on(genes)
    row = proof | {"candidates": len(genes)}
    for way in CRITERIA:
        design = design_of(name, block, way, size)
        if "places" in design:
            chosen = genes[design["places"]]
            design["preserved"] = float(criterion.preserved(chosen)[-1])
            design["others"] = len(np.setdiff1d(chosen, proof["best"]))
            design["alike"] = sum(
                max(len(np.intersect1d(chosen, members)) - 1, 0)
                for members in candidates.alike.values()
            )
        row[way] = design
    return row


def design_of(name: str, block: Block, way: str, size: int) -> dict:
    """Return a design of AlgDesign that is stored, or compute and store it."""
    entry = store.Entry(f"{name}/designs", way, store.digest(SCRIPT.read_bytes()))
    if not entry.has(size):
        entry.put(size, **exchanged(block.genes, block.weights, way, size))
        say(f"{name}, AlgDesign {way}, {size}: done")
    return dict(entry.get(size))


def exchange_table(rows: dict[tuple[str, int], dict]) -> pd.DataFrame:
    """Return what panels preserve."""
    found = {}
    for place, row in rows.items():
        found[place] = {
            "candidates": row["candidates"],
            "nested": f"{row['preserved']:.5f}",
            "best": f"{row['preserved, best']:.5f}{', proven' if row['proven'] else ''}",
            "s": f"{row['seconds']:.1f}",
        }
        for name, title in CRITERIA.items():
            one = row[name]
            alike = f", {one['alike']} alike" if one.get("alike") else ""
            text = one.get("error") or (
                f"{one['preserved']:.5f} ({one['others']} others{alike}, {one['seconds']:.1f} s)"
            )
            found[place][f"AlgDesign, {title}"] = text
    table = pd.DataFrame(found).T
    table.index.names = ["dataset", "genes"]
    return table.reset_index().set_index("dataset")


class Fusion(NamedTuple):
    """``min Tr((C + Σ x_i a_i a_iᵀ)⁻¹)`` over N of the experiments, in whitened coordinates."""

    block: Block
    size: int


def fusion(experiments: int, parameters: int, seed: int, *, correlated: bool, many: bool) -> Fusion:
    """Draw an instance as Hendrych, Besançon & Pokutta (2023) do; `many`: with their repeats.

    Their generator is that of Julia: the distribution is the same, and no instance is.  What may be
    repeated is there so many times.
    """
    rng = np.random.default_rng(seed)
    if correlated:
        root = rng.random((experiments, parameters))
        mean = rng.standard_normal(parameters)
        rows = rng.multivariate_normal(mean, root.T @ root, size=experiments)
    else:
        rows = rng.random((experiments, parameters))
    known = rng.random((2 * parameters, parameters))
    size = int(rng.integers(experiments // 20, experiments // 3 + 1))
    most = rng.integers(1, experiments // 10 + 1, size=experiments)
    if many:
        rows = np.repeat(rows, np.minimum(most, size), axis=0)
    whitening = np.linalg.inv(np.linalg.cholesky(known.T @ known))
    matrix = whitening @ whitening.T
    return Fusion(Block.of(rows @ whitening.T, matrix / np.trace(matrix)), size)


def of_random(instance: Fusion, seconds: float) -> dict:
    """Return the proof of a random instance."""
    n_genes = len(instance.block.genes)
    with one_thread():
        begin = time.monotonic()
        greedy = Greedy([instance.block])
        greedy.grow(instance.size)
        nothing = np.empty(0, dtype=np.intp)
        rows = Rows.of([], n_genes)
        search = Search([instance.block], rows, instance.size, nothing, list(greedy.picked))
        search.run(begin + seconds)
        taken = time.monotonic() - begin
    gap = (search.error - search.lower) / search.error
    return {
        "proven": gap * search.error <= search.safe,
        "near": gap <= OTHERS_STOP,
        "gap": gap,
        "nodes": search.n_nodes,
        "seconds": taken,
    }


def random_table(seconds: float) -> pd.DataFrame:
    """Prove all random instances; a row a kind of them."""
    found = {}
    for many, correlated, experiments, ratio in product(
        (False, True), (False, True), EXPERIMENTS, RATIOS
    ):
        parameters = experiments // ratio
        proofs = pd.DataFrame(
            of_random(
                fusion(experiments, parameters, seed, correlated=correlated, many=many), seconds
            )
            for seed in SEEDS
        )
        kind = "correlated" if correlated else "independent"
        place = "repeats" if many else "once each", kind, experiments, parameters
        found[place] = {
            "proven": f"{proofs['proven'].sum()} of {len(proofs)}",
            "within 1 %": f"{proofs['near'].sum()}",
            "nodes": f"{proofs['nodes'].median():.0f}",
            "seconds": f"{proofs['seconds'].median():.2f}",
            "largest gap": percent(proofs["gap"].max()),
        }
        say(f"{place}: {found[place]}")
    table = pd.DataFrame(found).T
    table.index.names = ["experiments", "rows", "m", "n"]
    return table.reset_index().set_index("experiments")


def main() -> None:
    """Compare, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seconds", type=float, default=SECONDS_OF_RANDOM)
    options = parser.parse_args()
    rows = {}
    for name in options.datasets:
        adata = whole(name)
        for size in options.sizes:
            rows[name, size] = of_dataset(name, adata, size)
    same = sum(row["I"].get("others") == 0 for row in rows.values())
    ahead = sum(
        row["I"].get("preserved", 0.0) > row["preserved, best"] + 1e-6 for row in rows.values()
    )
    alike = sum(bool(row["I"].get("alike")) for row in rows.values())
    tables.write(
        "designs",
        exchange_table(rows),
        f"By F the exchange code has the genes of the best panel known in {same} of {len(rows)} "
        f"cases. It is ahead in {ahead}, and takes genes of nearly one sequence in {alike}.",
        section("Random instances as published", random_table(options.seconds)),
        save=(options.datasets, options.sizes) == (list(SETS), list(SIZES)),
        seconds=f"{SECONDS:.0f}",
        of_random=f"{options.seconds:.0f}",
        n_random=len(SEEDS),
    )


if __name__ == "__main__":
    main()
