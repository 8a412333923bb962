"""``glfs-bio report``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

import glfs_bio

from . import _files as files
from . import _options as options
from ._command import command

_NO_LINKS = "none"


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``io.write_report``."""

    key: options.Key = "glfs"
    labels: Annotated[str | None, "Column of obs that colours the cells."] = None
    symbols: options.Symbols = None
    stability_key: Annotated[str | None, "Key of the stability. Default: KEY_stability."] = None
    enrichment_key: Annotated[str | None, "Key of the enrichment. Default: KEY_enrichment."] = None
    evaluation_key: Annotated[
        str | None, "Key of the evaluation. Default: KEY_evaluation or glfs_evaluation."
    ] = None
    explanation_key: Annotated[
        str | None, "Key of the explanation. Default: KEY_explanation or glfs_explanation."
    ] = None
    substitutes_key: Annotated[
        str | None, "Key of the substitutes. Default: KEY_substitutes or glfs_substitutes."
    ] = None
    layer: options.Layer = None
    umaps: Annotated[
        bool | None,
        typer.Option(
            "--umaps/--no-umaps",
            help="Compute UMAPs that are not in IN.",
            show_default="of up to 20,000 cells",
        ),
    ] = None
    link: Annotated[
        str | None, "Web address of a page on {gene}, or none. Default: the search of NCBI Gene."
    ] = None
    title: Annotated[str, "Heading of the report."] = "Selected genes"
    random_state: Annotated[int, options.seed("Seed of the UMAPs.")] = 0


@command
def report(
    source: options.Source,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File for the report: .html."),
        files.Writes((".html", ".htm")),
    ],
    arguments: Arguments,
    keep: Annotated[
        Path | None,
        "File for the cells with the UMAPs, for later reports: .h5ad or .zarr.",
        files.Writes(files.CELLS),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a selection as one HTML file that needs no network.

    IN is an output of `glfs-bio select -o`.

    Example: glfs-bio report panel.h5ad -o report.html --labels cell_type
    """
    adata = files.load(source)
    if keep is not None or arguments.layer is not None or arguments.random_state:
        glfs_bio.tl.panel_umap(
            adata, arguments.key, layer=arguments.layer, random_state=arguments.random_state
        )
    if keep is not None:
        files.put_cells(adata, keep, overwrite=overwrite)
    results = {
        "stability": arguments.stability_key,
        "enrichment": arguments.enrichment_key,
        "evaluation": arguments.evaluation_key,
        "explanation": arguments.explanation_key,
        "substitutes": arguments.substitutes_key,
    }
    link: dict[str, Any] = (
        {}
        if arguments.link is None
        else {"link": None if arguments.link == _NO_LINKS else arguments.link}
    )
    with files.replacing(output, ".html", overwrite=overwrite) as name:
        glfs_bio.io.write_report(
            adata,
            name,
            key=arguments.key,
            labels=arguments.labels,
            symbols=arguments.symbols,
            results={what: key for what, key in results.items() if key is not None},
            umaps=arguments.umaps,
            title=arguments.title,
            **link,
        )
