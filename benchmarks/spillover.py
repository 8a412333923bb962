"""The recall of cell types that is forecast with spillover, next to moved molecules.

    python -m benchmarks.spillover

Sections of imaging data are cut into squares like a chessboard.  Panels are chosen, and recall is
forecast, from the white ones, of which only the types of neighbours are taken from the positions.
In the black ones a share of the molecules of every cell is moved to the cells nearest to it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.stats import pearsonr
from sklearn.neighbors import NearestNeighbors

import glfs_bio
from glfs_bio.measures.cells import coordinates
from glfs_bio.measures.labels import label_scores
from glfs_bio.vendors.forecast import normalised

from .data import LABEL, folder
from .instruments import FEWEST, PAIRS, counts, prepared
from .tables import parser, say, section, write

if TYPE_CHECKING:
    from collections.abc import Iterator

    import anndata as ad

SHARES = (0.1, 0.2, 0.4)
SIZES = (10, 20, 40, 80)
#: Squares along each side of a section; nearest cells that receive molecules, and others tried.
SQUARES, NEAREST, OTHER_NEAREST = 4, 6, (1, 3, 12)
#: Draws of measured cells with types as frequent as in a reference of single cells.
DRAWS = 5
#: Types of the reference of MERFISH that are called in both what is here, and so the instrument's.
MERGED = {
    "Astrocytes": "Astrocyte",
    "Immature oligodendrocyte": "OD Immature",
    "Newly formed oligodendrocyte": "OD Immature",
    "Mature oligodendrocyte": "OD Mature",
    "Mural": "Pericytes",
}
TYPES = MERGED | {
    there: MERGED.get(here, here) for there, here in PAIRS["10x → MERFISH"].types.items()
}
#: Sets with positions of cells, and single cells of the same tissue with the map of their types.
SETS: dict[str, tuple[str, str | dict[str, str]] | None] = {
    "merfish_poa": ("ref_poa_spacexr", TYPES),
    "starmap_mpfc": None,
    "cosmx_nsclc": None,
    "xenium_breast": None,
    "breast_xenium_spatial": ("breast_xenium_ref", "breast_xenium_map"),
    "v1_starmap_spatial": ("cortex_zeisel_ref", "v1_starmap_map"),
    "hipp_xenium_spatial": ("cortex_zeisel_ref", "hipp_xenium_map"),
}
OWN, CELLS = "the instrument's own cells", "single cells"


@cache
def read(name: str) -> ad.AnnData:
    """Return the counts of a file, of either folder."""
    if (folder() / "pairs" / f"{name}.h5ad").is_file():
        return counts(name, "pairs", 1)
    return counts(name)


def sections(adata: ad.AnnData) -> list[np.ndarray]:
    """Return the cells of each section."""
    if "sample" not in adata.obs:
        return [np.arange(adata.n_obs)]
    return [np.flatnonzero(adata.obs["sample"] == name) for name in adata.obs["sample"].unique()]


def white(adata: ad.AnnData) -> np.ndarray:
    """Return whether each cell is in a white square; each row and column has as many cells."""
    found = np.zeros(adata.n_obs, dtype=bool)
    for cells in sections(adata):
        ranks = np.argsort(np.argsort(adata.obsm["spatial"][cells], axis=0), axis=0)
        squares = ranks * SQUARES // len(cells)
        found[cells] = squares.sum(axis=1) % 2 == 0
    return found


def moved(adata: ad.AnnData, share: float, nearest: int = NEAREST) -> ad.AnnData:
    """Move a share of the molecules of every cell, each to one of the cells nearest to it."""
    rng = np.random.default_rng(1)
    found = adata.copy()
    whole = adata.X.toarray().astype(np.int64)
    leaving = rng.binomial(whole, share)
    now = whole - leaving
    for cells in sections(adata):
        n_nearest = min(nearest, len(cells) - 1)
        tree = NearestNeighbors(n_neighbors=n_nearest).fit(adata.obsm["spatial"][cells])
        near = cells[tree.kneighbors(return_distance=False)]
        to = rng.multinomial(leaving[cells], np.full(n_nearest, 1.0 / n_nearest))
        for place in range(n_nearest):
            np.add.at(now, near[:, place], to[:, :, place])
    found.X = csr_matrix(now.astype(np.float32))
    return found


@dataclass(frozen=True)
class Tissue:
    """What is forecast from, and what is measured."""

    #: Cells that panels are chosen and forecast from.
    reference: ad.AnnData
    #: White squares, and black ones.
    known: ad.AnnData
    measured: ad.AnnData
    #: Whether the reference is of the instrument.
    own: bool

    @classmethod
    def of(cls, name: str, *, own: bool) -> Tissue:
        """Read cells of the types that are frequent in both."""
        spatial = read(name).copy()
        if own:
            first = white(spatial)
            sides = [spatial[first], spatial[~first]]
            frequent = [side.obs[LABEL].value_counts() for side in sides]
            types = [one[one >= FEWEST].index for one in frequent]
            known, measured = (
                side[side.obs[LABEL].isin(types[0].intersection(types[1]))].copy() for side in sides
            )
            return cls(prepared(known), known, measured, own)
        single, of_types = SETS[name]
        if isinstance(of_types, str):
            path = folder() / "pairs" / f"{of_types}.json"
            of_types = json.loads(path.read_text("utf-8"))
            spatial.obs[LABEL] = spatial.obs[LABEL].map(of_types).fillna("other")
        reference = read(single).copy()
        if of_types is TYPES:
            for adata in (reference, spatial):
                adata.obs[LABEL] = adata.obs[LABEL].replace(TYPES)
        sizes = [one.obs[LABEL].value_counts() for one in (reference, spatial)]
        types = sizes[0][sizes[0] >= FEWEST].index.intersection(
            sizes[1][sizes[1] >= 2 * FEWEST].index
        )
        reference = reference[reference.obs[LABEL].isin(types)]
        both = reference.var_names.isin(spatial.var_names)
        first = white(spatial)
        return cls(
            prepared(reference[:, both].copy()),
            spatial[first].copy(),
            spatial[~first].copy(),
            own,
        )

    def platform(self, share: float) -> glfs_bio.Platform:
        """Return the platform; single cells need its efficiencies too."""
        options = {"spillover": share, "spillover_to": self.known}
        if not self.own:
            options["efficiency"] = self.efficiency
        return glfs_bio.Platform(**options)

    @property
    def efficiency(self) -> pd.DataFrame:
        """Efficiencies by the white squares."""
        return glfs_bio.tl.estimate_efficiency(
            self.reference, self.known, LABEL, counts_layer="counts"
        )

    def panels(self) -> Iterator[tuple[str, int, list[str]]]:
        """Yield panels that are chosen, and random ones of their sizes."""
        names, rng = list(self.reference.var_names), np.random.default_rng(0)
        for size in [size for size in SIZES if size < len(names)]:
            table = glfs_bio.pp.select_genes(self.reference, size, inplace=False, subset=True)
            yield "chosen", size, list(table.index)
            yield "random", size, list(rng.choice(names, size, replace=False))

    def recall(self, cells: ad.AnnData, genes: list[str]) -> pd.Series:
        """Return recall in measured cells, with types as frequent as in single cells."""
        rng = np.random.default_rng(0)
        labels = cells.obs[LABEL].to_numpy()
        wanted = self.reference.obs[LABEL].value_counts()
        found = []
        for _ in range(1 if self.own else DRAWS):
            some = np.concatenate(
                [
                    rng.permutation(np.flatnonzero(labels == name))[: None if self.own else number]
                    for name, number in wanted.items()
                ]
            )
            codes, names = pd.factorize(labels[some], sort=True)
            values = normalised(cells[some, genes].X.toarray().astype(float))
            scores = label_scores(coordinates(values), codes, list(names))
            found.append(scores.per_label["recall"])
        return pd.concat(found, axis=1).mean(axis=1)


def compared(name: str, *, own: bool) -> pd.DataFrame:
    """Return recall of every type by every panel and share: forecast, and of moved molecules."""
    tissue = Tissue.of(name, own=own)
    measured = {
        (share, nearest): moved(tissue.measured, share, nearest)
        for share in SHARES
        for nearest in (NEAREST, *(OTHER_NEAREST if own and share == SHARES[1] else ()))
    }
    rows = []
    for chosen, size, genes in tissue.panels():
        before = tissue.recall(tissue.measured, genes)
        for share in SHARES:
            found = glfs_bio.tl.evaluate_panel(
                tissue.reference,
                genes,
                LABEL,
                counts_layer="counts",
                platform=tissue.platform(share),
                measures="forecast",
                inplace=False,
            )
            frame = found["forecast"]["per_label"].set_index("label")
            frame = frame.rename(columns={"recall_without_spillover": "without"})
            frame["measured"] = tissue.recall(measured[share, NEAREST], genes)
            for nearest in OTHER_NEAREST:
                if (share, nearest) in measured:
                    frame[f"to {nearest}"] = tissue.recall(measured[share, nearest], genes)
            frame["before"] = before
            rows.append(frame.assign(set=name, chosen=chosen, size=size, share=share))
        say(f"{name}, {OWN if own else CELLS}, {chosen}, {size} genes")
    return pd.concat(rows).rename_axis("type").reset_index().dropna(subset="measured")


def agreement(rows: pd.DataFrame) -> dict[str, str]:
    """Return how forecasts agree with what was measured."""
    found = {"types × panels": str(len(rows))}
    found["measured before"] = f"{rows['before'].mean():.3f}"
    found["measured"] = f"{rows['measured'].mean():.3f}"
    for title, column in (("without", "without"), ("with", "recall")):
        error = rows[column] - rows["measured"]
        found[f"r, {title}"] = f"{pearsonr(rows[column], rows['measured'])[0]:.3f}"
        found[f"forecast − measured, {title}"] = f"{error.mean():+.3f}"
        found[f"mean absolute error, {title}"] = f"{error.abs().mean():.3f}"
    of_cells = np.average((rows["recall"] - rows["measured"]).abs(), weights=rows["n_cells"])
    found["by cells"] = f"{of_cells:.3f}"
    large = rows[rows["n_cells"] >= 50]
    found["of types of 50 cells"] = f"{(large['recall'] - large['measured']).abs().mean():.3f}"
    loss = rows["without"] - rows["recall"], rows["before"] - rows["measured"]
    found["r of losses"] = f"{pearsonr(*loss)[0]:.3f}"
    inside = rows["measured"].between(rows["recall_low"], rows["recall_high"])
    found["without spillover"] = f"{(rows['without'] - rows['before']).abs().mean():.3f}"
    found["within the interval of 90 %"] = f"{inside.mean():.2f}"
    return found


def _agreements(rows: pd.DataFrame) -> pd.DataFrame:
    found = {
        f"{name}, {share:g}": agreement(some)
        for (name, share), some in rows.groupby(["set", "share"], sort=False)
    }
    return pd.DataFrame(found).T


def main() -> None:
    """Move molecules, choose, forecast, read, write."""
    arguments = parser(__doc__)
    arguments.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    names = arguments.parse_args().sets
    own = pd.concat([compared(name, own=True) for name in names], ignore_index=True)
    single = [compared(name, own=False) for name in names if SETS[name] is not None]
    some = own.dropna(subset=[f"to {OTHER_NEAREST[0]}"])
    to_others = {
        name: {
            f"to {nearest}, {what}": f"{value:.3f}"
            for nearest in (NEAREST, *OTHER_NEAREST)
            for seen in [rows["measured" if nearest == NEAREST else f"to {nearest}"]]
            for what, value in (
                ("r", pearsonr(rows["recall"], seen)[0]),
                ("mean absolute error", (rows["recall"] - seen).abs().mean()),
            )
        }
        for name, rows in some.groupby("set", sort=False)
    }
    sizes = own.groupby(["set", "chosen", "size", "share"], sort=False)
    sizes = sizes[["without", "recall", "before", "measured"]].mean().round(3).reset_index()
    sizes.columns = [
        *("set", "panel", "genes", "share"),
        *("forecast without", "forecast with", "measured before", "measured"),
    ]
    sections = (
        [section("Forecast from single cells and efficiencies", _agreements(pd.concat(single)))]
        if single
        else []
    )
    write(
        "spillover",
        _agreements(own),
        *sections,
        section(
            f"Molecules to other numbers of nearest cells, {SHARES[1]:g}", pd.DataFrame(to_others).T
        ),
        section("Mean recall of the types, by size", sizes),
    )


if __name__ == "__main__":
    main()
