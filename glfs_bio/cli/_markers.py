"""``glfs-bio markers``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import glfs_bio

from . import _options as options  # noqa: TC001 - typer reads the annotations
from ._command import command, given


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.markers``."""

    labels: Annotated[str, "Column of obs with labels, such as cell types."]
    n_markers: Annotated[int, "Maximum number of markers per label."] = 3
    beta: Annotated[float, "β of the F-beta score; below 1 favours precision."] = 0.5
    layer: options.Layer = None
    symbols: options.Symbols = None
    key_added: options.KeyAdded = "glfs_markers"


@command
def markers(
    cells: options.Cells, panel: options.Panel, arguments: Arguments, written: options.Written
) -> None:
    """Find the markers of each label in a panel; prints them with their scores as TSV.

    Example: glfs-bio markers pbmc.h5ad panel.txt --labels cell_type --table markers.tsv
    """
    adata = cells.load()
    glfs_bio.tl.markers(adata, panel, **given(arguments))
    frame = adata.uns[arguments.key_added]["table"]
    worst = frame.loc[frame["f_beta"].idxmin()]
    summary = (
        f"mean F-beta of {len(frame)} labels {frame['f_beta'].mean():.2f}; lowest "
        f"{worst['label']} ({worst['f_beta']:.2f})"
    )
    written.put(adata, frame, summary)
