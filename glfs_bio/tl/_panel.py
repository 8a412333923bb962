"""A panel, from any of its forms, and the criterion for its evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import constraints, names, read, write
from .._anndata import platform as platforms
from .._anndata import target as targets
from .._anndata.structure import Parameters, parameters_of, structure_of
from ..criterion.panel import MeasuredPanel, Substitutions
from ..data.threads import few_threads
from ..methods import ACROSS
from ..options import Platform, Preserve
from ..pp import recorded_parameters
from ..selection import check_batches, warn_of_noise
from ..solvers.constraints import ALONE

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from anndata import AnnData

    from .._anndata.names import Genes, Named
    from .._anndata.platform import OfGenes
    from .._anndata.structure import Structure
    from .._typing import Index
    from ..criterion.criterion import Criterion


@dataclass(frozen=True)
class Basis:
    """What panels are evaluated by."""

    structure: Structure
    #: Over all genes
    criterion: Criterion
    preserve: Preserve
    platform: OfGenes

    def record(self) -> dict[str, Any]:
        """Return what it is, for ``.uns``."""
        return {
            "preserve": write.storable(self.preserve.target),
            "cell_weights": write.storable(self.preserve.cell_weights),
            "structure": self.structure.parameters.record(),
        }


@dataclass(frozen=True)
class Panel:
    """A panel and what it is evaluated by."""

    #: In the rows of ``.var``
    named: Named
    basis: Basis

    @property
    def layer(self) -> str | None:
        """Layer that it is evaluated by."""
        return self.basis.structure.parameters.layer

    @property
    def genes(self) -> Index:
        """Rows of ``.var``."""
        return self.named.genes

    def few_threads(self) -> AbstractContextManager[object]:
        """Context for what is computed of its genes, see :mod:`~glfs_bio.data.threads`."""
        return few_threads(self.basis.criterion.rank)

    @cached_property
    def measured(self) -> MeasuredPanel:
        """The panel with E once its genes are measured."""
        return MeasuredPanel(self.basis.criterion, self.genes)


def find(
    adata: AnnData,
    panel: Any,
    *,
    symbols: str | None = None,
    preserve: Any = None,
    platform: Platform | None = None,
    across: str = "mean",
    basis: Basis | None = None,
) -> Panel:
    """Find the genes of a panel, and what it is evaluated by unless that is at hand.

    Names that are not in the data are left out with a warning.
    """
    named = names.panel(adata, panel, symbols=symbols, missing="warn")
    if basis is None:
        basis = basis_of(
            adata,
            named.key,
            symbols=symbols,
            preserve=preserve,
            platform=platform,
            across=across,
        )
    return Panel(named, basis)


def basis_of(
    adata: AnnData,
    key: str | None = None,
    *,
    symbols: str | None = None,
    preserve: Any = None,
    platform: Platform | None = None,
    across: str = "mean",
) -> Basis:
    """Return what a selection, or another panel (None), is evaluated by.

    With ``preserve=None`` that is what the selection was made for, in the structure that it was
    chosen by; another panel is evaluated by the structure of the matrix.
    """
    read.unique_names(adata)
    checks.one_of("across", across, ACROSS)
    recorded: dict[str, Any] = {}
    own = Parameters()
    if key is not None and key in adata.uns:
        recorded = recorded_parameters(adata, key)
        own = Parameters.restored(
            adata.uns[key]["structure"], stored_key=_stored_key(adata, recorded)
        )
    if preserve is None:
        preserve = Preserve(
            recorded.get("preserve", targets.STRUCTURE), recorded.get("cell_weights")
        )
    elif not isinstance(preserve, Preserve):
        preserve = Preserve(preserve)
    if preserve.use_rep is not None:
        own = parameters_of(adata, use_rep=preserve.use_rep)
    if platform is None:
        platform = recorded.get("platform")
    target = targets.resolve(
        adata, preserve.target, preserve.cell_weights, symbols=symbols, missing="warn"
    )
    on_platform = platforms.of_genes(adata, platform, own.layer, symbols)
    detection = on_platform.detection
    check_batches(across, one_set=own.batch_key is None)
    structure = structure_of(adata, own)
    efficiency = None if detection is None else detection.noise
    criterion = structure.criterion(target, worst=across == "worst", efficiency=efficiency)
    warn_of_noise(criterion)
    return Basis(structure, criterion, preserve, on_platform)


def _stored_key(adata: AnnData, recorded: dict[str, Any]) -> str | None:
    """Key of the structure that a selection named, if it is still there."""
    name = recorded["use_rep"]
    return name if name in adata.uns and name in adata.varm else None


def substitutions(
    adata: AnnData, found: Panel, leaving: Index, exclude: Genes | None, *, symbols: str | None
) -> Substitutions:
    """Return what comes of replacing genes of a panel; the score is −∞ where that cannot be.

    A gene of the panel, or one that is excluded, is no substitute.  Where the panel is a selection,
    neither is a gene that could not be selected, nor one with which its limits would not hold.
    """
    lost, score = found.measured.substitutions(leaving)
    out = names.gene_mask(adata, exclude, "exclude", symbols=symbols, missing="warn")
    key = found.named.key
    limits = None
    if key is not None:
        out |= adata.var[f"{key}_score"].isna().to_numpy()
        limits = recorded_parameters(adata, key)["limits"] if key in adata.uns else None
    out[found.genes] = True
    score[:, out] = -np.inf
    platform = found.basis.platform
    rows = constraints.rows(adata, limits, layer=found.layer, allowed=~out, platform=platform)
    if rows is not None:
        tied = rows.groups is not None and rows.groups != ALONE
        score[:, tied] = -np.inf
        score[np.isin(leaving, np.flatnonzero(tied))] = -np.inf
        used = rows.sums(found.genes)
        for place, gene in enumerate(leaving):
            rest = used - rows.sums([gene])
            score[place, ~(rows.within(rest) & rows.enough(rest))] = -np.inf
    return Substitutions(lost, score)
