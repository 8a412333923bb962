"""Commands that evaluate panels and use them on cells: ``evaluate``, ``classify`` and others."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path  # noqa: TC003 - the annotations are read
from typing import Annotated

import glfs_bio

from .._anndata import summaries
from ..errors import OBS, InvalidValue, arg
from . import files, values, words
from .command import Call, command
from .files import Cells, File, Stored, Written

_TABLE = File("w", tuple(files.TABLES))
_GENE_SETS = (values.As(str), File("r", (".gmt",)))


def _check_gene_sets(call: Call) -> None:
    """Report errors in a file of gene sets before cells are read."""
    if str(call["gene_sets"]).lower().endswith(".gmt"):
        glfs_bio.io.read_markers(call["gene_sets"])


@command("tl.evaluate_panel", panel=("PANEL...", values.AS["panels"]), gene_sets=_GENE_SETS)
def evaluate(
    cells: Cells,
    call: Call,
    written: Written,
    per_label: Annotated[
        Path | None, "File for the table of labels, with --labels: .csv or .tsv.", _TABLE
    ] = None,
    per_set: Annotated[
        Path | None, "File for the table of gene sets, with --gene-sets: .csv or .tsv.", _TABLE
    ] = None,
    unexplained: Annotated[
        Path | None, "File for the unexplained axes: .csv or .tsv.", _TABLE
    ] = None,
    overlaps: Annotated[
        Path | None, "File for the overlap of each pair of several panels: .csv or .tsv.", _TABLE
    ] = None,
) -> None:
    """Evaluate panels: preserved structure, unexplained axes; prints measures as TSV.

    Several panels are compared by the same measures: ours=glfs theirs=catalogue.csv.

    Example: glfs-bio evaluate pbmc.h5ad catalogue.csv --labels cell_type --table measures.tsv
    """
    if per_label is not None and call["labels"] is None:
        raise InvalidValue(
            "per_label", per_label, f"needs {arg('labels')}", f"name their column of {OBS}"
        )
    if per_set is not None and call["gene_sets"] is None:
        raise InvalidValue("per_set", per_set, f"needs {arg('gene_sets')}", "name a GMT file")
    if overlaps is not None and not isinstance(call["panel"], Mapping):
        raise InvalidValue("overlaps", overlaps, "needs several panels", "name them as NAME=PANEL")
    _check_gene_sets(call)
    adata = cells.load()
    entry = call(adata)
    files_of_tables = {
        "unexplained": unexplained,
        "per_label": per_label,
        "gene_sets": per_set,
        "overlap": overlaps,
    }
    beside = {file: entry[name] for name, file in files_of_tables.items() if file is not None}
    written.put(adata, entry["measures"], *call.said, beside=beside)


@command(
    "tl.explain_panel",
    genes=("--genes", values.AS["panel"]),
    n_substitutes="-n --n-substitutes",
)
def explain(
    cells: Cells,
    call: Call,
    written: Written,
    substitutes: Annotated[
        Path | None, "File for the substitutes of each gene: .csv or .tsv.", _TABLE
    ] = None,
) -> None:
    """Explain genes of a panel, or others: role, expression, loss, substitute; prints TSV.

    Example: glfs-bio explain pbmc.h5ad panel.txt --labels cell_type --substitutes instead.csv
    """
    adata = cells.load()
    entry = call(adata)
    table = entry.get("genes", entry["table"])
    table, instead = (
        words.in_symbols(one, adata, call["symbols"]) for one in (table, entry["substitutes"])
    )
    written.put(adata, table, *call.said, beside={substitutes: instead})


@command("tl.prove_panel")
def prove(cells: Cells, call: Call, written: Written) -> None:
    """Search for the best panel of the size of a panel; prints the genes of both as TSV.

    Example: glfs-bio prove panel.h5ad glfs --time-limit 600 -o proven.h5ad
    """
    adata = cells.load()
    table = call(adata)["table"]
    written.put(adata, words.in_symbols(table, adata, call["symbols"]), *call.said)


@command(
    "tl.classify",
    new=None,
    n_genes=values.As(list[int], lambda sizes, _: sizes[0] if len(sizes) == 1 else sizes),
)
def classify(
    cells: Cells,
    call: Call,
    written: Written,
    new: Annotated[
        Path | None, "Cells whose labels are predicted: .h5ad or .zarr.", File("r", files.CELLS)
    ] = None,
) -> None:
    """Classify cells by a few genes; prints cell, predicted label and margin as TSV.

    With `--new` the table and `--output` are of those cells.

    Example: glfs-bio classify pbmc.h5ad --labels cell_type --n-genes 25 --table predicted.csv
    """
    adata = cells.load()
    new_cells = None if new is None else files.load(new, backed=cells.backed)
    entry = call(adata, new=new_cells)
    predicted = adata if new_cells is None else new_cells
    columns = {name: f"{call['key_added']}_{name}" for name in ("predicted", "margin")}
    table = predicted.obs[[*columns.values()]].set_axis([*columns], axis="columns")
    parts = [f"{entry['n_genes']} genes: {', '.join(entry['genes'])}"]
    if "cv_errors" in entry:
        parts.append(f"{min(entry['cv_errors'])}/{entry['n_tested']} errors in cross-validation")
    written.put(predicted, table.rename_axis("cell").reset_index(), "; ".join(parts))


@command(
    "tl.enrich",
    gene_sets=_GENE_SETS,
)
def enrich(cells: Stored, call: Call, written: Written) -> None:
    """Find the gene sets that are enriched in a selection; prints a table as TSV.

    IN is an output of `glfs-bio select -o`.

    Example: glfs-bio enrich panel.h5ad --gene-sets reactome.gmt --table terms.csv
    """
    _check_gene_sets(call)
    adata = cells.load()
    entry = call(adata)
    terms = entry["table"].rename_axis("term").reset_index()
    summary = (
        f"{(terms['pvals_adj'] <= 0.05).sum()} of {len(terms)} gene sets with an adjusted "
        f"p-value up to 0.05; {entry['n_selected']} of {entry['n_background']} genes selected"
    )
    written.put(adata, terms, summary)
