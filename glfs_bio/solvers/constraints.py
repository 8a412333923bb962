"""Linear limits on a panel: ``lower ≤ P s ≤ upper`` for the panel s, with P ≥ 0.

An upper limit (a budget, a sum of counts, genes of one family) that holds for a panel holds for
every part of it.  A lower limit (genes of one type) holds for whole panels.  Whether a part of a
panel can still be completed is a small integer programme, which HiGHS solves exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

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
#: What the number of genes is called where it is a limit too.
_SIZE = "n_genes"
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
        places = np.repeat(np.arange(len(all_rows)), [len(row.genes) for row in all_rows])
        genes = np.concatenate([np.empty(0, dtype=np.intp), *(row.genes for row in all_rows)])
        values = np.concatenate([np.empty(0), *(row.values for row in all_rows)])
        return cls(
            matrix=sparse.csr_array((values, (places, genes)), shape=shape),
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
    def _places(self) -> Index:
        """The row of every stored value."""
        return np.repeat(np.arange(len(self.upper)), np.diff(self.matrix.indptr))

    def of_size(self, n_genes: int) -> Rows:
        """The same limits, and at least so many genes."""
        ones = sparse.csr_array(np.ones((1, self.n_genes)))
        return replace(
            self,
            matrix=sparse.vstack([self.matrix, ones], format="csr"),
            lower=np.append(self.lower, float(n_genes)),
            upper=np.append(self.upper, np.inf),
            limits=(*self.limits, _SIZE),
            names=(*self.names, _SIZE),
        )

    @property
    def packing(self) -> Rows:
        """The upper limits alone."""
        return self.some(np.flatnonzero(np.isfinite(self.upper)))

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
        too_much = self.matrix.data > (self.most - used)[self._places]
        fits = np.ones(self.n_genes, dtype=bool)
        fits[self.matrix.indices[too_much]] = False
        return fits

    def hold(self, panel: Array) -> bool:
        """Whether a panel, genes in parts or whole, is within all limits."""
        sums = self.matrix @ panel
        return bool((sums <= self.most).all() and (sums >= self.lower).all())

    def enough(self, used: Array) -> Mask:
        """Whether each gene meets every lower limit beside genes that sum to `used`."""
        short = np.flatnonzero(used < self.lower)
        if not len(short):
            return np.ones(self.n_genes, dtype=bool)
        least = (self.lower - used)[short, None]
        return np.asarray((self._dense[short] >= least).all(axis=0))

    def met(self, order: Sequence[int]) -> int:
        """How many of the first genes meet all lower limits; all of them do together."""
        rows = np.flatnonzero(self.lower > 0)
        sums = np.cumsum(self.matrix[rows][:, np.asarray(order, dtype=np.intp)].toarray(), axis=1)
        return int((sums < self.lower[rows, None]).any(axis=0).sum()) + bool(len(rows))

    def refused(self, used: Array) -> Index:
        """How many genes each row keeps out beside genes that sum to `used`, shape (n_rows,)."""
        too_much = self.matrix.data > (self.most - used)[self._places]
        return np.bincount(self._places[too_much], minlength=len(self.upper))

    def no_better(self, gene: int, used: Array) -> Mask:
        """Whether each gene serves no lower limit better than one, and no upper limit.

        Beside genes that sum to `used`: it adds no more to any lower limit that is not met, and no
        less to any upper one.
        """
        uses = (self.sums([gene]) > 0) & np.isfinite(self.upper)
        short, packed = self._dense[used < self.lower], self._dense[uses]
        less_met = (short <= short[:, [gene]]).all(axis=0)
        return np.asarray(less_met & (packed >= packed[:, [gene]]).all(axis=0))

    def apart(self, alike: Mapping[str, Index], include: Index) -> Rows:
        """The same limits, with one gene at most of each of some sets, or those of `include`."""
        if not alike:
            return self
        limit = "nearly_identical"
        more = Rows.of(
            (
                Row(limit, f"{limit} ({name})", genes, np.ones(len(genes)), upper=max(1.0, n))
                for name, genes in alike.items()
                for n in [float(np.isin(genes, include).sum())]
            ),
            self.n_genes,
        )
        return replace(
            self,
            matrix=sparse.csr_array(sparse.vstack([self.matrix, more.matrix], format="csr")),
            lower=np.append(self.lower, more.lower),
            upper=np.append(self.upper, more.upper),
            limits=self.limits + more.limits,
            names=self.names + more.names,
        )

    def only(self, genes: Index) -> Rows:
        """The same limits on some of the genes."""
        return replace(
            self,
            matrix=self.matrix[:, genes],
            priority=self.priority[genes],
        )

    def sparing(self, genes: Index) -> Rows:
        """The same limits, without those that rule out one of some genes on its own."""
        matrix = self.matrix.tolil()
        out = np.flatnonzero(self.upper == 0)
        matrix[np.ix_(out, genes)] = 0.0
        return replace(self, matrix=sparse.csr_array(matrix))

    def some(self, rows: Sequence[int] | Index) -> Rows:
        """Some of the limits."""
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
        """What the limits leave beside genes that sum to `used`."""
        return replace(
            self,
            lower=np.maximum(self.lower - used, 0.0),
            upper=np.maximum(self.most - used, 0.0),
        )

    def completion(self, used: Array, open_: Mask, places: int) -> list[int] | None:
        """The fewest more genes that meet all lower limits; None where `places` are too few.

        `used` is ``P s`` of the genes that are in, shape (n_rows,), `open_` says which others may
        be, shape (n_genes,).
        """
        short = np.flatnonzero(used < self.lower)
        if not len(short):
            return []
        counts = self._dense[short].sum(axis=0) > 0
        genes = self._that_fit(used, open_, counts)
        if not len(genes) or places < 1:
            return None
        if (self._dense[np.ix_(short, genes)] == 1.0).all():
            needed = int(np.ceil((self.lower - used)[short].max()))
            chosen = self._cheapest(used, genes, needed)
            if chosen is None or needed > places:
                return None
            if self._fit(used, chosen):
                return [int(gene) for gene in chosen]
        ones = np.ones(len(genes))
        taken = self._taken(used, genes)  # of as many genes those that leave most room for others
        cheap = ones + taken / (1.0 + taken.max()) / (2.0 * len(genes))
        for share in (1.0, _TIGHTER):
            solution = self._solved(cheap, used, genes, places, share)
            if solution.x is None:
                return None
            chosen = genes[solution.x > 0.5]
            if self._fit(used, chosen):
                return [int(gene) for gene in chosen]
        return None

    def cheapest(self, used: Array, open_: Mask, places: int) -> list[int] | None:
        """So many more genes that take least of the limits; None where they are not within them."""
        genes = self._that_fit(used, open_, np.ones(self.n_genes, dtype=bool))
        chosen = self._cheapest(used, genes, places)
        return chosen.tolist() if chosen is not None and self._fit(used, chosen) else None

    def largest(self, used: Array, open_: Mask, places: int) -> tuple[list[int], int]:
        """As many more genes as a panel can hold, at most `places`, and how many could be at most.

        Its arguments are those of :meth:`completion`.  There are fewer genes than could be only
        where the programme is not solved within :data:`_NODES`.
        """
        genes = self._that_fit(used, open_, np.ones(self.n_genes, dtype=bool))
        if not len(genes) or places < 1:
            return [], 0
        most = min(places, len(genes))
        while (chosen := self._cheapest(used, genes, most)) is None:
            most -= 1
        if self._fit(used, chosen):
            return chosen.tolist(), most
        cheap = self._taken(used, genes)
        cheap = -1.0 + cheap / (1.0 + cheap.max()) / (2.0 * len(genes))
        for share in (1.0, _TIGHTER):
            solution = self._solved(cheap, used, genes, places, share, node_limit=_NODES)
            if share == 1.0 and solution.mip_dual_bound is not None:  # costs are below ½
                most = min(most, int(np.floor(0.5 - solution.mip_dual_bound)))
            if solution.x is None:
                break
            chosen = genes[solution.x > 0.5]
            if self._fit(used, chosen):
                return chosen.tolist(), max(most, len(chosen))
        return [], most

    def _fit(self, used: Array, chosen: Index) -> bool:
        """Whether all limits hold with some genes beside those that sum to `used`."""
        after = used + self.sums(chosen)
        return bool((after <= self.most).all() and (after >= self.lower).all())

    def _cheapest(self, used: Array, genes: Index, n: int) -> Index | None:
        """So many genes that take least of what is left; None where no such panel is possible."""
        if n > len(genes):
            return None
        binding = self._binding(used, genes)
        least = np.sort(self._dense[np.ix_(binding, genes)], axis=1)[:, :n].sum(axis=1)
        if (least > (self.most - used)[binding]).any():
            return None
        return np.asarray(genes[np.argsort(self._taken(used, genes), kind="stable")[:n]])

    def _that_fit(self, used: Array, open_: Mask, among: Mask) -> Index:
        """Return some of the genes that fit beside others."""
        return np.flatnonzero(open_ & self.within(used) & among)

    def _binding(self, used: Array, genes: Index) -> Index:
        """The rows that cannot hold all of some genes."""
        room = self.most - used
        return np.flatnonzero((self._dense[:, genes].sum(axis=1) > room) & np.isfinite(room))

    def _taken(self, used: Array, genes: Index) -> Array:
        """Largest share of what upper limits leave that each gene takes."""
        binding = self._binding(used, genes)
        room = (self.most - used)[binding, None]
        return np.asarray((self._dense[np.ix_(binding, genes)] / room).max(axis=0, initial=0.0))

    def _solved(
        self, costs: Array, used: Array, genes: Index, places: int, share: float, **options: Any
    ) -> Any:
        """The programme of some genes whose costs are least, within a share of what is left."""
        short, binding = np.flatnonzero(used < self.lower), self._binding(used, genes)
        conditions = []
        if len(short):
            met = self._dense[np.ix_(short, genes)]
            conditions.append(LinearConstraint(met, lb=(self.lower - used)[short]))
        conditions.append(LinearConstraint(np.ones((1, len(genes))), ub=places))
        if len(binding):
            packed = self._dense[np.ix_(binding, genes)] / (self.most - used)[binding, None]
            conditions.append(LinearConstraint(packed, ub=share))
        ones = np.ones(len(genes))
        bounds = Bounds(0, 1)
        return milp(costs, integrality=ones, bounds=bounds, constraints=conditions, options=options)


#: Single rows, and pairs of them, that are tried to say which are to blame.
_MOST_SETS = 400


def check(rows: Rows, n_genes: int | None, *, include: Index, candidates: Index) -> None:
    """Refuse limits that no panel can meet (`n_genes` None: of any size), and say which of them
    conflict: genes of `include` over a limit, no gene that fits, or the one limit, the two or more,
    that no panel meets together.
    """
    used = rows.sums(include)
    over = np.flatnonzero(used > rows.most)
    if len(over):
        row = over[0]
        raise InvalidValue(
            f"`include` has genes that sum to {used[row]:g}, above the limit {rows.names[row]}: "
            "include fewer or other genes, or raise the limit"
        )
    free = np.setdiff1d(candidates, include)
    if not len(include) and not rows.only(free).allowed.any():
        raise InvalidValue(
            f"`limits` leave no candidate gene ({', '.join(dict.fromkeys(rows.limits))}): relax "
            "them"
        )
    places = len(free) if n_genes is None else n_genes - len(include)
    remainder = _Left(rows.only(free), used, places)
    if remainder.fewest(range(len(rows.names)), places) is None:
        remainder.refuse(n_genes)


class _Left:
    """What limits leave to the genes to choose from, for at most `places` of them beside those that
    sum to `used`, shape (n_rows,).
    """

    def __init__(self, rows: Rows, used: Array, places: int) -> None:
        self.rows, self.used, self.places = rows, used, places

    def fewest(self, rows: Sequence[int] | range, places: int) -> int | None:
        """The fewest genes that some limits need; None where they cannot hold together."""
        chosen = np.asarray(rows, dtype=np.intp)
        all_genes = np.ones(self.rows.n_genes, dtype=bool)
        rest = self.rows.some(chosen).completion(self.used[chosen], all_genes, places)
        return None if rest is None else len(rest)

    def refuse(self, n_genes: int | None) -> NoReturn:
        """Say which limits conflict."""
        rows, blamed = self._conflict()
        needed = self.fewest(rows, self.rows.n_genes)
        if needed is not None and n_genes is not None:
            raise InvalidValue(
                f"`limits` are infeasible with `n_genes={short(n_genes)}`, since {_and(blamed)} "
                f"need at least {needed + n_genes - self.places} genes: relax one of them, or ask "
                "for more genes"
            )
        raise InvalidValue(
            f"`limits` are infeasible for the candidate genes: {_and(blamed)}: relax one of them"
        )

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
