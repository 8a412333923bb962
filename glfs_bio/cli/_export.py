"""``glfs-bio export``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

import glfs_bio

from ..errors import NO_VALUE, InvalidValue
from . import _files as files
from . import _options as options
from ._command import command

if TYPE_CHECKING:
    from anndata import AnnData

_TABLES = {".csv", ".tsv", ".xlsx"}
_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx", ".gmt", ".rnk")


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of the functions that write genes."""

    key: Annotated[
        list[str] | None, "Key of the selection; may be repeated for .gmt. Default: glfs."
    ] = None
    symbols: options.Symbols = None
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", help="Further column of var for tables; may be repeated."),
    ] = None
    explanation_key: Annotated[
        str | None, "Key of the explanation, for tables: supported labels and substitutes."
    ] = None
    every: Annotated[
        bool, typer.Option("--all", help="Write all candidate genes to .txt and tables.")
    ] = False
    thresholds: Annotated[
        list[float] | None,
        typer.Option(
            "--threshold", help="Minimum frequency of a further set in .gmt; may be repeated."
        ),
    ] = None
    stability_key: Annotated[str, "Key of the stability, for --threshold."] = "glfs_stability"


@command
def export(
    source: options.Source,
    targets: Annotated[
        list[Path],
        typer.Argument(
            metavar="OUT...", help=f"Files: {', '.join(_ENDINGS)}; - is a list on stdout."
        ),
        files.Writes(_ENDINGS),
    ],
    arguments: Arguments,
    overwrite: options.Overwrite = False,
) -> None:
    """Write the selected genes to files; their endings are the formats.

    .txt is a list, .csv, .tsv and .xlsx are tables, .gmt has gene sets, .rnk has the scores of all
    candidate genes.  IN is an output of `glfs-bio select -o`.

    Example: glfs-bio export panel.h5ad genes.txt genes.csv genes.gmt genes.rnk
    """
    _check({target.suffix.lower() for target in targets}, arguments)
    adata = files.load(source)
    for target in targets:
        with files.replacing(target, ".txt", overwrite=overwrite) as name:
            _write(adata, name, arguments)


def _write(adata: AnnData, file: Path, arguments: Arguments) -> None:
    """Write one file, in the format of its ending."""
    keys, ending = arguments.key or ["glfs"], file.suffix.lower()
    if ending == ".gmt":
        glfs_bio.io.write_gmt(
            adata,
            file,
            key=keys,
            thresholds=arguments.thresholds or (),
            stability_key=arguments.stability_key,
            symbols=arguments.symbols,
        )
    elif ending == ".rnk":
        glfs_bio.io.write_rnk(adata, file, key=keys[0], symbols=arguments.symbols)
    else:
        of_tables: dict[str, Any] = {
            "columns": arguments.columns or (),
            "explanation_key": arguments.explanation_key,
        }
        glfs_bio.io.write_gene_list(
            adata,
            file,
            key=keys[0],
            symbols=arguments.symbols,
            selected_only=not arguments.every,
            **(of_tables if ending in _TABLES else {}),
        )


def _check(endings: set[str], arguments: Arguments) -> None:
    """Refuse endings and options that do not fit together, before any file is read."""
    if len(arguments.key or ()) > 1 and endings != {".gmt"}:
        raise InvalidValue("key", arguments.key, "is for .gmt alone", "name one selection")
    for name in ("columns", "explanation_key"):
        if (value := getattr(arguments, name)) and not endings & _TABLES:
            raise InvalidValue(name, value, "needs a file that ends with .csv, .tsv or .xlsx")
    if arguments.thresholds and ".gmt" not in endings:
        raise InvalidValue("thresholds", NO_VALUE, "needs a file that ends with .gmt")
