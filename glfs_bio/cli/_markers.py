"""``glfs-bio markers``."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _values as values


def markers(
    source: options.Source,
    panel: options.Panel,
    labels: Annotated[str, typer.Option(help="Column of obs with labels, such as cell types.")],
    output: options.Output = None,
    table: options.Table = None,
    n_markers: Annotated[int, typer.Option(help="Most genes to tell a label by.")] = 3,
    beta: Annotated[float, typer.Option(help="Of F-beta: below 1 favours precision.")] = 0.5,
    layer: options.Layer = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "warn",
    key_added: options.KeyAdded = "glfs_markers",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Say for every label which genes of a panel mark it, and how well.

    Example: glfs-bio markers pbmc.h5ad panel.txt --labels cell_type --table markers.tsv
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, overwrite=overwrite)
        named = values.panel(panel)
        adata = files.load(source, transpose=transpose, log1p=log1p)
        glfs_bio.tl.markers(
            adata,
            named,
            labels,
            n_markers=n_markers,
            beta=beta,
            layer=layer,
            symbols=symbols,
            missing=cast("Any", missing),  # tl.markers checks it
            key_added=key_added,
        )
        frame = adata.uns[key_added]["table"]
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        worst = frame.loc[frame["f_beta"].idxmin()]
        messages.note(
            f"F-beta of {len(frame)} labels {frame['f_beta'].mean():.2f} in the mean; least of "
            f"{worst['label']} ({worst['f_beta']:.2f})"
        )
        files.put_table(frame, table, overwrite=overwrite)
