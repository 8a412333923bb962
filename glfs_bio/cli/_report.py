"""``glfs-bio report``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _streams as streams


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
    keep: Annotated[
        Path | None,
        typer.Option(help="Also write IN with the UMAPs, which later reports use: .h5ad or .zarr."),
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
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, text=output, cells=keep, cells_are="--keep", overwrite=overwrite)
        if not streams.is_one(output) and output.suffix.lower() not in {".html", ".htm"}:
            msg = f"--output {output} must end with .html."
            raise ValueError(msg)
        chosen: dict[str, Any] = {} if link is None else {"link": None if link == "none" else link}
        adata = files.load(source)
        if keep is not None or layer is not None or seed:
            glfs_bio.tl.panel_umap(adata, key, layer=layer, random_state=seed)
        if keep is not None:
            files.put_cells(adata, keep, overwrite=overwrite)
        named = {
            "stability": stability_key,
            "enrichment": enrichment_key,
            "evaluation": evaluation_key,
            "explanation": explanation_key,
            "substitutes": substitutes_key,
        }
        with streams.replacing(output, ".html", overwrite=overwrite) as name:
            glfs_bio.io.write_report(
                adata,
                name,
                key=key,
                labels=groupby,
                symbols=symbols,
                results={what: name for what, name in named.items() if name is not None},
                **chosen,
                title=title,
            )
