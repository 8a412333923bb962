"""``glfs-bio extend``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import glfs_bio

from . import _files as files
from . import _options as options
from . import _results as results
from ._command import command, given
from ._stderr import progress

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.extend_panel``."""

    n_extra: Annotated[
        int | None,
        "Number of genes to add. Default: until 90 % are preserved, or --budget is spent.",
    ] = None
    labels: options.Labels = None
    exclude: options.Genes = None
    symbols: options.Symbols = None
    across: Annotated[str, "Batches that count: mean (all) or worst."] = "mean"
    key_added: options.KeyAdded = "glfs_extended"


@dataclass(frozen=True, kw_only=True)
class Written(options.Written):
    """Files for cells, table and panel."""

    genes: Annotated[
        Path | None, "File for the extended panel, one gene per line.", files.Writes()
    ] = None


@command
def extend(
    cells: options.Cells,
    panel: options.Panel,
    target: options.Target,
    arguments: Arguments,
    structure: options.Structure,
    limits: glfs_bio.Limits,
    platform: glfs_bio.Platform,
    written: Written,
) -> None:
    """Add genes to a panel; prints gene, added share and preserved share as TSV.

    Genes of PANEL that are missing in the data stay in the panel, without a contribution.

    Example: glfs-bio extend pbmc.h5ad catalogue.csv --n-extra 20 --genes order.txt
    """
    adata = cells.load()
    preserve = target.of_panel(adata, panel, structure)
    with progress():
        glfs_bio.tl.extend_panel(
            adata,
            panel,
            **given(arguments),
            **preserve,
            limits=limits,
            platform=platform,
            random_state=structure.seed,
        )
    entry = adata.uns[arguments.key_added]
    added = entry["table"]
    if written.genes is not None:
        names = _panel(adata, panel, added["gene"], arguments.symbols)
        files.put_names(names, written.genes, overwrite=written.overwrite)
    summary = f"{len(added)} genes added: {results.summary(entry)}"
    written.put(adata, results.called(added, adata, arguments.symbols), summary)


def _panel(adata: AnnData, given: Any, added: pd.Series, symbols: str | None) -> list[str]:
    """Return the genes of the given panel, missing ones too, and then the added genes."""
    from .._anndata import names as named
    from .._anndata import read

    names = named.panel(adata, given, symbols=symbols, missing="ignore").names
    called = read.symbols(adata, symbols).dropna().to_dict()
    return [called.get(name, name) for name in (*names, *added)]
