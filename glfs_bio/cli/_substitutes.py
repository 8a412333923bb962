"""``glfs-bio substitutes``."""

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
def substitutes(
    source: options.Source,
    panel: options.Panel,
    structure: Structure,
    preserve: Preserve,
    genes: Annotated[
        list[str] | None,
        typer.Option(
            help="Genes of the panel to replace, with commas between them, or @files of them; may "
            "be repeated.",
            show_default="each of them, one at a time",
        ),
    ] = None,
    n: Annotated[int, typer.Option("-n", "--n", help="Substitutes to list for a gene.")] = 5,
    output: options.Output = None,
    table: options.Table = None,
    exclude: options.Genes = None,
    share: options.Share = 0.25,
    symbols: options.Symbols = None,
    missing: options.Missing = "warn",
    key_added: options.KeyAdded = "glfs_substitutes",
    transpose: options.Transpose = None,
    log1p: options.Log1p = False,
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Find genes that can replace a gene of a panel; prints them for every gene, the best first.

    Example: glfs-bio substitutes pbmc.h5ad panel.txt --genes CD3D,LYZ
    """
    with messages.told_in_one_line(debug=debug):
        files.check_files(source, cells=output, table=table, overwrite=overwrite)
        named, leaving, excluded = values.panel(panel), values.genes(genes), values.genes(exclude)
        kept = preserve.arguments()
        adata = files.load(source, transpose=transpose, log1p=log1p)
        structure.prepare(adata, named, kept=output is not None)
        with progress():
            glfs_bio.tl.substitutes(
                adata,
                named,
                leaving,
                n,
                exclude=excluded,
                share=share,
                symbols=symbols,
                missing=cast("Any", missing),  # tl.substitutes checks it
                **kept,
                structure_key=structure.structure_key,
                key_added=key_added,
            )
        frame = adata.uns[key_added]["table"]
        if output is not None:
            files.put_cells(adata, output, overwrite=overwrite)
        first = frame[frame["place"] == 1]
        messages.note(
            f"{first['stands_in'].sum()} of {len(first)} genes have a substitute that stands in"
        )
        files.put_table(results.called(frame, adata, symbols), table, overwrite=overwrite)
