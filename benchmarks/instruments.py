"""Pairs of a reference, from which panels are chosen, and an instrument that measured the tissue.

The data are those of the folders ``imaging`` and ``pairs`` in GLFS_BIO_DATA.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from anndata import AnnData
from scipy.sparse import csr_matrix
from sklearn.model_selection import train_test_split

from glfs_bio.cells.cells import StructureSpec, build_cells
from glfs_bio.cells.noise import SMALLEST_SHARE

from .data import LABEL, Cells, folder, some

if TYPE_CHECKING:
    from collections.abc import Mapping

SIZES = (5, 10, 20, 40, 80)
#: Types of fewer cells are left out.
FEWEST = 15
#: Panels are measured on so many cells of an instrument: logistic regressions take their time.
MOST_CELLS = 3000


@dataclass(frozen=True)
class Pair:
    """Single cells from which a panel is chosen, and the instrument that measures it.

    `types` are the names that types of the instrument have in the reference, where they differ.
    """

    reference: str
    instrument: str
    sizes: tuple[int, ...]
    platform: str
    types: Mapping[str, str] = field(default_factory=dict, hash=False)
    place: str = "imaging"
    fewest: int = FEWEST


#: Two that other benchmarks have too.
PAIRS = {
    "Zeisel → osmFISH": Pair("ref_zeisel550", "osmfish_ref537", (5, 10, 15, 20), "osmfish"),
    "10x → MERFISH": Pair(
        "ref_poa_spacexr",
        "merfish_poa",
        SIZES,
        "merfish",
        {
            "Astrocyte": "Astrocytes",
            **{f"Endothelial {number}": "Endothelial" for number in (1, 2, 3)},
            "Pericytes": "Mural",
            "OD Immature 1": "Immature oligodendrocyte",
            "OD Immature 2": "Newly formed oligodendrocyte",
            **{f"OD Mature {number}": "Mature oligodendrocyte" for number in (1, 2, 3, 4)},
        },
    ),
}
#: Three whose sides were labelled independently; of their types some are rare.
INDEPENDENT = {
    title: Pair(f"{reference}_ref", f"{name}_spatial", SIZES, platform, place="pairs", fewest=10)
    for title, reference, name, platform in (
        ("Wu → Xenium, breast", "breast_xenium", "breast_xenium", "xenium_v1"),
        ("Zeisel → STARmap, cortex", "cortex_zeisel", "v1_starmap", "starmap"),
        ("Zeisel → Xenium, hippocampus", "cortex_zeisel", "hipp_xenium", "xenium_v1"),
    )
}
ALL = INDEPENDENT | PAIRS


@cache
def counts(name: str, place: str = "imaging", fewest: int = FEWEST) -> AnnData:
    """Return the counts of a file, without the types that have few cells."""
    adata = ad.read_h5ad(folder() / place / f"{name}.h5ad")
    adata.X = csr_matrix(adata.X, dtype=np.float32)
    adata.obs[LABEL] = adata.obs[LABEL].astype(str)
    frequent = adata.obs[LABEL].map(adata.obs[LABEL].value_counts()) >= fewest
    return adata[frequent.to_numpy()].copy()


def prepared(adata: AnnData) -> AnnData:
    """Filter genes, keep counts in a layer, bring totals to their median, and take logarithms."""
    adata = adata.copy()
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    return adata


@dataclass(frozen=True, eq=False)
class Tissue:
    """A pair, in the genes that both have; types of the instrument by the names of the reference.

    Cells of the instrument whose type has no partner are left out, and the others are in halves,
    stratified by type.  What is to be known of the instrument is known from the first half, with
    counts; panels are measured on the second.  `whole` is the reference with all its genes.
    """

    title: str
    pair: Pair
    whole: AnnData
    reference: Cells
    instrument: Cells
    known: AnnData
    measured: Cells


@cache
def tissue(title: str) -> Tissue:
    """Read a pair."""
    pair = ALL[title]
    whole = prepared(counts(pair.reference, pair.place, pair.fewest))
    spatial = counts(pair.instrument, pair.place, pair.fewest)
    spatial = spatial[:, spatial.var_names.isin(whole.var_names)].copy()
    spatial.obs[LABEL] = partners(pair, spatial.obs[LABEL], whole.obs[LABEL])
    spatial = spatial[spatial.obs[LABEL].notna()].copy()
    instrument = prepared(spatial)
    reference = whole[:, whole.var_names.isin(instrument.var_names)].copy()
    first, second = (
        np.sort(half)
        for half in train_test_split(
            np.arange(spatial.n_obs), test_size=0.5, random_state=0, stratify=spatial.obs[LABEL]
        )
    )
    measured = instrument[second].copy()
    if measured.n_obs > MOST_CELLS:
        measured = some(measured, MOST_CELLS)
    chosen, every, measured = (
        Cells(f"pairs/{pair.instrument}/{part}", lambda adata=adata: adata)
        for part, adata in (("chosen", reference), ("whole", instrument), ("measured", measured))
    )
    return Tissue(title, pair, whole, chosen, every, spatial[first].copy(), measured)


def partners(pair: Pair, there: pd.Series, here: pd.Series) -> pd.Series:
    """Return the types of cells of the instrument by the names of the reference, or none."""
    path = folder() / pair.place / f"{pair.instrument.removesuffix('_spatial')}_map.json"
    if path.exists():
        names = there.map(json.loads(path.read_text(encoding="utf-8")))
    else:
        names = there.replace(dict(pair.types))
    return names.where(names.isin(here))


#: What is to be told of a gene on an instrument: σ_0² is the noise of the assay there.
TOLD_OF = ("structure", "noise", "structure over noise + σ_0²")


def seen(adata: AnnData) -> pd.DataFrame:
    """Return logarithms of the structure of each gene, its noise, and how clear it is."""
    cells = build_cells(adata.X, StructureSpec())[0]
    noise = cells.residuals
    structure = np.maximum(cells.variance - noise, SMALLEST_SHARE * cells.variance)
    with np.errstate(divide="ignore"):
        values = np.log([structure, noise, structure / (noise + cells.assay_noise)])
    return pd.DataFrame(dict(zip(TOLD_OF, values, strict=True)), index=adata.var_names)


def told_by_reference() -> dict[str, pd.DataFrame]:
    """Return how far structure and noise in the reference tell each of `TOLD_OF`, by pair.

    Slopes of least squares over the genes that vary on both sides, what they leave, and the mean
    slopes of the other pairs.
    """
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in TOLD_OF}
    for title in ALL:
        of = tissue(title)
        here, there = seen(of.whole), seen(of.instrument.adata)
        genes = here.index.intersection(there.index)
        here, there = here.loc[genes], there.loc[genes]
        vary = np.isfinite(here).all(axis=1) & np.isfinite(there).all(axis=1)
        known = np.column_stack([here.loc[vary, list(TOLD_OF[:2])], np.ones(vary.sum())])
        for name in TOLD_OF:
            values = there.loc[vary, name].to_numpy()
            slopes = np.linalg.lstsq(known, values)[0]
            found[name][title] = {
                "slope on structure": slopes[0],
                "slope on noise": slopes[1],
                "residual sd": np.std(values - known @ slopes),
                "sd": np.std(values),
                "genes": len(values),
            }
    return {name: _beside_others(pd.DataFrame(rows).T) for name, rows in found.items()}


def _beside_others(table: pd.DataFrame) -> pd.DataFrame:
    """Add the mean slopes of the other pairs."""
    slopes = [name for name in table if name.startswith("slope")]
    others = (table[slopes].sum() - table[slopes]) / (len(table) - 1)
    found = table.join(others.add_suffix(", other four")).round(2)
    return found.astype({"genes": int})
