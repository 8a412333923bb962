"""The criterion for panels: ``F(S) = Tr(W E(S))``, and the share of the structure preserved.

F is the weighted posterior variance of a function on the cells once the genes of S are measured.  W
says what should be preserved of each set of cells, in whitened coordinates: genes are ``g_i``, the
cells are the rows of ``Z = V Q diag(1/√κ)``, with ``K = Q diag(κ) Qᵀ``.  It has trace 1, so that F
is 1 without genes.  The share preserved is ``(1 − F(S))/(1 − F(all))``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..data.matrix import divided
from ..errors import InvalidValue
from .error import Block, Evidence, Largest, inverse
from .platform import N_DRAWS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._typing import Array, Index
    from ..cells.cells import Cells
    from .platform import Detection

    #: Something to be preserved: W of any trace, shape (r, r), of one set of cells, zero where they
    #: have nothing of it.  Weights say how much each cell counts, with mean 1; None: all alike.
    Term = Callable[[Cells, Array | None], Array]
    #: R of types, by the noise of the assay and the amplitude of genes on the instrument.
    EvidenceOf = Callable[[float, Array], Evidence]


#: Power of ``Σ g_j g_jᵀ`` and of the like sums for labels and numbers of the cells: 0 is all axes
#: alike (A-optimal designs), 1 the error of predicting every gene (I-optimal).
#: ``benchmarks/ARCHIVE.md`` has the trials of this and of the numbers below.
POWER = 0.5
#: τ of ``λ2 = τ · n · Tr K / r``, the noise of a measured gene against the structure: where genes
#: are to be predicted, and where labels and numbers of the cells are.  Less favours accuracy and
#: rare types, more favours the same genes from other cells.
NOISE, NOISE_OF_CELLS = 0.2, 0.05
#: A length or a trace that is smaller is rounding.
NOTHING = 1e-20
#: Less than this share of what should be preserved is nothing that an instrument could measure.
_LITTLE = 1e-6
#: An eigenvalue of a smaller share of the largest is zero.
_ROUNDING = 1e-12
#: γ of Ψ, for errors between 1 and 0.
SHARPNESS = 100.0


def structure_matrix(cells: Cells, weights: Array | None) -> Array:
    """All that genes vary in above their noise: ``(Σ_j H g_j g_jᵀ H)^½`` over all genes."""
    above = cells.above_noise
    return rooted(cells.whitened_form(above @ cells.scatter @ above, weights))


def expression_matrix(cells: Cells, weights: Array | None) -> Array:
    """The expression of all genes, to be predicted: ``Σ_j c_j c_jᵀ`` in the matrix's units."""
    return cells.whitened_form(cells.projections.T @ cells.projections, weights)


def genes_matrix(genes: Index, cells: Cells, weights: Array | None) -> Array:
    """Some genes, which are to be predicted from the panel: ``Σ_j g_j g_jᵀ`` over them."""
    in_units = cells.projections[genes] * cells.units[genes, None]
    return cells.whitened_form(in_units.T @ in_units, weights)


@dataclass(frozen=True)
class TermOfCells:
    """A value of each cell, in place of what genes vary in, and the W of such values."""

    #: Shape (n_cells,) or (n_cells, n_values).
    values: Any
    matrix: Callable[[Any, Cells, Array | None], Array]

    def __call__(self, cells: Cells, weights: Array | None) -> Array:
        """W, shape (r, r)."""
        return self.matrix(self.values, cells, weights)

    def rows(self, cells: Index) -> Self:
        """The same of some cells."""
        return replace(self, values=self.values[cells])


def label_matrix(labels: Index, cells: Cells, weights: Array | None) -> Array:
    """Classes of cells, −1 where unknown, to be told apart: ``(Σ_{m<m'} δ_mm' δ_mm'ᵀ)^½`` with the
    differences δ, of norm 1, of the mean rows of Z of the classes.
    """
    means = cells.coordinates(cells.means_of(labels, weights)[1])
    first, second = np.triu_indices(means.shape[1], 1)
    differences = means[:, first] - means[:, second]
    differences = divided(differences, np.linalg.norm(differences, axis=0), NOTHING)
    return rooted(differences @ differences.T)


def value_matrix(numbers: Array, cells: Cells, weights: Array | None) -> Array:
    """Numbers of the cells, not finite where unknown: columns of Y are centred and of norm 1."""
    measured = np.asarray(np.isfinite(numbers).all(axis=1))
    counts = measured * (1.0 if weights is None else weights)
    values = np.where(measured[:, None], numbers, 0.0)
    values = (values - counts @ values / max(counts.sum(), 1.0)) * measured[:, None]
    values = divided(values, np.sqrt(counts @ values**2), NOTHING)
    coordinates = cells.coordinates(cells.basis.T @ (values * counts[:, None]))
    return rooted(coordinates @ coordinates.T)


