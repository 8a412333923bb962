"""``glfs-bio select``."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any, cast

import typer

import glfs_bio

from . import _common as common
from . import _options as options


def select(
    source: options.Source,
    n_genes: Annotated[
        int | None, typer.Option(help="Genes to select; automatic if not given.")
    ] = None,
    output: options.Output = None,
    genes: Annotated[
        Path | None, typer.Option(help="Selected genes, best first, one a line.")
    ] = None,
    method: options.Method = "glfs",
    objective: Annotated[
        str, typer.Option(help="error, or the paper's: exact or printed.")
    ] = "error",
    lam: Annotated[
        str | None, typer.Option(help="Of the paper's: a value of λ, or line_search.")
    ] = None,
    swaps: Annotated[
        bool, typer.Option("--swaps", help="Exchange genes in the end while that helps.")
    ] = False,
    lambda1: options.Lambda1 = 100.0,
    n_comps: options.NComps = 50,
    use_rep: options.UseRep = None,
    neighbors_key: options.NeighborsKey = None,
    n_neighbors: options.NNeighbors = 15,
    layer: options.Layer = None,
    mask_var: options.MaskVar = None,
    include: options.Genes = None,
    exclude: options.Genes = None,
    batch_key: options.BatchKey = None,
    key_added: Annotated[str, typer.Option(help="Prefix of what is written.")] = "glfs",
    subset: Annotated[bool, typer.Option("--subset", help="Keep only selected genes.")] = False,
    transpose: options.Transpose = False,
    log1p: options.Log1p = False,
    backed: options.Backed = False,
    overwrite: options.Overwrite = False,
    seed: options.Seed = 0,
    debug: options.Debug = False,
) -> None:
    """Select genes; prints them, best first, unless --genes names a file.

    Example: glfs-bio select pbmc.h5ad --n-genes 50 -o panel.h5ad --genes genes.txt
    """
    with common.told_in_one_line(debug=debug):
        common.check_targets(cells=output, text=genes, overwrite=overwrite)
        adata = common.load(source, transpose=transpose, log1p=log1p, backed=backed)
        with common.progress():
            glfs_bio.pp.select_genes(
                adata,
                n_genes,
                method=method,
                objective=cast("Any", objective),  # select_genes checks it
                lam=common.number_or(lam, "line_search"),
                swaps=swaps,
                lambda1=lambda1,
                n_comps=n_comps or None,
                use_rep=use_rep,
                neighbors_key=neighbors_key,
                n_neighbors=n_neighbors,
                layer=layer,
                mask_var=mask_var,
                include=common.patterns(include),
                exclude=common.patterns(exclude),
                batch_key=batch_key,
                key_added=key_added,
                subset=subset,
                random_state=seed,
            )
        ranked = adata.var[adata.var[f"{key_added}_selected"]].sort_values(f"{key_added}_rank")
        listing = "".join(f"{gene}\n" for gene in ranked.index)
        if output is not None:
            common.put_cells(adata, output, overwrite=overwrite)
        common.note(common.summary(adata.uns[key_added]))
        if genes is None:
            sys.stdout.write(listing)
        else:
            with glfs_bio.io.replacing(genes, overwrite=overwrite) as name:
                name.write_text(listing, encoding="utf-8")
