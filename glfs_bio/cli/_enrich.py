"""``glfs-bio enrich``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

import glfs_bio

from . import _files as files
from . import _options as options
from . import _values as values
from ._command import command, given


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.enrich``."""

    gene_sets: Annotated[
        str, "GMT file, or name of a gseapy library, which is downloaded.", files.Reads(".gmt")
    ]
    key: options.Key = "glfs"
    method: Annotated[str, "Method: ora or prerank."] = "ora"
    background: Annotated[
        Any,
        "Background genes: a file, or names separated by commas. Default: the candidate genes.",
        values.As(str | None, values.names),
    ] = None
    min_cells: Annotated[int | None, "Minimum number of cells that express a background gene."] = (
        None
    )
    symbols: options.Symbols = None
    min_size: Annotated[int | None, "Minimum number of genes of a set."] = None
    max_size: Annotated[int | None, "Maximum number of genes of a set."] = None
    organism: Annotated[str, "Organism of the gseapy library."] = "human"
    n_permutations: Annotated[
        int, typer.Option("--permutations", help="Number of permutations, for prerank.")
    ] = 1000
    weight: Annotated[float, "Exponent of the score, for prerank."] = 0.0
    n_jobs: Annotated[int, typer.Option("--jobs", help="Number of threads, for prerank.")] = 1
    key_added: Annotated[str | None, "Key of uns. Default: KEY_enrichment."] = None
    random_state: Annotated[int, options.seed("Seed of the permutations.")] = 0


@command
def enrich(source: options.Source, arguments: Arguments, written: options.Written) -> None:
    """Find the gene sets that are enriched in a selection; prints a table as TSV.

    IN is an output of `glfs-bio select -o`.

    Example: glfs-bio enrich panel.h5ad --gene-sets reactome.gmt --table terms.csv
    """
    if arguments.gene_sets.lower().endswith(".gmt"):
        glfs_bio.io.read_gmt(arguments.gene_sets)  # errors in it are reported before cells are read
    adata = files.load(source)
    where = f"{arguments.key}_enrichment" if arguments.key_added is None else arguments.key_added
    glfs_bio.tl.enrich(adata, **given(arguments) | {"key_added": where})
    entry = adata.uns[where]
    terms = entry["table"].rename_axis("term").reset_index()
    summary = (
        f"{(terms['pvals_adj'] <= 0.05).sum()} of {len(terms)} gene sets with an adjusted "
        f"p-value up to 0.05; {entry['n_selected']} of {entry['n_background']} genes selected"
    )
    written.put(adata, terms, summary)
