"""``glfs-bio efficiency``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import glfs_bio

from . import _files as files
from . import _options as options
from ._command import command
from ._stderr import note

Reference = Annotated[
    Path,
    typer.Argument(metavar="REFERENCE", help="Cells × genes with raw counts: .h5ad or .zarr."),
    files.Reads(),
]
Spatial = Annotated[
    Path,
    typer.Argument(metavar="SPATIAL", help="The same of cells that the platform measured."),
    files.Reads(),
]


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.estimate_efficiency``."""

    labels: options.Labels = None
    counts_layer: Annotated[str, "Layer of raw counts of REFERENCE, or X."] = "X"
    spatial_layer: Annotated[str, "Layer of raw counts of SPATIAL, or X."] = "X"


@command
def efficiency(
    reference: Reference,
    spatial: Spatial,
    arguments: Arguments,
    table: options.Table = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Estimate the detection efficiency of each gene; prints a table as TSV.

    Example: glfs-bio efficiency atlas.h5ad xenium.h5ad --labels cell_type --table efficiency.csv
    """
    found = glfs_bio.tl.estimate_efficiency(
        files.load(reference), files.load(spatial), **vars(arguments)
    )
    n_measured, middle = int(found["measured"].sum()), found["efficiency"].median()
    note(f"{n_measured} of {len(found)} genes were measured; the median efficiency is {middle:.2g}")
    files.put_table(found.rename_axis("gene").reset_index(), table, overwrite=overwrite)
