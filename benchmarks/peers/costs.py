"""Processor time and peak memory of a method of this environment in a process of its own.

    python benchmarks/peers/costs.py METHOD CELLS

The peers run in processes of their own: so that both can be compared, these figures too include
the start of Python, the imports, and reading the cells.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anndata as ad

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "panels"))
import cache
from compared import COMPARED, SIZES, Method, say
from peers import limits

if TYPE_CHECKING:
    from cases import Case

SECONDS = 3600


@dataclass(frozen=True)
class Alone:
    """What the figures come from, for the cache."""

    method: Method

    @property
    def fingerprint(self) -> str:
        """Changes with the method."""
        return self.method.fingerprint

    @property
    def group(self) -> str:
        """That of the method."""
        return self.method.group


def stored(name: str, case: Case) -> dict:
    """``{"seconds", "memory"}``, ``{"error"}``, or nothing."""
    return _kept(name, case).get(max(SIZES))


def measure(name: str, case: Case) -> None:
    """Select the largest panel in a new process, where that is not stored."""
    kept = _kept(name, case)
    if kept.has(max(SIZES)):
        return
    with tempfile.TemporaryDirectory() as folder:
        cells = Path(folder) / "cells.h5ad"
        case.adata.write_h5ad(cells)
        run = limits.run([sys.executable, __file__, name, str(cells)], folder, SECONDS)
    found = {"error": run.error} if run.error else {"seconds": run.seconds, "memory": run.memory}
    kept.put(max(SIZES), **found)
    say(f"{case.name}, {name} alone: {found}")


def _kept(name: str, case: Case) -> cache.Selections:
    return cache.kept(f"{name} alone", case.name, Alone(COMPARED[name]))


if __name__ == "__main__":
    method = COMPARED[sys.argv[1]]
    method.select(method.prepare(ad.read_h5ad(sys.argv[2])), max(SIZES))
