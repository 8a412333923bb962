"""Genes on an instrument: in the directions of the reference, and as clear as they are there.

Counts are few there.  Their logarithms ``log(1 + count)`` are in proportion to the efficiency ε_i
of a gene where it is small, so that dark genes are dark, and grow slowly where it is large: the
amplitude is ``a_i = log₂(1 + ε_i/ε̄)``, 1 at the median ε̄ of what is detected.  The noise of a gene
in the reference says next to nothing about that on an instrument, where each has the mean noise:

    ``a_i h_i / √(σ̄²/min(ε̄, 1) + σ_0²)``   in place of   ``u_i = h_i / √(σ_i² + σ_0²)``.

Where the instrument measured cells, the structure s_i of a gene in units of noise is known, and
``|g_i|² = s_i/τ``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..cells import noise

if TYPE_CHECKING:
    from .._typing import Array
    from ..cells.cells import Cells


@dataclass(frozen=True)
class Instrument:
    """What measures a panel, where it is not the assay of the reference."""

    #: ε, relative detection efficiency of each gene, shape (n_genes,) or (1,)
    efficiency: Array
    #: s, shape (n_genes,); None: not measured
    signal: Array | None = None

    @cached_property
    def middle(self) -> float:
        """``ε̄``."""
        detected = self.efficiency[self.efficiency > 0]
        return float(np.median(detected)) if len(detected) else 1.0

    def amplitude(self, efficiency: Array) -> Array:
        """Return ``a_i`` of some efficiencies."""
        return np.asarray(np.log1p(efficiency / self.middle) / np.log(2.0))

    def gain(self, genes: Array, cells: Cells, tau: float) -> Array:
        """How much longer each gene is than the ``g_i`` of the reference, shape (n_genes,)."""
        if self.signal is not None:
            lengths, gain = np.linalg.norm(genes, axis=1), np.zeros(len(genes))
            np.divide(np.sqrt(self.signal / tau), lengths, out=gain, where=lengths > 0)
            return gain
        variance, residuals = cells.variance, cells.residuals
        assay = noise.of_assay(variance, residuals)
        on_instrument = noise.mean(variance, residuals) / min(self.middle, 1.0) + assay
        ratio = np.sqrt((residuals + assay) / on_instrument)
        return np.asarray(self.amplitude(self.efficiency) * ratio)
