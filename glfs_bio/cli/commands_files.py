"""Commands that make files for others: ``export``, ``order``, ``report``, ``efficiency``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - the annotations are read
from typing import Annotated

import glfs_bio

from ..errors import InvalidValue, arg
from . import files, values
from .command import Call, command
from .files import Backed, Cells, File, Overwrite, Stored, Table, Written
from .stderr import note

_TABLES = {".csv", ".tsv", ".xlsx"}
_ENDINGS = (".txt", *sorted(_TABLES), ".gmt", ".rnk")


@command(
    "io.write_genes",
    key=values.As(list[str], help="It may be repeated for .gmt."),
    columns="--column",
    selected_only=None,
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
    columns, endings = given.pop("columns", None), {path.suffix.lower() for path in targets}
    if len(given.get("key", ())) > 1 and endings != {".gmt"}:
        raise InvalidValue("key", given["key"], "is for .gmt alone", "name one selection")
    if columns and not endings & _TABLES:
        raise InvalidValue("columns", columns, "needs a file that ends with .csv, .tsv or .xlsx")
    adata = cells.load()
    for target in targets:
        with files.replacing(target, ".txt", overwrite=overwrite) as file:
            options = given | {"selected_only": not every}
            if columns and file.suffix.lower() in _TABLES:
                options["columns"] = columns
            glfs_bio.io.write_genes(adata, file, **options)


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
    from ..tl._order import ORDERS

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


#: Results of other functions that a report shows.
_RESULTS = ("stability", "enrichment", "evaluation", "explanation")


@command(
    "io.write_report",
    results=None,
    umaps="--umaps/--no-umaps",
    link=values.As(str, lambda text, _: None if text == "none" else text, "none: no links."),
)
def report(
    cells: Stored,
    output: Annotated[
        Path, "-o --output", "File for the report: .html.", File("w", (".html", ".htm"))
    ],
    call: Call,
    stability_key: Annotated[str | None, "Key of the stability. Default: KEY_stability."] = None,
    enrichment_key: Annotated[str | None, "Key of the enrichment. Default: KEY_enrichment."] = None,
    evaluation_key: Annotated[str | None, "Key of the evaluation. Default: KEY_evaluation."] = None,
    explanation_key: Annotated[
        str | None, "Key of the explanation. Default: KEY_explanation."
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write a selection as one HTML file that needs no network.

    IN is an output of `glfs-bio select -o`.

    Example: glfs-bio report panel.h5ad -o report.html --labels cell_type
    """
    adata = cells.load()
    keys = stability_key, enrichment_key, evaluation_key, explanation_key
    results = {what: key for what, key in zip(_RESULTS, keys, strict=True) if key is not None}
    with files.replacing(output, ".html", overwrite=overwrite) as name:
        glfs_bio.io.write_report(adata, name, results=results, **call.given)


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
