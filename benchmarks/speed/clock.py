"""Processor and wall time of calls."""

from __future__ import annotations

import time


class Clock:
    """Processor and wall time of some calls."""

    def __init__(self) -> None:
        self.cpu = self.seconds = 0.0
        self.calls = 0

    def __enter__(self) -> Clock:
        self._begin = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_) -> None:
        self.cpu += time.process_time() - self._begin[0]
        self.seconds += time.perf_counter() - self._begin[1]
        self.calls += 1
