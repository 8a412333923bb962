"""Panels on the target platform: F over draws of what it detects of each gene.

A gene fails with a probability p, and is detected with an efficiency whose logarithm is normal.
F at the mean of each would be a lower bound of its mean over draws (F is convex), and too good.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from .criterion import Criterion, errors_along
from .instrument import Instrument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from .error import Block

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

    def instrument(self, standardize: str | None) -> Instrument | None:
        """Return what measures a panel of genes in some units; None: the reference's assay."""
        if standardize != "noise" or not (self.has_efficiency or self.named):
            return None
        efficiency = np.ones(1) if self.efficiency is None else self.efficiency
        return Instrument(np.asarray(efficiency * self.on_target_rate), self.signal)

    @property
    def on_target_rate(self) -> Array | float:
        """Share of what is detected of each gene that is its own."""
        return 1.0 if self.off_target is None else 1.0 - self.off_target

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


class OnPlatform(Criterion):
    """The mean of F over draws of what the platform detects.

    A draw is a set of blocks whose genes are as long as the platform makes them, so that everything
    that minimises or bounds a sum of blocks does so here.  `scale` is that of `criterion`, which
    has the median efficiencies and no failures: what a panel preserves is on the same scale as
    without draws.
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
            seen = self.instrument.amplitude(self.instrument.efficiency)
            of_draws = self.instrument.amplitude(drawn * detection.on_target_rate)
            gains *= np.divide(of_draws, seen, out=np.zeros_like(gains), where=seen > 0)
        self.blocks = [
            replace(block, genes=block.genes * gain[:, None], weights=block.weights / n_draws)
            for gain in gains
            for block in criterion.blocks
        ]
        #: Number of draws
        self.n_draws = n_draws

    def on(self, genes: Index | slice) -> list[Block]:
        """Every draw, of some genes."""
        return [block.only(genes) for block in self.blocks]

    def preserved_in_draws(self, panel: Index) -> Array:
        """Share that a panel preserves in each draw, shape (n_draws,)."""
        errors = np.array([errors_along(block)[-1] for block in self.on(panel)]) * self.n_draws
        of_draws = self._joined(errors.reshape(self.n_draws, -1).T)
        return np.asarray((self.errors(panel[:0])[0] - of_draws) / self.scale)
