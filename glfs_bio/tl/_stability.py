"""How much of a selection hangs on the cells that happened to be sampled."""

from __future__ import annotations

import inspect
import warnings
from contextlib import closing
from importlib.metadata import version
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from anndata import AnnData
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from .._anndata import read, write
from ..core import checks
from ..pp import select_genes

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_FEWEST_RESAMPLES = 2
_FEWEST_CELLS = 3
#: Parameters of select_genes that are set here.
_OURS = {"adata", "n_genes", "key_added", "as_highly_variable", "subset", "inplace", "random_state"}
_EXAMINED = [name for name in inspect.signature(select_genes).parameters if name not in _OURS]
_VERSIONS = ("glfs-bio", "numpy", "scipy", "scikit-learn", "anndata")


def stability(
    adata: AnnData,
    n_genes: int | None,
    *,
    n_resamples: int = 20,
    fraction: float = 0.5,
    n_jobs: int | None = None,
    key_added: str = "glfs_stability",
    random_state: int | None = 0,
    show_progress: bool = True,
    **select: Any,
) -> None:
    """Select genes on random parts of the cells, and count how often each gene is selected.

    Every part is drawn without replacement, within each batch where there is a `batch_key`.  Its
    principal components and its graph are computed from its own cells: those of all cells, which
    ``select_genes`` re-uses by default, would tell the parts of one another and make them agree
    too well.  Name them with `use_rep` and `neighbors_key` to take their rows all the same.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.  ``adata.X`` is never changed.
    n_genes
        Genes to select in each part; None: an automatic number in each.
    n_resamples
        Number of parts.
    fraction
        Share of the cells in a part, above 0 and below 1.
    n_jobs
        Processes; −1: one a core.  None: 1, or what :func:`joblib.parallel_config` says.  The
        result does not depend on it.
    key_added
        Prefix of the column written to ``.var``, and key of ``.uns``.
    random_state
        Seed of the parts and of the principal components.
    show_progress
        Whether a bar on stderr shows the progress.  An interrupt leaves `adata` as it was.
    **select
        Parameters of :func:`~glfs_bio.pp.select_genes`: those of the selection that is examined.

    Returns
    -------
    None.  Written:

    ``.var[f"{key_added}_frequency"]``
        Share of the parts in which the gene is selected; NaN for genes that were not tested.
    ``.uns[key_added]``
        ``jaccard``, shape (n_resamples, n_resamples): genes that two selections share, over those
        that are in either; ``mean_jaccard``, over the pairs; ``n_genes``, shape (n_resamples,):
        sizes of the selections; ``n_cells``: size of a part; ``params`` and ``versions``.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, matrix or graph that cannot be used; `adata` is left as it was.

    References
    ----------
    N. Meinshausen and P. Bühlmann, Stability selection, J. R. Stat. Soc. B 2010.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.tl.stability(adata, 10, n_resamples=2, show_progress=False)
    >>> bool(adata.var["glfs_stability_frequency"].max() == 1.0)
    True
    """
    checks.whole_number("n_resamples", n_resamples, at_least=_FEWEST_RESAMPLES)
    checks.number("fraction", fraction, above=0.0)
    checks.seed(random_state)
    checks.keys(key_added=key_added)
    checks.flags(show_progress=show_progress)
    if n_jobs is not None and (n_jobs == 0 or not isinstance(n_jobs, Integral)):
        msg = f"n_jobs={n_jobs!r} must be an integer other than 0, or None."
        raise ValueError(msg)
    if fraction >= 1:
        msg = f"fraction={fraction!r} must be below 1: all cells give the same genes every time."
        raise ValueError(msg)
    for name in select:
        if name not in _EXAMINED:
            msg = f"{name}={select[name]!r} is not one of {', '.join(_EXAMINED)}."
            raise TypeError(msg)
    read.unique_names(adata)
    cells = _lean(adata, select)
    options = {
        **select,
        "layer": None,
        "n_genes": n_genes,
        "random_state": random_state,
        "inplace": False,
    }
    parts = _parts(cells, select.get("batch_key"), fraction, n_resamples, random_state)
    if len(parts[0]) < _FEWEST_CELLS:
        msg = f"fraction={fraction!r} leaves {len(parts[0])} of {adata.n_obs} cells: too few."
        raise ValueError(msg)

    tasks = (delayed(_select)(cells, part, options) for part in parts)
    bar = Progress(console=Console(stderr=True), transient=True, disable=not show_progress)
    with bar, closing(Parallel(n_jobs=n_jobs, return_as="generator")(tasks)) as work:
        results = list(bar.track(work, total=n_resamples, description="selecting on parts"))
    for category, text in dict.fromkeys(told for _, _, warned in results for told in warned):
        warnings.warn(text, category, stacklevel=2)

    chosen = np.stack([selected for selected, _, _ in results])
    frequency = chosen.mean(axis=0)
    frequency[~results[0][1]] = np.nan
    jaccard = _jaccard(chosen)
    adata.var[f"{key_added}_frequency"] = frequency
    adata.uns[key_added] = {
        "jaccard": jaccard,
        "mean_jaccard": float(jaccard[np.triu_indices(n_resamples, 1)].mean()),
        "n_genes": chosen.sum(axis=1),
        "n_cells": len(parts[0]),
        "params": {
            name: write.storable(value)
            for name, value in {
                **select,
                "n_genes": n_genes,
                "n_resamples": n_resamples,
                "fraction": fraction,
                "random_state": random_state,
            }.items()
        },
        "versions": {package: version(package) for package in _VERSIONS},
    }


def _lean(adata: AnnData, select: dict[str, Any]) -> AnnData:
    """What a selection reads, and nothing that it would re-use without being told to."""
    lean = AnnData(
        read.matrix(adata, select.get("layer")),
        obs=adata.obs[[]].copy(),
        var=adata.var,
    )
    batch = read.batches(adata, select.get("batch_key"))
    if batch is not None:
        lean.obs[select["batch_key"]] = batch
    use_rep, neighbors_key = select.get("use_rep"), select.get("neighbors_key")
    if use_rep is not None and use_rep != "X":
        lean.obsm[use_rep] = read.representation(adata, use_rep)
    if neighbors_key is not None:
        lean.obsp["connectivities"] = read.graph(adata, neighbors_key)
        lean.uns[neighbors_key] = {"connectivities_key": "connectivities"}
    return lean


def _parts(
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


def _select(
    adata: AnnData, part: NDArray[np.intp], options: dict[str, Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], list[tuple[type[Warning], str]]]:
    """Selected genes, tested genes, and what select_genes warned of.

    One thread whatever the number of processes: more may round in another way.
    """
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        frame = cast("pd.DataFrame", select_genes(adata[part].copy(), **options))
    told = [(entry.category, str(entry.message)) for entry in caught]
    return frame["glfs_selected"].to_numpy(), frame["glfs_score"].notna().to_numpy(), told


def _jaccard(chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Shared genes over all genes of every two selections."""
    shared = chosen.astype(float) @ chosen.T.astype(float)
    sizes = np.diag(shared)
    return np.asarray(shared / (sizes[:, None] + sizes - shared))
