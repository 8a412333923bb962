"""``glfs-bio export``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

import glfs_bio

from . import _files as files
from . import _messages as messages
from . import _options as options
from . import _streams as streams

_TABLES = {".csv", ".tsv", ".xlsx"}
_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx", ".gmt", ".rnk")


def export(
    source: options.Source,
    targets: Annotated[
        list[Path],
        typer.Argument(
            metavar="OUT...", help=f"Files: {', '.join(_ENDINGS)}; - is a list on stdout."
        ),
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(help="Which selection; repeated for several sets in .gmt. Default: glfs."),
    ] = None,
    symbols: options.Symbols = None,
    column: Annotated[
        list[str] | None, typer.Option(help="Further column of var for tables; repeatable.")
    ] = None,
    explanation_key: Annotated[
        str | None,
        typer.Option(help="Explanation for tables: what each gene serves, and what replaces it."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every tested gene in .txt and tables.")
    ] = False,
    threshold: Annotated[
        list[float] | None,
        typer.Option(help="A further set in .gmt: genes so stable; repeatable."),
    ] = None,
    stability_key: Annotated[
        str, typer.Option(help="Where the stability is, for --threshold.")
    ] = "glfs_stability",
    overwrite: options.Overwrite = False,
    debug: options.Debug = False,
) -> None:
    """Write the selected genes; the endings of the files say in which formats.

    .txt is a list, .csv, .tsv and .xlsx are tables, .gmt is gene sets, .rnk is every tested gene
    with its score.  IN holds a selection: what `glfs-bio select -o` wrote.

    Example: glfs-bio export panel.h5ad genes.txt genes.csv genes.gmt genes.rnk
    """
    with messages.told_in_one_line(debug=debug):
        keys = key or ["glfs"]
        files.check_files(source, overwrite=overwrite)
        _check(targets, keys, column, explanation_key, threshold, overwrite=overwrite)
        adata = files.load(source)
        for target in targets:
            ending = target.suffix.lower()
            if ending == ".gmt":
                glfs_bio.io.write_gmt(
                    adata,
                    target,
                    key=keys,
                    thresholds=threshold or (),
                    stability_key=stability_key,
                    symbols=symbols,
                    overwrite=overwrite,
                )
            elif ending == ".rnk":
                glfs_bio.io.write_rnk(
                    adata, target, key=keys[0], symbols=symbols, overwrite=overwrite
                )
            else:
                is_table = ending in _TABLES
                with streams.replacing(target, ".txt", overwrite=overwrite) as name:
                    glfs_bio.io.write_gene_list(
                        adata,
                        name,
                        key=keys[0],
                        symbols=symbols,
                        columns=(column or ()) if is_table else (),
                        explanation_key=explanation_key if is_table else None,
                        selected_only=not every,
                    )


def _check(
    targets: list[Path],
    keys: list[str],
    column: list[str] | None,
    explanation_key: str | None,
    threshold: list[float] | None,
    *,
    overwrite: bool,
) -> None:
    """Refuse, before anything is written, endings and options that do not go together."""
    from .._files import check_target

    files = [target for target in targets if not streams.is_one(target)]
    endings = {target.suffix.lower() for target in files}
    for target in files:
        if target.suffix.lower() not in _ENDINGS:
            msg = f"{target} must end with {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}."
            raise ValueError(msg)
        check_target(target, overwrite=overwrite)
    if len(keys) > 1 and (endings != {".gmt"} or len(files) < len(targets)):
        msg = f"--key {', '.join(keys)}: only .gmt takes several selections."
        raise ValueError(msg)
    for option, given in (("--column", column), ("--explanation-key", explanation_key)):
        if given and not endings & _TABLES:
            told = given if isinstance(given, str) else ", ".join(given)
            msg = f"{option} {told} needs a file that ends with .csv, .tsv or .xlsx."
            raise ValueError(msg)
    if threshold and ".gmt" not in endings:
        msg = "--threshold needs a file that ends with .gmt."
        raise ValueError(msg)