@dataclass(frozen=True)
class Target:
    """What a panel should preserve of one set of cells: terms with their shares."""

    terms: tuple[tuple[Term, float], ...] = ((structure_matrix, 1.0),)
    #: How much each cell counts, shape (n_cells,); None: all the same.
    weights: Array | None = None
    #: What takes the place of F, for labels on an instrument that is only named.
    evidence: EvidenceOf | None = None

    @property
    def noise(self) -> float:
        """τ, the mean of what suits the terms."""
        are_of_cells = [isinstance(term, TermOfCells) for term, _ in self.terms]
        suits = np.where(are_of_cells, NOISE_OF_CELLS, NOISE)
        return float(np.average(suits, weights=[share for _, share in self.terms]))

    def rows(self, cells: Index | None) -> Self:
        """The same of some cells; None: of all."""
        if cells is None:
            return self
        terms = tuple(
            (term.rows(cells) if isinstance(term, TermOfCells) else term, share)
            for term, share in self.terms
        )
        weights = None if self.weights is None else self.weights[cells]
        return replace(self, terms=terms, weights=weights)

    def matrix(self, cells: Cells) -> Array:
        """W of trace 1, shape (r, r); zero where these cells have nothing to preserve."""
        weights = self.weights
        if weights is not None and weights.any():
            weights = weights / weights.mean()
        total = np.zeros_like(cells.stiffness)
        for term, share in self.terms:
            total += share * _of_trace_one(term(cells, weights))
        return _of_trace_one(total)


