"""``glfs-bio rank``."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

import glfs_bio

from ..methods import METHODS
from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _results as results
from . import _values as values
from ._progress import progress

_KEY = "ranking"


def rank(
    source: options.Source,
    method: options.Method = "glfs",
    n_genes: Annotated[
        int | None, typer.Option(help="Genes of the panel that the ranking is for.")
    ] = None,
    table: options.Table = None,
    lambda1: options.Lambda1 = 100.0,
    n_comps: options.NComps = 50,
    use_rep: options.UseRep = None,
    neighbors_key: options.NeighborsKey = None,
    n_neighbors: options.NNeighbors = 15,
    layer: options.Layer = None,
    mask_var: options.MaskVar = None,
    exclude: options.Genes = None,
    batch_key: options.BatchKey = None,
    structure_key: options.StructureKey = "glfs_structure",
    symbols: options.Symbols = None,
    missing: options.Missing = "raise",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    seed: options.Seed = 0,
    debug: options.Debug = False,
) -> None:
    """Rank every gene by one method; prints gene, score, rank, weight and loss, best first."""
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, table=table, overwrite=overwrite)
        excluded = values.genes(exclude)
        adata = files.load(source, transpose=transpose, log1p=log1p)
        from .._anndata import selection

        called = selection.names(adata, symbols).fillna(adata.var_names.to_series())
        with progress():
            glfs_bio.pp.select_genes(
                adata,
                n_genes,
                method=method,
                lambda1=lambda1,
                n_comps=n_comps or None,
                use_rep=use_rep,
                neighbors_key=neighbors_key,
                n_neighbors=n_neighbors,
                layer=layer,
                mask_var=mask_var,
                exclude=excluded,
                symbols=symbols,
                missing=cast("Any", missing),  # select_genes checks it
                batch_key=batch_key,
                structure_key=structure_key,
                key_added=_KEY,
                random_state=seed,
            )
        frame = selection.ranked(adata, _KEY, only="tested")
        frame.insert(0, "gene", called.loc[frame.index])
        frame["rank"] = frame["rank"].astype(int)
        columns = ["gene", "score", "rank", "weight", "loss"]
        messages.note(f"{method}: {results.summary(adata.uns[_KEY])}")
        files.put_table(frame[columns], table, overwrite=overwrite)


rank.__doc__ = f"""{rank.__doc__}

    Methods: {", ".join(METHODS)}.

    Example: glfs-bio rank pbmc.h5ad --method glfs --table ranking.csv
"""
