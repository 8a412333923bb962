"""``glfs-bio extend``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, cast

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
from ._structure import Structure  # noqa: TC001 - grouped reads it

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData


@grouped
def extend(
    source: options.Source,
    panel: options.Panel,
    structure: Structure,
    preserve: Preserve,
    limits: Limits,
    n_extra: Annotated[
        int | None,
        typer.Option(
            help="Genes to add.", show_default="until 80 % are kept, or --budget is spent"
        ),
    ] = None,
    labels: options.Labels = None,
    output: options.Output = None,
    table: options.Table = None,
    genes: Annotated[
        Path | None, typer.Option(help="The panel with the genes added, one a line.")
    ] = None,
    exclude: options.Genes = None,
    failure: options.Failure = None,
    detection: options.Detection = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "warn",
    key_added: options.KeyAdded = "glfs_extended",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Find the genes that add most to a panel; prints gene, what it adds and what is kept.

    Genes of PANEL that are not in the data stay in the panel, and count for nothing.

    Example: glfs-bio extend pbmc.h5ad catalogue.csv --n-extra 20 --genes order.txt
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, text=genes, overwrite=overwrite)
        named, excluded = values.panel(panel), values.genes(exclude)
        within = limits.arguments() | preserve.arguments()
        adata = files.load(source, transpose=transpose, log1p=log1p)
        structure.prepare(adata, named, kept=output is not None)
        with progress():
            glfs_bio.tl.extend_panel(
                adata,
                named,
                n_extra,
                labels=labels,
                exclude=excluded,
                failure=None if failure is None else values.number_or_name(failure),
                detection=None if detection is None else values.detection(detection),
                symbols=symbols,
                missing=cast("Any", missing),  # extend_panel checks it
                structure_key=structure.structure_key,
                key_added=key_added,
                random_state=structure.random_state,
                **within,
            )
        entry = adata.uns[key_added]
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        messages.note(f"{len(entry['added'])} genes added: {results.summary(entry)}")
        if genes is not None:
            names = _panel(adata, named, entry["added"]["gene"], symbols)
            files.put_names(names, genes, overwrite=overwrite)
        files.put_table(results.called(entry["added"], adata, symbols), table, overwrite=overwrite)


def _panel(adata: AnnData, given: Any, added: pd.Series, symbols: str | None) -> list[str]:
    """The genes that were given, with those that are not in the data, and then those added."""
    from .._anndata import names as named
    from .._anndata import selection

    names = named.panel(adata, given, symbols=symbols, missing="ignore").names
    called = selection.names(adata, symbols).dropna().to_dict()
    return [called.get(name, name) for name in (*names, *added)]
