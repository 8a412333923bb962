"""Parts of the package's own work on several threads, with results that do not depend on these."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, TypeVar

from . import pools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

_Result = TypeVar("_Result")
_THREAD = threading.local()


def n_threads() -> int:
    """Threads that may be used: as many as OpenMP's, which users can limit.

    One in a forked process, and within :func:`alone`.
    """
    if pools.forked() or getattr(_THREAD, "alone", False):
        return 1
    openmp = pools.controller().select(user_api="openmp").lib_controllers
    return min((library.num_threads for library in openmp), default=1)


def work(part: Callable[[int], None], parts: Iterable[int]) -> None:
    """Call `part` for each of several parts, by as many threads as there may be."""
    threads = n_threads()
    if threads == 1:
        for one in parts:
            part(one)
        return
    list(_workers(threads).map(part, parts))


@cache
def _workers(threads: int) -> ThreadPoolExecutor:
    """Threads that stay: to start them takes as long as a small product."""
    return ThreadPoolExecutor(threads, "glfs_bio")


def in_order(function: Callable[..., _Result], *several: Iterable[Any]) -> Iterator[_Result]:
    """What `function` returns for items of one or several sequences, while threads are ahead.

    Items are taken one by one, and no more of them are in memory than there are threads and two.
    """
    items: Iterator[tuple[Any, ...]] = zip(*several, strict=True)
    ahead = deque(islice(items, 2))
    several_items, threads = len(ahead) > 1, n_threads()

    def every() -> Iterator[tuple[Any, ...]]:
        while ahead:
            yield ahead.popleft()
        yield from items

    if threads == 1 or not several_items:  # one item may have all threads for itself
        yield from starmap(function, every())
        return
    waiting: deque[Future[_Result]] = deque()
    with pools.one_thread("blas"), ThreadPoolExecutor(threads) as pool:
        try:
            for item in every():
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
    with alone(), pools.one_thread("openmp"):
        return function(*item)


@contextmanager
def alone() -> Iterator[None]:
    """One thread for what is called here, where other threads do the same with other data."""
    before = getattr(_THREAD, "alone", False)
    _THREAD.alone = True
    try:
        yield
    finally:
        _THREAD.alone = before
