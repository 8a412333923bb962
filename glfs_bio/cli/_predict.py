"""``glfs-bio predict``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options


def predict(
    source: options.Source,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="What glfs-bio classify --model wrote.")
    ],
    output: options.Output = None,
    table: options.Table = None,
    layer: options.Layer = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "raise",
    unsure: Annotated[
        float | None,
        typer.Option(help="Leave cells with a smaller margin without a label; 1 is typical."),
    ] = None,
    key_added: options.KeyAdded = "glfs_class",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    backed: options.Backed = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Predict labels of other cells by a classifier; prints cell, prediction and margin, with tabs.

    Example: glfs-bio predict new.h5ad blood.json --unsure 0.1 --table predicted.csv
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, model, cells=output, table=table, overwrite=overwrite)
        classifier = glfs_bio.io.read_classifier(model)
        adata = files.load(source, transpose=transpose, log1p=log1p, backed=backed)
        glfs_bio.tl.predict(
            adata,
            classifier,
            layer=layer,
            symbols=symbols,
            missing=cast("Any", missing),  # tl.predict checks it
            unsure=unsure,
            key_added=key_added,
        )
        import pandas as pd

        predictions = pd.DataFrame(
            {
                "cell": adata.obs_names,
                "predicted": adata.obs[f"{key_added}_predicted"].to_numpy(),
                "margin": adata.obs[f"{key_added}_margin"].to_numpy(),
            }
        )
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        messages.note(_summary(adata.uns[key_added], adata.n_obs))
        files.put_table(predictions, table, overwrite=overwrite)


def _summary(entry: dict[str, Any], n_cells: int) -> str:
    told = entry["prediction"]
    absent = len(told.get("absent", ()))
    genes = f"{len(entry['genes']) - absent} of {len(entry['genes'])} genes"
    return f"{genes}, {n_cells - told['n_unsure']} of {n_cells} cells labelled"
