"""Selections on parts of the cells."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from anndata import AnnData
from threadpoolctl import threadpool_limits

from .._anndata import preserve, read
from ..pp import select_genes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

#: Layer of raw counts in what the parts are taken from.
COUNTS = "counts"


def lean(adata: AnnData, params: dict[str, Any]) -> AnnData:
    """What a selection reads, and nothing that it would re-use without being told to."""
    lean = AnnData(
        read.matrix(adata, params["layer"]),
        obs=adata.obs[[]].copy(),
        var=adata.var,
    )
    batch = read.batches(adata, params["batch_key"])
    if batch is not None:
        lean.obs[params["batch_key"]] = batch
    limits, counts_layer = params["limits"], params["counts_layer"]
    if limits is not None and limits.groupby is not None:
        lean.obs[limits.groupby] = adata.obs[limits.groupby]
    if counts_layer is not None:
        lean.layers[COUNTS] = read.matrix(adata, None if counts_layer == "X" else counts_layer)
    for name in preserve.names(params["preserve"], params["cell_weights"]):
        if name in adata.obs:
            lean.obs[name] = adata.obs[name]
        if name in adata.obsm:
            lean.obsm[name] = adata.obsm[name]
    use_rep, neighbors_key = params["use_rep"], params["neighbors_key"]
    if use_rep is not None and use_rep != "X":
        lean.obsm[use_rep] = read.representation(adata, use_rep)
    if neighbors_key is not None:
        lean.obsp["connectivities"] = read.graph(adata, neighbors_key)
        lean.uns[neighbors_key] = {"connectivities_key": "connectivities"}
    return lean


def drawn(
    adata: AnnData, batch_key: str | None, fraction: float, n_resamples: int, seed: int | None
) -> list[NDArray[np.intp]]:
    """Cells of every part, in their own order: the same share of each batch."""
    rng = np.random.default_rng(seed)
    batch = np.zeros(adata.n_obs) if batch_key is None else adata.obs[batch_key].to_numpy()
    members = [np.flatnonzero(batch == name) for name in np.unique(batch)]
    return [
        np.sort(
            np.concatenate(
                [
                    rng.choice(cells, max(round(fraction * len(cells)), 1), replace=False)
                    for cells in members
                ]
            )
        )
        for _ in range(n_resamples)
    ]


def selected(
    adata: AnnData, part: NDArray[np.intp], options: dict[str, Any]
) -> tuple[NDArray[np.bool_], NDArray[np.float64], list[tuple[type[Warning], str]]]:
    """Selected genes, ranks of all genes, and what select_genes warned of.

    One thread whatever the number of processes: more may round in another way.
    """
    with warnings.catch_warnings(record=True) as caught, _without_notes(), threadpool_limits(1):
        warnings.simplefilter("always")
        frame = cast("pd.DataFrame", select_genes(adata[part].copy(), **options))
    told = [(entry.category, str(entry.message)) for entry in caught]
    return frame["glfs_selected"].to_numpy(), frame["glfs_rank"].to_numpy(dtype=float), told


@contextmanager
def _without_notes() -> Iterator[None]:
    """What a selection of all cells has to note, it has noted."""
    logger = logging.getLogger("glfs_bio")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
