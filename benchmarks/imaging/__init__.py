"""Cells that imaging instruments measured, single cells of the same tissue, and what chooses genes.

The data are those of the folder ``imaging`` in GLFS_BIO_DATA.
"""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd
import scanpy as sc
from scipy.sparse import csr_matrix

import glfs_bio

from ..data import LABEL, Cells
from ..methods import BEFORE_NOISE, DEFAULT, LABELLED, METHODS, PEER, PUBLISHED, TOOLS, Method, ours

if TYPE_CHECKING:
    from anndata import AnnData

#: Panels are chosen from cells of the instrument itself, up to so many genes.
OWN = ("merfish_poa", "cosmx_nsclc", "starmap_mpfc", "xenium_breast")
SIZES = (5, 10, 20, 40, 80)
#: Types of fewer cells are left out.
FEWEST = 15


@dataclass(frozen=True)
class Pair:
    """Single cells from which a panel is chosen, and the instrument that measures it."""

    reference: str
    instrument: str
    sizes: tuple[int, ...]


PAIRS = {
    "Zeisel → osmFISH": Pair("ref_zeisel550", "osmfish_ref537", (5, 10, 15, 20)),
    "10x → MERFISH": Pair("ref_poa_spacexr", "merfish_poa", SIZES),
}

_LABELLED = ("t-test, in turn", "Wilcoxon, in turn", "logistic regression, in turn")
_own = partial(replace, METHODS[DEFAULT])
#: Without labels, then with labels.
UNLABELLED = {
    **{
        name: METHODS[name]
        for name in (DEFAULT, BEFORE_NOISE, PUBLISHED, f"{PUBLISHED}, log counts")
    },
    "LapAOFS": METHODS["select_genes, lapaofs"],
    "LapAOFS, log counts": METHODS["select_genes, lapaofs, standardize=None"],
    **{name: one for name, one in METHODS.items() if one.group == "rivals" and name != "random"},
    **{name: replace(one, group=PEER) for name, one in TOOLS.items()},
}
WITH_LABELS = {
    "glfs_bio, labels": LABELLED["glfs_bio, labels"],
    **{name: LABELLED[name] for name in (*_LABELLED, "Spapros")},
}


def _folder() -> Path:
    return Path(os.environ.get("GLFS_BIO_DATA", "../shared/data")) / "imaging"


@cache
def counts(name: str) -> AnnData:
    """Return the counts of a file, without the types that have few cells."""
    adata = ad.read_h5ad(_folder() / f"{name}.h5ad")
    adata.X = csr_matrix(adata.X, dtype=np.float32)
    adata.obs[LABEL] = adata.obs[LABEL].astype(str)
    frequent = adata.obs[LABEL].map(adata.obs[LABEL].value_counts()) >= FEWEST
    return adata[frequent.to_numpy()].copy()


def prepared(adata: AnnData) -> AnnData:
    """Filter genes, keep counts in a layer, bring totals to their median, and take logarithms."""
    adata = adata.copy()
    sc.pp.filter_genes(adata, min_cells=3)
    adata.layers["counts"] = adata.X.copy()
    sc.pp.normalize_total(adata)
    sc.pp.log1p(adata)
    return adata


def cells(name: str) -> Cells:
    """Return all cells of an instrument."""
    return Cells(f"imaging/{name}", lambda: prepared(counts(name)))


def splits(name: str) -> list[tuple[Cells, Cells]]:
    """Return cells to choose from and others to measure: each section left out, or halves."""
    adata = counts(name)
    if "sample" in adata.obs:
        section = pd.factorize(adata.obs["sample"])[0]
    else:
        section = np.random.default_rng(0).permutation(adata.n_obs) % 2
    found = []
    for out in range(section.max() + 1):
        parts = [adata[section != out], adata[section == out]]
        both = [
            Cells(f"imaging/{name}/{side}{out}", lambda part=part: prepared(part))
            for side, part in zip(("without", "of"), parts, strict=True)
        ]
        found.append(tuple(both))
    return found


def reference(pair: Pair, *, measured_only: bool = True) -> Cells:
    """Return the single cells, with the genes that the instrument measures or with all genes."""
    adata = counts(pair.reference)
    if measured_only:
        on_panel = adata.var_names.isin(cells(pair.instrument).adata.var_names)
        adata = adata[:, on_panel]
    place = f"imaging/{pair.reference}{'' if measured_only else '/all'}"
    return Cells(place, lambda: prepared(adata))


def detected(pair: Pair) -> Method:
    """Return our selection told what the instrument detects of each gene."""
    platform = glfs_bio.Platform(efficiency=cells(pair.instrument).adata)

    def select(adata: AnnData, n_genes: int) -> np.ndarray:
        return ours.select_genes(adata, n_genes, platform=platform)

    return _own(select=select)


def within(pair: Pair) -> Method:
    """Return our selection in the structure of all genes, among those that are measured."""
    measured = cells(pair.instrument).adata.var_names

    def select(adata: AnnData, n_genes: int) -> np.ndarray:
        others = list(adata.var_names[~adata.var_names.isin(measured)])
        return ours.select_genes(adata, n_genes, exclude=others)

    return _own(select=select, nested=False)


@dataclass(frozen=True)
class Embryo:
    """1,297 cells and 3,039 places of a fly embryo, by 84 genes that are on or off."""

    cells: AnnData
    places: np.ndarray
    geometry: np.ndarray


@cache
def embryo() -> Embryo:
    """Return the data of DREAM's challenge."""
    with zipfile.ZipFile(_folder() / "dream_sctc.zip") as archive:
        tables = {
            name: pd.read_csv(io.BytesIO(archive.read(name)), index_col=column)
            for name, column in {
                "dge_binarized_distMap.csv": 0,
                "binarized_bdtnp.csv": None,
                "geometry.csv": None,
            }.items()
        }
    places = tables["binarized_bdtnp.csv"]
    of_cells = tables["dge_binarized_distMap.csv"].T
    of_cells.columns = places.columns  # the same genes in the same order, spelt by R
    on = csr_matrix(of_cells.to_numpy(dtype=np.float32))
    adata = ad.AnnData(on, pd.DataFrame(index=of_cells.index), pd.DataFrame(index=places.columns))
    adata.layers["counts"] = adata.X.copy()
    return Embryo(adata, places.to_numpy(dtype=float), tables["geometry.csv"].to_numpy(dtype=float))
