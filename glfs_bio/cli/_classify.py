"""``glfs-bio classify``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any, Literal, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _values as values


def classify(
    source: options.Source,
    groupby: Annotated[
        str, typer.Option(help="Column of obs with the labels, empty where they are not known.")
    ],
    output: options.Output = None,
    table: options.Table = None,
    model: Annotated[
        Path | None, typer.Option(help="Write the classifier here, for glfs-bio predict: .json.")
    ] = None,
    train: Annotated[
        str | None, typer.Option(help="Boolean column of obs: cells to learn from.")
    ] = None,
    n_genes: Annotated[
        list[int] | None,
        typer.Option(help="Number of genes; repeated, cross-validation chooses. Default: 1 to 30."),
    ] = None,
    graph: Annotated[str, typer.Option(help="auto, classes, neighbors or labels.")] = "auto",
    lambda1: Annotated[float, typer.Option(help="λ1 of the classifier.")] = 0.1,
    lambda2: Annotated[float, typer.Option(help="λ2 of the classifier.")] = 10.0,
    n_comps: Annotated[
        str, typer.Option(help="Principal components; 0 is full rank; or auto.")
    ] = "auto",
    mask_var: options.MaskVar = None,
    include: options.Genes = None,
    exclude: options.Genes = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "raise",
    batch_key: options.BatchKey = None,
    layer: options.Layer = None,
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 10,
    key_added: Annotated[str, typer.Option(help="Prefix of what is written.")] = "glfs_class",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    seed: Annotated[int, typer.Option(help="Seed of folds and principal components.")] = 0,
    debug: options.Debug = False,
) -> None:
    """Predict labels from a few genes; prints cell, label and prediction, with tabs.

    Example: glfs-bio classify pbmc.h5ad --groupby cell_type --n-genes 25 --table predicted.csv
    """
    with messages.told_in_one_line(debug=debug):
        from .._files import check_target

        files.check_files(source, cells=output, table=table, overwrite=overwrite)
        if model is not None:
            check_target(model, overwrite=overwrite)
            if model.suffix.lower() != ".json":
                msg = f"--model {model} must end with .json."
                raise ValueError(msg)
        components = _components(n_comps)
        adata = files.load(source, transpose=transpose, log1p=log1p)
        glfs_bio.tl.classify(
            adata,
            groupby,
            train=train,
            n_genes=n_genes[0] if n_genes and len(n_genes) == 1 else n_genes,
            graph=cast("Any", graph),  # tl.classify checks it
            lambda1=lambda1,
            lambda2=lambda2,
            n_comps=components,
            mask_var=mask_var,
            include=values.genes(include),
            exclude=values.genes(exclude),
            symbols=symbols,
            missing=cast("Any", missing),
            batch_key=batch_key,
            layer=layer,
            cv=cv,
            key_added=key_added,
            random_state=seed,
        )
        import pandas as pd

        predictions = pd.DataFrame(
            {
                "cell": adata.obs_names,
                "label": adata.obs[groupby].to_numpy(),
                "predicted": adata.obs[f"{key_added}_predicted"].to_numpy(),
            }
        )
        if model is not None:
            glfs_bio.io.write_classifier(adata, model, key=key_added, overwrite=overwrite)
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        messages.note(_summary(adata.uns[key_added]))
        files.put_table(predictions, table, overwrite=overwrite)


def _components(text: str) -> int | Literal["auto"] | None:
    if text == "auto":
        return "auto"
    try:
        return int(text) or None
    except ValueError:
        msg = f"--n-comps {text} must be a whole number, or auto."
        raise ValueError(msg) from None


def _summary(entry: dict[str, Any]) -> str:
    told = [f"{entry['n_genes']} genes: {', '.join(entry['genes'])}"]
    if "cv_errors" in entry:
        told.append(f"{min(entry['cv_errors'])}/{entry['n_tested']} errors in cross-validation")
    if "test_errors" in entry:
        told.append(f"{entry['test_errors']}/{entry['n_test']} errors outside --train")
    return "; ".join(told)
