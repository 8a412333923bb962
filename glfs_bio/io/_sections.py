"""Sections of the report: each is a heading with text, tables and figures.

A section is a function of the :class:`Subject` that returns a :class:`Section`, or None where there
is nothing to tell.  ``SECTIONS`` has them in the order of the page.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import codec, pl
from .._anndata import columns, results, stale
from ..cells.graph import MOST_EXACT
from ..errors import Refusal
from ..pl._results import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

_DPI = 130
#: Gene sets matter up to this adjusted p-value; rows of their table, bars of a picture, and items
#: of a list that are shown.
_LEVEL, _TERMS, _BARS, _ITEMS = 0.05, 50, 100, 20
#: Columns with names of genes, which are shown as `symbols` has them.
_OF_GENES = ("gene", "substitute", "axis", "genes", "genes_up", "genes_down", "replaces")
#: What separates genes in these.
_BETWEEN = re.compile("(, |/|;)")
#: Results that have sections of their own.
KINDS = ("evaluation", "explanation", "stability", "enrichment", "order")


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    heading: str
    text: list[str] = field(default_factory=list)
    #: By their captions.
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    #: Inline PNG by their captions.
    figures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """Selection of a report, and how to show it."""

    adata: AnnData
    key: str
    #: The selected genes, the best first.
    genes: pd.DataFrame
    entry: dict[str, Any]
    #: Names to show of all genes.
    names: pd.Series
    labels: str | None
    symbols: str | None
    #: As in :func:`write_report`.
    basis: str | bool | None

    def result(self, kind: str) -> dict[str, Any] | None:
        """Return a result of this selection; None if it is missing or of another one."""
        entry = self.adata.uns.get(f"{self.key}_{kind}")
        is_current = results.kind_of(entry) == kind and self.why_outdated(kind) is None
        return entry if is_current else None

    def why_outdated(self, kind: str) -> str | None:
        """Return why a result is not of this selection; None where it is, or is missing."""
        entry = self.adata.uns.get(f"{self.key}_{kind}")
        if results.kind_of(entry) != kind:
            return None
        return stale.why_outdated(self.adata, entry, self.key)

    def outdated(self, heading: str, kind: str) -> Section | None:
        """Return the section that says why a result is not shown; None where it is missing."""
        why = self.why_outdated(kind)
        text = f"The result under {self.key}_{kind} is not shown with this selection: {why}."
        return None if why is None else Section(heading, [text.replace("`", "")])

    def renamed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table with genes as they are called."""
        of_genes = {name: table[name].map(self.rename) for name in _OF_GENES if name in table}
        return table.assign(**of_genes)

    def rename(self, text: object) -> str:
        """Return genes in a text as they are called."""
        pieces = _BETWEEN.split(str(text))
        return "".join(str(self.names.get(piece, piece)) for piece in pieces)

    def figure(self, draw: Callable[..., Any], *args: Any, **options: Any) -> str:
        """Return a plot of the cells as the address of an inline PNG."""
        return picture(draw(self.adata, *args, show=False, **options))

    @property
    def is_grouped(self) -> bool:
        """Whether the cells have labels, and not numbers."""
        if self.labels is None:
            return False
        try:
            _, groups = columns.labels(self.adata, self.labels)
        except Refusal:
            return False
        return len(groups) > 1


def picture(axes: Any) -> str:
    """Return the figure of axes as the address of an inline PNG; it is closed."""
    from matplotlib import pyplot as plt

    figure, buffer = np.ravel(axes)[0].figure, io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def inches(source: str) -> float:
    """Return the width of an inline PNG, at the size of its text."""
    head = base64.b64decode(source.partition(",")[2][:32])  # the width is in bytes 16 to 20
    return int.from_bytes(head[16:20], "big") / _DPI


