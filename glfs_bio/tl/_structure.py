"""A panel, and the structure that it is judged by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import names, read, write
from .._anndata import structure as structures
from .._anndata.target import STRUCTURE, seen_by, shares, wanted
from ..criterion.panel import MeasuredPanel
from ..pp import recorded_parameters
from ..pp._structure import compute

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes, Missing, Named
    from .._anndata.structure import Structure
    from .._anndata.target import Detection, Preserve
    from .._typing import Index


@dataclass(frozen=True)
class Judged:
    """A panel and what it is judged by.

    Attributes
    ----------
    named
        The panel, in the rows of ``.var``.
    structure
        Of the cells.
    panel
        The panel's genes among those of the structure.
    """

    named: Named
    structure: Structure
    panel: Index

    @cached_property
    def measured(self) -> MeasuredPanel:
        """The panel with E once its genes are measured."""
        return MeasuredPanel(self.structure.criterion, self.panel)

    @property
    def by(self) -> dict[str, Any]:
        """``preserve`` and ``cell_weights`` that it is judged by, for a record."""
        return {name: self.structure.params[name] for name in ("preserve", "cell_weights")}


def judged(
    adata: AnnData,
    panel: Any,
    *,
    symbols: str | None,
    missing: Missing,
    structure_key: str,
    preserve: Preserve | None = None,
    cell_weights: str | None = None,
    detection: Detection | None = None,
    structure: Structure | None = None,
) -> Judged:
    """Find the genes of a panel, and the structure unless it is at hand.

    With ``preserve=None`` a selection is judged by what it was made for, another panel by the
    structure.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.names.panel`, :func:`structure_of` and :func:`preserving`; a
        gene that the structure leaves out.
    """
    named = names.panel(adata, panel, symbols=symbols, missing=missing)
    found = structure
    if found is None:
        recorded = {}
        if named.key is not None and named.key in adata.uns:
            recorded = recorded_parameters(adata, named.key)
        if preserve is None:
            preserve = recorded.get("preserve")
            cell_weights = cell_weights or recorded.get("cell_weights")
        found = preserving(
            adata,
            partial(structure_of, adata, named.key, structure_key),
            STRUCTURE if preserve is None else preserve,
            cell_weights,
            detection=recorded.get("detection") if detection is None else detection,
            symbols=symbols,
            missing=missing,
        )
    return Judged(named, found, names.places(adata, found.genes, named.genes, "panel"))


def preserving(
    adata: AnnData,
    structure_of_cells: Callable[[], Structure],
    preserve: Preserve,
    cell_weights: str | None,
    *,
    detection: Detection | None = None,
    symbols: str | None,
    missing: Missing,
) -> Structure:
    """The structure with F of what is to be kept, which is checked before it is computed.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio._anndata.target.wanted`.
    """
    read.check(adata)
    asked = wanted(adata, preserve, cell_weights, symbols=symbols, missing=missing)
    structure = structure_of_cells()
    params = {
        **structure.params,
        "preserve": write.storable(preserve),
        "cell_weights": write.storable(cell_weights),
    }
    if asked is None and detection is None:
        return replace(structure, params=params)
    of_sets = detected = None
    if asked is not None:
        asked = seen_by(adata, asked, structure.genes)
        of_sets = [asked.rows(cells) for cells in structure.cells]
    if detection is not None:
        detected = shares(adata, detection, structure.layer)[structure.genes]
    criterion = structure.reduced.criterion(of_sets, detection=detected)
    return replace(structure, criterion=criterion, params=params)


def structure_of(adata: AnnData, key: str | None, structure_key: str) -> Structure:
    """What ``pp.structure`` kept; else computed, for a selection by the parameters it was made by.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio.pp.structure`.
    """
    kept = structures.load(adata, structure_key)
    if kept is not None:
        return kept
    params = {} if key is None or key not in adata.uns else recorded_parameters(adata, key)
    return compute(adata, params)


def closed(
    adata: AnnData, found: Judged, exclude: Genes | None, *, symbols: str | None, missing: Missing
) -> NDArray[np.bool_]:
    """Which genes of the structure cannot be a substitute.

    Those of the panel, those excluded, and where the panel is a selection those that could not be
    selected.
    """
    out = names.gene_mask(adata, exclude, "exclude", symbols=symbols, missing=missing)
    if found.named.key is not None:
        out |= adata.var[f"{found.named.key}_score"].isna().to_numpy()
    out[found.named.genes] = True
    return np.asarray(out[found.structure.genes])
