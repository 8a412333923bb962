"""What the target platform detects of each gene: on the whole, and in draws of it.

A gene fails with a probability p, and is detected with an efficiency whose logarithm is normal.

Counts are few on an instrument.  Their logarithms ``log(1 + count)`` are in proportion to the
efficiency ε_i of a gene where it is small, so that dark genes are dark, and grow slowly where it is
large: the amplitude is ``a_i = log₂(1 + ε_i/ε̄)``, 1 at the median ε̄ of what is detected.  The noise
of a gene in the reference says next to nothing about that on an instrument, where each has the mean
noise:

    ``a_i h_i / √(σ̄²/min(ε̄, 1) + σ_0²)``   in place of   ``u_i = h_i / √(σ_i² + σ_0²)``.

Where the instrument measured cells, the structure s_i of a gene in units of noise is known, and
``|g_i|² = s_i/τ``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from ..cells import noise
from ..data.matrix import divided

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..cells.cells import Cells

#: Draws of efficiencies and failures.
N_DRAWS = 20


@dataclass(frozen=True)
class Detection:
    """What the target platform detects of each gene; None is that of the reference."""

    #: Relative detection efficiency, shape (n_genes,)
    efficiency: Array | None = None
    #: Standard deviation of its logarithm, shape (n_genes,)
    spread: Array | None = None
    #: Probability that a gene fails, shape (n_genes,)
    failure: Array | None = None
    #: Share of what is detected of a gene that comes from others, shape (n_genes,)
    off_target: Array | None = None
    #: Structure of each gene there in units of noise, shape (n_genes,)
    signal: Array | None = None
    #: Whether each gene can be ordered, shape (n_genes,).
    orderable: NDArray[np.bool_] | None = None
    #: Of each gene, shape (n_genes, n_bits); zero without one.
    codewords: NDArray[np.bool_] | None = None
    #: Whether it is an instrument of which nothing else may be known
    named: bool = False

    @property
    def has_efficiency(self) -> bool:
        """Whether anything says what is detected of each gene."""
        of_genes = self.efficiency, self.off_target, self.signal
        return any(values is not None for values in of_genes)

    def instrument(self, standardize: str | None) -> Detection | None:
        """Return what measures a panel of genes in some units; None: the reference's assay."""
        return self if standardize == "noise" and (self.has_efficiency or self.named) else None

    @property
    def on_target_rate(self) -> Array | float:
        """Share of what is detected of each gene that is its own."""
        return 1.0 if self.off_target is None else 1.0 - self.off_target

    @property
    def detected(self) -> Array:
        """ε, what is detected of each gene and is its own, shape (n_genes,) or (1,)."""
        efficiency = np.ones(1) if self.efficiency is None else self.efficiency
        return np.asarray(efficiency * self.on_target_rate)

    @property
    def middle(self) -> float:
        """``ε̄``."""
        detected = self.detected[self.detected > 0]
        return float(np.median(detected)) if len(detected) else 1.0

    def amplitude(self, efficiency: Array) -> Array:
        """``a_i`` of some efficiencies."""
        return np.asarray(np.log1p(efficiency / self.middle) / np.log(2.0))

    def gain(self, genes: Array, cells: Cells, tau: float) -> Array:
        """How much longer each gene is than the ``g_i`` of the reference, shape (n_genes,)."""
        if self.signal is not None:
            return divided(np.sqrt(self.signal / tau), np.linalg.norm(genes, axis=1))
        variance, residuals = cells.variance, cells.residuals
        of_genes = noise.mean(variance, residuals)
        assay = noise.ASSAY * of_genes
        on_instrument = of_genes / min(self.middle, 1.0) + assay
        ratio = np.sqrt((residuals + assay) / on_instrument)
        return np.asarray(self.amplitude(self.detected) * ratio)

    def only(self, genes: Index) -> Detection:
        """The same of some genes."""
        fields: dict[str, Any] = vars(self)
        arrays = {name: value[genes] for name, value in fields.items() if np.ndim(value)}
        return replace(self, **arrays)

    @property
    def differs(self) -> bool:
        """Whether anything is detected otherwise than in the reference."""
        return self.has_efficiency or self.varies

    @property
    def varies(self) -> bool:
        """Whether draws differ."""
        return self.spread is not None or self.failure is not None

    def draws(self, n_genes: int, n_draws: int, random_state: int | None) -> tuple[Array, Array]:
        """Whether each gene works, and its efficiency, shape (n_draws, n_genes) each."""
        rng = np.random.default_rng(random_state)
        works = np.ones((n_draws, n_genes), dtype=bool)
        if self.failure is not None:
            works = _stratified(n_draws, n_genes, rng) >= self.failure
        efficiency = np.ones(n_genes) if self.efficiency is None else self.efficiency
        drawn = np.tile(efficiency, (n_draws, 1))
        if self.spread is not None:
            drawn *= np.exp(self.spread * norm.ppf(_stratified(n_draws, n_genes, rng)))
        return works, drawn


#: Nothing is detected otherwise than in the reference.
AS_REFERENCE = Detection()


def _stratified(n_draws: int, n_genes: int, rng: np.random.Generator) -> Array:
    """Draws from 0 to 1, of a gene one in each n-th part, so that none is chosen for its luck."""
    strata = rng.permuted(np.tile(np.arange(n_draws), (n_genes, 1)), axis=1).T
    return np.asarray((strata + rng.random((n_draws, n_genes))) / n_draws)