def cells(subject: Subject) -> Section:
    """UMAPs by all genes and by the panel."""
    n_cells = subject.adata.n_obs
    if subject.basis is False or (subject.basis is None and n_cells > MOST_EXACT):
        text = f"UMAPs of {n_cells:,} cells were not computed for this report."
        return Section("Cells", [text])
    basis = subject.basis if isinstance(subject.basis, str) else None
    options: dict[str, Any] = {"key": subject.key, "symbols": subject.symbols, "basis": basis}
    by = f", coloured by {subject.labels}" if subject.labels else ""
    caption = f"UMAPs by all genes and by the selected genes alone{by}."
    return Section("Cells", figures={caption: subject.figure(pl.panel, subject.labels, **options)})


def genes(subject: Subject) -> Section:
    """Return the table of genes, and the contribution of each."""
    entry, table = subject.entry, subject.genes
    target = results.preserved_of(entry)
    text = f"The loss is the contribution of a gene: the share of {target} that is no longer "
    text += "preserved without it."
    shown = pd.DataFrame(
        {"rank": table["rank"].astype(int), "gene": table.index, "loss": table["loss"]}
    ).set_axis(table.index)
    if entry.get("objective") != "error":
        shown["weight"] = table["weight"]
        text += " The weight is what the method gave the gene."
    if "table" in entry:
        is_added = table.index.isin(entry["table"]["gene"])
        shown["origin"] = np.where(is_added, "added", "given")
    elif table["included"].any():
        shown["must-have"] = np.where(table["included"], "yes", "")
    why = subject.result("explanation")
    if why is not None:
        explained = why["table"].set_index("gene").reindex(table.index)
        for name in ("supports", "substitute", "substitution_score"):
            if name in explained:
                shown[name] = explained[name]
        text += " A gene supports the labels on whose cells its contribution falls. A substitute "
        text += "with a score of 1 is as good as a second measurement of the gene."
    if subject.result("stability") is not None:
        shown["frequency"] = subject.adata.var[f"{subject.key}_stability_frequency"]
        text += " The frequency is the share of subsamples that give the gene."
    texts = [text]
    if "absent" in entry:
        absent = ", ".join(map(str, entry["absent"]))
        texts.append(f"Names that are not in the data, and were left out: {absent}.")
    options = {"key": subject.key, "symbols": subject.symbols}
    figure = subject.figure(pl.genes, min(_BARS, len(table)), **options)
    return Section("Genes", texts, {"": subject.renamed(shown)}, {"Contributions.": figure})


def added(subject: Subject) -> Section | None:
    """Return the genes that were added to a panel that was given."""
    if "table" not in subject.entry:
        return None
    table, n_genes = subject.entry["table"], len(subject.genes)
    text = f"{n_genes - len(table)} genes were given, and {len(table)} were added to them."
    return Section("Added genes", [text], {"": subject.renamed(table)})


def types(subject: Subject) -> Section | None:
    """Return the genes by cell type."""
    if not subject.is_grouped:
        return None
    text = (
        "The size of a dot is the share of the cells of a type in which the gene is on, and its "
        "colour the mean expression, from 0 to 1 for each gene. A gene stands under the type that "
        "it is a marker of, or else in which share × mean is largest."
    )
    options = {"key": subject.key, "symbols": subject.symbols}
    figure = subject.figure(pl.dotplot, subject.labels, **options)
    return Section(
        "Genes by type", [text], {}, {f"The selected genes by {subject.labels}.": figure}
    )


def quality(subject: Subject) -> Section | None:
    """Return the measures of the panel; with labels, their recall."""
    entry = subject.result("evaluation")
    if entry is None:
        return subject.outdated("Evaluation", "evaluation")
    key = f"{subject.key}_evaluation"
    tables = {"Measures.": measures_of(entry)}
    further = {name: entry.get(name) for name in ("per_label", "gene_sets")}
    for name, table in {**further, **entry.get("forecast", {})}.items():
        if table is not None:
            caption = f"{name.replace('_', ' ').capitalize()}."
            shown = table.filter(regex="^(?!precision)").head(_TERMS)
            if "kind" in shown and shown["kind"].nunique() == 1:
                shown = shown.drop(columns="kind")
            tables[caption] = subject.renamed(shown)
    figures = {}
    if "confusion" in entry:
        figures["Recall and F1 of every label."] = subject.figure(pl.labels, key=key)
        for reading in entry["confusion"]["reading"].unique():
            caption = "Labels predicted for the cells of each label, per cent, by "
            figure = subject.figure(pl.confusion, key=key, reading=reading)
            figures[f"{caption}{READINGS[reading]}."] = figure
    return Section("Evaluation", [], tables, figures)


