"""``glfs-bio enrich``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _values as values


def enrich(
    source: options.Source,
    gene_sets: Annotated[
        str, typer.Option(help="GMT file, or name of a library of gseapy, which is downloaded.")
    ],
    table: options.Table = None,
    output: options.Output = None,
    key: options.Key = "glfs",
    method: Annotated[str, typer.Option(help="ora or prerank.")] = "ora",
    background: Annotated[
        str | None,
        typer.Option(
            help="File of genes, or genes with commas between them; the tested genes if not given."
        ),
    ] = None,
    min_cells: Annotated[
        int | None, typer.Option(help="Leave tested genes out that fewer cells express.")
    ] = None,
    symbols: options.Symbols = None,
    min_size: Annotated[int | None, typer.Option(help="Fewest genes of a set.")] = None,
    max_size: Annotated[int | None, typer.Option(help="Most genes of a set.")] = None,
    organism: Annotated[str, typer.Option(help="Of the library of gseapy.")] = "human",
    permutations: Annotated[int, typer.Option(help="For prerank.")] = 1000,
    weight: Annotated[float, typer.Option(help="For prerank: exponent of the score.")] = 0.0,
    jobs: Annotated[int, typer.Option(help="For prerank: threads.")] = 1,
    key_added: Annotated[
        str | None, typer.Option(help="Key of uns; KEY_enrichment if not given.")
    ] = None,
    overwrite: options.Overwrite = False,
    seed: Annotated[int, typer.Option(help="Seed of the permutations.")] = 0,
    debug: options.Debug = False,
) -> None:
    """Find the gene sets that a selection is rich in; prints a table with tabs.

    IN holds a selection: what `glfs-bio select -o` wrote.

    Example: glfs-bio enrich panel.h5ad --gene-sets reactome.gmt --table terms.csv
    """
    with messages.told_in_one_line(debug=debug):
        file = [Path(gene_sets)] if gene_sets.lower().endswith(".gmt") else []
        files.check_files(source, *file, cells=output, table=table, overwrite=overwrite)
        if file:
            glfs_bio.io.read_gmt(gene_sets)  # what is wrong with it is told before cells are read
        universe = None if background is None else values.names(background)
        adata = files.load(source)
        where = f"{key}_enrichment" if key_added is None else key_added
        glfs_bio.tl.enrich(
            adata,
            gene_sets,
            key=key,
            method=cast("Any", method),  # tl.enrich checks it
            background=universe,
            min_cells=min_cells,
            symbols=symbols,
            min_size=min_size,
            max_size=max_size,
            organism=organism,
            n_permutations=permutations,
            weight=weight,
            n_jobs=jobs,
            key_added=where,
            random_state=seed,
        )
        entry = adata.uns[where]
        terms = entry["results"].rename_axis("term").reset_index()
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        messages.note(
            f"{(terms['pvals_adj'] <= 0.05).sum()} of {len(terms)} gene sets with an adjusted "
            f"p-value up to 0.05; {entry['n_selected']} of {entry['n_background']} genes selected"
        )
        files.put_table(terms, table, overwrite=overwrite)
