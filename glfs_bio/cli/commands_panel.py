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
        glfs_bio.io.read_gmt(call["gene_sets"])


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
    beside = {file: entry.get(name) for name, file in files_of_tables.items()}
    written.put(adata, entry["measures"], *call.said, beside=beside)


@command("tl.explain_panel")
def explain(cells: Cells, call: Call, written: Written) -> None:
    """Explain each gene of a panel: role, expression, loss, substitute; prints TSV.

    Example: glfs-bio explain pbmc.h5ad panel.txt --labels cell_type --table why.tsv
    """
    adata = cells.load()
    entry = call(adata)
    frame = words.in_symbols(entry["table"], adata, call["symbols"])
    least, most = frame.loc[frame["loss"].idxmin()], frame.loc[frame["loss"].idxmax()]
    summary = (
        f"{len(frame)} genes preserve {summaries.preserved(entry, frame['preserved'].iloc[-1])}; "
        f"largest contribution {most['gene']} ({summaries.percent(most['loss'])}), "
        f"smallest {least['gene']} ({summaries.percent(least['loss'])})"
    )
    if isfinite(entry["joint_loss"]):
        summary += f"; {(frame['alternatives'] != '').sum()} places are free for other genes"
    written.put(adata, frame, summary)


@command("tl.substitutes", genes=("--replace", values.AS["Genes"]), n="-n --n")
def substitutes(cells: Cells, call: Call, written: Written) -> None:
    """Find genes that can replace a gene of a panel; prints them as TSV, best first.

    Example: glfs-bio substitutes pbmc.h5ad panel.txt --replace CD3D,LYZ
    """
    adata = cells.load()
    entry = call(adata)
    none, needless = len(entry["irreplaceable"]), len(entry["needless"])
    every = len(entry["groups"])
    shown = words.in_symbols(entry["table"], adata, call["symbols"])
    summary = f"{every - none - needless} of {every} genes have an acceptable substitute"
    if needless:
        summary += f", and {needless} add nothing"
    written.put(adata, shown.replace({"substitute": {"": "none"}}), summary)


@command("tl.replace_genes", failed=("--failed", values.AS["panel"]))
def replace(
    cells: Cells,
    call: Call,
    written: Written,
    genes: Annotated[
        Path | None, "File for the panel with the new genes, one gene per line.", File("w")
    ] = None,
) -> None:
    """Replace genes of a panel within its constraints; prints each with its replacement as TSV.

    Example: glfs-bio replace panel.h5ad glfs --failed CD3D,LYZ,NKG7 -o again.h5ad
    """
    from .._anndata import read, results

    adata = cells.load()
    entry = call(adata)
    table = entry["table"]
    if genes is not None:
        called = read.symbols(adata, call["symbols"]).dropna().to_dict()
        ranked = results.ranked(adata, results.last(adata, "selection")).index
        every = [called.get(name, name) for name in (*ranked, *entry.get("absent", ()))]
        files.put_names(every, genes, overwrite=written.overwrite)
    written.put(adata, words.in_symbols(table, adata, call["symbols"]), *call.said)


@command("tl.explain_gene", genes=("--gene", values.AS["panel"]))
def gene(cells: Cells, call: Call, written: Written) -> None:
    """Explain why genes are in a panel, or are not; prints one row per gene as TSV.

    Example: glfs-bio gene panel.h5ad glfs --gene IL7R,CCR7 --labels cell_type
    """
    adata = cells.load()
    table = call(adata)["table"]
    shown = words.in_symbols(table, adata, call["symbols"])
    written.put(adata, shown.drop(columns="summary"), *call.said)


@command("tl.prove_panel")
def prove(cells: Cells, call: Call, written: Written) -> None:
    """Search for the best panel of the size of a panel; prints the genes of both as TSV.

    Example: glfs-bio prove panel.h5ad glfs --time-limit 600 -o proven.h5ad
    """
    adata = cells.load()
    table = call(adata)["table"]
    written.put(adata, words.in_symbols(table, adata, call["symbols"]), *call.said)


@command("tl.markers")
def markers(cells: Cells, call: Call, written: Written) -> None:
    """Find the markers of each label in a panel; prints them with their scores as TSV.

    Example: glfs-bio markers pbmc.h5ad panel.txt --labels cell_type --table markers.tsv
    """
    adata = cells.load()
    frame = call(adata)["table"]
    written.put(adata, frame, *call.said)


@command(
    "tl.classify",
    n_genes=values.As(list[int], lambda sizes, _: sizes[0] if len(sizes) == 1 else sizes),
)
def classify(
    cells: Cells,
    call: Call,
    written: Written,
    model: Annotated[
        Path | None,
        "File for the classifier, for glfs-bio predict: .json.",
        File("w", (".json",)),
    ] = None,
) -> None:
    """Classify cells by a few genes; prints cell, label and prediction as TSV.

    Example: glfs-bio classify pbmc.h5ad --labels cell_type --n-genes 25 --table predicted.csv
    """
    adata = cells.load()
    entry = call(adata)
    key = call["key_added"]
    columns = {"label": call["labels"], "predicted": f"{key}_predicted"}
    predictions = adata.obs[[*columns.values()]].set_axis([*columns], axis="columns")
    if model is not None:
        glfs_bio.io.write_classifier(adata, model, key=key, overwrite=written.overwrite)
    parts = [f"{entry['n_genes']} genes: {', '.join(entry['genes'])}"]
    if "cv_errors" in entry:
        parts.append(f"{min(entry['cv_errors'])}/{entry['n_tested']} errors in cross-validation")
    if "test_errors" in entry:
        parts.append(f"{entry['test_errors']}/{entry['n_test']} errors outside --train")
    written.put(adata, predictions.rename_axis("cell").reset_index(), "; ".join(parts))


@command("tl.predict", model=None)
def predict(
    cells: Cells,
    model: Annotated[Path, "MODEL", "Classifier: a file of glfs-bio classify --model.", File("r")],
    call: Call,
    written: Written,
) -> None:
    """Predict labels by a classifier; prints cell, prediction and margin as TSV.

    Example: glfs-bio predict new.h5ad blood.json --unsure 0.1 --table predicted.csv
    """
    classifier = glfs_bio.io.read_classifier(model)
    adata = cells.load()
    entry = call(adata, model=classifier)
    columns = {name: f"{call['key_added']}_{name}" for name in ("predicted", "margin")}
    predictions = adata.obs[[*columns.values()]].set_axis([*columns], axis="columns")
    prediction, n_genes = entry["prediction"], len(entry["genes"])
    summary = (
        f"{n_genes - len(prediction.get('absent', ()))} of {n_genes} genes, "
        f"{adata.n_obs - prediction['n_unsure']} of {adata.n_obs} cells labelled"
    )
    written.put(adata, predictions.rename_axis("cell").reset_index(), summary)


@command(
    "tl.enrich",
    gene_sets=_GENE_SETS,
    n_permutations="--permutations",
    n_jobs="--jobs",
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
