"""What a panel loses when one of its genes is replaced by another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

if TYPE_CHECKING:
    from .._typing import Array, Index
    from .criterion import Criterion

#: A gene stands in for another if it takes over at least this share of what that one does.
SHARE = 0.25

#: Less than this is nothing that could be taken over.
_ROUNDING = 1e-14


class Swaps(NamedTuple):
    """What comes of replacing genes i of a panel S (rows) by genes j (columns).

    Attributes
    ----------
    lost
        ``F(S − i + j) − F(S)``, as a share of what all genes keep: below zero j is better than i;
        infinite where j is in the panel.
    taken_over
        How much of what i does for the panel j does as well, where 1 is a copy of i: by how much
        less the panel needs i beside j, ``(F(S − i) − F(S)) − (F(S − i + j) − F(S + j))``, over the
        same for a second measurement of i itself.  A gene that is merely good to have loses little
        too, but takes nothing over.  Zero where j is in the panel.
    """

    lost: Array
    taken_over: Array


def swaps(criterion: Criterion, panel: Index, leaving: Index) -> Swaps:
    """Replace genes of a panel, one at a time, by every other gene.

    Gene i leaves, ``E ← E + u uᵀ/(1 − g_iᵀ u)`` with ``u = E g_i``, and gene j enters.

    Parameters
    ----------
    criterion
        F.
    panel
        Genes of the panel S.
    leaving
        Genes of the panel that are replaced, one at a time.

    Returns
    -------
    Swaps
        Arrays of shape (len(leaving), n_genes).
    """
    losses = np.zeros((len(leaving), 1))
    alone = np.zeros(criterion.n_genes)
    instead = np.zeros((len(leaving), criterion.n_genes))
    for block in criterion.blocks:
        inverse = block.only(panel).inverse(np.ones(len(panel)))
        curved = (inverse * block.weights) @ inverse
        g = block.genes[leaving]
        u, v = g @ inverse, g @ curved
        rest = 1.0 - np.sum(u * g, axis=1)[:, None]
        loss = np.sum(v * g, axis=1)[:, None] / rest
        seen, bent = u @ block.genes.T, v @ block.genes.T
        squares = seen**2 / rest
        lengths = np.einsum("ij,ij->i", block.genes @ inverse, block.genes)
        gains = np.einsum("ij,ij->i", block.genes @ curved, block.genes)
        losses += loss
        alone += gains / (1.0 + lengths)
        bent = gains + 2.0 * seen * bent / rest + loss * squares
        instead += bent / (1.0 + lengths + squares)
    lost = (losses - instead) / criterion.scale
    repeated = losses - alone[leaving][:, None]
    taken_over = np.divide(
        instead - alone, repeated, out=np.zeros_like(instead), where=repeated > _ROUNDING
    )
    lost[:, panel] = np.inf
    taken_over[:, panel] = 0.0
    return Swaps(lost, taken_over)


def pairs(criterion: Criterion, panel: Index, share: float = SHARE) -> sparse.csr_array:
    """For which genes of a panel (rows) which genes stand in, boolean, (n_genes, n_genes)."""
    place, other = np.nonzero(swaps(criterion, panel, panel).taken_over >= share)
    shape = (criterion.n_genes, criterion.n_genes)
    return sparse.csr_array((np.ones(len(place), dtype=bool), (panel[place], other)), shape=shape)


def n_matched(first: Index, second: Index, stands_in: sparse.csr_array) -> int:
    """Most genes of two panels that can be matched, each with itself or with a substitute.

    Parameters
    ----------
    first, second
        Genes of the panels.
    stands_in
        Which genes stand in for which, as of :func:`pairs`; both ways count.
    """
    either = first[:, None] == second[None, :]
    either |= stands_in[first][:, second].toarray()
    either |= stands_in[second][:, first].toarray().T
    # Of a dense array, since the indices of a slice may be of 64 bits, which old versions refuse.
    matched = maximum_bipartite_matching(sparse.csr_matrix(either), perm_type="column")
    return int(np.count_nonzero(matched >= 0))