def measures_of(entry: Mapping[str, Any]) -> pd.DataFrame:
    """Return the measures of the whole panel, in the columns that say something."""
    table = entry["measures"]
    table = table[table["n_genes"] == table["n_genes"].max()].drop(columns=["panel", "n_genes"])
    is_empty = table.isna().all() | (table == "").all()
    return table.loc[table["value"].notna(), ~is_empty]


def unexplained(subject: Subject) -> Section | None:
    """Return the axes of the structure that the panel leaves unexplained."""
    entry = subject.result("evaluation")
    if entry is None:
        return None
    text = (
        "The axes of the structure that the panel explains least, the worst first, named by the "
        "genes at both ends. The share is of all unexplained variation."
    )
    return Section("Unexplained variation", [text], {"": subject.renamed(entry["unexplained"])})


def explanation(subject: Subject) -> Section | None:
    """Return why each gene is in the panel."""
    entry = subject.result("explanation")
    if entry is None:
        return subject.outdated("Why each gene", "explanation")
    texts = [
        "Most of the loss lies along one axis of the structure, named by the genes that vary most "
        "along it. A gene is expressed in the labels of which at least 10 % of the cells express "
        "it, with its mean there compared with all other cells.",
    ]
    names = ["gene", "role", "expressed_in", "preserved", "axis", "axis_share"]
    table = entry["table"]
    shown = table[[name for name in names if name in table and (table[name] != "").any()]]
    tables = {"": subject.renamed(shown)}
    if "genes" in entry:
        tables["Genes that were asked for."] = subject.renamed(entry["genes"])
    return Section("Why each gene", texts, tables)


def substitutes(subject: Subject) -> Section | None:
    """Return the substitutes of each gene."""
    entry = subject.result("explanation")
    if entry is None or "substitutes" not in entry:
        return None
    text = (
        "Replacements for genes whose probes fail, the best first. A substitution score of 1 is as "
        "good as a second measurement of the gene. The constraints hold with each of them."
    )
    return Section("Substitutes", [text], {"": subject.renamed(entry["substitutes"])})


def limits(subject: Subject) -> Section | None:
    """Return the constraints that the panel meets."""
    stated = subject.entry.get("params", {}).get("limits", "None")
    if isinstance(stated, str):
        return None
    tables = {"": facts({name: codec.restored(value) for name, value in stated.items()})}
    out = subject.entry.get("ruled_out")
    if out is not None:
        caption = "Genes that a limit rules out, of which each alone would preserve most."
        tables[caption] = subject.renamed(out)
    return Section("Constraints", ["The panel meets these constraints."], tables)


def choice(subject: Subject) -> Section:
    """Return the share preserved by the first genes, and the facts of the selection."""
    numbers = {
        name: value
        for name, value in subject.entry.items()
        if isinstance(value, str | bool | int | float | np.generic)
        and name not in ("kind", "written", "request")
    }
    figure = subject.figure(pl.curve, key=subject.key)
    return Section("Selection", [], {"": facts(numbers)}, {"Shares by number of genes.": figure})


