"""``glfs-bio rank``."""

from __future__ import annotations

from typing import Annotated

import typer

import glfs_bio

from . import _common as common

_KEY = "ranking"


def rank(
    source: common.Source,
    method: common.Method = "glfs",
    n_genes: Annotated[
        int | None, typer.Option(help="Genes of the panel that the ranking is for.")
    ] = None,
    table: common.Table = None,
    lambda1: Annotated[float, typer.Option(help="Weight of the graph.")] = 100.0,
    n_comps: Annotated[int, typer.Option(help="Principal components; 0 is full rank.")] = 50,
    use_rep: Annotated[str | None, typer.Option(help="Key of obsm, or X.")] = None,
    neighbors_key: Annotated[str | None, typer.Option(help="Graph: key of uns.")] = None,
    n_neighbors: Annotated[int, typer.Option(help="Neighbours, where there is no graph.")] = 15,
    layer: common.Layer = None,
    mask_var: common.MaskVar = None,
    exclude: common.Genes = None,
    batch_key: Annotated[str | None, typer.Option(help="Column of obs with the batch.")] = None,
    symbols: common.Symbols = None,
    transpose: common.Transpose = False,
    log1p: common.Log1p = False,
    overwrite: common.Overwrite = False,
    seed: Annotated[int, typer.Option(help="Seed of the principal components.")] = 0,
    debug: common.Debug = False,
) -> None:
    """Rank every gene by one method; prints gene, score, rank and weight, best first."""
    with common.told_in_one_line(debug=debug):
        from .._anndata import selection

        common.check_targets(table=table, overwrite=overwrite)
        adata = common.load(source, transpose=transpose, log1p=log1p)
        called = selection.names(adata, symbols).fillna(adata.var_names.to_series())
        with common.progress():
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
                exclude=common.patterns(exclude),
                batch_key=batch_key,
                key_added=_KEY,
                random_state=seed,
            )
        frame = selection.ranked(adata, _KEY, only="tested")
        frame.insert(0, "gene", called.loc[frame.index])
        frame["rank"] = frame["rank"].astype(int)
        columns = ["gene", "score", "rank", "weight"]
        common.note(f"{method}: {common.summary(adata.uns[_KEY])}")
        common.put_table(frame[columns], table, overwrite=overwrite)


rank.__doc__ = f"""{rank.__doc__}

    Methods: {", ".join(common.METHODS)}.

    Example: glfs-bio rank pbmc.h5ad --method glfs --table ranking.csv
"""
