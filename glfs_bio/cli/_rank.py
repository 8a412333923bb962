"""``glfs-bio rank``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import glfs_bio

from ..methods import METHODS
from . import _files as files
from . import _options as options
from ._command import command, given
from ._stderr import note, progress

_KEY = "ranking"


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``pp.select_genes``."""

    method: options.Method = "glfs"
    n_genes: Annotated[int | None, "Number of genes of the panel for which genes are ranked."] = (
        None
    )
    exclude: options.Genes = None
    symbols: options.Symbols = None
    missing: options.Missing = "raise"


@command
def rank(
    cells: options.Cells,
    arguments: Arguments,
    structure: options.Structure,
    table: options.Table = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Rank all genes by one method; prints gene, score, rank, weight and loss, best first."""
    from .._anndata import read, results
    from . import _results

    adata = cells.load()
    called = read.symbols(adata, arguments.symbols).fillna(adata.var_names.to_series())
    with progress():
        glfs_bio.pp.select_genes(
            adata, **given(arguments), **structure.of_selection(adata), key_added=_KEY
        )
    frame = results.ranked(adata, _KEY, only="tested")
    frame.insert(0, "gene", called.loc[frame.index])
    frame["rank"] = frame["rank"].astype(int)
    columns = ["gene", "score", "rank", "weight", "loss"]
    note(f"{arguments.method}: {_results.summary(adata.uns[_KEY])}")
    files.put_table(frame[columns], table, overwrite=overwrite)


rank.__doc__ = f"""{rank.__doc__}

    Methods: {", ".join(METHODS)}.

    Example: glfs-bio rank pbmc.h5ad --method glfs --table ranking.csv
"""
