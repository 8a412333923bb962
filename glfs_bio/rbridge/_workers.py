"""Workers that are forked, for joblib.

Its own start Python and import everything anew: beside R, that takes longer than most selections,
and R ends without ending them.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from joblib.parallel import FallbackToBackend, ParallelBackendBase, SequentialBackend

if TYPE_CHECKING:
    from collections.abc import Callable


def can_fork() -> bool:
    """Whether processes can be forked here; on macOS they may crash."""
    return "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"


class Forked(ParallelBackendBase):  # type: ignore[misc]
    """A pool of forked processes that lives as long as one call of joblib."""

    supports_retrieve_callback = True
    supports_return_generator = True
    pool: ProcessPoolExecutor

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """As many as asked for; −1: one a core."""
        if n_jobs is None:
            return 1
        return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)

    def configure(self, n_jobs: int = 1, parallel: Any = None, **_: Any) -> int:
        """Start the pool."""
        self.parallel = parallel
        number = self.effective_n_jobs(n_jobs)
        if number == 1:
            raise FallbackToBackend(SequentialBackend(nesting_level=self.nesting_level))
        self.pool = ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("fork"))
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
        """End the pool after an exception."""
        self.terminate()
        if ensure_ready:
            self.configure(self.parallel.n_jobs, self.parallel)
