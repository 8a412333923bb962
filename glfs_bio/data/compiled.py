"""Functions that numba compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

_Function = TypeVar("_Function", bound="Callable[..., Any]")


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """Compile a function when it is first called, for any number of threads at once.

    The machine code is kept beside the package, in the cache of the user, or in the folder that
    NUMBA_CACHE_DIR names; where none of them can be written to, every process compiles anew.
    """

    def of(function: _Function) -> _Function:
        how = {"nogil": True, "error_model": "numpy", **options}
        try:
            made: _Function = njit(cache=True, **how)(function)
        except RuntimeError:  # numba's, where it finds no folder for its cache
            made = njit(**how)(function)
        return made

    return of
