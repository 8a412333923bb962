"""Threads: those of BLAS, OpenMP and numba, and the package's own.

OpenMP in a forked process waits for ever for threads of the parent: work has one thread there.  The
package imports this module first, so that every process that is forked later is known.

Results of the package's own threads do not depend on how many there are.  BLAS has one, except for
large matrices: several wait for one another, and rounding depends on their number.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import chain, islice, starmap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from threadpoolctl import ThreadpoolController

_Result = TypeVar("_Result")
_THREAD = threading.local()

#: Compared with, rather than os.register_at_fork(): R forks (parallel::mclapply) without Python.
_IMPORTED_BY = os.getpid()


def forked() -> bool:
    """Whether this process was forked from one that had imported the package."""
    return os.getpid() != _IMPORTED_BY


@cache
def controller() -> ThreadpoolController:
    """The libraries that are loaded, searched for once: it takes 10 ms."""
    from threadpoolctl import ThreadpoolController  # `glfs-bio --help` should not wait for it

    return ThreadpoolController()


#: Who is within :func:`one_thread_of_blas`, and how to leave; one for the process.
_BLAS = SimpleNamespace(lock=threading.Lock(), process=os.getpid(), inside=0, restore=lambda: None)


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """BLAS has one thread, whose number is the process's, while any thread of it wants that."""
    if _BLAS.process != os.getpid():  # another thread may have held the lock at the fork
        _BLAS.lock, _BLAS.process, _BLAS.inside = threading.Lock(), os.getpid(), 0
    with _BLAS.lock:
        if _BLAS.inside == 0:
            _BLAS.restore = controller().limit(limits=1, user_api="blas").unregister
            _give_up_control()
        _BLAS.inside += 1
    try:
        yield
    finally:
        with _BLAS.lock:
            _BLAS.inside -= 1
            if _BLAS.inside == 0:
                _BLAS.restore()
                _give_up_control()


def _give_up_control() -> None:
    """Let other threads set the number of BLAS: threadpoolctl 3.8 ignores all but the first."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread()


@contextmanager
def one_thread() -> Iterator[None]:
    """Context with one thread of BLAS, and of OpenMP in the thread that enters it."""
    with one_thread_of_blas(), controller().limit(limits=1, user_api="openmp"):
        yield


#: Up to this rank several threads of BLAS cost more time than they save, by trial.
SMALL_RANK = 1024


def few_threads(rank: int) -> AbstractContextManager[object]:
    """Context with one thread of BLAS where matrices are small or the process is forked."""
    return one_thread_of_blas() if rank <= SMALL_RANK or forked() else nullcontext()


@contextmanager
def one_thread_if_forked() -> Iterator[None]:
    """Context, or decorator, with one thread of BLAS and OpenMP in a forked process."""
    with one_thread() if forked() else nullcontext():
        yield


@cache
def end_with_parent() -> None:
    """Let a worker of joblib's end with the process that started it, whatever ends that."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        while parent is not None and os.getppid() == parent.pid:
            time.sleep(1.0)
        os._exit(1)

    if multiprocessing.current_process().name.startswith("LokyProcess"):
        threading.Thread(target=wait, daemon=True).start()


def need_numba(task: str) -> None:
    """Refuse what numba would end a forked process for: its threads cannot be started again."""
    if forked() and _numba_ran_before(os.getpid()):
        text = f"{task} needs threads of `numba`, which ran before this process was forked"
        remedy = "start the workers with `multiprocessing.get_context('spawn')`"
        raise Refusal(f"{text}, and cannot run in it: {remedy}")


@cache
def _numba_ran_before(process: int) -> bool:
    """Whether numba's OpenMP threads ran before this forked process."""
    from numba import threading_layer

    try:
        return bool(threading_layer() == "omp")
    except ValueError:  # none have run
        return False


def n_threads() -> int:
    """As many threads as OpenMP's, which users can limit; one if forked, or :func:`alone`."""
    if forked() or getattr(_THREAD, "alone", False):
        return 1
    openmp = controller().select(user_api="openmp").lib_controllers
    return min((library.num_threads for library in openmp), default=1)


def work(function: Callable[[int], object], numbers: Iterable[int]) -> None:
    """Call a function for each of several numbers, by as many threads as there may be."""
    threads = n_threads()
    list(map(function, numbers) if threads == 1 else _workers(threads).map(function, numbers))


@cache
def _workers(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: to start them takes as long as a small product."""
    return ThreadPoolExecutor(threads, "glfs_bio")


def in_order(function: Callable[..., _Result], *several: Iterable[Any]) -> Iterator[_Result]:
    """What `function` returns for items, in order; threads are ahead, by as many as there are."""
    items: Iterator[tuple[Any, ...]] = zip(*several, strict=True)
    first = list(islice(items, 2))
    if len(first) < 2:  # one item may have all threads for itself
        return starmap(function, first)
    threads = n_threads()
    all_items = chain((first.pop(0) for _ in range(2)), items)  # which keep none of them
    return starmap(function, all_items) if threads == 1 else _ahead(function, all_items, threads)


def _ahead(
    function: Callable[..., _Result], items: Iterable[tuple[Any, ...]], threads: int
) -> Iterator[_Result]:
    waiting: deque[Future[_Result]] = deque()
    with one_thread_of_blas(), ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(_alone, function, *item))
                del item  # the next is read while this one is worked on, and no longer kept
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _alone(function: Callable[..., _Result], *item: Any) -> _Result:
    with alone(), controller().limit(limits=1, user_api="openmp"):  # each thread has a number
        return function(*item)


@contextmanager
def alone() -> Iterator[None]:
    """One thread for what is called here, where other threads do the same with other data."""
    was_alone = getattr(_THREAD, "alone", False)
    _THREAD.alone = True
    try:
        yield
    finally:
        _THREAD.alone = was_alone
