"""The commands: a table of the functions that they call, and what they do beside that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import glfs_bio

from .._docs import REQUIRED
from . import options
from .call import print_text
from .options import OUTPUT, TABLE, TABLES, Command, Option

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

    from .call import Call

#: Files of genes.
_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx", ".gmt", ".rnk")


def run_function(call: Call) -> None:
    """Call the function, and write the cells, the panel or its order, and the table."""
    adata, key = call.result(call.cells(call.values["source"]))
    table, order = call.command.table, call.values.get("order")
    if order is not None:
        glfs_bio.io.write_order(adata, order, key=key, overwrite=call.overwrite)
    call.put(adata)
    shown = table(call, adata, key) if callable(table) else adata.uns[key].get(table)
    if shown is not None:
        call.put_table(adata, shown)


def write_files(call: Call) -> None:
    """Call the function for every file."""
    adata, targets = call.cells(call.values["source"]), call.values["targets"]
    for target in targets if isinstance(targets, list) else [targets]:
        call.function(adata, target, overwrite=call.overwrite, **call.arguments)


def _select(call: Call) -> None:
    paths = [call.values["source"], *call.values.get("also", [])]
    cells = {str(path): call.cells(path) for path in paths}
    _put_selection(call, *call.result(cells if len(paths) > 1 else cells[str(paths[0])]))


def _structure(call: Call) -> None:
    from .._anndata.structure import without_cells

    adata, key = call.result(call.cells(call.values["source"]))
    call.put(without_cells(adata, key) if "without_cells" in call.values else adata)


def _demo(call: Call) -> None:
    import scanpy as sc

    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    _put_selection(call, *call.result(adata, n_genes=call.values.get("n_genes", 25)))


def _put_selection(call: Call, adata: AnnData, key: str) -> None:
    """Write the cells, and the panel as a list, or print it."""
    from .._anndata import results
    from ..vendors import sheets

    table = call.content["result"]["table"] = results.ranked(adata, key)
    call.put(adata)
    if "genes_file" not in call.values and not call.as_json:
        genes = call.names(adata).loc[table.index]
        sheets.check_names(genes, Path("stdout.txt"))
        print_text("".join(f"{gene}\n" for gene in genes))


def _efficiency(call: Call) -> None:
    table = call.function(**call.arguments)
    call.put_table(call.values["reference"], table.rename_axis("gene"))


def _frequencies(_: Call, adata: AnnData, key: str) -> pd.DataFrame:
    """Return the candidate genes, the most frequent first."""
    from .._anndata import results

    consensus = results.read_column(adata, key, "consensus").rename("consensus")
    table = results.frequency(adata, key).to_frame("frequency").join(consensus)
    return table.rename_axis("gene")


def _predictions(call: Call, adata: AnnData, key: str) -> pd.DataFrame:
    """Return label and prediction of each cell, of new ones where they are there."""
    cells = call.values.get("new", adata)
    columns = {call.values["labels"]: "label", f"{key}_predicted": "predicted"}
    table = cells.obs[[name for name in columns if name in cells.obs]]
    return table.rename(columns=columns).rename_axis("cell")


_PANEL = "File for the panel, best gene first."
_GENES = Option("genes_file", _PANEL, Path, "--genes", file="w", endings=_ENDINGS)
_ALSO = "Another dataset; may be repeated. Each is a batch; --output has the first, with results."
_WITHOUT = Option("without_cells", "Leave the cells out of --output.", bool, default=False)
_ORDER = "The order, in the platform's form: .csv, .xlsx."
_FILE = Option("targets", type=Path, default=REQUIRED, file="w")
_FILES = f"Files: {', '.join(_ENDINGS)}."
_TARGETS = replace(_FILE, help=_FILES, type=list[Path], flags="OUT...", endings=_ENDINGS)
_ARCHIVE = replace(_FILE, help="The file: .zip.", flags="OUT", endings=(".zip",))
_PAGE = replace(_FILE, help="The report: .html.", flags="-o --output", endings=(".html",))

#: By their names, in the order of the help.
COMMANDS = {
    "select": Command(
        "pp.select_genes",
        "pbmc.h5ad --n-genes 50 -o panel.h5ad --genes genes.txt",
        (OUTPUT, _GENES, TABLES, Option("also", _ALSO, list[Path], file="r")),
        {"n_genes": {"flags": "-n --n-genes"}},
        run=_select,
    ),
    "structure": Command(
        "pp.structure",
        "pbmc.h5ad --labels cell_type -o blood.h5ad --without-cells",
        (OUTPUT, _WITHOUT),
        run=_structure,
    ),
    "evaluate": Command(
        "tl.evaluate_panel",
        "pbmc.h5ad ours=glfs catalogue.csv --labels cell_type --tables results",
        differing={"panel": {"type": list[str], "flags": "PANEL...", "read": options.panels}},
        table="measures",
    ),
    "extend": Command(
        "tl.extend_panel",
        "pbmc.h5ad catalogue.csv --n-genes 300 --genes order.txt",
        (*Command.own, _GENES),
    ),
    "explain": Command(
        "tl.explain_panel",
        "pbmc.h5ad panel.txt --labels cell_type --table why.tsv",
        differing={"genes": {"flags": "--genes", "read": options.panel}},
        table=lambda _, adata, key: adata.uns[key].get("genes", adata.uns[key]["table"]),
    ),
    "prove": Command("tl.prove_panel", "panel.h5ad glfs --time-limit 600 -o proven.h5ad"),
    "efficiency": Command(
        "tl.estimate_efficiency",
        "atlas.h5ad xenium.h5ad --labels cell_type --table efficiency.csv",
        (TABLE,),
        {"reference": {"flags": "REFERENCE"}, "spatial": {"flags": "SPATIAL"}},
        reads=False,
        run=_efficiency,
    ),
    "stability": Command(
        "tl.stability", "panel.h5ad -o stable.h5ad --table frequencies.csv", table=_frequencies
    ),
    "classify": Command(
        "tl.classify",
        "pbmc.h5ad --labels cell_type --n-genes 25 --table predicted.csv",
        (OUTPUT, TABLE),
        table=_predictions,
    ),
    "enrich": Command("tl.enrich", "panel.h5ad --gene-sets reactome.gmt --table terms.csv"),
    "export": Command(
        "io.write_genes",
        "panel.h5ad genes.txt genes.csv genes.gmt genes.rnk",
        (_TARGETS,),
        {
            "key": {"type": list[str]},
            "columns": {"type": list[str], "flags": "--column"},
            "selected_only": {"flags": "--all", "default": False, "read": lambda _, __: False},
        },
        run=write_files,
    ),
    "order": Command(
        "tl.order_panel",
        "pbmc.h5ad glfs --platform xenium_v1 --orderable vendor.csv --order order.csv",
        (*Command.own, Option("order", _ORDER, Path, file="w")),
        {"genes": {"flags": "--orderable", "file": "r"}},
    ),
    "reference": Command(
        "io.write_reference",
        "pbmc.h5ad reference.zip --labels cell_type --counts-layer counts",
        (_ARCHIVE,),
        run=write_files,
    ),
    "report": Command(
        "io.write_report",
        "panel.h5ad -o report.html --labels cell_type",
        (_PAGE,),
        run=write_files,
    ),
    "demo": Command(
        "pp.select_genes",
        "-o panel.h5ad",
        (OUTPUT,),
        about="Select 25 genes of 700 blood cells from scanpy, which needs no network.",
        reads=False,
        run=_demo,
    ),
}
