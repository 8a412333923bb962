"""How many threads the linear algebra of a problem is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import pools

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


@dataclass(frozen=True)
class Rules:
    """Up to this rank, and so many numbers, threads cost more time than they save, by trial."""

    rank: int = 512
    numbers: int = 2_000_000


RULES = Rules()


def few_threads(rank: int, n_genes: int) -> AbstractContextManager[object]:
    """Context with one thread where matrices are small, and all threads elsewhere.

    In a forked process there is always one.
    """
    small = rank <= RULES.rank and rank * n_genes <= RULES.numbers
    limits = 1 if small or pools.forked() else None
    limited: AbstractContextManager[object] = pools.controller().limit(
        limits=limits, user_api="blas"
    )
    return limited
