"""``glfs-bio curve``."""

from __future__ import annotations

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

#: Shares of the structure that the summary gives sizes for.
_SHARES = (0.25, 0.5, 0.8)


@grouped
def curve(
    source: options.Source,
    structure: Structure,
    preserve: Preserve,
    limits: Limits,
    max_genes: Annotated[int, typer.Option(help="Genes of the largest panel.")] = 200,
    labels: options.Labels = None,
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            help="Size at which labels are predicted; may be repeated.",
            show_default="some from 5 to --max-genes",
        ),
    ] = None,
    output: options.Output = None,
    table: options.Table = None,
    include: options.Genes = None,
    exclude: options.Genes = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "raise",
    key_added: options.KeyAdded = "glfs_curve",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Say what panels of 1, 2, … genes keep; prints a row a size, with tabs.

    Example: glfs-bio curve pbmc.h5ad --max-genes 100 --labels cell_type --table curve.tsv
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, overwrite=overwrite)
        included, excluded = values.genes(include), values.genes(exclude)
        within = limits.arguments() | preserve.arguments()
        adata = files.load(source, transpose=transpose, log1p=log1p)
        structure.prepare(adata, None, kept=output is not None)
        with progress():
            glfs_bio.tl.curve(
                adata,
                max_genes,
                labels,
                sizes=sizes or None,
                include=included,
                exclude=excluded,
                symbols=symbols,
                missing=cast("Any", missing),  # tl.curve checks it
                structure_key=structure.structure_key,
                key_added=key_added,
                **within,
            )
        frame = results.called(adata.uns[key_added]["table"], adata, symbols)
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        messages.note(_summary(frame))
        files.put_table(frame, table, overwrite=overwrite)


def _summary(frame: pd.DataFrame) -> str:
    """How many genes keep some shares of the structure."""
    told = [
        f"{frame['n_genes'][(frame['kept'] >= share).idxmax()]} genes keep {results.percent(share)}"
        for share in _SHARES
        if (frame["kept"] >= share).any()
    ]
    last = frame.iloc[-1]
    return "; ".join([*told, f"{last['n_genes']} genes keep {results.percent(last['kept'])}"])
