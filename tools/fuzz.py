"""``python tools/fuzz.py [--seed 0] [--cases 60]``: the package attacked with drawn input.

Every case runs in a process of its own, so that one that ends it is counted, and belongs to one of
six classes:

- right: accepted, and the answer is that of an oracle
- accepted: accepted, and there is no oracle
- refused: by an error of the package, which names the argument
- foreign: by another error
- wrong: accepted, and the answer is not that of the oracle
- crash: the process ended, or did not end

Prints a table of the classes by regime; exit code 1 if the last three have a case.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import inspect
import itertools
import logging
import lzma
import os
import signal
import sys
import tempfile
import traceback
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import h5py
import numpy as np
import pandas as pd
from scipy import sparse

import glfs_bio
from glfs_bio import Limits, Platform, io, pp, tl
from glfs_bio.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = ("right", "accepted", "refused", "foreign", "wrong", "crash")
BAD = CLASSES[3:]
#: Seconds of one case.
LIMIT = 120
SLACK = 1e-9


def tiny(rng: np.random.Generator, n_cells: int = 40, n_genes: int = 8) -> ad.AnnData:
    """Return cells of three types, with labels and batches."""
    types = rng.integers(3, size=n_cells)
    means = rng.gamma(1.0, 1.0, size=(3, n_genes))[types]
    adata = ad.AnnData(np.log1p(rng.poisson(3.0 * means)).astype(float))
    adata.obs["type"] = pd.Categorical([f"t{one}" for one in types])
    adata.obs["batch"] = np.where(np.arange(n_cells) % 2, "a", "b")
    adata.layers["counts"] = np.round(np.expm1(adata.X))
    adata.var["cost"] = rng.integers(1, 4, size=n_genes).astype(float)
    return adata


MODES: dict[str, dict] = {
    "structure": {},
    "labels": {"preserve": "type"},
    "expression": {"preserve": "expression"},
    "genes": {"preserve": ["0", "3"]},
    "several": {"preserve": {"structure": 1, "type": 3}},
    "weights": {"cell_weights": "type"},
    "batches": {"batch_key": "batch"},
    "the worst batch": {"batch_key": "batch", "across": "worst"},
    "full rank": {"n_comps": None},
    "few components": {"n_comps": 3},
    "efficiency": {"platform": Platform(efficiency=0.3)},
    "included": {"include": ["2"]},
    "excluded": {"exclude": ["1", "5"]},
    "cost": {"limits": Limits(cost="cost", budget=7.0), "n_genes": None},
    "counts": {"limits": Limits(max_total_per_cell=9.0, counts_layer="counts")},
}


def certificate(rng: np.random.Generator) -> str:
    """Compare a bound with the best of all panels of its size."""
    adata = tiny(rng)
    options = dict(MODES[str(rng.choice(list(MODES)))])
    size = options.pop("n_genes", int(rng.integers(1, 5)))
    pp.select_genes(adata, size, **options)
    entry = adata.uns["glfs"]
    kept, bound = float(entry["preserved"][-1]), float(entry["optimality"][-1])
    if np.isnan(bound):
        return "accepted"
    allowed = adata.var_names[adata.var["glfs_score"].notna()]
    must = set(adata.var_names[adata.var["glfs_included"]])
    limits, best = options.get("limits"), 0.0
    sizes = range(1, 9) if size is None else [size]
    for panel in itertools.chain(*(itertools.combinations(allowed, k) for k in sizes)):
        if must - set(panel):
            continue
        rows = adata.var_names.get_indexer(panel)
        if limits is not None and limits.budget and adata.var["cost"].iloc[rows].sum() > 7.0:
            continue
        counted = limits is not None and limits.counts_layer is not None
        if counted and adata.layers["counts"][:, rows].mean(axis=0).sum() > 9.0:
            continue
        asked = {name: options[name] for name in options if name not in ("limits", "exclude")}
        asked["include"] = list(panel)
        pp.select_genes(adata, len(panel), **asked, key_added="one")
        best = max(best, float(adata.uns["one"]["preserved"][-1]))
    return "right" if kept >= bound * best - SLACK else "wrong"


def nothing(rng: np.random.Generator) -> str:
    """Ask for genes of pure noise: nothing may be certified."""
    shape = int(rng.integers(20, 400)), int(rng.integers(60, 600))
    noise = rng.normal(size=shape) if rng.random() < 0.5 else rng.exponential(size=shape)
    adata = ad.AnnData(noise)
    pp.select_genes(adata, int(rng.integers(1, 20)))
    entry = adata.uns["glfs"]
    # chance is compared with permuted genes: one matrix in some hundred is above
    certified = not np.isnan(entry["optimality"]).all() and entry["preserved"][-1] > 0.9
    return "wrong" if certified else "right"


def regime(rng: np.random.Generator) -> str:
    """Ask for genes of a matrix that is odd in one or two ways."""
    adata = tiny(rng, int(rng.integers(3, 60)), int(rng.integers(2, 40)))
    values = adata.X
    odd: dict[str, Callable[[], object]] = {
        "NaN": lambda: values.__setitem__((0, 0), np.nan),
        "infinite": lambda: values.__setitem__((0, 0), np.inf),
        "constant": lambda: values.__setitem__((slice(None), slice(0, 2)), 1.0),
        "all constant": lambda: values.fill(0.0),
        "copies": lambda: values.__setitem__((slice(None), 1), values[:, 0]),
        "tiny": lambda: np.multiply(values, 1e-200, out=values),
        "huge": lambda: np.multiply(values, 1e200, out=values),
        "one gene huge": lambda: np.multiply(values[:, 0], 1e6, out=values[:, 0]),
        "negative": lambda: np.subtract(values, 5.0, out=values),
        "cells alike": lambda: values.__setitem__(slice(None), values[:1]),
    }
    for name in rng.choice(list(odd), size=int(rng.integers(1, 3)), replace=False):
        odd[str(name)]()
    form = rng.choice(["dense", "csr", "csc", "single", "fortran"])
    adata.X = {
        "dense": lambda: values,
        "csr": lambda: sparse.csr_matrix(values),
        "csc": lambda: sparse.csc_matrix(values),
        "single": lambda: values.astype(np.float32),
        "fortran": lambda: np.asfortranarray(values),
    }[str(form)]()
    pp.select_genes(adata, int(rng.integers(1, adata.n_vars + 1)))
    kept = np.asarray(adata.uns["glfs"]["preserved"])
    whole = np.isfinite(kept).all() and (kept > -1e-6).all() and (kept < 1 + 1e-6).all()
    return "accepted" if whole else "wrong"


def damaged(rng: np.random.Generator) -> str:
    """Damage the indices of a sparse matrix, in memory or in a file that is backed.

    A number that still is a place in the matrix makes another matrix, whose panel is asked for.
    """
    adata = tiny(rng, 60, 40)
    adata.X = sparse.csr_matrix(adata.X) if rng.random() < 0.5 else sparse.csc_matrix(adata.X)
    other, options = adata.copy(), {}
    where = str(rng.choice(["memory", "file", "backed", "graph", "counts"]))
    part = str(rng.choice(["indices", "indptr"]))
    value = int(rng.choice([-1, -(2**31), 40, 60, 10**6, 2**31 - 1]))
    with tempfile.TemporaryDirectory() as folder:
        if where in ("file", "backed"):
            path = Path(folder) / "cells.h5ad"
            adata.X = sparse.csr_matrix(adata.X)
            adata.write_h5ad(path)
            with h5py.File(path, "r+") as file:
                _spoil(file[f"X/{part}"], value, rng)
                parts = [file[f"X/{one}"][:] for one in ("data", "indices", "indptr")]
            plain, put = _plain(*parts, adata.shape), partial(setattr, other, "X")
            adata = io.read_cells(path) if where == "file" else ad.read_h5ad(path, backed="r")
        elif where == "graph":
            graph = sparse.csr_matrix(np.ones((60, 60)))
            _spoil(getattr(graph, part), value, rng)
            adata.obsp["connectivities"] = graph
            plain, put = _plain_of(graph), partial(other.obsp.__setitem__, "connectivities")
            for one in (adata, other):
                one.uns["neighbors"] = {"connectivities_key": "connectivities"}
            options = {"neighbors_key": "neighbors"}
        elif where == "counts":
            counts = sparse.csr_matrix(adata.layers["counts"])
            _spoil(getattr(counts, part), value, rng)
            adata.layers["counts"] = counts
            plain, put = _plain_of(counts), partial(other.layers.__setitem__, "counts")
            options = {"limits": Limits(max_total_per_cell=50.0, counts_layer="counts")}
        else:
            _spoil(getattr(adata.X, part), value, rng)
            plain, put = _plain_of(adata.X), partial(setattr, other, "X")
        pp.select_genes(adata, 4, **options)
    if plain is None:
        return "wrong"
    put(plain)
    pp.select_genes(other, 4, **options)
    same = adata.var["glfs_selected"].equals(other.var["glfs_selected"])
    return "right" if same else "wrong"


def _spoil(numbers, value: int, rng: np.random.Generator) -> None:
    numbers[int(rng.integers(len(numbers)))] = value


def _plain_of(matrix) -> sparse.csr_matrix | None:
    turned = matrix.format == "csc"
    shape = matrix.shape[::-1] if turned else matrix.shape
    plain = _plain(matrix.data, matrix.indices, matrix.indptr, shape)
    return plain.T.tocsr() if turned and plain is not None else plain


def _plain(data, indices, indptr, shape: tuple[int, int]) -> sparse.csr_matrix | None:
    """Return the matrix of such parts, added up one by one; None if a place is not in it."""
    dense = np.zeros(shape)
    ordered = indptr[0] == 0 and (np.diff(indptr) >= 0).all() and indptr[-1] <= len(data)
    if not ordered or ((indices < 0) | (indices >= shape[1])).any():
        return None
    for row in range(shape[0]):
        for place in range(indptr[row], indptr[row + 1]):
            dense[row, indices[place]] += data[place]
    return sparse.csr_matrix(dense)


ODD_VALUES = [
    *(None, True, False, -1, 0, 1, 3, 10**9, 2.5, float("nan"), float("inf"), 1e-320, 10**400),
    *("", "glfs", "type", "batch", "counts", "nothing", "a/b", "\0", "0", ["0"], ["0", 1], [], {}),
    *(
        {"type": -1},
        {"type": 1.0},
        b"0",
        object(),
        np.zeros(3),
        np.array("x"),
        ("0", "1"),
        range(3),
    ),
]
#: With their first argument, where another one is drawn.
FUNCTIONS = {
    pp.select_genes: 3,
    tl.evaluate_panel: "glfs",
    tl.substitutes: "glfs",
    tl.extend_panel: "glfs",
    tl.explain_panel: "glfs",
    tl.order_panel: "glfs",
}


def argument(rng: np.random.Generator) -> str:
    """Give a function an odd value."""
    adata = tiny(rng, 30, 12)
    pp.select_genes(adata, 3, n_comps=5)
    function = list(FUNCTIONS)[int(rng.integers(len(FUNCTIONS)))]
    _, first, *others = inspect.signature(function).parameters
    name = str(rng.choice([first, *others]))
    value = ODD_VALUES[int(rng.integers(len(ODD_VALUES)))]
    before = adata.copy()
    try:
        function(adata, **{first: FUNCTIONS[function], name: value})
    except Refusal:
        same = before.var.equals(adata.var) and list(before.obs) == list(adata.obs)
        if not same:
            return "wrong"
        raise
    return "accepted"


def broken(rng: np.random.Generator) -> str:
    """Read a file in which bytes were changed, or that was cut off."""
    adata = tiny(rng, 30, 12)
    with tempfile.TemporaryDirectory() as folder:
        kind = str(rng.choice(["h5ad", "csv", "csv.gz", "csv.bz2", "csv.xz", "xlsx", "gmt", "txt"]))
        path = Path(folder) / f"file.{kind}"
        read: Callable = io.read_cells
        if kind == "h5ad":
            adata.write_h5ad(path)
        elif kind.startswith("csv"):
            text = adata.to_df().to_csv().encode()
            pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
            path.write_bytes(pack.get(kind.partition(".")[2], bytes)(text))
        else:
            pp.select_genes(adata, 3, n_comps=5)
            write = io.write_gmt if kind == "gmt" else io.write_gene_list
            write(adata, path)
            read = io.read_panel
        content = bytearray(path.read_bytes())
        if rng.random() < 0.3:
            content = content[: int(rng.integers(len(content)))]
        else:
            for place in rng.integers(len(content), size=int(rng.integers(1, 6))):
                content[place] = int(rng.integers(256))
        path.write_bytes(bytes(content))
        read(path)
    return "accepted"


LETTERS = [
    *"abcXYZ019" * 4,
    *"-_.:/ ",
    *"=+@#'\"$,;|\\",
    "\n",
    "\r",
    "\t",
    "\v",
    "\x00",
    "\x85",
    "\u2028",
]


def name(rng: np.random.Generator) -> str:
    """Write genes of odd names, and read them again."""
    adata = tiny(rng, 30, 12)
    drawn = ["".join(rng.choice(LETTERS, size=int(rng.integers(1, 6)))) for _ in range(12)]
    adata.var_names = [f"{one}{place}" if drawn.count(one) > 1 else one
                       for place, one in enumerate(drawn)]  # fmt: skip
    pp.select_genes(adata, 3, n_comps=5)
    ranked = adata.var[adata.var["glfs_selected"]].sort_values("glfs_rank").index
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"panel.{rng.choice(['txt', 'csv', 'tsv', 'xlsx', 'gmt'])}"
        (io.write_gmt if path.suffix == ".gmt" else io.write_gene_list)(adata, path)
        return "right" if io.read_panel(path) == list(ranked) else "wrong"


REGIMES = {
    "certificates against all panels": certificate,
    "pure noise": nothing,
    "odd matrices": regime,
    "damaged sparse matrices": damaged,
    "odd arguments": argument,
    "broken files": broken,
    "names in files": name,
}


def attempt(case: Callable[[np.random.Generator], str], seed: list[int]) -> str:
    """Run one case in a process of its own; return its class, and say what is bad of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(LIMIT)
        try:
            found, said = case(np.random.default_rng(seed)), ""
        except Refusal as refusal:
            found, said = ("refused" if refusal.argument else "foreign"), str(refusal)
        except BaseException:  # noqa: BLE001 -- it is counted
            found, said = "foreign", traceback.format_exc(limit=-3)
        os.write(writing, f"{found}\n{said}"[:4000].encode("utf-8", "replace"))
        os._exit(0)
    os.close(writing)
    told = b""
    while part := os.read(reading, 4096):
        told += part
    os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    found, _, said = told.decode("utf-8", "replace").partition("\n")
    found = found if code == 0 and found else "crash"
    if found in BAD:
        print(f"{case.__name__} {seed}: {found} (exit code {code})\n{said}", file=sys.stderr)
    return found


def table(seed: int, n_cases: int) -> tuple[pd.DataFrame, int]:
    """Return the number of cases of each class, a row a regime; and of those that are bad."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    glfs_bio.GLFS(1).fit(np.random.default_rng(0).random((9, 5)))  # compiled before the forks
    rows = {}
    for place, (regime_of, case) in enumerate(REGIMES.items()):
        found = [attempt(case, [seed, place, number]) for number in range(n_cases)]
        rows[regime_of] = [found.count(one) for one in CLASSES]
    counts = pd.DataFrame.from_dict(rows, orient="index", columns=CLASSES)
    return counts, int(counts[list(BAD)].to_numpy().sum())


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=60, help="of each regime")
    options = parser.parse_args()
    counts, bad = table(options.seed, options.cases)
    print(counts.to_markdown())
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
