"""Linear limits on a panel: ``lower ≤ P s ≤ upper`` for the panel s, with P ≥ 0.

An upper limit (a budget, a sum of counts, genes of one family) that holds for a panel holds for
every part of it.  A lower limit (genes of one type) holds for whole panels.  Whether a part of a
panel can still be completed is a small integer programme, which HiGHS solves exactly.
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
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from .._typing import Array, Index

    Mask = NDArray[np.bool_]

#: A sum of floating-point numbers is within its limit up to this share of it.
_ROUNDING = 1e-9
#: HiGHS lets a row be over its limit by 1e-6; where it uses that, it is asked again for less.
_TIGHTER = 1.0 - 1e-5
#: What the number of genes is called where it is a limit too.
_SIZE = "n_genes"
#: Rows that are named one by one where they conflict; of more, their limits are.
_MOST_NAMED = 2
#: Nodes of the programme that says how large a panel can be.
_NODES = 500


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
    limits: tuple[str, ...]
    names: tuple[str, ...]
    #: Factor of what each gene gains when genes are chosen, shape (n_genes,)
    priority: Array
    #: Whether a budget is among the limits, which says how large a panel may be
    budget: bool = False

    @classmethod
    def of(
        cls,
        rows: Iterable[Row],
        n_genes: int,
        priority: Array | None = None,
        *,
        budget: bool = False,
    ) -> Rows:
        """From single rows over `n_genes` genes."""
        all_rows = list(rows)
        shape = (len(all_rows), n_genes)
        row_of_value = np.repeat(np.arange(len(all_rows)), [len(row.genes) for row in all_rows])
        genes = np.concatenate([np.empty(0, dtype=np.intp), *(row.genes for row in all_rows)])
        values = np.concatenate([np.empty(0), *(row.values for row in all_rows)])
        return cls(
            matrix=sparse.csr_array((values, (row_of_value, genes)), shape=shape),
            lower=np.array([row.lower for row in all_rows]),
            upper=np.array([row.upper for row in all_rows]),
            limits=tuple(row.limit for row in all_rows),
            names=tuple(row.name for row in all_rows),
            priority=np.ones(n_genes) if priority is None else priority,
            budget=budget,
        )

    @property
    def n_genes(self) -> int:
        """Number of genes."""
        return len(self.priority)

    @cached_property
    def most(self) -> Array:
        """Upper limits, with room for rounding."""
        return self.upper * (1.0 + _ROUNDING)

    @cached_property
    def _dense(self) -> Array:
        """P, of which columns are looked at one at a time."""
        return np.asfortranarray(self.matrix.toarray())

    @cached_property
    def _row_of_value(self) -> Index:
        """The row of every stored value."""
        return np.repeat(np.arange(len(self.upper)), np.diff(self.matrix.indptr))

    def with_rows(self, rows: Iterable[Row]) -> Rows:
        """Return the same limits and more."""
        more = Rows.of(rows, self.n_genes)
        return replace(
            self,
            matrix=sparse.csr_array(sparse.vstack([self.matrix, more.matrix], format="csr")),
            lower=np.append(self.lower, more.lower),
            upper=np.append(self.upper, more.upper),
            limits=self.limits + more.limits,
            names=self.names + more.names,
        )

    def of_size(self, n_genes: int) -> Rows:
        """Return the same limits, and at least so many genes."""
        genes, ones = np.arange(self.n_genes), np.ones(self.n_genes)
        return self.with_rows([Row(_SIZE, _SIZE, genes, ones, lower=float(n_genes))])

    @property
    def packing(self) -> Rows:
        """The upper limits alone."""
        return self.subset(np.flatnonzero(np.isfinite(self.upper)))

    @property
    def allowed(self) -> Mask:
        """Whether each gene could be in a panel, on its own, shape (n_genes,)."""
        return self.within(np.zeros(len(self.upper)))

    @cached_property
    def use(self) -> Array:
        """Largest share of an upper limit that each gene takes, where genes take unequal ones."""
        shares = np.zeros(self.n_genes)
        for row in np.flatnonzero(np.isfinite(self.upper) & (self.upper > 0)):
            stored = slice(*self.matrix.indptr[row : row + 2])
            genes, values = self.matrix.indices[stored], self.matrix.data[stored]
            if len(values) and np.ptp(values) > _ROUNDING * values.max():
                shares[genes] = np.maximum(shares[genes], values / self.upper[row])
        return shares

    def sums(self, genes: Index | Sequence[int]) -> Array:
        """``P s`` for some genes, shape (n_rows,)."""
        return np.asarray(self.columns(genes).sum(axis=1))

    def columns(self, genes: Index | Sequence[int]) -> Array:
        """P of some genes, shape (n_rows, n)."""
        return self._dense[:, np.asarray(genes, dtype=np.intp)]

    def within(self, used: Array) -> Mask:
        """Whether each gene fits beside genes that sum to `used`, shape (n_genes,)."""
        too_much = self.matrix.data > (self.most - used)[self._row_of_value]
        fits = np.ones(self.n_genes, dtype=bool)
        fits[self.matrix.indices[too_much]] = False
        return fits

    def hold(self, panel: Array) -> bool:
        """Whether a panel, genes in parts or whole, is within all limits."""
        sums = self.matrix @ panel
        return bool((sums <= self.most).all() and (sums >= self.lower).all())

    def meets_lower(self, used: Array) -> Mask:
        """Whether each gene meets every lower limit beside genes that sum to `used`."""
        unmet = np.flatnonzero(used < self.lower)
        least = (self.lower - used)[unmet, None]
        return np.asarray((self._dense[unmet] >= least).all(axis=0))

    def met(self, order: Sequence[int]) -> int:
        """How many of the first genes meet all lower limits; all of them do together."""
        rows = np.flatnonzero(self.lower > 0)
        sums = np.cumsum(self.matrix[rows][:, np.asarray(order, dtype=np.intp)].toarray(), axis=1)
        return int((sums < self.lower[rows, None]).any(axis=0).sum()) + bool(len(rows))

    def refused(self, used: Array) -> Index:
        """How many genes each row keeps out beside genes that sum to `used`, shape (n_rows,)."""
        too_much = self.matrix.data > (self.most - used)[self._row_of_value]
        return np.bincount(self._row_of_value[too_much], minlength=len(self.upper))

    def no_better(self, gene: int, used: Array) -> Mask:
        """Whether each gene serves no lower limit better than one, and no upper limit.

        Beside genes that sum to `used`: it adds no more to any lower limit that is not met, and no
        less to any upper one.
        """
        uses = (self.sums([gene]) > 0) & np.isfinite(self.upper)
        unmet, packed = self._dense[used < self.lower], self._dense[uses]
        less_met = (unmet <= unmet[:, [gene]]).all(axis=0)
        return np.asarray(less_met & (packed >= packed[:, [gene]]).all(axis=0))

    def one_of_each(self, alike: Mapping[str, Index], include: Index) -> Rows:
        """Return the same limits, with one gene at most of each of some sets, or those of
        `include`.
        """
        limit, rows = "nearly_identical", []
        for name, genes in alike.items():
            upper = max(1.0, float(np.isin(genes, include).sum()))
            rows.append(Row(limit, f"{limit} ({name})", genes, np.ones(len(genes)), upper=upper))
        return self.with_rows(rows) if rows else self

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
        return replace(
            self,
            matrix=self.matrix[rows],
            lower=self.lower[rows],
            upper=self.upper[rows],
            limits=tuple(self.limits[row] for row in rows),
            names=tuple(self.names[row] for row in rows),
        )

    def remaining(self, used: Array) -> Rows:
        """Return what the limits leave beside genes that sum to `used`."""
        lower, upper = np.maximum(self.lower - used, 0.0), np.maximum(self.most - used, 0.0)
        return replace(self, lower=lower, upper=upper)

    def completion(self, used: Array, can_enter: Mask, n_more: int) -> list[int] | None:
        """Return the fewest more genes that meet all lower limits; None where `n_more` are too few.

        `used` is ``P s`` of the genes that are in, shape (n_rows,), `can_enter` says which others
        may be, shape (n_genes,).
        """
        unmet = np.flatnonzero(used < self.lower)
        if not len(unmet):
            return []
        counts = self._dense[unmet].sum(axis=0) > 0
        genes = np.flatnonzero(can_enter & self.within(used) & counts)
        if not len(genes) or n_more < 1:
            return None
        if (self._dense[np.ix_(unmet, genes)] == 1.0).all():
            needed = int(np.ceil((self.lower - used)[unmet].max()))
            chosen = self._cheapest(used, genes, needed)
            if chosen is None or needed > n_more:
                return None
            if self._all_hold(used, chosen):
                return list(map(int, chosen))
        shares = self._shares_of_room(used, genes)  # of as many genes those that leave most room
        costs = np.ones(len(genes)) + shares / (1.0 + shares.max()) / (2.0 * len(genes))
        for share in (1.0, _TIGHTER):
            solution = self._solved(costs, used, genes, n_more, share)
            if solution.x is None:
                return None
            chosen = genes[solution.x > 0.5]
            if self._all_hold(used, chosen):
                return list(map(int, chosen))
        return None

    def cheapest(self, used: Array, can_enter: Mask, n_more: int) -> list[int] | None:
        """Return so many more genes that take least of the limits; None where they break one."""
        chosen = self._cheapest(used, np.flatnonzero(can_enter & self.within(used)), n_more)
        return chosen.tolist() if chosen is not None and self._all_hold(used, chosen) else None

    def largest(self, used: Array, can_enter: Mask, n_more: int) -> tuple[list[int], int]:
        """Return as many more genes as a panel can hold, at most `n_more`, and how many could be.

        Its arguments are those of :meth:`completion`.  There are fewer genes than could be only
        where the programme is not solved within :data:`_NODES`.
        """
        genes = np.flatnonzero(can_enter & self.within(used))
        if not len(genes) or n_more < 1:
            return [], 0
        most = min(n_more, len(genes))
        while (chosen := self._cheapest(used, genes, most)) is None:
            most -= 1
        if self._all_hold(used, chosen):
            return chosen.tolist(), most
        shares = self._shares_of_room(used, genes)
        costs = -1.0 + shares / (1.0 + shares.max()) / (2.0 * len(genes))
        for share in (1.0, _TIGHTER):
            solution = self._solved(costs, used, genes, n_more, share, node_limit=_NODES)
            if share == 1.0 and solution.mip_dual_bound is not None:  # costs are below ½
                most = min(most, int(np.floor(0.5 - solution.mip_dual_bound)))
            if solution.x is None:
                break
            chosen = genes[solution.x > 0.5]
            if self._all_hold(used, chosen):
                return chosen.tolist(), max(most, len(chosen))
        return [], most

    def _all_hold(self, used: Array, chosen: Index) -> bool:
        """Return whether all limits hold with some genes beside those that sum to `used`."""
        sums = used + self.sums(chosen)
        return bool((sums <= self.most).all() and (sums >= self.lower).all())

    def _cheapest(self, used: Array, genes: Index, n: int) -> Index | None:
        """Return so many genes that take least of the room; None where no such panel can be."""
        if n > len(genes):
            return None
        binding = self._binding(used, genes)
        least = np.sort(self._dense[np.ix_(binding, genes)], axis=1)[:, :n].sum(axis=1)
        if (least > (self.most - used)[binding]).any():
            return None
        shares = self._shares_of_room(used, genes)
        return np.asarray(genes[np.argsort(shares, kind="stable")[:n]])

    def _binding(self, used: Array, genes: Index) -> Index:
        """Return the rows that cannot hold all of some genes."""
        room = self.most - used
        return np.flatnonzero((self._dense[:, genes].sum(axis=1) > room) & np.isfinite(room))

    def _shares_of_room(self, used: Array, genes: Index) -> Array:
        """Return the largest share of what upper limits leave that each gene takes."""
        binding = self._binding(used, genes)
        room = (self.most - used)[binding, None]
        return np.asarray((self._dense[np.ix_(binding, genes)] / room).max(axis=0, initial=0.0))

    def _solved(
        self, costs: Array, used: Array, genes: Index, n_more: int, share: float, **options: Any
    ) -> Any:
        """Return the solution of least costs among some genes, within a share of the room."""
        unmet, binding = np.flatnonzero(used < self.lower), self._binding(used, genes)
        ones = np.ones(len(genes))
        conditions = []
        if len(unmet):
            met = self._dense[np.ix_(unmet, genes)]
            conditions.append(LinearConstraint(met, lb=(self.lower - used)[unmet]))
        conditions.append(LinearConstraint(ones[None], ub=n_more))
        if len(binding):
            packed = self._dense[np.ix_(binding, genes)] / (self.most - used)[binding, None]
            conditions.append(LinearConstraint(packed, ub=share))
        bounds = Bounds(0, 1)
        return milp(costs, integrality=ones, bounds=bounds, constraints=conditions, options=options)


def check(rows: Rows, n_genes: int | None, *, include: Index, candidates: Index) -> None:
    """Refuse limits that no panel can meet (`n_genes` None: of any size), and say which of them
    conflict: genes of `include` over a limit, no gene that fits, or the limits that no panel meets
    together.
    """
    used = rows.sums(include)
    over = np.flatnonzero(used > rows.most)
    if len(over):
        row = over[0]
        raise InvalidValue(
            f"`include` has genes that sum to {used[row]:g}, above the limit {rows.names[row]}: "
            "include fewer or other genes, or raise the limit"
        )
    others_allowed = np.setdiff1d(candidates, include)
    rows_of_rest = rows.only(others_allowed)
    if not len(include) and not rows_of_rest.allowed.any():
        raise InvalidValue(
            f"`limits` leave no candidate gene ({', '.join(dict.fromkeys(rows.limits))}): relax "
            "them"
        )
    n_others = len(others_allowed)
    n_more = n_others if n_genes is None else n_genes - len(include)

    def n_needed(subset: Sequence[int], n_most: int) -> int | None:
        chosen = np.asarray(subset, dtype=np.intp)
        can_enter = np.ones(n_others, dtype=bool)
        genes = rows_of_rest.subset(chosen).completion(used[chosen], can_enter, n_most)
        return None if genes is None else len(genes)

    def conflict(subset: Sequence[int]) -> bool:
        return n_needed(subset, n_more) is None

    if not conflict(range(len(rows.names))):
        return
    blamed = smallest_conflict(rows.names, conflict)
    names = [rows.names[row] for row in blamed]
    if len(blamed) > _MOST_NAMED:
        blamed = smallest_conflict(rows.limits, conflict)
        names = list(dict.fromkeys(rows.limits[row] for row in blamed))
    needed = n_needed(blamed, n_others)
    if needed is not None and n_genes is not None:
        raise InvalidValue(
            f"`limits` are infeasible with `n_genes={short(n_genes)}`, since {_joined(names)} need "
            f"at least {needed + len(include)} genes: relax one of them, or ask for more genes"
        )
    raise InvalidValue(
        f"`limits` are infeasible for the candidate genes: {_joined(names)}: relax one of them"
    )


def smallest_conflict(labels: Sequence[str], conflict: Callable[[list[int]], bool]) -> list[int]:
    """Return the rows that conflict, without each label that no conflict needs."""
    blamed = list(range(len(labels)))
    for label in dict.fromkeys(labels):
        fewer = [row for row in blamed if labels[row] != label]
        if conflict(fewer):
            blamed = fewer
    return blamed


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
