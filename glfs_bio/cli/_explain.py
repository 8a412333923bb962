"""``glfs-bio explain``."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _results as results
from . import _values as values
from ._grouped import grouped
from ._preserve import Preserve  # noqa: TC001 - grouped reads it
from ._progress import progress
from ._structure import Structure  # noqa: TC001 - grouped reads it


@grouped
def explain(
    source: options.Source,
    panel: options.Panel,
    structure: Structure,
    preserve: Preserve,
    labels: options.Labels = None,
    output: options.Output = None,
    table: options.Table = None,
    n_labels: Annotated[int, typer.Option(help="Most labels to name for a gene.")] = 3,
    exclude: options.Genes = None,
    symbols: options.Symbols = None,
    missing: options.Missing = "warn",
    key_added: options.KeyAdded = "glfs_explanation",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Say why each gene is in a panel: what is lost without it, whom it serves, its substitute.

    Example: glfs-bio explain pbmc.h5ad panel.txt --labels cell_type --table why.tsv
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, overwrite=overwrite)
        named, excluded = values.panel(panel), values.genes(exclude)
        kept = preserve.arguments()
        adata = files.load(source, transpose=transpose, log1p=log1p)
        structure.prepare(adata, named, kept=output is not None)
        with progress():
            glfs_bio.tl.explain_panel(
                adata,
                named,
                labels,
                n_labels=n_labels,
                exclude=excluded,
                symbols=symbols,
                missing=cast("Any", missing),  # explain_panel checks it
                **kept,
                structure_key=structure.structure_key,
                key_added=key_added,
            )
        entry = adata.uns[key_added]
        frame = results.called(entry["table"], adata, symbols)
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        least, most = frame.loc[frame["loss"].idxmin()], frame.loc[frame["loss"].idxmax()]
        messages.note(
            f"{len(frame)} genes keep {results.kept(entry, frame['kept'].iloc[-1])}; most is lost "
            f"without {most['gene']} ({results.percent(most['loss'])}), "
            f"least without {least['gene']} ({results.percent(least['loss'])})"
        )
        files.put_table(frame, table, overwrite=overwrite)
