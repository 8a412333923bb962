"""The recall of cell types that is forecast for an instrument, next to what it measured.

    python -m benchmarks.forecast

Efficiencies are estimated from half of the cells of the instrument, panels are chosen from single
cells of the same tissue, and what they measure is measured on the other half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import pearsonr

import glfs_bio
from glfs_bio.measures.cells import coordinates
from glfs_bio.measures.labels import label_scores
from glfs_bio.vendors.forecast import normalised

from .data import LABEL
from .instruments import PAIRS, Pair, counts, prepared
from .tables import parser, say, section, write

if TYPE_CHECKING:
    import anndata as ad

MERFISH = "10x → MERFISH"
#: What types of the reference of that pair are called in both, and so those of the instrument.
MERGED = {
    "Astrocytes": "Astrocyte",
    "Immature oligodendrocyte": "OD Immature",
    "Newly formed oligodendrocyte": "OD Immature",
    "Mature oligodendrocyte": "OD Mature",
    "Mural": "Pericytes",
}
TYPES = MERGED | {there: MERGED.get(here, here) for there, here in PAIRS[MERFISH].types.items()}
#: Random panels of each size beside those that are chosen, and draws of measured cells.
RANDOM, DRAWS = 3, 5
SIZES = (5, 10, 15, 20, 40)
PLAIN, TOLD = "genes that can be measured", "and their efficiencies"


@dataclass(frozen=True)
class Tissue:
    """Cells of a pair with the types that both have; those of the instrument in halves."""

    reference: ad.AnnData
    known: ad.AnnData
    measured: ad.AnnData

    @classmethod
    def of(cls, title: str, pair: Pair) -> Tissue:
        """Read a pair."""
        both = [counts(name).copy() for name in (pair.reference, pair.instrument)]
        if title == MERFISH:
            for adata in both:
                adata.obs[LABEL] = adata.obs[LABEL].replace(TYPES)
        shared = set(both[0].obs[LABEL]) & set(both[1].obs[LABEL])
        reference, instrument = (one[one.obs[LABEL].isin(shared)].copy() for one in both)
        first = np.random.default_rng(0).random(instrument.n_obs) < 0.5
        return cls(prepared(reference), instrument[first].copy(), instrument[~first].copy())

    def recall(self, genes: list[str]) -> pd.Series:
        """Return recall on the instrument, with types as frequent as in the reference."""
        rng = np.random.default_rng(0)
        wanted = self.reference.obs[LABEL].value_counts()
        labels = self.measured.obs[LABEL].to_numpy()
        found = []
        for _ in range(DRAWS):
            cells = np.concatenate(
                [
                    rng.permutation(np.flatnonzero(labels == name))[:number]
                    for name, number in wanted.items()
                ]
            )
            codes, names = pd.factorize(labels[cells], sort=True)
            values = normalised(self.measured[cells, genes].X.toarray().astype(float))
            scores = label_scores(coordinates(values, np.arange(len(genes))), codes, list(names))
            found.append(scores.per_label["recall"])
        return pd.concat(found, axis=1).mean(axis=1)


def panels(tissue: Tissue, platforms: dict[str, glfs_bio.Platform]) -> dict[tuple, list[str]]:
    """Return panels by what chose them, their size, and a number."""
    names = [name for name in tissue.reference.var_names if name in tissue.measured.var_names]
    rng, found = np.random.default_rng(0), {}
    for size in [size for size in SIZES if size < len(names)]:
        for chosen, platform in platforms.items():
            table = glfs_bio.pp.select_genes(
                tissue.reference, size, platform=platform, inplace=False, subset=True
            )
            found[chosen, size, 0] = list(table.index)
        for number in range(RANDOM):
            found["random", size, number] = list(rng.choice(names, size, replace=False))
    return found


def compared(title: str, pair: Pair) -> pd.DataFrame:
    """Return recall of every type by every panel: without the platform, with it, and measured."""
    tissue = Tissue.of(title, pair)
    table = glfs_bio.tl.estimate_efficiency(
        tissue.reference, tissue.known, LABEL, counts_layer="counts"
    )
    measured = table.index[table["measured"]].tolist()
    platforms = {
        PLAIN: glfs_bio.Platform(pair.instrument, measured),
        TOLD: glfs_bio.Platform(pair.instrument, measured, efficiency=table),
    }
    rows = []
    for (chosen, size, number), genes in panels(tissue, platforms).items():
        found = glfs_bio.tl.evaluate_panel(
            tissue.reference,
            genes,
            LABEL,
            counts_layer="counts",
            platform=platforms[TOLD],
            n_random=0,
            inplace=False,
        )
        frame = found["forecast"].join(found["per_label"]["recall"].rename("without"))
        frame["measured"] = tissue.recall(genes)
        rows.append(frame.assign(pair=title, chosen=chosen, size=size, number=number))
        say(f"{title}, {chosen}, {size} genes: measured")
    return pd.concat(rows).rename_axis("type").reset_index()


def agreement(rows: pd.DataFrame) -> dict[str, str]:
    """Return how forecasts agree with what was measured."""
    found: dict[str, str] = {"types × panels": str(len(rows))}
    for name, column in (("without", "without"), ("with", "recall")):
        error = rows[column] - rows["measured"]
        found[f"r, {name}"] = f"{pearsonr(rows[column], rows['measured'])[0]:.3f}"
        found[f"forecast − measured, {name}"] = f"{error.mean():+.3f}"
        found[f"mean absolute error, {name}"] = f"{error.abs().mean():.3f}"
    inside = rows["measured"].between(rows["recall_low"], rows["recall_high"])
    found["within the interval of 90 %"] = f"{inside.mean():.2f}"
    return found


def main() -> None:
    """Choose, forecast, measure, write."""
    parser(__doc__).parse_args()
    rows = pd.concat([compared(title, pair) for title, pair in PAIRS.items()], ignore_index=True)
    first = {}
    for title, some in rows.groupby("pair", sort=False):
        drawn = some["chosen"] == "random"
        first[f"{title}, chosen"] = agreement(some[~drawn])
        first[f"{title}, random"] = agreement(some[drawn])
    means = rows.groupby(["pair", "chosen", "size"], sort=False)
    sizes = means[["without", "recall", "measured"]].mean().round(3)
    sizes.columns = ["forecast without", "forecast with", "measured"]
    bins = pd.cut(rows["recall"], np.linspace(0, 1, 6), include_lowest=True).rename("forecast")
    calibration = rows.groupby(["pair", bins], observed=True)[["recall", "measured"]]
    calibration = calibration.agg("mean").round(3).assign(n=calibration.size())
    chosen = rows[(rows["chosen"] == TOLD) & (rows["size"] == 20)]
    types = chosen.set_index(["pair", "type"])
    types = types[["without", "recall", "recall_low", "recall_high", "measured"]].round(3)
    write(
        "forecast",
        pd.DataFrame(first).T,
        section("Mean recall of the types, by size", sizes.reset_index()),
        section("Measured recall where a recall was forecast", calibration.reset_index()),
        section("Each type by 20 genes, chosen with the efficiencies", types.reset_index()),
    )


if __name__ == "__main__":
    main()
