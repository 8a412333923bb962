"""Select gene panels from single-cell data by Laplacian feature selection."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .data import threads as _threads  # noqa: F401 — it keeps the process that imports the package

if TYPE_CHECKING:
    from . import datasets, estimators, io, pl, pp, tl
    from .estimators import GLFS, LapRLSClassifier
    from .options import Limits, Platform, Preserve

    __version__: str

__all__ = ["GLFS", "LapRLSClassifier", "Limits", "Platform", "Preserve"]
__all__ += ["datasets", "estimators", "io", "pl", "pp", "tl"]

#: Modules of the classes.
_OF_CLASSES = dict.fromkeys(("Limits", "Platform", "Preserve"), ".options")
_OF_CLASSES |= dict.fromkeys(("GLFS", "LapRLSClassifier"), ".estimators")


def __getattr__(name: str) -> Any:
    """Import a part when it is first used: ``glfs-bio --help`` should not wait for scanpy."""
    if name in _OF_CLASSES:
        return getattr(import_module(_OF_CLASSES[name], __name__), name)
    if name in __all__:
        return import_module(f".{name}", __name__)
    if name == "__version__":
        from importlib.metadata import version

        return version("glfs-bio")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
