"""Free places of a panel: genes that may stand there, whatever is chosen for the other places.

No linear estimate of θ from the genes of a panel has a smaller error than F.  Let ``E₀`` be E given
the genes that stay, and let each gene a that may stand in a free place have a weight ``x_a`` of its
own, whatever stands in the others.  The error of that estimate bounds F of every choice,

    F ≤ Tr(W E₀) + Σ_i [(1 + k_aa) x_aᵀ W x_a − 2 aᵀ E₀ W x_a] + Σ_{i≠j} k_ab x_aᵀ W x_b,

with ``k_ab = aᵀ E₀ b`` and a, b the genes in the places i, j.  ``x_a = E a``, E with a in its place
and all else unchanged, makes it F where nothing is exchanged, and nearly so where one gene is.  It
is a sum over pairs of places: from the panel it grows by what each gene adds alone, ``l_a``, and by
what each pair adds to that, ``2 d_ab``.  No choice adds more than

    Σ_i max_a [l_a + Σ_{j≠i} max_b d_ab],

where a and b run over all genes of a place, its own included, for which l and d are 0.  A place
that may stay empty is one where any gene may stand: it is a gene of length 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .certificate import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..criterion.error import Block, Posterior
    from ..criterion.panel import MeasuredPanel

#: Most genes that are offered for a place.
MOST = 10
#: A choice that costs less than this share of the tolerance is as good as free.
_FREE = 1e-3
#: Genes are tried as long as what they cost alone is within so many times the tolerance.
_REACH = 1.5
#: Stands for any gene, and counts as so many; as all genes it takes the tolerance from lists.
#: ``benchmarks/ARCHIVE.md`` has the trial.
_ANY, _MANY = -1, 30


class Place(NamedTuple):
    """A free place of a panel."""

    #: The gene that stands there
    gene: int
    #: Genes that may stand there instead, the best first; none are listed where any may
    others: Index
    #: Whether any gene may stand there, or none
    anything: bool


@dataclass(frozen=True)
class FreePlaces:
    """Places of a panel, each with the genes that may stand there, whatever is in the others.

    No gene is offered for two places.
    """

    #: In the order of the panel
    places: tuple[Place, ...] = ()
    #: Share of what the panel preserves that any choice loses at most
    lost: float = 0.0


def free_places(
    measured: MeasuredPanel,
    at: Index,
    may: NDArray[np.bool_],
    lost: Array,
    empty: Array,
    *,
    tolerance: float,
    kin: Index | None = None,
) -> FreePlaces:
    """Find free places of a panel, and as many genes for them as lose at most the tolerance.

    `may` says which genes (columns) may stand in the places `at` (rows).  `lost` is what each loses
    alone, as in :meth:`.MeasuredPanel.substitutions`, and `empty` what the panel loses without each
    gene, infinite where not any gene may stand.  Of genes of the same number in `kin` one place has
    all.  What adds most panels for what it loses is tried first.  The largest of several errors is
    no sum, and has no free places here.
    """
    criterion = measured.criterion
    errors = criterion.errors(measured.genes)
    kept = errors[0] - errors[-1]
    most = (tolerance * kept - ROUNDING * errors[0]) / criterion.scale
    if criterion.largest or most <= 0.0:
        return FreePlaces()
    costs = np.where(may, lost, np.inf)
    kin = np.arange(criterion.n_genes) if kin is None else kin
    rows, genes = _Wishes(costs, empty, kin, _REACH * most).all()
    offered, grown = _together(measured, at[rows], genes, most * criterion.scale)
    found = []
    for row in np.unique(rows[offered]):
        others = genes[offered & (rows == row)]
        anything = bool((others == _ANY).any())
        others = others[:0] if anything else others[np.argsort(costs[row, others], kind="stable")]
        found.append(Place(int(measured.genes[at[row]]), others, anything))
    return FreePlaces(tuple(found), float(grown / kept))


class _Wish(NamedTuple):
    """A gene for a place; the smallest is tried first."""

    #: Logarithm of how many times as many panels there are with it, over its cost, times −1
    worth: float
    row: int
    gene: int
    #: What the costliest gene for the place costs with it
    cost: float


class _Wishes:
    """Genes for places that cost little alone, the worthiest first, each gene for one place."""

    def __init__(self, costs: Array, empty: Array, kin: Index, most: float) -> None:
        self.costs, self.empty, self.kin, self.most = costs, empty, kin, most
        cheapest = np.minimum(costs.min(axis=1, initial=np.inf), empty)
        order = np.argsort(cheapest, kind="stable")
        self.rows = order[np.cumsum(np.maximum(cheapest[order], 0.0)) <= most].tolist()
        n = min(MOST * len(self.rows), costs.shape[1])  # enough where all places want the same
        #: Genes for each place, the cheapest at the end
        self.waiting = {row: _cheapest(costs[row], n) for row in self.rows}
        #: How many genes there are for each place, and what the costliest costs
        self.n_offered = dict.fromkeys(self.rows, 0)
        self.worst = dict.fromkeys(self.rows, 0.0)
        #: Place of each gene that is taken
        self.taken: dict[int, int] = {}

    def all(self) -> tuple[Index, Index]:
        """Return rows and genes, in the order in which they are to be tried."""
        found: list[tuple[int, int]] = []
        queue = [wish for row in self.rows for wish in self._next(row)]
        heapify(queue)
        while queue:
            wish = heappop(queue)
            row = wish.row
            now = self._next(row)
            if now == [wish]:  # nothing else has changed what is best there
                found.append((row, wish.gene))
                self.worst[row] = wish.cost
                self.n_offered[row] += 1
                if wish.gene == _ANY:
                    continue
                self.taken[int(self.kin[self.waiting[row].pop()])] = row
                now = self._next(row)
            for one in now:
                heappush(queue, one)
        rows, genes = np.array(found, dtype=np.intp).reshape(-1, 2).T
        return rows, genes

    def _next(self, row: int) -> list[_Wish]:
        """The best that can be added to a place now, if anything."""
        n, genes = self.n_offered[row], self.waiting[row]
        while genes and self.taken.get(int(self.kin[genes[-1]]), row) != row:
            genes.pop()
        options = [(_MANY, _ANY, float(self.empty[row]))]
        if genes and n < MOST:
            options.append((n + 2, genes[-1], float(self.costs[row, genes[-1]])))
        before = self.worst[row]
        left = self.most - sum(self.worst.values()) + before
        wishes = []
        for n_then, gene, alone in options:
            cost = max(alone, before)
            if cost <= left:
                worth = log(n_then / (n + 1)) / (cost - before + _FREE * self.most)
                wishes.append(_Wish(-worth, row, gene, cost))
        return [min(wishes)] if wishes else []


def _cheapest(costs: Array, n: int) -> list[int]:
    """The `n` genes that cost least, the cheapest at the end."""
    found = np.argpartition(costs, n - 1)[:n] if n < len(costs) else np.arange(len(costs))
    found = found[np.isfinite(costs[found])]
    ranked: list[int] = found[np.argsort(costs[found], kind="stable")[::-1]].tolist()
    return ranked


def _together(
    measured: MeasuredPanel, places: Index, genes: Index, most: float
) -> tuple[NDArray[np.bool_], float]:
    """Return which genes can be offered together for places, and by how much F grows at most."""
    offered, grown = np.zeros(len(places), dtype=bool), 0.0
    here = np.ones(len(places), dtype=bool)
    while here.any():
        n_before = offered.sum()
        joint = _Joint(measured, places[here], genes[here])
        offered[here], grown = joint.offered(most, first=offered[here])
        # Once fewer places are free, more genes have their best weights, and more is within bounds.
        fewer = np.isin(places, places[offered])
        if offered.sum() == n_before or fewer.sum() == here.sum():
            break
        here = fewer
    return offered, grown


class _Joint:
    """By how much the error of an estimate grows from that of the panel with genes in its places.

    Candidates are sorted by place, the gene that stands there now before those that may.
    """

    def __init__(self, measured: MeasuredPanel, places: Index, genes: Index) -> None:
        free, at = np.unique(places, return_inverse=True)
        n_free, place = len(free), np.append(np.arange(len(free)), at)
        by_place = np.argsort(place, kind="stable")
        #: Place of each candidate, from 0
        self.place = place[by_place]
        #: Where each place begins
        self.own = np.searchsorted(self.place, np.arange(n_free))
        #: Where each gene that may stand in a place is among the candidates
        self.where = np.argsort(by_place)[n_free:]
        #: l of each candidate, and d of each pair
        self.alone = np.zeros(len(place))
        self.pairs = np.zeros((len(place), len(place)))
        stay = np.delete(measured.genes, free)
        for block, posterior in zip(measured.criterion.blocks, measured.posteriors, strict=True):
            vectors = np.vstack([posterior.genes[free], block.genes[genes]])
            vectors[n_free:][genes == _ANY] = 0.0
            self._add(block.only(stay), posterior, free, vectors[by_place])

    def _add(self, stay: Block, posterior: Posterior, free: Index, vectors: Array) -> None:
        """Add what one set of cells has of l and d."""
        place, own = self.place, self.own
        leaving = posterior.covariances[free][place]
        shared = np.einsum("ij,ij->i", leaving, vectors) / posterior.unique[free][place]
        weights = vectors @ posterior.covariance + shared[:, None] * leaving  # E without that gene
        weights /= 1.0 + np.einsum("ij,ij->i", weights, vectors)[:, None]
        covariances = vectors @ stay.inverse(np.ones(len(stay.genes)))
        weighted = weights * stay.weights
        pairs = (covariances @ vectors.T) * (weighted @ weights.T)
        alone = np.diag(pairs) + np.einsum("ij,ij->i", weights - 2.0 * covariances, weighted)
        same = place[:, None] == place
        pairs[same] = 0.0
        beside = pairs[:, own]  # the genes of the panel in the other places
        alone = alone + 2.0 * beside.sum(axis=1)
        self.alone += alone - alone[own][place]
        pairs += beside[own][place][:, place] - beside[:, place] - beside[:, place].T
        pairs[same] = 0.0
        self.pairs += pairs

    def offered(self, most: float, first: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], float]:
        """Return which genes can be offered together, and by how much F grows at most.

        In their order, but `first` some.
        """
        total, grown = np.full(len(self.place), -np.inf), 0.0
        total[self.own] = 0.0
        alone, largest = self.alone.copy(), np.zeros((len(self.own), len(self.place)))
        offered = np.zeros(len(first), dtype=bool)
        for gene in np.argsort(~first, kind="stable"):
            new = self.where[gene]
            place = self.place[new]
            row = np.maximum(largest[place], self.pairs[new])  # max_b d_ab, b in its place
            more = row - largest[place]
            with_new = total + more
            with_new[new] = alone[new] + more[new]
            of_all = np.maximum.reduceat(with_new, self.own).sum()
            if of_all <= most:
                total, largest[place], grown, offered[gene] = with_new, row, float(of_all), True
                alone += more
        return offered, grown
