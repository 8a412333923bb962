"""The arguments of a selection, out of its record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import selection, write
from ..limits import Limits
from ..methods import METHODS, OBJECTIVES

if TYPE_CHECKING:
    from anndata import AnnData

_LISTS = ("include", "exclude")
#: Parameters that are a name or an instance.
_METHODS = {"method": METHODS, "objective": OBJECTIVES}
#: Parameters that may be a dict by gene.
_BY_GENE = ("cost", "failure")


def recorded_parameters(adata: AnnData, key: str = "glfs") -> dict[str, Any]:
    """Arguments of the call of :func:`~glfs_bio.pp.select_genes` that wrote ``.uns[key]``.

    ``.uns`` holds what files can: ``"None"`` for None, and ``"re:…"`` for a compiled pattern.  Here
    they are what they were, so that the call can be made again, in another session too.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    key
        Which selection: its `key_added`.

    Returns
    -------
    dict
        Every argument but `adata`.  Flags of compiled patterns are not recorded.

    Raises
    ------
    KeyError
        No such selection.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> first = adata.var["glfs_rank"].copy()
    >>> glfs_bio.pp.select_genes(adata, **glfs_bio.pp.recorded_parameters(adata))
    >>> bool((adata.var["glfs_rank"] == first).all())
    True
    """
    entry = selection.record(adata, key, "pp.select_genes", "params", "n_tested")
    return {name: _restored(name, value) for name, value in entry["params"].items()}


def _restored(name: str, value: Any) -> Any:
    if isinstance(value, str) and value == "None":
        return None
    if isinstance(value, np.generic):
        return value.item()
    if name == "limits":
        return Limits.from_record(value)
    if name in _METHODS:
        return _METHODS[name].restored(name, value)
    if name in _BY_GENE:
        return write.restored(value)
    if name == "preserve":
        return list(map(str, value)) if isinstance(value, np.ndarray) else write.restored(value)
    if name not in _LISTS:
        return value
    if isinstance(value, np.ndarray):
        return [_pattern_or_name(item) for item in value]
    return _pattern_or_name(value)


def _pattern_or_name(text: str) -> str | re.Pattern[str]:
    return re.compile(text[3:]) if text.startswith("re:") else str(text)
