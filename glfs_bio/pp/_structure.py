"""The structure of the cells, computed once for all that is asked of panels."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal

from .. import checks
from .._anndata import structure as structures
from .._anndata import write
from ..selection import Options

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.read import Inputs
    from .._anndata.structure import Structure
    from .._typing import Index
    from ..selection import ReducedCells


def structure(
    adata: AnnData,
    *,
    lambda1: float = 100.0,
    standardize: Literal["auto", "noise", "unit"] | None = "auto",
    n_comps: int | None = 50,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    n_neighbors: int = 15,
    layer: str | None = None,
    mask_var: NDArray[np.bool_] | str | None = None,
    batch_key: str | None = None,
    key_added: str = "glfs_structure",
    random_state: int | None = 0,
) -> None:
    """Compute what panels are selected and judged by, and keep it with the cells.

    :func:`select_genes` and the functions of :mod:`glfs_bio.tl` that judge, extend and explain
    panels need the structure of the cells: a subspace, the noise of the genes, and the genes'
    projections.  They compute it when it is not there, which takes seconds for ten thousand cells.
    After this function most of them take some tenths of a second.  What is kept stays valid as long
    as the matrix is the same, in files too.  A selection re-uses it if its own parameters, and the
    representation and graph that are there, are the same too.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.  ``adata.X`` is never changed.
    lambda1, standardize, n_comps, use_rep, neighbors_key, n_neighbors, layer, mask_var, batch_key
        As in :func:`~glfs_bio.pp.select_genes`.
    key_added
        Where it is kept.
    random_state
        Seed of the principal components, of a graph of many cells, and of their sample.

    Returns
    -------
    None.  Written:

    ``.obsm[key_added]``
        V, an orthonormal basis of the cells' subspace, shape (n_cells, r); of each batch its own.
    ``.varm[key_added]``
        ``XᵀV``, projections of the centred genes, shape (n_genes, r) for each batch.
    ``.uns[key_added]``
        ``params``; ``matrix`` and ``inputs``, which tell whether the matrix, and the
        ``representation`` and ``graph`` that were there, are still the same; ``genes`` that were
        looked at; ``set_of_cell``, the batch of every cell; ``sets``: for each batch K, and of
        every gene variance, noise and unit; ``reused``, ``replaced`` and ``graph_components``, as
        in :func:`select_genes`.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, matrix or graph that cannot be used; `adata` is left as it was.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.structure(adata)
    >>> adata.varm["glfs_structure"].shape
    (765, 50)
    """
    params = {name: value for name, value in locals().items() if name != "adata"}
    checks.keys(key_added=key_added)
    structures.store(adata, compute(adata, params), key_added)


def compute(adata: AnnData, params: Mapping[str, Any]) -> Structure:
    """The structure by parameters of :func:`structure`; others are not looked at."""
    own = _DEFAULTS | {name: value for name, value in params.items() if name in _DEFAULTS}
    options = Options(**{name: own[name] for name in _OF_OPTIONS})
    checks.seed(options.random_state)
    return structures.compute(adata, own, options.reduction)


def kept(
    adata: AnnData, params: Mapping[str, Any], given: Inputs, genes: Index
) -> ReducedCells | None:
    """What :func:`structure` kept, where it is what a selection would compute; else None."""
    own = {name: write.storable(params[name]) for name in _DEFAULTS}
    return structures.fitting(adata, params["structure_key"], own, given, genes)


_OF_OPTIONS = ("lambda1", "standardize", "n_comps", "n_neighbors", "random_state")
_DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(structure).parameters.items()
    if name not in {"adata", "key_added"}
}
