"""The thread pools of BLAS, OpenMP and numba, of which a forked process has none.

``fork`` copies the thread that calls it and no other.  OpenMP in the child waits for ever for
threads that ran in the parent.  Work that would use them has one thread there.  The package imports
this module first, so that every process that is forked later is known.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from threadpoolctl import ThreadpoolController

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

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


def one_thread(of: str | None = None) -> AbstractContextManager[object]:
    """Context with one thread of all libraries, or of ``"blas"``."""
    limited: AbstractContextManager[object] = controller().limit(limits=1, user_api=of)
    return limited


@dataclass(frozen=True)
class Rules:
    """Up to this rank, and so many numbers, threads cost more time than they save, by trial."""

    rank: int = 512
    numbers: int = 2_000_000


RULES = Rules()


def few_threads(rank: int, n_genes: int) -> AbstractContextManager[object]:
    """Context with one thread of BLAS where matrices are small or the process is forked."""
    small = rank <= RULES.rank and rank * n_genes <= RULES.numbers
    limits = 1 if small or forked() else None
    limited: AbstractContextManager[object] = controller().limit(limits=limits, user_api="blas")
    return limited


def one_thread_if_forked(
    function: Callable[_Arguments, _Result],
) -> Callable[_Arguments, _Result]:
    """Let a function run with one thread of BLAS and OpenMP in a forked process."""

    @wraps(function)
    def limited(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        one: AbstractContextManager[object] = nullcontext()
        if forked():
            _numba_ran_before(os.getpid())
            one = one_thread()
        with one:
            return function(*args, **kwargs)

    return limited


def need_numba(task: str) -> None:
    """Refuse what numba would end this process for: its threads cannot be started again.

    Raises
    ------
    RuntimeError
        This process was forked after numba's OpenMP threads had run.
    """
    if forked() and _numba_ran_before(os.getpid()):
        msg = (
            f"{task} needs threads of numba, which ran before this process was forked and cannot "
            "run in it: start the workers with multiprocessing.get_context('spawn'), in R with "
            "BiocParallel::SnowParam() or parallel::makePSOCKcluster()."
        )
        raise RuntimeError(msg)


@cache
def _numba_ran_before(process: int) -> bool:
    """Whether numba's OpenMP threads ran before this forked process; asked before it runs any."""
    from numba import threading_layer

    try:
        return bool(threading_layer() == "omp")
    except ValueError:  # none have run
        return False