class Criterion:
    """F over one set of cells, or over several (batches): the mean, or the worst of them, by the
    share of what all genes keep of a set that is still missing.
    """

    def __init__(
        self,
        sets: Sequence[Cells],
        targets: Sequence[Target] | None = None,
        *,
        worst: bool = False,
        instrument: Detection | None = None,
    ) -> None:
        self.sets = tuple(sets)
        #: What is to be preserved of each set of cells; None: the structure
        self.targets = (Target(),) * len(self.sets) if targets is None else tuple(targets)
        #: Whether the set counts of which least is preserved
        self.worst = worst
        #: What measures the panel; None: the assay of the reference
        self.instrument = instrument
        self.n_genes = len(self.sets[0].variance)
        terms = [term for target in self.targets for term, _ in target.terms]
        has_others = any(term is not structure_matrix for term in terms)
        #: Number of directions over all sets of cells.
        self.rank = sum(len(cells.stiffness) for cells in self.sets)
        of_sets = list(zip(self.sets, self.targets, strict=True))
        # of a whitened gene that stands for one measurement: the unit of g_i
        self._lengths = [np.sqrt(target.noise * units_of_noise(cells)) for cells, target in of_sets]
        matrices = [target.matrix(cells) for cells, target in of_sets]
        n_filled = sum(bool(matrix.any()) for matrix in matrices)
        if not n_filled:
            raise InvalidValue("`preserve` does not vary over the cells, or not with their genes")
        if instrument is None:
            pairs = zip(self.sets, self._lengths, strict=True)
            grams = [cells.whitened_form(cells.scatter) / length**2 for cells, length in pairs]
        else:
            grams = [genes.T @ genes for genes in self._genes]
        #: Eigenvalues of W of each set, without rounding below zero, and its eigenbasis
        self._eigen: list[tuple[Array, Array]] = []
        #: What all genes keep of each set: ``Tr(W) − Tr(W (I + Σ g_i g_iᵀ)⁻¹)``, (n_sets,)
        self._reach = np.empty(len(self.sets))
        for k, (matrix, gram) in enumerate(zip(matrices, grams, strict=True)):
            values, basis = np.linalg.eigh(matrix / n_filled)
            weights = np.maximum(values, 0.0)
            covariance = inverse(np.eye(len(gram)) + gram)
            self._eigen.append((weights, basis))
            self._reach[k] = weights @ (1.0 - np.einsum("ij,ij->j", basis, covariance @ basis))
        #: F of each set without genes, shape (n_sets,)
        self._starts = np.array([weights.sum() for weights, _ in self._eigen])
        #: R in place of F; None: there is F alone
        self._evidence: Evidence | None = None
        if instrument is not None and self.targets[0].evidence is not None:
            amplitude = instrument.amplitude(instrument.detected)
            self._evidence = self.targets[0].evidence(self.sets[0].assay_noise, amplitude)
            self._starts = self._reach = np.array([self._evidence.value(np.zeros(self.n_genes))])
        start = self._starts.sum() or 1.0
        if instrument is not None and self._reach.sum() < _LITTLE * start:
            text = f"`platform` is so blind that all genes preserve {self._reach.sum() / start:.1g}"
            raise InvalidValue(f"{text} of the target: correct its efficiency or signal")
        equal = np.ones(len(self.sets))
        #: Whether each set has what is to be preserved: others do not count where the worst does
        self.has_target = np.array([has_others or cells.n_axes > 0 for cells in self.sets])
        counted = self.has_target.astype(float) if self.has_anything else equal
        #: What the error of each set is multiplied with, shape (n_sets,)
        self._shares = divided(counted, self._reach) if worst else equal
        #: ``F(∅) − F(all)``: what all genes keep
        self.scale = 1.0 if worst else float(self._reach.sum())

    @cached_property
    def has_anything(self) -> bool:
        """Whether any set of cells has what is to be preserved, above the noise."""
        return bool(self.has_target.any())

    @cached_property
    def _genes(self) -> list[Array]:
        """``g_i`` of each set as the panel's assay sees them, shape (n_genes, r) each."""
        of_sets = []
        for cells, target, length in zip(self.sets, self.targets, self._lengths, strict=True):
            genes = cells.whitened / length
            if self.instrument is not None:
                genes *= self.instrument.gain(genes, cells, target.noise)[:, None]
            of_sets.append(genes)
        return of_sets

    @property
    def floors(self) -> Array:
        """What the error of each set would be above its share that is missing, (n_sets,)."""
        return np.asarray(self._starts * self._shares - (self._shares > 0))

    @cached_property
    def blocks(self) -> list[Block]:
        """F, or R, on each set of cells, and on each draw of failures."""
        return self.on(slice(None))

    @cached_property
    def error_blocks(self) -> list[Block]:
        """F on each set of cells, which explains panels by R too."""
        return self.blocks if self._evidence is None else self.on(slice(None), of_errors=True)

    def on(self, genes: Index | slice, *, of_errors: bool = False) -> list[Block]:
        """The blocks of some genes, without turning the others into the eigenbasis of W."""
        if self._evidence is not None and not of_errors:
            return [self._evidence.only(genes)]
        of_sets = zip(self._genes, self._eigen, self._shares, strict=True)
        return [
            Block(all_genes[genes] @ basis, weights * share, np.zeros_like(basis))
            for all_genes, (weights, basis), share in of_sets
        ]

    def errors(self, order: Index) -> Array:
        """F of no gene, of the first, of the first two, …, shape (len(order) + 1,)."""
        return self._joined(self._of_sets(order))

    def preserved(self, order: Index) -> Array:
        """Share that the first 1, 2, … genes keep of what all genes keep."""
        errors = self.errors(order)
        return np.asarray((errors[0] - errors[1:]) / self.scale)

    def preserved_in_sets(self, order: Index) -> Array:
        """The same of each set of cells, shape (len(order), n_sets); NaN where there is nothing."""
        errors, reach = self._of_sets(order), (self._reach * self._shares)[:, None]
        preserved = (errors[:, :1] - errors[:, 1:]) / np.where(reach > 0, reach, np.nan)
        return np.asarray(preserved.T)

    def _of_sets(self, order: Index) -> Array:
        """Errors of each set along an order, shape (n_sets, len(order) + 1)."""
        errors = np.array([errors_along(block) for block in self.on(order)])
        return np.asarray(errors.reshape(-1, len(self.sets), len(order) + 1).sum(axis=0))

    def _joined(self, errors: Array) -> Array:
        """F from the errors of the sets, shape (n_sets, ...)."""
        if not self.worst:
            return np.asarray(errors.sum(axis=0))
        return np.asarray((errors.T - self.floors).max(axis=-1).T)

    def across(self) -> Largest | None:
        """How errors of blocks are joined while genes enter; None: they add up."""
        return Largest((self._shares > 0).astype(float), SHARPNESS) if self.worst else None

    def bounding(self, panel: Index) -> tuple[list[Block], float]:
        """Blocks whose sum less a number is nowhere above F, and near to F at a panel."""
        if not self.worst:
            return self.blocks, 0.0
        errors = self._of_sets(panel)[:, -1] - self.floors
        weights = Largest(errors, SHARPNESS).weights
        of_blocks = zip(self.blocks, np.resize(weights, len(self.blocks)), strict=True)
        blocks = [replace(block, weights=block.weights * weight) for block, weight in of_blocks]
        return blocks, float(weights @ self.floors)

    def cells(self, block: int, rows: Array | None = None) -> Array:
        """Z of a set of cells in the eigenbasis of W, shape (n_cells, r): ``Z E Zᵀ`` is the
        covariance of what the panel leaves open of a function of the cells.  `rows` may have others
        than those of V.
        """
        cells = self.sets[block]
        rows = cells.basis if rows is None else rows
        kappa, basis = cells.metric
        return np.asarray(rows @ ((basis / np.sqrt(kappa)) @ self._eigen[block][1]))

    def losses(self, panel: Index) -> Array:
        """Share that the panel loses without each of its genes, in units of :meth:`preserved`."""
        lost = [block.losses() for block in self.on(panel)]
        of_sets = np.array(lost).reshape(-1, len(self.sets), len(panel)).sum(axis=0)
        if not self.worst:
            return np.asarray(of_sets.sum(axis=0) / self.scale)
        errors = self._of_sets(panel)[:, -1:]
        return np.asarray((self._joined(errors + of_sets) - self._joined(errors)) / self.scale)


