"""What was computed on the way of one call of R, for the next one on the same cells.

R's objects get results, and a structure on request alone.  Of what is kept here checksums say
whether it is of the object of a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._anndata import all_genes, structure

if TYPE_CHECKING:
    from anndata import AnnData

#: What is written by the way, by its key.
KEYS = (structure.KEY, structure.BESIDE, all_genes.KEY)
_PARTS = ("uns", "obsm", "varm")
_kept: dict[str, dict[str, Any]] = {}


def keep(adata: AnnData) -> None:
    """Keep what an object has now, in place of what was kept before."""
    for key in KEYS:
        if key in adata.obsm and not adata.uns[key].get("asked_for", False):
            parts = {name: getattr(adata, name) for name in _PARTS}
            _kept[key] = {name: part[key] for name, part in parts.items() if key in part}


def restore(adata: AnnData) -> None:
    """Put it into an object of the same size that has none."""
    for key, parts in _kept.items():
        sizes = {"obsm": adata.n_obs, "varm": adata.n_vars}
        fits = all(len(parts[name]) == size for name, size in sizes.items() if name in parts)
        if fits and key not in adata.uns:
            for name, value in parts.items():
                getattr(adata, name)[key] = value
