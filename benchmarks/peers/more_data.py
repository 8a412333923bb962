"""Further sets: every h5ad in the folder that GLFS_BIO_MORE_DATA names."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import anndata as ad
import numpy as np
from scipy.sparse import csr_matrix, issparse

VARIABLE = "GLFS_BIO_MORE_DATA"
#: Measures compare every cell with every other: of more cells these many are drawn, with seed 0.
MOST_CELLS = 10_000


def files() -> list[Path]:
    """The h5ad of the folder; none where the variable is not set."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return []
    found = sorted(Path(folder).glob("*.h5ad"))
    if not found:
        raise FileNotFoundError(f"{VARIABLE}={folder} holds no h5ad: add one, or unset it")
    return found


def digest(path: Path) -> str:
    """Changes with the content of the file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def read(path: Path) -> ad.AnnData:
    """Counts in `.X`, with the columns `label` and, where the file has it, `batch`."""
    adata = ad.read_h5ad(path)
    counts = adata.layers.get("counts", adata.X)
    place = 'layers["counts"]' if "counts" in adata.layers else "X"
    if counts is None:
        raise ValueError(f'{path.name}: neither X nor layers["counts"]; put the counts into one')
    counts = csr_matrix(counts) if not issparse(counts) else counts.tocsr()
    if np.any(counts.data < 0) or np.any(counts.data != np.round(counts.data)):
        raise ValueError(
            f"{path.name}: {place} holds values that are no counts, such as "
            f"{counts.data[(counts.data < 0) | (counts.data != np.round(counts.data))][0]}; "
            'put whole numbers into layers["counts"]'
        )
    if "label" not in adata.obs:
        raise KeyError(
            f'{path.name}: no obs["label"], only {list(adata.obs)}; rename the column of the types'
        )
    unlabelled = int(adata.obs["label"].isna().sum())
    if unlabelled:
        raise ValueError(f'{path.name}: {unlabelled} cells have no obs["label"]; leave them out')
    columns = [name for name in ("label", "batch") if name in adata.obs]
    found = ad.AnnData(counts.astype(np.float32), adata.obs[columns].astype(str), adata.var[[]])
    found.var_names_make_unique()
    if found.n_obs > MOST_CELLS:
        drawn = np.random.default_rng(0).choice(found.n_obs, MOST_CELLS, replace=False)
        found = found[np.sort(drawn)].copy()
    return found
