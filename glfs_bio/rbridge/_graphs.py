"""Graphs of the cells: ``.obsp`` with what ``.uns`` says of it, and ``colPairs`` of Bioconductor.

In ``colPairs`` the name alone says which graph is which: that of ``sc.pp.neighbors`` is called
``connectivities``, another one ``<neighbors_key>_connectivities``, as scanpy calls them itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData

_KEY, _NAME = "neighbors", "connectivities"
_SUFFIX = f"_{_NAME}"


def carried(adata: AnnData) -> tuple[dict[str, Any], list[str]]:
    """Matrices of ``.obsp`` by their names in R, and what of ``.uns`` and ``.obsp`` is left."""
    names = {
        entry.get("connectivities_key", _NAME): _NAME if key == _KEY else key + _SUFFIX
        for key, entry in adata.uns.items()
        if isinstance(entry, Mapping) and (key == _KEY or "connectivities_key" in entry)
    }
    names = {matrix: name for matrix, name in names.items() if matrix in adata.obsp}
    pairs, left = {}, []
    for key, matrix in adata.obsp.items():
        # A graph that no entry of `.uns` names is none that Python would use.
        if matrix.dtype.kind not in "fiub" or (key not in names and _is_graph(key)):
            left.append(f"obsp[{key!r}]")
        else:
            pairs[names.get(key, key)] = sparse.csc_matrix(matrix)
    known = {_key(name) for name in names.values()}
    return pairs, [f"uns[{key!r}]" for key in adata.uns if key not in known] + left


def entries(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """What ``.uns`` says of the graphs among these matrices."""
    return {_key(name): {"connectivities_key": name} for name in names if _is_graph(name)}


def _is_graph(name: str) -> bool:
    return name == _NAME or name.endswith(_SUFFIX)


def _key(name: str) -> str:
    return _KEY if name == _NAME else name.removesuffix(_SUFFIX)
