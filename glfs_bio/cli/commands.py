"""The commands: a table of the functions that they call, and what they do beside that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import glfs_bio

from .._docs import REQUIRED
from . import files, options
from .options import OUTPUT, TABLE, TABLES, Command, Option, file_option

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

    from .messages import Messages

#: Columns with names of genes, in all tables.
_OF_GENES = ("gene", "substitute", "replaced_by", "replaces")
#: Files of genes.
_ENDINGS = (".txt", ".csv", ".tsv", ".xlsx", ".gmt", ".rnk")


@dataclass
class Call:
    """A command that runs, with the values of its options by name, where the line has them."""

    command: Command
    values: dict[str, Any]
    messages: Messages

    @property
    def arguments(self) -> dict[str, Any]:
        """The values that are arguments of the function."""
        return {name: self.values[name] for name in self.command.arguments if name in self.values}

    @property
    def overwrite(self) -> bool:
        """Whether files may be replaced."""
        return "overwrite" in self.values

    def cells(self, source: Path) -> AnnData:
        """Read cells as the options say."""
        names = ("transpose", "modality", "var_names", "log1p", "backed")
        reading = {name: self.values[name] for name in names if name in self.values}
        return files.load(source, **reading)

    def result(self, cells: Any, **arguments: Any) -> tuple[AnnData, str]:
        """Call the function, say what it says of its result, and return where that is, by key."""
        from .._anndata import results
        from .._progress import collected

        function = attrgetter(self.command.function)(glfs_bio)
        with collected() as lines:
            function(cells, **self.arguments | arguments)
        for line in lines:
            self.messages.note(line)
        adata = next(iter(cells.values())) if isinstance(cells, dict) else cells
        key = results.last(adata)
        self.messages.content |= {"key": key, "result": dict(adata.uns[key])}
        return adata, key

    def put(self, adata: AnnData, table: pd.DataFrame | None = None) -> None:
        """Write the cells, all tables of the result, and the one that is printed otherwise."""
        from .._anndata import read

        result: Any = self.messages.content["result"]
        folder: Any = self.values.get("tables")
        if "output" in self.values:
            files.put_cells(adata, self.values["output"], overwrite=self.overwrite)
        tables = {name: value for name, value in result.items() if hasattr(value, "columns")}
        tables |= {f"forecast_{name}": part for name, part in result.get("forecast", {}).items()}
        for name, content in tables.items() if folder else ():
            folder.mkdir(exist_ok=True)
            path = folder / f"{name}.csv"
            files.put_table(_with_index(content), path, overwrite=self.overwrite)
            self.messages.wrote("--tables", path)
        if table is None:
            return
        result["table"] = table = _with_index(table)
        if "symbols" in self.values:
            names = read.symbols(adata, self.values["symbols"]).fillna(adata.var_names.to_series())
            genes = {name: table[name].map(names) for name in _OF_GENES if name in table}
            result["table"] = table = table.assign(**genes)
        target = self.target("table")
        if target is not None:
            files.put_table(table, target, overwrite=self.overwrite)

    def put_genes(self, adata: AnnData, key: str, target: Path | None) -> None:
        """Write the panel, the best gene first, and names of genes that the data lack."""
        if target is not None:
            with files.replacing(target, ".txt", overwrite=self.overwrite) as file:
                glfs_bio.io.write_genes(adata, file, key=key, symbols=self.values.get("symbols"))

    def target(self, name: str) -> Path | None:
        """Return the file of an option, else stdout where nothing else is written there."""
        is_free = not self.messages.as_json and not files.is_stream(self.values.get("output"))
        return self.values.get(name) or (Path("-") if is_free else None)


def run_function(call: Call) -> None:
    """Call the function, and write the cells, the panel or its order, and the table."""
    adata, key = call.result(call.cells(call.values["source"]))
    table, order = call.command.table, call.values.get("order")
    call.put_genes(adata, key, call.values.get("genes_file"))
    if order is not None:
        glfs_bio.io.write_order(adata, order, key=key, overwrite=call.overwrite)
    call.put(adata, table(call, adata, key) if callable(table) else adata.uns[key].get(table))


def write_files(call: Call) -> None:
    """Call the function for every file, or for stdout."""
    function = attrgetter(call.command.function)(glfs_bio)
    targets = call.values["targets"]
    ending = call.command.own[0].endings[0]
    adata = call.cells(call.values["source"])
    for target in targets if isinstance(targets, list) else [targets]:
        with files.replacing(target, ending, overwrite=call.overwrite) as file:
            function(adata, file, **call.arguments)


def _with_index(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index as a column, where that has a name."""
    return table if table.index.name is None else table.reset_index()


def _select(call: Call) -> None:
    paths = [call.values["source"], *call.values.get("also", [])]
    cells = {str(path): call.cells(path) for path in paths}
    _put_selection(call, *call.result(cells if len(paths) > 1 else cells[str(paths[0])]))


def _demo(call: Call) -> None:
    import scanpy as sc

    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    _put_selection(call, *call.result(adata, n_genes=call.values.get("n_genes", 25)))


def _put_selection(call: Call, adata: AnnData, key: str) -> None:
    """Write the cells, and the panel as a list."""
    from .._anndata import results

    call.put(adata)
    call.messages.content["result"]["table"] = results.ranked(adata, key)
    call.put_genes(adata, key, call.target("genes_file"))


def _efficiency(call: Call) -> None:
    table = glfs_bio.tl.estimate_efficiency(**call.arguments)
    call.put(call.values["reference"], table.rename_axis("gene"))


def _frequencies(_: Call, adata: AnnData, key: str) -> pd.DataFrame:
    """Return the candidate genes, the most frequent first."""
    columns = {f"{key}_{name}": name for name in ("frequency", "consensus")}
    table = adata.var[[*columns]].rename(columns=columns).rename_axis("gene")
    table = table.dropna(subset="frequency")
    return table.sort_values("frequency", ascending=False, kind="stable")


def _predictions(call: Call, adata: AnnData, key: str) -> pd.DataFrame:
    """Return label and prediction of each cell, of new ones where they are there."""
    cells = call.values.get("new", adata)
    columns = {call.values["labels"]: "label", f"{key}_predicted": "predicted"}
    table = cells.obs[[name for name in columns if name in cells.obs]]
    return table.rename(columns=columns).rename_axis("cell")


_GENES = file_option("genes_file", "File for the panel, best gene first.", flags="--genes")
_ALSO = "Another dataset; may be repeated. Each is a batch; --output has the first, with results."
_FILES = f"Files: {', '.join(_ENDINGS)}; - is a list on stdout."
_TARGETS = file_option("targets", _FILES, *_ENDINGS, flags="OUT...", default=REQUIRED)
_ARCHIVE = file_option("targets", "The file: .zip.", ".zip", flags="OUT", default=REQUIRED)
_PAGE = file_option("targets", "The report: .html.", ".html", flags="-o --output", default=REQUIRED)

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
        "pp.structure", "pbmc.h5ad --n-comps 20 --batch-key donor -o prepared.h5ad", (OUTPUT,)
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
        table=_predictions,
    ),
    "enrich": Command("tl.enrich", "panel.h5ad --gene-sets reactome.gmt --table terms.csv"),
    "export": Command(
        "io.write_genes",
        "panel.h5ad genes.txt genes.csv genes.gmt genes.rnk",
        (replace(_TARGETS, type=list[Path]),),
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
        (*Command.own, file_option("order", "The order, in the platform's form: .csv, .xlsx.")),
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
