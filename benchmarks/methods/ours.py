"""What the benchmarks ask of glfs_bio: the only place that calls it with keyword arguments."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad
import numpy as np
import pandas as pd

import glfs_bio
from glfs_bio.cells.graph import knn_graph
from glfs_bio.solvers.panel import METHODS as RANKERS

from .. import store
from ..data import LABEL

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["PAPERS", "knn_graph", "select_genes"]

#: The paper's other rankers.
PAPERS = tuple(name for name in RANKERS if name not in ("glfs", "variance"))
#: A type of fewer cells counts as unlabelled for the graph of the classes.
FEWEST = 2
#: Names the principal components and the graph of scanpy.
SCANPY = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
#: Arguments of `pp.structure` that `pp.select_genes` does not have.
KNOBS = ("n_neighbors", "lambda1", "standardize")
#: Those that both have: a structure that is named comes with its own.
SHARED = ("n_comps", "use_rep", "neighbors_key", "layer", "batch_key", "random_state")


@cache
def package_digest() -> str:
    """Return what changes with the source of the package."""
    files = sorted(Path(glfs_bio.__file__).parent.rglob("*.py"))
    return store.digest(b"".join(file.read_bytes() for file in files))


def table(adata: AnnData, n_genes: int | None, **options) -> pd.DataFrame:
    """Return the columns that a selection would write to `.var`; nothing is written."""
    adata, options = with_knobs(adata, options)
    return glfs_bio.pp.select_genes(adata, n_genes, inplace=False, **options)


def with_knobs(adata: AnnData, options: dict) -> tuple[AnnData, dict]:
    """Return the object that a selection is made in, and what it is asked.

    With knobs of the structure that is another object of the same matrix, with such a structure.
    """
    if not any(name in options for name in KNOBS):
        return adata, options
    of_structure = {name: options[name] for name in (*KNOBS, *SHARED) if name in options}
    rest = {name: options[name] for name in options if name not in of_structure}
    adata = ad.AnnData(
        adata.X, adata.obs, adata.var, obsm=adata.obsm, obsp=adata.obsp, uns=adata.uns.copy()
    )
    glfs_bio.pp.structure(adata, **of_structure, key_added="knobs")
    return adata, rest | {"use_rep": "knobs"}


def select_genes(adata: AnnData, n_genes: int | None, **options) -> np.ndarray:
    """Select genes, best first."""
    found = table(adata, n_genes, **options)
    chosen = np.flatnonzero(found["glfs_selected"])
    return chosen[np.argsort(found["glfs_rank"].to_numpy()[chosen])]


def published(adata: AnnData, n_genes: int, **options) -> np.ndarray:
    """Select genes by the objective of the paper."""
    return select_genes(adata, n_genes, objective="exact", **options)


def ranked(values: np.ndarray, n_genes: int, **options) -> tuple[np.ndarray, dict]:
    """Rank the columns of a matrix from 1; return the ranks and what the selection tells."""
    adata, options = with_knobs(ad.AnnData(values), options)
    glfs_bio.pp.select_genes(adata, n_genes, **options)
    return adata.var["glfs_rank"].to_numpy(dtype=int), adata.uns["glfs"]


def from_matrix(adata: AnnData, n_genes: int) -> tuple[AnnData, dict]:
    """Select genes in the structure of the matrix; return an object that keeps it, and the record.

    The record has ``preserved`` and ``optimality``, by size.
    """
    adata = ad.AnnData(adata.X, obs=adata.obs[[]], var=adata.var[[]])
    glfs_bio.pp.select_genes(adata, n_genes)
    told = adata.uns["glfs"]
    return adata, {"preserved": told["preserved"], "optimality": told["optimality"]}


def preserved(adata: AnnData, genes: list[int]) -> float:
    """Return the share of the structure that a panel preserves."""
    names = adata.var_names[genes].tolist()
    return float(glfs_bio.tl.explain_panel(adata, names, inplace=False)["preserved"].iloc[-1])


def class_graph(adata: AnnData, n_genes: int) -> np.ndarray:
    """Select genes on the paper's graph of the classes, in 50 components."""
    codes, names = pd.factorize(adata.obs[LABEL].astype(str))
    codes[np.bincount(codes, minlength=len(names))[codes] < FEWEST] = -1
    model = glfs_bio.estimators.SupervisedGLFS(n_genes=n_genes, n_comps=50)
    return model.fit(adata.X, codes).get_support(indices=True)
