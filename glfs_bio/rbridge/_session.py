"""The R of this process, through rpy2: found running or started, and interruptible."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import signal
import threading
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..errors import PackageMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

_BRIDGE = "The bridge to R"
_INSTALL = (
    "pip install rpy2; where R is older than 4.5 "
    'RPY2_CFFI_MODE=ABI pip install --no-cache-dir "rpy2-rinterface<3.6.6" rpy2'
)
# R calls into these as long as the process lives; without a reference it would abort.
_callbacks: dict[Callable[..., Any], Any] = {}


@functools.cache
def rinterface() -> ModuleType:
    """rpy2's low-level interface, with R running."""
    if find_spec("rpy2") is None:
        raise PackageMissing("rpy2", _BRIDGE, "needs the package rpy2", _INSTALL)
    if find_spec("_rinterface_cffi_api") is None:
        # rpy2 was built without a compiler; it says so on the console unless told.
        os.environ.setdefault("RPY2_CFFI_MODE", "ABI")
    try:
        import rpy2.rinterface as ri
    except (AttributeError, ImportError, OSError, ValueError) as error:
        raise PackageMissing(
            "R",
            _BRIDGE,
            f"needs R, which rpy2 cannot load ({error})",
            "install R (Debian: apt install r-base-core); if it is there, rpy2 does not fit it: "
            + _INSTALL,
        ) from error
    with _own_interrupts():
        ri.initr()
    # Later, with half of the interpreter gone, rpy2 cannot release them.
    atexit.register(_callbacks.clear)
    module: ModuleType = ri
    return module


def r_function(name: str) -> Any:
    """A function of the R package that is not exported."""
    ri = rinterface()
    find = ri.baseenv["requireNamespace"]
    if not find(ri.StrSexpVector(["glfsbio"]), quietly=ri.BoolSexpVector([True]))[0]:
        paths = ", ".join(ri.baseenv[".libPaths"]())
        raise PackageMissing(
            "glfsbio",
            _BRIDGE,
            f"needs the R package glfsbio, which is not in the libraries of this R ({paths})",
            "in a copy of the glfs_bio repository run R CMD INSTALL r_bridge/glfsbio",
        )
    return ri.baseenv["asNamespace"](ri.StrSexpVector(["glfsbio"]))[name]


def callback(function: Callable[..., Any]) -> Any:
    """An R function that calls a Python one, made once."""
    if function not in _callbacks:
        _callbacks[function] = rinterface().rternalize(function)
    return _callbacks[function]


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt here, whoever handles it outside."""
    with _own_interrupts():
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Put the handlers of Ctrl-C back afterwards: Python's, and below it R's own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    below = ctypes.pythonapi.PyOS_getsig
    below.argtypes, below.restype = [ctypes.c_int], ctypes.c_void_p
    restore = ctypes.pythonapi.PyOS_setsig
    restore.argtypes, restore.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    handler, address = signal.getsignal(signal.SIGINT), below(signal.SIGINT)
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        restore(signal.SIGINT, address)
