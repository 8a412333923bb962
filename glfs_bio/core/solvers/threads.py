"""How many threads the linear algebra of a problem is worth."""

from __future__ import annotations

from dataclasses import dataclass

from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Rules:
    """Up to this rank, and so many numbers, threads cost more time than they save, by trial."""

    rank: int = 512
    numbers: int = 2_000_000


RULES = Rules()


def few_threads(rank: int, n_genes: int) -> threadpool_limits:
    """Context with one thread where matrices are small, and all threads elsewhere."""
    small = rank <= RULES.rank and rank * n_genes <= RULES.numbers
    return threadpool_limits(1 if small else None, user_api="blas")
