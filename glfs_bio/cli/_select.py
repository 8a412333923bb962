"""``glfs-bio select``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _results as results
from . import _values as values
from ._grouped import grouped
from ._limits import Limits  # noqa: TC001 - grouped reads it
from ._preserve import Preserve  # noqa: TC001 - grouped reads it
from ._progress import progress


@grouped
def select(
    source: options.Source,
    preserve: Preserve,
    limits: Limits,
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
    lambda1: options.Lambda1 = 100.0,
    n_comps: options.NComps = 50,
    use_rep: options.UseRep = None,
    neighbors_key: options.NeighborsKey = None,
    n_neighbors: options.NNeighbors = 15,
    layer: options.Layer = None,
    mask_var: options.MaskVar = None,
    include: options.Genes = None,
    exclude: options.Genes = None,
    failure: options.Failure = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "raise",
    detection: options.Detection = None,
    batch_key: options.BatchKey = None,
    structure_key: options.StructureKey = "glfs_structure",
    also: Annotated[
        list[Path] | None,
        typer.Option(
            help="Another data set; may be repeated. Genes are matched by name, and each set is a "
            "batch. The columns of --output, which has the first set, are for all."
        ),
    ] = None,
    across: Annotated[
        str, typer.Option(help="mean over the batches or data sets, or worst: the least of them.")
    ] = "mean",
    key_added: Annotated[str, typer.Option(help="Prefix of what is written.")] = "glfs",
    subset: Annotated[bool, typer.Option("--subset", help="Keep only selected genes.")] = False,
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    backed: options.Backed = False,
    overwrite: options.Overwrite = False,
    seed: options.Seed = 0,
    debug: options.Debug = False,
) -> None:
    """Select genes; prints them, best first, unless --genes names a file.

    Example: glfs-bio select pbmc.h5ad --n-genes 50 -o panel.h5ad --genes genes.txt
    """
    with messages.told_in_one_line(debug=debug):
        others = also or []
        files.check_files(source, *others, cells=output, text=genes, overwrite=overwrite)
        if len({source, *others}) <= len(others):
            msg = "--also names a file that is given already: each data set counts once."
            raise ValueError(msg)
        included, excluded = values.genes(include), values.genes(exclude)
        within = limits.arguments() | preserve.arguments()
        if failure is not None:
            within["failure"] = values.number_or_name(failure)
        if detection is not None:
            within["detection"] = values.detection(detection)
        sets = {
            str(one): files.load(one, transpose=transpose, log1p=log1p, backed=backed)
            for one in (source, *others)
        }
        adata = sets[str(source)]
        with progress():
            glfs_bio.pp.select_genes(
                sets if others else adata,
                n_genes,
                method=method,
                objective=cast("Any", objective),  # select_genes checks it
                lam=values.number_or(lam, "line_search"),
                lambda1=lambda1,
                n_comps=n_comps or None,
                use_rep=use_rep,
                neighbors_key=neighbors_key,
                n_neighbors=n_neighbors,
                layer=layer,
                mask_var=mask_var,
                include=included,
                exclude=excluded,
                symbols=symbols,
                missing=cast("Any", missing),  # so is this
                batch_key=batch_key,
                structure_key=structure_key,
                across=cast("Any", across),
                key_added=key_added,
                subset=subset,
                random_state=seed,
                **within,
            )
        from .._anndata import selection

        ranked = adata.var[adata.var[f"{key_added}_selected"]].sort_values(f"{key_added}_rank")
        called = selection.names(adata, symbols).fillna(adata.var_names.to_series())
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        messages.note(results.summary(adata.uns[key_added]))
        files.put_names(called.loc[ranked.index], genes, overwrite=overwrite)
