"""``glfs-bio predict``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

import glfs_bio

from . import _files as files
from . import _options as options
from ._command import command, given


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.predict``."""

    layer: options.Layer = None
    symbols: options.Symbols = None
    unsure: Annotated[float | None, "Minimum margin of a predicted label; 1 is typical."] = None
    key_added: options.KeyAdded = "glfs_class"


@command
def predict(
    cells: options.Cells,
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="Classifier: a file of glfs-bio classify --model."),
        files.Reads(),
    ],
    arguments: Arguments,
    written: options.Written,
    backed: options.Backed = False,
) -> None:
    """Predict labels by a classifier; prints cell, prediction and margin as TSV.

    Example: glfs-bio predict new.h5ad blood.json --unsure 0.1 --table predicted.csv
    """
    classifier = glfs_bio.io.read_classifier(model)
    adata = cells.load(backed=backed)
    glfs_bio.tl.predict(adata, classifier, **given(arguments))
    import pandas as pd

    predictions = pd.DataFrame(
        {
            "cell": adata.obs_names,
            "predicted": adata.obs[f"{arguments.key_added}_predicted"].to_numpy(),
            "margin": adata.obs[f"{arguments.key_added}_margin"].to_numpy(),
        }
    )
    written.put(adata, predictions, _summary(adata.uns[arguments.key_added], adata.n_obs))


def _summary(entry: dict[str, Any], n_cells: int) -> str:
    prediction = entry["prediction"]
    absent = len(prediction.get("absent", ()))
    genes = f"{len(entry['genes']) - absent} of {len(entry['genes'])} genes"
    return f"{genes}, {n_cells - prediction['n_unsure']} of {n_cells} cells labelled"