def stability(subject: Subject) -> Section | None:
    """Return how often subsamples of the cells give the genes."""
    entry = subject.result("stability")
    if entry is None:
        return subject.outdated("Stability", "stability")
    key, adata = f"{subject.key}_stability", subject.adata
    n_resamples, mean = len(entry["n_genes"]), entry["mean_jaccard"]
    text = f"{n_resamples} selections, each in a subsample of {entry['n_cells']} cells, have a "
    text += f"mean Jaccard index of {mean:.3g}."
    consensus = adata.var_names[adata.var[f"{key}_consensus"].astype(bool)]
    out = subject.names.loc[subject.genes.index.difference(consensus, sort=False)]
    instead = subject.names.loc[consensus.difference(subject.genes.index, sort=False)]
    changes = {"Only in the panel": out, "Only among the genes selected most often": instead}
    texts = [f"{change}: {', '.join(names)}." for change, names in changes.items() if len(names)]
    size, figures = min(_BARS, results.n_chosen(entry)), {}
    if size:
        caption = "Selection frequencies, and the Jaccard index of every two selections."
        figures[caption] = subject.figure(pl.stability, size, key=key, symbols=subject.symbols)
    return Section("Stability", [text, *texts], {}, figures)


def enrichment(subject: Subject) -> Section | None:
    """Return the gene sets that are enriched in the panel."""
    entry = subject.result("enrichment")
    if entry is None:
        return None
    table = entry["table"][entry["table"]["pvals_adj"] <= _LEVEL]
    text = f"{len(table)} of {len(entry['table'])} gene sets are enriched at an adjusted p-value "
    text += f"of {_LEVEL}, against a background of {entry['n_background']} genes."
    shown = table.head(_TERMS).reset_index(names="gene set")
    shown["genes"] = shown["genes"].str.replace(";", ", ")
    return Section("Enrichment", [text], {"": shown} if len(shown) else {})


def order(subject: Subject) -> Section | None:
    """Return the order: what was checked, and what to send."""
    entry = subject.result("order")
    if entry is None:
        return subject.outdated("Order", "order")
    tables = {"What was checked.": entry["checks"]}
    if len(entry["replaced"]):
        tables["Genes that cannot be ordered."] = entry["replaced"]
    tables["What to send."] = entry["table"]
    text = f"{len(entry['table'])} genes in the form of {entry['platform']}."
    return Section("Order", [text], tables)


def parameters(subject: Subject) -> Section:
    """Return the parameters and versions of all results."""
    of_kinds = {kind: subject.result(kind) for kind in KINDS}
    entries = {"selection": subject.entry}
    entries |= {kind: entry for kind, entry in of_kinds.items() if entry is not None}
    tables = {kind: facts(entry["params"]) for kind, entry in entries.items() if "params" in entry}
    versions: dict[str, Any] = {}
    for entry in entries.values():
        versions |= entry.get("versions", {})
    tables |= {"structure": facts(subject.entry["structure"]), "versions": facts(versions)}
    return Section("Parameters and versions", [], tables)


SECTIONS: tuple[Callable[[Subject], Section | None], ...] = (
    *(cells, genes, added, types, quality, unexplained, explanation, substitutes, limits, choice),
    *(stability, enrichment, order, parameters),
)


def facts(values: Mapping[str, Any]) -> pd.DataFrame:
    """Return names and values, in the order of the names, as rows."""
    rows = {name: plain(values[name]) for name in sorted(values)}
    return pd.DataFrame({"name": list(rows), "value": list(rows.values())}, dtype=object)


def plain(value: Any) -> str:
    """Return a parameter in text, as it was given."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(value[name])}" for name in sorted(value))
    if isinstance(value, np.ndarray) and value.dtype == np.bool_:
        return f"{value.sum()} of {value.size}"
    if isinstance(value, np.ndarray | list | tuple):
        items = [plain(item) for item in value[:_ITEMS]]
        return ", ".join(items) + (f", … ({len(value)})" if len(value) > _ITEMS else "")
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def digits(value: Any) -> str:
    """Return a result in text, with as many digits as people read."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    if not isinstance(value, float | np.floating):
        return plain(value)
    if not np.isfinite(value):
        return ""
    return f"{value:,.0f}" if np.abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def percent(value: float) -> str:
    """Return a share in text; the number and its unit stay on one line."""
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"
