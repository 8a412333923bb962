"""``glfs-bio report``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

import glfs_bio

from . import _common as common
from . import _options as options


def report(
    source: options.Source,
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write: .html.")],
    key: options.Key = "glfs",
    groupby: Annotated[
        str | None, typer.Option(help="Column of obs that colours the cells.")
    ] = None,
    symbols: options.Symbols = None,
    stability_key: Annotated[
        str | None, typer.Option(help="Stability; KEY_stability, if it is there.")
    ] = None,
    enrichment_key: Annotated[
        str | None, typer.Option(help="Enrichment; KEY_enrichment, if it is there.")
    ] = None,
    evaluation_key: Annotated[
        str | None, typer.Option(help="Evaluation; KEY_evaluation or glfs_evaluation, if there.")
    ] = None,
    explanation_key: Annotated[
        str | None, typer.Option(help="Explanation; KEY_explanation or glfs_explanation, if there.")
    ] = None,
    substitutes_key: Annotated[
        str | None, typer.Option(help="Substitutes; KEY_substitutes or glfs_substitutes, if there.")
    ] = None,
    layer: options.Layer = None,
    link: Annotated[
        str | None,
        typer.Option(
            help="Page about {gene}; none for no links.", show_default="a search of NCBI Gene"
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Heading.")] = "Selected genes",
    overwrite: options.Overwrite = False,
    seed: Annotated[int, typer.Option(help="Seed of the UMAPs.")] = 0,
    debug: options.Debug = False,
) -> None:
    """Write a selection as one HTML file that needs no network.

    IN holds a selection: what `glfs-bio select -o` wrote.

    Example: glfs-bio report panel.h5ad -o report.html --groupby cell_type
    """
    with common.told_in_one_line(debug=debug):
        glfs_bio.io.check_target(output, overwrite=overwrite)
        glfs_bio.io.write_report(
            common.load(source),
            output,
            key=key,
            groupby=groupby,
            symbols=symbols,
            stability_key=stability_key,
            enrichment_key=enrichment_key,
            evaluation_key=evaluation_key,
            explanation_key=explanation_key,
            substitutes_key=substitutes_key,
            layer=layer,
            **({} if link is None else {"link": None if link == "none" else link}),
            title=title,
            overwrite=overwrite,
            random_state=seed,
            show_progress=common.errors.is_terminal,
        )
