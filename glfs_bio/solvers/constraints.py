"""Linear limits on a panel: ``lower ≤ P s ≤ upper`` for the panel s, with P ≥ 0.

An upper limit (a budget, genes of one family) that holds for a panel holds for every part of it, a
lower limit (genes of one type) for whole panels.  HiGHS finds the panel within them that is worth
most, by a number for each gene.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from ..errors import InvalidValue, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index

    Mask = NDArray[np.bool_]

#: A sum of floating-point numbers is within its limit up to this share of it.
_ROUNDING = 1e-9
#: HiGHS lets a row be over its limit by 1e-6; where it uses that, it is asked again for less.
_TIGHTER = 1.0 - 1e-5
#: Rows that are named one by one where they conflict; of more, their limits are.
_MOST_NAMED = 2
#: Where the best vertex is searched: how near to the best it is, and nodes of the programme.
_ROUGHLY = {"mip_rel_gap": 1e-2, "node_limit": 500}


#: Fields of :class:`Rows` that have an entry per row.
_OF_ROWS = ("lower", "upper", "limits", "names")


class Row(NamedTuple):
    """One limit on a sum over the genes of a panel."""

    #: The limit that asks for it, and what this row is called in messages
    limit: str
    name: str
    #: What genes count, and how much, > 0
    genes: Index
    values: Array
    #: Of the sum
    lower: float = 0.0
    upper: float = np.inf


@dataclass(frozen=True)
class Rows:
    """Limits on a panel, all linear."""

    #: P ≥ 0, shape (n_rows, n_genes), sparse
    matrix: sparse.csr_array
    #: Of ``P s``, shape (n_rows,); 0 and ∞ where there is no limit
    lower: Array
    upper: Array
    #: Of every row: the limit that asks for it, and what it is called in messages
    limits: NDArray[np.object_]
    names: NDArray[np.object_]
    #: Factor of what each gene gains when genes are chosen, shape (n_genes,)
    priority: Array
    #: Whether a budget is among the limits, which says how large a panel may be
    budget: bool = False

    @classmethod
    def of(
        cls, rows: Iterable[Row], n_genes: int, priority: Array | None = None, budget: bool = False
    ) -> Rows:
        """From single rows over `n_genes` genes."""
        columns = tuple(zip(*rows, strict=True)) or ((),) * len(Row._fields)
        limits, names, genes, values, lower, upper = columns
        row_of_value = np.repeat(np.arange(len(limits)), [len(of_row) for of_row in genes])
        places = row_of_value, np.concatenate([np.empty(0, dtype=np.intp), *genes])
        stored = np.concatenate([np.empty(0), *values]), places
        matrix = sparse.csr_array(stored, shape=(len(limits), n_genes))
        priority = np.ones(n_genes) if priority is None else priority
        texts, bounds = np.array([limits, names], dtype=object), np.array([lower, upper])
        return cls(matrix, bounds[0], bounds[1], texts[0], texts[1], priority, budget)

    @property
    def n_genes(self) -> int:
        """Number of genes."""
        return len(self.priority)

    @cached_property
    def most(self) -> Array:
        """Upper limits, with room for rounding."""
        return self.upper * (1.0 + _ROUNDING)

    @cached_property
    def _row_of_value(self) -> Index:
        """The row of every stored value."""
        return np.repeat(np.arange(len(self.upper)), np.diff(self.matrix.indptr))

    def with_rows(self, more: Rows) -> Rows:
        """Return the same limits and more."""
        matrix = sparse.csr_array(sparse.vstack([self.matrix, more.matrix], format="csr"))
        pairs = {name: (getattr(self, name), getattr(more, name)) for name in _OF_ROWS}
        of_rows: dict[str, Any] = {name: np.concatenate(both) for name, both in pairs.items()}
        return replace(self, matrix=matrix, **of_rows)

    @property
    def allowed(self) -> Mask:
        """Whether each gene could be in a panel, on its own, shape (n_genes,)."""
        return self.within(np.zeros(len(self.upper)))

    def sums(self, genes: Index | Sequence[int]) -> Array:
        """``P s`` for some genes, shape (n_rows,)."""
        genes = np.asarray(genes, dtype=np.intp)
        return np.asarray(self.matrix @ np.bincount(genes, minlength=self.n_genes))

    def within(self, used: Array) -> Mask:
        """Whether each gene fits beside genes that sum to `used`, shape (n_genes,)."""
        fits = np.ones(self.n_genes, dtype=bool)
        fits[self.matrix.indices[self._too_much(used)]] = False
        return fits

    def hold(self, panel: Array) -> bool:
        """Whether a panel, genes in parts or whole, is within all limits."""
        sums = self.matrix @ panel
        return bool((sums <= self.most).all() and (sums >= self.lower).all())

    def meets_lower(self, used: Array) -> Mask:
        """Whether each gene meets every lower limit beside genes that sum to `used`."""
        unmet = np.flatnonzero(used < self.lower)
        least = (self.lower - used)[unmet, None]
        return np.asarray((self.matrix[unmet].toarray() >= least).all(axis=0))

    def met(self, order: Sequence[int]) -> int:
        """How many of the first genes meet all lower limits; all of them do together."""
        rows = np.flatnonzero(self.lower > 0)
        sums = np.cumsum(self.matrix[rows][:, np.asarray(order, dtype=np.intp)].toarray(), axis=1)
        return int((sums < self.lower[rows, None]).any(axis=0).sum()) + bool(len(rows))

    def refused(self, used: Array) -> Index:
        """How many genes each row keeps out beside genes that sum to `used`, shape (n_rows,)."""
        rows = self._row_of_value[self._too_much(used)]
        return np.bincount(rows, minlength=len(self.upper))

    def _too_much(self, used: Array) -> Mask:
        """Whether each stored value is above what is left of its limit."""
        return np.asarray(self.matrix.data > (self.most - used)[self._row_of_value])

    def only(self, genes: Index) -> Rows:
        """Return the same limits on some of the genes."""
        return replace(self, matrix=self.matrix[:, genes], priority=self.priority[genes])

    def sparing(self, genes: Index) -> Rows:
        """Return the same limits, without those that rule out one of some genes on its own."""
        matrix = self.matrix.tolil()
        matrix[np.ix_(np.flatnonzero(self.upper == 0), genes)] = 0.0
        return replace(self, matrix=sparse.csr_array(matrix))

    def subset(self, rows: Sequence[int] | Index) -> Rows:
        """Return some of the limits, by their rows."""
        rows = np.asarray(rows, dtype=np.intp)
        of_rows: dict[str, Any] = {name: getattr(self, name)[rows] for name in _OF_ROWS}
        return replace(self, matrix=self.matrix[rows], **of_rows)

    def remaining(self, inside: Index) -> Rows:
        """Return what the limits leave beside some genes."""
        used = self.sums(inside)
        lower, upper = np.maximum(self.lower - used, 0.0), np.maximum(self.most - used, 0.0)
        return replace(self, lower=lower, upper=upper)

    @property
    def largest_size(self) -> int:
        """Number of genes of which each upper limit by itself lets no more in."""
        sums = np.cumsum(np.sort(self.matrix.toarray(), axis=1), axis=1)
        return int((sums <= self.most[:, None]).sum(axis=1).min(initial=self.n_genes))

    def smallest(self) -> Index | None:
        """Return the genes of the smallest panel within the limits; None: there is none."""
        if not self.lower.any():
            return np.empty(0, dtype=np.intp)
        return self.best_vertex(-np.ones(self.n_genes), self.n_genes, {})

    def best_vertex(
        self, worth: Array, size: int, options: Mapping[str, float] = _ROUGHLY
    ) -> Index | None:
        """Return about the best panel of at most `size` genes, by what each is worth, or None."""
        packs, covers = np.flatnonzero(np.isfinite(self.upper)), np.flatnonzero(self.lower > 0)
        unit = np.where(self.upper[packs] > 0, self.upper[packs], 1.0)
        packed = self.matrix[packs] / unit[:, None]
        for share in (1.0, _TIGHTER):
            solution = milp(
                -worth,
                integrality=np.ones(self.n_genes),
                bounds=Bounds(0, self.allowed.astype(float)),
                constraints=[
                    LinearConstraint(packed, ub=share * self.upper[packs] / unit),
                    LinearConstraint(self.matrix[covers], lb=self.lower[covers]),
                    LinearConstraint(np.ones((1, self.n_genes)), ub=size),
                ],
                options=options,
            )
            if solution.x is None:
                return None
            is_in = solution.x > 0.5
            if self.hold(is_in.astype(float)):
                return np.flatnonzero(is_in)
        return None


def check(rows: Rows, n_genes: int | None, *, include: Index, candidates: Index) -> None:
    """Refuse limits that no panel can meet (`n_genes` None: of any size), and name a conflict."""
    used = rows.sums(include)
    over = np.flatnonzero(used > rows.most)
    if len(over):
        row = over[0]
        raise InvalidValue(f"`include` sums to {used[row]:g}, above {rows.names[row]}: raise it")
    candidates = np.setdiff1d(candidates, include)
    if not len(include) and not rows.allowed[candidates].any():
        limits = ", ".join(dict.fromkeys(rows.limits))
        raise InvalidValue(f"`limits` leave no candidate gene ({limits}): relax them")
    rows_of_rest = rows.remaining(include).only(candidates)
    most = len(candidates) if n_genes is None else n_genes - len(include)

    def n_needed(subset: Sequence[int]) -> float:
        smallest = rows_of_rest.subset(subset).smallest()
        return np.inf if smallest is None else len(smallest)

    if n_needed(range(len(rows.names))) <= most:
        return
    for labels in (rows.names, rows.limits):  # limits as a whole, where more rows conflict
        blamed = list(range(len(labels)))
        for label in dict.fromkeys(labels):  # without each that no conflict needs
            fewer = [row for row in blamed if labels[row] != label]
            if n_needed(fewer) > most:
                blamed = fewer
        if len(blamed) <= _MOST_NAMED:
            break
    *names, last = dict.fromkeys(labels[row] for row in blamed)
    conflict = f"{', '.join(names)} and {last}" if names else last
    needed = n_needed(blamed)
    if np.isinf(needed) or n_genes is None:
        raise InvalidValue(f"`limits` are infeasible for the candidates: {conflict}: relax one")
    need = f"{conflict} need at least {needed + len(include):g} genes"
    text = f"`limits` are infeasible with `n_genes={short(n_genes)}`, since {need}"
    raise InvalidValue(f"{text}: relax one of them, or ask for more genes")
