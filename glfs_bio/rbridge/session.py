"""The process that R and Python share: rpy2's R in it, Ctrl-C, and workers that are forked."""

from __future__ import annotations

import atexit
import ctypes
import functools
import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from joblib.parallel import FallbackToBackend, ParallelBackendBase, SequentialBackend

from ..errors import PackageMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BRIDGE = "The bridge to R"
_INSTALL = (
    "pip install rpy2; where R is older than 4.5 "
    'RPY2_CFFI_MODE=ABI pip install --no-cache-dir "rpy2-rinterface<3.6.6" rpy2'
)


@functools.cache
def rinterface() -> Any:
    """rpy2's low-level interface, with R running."""
    if find_spec("rpy2") is None:
        raise PackageMissing(f"{_BRIDGE} needs the package `rpy2`: {_INSTALL}")
    if find_spec("_rinterface_cffi_api") is None:
        # rpy2 was built without a compiler; it says so on the console unless told.
        os.environ.setdefault("RPY2_CFFI_MODE", "ABI")
    libraries = os.environ.get("LD_LIBRARY_PATH")
    try:
        import rpy2.rinterface as ri
    except (AttributeError, ImportError, OSError, ValueError) as error:
        raise PackageMissing(
            f"{_BRIDGE} needs `R`, which rpy2 cannot load ({error}): install it (Debian: apt "
            f"install r-base-core); if it is there, rpy2 does not fit it: {_INSTALL}"
        ) from error
    with interruptible():
        ri.initr()
    # What rpy2 set is of no use here, and processes of Python would load the system's libpython.
    os.environ.pop("LD_LIBRARY_PATH", None)
    if libraries is not None:
        os.environ["LD_LIBRARY_PATH"] = libraries
    # Later, with half of the interpreter gone, rpy2 cannot release them.
    atexit.register(callback.cache_clear)
    return ri


def r_function(name: str) -> Any:
    """A function of the R package that is not exported."""
    ri = rinterface()
    find = ri.baseenv["requireNamespace"]
    if not find(ri.StrSexpVector(["glfsbio"]), quietly=ri.BoolSexpVector([True]))[0]:
        paths = ", ".join(ri.baseenv[".libPaths"]())
        raise PackageMissing(
            f"{_BRIDGE} needs the R package `glfsbio`, which is not in the libraries of this R "
            f"({paths}): in a copy of the glfs_bio repository run R CMD INSTALL r_bridge/glfsbio"
        )
    return ri.baseenv["asNamespace"](ri.StrSexpVector(["glfsbio"]))[name]


@functools.cache
def callback(function: Callable[..., Any]) -> Any:
    """An R function that calls a Python one; without a reference to it R would abort."""
    return rinterface().rternalize(function)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt here.

    Afterwards handlers are as they were, whoever set them: Python's, and below it R's own.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    system = ctypes.pythonapi
    below = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_int)(("PyOS_getsig", system))
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    handler, address = signal.getsignal(signal.SIGINT), below(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        prototype(("PyOS_setsig", system))(signal.SIGINT, address)


def can_fork() -> bool:
    """Whether processes can be forked here; on macOS they may crash."""
    return "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"


class Forked(ParallelBackendBase):  # type: ignore[misc]
    """A pool of forked processes that lives as long as one call of joblib.

    Its own start Python and import everything anew: beside R, that takes longer than most
    selections, and R ends without ending them.
    """

    supports_retrieve_callback = True

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """As many as R has workers."""
        return n_jobs or 1

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        """Start the pool."""
        self.parallel = parallel
        number = self.effective_n_jobs(n_jobs)
        if number == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        # Ctrl-C reaches all processes of a terminal: that of R ends its workers.
        self.pool = ProcessPoolExecutor(
            number,
            mp_context=multiprocessing.get_context("fork"),
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        )
        return number

    def submit(
        self, func: Callable[[], Any], callback: Callable[[Future[Any]], Any] | None = None
    ) -> Future[Any]:
        """Hand one task to a worker."""
        future = self.pool.submit(func)
        if callback is not None:
            future.add_done_callback(callback)
        return future

    #: Its name before joblib 1.5.
    apply_async = submit

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """What a task returned."""
        return out.result()

    def terminate(self) -> None:
        """End the pool."""
        self.pool.shutdown(cancel_futures=True)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End the pool after an exception, whatever its workers are at."""
        for process in list((getattr(self.pool, "_processes", None) or {}).values()):
            process.kill()
