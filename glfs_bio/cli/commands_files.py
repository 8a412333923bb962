"""Commands that make files for others: ``export``, ``order``, ``report``, ``efficiency``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - the annotations are read
from typing import Annotated, Any

import glfs_bio

from ..errors import NO_VALUE, InvalidValue, arg
from . import files, values
from .command import Call, command
from .files import Backed, Cells, File, Overwrite, Stored, Table, Written
from .stderr import note

_TABLES = {".csv", ".tsv", ".xlsx"}
_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx", ".gmt", ".rnk")


@command(
    "io.write_gmt",
    "io.write_gene_list",
    key=values.As(list[str], help="It may be repeated for .gmt."),
    columns="--column",
    thresholds="--threshold",
    selected_only=None,
    groups=None,
)
def export(
    cells: Stored,
    targets: Annotated[
        list[Path],
        "OUT...",
        f"Files: {', '.join(_ENDINGS)}; - is a list on stdout.",
        File("w", _ENDINGS),
    ],
    call: Call,
    every: Annotated[bool, "--all", "Write all candidate genes to .txt and tables."] = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the selected genes to files; their endings are the formats.

    .txt is a list, .csv, .tsv and .xlsx are tables, .gmt has gene sets, .rnk has the scores of all
    candidate genes.  IN is an output of `glfs-bio select -o`.

    Example: glfs-bio export panel.h5ad genes.txt genes.csv genes.gmt genes.rnk
    """
    given = dict(call.given)
    keys, endings = given.pop("key", ["glfs"]), {target.suffix.lower() for target in targets}
    symbols: dict[str, Any] = {"symbols": call["symbols"]}
    of_tables = {one: given[one] for one in ("columns", "explanation_key") if one in given}
    of_sets = {one: given[one] for one in ("thresholds", "stability_key") if one in given}
    if len(keys) > 1 and endings != {".gmt"}:
        raise InvalidValue("key", keys, "is for .gmt alone", "name one selection")
    for name, value in of_tables.items():
        if not endings & _TABLES:
            raise InvalidValue(name, value, "needs a file that ends with .csv, .tsv or .xlsx")
    if "thresholds" in given and ".gmt" not in endings:
        raise InvalidValue("thresholds", NO_VALUE, "needs a file that ends with .gmt")
    adata = cells.load()
    for target in targets:
        with files.replacing(target, ".txt", overwrite=overwrite) as file:
            ending = file.suffix.lower()
            if ending == ".gmt":
                glfs_bio.io.write_gmt(adata, file, key=keys, **symbols, **of_sets)
            elif ending == ".rnk":
                glfs_bio.io.write_rnk(adata, file, key=keys[0], **symbols)
            else:
                more = symbols | (of_tables if ending in _TABLES else {})
                glfs_bio.io.write_gene_list(
                    adata, file, key=keys[0], selected_only=not every, **more
                )


@command(
    "tl.order_panel",
    genes=("--orderable", File("r")),
    counts_layer="--counts",
    nomenclature=File("r"),
)
def order(
    cells: Cells,
    call: Call,
    written: Written,
    order: Annotated[
        Path | None, "The order, in the platform's form: .csv, .xlsx.", File("w")
    ] = None,
    reference: Annotated[
        Path | None,
        "The reference for 10x Genomics, of --labels and --counts.",
        File("w", (".zip",)),
    ] = None,
) -> None:
    """Order a panel, every gene checked; prints the genes as TSV.

    Example: glfs-bio order pbmc.h5ad glfs --platform xenium_v1 --orderable vendor.csv --order o.csv
    """
    labels, counts = call["labels"], call["counts_layer"]
    if reference is not None and (labels is None or counts is None):
        raise InvalidValue(
            "reference", reference, f"needs {arg('labels')} and {arg('counts')}", "name both"
        )
    from .._anndata import results
    from ..vendors.orders import ORDERS

    if order is not None and call["platform"] in ORDERS:
        ORDERS[call["platform"]].check_file(order, "order")
    adata = cells.load()
    entry = call(adata)
    key, overwrite = results.last(adata, "order"), written.overwrite
    if order is not None:
        glfs_bio.io.write_order(adata, order, key=key, overwrite=overwrite)
    if reference is not None:
        glfs_bio.io.write_reference(
            adata, reference, labels, counts_layer=counts, ids=f"{key}_id", overwrite=overwrite
        )
    call.show()
    written.put(adata, entry["table"])


@command(
    "io.write_report",
    basis=values.As(str, lambda text, _: False if text == "none" else text, "none: no UMAPs."),
)
def report(
    cells: Stored,
    output: Annotated[
        Path, "-o --output", "File for the report: .html.", File("w", (".html", ".htm"))
    ],
    call: Call,
    overwrite: Overwrite = False,
) -> None:
    """Write a selection as one HTML file that needs no network.

    IN is an output of `glfs-bio select -o`.

    Example: glfs-bio report panel.h5ad -o report.html --labels cell_type
    """
    with files.replacing(output, ".html", overwrite=overwrite) as name:
        glfs_bio.io.write_report(cells.load(), name, **call.given)


@command("tl.estimate_efficiency", reference=None, spatial=None)
def efficiency(
    reference: Annotated[
        Path, "REFERENCE", "Cells × genes with raw counts: .h5ad or .zarr.", File("r")
    ],
    spatial: Annotated[Path, "SPATIAL", "The same of cells that the platform measured.", File("r")],
    call: Call,
    backed: Backed = False,
    table: Table = None,
    overwrite: Overwrite = False,
) -> None:
    """Estimate the detection efficiency of each gene; prints a table as TSV.

    Example: glfs-bio efficiency atlas.h5ad xenium.h5ad --labels cell_type --table efficiency.csv
    """
    both = (files.load(one, backed=backed) for one in (reference, spatial))
    found = glfs_bio.tl.estimate_efficiency(*both, **call.given)
    n_measured, middle = int(found["measured"].sum()), found["efficiency"].median()
    note(f"{n_measured} of {len(found)} genes were measured; the median efficiency is {middle:.2g}")
    files.put_table(found.rename_axis("gene").reset_index(), table, overwrite=overwrite)
