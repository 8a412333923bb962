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
        str, "GMT file, or name of a library of gseapy, which is downloaded.", files.Reads(".gmt")
    ]
    key: options.Key = "glfs"
    method: Annotated[str, "ora or prerank."] = "ora"
    background: Annotated[
        Any,
        "File of genes, or genes with commas between them; the tested genes if not given.",
        values.As(str | None, values.names),
    ] = None
    min_cells: Annotated[int | None, "Leave tested genes out that fewer cells express."] = None
    symbols: options.Symbols = None
    min_size: Annotated[int | None, "Fewest genes of a set."] = None
    max_size: Annotated[int | None, "Most genes of a set."] = None
    organism: Annotated[str, "Of the library of gseapy."] = "human"
    n_permutations: Annotated[int, typer.Option("--permutations", help="For prerank.")] = 1000
    weight: Annotated[float, "For prerank: exponent of the score."] = 0.0
    n_jobs: Annotated[int, typer.Option("--jobs", help="For prerank: threads.")] = 1
    key_added: Annotated[str | None, "Key of uns; KEY_enrichment if not given."] = None
    random_state: Annotated[int, options.seed("Seed of the permutations.")] = 0


@command
def enrich(source: options.Source, arguments: Arguments, written: options.Written) -> None:
    """Find the gene sets that a selection is rich in; prints a table with tabs.

    IN holds a selection: what `glfs-bio select -o` wrote.

    Example: glfs-bio enrich panel.h5ad --gene-sets reactome.gmt --table terms.csv
    """
    if arguments.gene_sets.lower().endswith(".gmt"):
        glfs_bio.io.read_gmt(
            arguments.gene_sets
        )  # what is wrong with it is told before cells are read
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
