"""``adata.glfs``: functions of the package as methods of an AnnData object."""

from __future__ import annotations

import textwrap
from importlib import import_module
from inspect import unwrap
from types import MethodType
from typing import TYPE_CHECKING, Any

import anndata
from anndata import AnnData

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Letters in a line.
_WIDTH = 88
#: What has methods here, the first that has a name; plots are under ``adata.glfs.pl``.
_ROOMS = ("pp", "tl", "io")


def _functions(*rooms: str) -> dict[str, Any]:
    """The public functions whose first parameter is ``adata``, by name."""
    found: dict[str, Any] = {}
    for room in rooms:
        module = import_module(f".{room}", __package__)
        for name in module.__all__:
            function = getattr(module, name)
            code = getattr(unwrap(function), "__code__", None)
            if code is not None and code.co_varnames[:1] == ("adata",):
                found.setdefault(name, function)
    return found


def _lines(parts: Mapping[str, Iterable[str]]) -> str:
    """Names under headings, as AnnData lists them."""
    texts = (f"{head}: {', '.join(names)}" for head, names in parts.items() if names)
    return "\n".join(textwrap.fill(text, _WIDTH, subsequent_indent="    ") for text in texts)


class _Methods:
    """Functions of an AnnData object, bound to one."""

    _rooms: tuple[str, ...]

    def __init__(self, adata: AnnData) -> None:
        self._adata = adata

    def __getattr__(self, name: str) -> MethodType:
        function = None if name.startswith("_") else _functions(*self._rooms).get(name)
        if function is None:
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg)
        return MethodType(function, self._adata)

    def __dir__(self) -> list[str]:
        return [*_functions(*self._rooms)]

    def __repr__(self) -> str:
        return _lines({"plots": _functions(*self._rooms)})


class Plots(_Methods):
    """Plots of an AnnData object: :mod:`glfs_bio.pl`."""

    _rooms = ("pl",)


class Accessor(_Methods):
    """Functions of :mod:`glfs_bio` as methods: ``adata.glfs.select_genes(25)``.

    Functions of ``pp``, ``tl`` and ``io`` that take an AnnData object are methods of
    ``adata.glfs``, and plots are methods of ``adata.glfs.pl``; arguments and results are those of
    the functions.  Where it is shown, ``adata.glfs`` lists the selections and the results that are
    there.  It needs anndata 0.12 or later, and is there once `glfs_bio` is imported.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> adata.glfs.select_genes(10)
    >>> adata.glfs.evaluate_panel("glfs", "bulk_labels")
    >>> print(repr(adata.glfs).splitlines()[1])
        glfs: 10 of 765 genes, 73 % of the structure preserved
    """

    _rooms = _ROOMS

    def __init__(self, adata: AnnData) -> None:
        super().__init__(adata)

    @property
    def pl(self) -> Plots:
        """Plots."""
        return Plots(self._adata)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "pl"]

    def __repr__(self) -> str:
        from ._anndata import results, summaries

        uns = self._adata.uns
        found = {key: kind for key, one in uns.items() if (kind := results.kind_of(one))}
        chosen = [key for key, kind in found.items() if kind == "selection"]
        lines = [
            f"    {key}: {', '.join(summaries.selection(uns[key]).split(', ')[:2])}"
            for key in chosen
        ]
        head = "selections:" if chosen else "no selection yet: adata.glfs.select_genes(n_genes)"
        parts = {
            "results": [key for key in found if key not in chosen],
            **{f"methods, as in {room}": _functions(room) for room in self._rooms},
            "plots, in .pl": _functions("pl"),
        }
        return "\n".join([head, *lines, _lines(parts)])


def register() -> None:
    """Give every AnnData object the accessor, where anndata has accessors: from 0.12 on."""
    named = getattr(anndata, "register_anndata_namespace", None)
    if named is not None:
        named("glfs")(Accessor)
