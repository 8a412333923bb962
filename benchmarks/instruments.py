"""Pairs of a reference, from which panels are chosen, and an instrument that measured the tissue.

The data are those of the folders ``imaging`` and ``pairs`` in GLFS_BIO_DATA.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

import anndata as ad
import numpy as np
import scanpy as sc
from anndata import AnnData
from scipy.sparse import csr_matrix
from sklearn.model_selection import train_test_split

from .data import LABEL, Cells, folder, some

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
    types: Mapping[str, str] = field(default_factory=dict, hash=False)
    place: str = "imaging"
    fewest: int = FEWEST


#: The first two, which other benchmarks have too.
PAIRS = {
    "Zeisel → osmFISH": Pair("ref_zeisel550", "osmfish_ref537", (5, 10, 15, 20)),
    "10x → MERFISH": Pair(
        "ref_poa_spacexr",
        "merfish_poa",
        SIZES,
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


def _further(reference: str, instrument: str) -> Pair:
    """Return a pair of the other folder, whose rare types have partners of ten cells or more."""
    path = folder() / "pairs" / f"{instrument}_map.json"
    types = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return Pair(f"{reference}_ref", f"{instrument}_spatial", SIZES, types, place="pairs", fewest=10)


#: Those of independent references, and all.
FURTHER = {
    "Wu → Xenium, breast": _further("breast_xenium", "breast_xenium"),
    "Zeisel → STARmap, cortex": _further("cortex_zeisel", "v1_starmap"),
    "Zeisel → Xenium, hippocampus": _further("cortex_zeisel", "hipp_xenium"),
}
ALL = FURTHER | PAIRS


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

    Cells of the instrument whose type has no partner are left out.  The others are in halves,
    stratified by type: efficiencies are estimated from those that are known, and panels measured
    on the others, of which at most 3,000 are drawn.
    """

    title: str
    reference: Cells
    instrument: Cells
    known: AnnData
    measured: Cells

    @cached_property
    def whole(self) -> AnnData:
        """The reference with all its genes."""
        pair = ALL[self.title]
        return prepared(counts(pair.reference, pair.place, pair.fewest))


@cache
def tissue(title: str) -> Tissue:
    """Read a pair."""
    pair = ALL[title]
    whole = prepared(counts(pair.reference, pair.place, pair.fewest))
    spatial = counts(pair.instrument, pair.place, pair.fewest)
    names = spatial.obs[LABEL].map(lambda name: pair.types.get(name, name))
    partnered = names.isin(whole.obs[LABEL])
    if pair.place == "pairs":
        partnered &= spatial.obs[LABEL].isin(list(pair.types))
    spatial = spatial[partnered, spatial.var_names.isin(whole.var_names)].copy()
    spatial.obs[LABEL] = names[partnered]
    instrument = prepared(spatial)
    reference = whole[:, whole.var_names.isin(instrument.var_names)].copy()
    first, second = train_test_split(
        np.arange(spatial.n_obs), test_size=0.5, random_state=0, stratify=spatial.obs[LABEL]
    )
    second = instrument[np.sort(second)].copy()
    if second.n_obs > MOST_CELLS:
        second = some(second, MOST_CELLS)
    place = f"pairs/{pair.instrument}"
    return Tissue(
        title,
        Cells(f"{place}/reference", lambda: reference),
        Cells(f"{place}/instrument", lambda: instrument),
        spatial[np.sort(first)].copy(),
        Cells(f"{place}/measured", lambda: second),
    )
