"""Whether limits on a panel can hold together, and which of them conflict."""

from __future__ import annotations

from itertools import combinations, islice, product
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from .constraints import Row, Rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._typing import Array, Index

__all__ = ["Row", "Rows", "check"]

#: Single rows, and pairs of them, that are tried to say which are to blame.
_MOST_SETS = 400


def check(rows: Rows, n_genes: int | None, *, include: Index, candidates: Index) -> None:
    """Refuse limits that no panel can meet, and say which of them conflict.

    Parameters
    ----------
    rows
        The limits, over all genes of the matrix.
    n_genes
        Size of the panel; None: any.
    include
        Genes that are in from the start.
    candidates
        Genes that may be in, those of `include` among them.

    Raises
    ------
    ValueError
        The genes of `include` are over a limit; no gene fits; or the one limit, the two or more,
        that no panel meets together.
    """
    used = rows.sums(include)
    over = np.flatnonzero(used > rows.most)
    if len(over):
        row = over[0]
        msg = (
            f"The genes of include sum to {used[row]:g} in {rows.names[row]}, which allows "
            f"{rows.upper[row]:g} at most: include fewer or other genes, or raise the limit."
        )
        raise ValueError(msg)
    free = np.setdiff1d(candidates, include)
    if not len(include) and not rows.only(free).allowed.any():
        msg = f"limits leave no gene to choose from: {', '.join(dict.fromkeys(rows.limits))}."
        raise ValueError(msg)
    places = len(free) if n_genes is None else n_genes - len(include)
    left = _Left(rows.only(free), used, places)
    if left.fewest(range(len(rows.names)), places) is None:
        left.refuse(n_genes)


class _Left:
    """What limits leave to the genes to choose from.

    Parameters
    ----------
    rows
        The limits, over the genes to choose from.
    used
        What the genes sum to that are in, shape (n_rows,).
    places
        For at most so many genes.
    """

    def __init__(self, rows: Rows, used: Array, places: int) -> None:
        self.rows, self.used, self.places = rows, used, places

    def fewest(self, rows: Sequence[int] | range, places: int) -> int | None:
        """The fewest genes that some limits need; None where they cannot hold together."""
        chosen = np.asarray(rows, dtype=np.intp)
        every = np.ones(self.rows.n_genes, dtype=bool)
        rest = self.rows.some(chosen).completion(self.used[chosen], every, places)
        return None if rest is None else len(rest)

    def refuse(self, n_genes: int | None) -> NoReturn:
        """Say which limits conflict."""
        rows, blamed = self._conflict()
        needed = self.fewest(rows, self.rows.n_genes)
        if needed is not None and n_genes is not None:
            taken = n_genes - self.places
            msg = (
                f"limits: {_and(blamed)} and n_genes={n_genes} conflict: at least "
                f"{needed + taken} genes are needed"
            )
        elif len(blamed) == 1:
            msg = f"limits: {blamed[0]} cannot be met by the genes to choose from"
        else:
            msg = f"limits: {_and(blamed)} conflict: no panel meets them together"
        msg = f"{msg}. Relax one of them."
        raise ValueError(msg)

    def _conflict(self) -> tuple[list[int], list[str]]:
        """Rows that cannot hold together, as few as are found, and what to call them."""
        groups: dict[str, list[int]] = {}
        for row, limit in enumerate(self.rows.limits):
            groups.setdefault(limit, []).append(row)
        for limit, rows in groups.items():
            if self._fails(rows):
                if self.fewest(rows, self.rows.n_genes) is not None:
                    return rows, [limit]
                few = self._few([[row] for row in rows]) or self._few(combinations(rows, 2))
                return few or (rows, [limit])
        for first, second in combinations(groups, 2):
            if self._fails(both := groups[first] + groups[second]):
                few = self._few(product(groups[first], groups[second]))
                return few or (both, [first, second])
        return list(range(len(self.rows.limits))), list(groups)

    def _few(self, sets: Iterable[Sequence[int]]) -> tuple[list[int], list[str]] | None:
        """The first of some sets of rows that cannot hold."""
        for rows in islice(sets, _MOST_SETS):
            if self._fails(rows):
                return list(rows), [self.rows.names[row] for row in rows]
        return None

    def _fails(self, rows: Sequence[int]) -> bool:
        return self.fewest(rows, self.places) is None


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
