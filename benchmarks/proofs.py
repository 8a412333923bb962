"""How often the best panel can be proven, what its certificates say, and what they are worth.

    python -m benchmarks.proofs [--datasets pbmc3k_2638 ...] [--sizes 10 25 ...] [--seconds 60]

What was proven is kept while the code of the selection and the solvers is the same.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd

import glfs_bio

from . import store, tables
from .data import LABEL, SETS, Cells, prepared, read
from .measures import Panel, accuracy, macro_f1
from .stability import halves
from .tables import say, section

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

SIZES = (10, 25, 50, 100, 200)
SECONDS = 60.0
#: Of the limits: mean of logarithms, and the share of the counts of the panel that has only that.
MAX_MEAN, SHARE = 2.5, 0.5
COUNTS = "counts"
#: Sizes that are repeated on halves of the cells, and how often.
REPEATED, HALVES = (10, 25, 100), 20
#: Seconds for the best panel of a half of the cells.
SECONDS_OF_HALF = 10.0
#: Certificates of a selection, of the best panels and of the nearly best.
CERTIFICATE, WITHIN = "glfs_certificate", "glfs_certificate_within"
EVERY, OPEN = "every", "open"
#: What nested panels come from, and proofs.
GREEDY = ("cells/*.py", "solvers/greedy.py")
ALL = (*GREEDY, "criterion/*.py", "solvers/*.py", "selection.py")


def structure(adata: AnnData, size: int) -> dict:
    """Arguments of the default selection."""
    return {}


def labels(adata: AnnData, size: int) -> dict:
    """Arguments of a selection for the labels."""
    return {"preserve": LABEL}


def limited(adata: AnnData, size: int) -> dict:
    """Arguments of a selection within a limit on every gene, and on their sum."""
    expression = {"mean": MAX_MEAN}
    bright = glfs_bio.Limits(expression=expression)
    glfs_bio.pp.select_genes(adata, size, limits=bright, key_added="bright")
    counts = adata[:, adata.var["bright_selected"].to_numpy()].layers[COUNTS]
    total = SHARE * float(counts.sum(axis=1).mean())
    totals = {"total_counts": {"cell": total}, "counts_layer": COUNTS}
    return {"limits": glfs_bio.Limits(expression=expression, **totals)}


WAYS: dict[str, Callable[[AnnData, int], dict]] = {
    "structure": structure,
    "labels": labels,
    "limits": limited,
}


def code(*patterns: str) -> str:
    """Return what changes with files of the package, and with the limits."""
    home = Path(glfs_bio.__file__).parent
    files = [file for pattern in patterns for file in sorted(home.glob(pattern))]
    text = b"".join(file.read_bytes() for file in files)
    return store.digest(text + f"{MAX_MEAN} {SHARE}".encode())


def whole(name: str) -> AnnData:
    """Return a dataset with all of its cells."""
    return prepared(read(name))


def kept(place: str, name: str, key: object, compute: Callable[..., dict], *of: object) -> dict:
    """Return what is stored by this code, or compute and store it."""
    files = GREEDY if compute is in_halves else ALL
    entry = store.Entry(f"{place}/proofs", name, code(*files))
    if not entry.has(key):
        entry.put(key, **compute(*of))
        say(f"{place}, {name}, {key}: done")
    return entry.get(key)


@dataclass(frozen=True)
class Certified:
    """How many genes are in every best panel, and open."""

    every: int
    open: int

    @classmethod
    def of(cls, adata: AnnData, column: str) -> Certified:
        """Count genes."""
        known = adata.var[column].to_numpy()
        return cls(int((known == EVERY).sum()), int((known == OPEN).sum()))


def proof_of(name: str, adata: AnnData, way: str, size: int, seconds: float) -> dict:
    """Return a proof that is stored, or compute and store it."""
    key = f"{size}, {seconds:g} s"
    return kept(name, way, key, proof, adata, size, way, seconds)


def proof(adata: AnnData, size: int, way: str, seconds: float) -> dict:
    """Select a panel, prove it, and return both."""
    select = WAYS[way](adata, size)
    begin = time.perf_counter()
    glfs_bio.pp.select_genes(adata, size, **select)
    selected = time.perf_counter() - begin
    told = adata.uns["glfs"]
    preserved, optimality = float(told["preserved"][-1]), float(told["optimality"][-1])
    free, free_within = (Certified.of(adata, column) for column in (CERTIFICATE, WITHIN))
    begin = time.perf_counter()
    glfs_bio.tl.prove_panel(adata, time_limit=seconds)
    taken = time.perf_counter() - begin
    found = adata.uns["glfs_proof"]
    after, after_within = (Certified.of(adata, column) for column in (CERTIFICATE, WITHIN))
    table = found["table"]
    others = int((table["in_best"] & ~table["in_panel"]).sum())
    return {
        "gap": preserved / optimality - preserved,
        "every": free.every,
        "open": free.open,
        "every within": free_within.every,
        "open within": free_within.open,
        "proven": bool(found["proven"]),
        "gap left": float(found["most_preserved"] - found["best_preserved"]),
        "seconds": taken,
        "seconds of the selection": selected,
        "nodes": int(found["n_nodes"]),
        "every after": after.every,
        "open after": after.open,
        "every within after": after_within.every,
        "open within after": after_within.open,
        "preserved": preserved,
        "lost": float(found["best_preserved"] - found["preserved"]),
        "others": others,
        "candidates": int(found["n_tested"]),
        "of size": int(found["n_genes"]),
        "preserved, best": float(found["best_preserved"]),
        "genes": np.flatnonzero(adata.var["glfs_selected"]).tolist(),
        "best": adata.var_names.get_indexer(table["gene"][table["in_best"]]).tolist(),
        "known within": np.flatnonzero(adata.var[WITHIN] == EVERY).tolist(),
    }


def in_halves(adata: AnnData) -> dict:
    """Return how often each gene is selected in random halves of the cells, by size."""
    found: dict[str, dict[int, float]] = {str(size): {} for size in REPEATED}
    for cells in halves(adata.n_obs, HALVES // 2):
        half = ad.AnnData(adata.X[cells], var=adata.var[[]])
        order = glfs_bio.pp.select_genes(half, max(REPEATED), inplace=False)["glfs_rank"].to_numpy()
        for size in REPEATED:
            for gene in np.flatnonzero(order <= size).tolist():
                found[str(size)][gene] = found[str(size)].get(gene, 0.0) + 1.0 / HALVES
    return {"frequencies": found}


def on_left_out(adata: AnnData, size: int, way: str) -> dict:
    """Choose on a half of the cells, the nested and the best panel; read labels of the others."""
    order = np.random.default_rng(0).permutation(adata.n_obs)
    first, second = (adata[np.sort(part)].copy() for part in np.array_split(order, 2))
    glfs_bio.pp.select_genes(first, size, **WAYS[way](first, size))
    glfs_bio.tl.prove_panel(first, time_limit=SECONDS_OF_HALF)
    found = first.uns["glfs_proof"]
    panels = {"nested": first.var["glfs_selected"].to_numpy()}
    if "best" in found:
        panels["best"] = first.var["glfs_best_selected"].to_numpy()
    others = Cells("left out", lambda: second)
    read_off = {}
    for which, genes in panels.items() if "best" in panels else ():
        panel = Panel(others, tuple(np.flatnonzero(genes)))
        read_off |= {which: accuracy(panel), f"{which}, macro-F1": macro_f1(panel)}
    return {
        "proven": bool(found["proven"]),
        "others": int((found["table"]["in_best"] & ~found["table"]["in_panel"]).sum()),
        "gained": float(found["best_preserved"] - found["preserved"]),
        **read_off,
    }


def percent(share: float) -> str:
    """Return a share in percent, with two digits that say something."""
    return f"{100 * share:.2g} %" if share > 0 else "0"


def as_table(rows: dict[tuple[str, int], dict]) -> pd.DataFrame:
    """Return proofs, a row a dataset and size."""
    found = {}
    for place, row in rows.items():
        found[place] = {
            "root gap": percent(row["gap"]),
            "every": f"{row['every']} → {row['every after']}",
            "open": f"{row['open']} → {row['open after']}",
            "every within 0.5 %": f"{row['every within']} → {row['every within after']}",
            "proven": "yes" if row["proven"] else f"no ({percent(row['gap left'])})",
            "seconds": f"{row['seconds']:.1f}",
            "nodes": row["nodes"],
            "nested: lost": percent(row["lost"]),
            "other genes": row["others"],
        }
    table = pd.DataFrame(found).T
    table.index.names = ["dataset", "genes"]
    return table.reset_index().set_index("dataset")


def counted(rows: dict[tuple[str, int], dict], seconds: float) -> str:
    """Return in a sentence how many are proven."""
    proven = [row for row in rows.values() if row["proven"]]
    optimal = sum(row["others"] == 0 for row in proven)
    return (
        f"Proven within {seconds:.0f} s: {len(proven)} of {len(rows)}; the nested panel is the "
        f"best in {optimal} of these."
    )


def free(adata: AnnData, size: int) -> dict:
    """Return what the bound of a selection says of genes."""
    glfs_bio.pp.select_genes(adata, size)
    known = adata.var[CERTIFICATE].to_numpy()
    return {state: np.flatnonzero(known == state).tolist() for state in (EVERY, OPEN)}


def agreement(n_genes: int, of_proof: dict, of_bound: dict, often: dict) -> dict:
    """Return the mean frequency in halves, by what is known of a gene, and how many these are."""

    def among(genes: list[int]) -> np.ndarray:
        return np.isin(np.arange(n_genes), genes)

    panel, is_open = among(of_proof["genes"]), among(of_bound[OPEN])
    groups = {
        "in every nearly best panel": among(of_proof["known within"]) & panel,
        "in every best panel, by the bound": among(of_bound[EVERY]) & panel,
        "of the panel, left open": is_open & panel,
        "not of the panel, left open": is_open & ~panel,
    }
    frequency = np.zeros(n_genes)
    for gene, value in often.items():
        frequency[int(gene)] = value
    return {
        group: f"{frequency[some].mean():.2f} ({some.sum()})" if some.any() else "–"
        for group, some in groups.items()
    }


def main() -> None:
    """Prove, repeat on halves, write."""
    parser = tables.parser(__doc__)
    parser.add_argument("--datasets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--seconds", type=float, default=SECONDS)
    options = parser.parse_args()
    proofs: dict[str, dict] = {way: {} for way in WAYS}
    agree, left_out = {}, {}
    for way in WAYS:
        for name in options.datasets:
            adata = whole(name)
            for size in options.sizes:
                one = proof_of(name, adata, way, size, options.seconds)
                proofs[way][name, size] = one
                if way == "structure" and size in REPEATED:
                    often = kept(name, "halves", HALVES, in_halves, adata)["frequencies"]
                    bound = kept(name, "bound", size, free, adata, size)
                    agree[name, size] = agreement(adata.n_vars, one, bound, often[str(size)])
    for way in ("structure", "labels"):
        for name in options.datasets:
            adata = whole(name)
            for size in options.sizes:
                title = f"{way} left out"
                key = f"{size}, {SECONDS_OF_HALF:g} s"
                one = kept(name, title, key, on_left_out, adata, size, way)
                left_out[name, way, size] = one
    differ = {place: row for place, row in left_out.items() if "best" in row}
    read_off = pd.DataFrame(differ).T
    table = pd.DataFrame(agree).T
    table.index.names = ["dataset", "genes"]
    tables.write(
        "proofs",
        as_table(proofs["structure"]),
        counted(proofs["structure"], options.seconds),
        section("Labels as the target", as_table(proofs["labels"])),
        counted(proofs["labels"], options.seconds),
        section("Limits on expression", as_table(proofs["limits"])),
        counted(proofs["limits"], options.seconds),
        section("Certificates and halves of the cells", table.reset_index().set_index("dataset")),
        section("The best panel on cells that were left out", left_out_table(read_off)),
        f"{len(differ)} of {len(left_out)} best panels of a half are not the nested one.",
        whole=(options.datasets, options.sizes) == (list(SETS), list(SIZES)),
        seconds=f"{options.seconds:.0f}",
        of_half=f"{SECONDS_OF_HALF:.0f}",
        max_mean=MAX_MEAN,
        halves=HALVES,
    )


def left_out_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return readings of nested and best panels, where they differ, and their mean difference."""
    if rows.empty:
        return rows
    rows = rows.astype({"gained": float, "nested": float, "best": float})
    means = rows[["nested", "best", "nested, macro-F1", "best, macro-F1"]].astype(float)
    better = (means["best"] > means["nested"]).sum()
    worse = (means["best"] < means["nested"]).sum()
    table = rows[["others"]].assign(gained=rows["gained"].map(percent), **means.round(4))
    table.index.names = ["dataset", "target", "genes"]
    total = means.mean().round(4)
    last = pd.DataFrame(
        [{"others": "", "gained": f"best ahead {better}, behind {worse}", **total}],
        index=pd.MultiIndex.from_tuples([("mean", "", "")], names=table.index.names),
    )
    return pd.concat([table, last]).reset_index().set_index("dataset")


if __name__ == "__main__":
    main()
