"""``adata.glfs``: functions of the package as methods of an AnnData object."""

from __future__ import annotations

from importlib import import_module
from inspect import unwrap
from types import MethodType
from typing import Any

import anndata
from anndata import AnnData

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
        return [*super().__dir__(), *_functions(*self._rooms)]


class Plots(_Methods):
    """Plots of an AnnData object: :mod:`glfs_bio.pl`."""

    _rooms = ("pl",)


class Accessor(_Methods):
    """Functions of :mod:`glfs_bio` as methods: ``adata.glfs.select_genes(25)``.

    Those of ``pp``, ``tl`` and ``io`` that take an AnnData object are methods; plots are under
    ``adata.glfs.pl``.
    """

    _rooms = _ROOMS

    def __init__(self, adata: AnnData) -> None:
        super().__init__(adata)

    @property
    def pl(self) -> Plots:
        """Plots."""
        return Plots(self._adata)


def register() -> None:
    """Give every AnnData object the accessor, where anndata has accessors: from 0.12 on."""
    named = getattr(anndata, "register_anndata_namespace", None)
    if named is not None:
        named("glfs")(Accessor)
