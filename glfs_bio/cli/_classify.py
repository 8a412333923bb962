"""``glfs-bio classify``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import glfs_bio

from . import _files as files
from . import _options as options
from . import _values as values
from ._command import command, given


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.classify``."""

    labels: Annotated[str, "Column of obs with the labels, missing for unlabelled cells."]
    train: Annotated[str | None, "Boolean column of obs with the cells to learn from."] = None
    n_genes: Annotated[
        Any,
        "Number of genes; if repeated, cross-validation chooses. Default: 1 to 30.",
        values.As(list[int] | None, lambda sizes, _: sizes[0] if len(sizes) == 1 else sizes),
    ] = None
    graph: Annotated[str, "Selection of the genes: auto, classes, neighbors or labels."] = "auto"
    lambda1: Annotated[float, "Weight λ1 of the graph in the classifier."] = 0.1
    lambda2: Annotated[float, "Weight λ2 of the coefficients in the classifier."] = 10.0
    n_comps: Annotated[
        Any,
        "Number of principal components; 0 for full rank, or auto.",
        values.As(str, values.whole_or_auto),
    ] = "auto"
    include: options.Genes = None
    exclude: options.Genes = None
    symbols: options.Symbols = None
    batch_key: options.BatchKey = None
    layer: options.Layer = None
    cv: Annotated[int, "Number of folds of the cross-validation."] = 10
    key_added: Annotated[str, "Key of uns, and prefix of the columns."] = "glfs_class"
    random_state: Annotated[
        int, options.seed("Seed of the folds and the principal components.")
    ] = 0


@command
def classify(
    cells: options.Cells,
    arguments: Arguments,
    written: options.Written,
    model: Annotated[
        Path | None,
        "File for the classifier, for glfs-bio predict: .json.",
        files.Writes((".json",)),
    ] = None,
) -> None:
    """Classify cells by a few genes; prints cell, label and prediction as TSV.

    Example: glfs-bio classify pbmc.h5ad --labels cell_type --n-genes 25 --table predicted.csv
    """
    adata = cells.load()
    keywords = given(arguments) | {"n_comps": arguments.n_comps or None}
    glfs_bio.tl.classify(adata, **keywords)
    import pandas as pd

    predictions = pd.DataFrame(
        {
            "cell": adata.obs_names,
            "label": adata.obs[arguments.labels].to_numpy(),
            "predicted": adata.obs[f"{arguments.key_added}_predicted"].to_numpy(),
        }
    )
    if model is not None:
        glfs_bio.io.write_classifier(
            adata, model, key=arguments.key_added, overwrite=written.overwrite
        )
    written.put(adata, predictions, _summary(adata.uns[arguments.key_added]))


def _summary(entry: dict[str, Any]) -> str:
    parts = [f"{entry['n_genes']} genes: {', '.join(entry['genes'])}"]
    if "cv_errors" in entry:
        parts.append(f"{min(entry['cv_errors'])}/{entry['n_tested']} errors in cross-validation")
    if "test_errors" in entry:
        parts.append(f"{entry['test_errors']}/{entry['n_test']} errors outside --train")
    return "; ".join(parts)
