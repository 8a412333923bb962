"""The recall of cell types that is forecast for an instrument, next to what it measured.

    python -m benchmarks.forecast

Efficiencies are estimated from half of the cells of the instrument, panels are chosen from single
cells of the same tissue, and what they measure is measured on the other half.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.stats import pearsonr

import glfs_bio
from glfs_bio.measures.cells import coordinates
from glfs_bio.measures.labels import label_scores
from glfs_bio.vendors import forecast
from glfs_bio.vendors.forecast import DISCREPANCY, INTERVAL, normalised

from .data import LABEL
from .instruments import ALL, Tissue, tissue
from .tables import parser, say, section, write

if TYPE_CHECKING:
    import anndata as ad

#: Random panels of each size beside those that are chosen, and draws of measured cells.
RANDOM, DRAWS = 3, 5
#: Types of fewer measured cells are left out.
FEWEST = 10
#: What chose a panel.
PLAIN, TOLD, DRAWN = "genes that can be measured", "and their efficiencies", "random"
#: Discrepancies that are tried, and those that are shown.
TRIED = np.arange(10, 61) / 20
SHOWN = (1.0, 1.2, 1.4, 1.7, 2.0)


def sides(of: Tissue) -> tuple[ad.AnnData, ad.AnnData]:
    """Return the reference, and the cells that are measured, of the types that both have."""
    both = of.reference.adata, of.measured.adata
    sizes = [adata.obs[LABEL].value_counts() for adata in both]
    types = sizes[0].index.intersection(sizes[1].index[sizes[1] >= FEWEST])
    return tuple(adata[adata.obs[LABEL].isin(types)].copy() for adata in both)


def recall(reference: ad.AnnData, measured: ad.AnnData, genes: list[str]) -> pd.Series:
    """Return recall on the instrument, with types as frequent as in the reference."""
    rng = np.random.default_rng(0)
    wanted = reference.obs[LABEL].value_counts()
    labels = measured.obs[LABEL].to_numpy()
    counts = measured[:, genes].layers["counts"].toarray().astype(float)
    found = []
    for _ in range(DRAWS):
        cells = np.concatenate(
            [
                rng.permutation(np.flatnonzero(labels == name))[:number]
                for name, number in wanted.items()
            ]
        )
        codes, names = pd.factorize(labels[cells], sort=True)
        where = coordinates(normalised(counts[cells]))
        found.append(label_scores(where, codes, list(names)).per_label["recall"])
    return pd.concat(found, axis=1).mean(axis=1)


def panels(
    reference: ad.AnnData, sizes: tuple[int, ...], platform: glfs_bio.Platform
) -> dict[tuple, list[str]]:
    """Return panels by what chose them, their size, and a number."""
    rng, found = np.random.default_rng(0), {}
    for size in sizes:
        for chosen, told in ((PLAIN, None), (TOLD, platform)):
            table = glfs_bio.pp.select_genes(
                reference, size, platform=told, inplace=False, subset=True
            )
            found[chosen, size, 0] = list(table.index)
        for number in range(RANDOM):
            names = rng.choice(reference.var_names, size, replace=False)
            found[DRAWN, size, number] = list(names)
    return found


def compared(title: str) -> pd.DataFrame:
    """Return recall of every type by every panel: without the platform, with it, and measured.

    There is a column for every discrepancy: whether its interval has what was measured.
    """
    of = tissue(title)
    reference, measured = sides(of)
    table = glfs_bio.tl.estimate_efficiency(reference, of.known, LABEL, counts_layer="counts")
    platform = glfs_bio.Platform(efficiency=table)
    rows = []
    for (chosen, size, number), genes in panels(reference, of.pair.sizes, platform).items():
        with patch.object(forecast, "possible", wraps=forecast.possible) as draws:
            found = glfs_bio.tl.evaluate_panel(
                reference,
                genes,
                LABEL,
                counts_layer="counts",
                platform=platform,
                measures=["labels", "forecast"],
                inplace=False,
            )
        frame = found["forecast"]["per_label"].set_index("label")
        frame["without"] = found["per_label"].set_index("label")["recall"]
        frame["measured"] = recall(reference, measured, genes)
        right = [call.args[:2] for call in draws.call_args_list]
        held = inside(right, frame["measured"])
        frame = frame.join(pd.DataFrame(held, frame.index, TRIED))
        rows.append(frame.assign(pair=title, chosen=chosen, size=size, number=number))
        say(f"{title}, {chosen}, {size} genes: measured")
    return pd.concat(rows).rename_axis("type").reset_index()


def inside(draws: list[tuple[np.ndarray, np.ndarray]], measured: pd.Series) -> np.ndarray:
    """Return whether intervals of every discrepancy have what was measured: types × TRIED."""
    found = []
    for discrepancy in TRIED:
        rng = np.random.default_rng(0)
        some = [forecast.possible(*right, rng, discrepancy) for right in draws]
        low, high = forecast.ends(np.concatenate(some))
        found.append(measured.between(low, high).to_numpy())
    return np.array(found).T


def agreement(rows: pd.DataFrame) -> dict[str, str]:
    """Return how forecasts agree with what was measured."""
    found: dict[str, str] = {"types × panels": str(len(rows))}
    for name, column in (("without", "without"), ("with", "recall")):
        error = rows[column] - rows["measured"]
        found[f"r, {name}"] = f"{pearsonr(rows[column], rows['measured'])[0]:.3f}"
        found[f"forecast − measured, {name}"] = f"{error.mean():+.3f}"
        found[f"mean absolute error, {name}"] = f"{error.abs().mean():.3f}"
    covered = rows["measured"].between(rows["recall_low"], rows["recall_high"])
    found["within the interval of 90 %"] = f"{covered.mean():.2f}"
    return found


def asked(coverages: pd.DataFrame) -> float:
    """Return the least discrepancy whose intervals hold 90 %, in the mean of the pairs."""
    return float(TRIED[np.argmax(coverages.mean(axis=0) >= INTERVAL)])


def left_out(coverages: pd.DataFrame) -> pd.DataFrame:
    """Return what a pair asks for, what the others do, and how much of it their intervals hold."""
    found = {}
    for title in coverages.index:
        others = asked(coverages.drop(title))
        found[title] = {
            "asked for alone": asked(coverages.loc[[title]]),
            "by the others": others,
            "held with theirs": coverages.loc[title, others],
            f"with {DISCREPANCY}, of the package": coverages.loc[title, DISCREPANCY],
        }
    table = pd.DataFrame(found).T
    table.loc["mean"] = table.mean()
    table.loc["mean", "asked for alone":"by the others"] = np.nan
    table.loc["all five", "asked for alone"] = asked(coverages)
    return table.round(3).astype(object).where(table.notna(), "–")


def main() -> None:
    """Choose, forecast, measure, write."""
    parser(__doc__).parse_args()
    rows = pd.concat([compared(title) for title in ALL], ignore_index=True)
    first = {}
    for title, some in rows.groupby("pair", sort=False):
        drawn = some["chosen"] == DRAWN
        first[f"{title}, chosen"] = agreement(some[~drawn])
        first[f"{title}, random"] = agreement(some[drawn])
    coverages = rows.groupby("pair", sort=False)[list(TRIED)].mean()
    shown = coverages[list(SHOWN)].T.assign(mean=coverages.mean(axis=0)).round(3)
    means = rows.groupby(["pair", "chosen", "size"], sort=False)
    sizes = means[["without", "recall", "measured"]].mean().round(3)
    sizes.columns = ["forecast without", "forecast with", "measured"]
    bins = pd.cut(rows["recall"], np.linspace(0, 1, 6), include_lowest=True).rename("forecast")
    calibration = rows.groupby(["pair", bins], observed=True, sort=False)[["recall", "measured"]]
    calibration = calibration.agg("mean").round(3).assign(n=calibration.size())
    chosen = rows[(rows["chosen"] == TOLD) & (rows["size"] == 20)]
    types = chosen.set_index(["pair", "type"])
    types = types[["without", "recall", "recall_low", "recall_high", "measured"]].round(3)
    write(
        "forecast",
        pd.DataFrame(first).T,
        section(
            "Intervals of a pair by the discrepancy that the others ask for", left_out(coverages)
        ),
        section("Share of measured recalls in the interval, by discrepancy", shown),
        section("Mean recall of the types, by size", sizes.reset_index()),
        section("Measured recall where a recall was forecast", calibration.reset_index()),
        section("Each type by 20 genes, chosen with the efficiencies", types.reset_index()),
        fewest=FEWEST,
        discrepancy=DISCREPANCY,
    )


if __name__ == "__main__":
    main()
