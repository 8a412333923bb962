"""How much of a panel stays when the cells, the counts, the seed or the preprocessing change.

    python -m benchmarks.stability halves [--only glfs_bio ...] [--datasets ...] [--pairs 20]
    python -m benchmarks.stability perturbed [--only glfs_bio ...] [--datasets ...] [--draws 1]

`halves` compares panels from pairs of halves of the cells, for the methods of this environment:
`panels_stability.md`.  `perturbed` has one such pair for every method, and compares panels from
perturbed data with those of the data as they are: `peers_stability.md`.  Panels that `--only`
leaves out are read from the store; `--only` without a name computes nothing.  Tools in environments
of their own take minutes a panel, and are run where they are named.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scanpy as sc
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from . import methods, store, tables
from .data import DATASETS, SETS, Cells, load, prepared
from .measures import jaccard
from .methods import COMPARED, METHODS, Method, choose, ours
from .tables import say, section

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from anndata import AnnData

SEED = 0
SIZES = (10, 50)
#: A seeded permutation says nothing: it is the same in every half.
IN_HALVES = {
    name: method
    for name, method in METHODS.items()
    if name != "random" and method.group in (methods.OURS, methods.BEFORE, methods.RIVAL)
}
PERTURBED = {name: method for name, method in COMPARED.items() if name != "random"}
HALVES, OTHER_SEED = "split halves", "another seed"
#: The others take no seed: their Pearson residuals, dispersions and autocorrelations are exact, and
#: the scripts of the tools pass none.
SEEDED = {methods.DEFAULT: partial(ours.select_genes, random_state=1)}
NOT_RUN, REFUSED, UNSEEDED = "not run", "not applicable", "none"
#: Reasons that hold whatever is run.
NEVER = (REFUSED, UNSEEDED)
#: Residuals cannot be taken by what undoes the logarithm, or counts the cells that express a gene;
#: and the largest variance of residuals is what the row of Pearson residuals has.
NOT_OF_RESIDUALS = ("HVG seurat", "HVG cell_ranger", "triku", "variance")


def halves(n_cells: int, n_pairs: int) -> list[np.ndarray]:
    """Draw pairs of halves without a cell in common, one after the other."""
    rng = np.random.default_rng(SEED)
    orders = [rng.permutation(n_cells) for _ in range(n_pairs)]
    return [np.sort(half) for order in orders for half in np.array_split(order, 2)]


def of_half(adata: AnnData, half: np.ndarray, method: Method) -> dict:
    """Return the genes of one method on one half by size, or what went wrong."""
    with threadpool_limits(1):
        part = method.prepare(adata[half].copy())
        found = {
            size: methods.attempt(method.select, part, size)
            for size in ([max(SIZES)] if method.nested else SIZES)
        }
    errors = [one["error"] for one in found.values() if "error" in one]
    if errors:
        return {"error": errors[0]}
    return {str(size): found.get(size, found[max(SIZES)])["genes"][:size] for size in SIZES}


def choose_in_halves(
    adata: AnnData, parts: list[np.ndarray], method: Method, entry: store.Entry, jobs: int
) -> None:
    """Choose the panels of the halves that are not stored."""
    missing = [number for number in range(len(parts)) if not entry.has(number)]
    tasks = (delayed(of_half)(adata, parts[number], method) for number in missing)
    for number, found in zip(missing, Parallel(jobs, return_as="generator")(tasks), strict=True):
        entry.put(number, **found)


def write_halves(options: argparse.Namespace) -> None:
    """Compare panels from many pairs of halves."""
    rows = []
    to_run = tables.named(options.only, IN_HALVES)
    for name in options.datasets:
        adata = load(name)
        parts = halves(adata.n_obs, options.pairs)
        for title, method in IN_HALVES.items():
            entry = store.entry_of(title, f"{name}/halves", method)
            if title in to_run and method.select:
                choose_in_halves(adata, parts, method, entry, options.jobs)
            panels = [entry.get(number) for number in range(len(parts))]
            errors = [one.get("error", NOT_RUN) for one in panels if str(SIZES[0]) not in one]
            for size in SIZES:
                same = np.nan if errors else jaccard([set(one[str(size)]) for one in panels])
                row = {"dataset": name, "method": title, "genes": size, "Jaccard": same}
                old = not (errors or entry.current)
                rows.append(row | {"error": min(errors, default=None), "held": size, "old": old})
            say(f"{name}, {title}: compared")
    values = pd.DataFrame(rows)
    found = {
        size: by_dataset(values[values["genes"] == size], IN_HALVES, options.datasets)
        for size in SIZES
    }
    tables.write(
        "panels_stability",
        found[50],
        section("Panels of 10 genes", found[10]),
        section("Failures", tables.failures(values)),
        whole=options.datasets == list(SETS),
        pairs=options.pairs,
    )


def by_dataset(rows: pd.DataFrame, among: Iterable[str], names: list[str]) -> pd.DataFrame:
    """Return methods by datasets, and their mean, in words where there is no number."""
    complete = rows.groupby(["method", "dataset"])["Jaccard"].agg(
        lambda part: part.mean(skipna=False)
    )
    values = complete.unstack("dataset").reindex(list(among))[names]
    values["mean"] = values.mean(axis=1, skipna=False)
    texts = values.map("{:.3f}".format)
    for row in rows.dropna(subset="error").itertuples():
        reason = row.error if row.error in (NOT_RUN, *NEVER) else "failed"
        texts.loc[row.method, [row.dataset, "mean"]] = reason
    return texts


def counts(name: str) -> AnnData:
    """Return the counts of one of the five datasets, with the genes that it is compared on."""
    adata = DATASETS[name].adata.copy()
    adata.X = adata.layers["counts"].copy()
    adata.uns.clear()
    return adata


def thinned(name: str, seed: int, share: float) -> AnnData:
    """Keep every molecule with this probability."""
    adata = counts(name)
    kept = np.random.default_rng(seed).binomial(adata.X.data.astype(int), share)
    adata.X.data = kept.astype(np.float32)
    adata.X.eliminate_zeros()
    return prepared(adata)


def per_million(name: str, seed: int) -> AnnData:
    """Return logarithms of counts per million."""
    adata = counts(name)
    sc.pp.normalize_total(adata, target_sum=1e6)
    sc.pp.log1p(adata)
    return adata


def residuals(name: str, seed: int) -> AnnData:
    """Return analytic Pearson residuals."""
    adata = counts(name)
    sc.experimental.pp.normalize_pearson_residuals(adata)
    return adata


def half(name: str, seed: int, part: int) -> AnnData:
    """Return one of two halves of the cells, those of `halves`."""
    adata = DATASETS[name].adata
    cells = halves(adata.n_obs, seed + 1)[2 * seed + part]
    adata = adata[cells].copy()
    sc.pp.filter_genes(adata, min_cells=3)
    return adata


#: What makes the data, and its arguments beside the seed.
PERTURBATIONS: dict[str, tuple[Callable[..., AnnData], dict]] = {
    "counts thinned to 50 %": (thinned, {"share": 0.5}),
    "counts thinned to 20 %": (thinned, {"share": 0.2}),
    "counts per million": (per_million, {}),
    "Pearson residuals": (residuals, {}),
}
#: Those that are made by chance.
DRAWN = (HALVES, "counts thinned to 50 %", "counts thinned to 20 %")


@cache
def perturbed(name: str, title: str, seed: int, make: Callable, **how) -> Cells:
    """Return a dataset as it is then; its place changes with the code that makes it."""
    code = store.digest("".join(map(inspect.getsource, (counts, prepared, make))))[:8]
    return Cells(f"{name}/{title}, {seed}-{code}", partial(make, name, seed, **how))


def pair(name: str, title: str, seed: int) -> tuple[Cells, Cells]:
    """Return the cells whose panels are compared."""
    if title == HALVES:
        first = perturbed(name, "first half", seed, half, part=0)
        return first, perturbed(name, "second half", seed, half, part=1)
    make, how = PERTURBATIONS[title]
    return DATASETS[name], perturbed(name, title, seed, make, **how)


def on(title: str, cells: Cells, sizes: list[int] | None = None) -> store.Entry:
    """Return the panels of a method; those of the sizes are chosen where they are not stored."""
    method = PERTURBED[title] if cells.name in DATASETS else methods.shortened(PERTURBED[title])
    if sizes:
        return choose(title, method, cells.name, cells.adata, sizes)
    return store.entry_of(title, cells.name, method)


def names_of(entry: store.Entry, cells: Cells, size: int) -> dict:
    """Return the names of the genes of a panel of the present code, or why there are none."""
    panel = entry.panel(size) if entry.current else {}
    if "genes" in panel:
        return {"genes": set(cells.adata.var_names[panel["genes"][:size]])}
    return {"reason": panel.get("error", NOT_RUN)}


def with_other_seed(title: str, name: str, size: int, *, compute: bool) -> dict:
    """Return the panel of a method with another seed."""
    if title not in SEEDED:
        return {"reason": UNSEEDED}
    method, cells = replace(PERTURBED[title], select=SEEDED[title]), DATASETS[name]
    entry = store.entry_of(title, f"{name}/{OTHER_SEED}", method)
    if compute and not entry.has(methods.RANKED):
        entry = choose(title, method, f"{name}/{OTHER_SEED}", cells.adata, [methods.RANKED])
    return names_of(entry, cells, size)


def compared(name: str, to_run: list[str], draws: int) -> list[dict]:
    """Return a row a perturbation, draw, method and size: the Jaccard index, or why none."""
    rows = []

    def add(perturbation: str, method: str, size: int, *panels: dict) -> None:
        reasons = [one["reason"] for one in panels if "reason" in one]
        rows.append(
            {
                "dataset": name,
                "perturbation": perturbation,
                "method": method,
                "genes": size,
                "error": min(reasons, key=lambda one: one not in NEVER, default=None),
                "Jaccard": np.nan if reasons else jaccard([one["genes"] for one in panels]),
            }
        )

    for title in (HALVES, *PERTURBATIONS):
        for seed, method in product(range(draws if title in DRAWN else 1), PERTURBED):
            both = pair(name, title, seed)
            if title == "Pearson residuals" and method in NOT_OF_RESIDUALS:
                for size in SIZES:
                    add(title, method, size, {"reason": REFUSED})
                continue
            sizes = list(SIZES)
            for cells in both if method in to_run else ():
                entry = on(method, cells, sizes)
                # Without the first panel there is nothing to compare the second with.
                sizes = [size for size in SIZES if "genes" in names_of(entry, cells, size)]
            for size in SIZES:
                add(title, method, size, *(names_of(on(method, c), c, size) for c in both))
    for method, size in product(PERTURBED, SIZES):
        cells = DATASETS[name]
        other = with_other_seed(method, name, size, compute=method in to_run)
        add(OTHER_SEED, method, size, names_of(on(method, cells), cells, size), other)
    say(f"{name}: compared")
    return rows


def write_perturbed(options: argparse.Namespace) -> None:
    """Compare panels of perturbed data with those of the data as they are."""
    to_run = tables.named(options.only, PERTURBED)
    rows = pd.DataFrame(
        row for name in options.datasets for row in compared(name, to_run, options.draws)
    )
    titles = [HALVES, *PERTURBATIONS, OTHER_SEED]
    found = {
        (title, size): by_dataset(
            rows[(rows["perturbation"] == title) & (rows["genes"] == size)],
            PERTURBED,
            options.datasets,
        )
        for size in sorted(SIZES, reverse=True)
        for title in titles
    }
    means = {
        size: pd.DataFrame({title: found[title, size]["mean"] for title in titles})
        for size in SIZES
    }
    missing = rows.dropna(subset="error")
    missing = missing[~missing["error"].isin(NEVER)]
    waiting = [
        f"{method} on {', '.join(part['dataset'].unique())}: {error}"
        for (method, error), part in missing.groupby(["method", "error"], sort=False)
    ]
    tables.write(
        "peers_stability",
        means[50],
        section("Panels of 10 genes, mean over the datasets", means[10]),
        *(section(f"{title}, {size} genes", one) for (title, size), one in found.items()),
        whole=options.datasets == list(SETS),
        incomplete=f"**Not complete.** {'; '.join(waiting)}." if waiting else "",
        draws=options.draws,
        limit=COMPARED["SCMER"].limit,
        seconds=methods.SECONDS,
        seeded=", ".join(SEEDED),
    )


def main() -> None:
    """Choose, compare, write."""
    parser = tables.selecting(__doc__, IN_HALVES | PERTURBED, SETS)
    parser.set_defaults(
        only=[name for name in IN_HALVES | PERTURBED if name in (*METHODS, *SEEDED)]
    )
    parser.add_argument("what", choices=("halves", "perturbed"))
    parser.add_argument("--pairs", type=int, default=20, help="pairs of halves")
    parser.add_argument("--jobs", type=int, default=2, help="processes, for halves")
    parser.add_argument("--draws", type=int, default=1, help="draws of perturbed data")
    options = parser.parse_args()
    (write_halves if options.what == "halves" else write_perturbed)(options)
    store.merge()


if __name__ == "__main__":
    main()