class OnPlatform(Criterion):
    """The mean of F over draws of what the platform detects, on the scale of a criterion without.

    A draw is a set of blocks whose genes are as long as the platform makes them, so that everything
    that minimises or bounds a sum of blocks does so here.
    """

    def __init__(
        self,
        criterion: Criterion,
        detection: Detection,
        *,
        n_draws: int = N_DRAWS,
        random_state: int | None = 0,
    ) -> None:
        worst, instrument = criterion.worst, criterion.instrument
        super().__init__(criterion.sets, criterion.targets, worst=worst, instrument=instrument)
        works, drawn = detection.draws(criterion.n_genes, n_draws, random_state)
        gains = works.astype(float)
        if self.instrument is not None and detection.spread is not None:
            seen = self.instrument.amplitude(self.instrument.detected)
            of_draws = self.instrument.amplitude(drawn * detection.on_target_rate)
            gains *= divided(of_draws, seen)
        power = 1 if self._evidence is None else 2  # of squares
        self.blocks = [
            replace(block, genes=block.genes * gain[:, None], weights=block.weights / n_draws)
            for gain in gains**power
            for block in criterion.blocks
        ]
        #: Number of draws
        self.n_draws = n_draws

    def on(self, genes: Index | slice, *, of_errors: bool = False) -> list[Block]:
        """Every draw, of some genes."""
        return [block.only(genes) for block in self.blocks]

    def preserved_in_draws(self, panel: Index) -> Array:
        """Share that a panel preserves in each draw, shape (n_draws,)."""
        errors = np.array([errors_along(block)[-1] for block in self.on(panel)]) * self.n_draws
        of_draws = self._joined(errors.reshape(self.n_draws, -1).T)
        return np.asarray((self.errors(panel[:0])[0] - of_draws) / self.scale)


def units_of_noise(cells: Cells) -> float:
    """``λ2`` at which a gene of weight 1 stands for one measurement: ``n · noise · Tr K / r``."""
    return float(cells.n_cells * cells.noise_level * np.mean(np.diag(cells.stiffness)))


def errors_along(block: Block) -> Array:
    """F while the genes of a block enter, ``E ← E − E g gᵀE/(1 + gᵀE g)`` for each."""
    if isinstance(block, Evidence):
        return block.along()
    covariance = np.eye(len(block.weights))
    errors = np.empty(len(block.genes) + 1)
    errors[0] = block.weights.sum()
    for size, g in enumerate(block.genes, start=1):
        u = covariance @ g
        s = 1.0 + g @ u
        errors[size] = errors[size - 1] - block.weights @ u**2 / s
        covariance -= np.outer(u, u) / s
    return errors


def rooted(matrix: Array) -> Array:
    """A power of a positive semidefinite matrix, whose zeros stay zero: a root of them is large."""
    values, basis = np.linalg.eigh(matrix)
    values[values < _ROUNDING * values[-1]] = 0.0
    return np.asarray((basis * np.maximum(values, 0.0) ** POWER) @ basis.T)


def _of_trace_one(matrix: Array) -> Array:
    """With trace 1, or zero."""
    trace = float(np.trace(matrix))
    return matrix / trace if trace > NOTHING else np.zeros_like(matrix)
