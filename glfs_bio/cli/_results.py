"""Results of a selection in words, and gene names of the tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd
    from anndata import AnnData


def called(frame: pd.DataFrame, adata: AnnData, symbols: str | None) -> pd.DataFrame:
    """A table whose genes are called by a column of ``.var``, where it has a name."""
    from .._anndata import read

    if symbols is None:
        return frame
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    columns = [name for name in ("gene", "substitute") if name in frame]
    return frame.assign(**{name: frame[name].map(names) for name in columns})


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.0f} %"


def certified(share: float) -> str:
    """Return the bound on optimality, rounded down, as text; empty for NaN."""
    return "" if math.isnan(share) else f", optimality at least {math.floor(100 * share)} %"


def _is_selection(panel: object, adata: AnnData) -> TypeGuard[str]:
    return isinstance(panel, str) and panel in adata.uns and f"{panel}_selected" in adata.var


def recorded_target(adata: AnnData, panel: object) -> tuple[Any, Any]:
    """Arguments ``preserve`` and ``cell_weights`` of a selection, or their defaults."""
    import glfs_bio

    made = glfs_bio.pp.recorded_parameters(adata, panel) if _is_selection(panel, adata) else {}
    return made.get("preserve", "structure"), made.get("cell_weights")


def recorded_structure(adata: AnnData, panel: object) -> dict[str, Any]:
    """Parameters of the structure of a selection; none of a panel that is no selection."""
    if not _is_selection(panel, adata):
        return {}
    from ..codec import restored

    return {name: restored(value) for name, value in adata.uns[panel]["structure"].items()}


def preserved(entry: dict[str, Any], share: float) -> str:
    """Return the preserved share of the target, as text."""
    from .._anndata import results

    return f"{percent(share)} of {results.preserved_of(entry)}"


def _axes(numbers: Any) -> str:
    """How many axes, of one set of cells or of each."""
    import numpy as np

    every = [int(number) for number in np.atleast_1d(numbers)]
    return f"{', '.join(map(str, every))} {'axis' if every == [1] else 'axes'}"


def summary(entry: dict[str, Any]) -> str:
    """Return the result of a selection, as one line."""
    parts = [f"{entry['n_genes']} of {entry['n_tested']} genes"]
    parts.append(f"{preserved(entry, entry['preserved'][-1])} preserved")
    if "n_axes" in entry:
        parts.append(f"{_axes(entry['n_axes'])} above the noise")
    if "optimality" in entry:
        parts[-1] += certified(entry["optimality"][-1])
    if "lam" in entry:
        parts.append(f"λ = {entry['lam']:.4g}")
    if "converged" in entry:
        parts.append("converged" if entry["converged"] else "NOT converged")
    return ", ".join(parts)
