"""``glfs-bio order``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated, Any

import typer

import glfs_bio

from ..errors import InvalidValue, arg
from . import _files as files
from . import _options as options
from . import _values as values
from ._command import command, given
from ._stderr import note, progress


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Arguments of ``tl.order_panel``."""

    platform: Annotated[str, "xenium_v1, xenium_prime, merscope, cosmx, or sheet."] = "sheet"
    genes: Annotated[
        Path | None,
        typer.Option("--genes", help="Genes for which probes can be made: the vendor's list."),
        files.Reads(),
    ] = None
    catalogue: Annotated[
        Any,
        "Panel that the order adds to: a file, or names with commas between them.",
        values.As(str | None, values.panel),
    ] = None
    refused: Annotated[str, "Genes that cannot be ordered: raise an error, replace, or drop."] = (
        "raise"
    )
    exclude: options.Genes = None
    labels: options.Labels = None
    min_probes: Annotated[int, "Least probes of a gene, where the list has their numbers."] = 1
    probe_sets: Annotated[int | None, "Probe sets to ask for, for every gene (Xenium)."] = None
    force: Annotated[
        Any,
        "Genes to be designed whatever the vendor's checks say (Xenium).",
        values.As(str | None, values.names),
    ] = None
    symbols: options.Symbols = None
    ids: Annotated[str | None, "Column of var with Ensembl ids."] = None
    species: Annotated[str | None, "Species, such as human. Default: that of most names."] = None
    nomenclature: Annotated[
        Path | None,
        typer.Option("--nomenclature", help="Present and past names, as HGNC's complete set."),
        files.Reads(),
    ] = None
    key_added: options.KeyAdded = "glfs_order"


@dataclass(frozen=True, kw_only=True)
class Written(options.Written):
    """Where cells, table and order go."""

    order: Annotated[
        Path | None, "The order, in the platform's form: .csv, .xlsx.", files.Writes()
    ] = None
    reference: Annotated[
        Path | None,
        "The reference for 10x Genomics, of --labels and --counts-layer.",
        files.Writes((".zip",)),
    ] = None


@command
def order(
    cells: options.Cells,
    panel: options.Panel,
    arguments: Arguments,
    limits: glfs_bio.Limits,
    written: Written,
    counts: Annotated[
        str | None, typer.Option("--counts", help="Layer of raw counts, or X.")
    ] = None,
) -> None:
    """Order a panel, every gene checked; prints the genes as TSV.

    Example: glfs-bio order pbmc.h5ad glfs --platform xenium_v1 --genes vendor.csv --order order.csv
    """
    if written.reference is not None and (arguments.labels is None or counts is None):
        raise InvalidValue(
            "reference",
            written.reference,
            f"needs {arg('labels')} and {arg('counts')}",
            "name both",
        )
    adata = cells.load()
    with progress():
        glfs_bio.tl.order_panel(
            adata, panel, **given(arguments), limits=limits, counts_layer=counts
        )
    entry = adata.uns[arguments.key_added]
    if written.order is not None:
        glfs_bio.io.write_order(
            adata, written.order, key=arguments.key_added, overwrite=written.overwrite
        )
    if written.reference is not None and arguments.labels is not None and counts is not None:
        glfs_bio.io.write_reference(
            adata,
            written.reference,
            arguments.labels,
            counts_layer=counts,
            ids=f"{arguments.key_added}_id",
            overwrite=written.overwrite,
        )
    for check in entry["checks"].itertuples():
        result = f"{check.n} {check.about}" if check.checked else "not checked"
        note(f"{check.check}: {result}" + (f" ({check.genes})" if check.n else ""))
    written.put(adata, entry["table"])
