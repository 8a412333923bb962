"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..methods import METHODS

Source = Annotated[
    Path,
    typer.Argument(
        metavar="IN",
        help="Cells × genes: .h5ad, .zarr, .loom, .csv, .tsv, 10x .h5, a folder of 10x; or - for "
        "stdin.",
    ),
]
Panel = Annotated[
    str,
    typer.Argument(
        metavar="PANEL",
        help="Key of a selection, boolean var column, .txt, .csv, .tsv, .gmt or .xlsx of genes, or "
        "names with commas between them, as CD3D,LYZ (one as CD3D,).",
    ),
]
Method = Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")]
Transpose = Annotated[
    bool | None,
    typer.Option(
        "--transpose/--no-transpose",
        help="A table has genes in its rows, or cells.",
        show_default="to be told where it is not cells",
    ),
]
Log1p = Annotated[
    bool, typer.Option("--log1p", help="X holds counts: normalise totals and take logarithms.")
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Annotated .h5ad or .zarr; - is .h5ad on stdout."),
]
Layer = Annotated[str | None, typer.Option(help="Layer in place of X.")]
Genes = Annotated[
    list[str] | None,
    typer.Option(
        help="Genes, var columns, families such as mitochondrial, /patterns/, or @files of genes, "
        "with commas between them; may be repeated."
    ),
]
Labels = Annotated[str | None, typer.Option(help="Column of obs with labels, such as cell types.")]
CountsLayer = Annotated[str | None, typer.Option(help="Layer of raw counts, or X.")]
Failure = Annotated[
    str | None,
    typer.Option(help="Probability that a gene fails: one number, or a column of var."),
]
Detection = Annotated[
    str | None,
    typer.Option(
        help="What the assay detects that will measure the panel, as a share of what is detected "
        "here: one number, a column of var, or a file of cells measured by it."
    ),
]
Share = Annotated[
    float, typer.Option(help="A substitute stands in for a gene if it takes over this share.")
]
Missing = Annotated[
    str, typer.Option(help="Genes that are not there: raise an error, warn, or ignore.")
]
MaskVar = Annotated[str | None, typer.Option(help="Boolean column of var: genes to look at.")]
Symbols = Annotated[str | None, typer.Option(help="Column of var with the names of the genes.")]
Key = Annotated[str, typer.Option(help="Which selection: its --key-added.")]
KeyAdded = Annotated[str, typer.Option(help="Key of uns, and prefix of what is written.")]
Table = Annotated[Path | None, typer.Option(help="Write the table here: .csv or .tsv.")]
Backed = Annotated[
    bool, typer.Option("--backed", help="Leave the matrix of an .h5ad in the file while selecting.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
Lambda1 = Annotated[float, typer.Option(help="Weight of the graph.")]
NComps = Annotated[int, typer.Option(help="Principal components; 0 is full rank.")]
UseRep = Annotated[str | None, typer.Option(help="Key of obsm, or X.")]
NeighborsKey = Annotated[str | None, typer.Option(help="Graph: key of uns.")]
NNeighbors = Annotated[int, typer.Option(help="Neighbours, where there is no graph.")]
BatchKey = Annotated[str | None, typer.Option(help="Column of obs with the batch.")]
StructureKey = Annotated[str, typer.Option(help="Where the structure of the cells is kept.")]
Seed = Annotated[int, typer.Option(help="Seed of the principal components.")]
