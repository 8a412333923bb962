"""A selection with its results as one HTML file.

A section has a heading, text, tables and figures.  A function of ``CONTENTS``, which has them in
the order of the page, tells of the result of the kind that it is called, or else of the selection.
Texts that are the same in every report are in the template.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import pandas as pd

from .. import checks, codec, pl
from .._anndata import columns, read, results
from .._docs import documented
from .._files import check_target, replacing
from ..cells.graph import MOST_EXACT
from ..errors import InvalidType, InvalidValue, Refusal, short, show_stage
from ..options import public
from ..pl._panel import embedding
from ..pl._results import READINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from anndata import AnnData

    Entry = Mapping[str, Any]
    Section = dict[str, Any]
    Contents = Callable[["Subject", Entry], Iterator[Section]]

_DPI = 130
#: Gene sets matter up to this adjusted p-value; rows of their table, bars of a picture, and items
#: of a list that are shown.
_LEVEL, _TERMS, _BARS, _ITEMS = 0.05, 50, 100, 20
#: Columns with names of genes, which are shown as `symbols` has them.
_OF_GENES = ("gene", "substitute", "axis", "genes", "genes_up", "genes_down", "replaces")
#: What separates genes in these.
_BETWEEN = re.compile("(, |/|;)")


@public
@documented
def write_report(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    labels: str | None = None,
    symbols: str | None = None,
    basis: str | bool | None = None,
    title: str = "Selected genes",
    overwrite: bool = False,
) -> None:
    """Write a report of a selection as one HTML file that opens without network.

    It holds a summary; the UMAP of the panel next to that of all genes; a sortable table of the
    genes, and their contributions; with `labels`, a dot plot of the genes by type; constraints; the
    structure preserved by the first genes; parameters and versions; and what functions of
    :mod:`glfs_bio.tl` wrote under ``f"{key}_evaluation"`` and so on.  Results of another panel or
    of other parameters are not shown, and the report says so.  The same `adata` gives the same
    file.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.  It is not changed.
    path : str or path
        File to write, ``.html``.
    <key>
    labels : str, default None
        Column of ``.obs`` that colours the cells, and groups them where it has labels.
    <shown symbols>
    basis : str or False, default None
        Key of ``.obsm`` with coordinates of the cells by the panel, as in
        :func:`~glfs_bio.pl.panel`.  None: UMAPs are computed, of up to 20,000 cells.  False: the
        report has none.
    title : str, default "Selected genes"
        Heading.
    <overwrite>

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     glfs_bio.io.write_report(adata, path, basis=False)
    ...     text = path.read_text(encoding="utf-8")
    >>> "5 of 753 genes" in text
    True
    """
    checks.needs("A report", "jinja2", "scanpy")
    path = check_target(path, overwrite=overwrite)
    if path.suffix.lower() not in {".html", ".htm"}:
        raise InvalidValue(f"`path={short(path)}` must end with .html")
    checks.texts(title=title)
    read.check(adata)
    if basis is True or not isinstance(basis, str | bool | None):
        raise InvalidType(f"`basis={short(basis)}` must be a key of .obsm, or False")
    if isinstance(basis, str):
        embedding(adata, basis)
    if labels is not None:
        read.find(adata, "obs", labels, "labels")
    genes, entry = results.ranked(adata, key), results.entry(adata, key, "selection", "preserved")
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    subject = Subject(adata, key, genes, entry, names, labels, symbols, basis)
    from matplotlib import style

    with style.context("default"):  # a page is white wherever it was made
        text = _page(subject, title)
    with replacing(path, overwrite=overwrite) as name:
        name.write_text(text, encoding="utf-8")


def _page(subject: Subject, title: str) -> str:
    """Return the page; everything that comes from the data is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def breakable(text: str) -> Markup:
        """Return a text that can be broken after `_` and `/`."""
        return Markup(re.sub("([_/])", r"\1<wbr>", str(escape(text))))  # noqa: S704 -- escaped

    def link(gene: object) -> str:
        """Return the address of a search for a gene, whatever the organism and the kind of name."""
        return "https://www.ncbi.nlm.nih.gov/gene/?term=" + quote(str(gene), safe="")

    environment = Environment(autoescape=True, loader=PackageLoader("glfs_bio.io"))
    environment.undefined = StrictUndefined
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters.update(breakable=breakable, digits=digits, inches=inches, link=link)
    sections: list[Section] = []
    for number, tell in enumerate(CONTENTS, 1):
        show_stage(f"report: {tell.__name__}", number, len(CONTENTS))
        sections += subject.sections(tell)
    template = environment.get_template("report.html")
    return template.render(title=title, lead=_lead(subject), sections=sections)


def _lead(subject: Subject) -> list[str]:
    """Return the first sentences of the page."""
    entry = subject.entry
    n_genes, n_cells = int(entry["n_genes"]), subject.adata.n_obs
    target, n_tested = results.preserved_of(entry), int(entry["n_tested"])
    where = f"{n_cells:,} cells" if n_cells else "cells that were left out"
    texts = [f"{n_genes:,} of {n_tested:,} genes selected in {where}."]
    if "table" in entry:
        n_added = len(entry["table"])
        texts.append(f"{n_genes - n_added} of them were given, and {n_added} added.")
    share = percent(entry["preserved"][-1])
    texts.append(f"They preserve {share} of {target}, of which all genes preserve 100\u00a0%.")
    best = float(entry.get("optimality", [np.nan])[-1])
    within = f" {results.constraints_of(entry)}".rstrip()
    if best >= 1.0:
        texts.append(f"It is proven that no panel of {n_genes} genes preserves more{within}.")
    elif np.isfinite(best):
        share = percent(np.floor(1000.0 * best) / 1000.0)
        texts.append(f"That is at least {share} of what the best panel of this size{within} does.")
    if not entry.get("converged", True):
        texts.append("The solver did NOT converge.")
    return texts


def section(name: str, heading: str, **parts: Any) -> Section:
    """Return a part of the page: its id, and tables and inline PNG by their captions."""
    return {"name": name, "heading": heading, "text": [], "tables": {}, "figures": {}} | parts


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

    @cached_property
    def results(self) -> dict[str, tuple[Entry, str | None]]:
        """The selection and its results by their kinds, each with why it is outdated."""
        by_kind: dict[str, tuple[Entry, str | None]] = {"selection": (self.entry, None)}
        for kind in {*map(result_kind, CONTENTS)} - {"selection"}:
            entry = results.record(self.adata, f"{self.key}_{kind}")
            if results.kind_of(entry) == kind:
                by_kind[kind] = entry, results.why_outdated(self.adata, entry, self.key)
        return by_kind

    def result(self, kind: str) -> Entry | None:
        """Return a result of this selection; None if it is missing or of another one."""
        entry, why = self.results.get(kind, (None, None))
        return entry if why is None else None

    def sections(self, tell: Contents) -> Iterator[Section]:
        """Yield what a function tells of its result, or that this is outdated."""
        kind = result_kind(tell)
        entry, why = self.results.get(kind, (None, None))
        if why is not None:
            why = why.replace("`", "")
            text = f"The result under {self.key}_{kind} is not shown with this selection: {why}."
            yield section(kind, kind.capitalize(), text=[text])
        elif entry is not None:
            yield from tell(self, entry)

    def renamed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return a table with genes as they are called."""
        of_genes = {name: table[name].map(self.rename) for name in _OF_GENES if name in table}
        return table.assign(**of_genes)

    def rename(self, text: object) -> str:
        """Return genes in a text as they are called."""
        pieces = _BETWEEN.split(str(text))
        return "".join(str(self.names.get(piece, piece)) for piece in pieces)

    def figure(self, draw: Callable[..., Any], *args: Any, **options: Any) -> str:
        """Return a plot of the selection as the address of an inline PNG."""
        return picture(draw(self.adata, *args, key=self.key, show=False, **options))


def result_kind(tell: Contents) -> str:
    """Return the kind of result that a function tells of."""
    return tell.__name__ if tell.__name__ in results.KINDS else "selection"


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


def cells(subject: Subject, _: Entry) -> Iterator[Section]:
    """UMAPs by all genes and by the panel."""
    n_cells, labels = subject.adata.n_obs, subject.labels
    if subject.basis is False or (subject.basis is None and not 0 < n_cells <= MOST_EXACT):
        text = f"UMAPs of {n_cells:,} cells were not computed for this report."
        yield section("cells", "Cells", text=[text])
        return
    by = f", coloured by {labels}" if labels else ""
    caption = f"UMAPs by all genes and by the selected genes alone{by}."
    options = {"symbols": subject.symbols, "basis": subject.basis}
    yield section("cells", "Cells", figures={caption: subject.figure(pl.panel, labels, **options)})


def genes(subject: Subject, entry: Entry) -> Iterator[Section]:
    """Genes, with the contribution of each; and those that were added to a panel."""
    table = subject.genes
    text = f"The loss is the contribution of a gene: the share of {results.preserved_of(entry)} "
    texts = [text + "that is no longer preserved without it."]
    shown = table[["rank", "loss"]].astype({"rank": int})
    shown.insert(1, "gene", table.index)
    if entry.get("objective") != "error":
        shown["weight"] = table["weight"]
    if "table" in entry:
        is_added = table.index.isin(entry["table"]["gene"])
        shown["origin"] = np.where(is_added, "added", "given")
    elif table["included"].any():
        shown["must-have"] = np.where(table["included"], "yes", "")
    why = subject.result("explanation")
    if why is not None:
        explained = why["table"].set_index("gene").reindex(table.index)
        shown = shown.join(explained.filter(["supports", "substitute", "substitution_score"]))
    if subject.result("stability") is not None:
        shown["frequency"] = results.frequency(subject.adata, f"{subject.key}_stability")
    if "absent" in entry:
        absent = ", ".join(map(str, entry["absent"]))
        texts.append(f"Names that are not in the data, and were left out: {absent}.")
    figure = subject.figure(pl.genes, min(_BARS, len(table)), symbols=subject.symbols)
    tables = {"": subject.renamed(shown)}
    yield section("genes", "Genes", text=texts, tables=tables, figures={"Contributions.": figure})
    if "table" in entry:
        yield section("added", "Added genes", tables={"": subject.renamed(entry["table"])})


def types(subject: Subject, _: Entry) -> Iterator[Section]:
    """Genes by cell type, where the cells have labels and not numbers."""
    try:
        groups = columns.labels(subject.adata, subject.labels or "")[1]
    except Refusal:
        return
    if len(groups) > 1 and subject.adata.n_obs:
        caption = f"The selected genes by {subject.labels}."
        figure = subject.figure(pl.dotplot, subject.labels, symbols=subject.symbols)
        yield section("types", "Genes by type", figures={caption: figure})


def evaluation(subject: Subject, entry: Entry) -> Iterator[Section]:
    """Measures of the whole panel, labels, and the axes that it leaves unexplained."""
    table = entry["measures"]
    table = table[table["n_genes"] == table["n_genes"].max()].drop(columns=["panel", "n_genes"])
    is_empty = table.isna().all() | (table == "").all()
    tables = {"Measures.": table.loc[table["value"].notna(), ~is_empty]}
    further = {name: entry[name] for name in ("per_label", "gene_sets") if name in entry}
    for name, table in {**further, **entry.get("forecast", {})}.items():
        shown = table.filter(regex="^(?!precision)").head(_TERMS)
        if "kind" in shown and shown["kind"].nunique() == 1:
            shown = shown.drop(columns="kind")
        tables[f"{name.replace('_', ' ').capitalize()}."] = subject.renamed(shown)
    figures = {}
    if "confusion" in entry:
        figures["Recall and F1 of every label."] = subject.figure(pl.labels)
        for reading in entry["confusion"]["reading"].unique():
            caption = f"Labels predicted for the cells of each label, by {READINGS[reading]}."
            figures[caption] = subject.figure(pl.confusion, reading=reading)
    yield section("evaluation", "Evaluation", tables=tables, figures=figures)
    axes = {"": subject.renamed(entry["unexplained"])}
    yield section("unexplained", "Unexplained variation", tables=axes)


def explanation(subject: Subject, entry: Entry) -> Iterator[Section]:
    """Why each gene is in the panel, and its substitutes."""
    names = ["gene", "role", "expressed_in", "preserved", "axis", "axis_share"]
    table = entry["table"].filter(names)
    tables = {"": subject.renamed(table.loc[:, (table != "").any()])}
    if "genes" in entry:
        tables["Genes that were asked for."] = subject.renamed(entry["genes"])
    yield section("explanation", "Why each gene", tables=tables)
    if "substitutes" in entry:
        tables = {"": subject.renamed(entry["substitutes"])}
        yield section("substitutes", "Substitutes", tables=tables)


def selection(subject: Subject, entry: Entry) -> Iterator[Section]:
    """Constraints that the panel meets, the share preserved by its first genes, and facts."""
    stated = codec.scalar(entry.get("params", {}).get("limits", "None"))
    if not isinstance(stated, str):
        tables = {"": facts({name: codec.restored(value) for name, value in stated.items()})}
        if "ruled_out" in entry:
            caption = "Genes that a limit rules out, of which each alone would preserve most."
            tables[caption] = subject.renamed(entry["ruled_out"])
        yield section("limits", "Constraints", tables=tables)
    names = [name for name in entry if name not in ("kind", "written", "request")]
    numbers = {name: entry[name] for name in names if np.isscalar(entry[name])}
    figures = {"Shares by number of genes.": subject.figure(pl.curve)}
    yield section("choice", "Selection", tables={"": facts(numbers)}, figures=figures)


def stability(subject: Subject, entry: Entry) -> Iterator[Section]:
    """How often subsamples of the cells give the genes."""
    names, panel = subject.names, subject.genes.index
    is_frequent = results.read_column(subject.adata, f"{subject.key}_stability", "consensus")
    frequent = is_frequent.index[is_frequent]
    text = f"{len(entry['n_genes'])} selections, each in a subsample of {entry['n_cells']} cells, "
    text += f"have a mean Jaccard index of {entry['mean_jaccard']:.3g}."
    only = {"in the panel": panel.difference(frequent, sort=False)}
    only["among the genes selected most often"] = frequent.difference(panel, sort=False)
    shown = {where: ", ".join(names.loc[genes]) for where, genes in only.items() if len(genes)}
    texts = [text, *(f"Only {where}: {genes}." for where, genes in shown.items())]
    n_bars, figures = min(_BARS, results.n_chosen(entry)), {}
    if n_bars:
        caption = "Selection frequencies, and the Jaccard index of every two selections."
        figures[caption] = subject.figure(pl.stability, n_bars, symbols=subject.symbols)
    yield section("stability", "Stability", text=texts, figures=figures)


def enrichment(_: Subject, entry: Entry) -> Iterator[Section]:
    """Gene sets that are enriched in the panel."""
    table = entry["table"][entry["table"]["pvals_adj"] <= _LEVEL]
    text = f"{len(table)} of {len(entry['table'])} gene sets are enriched at an adjusted p-value "
    text += f"of {_LEVEL}, against a background of {entry['n_background']} genes."
    shown = table.head(_TERMS).reset_index(names="gene set")
    shown["genes"] = shown["genes"].str.replace(";", ", ")
    tables = {"": shown} if len(shown) else {}
    yield section("enrichment", "Enrichment", text=[text], tables=tables)


def order(_: Subject, entry: Entry) -> Iterator[Section]:
    """What was checked, and what to send."""
    tables = {"What was checked.": entry["checks"]}
    if len(entry["replaced"]):
        tables["Genes that cannot be ordered."] = entry["replaced"]
    tables["What to send."] = entry["table"]
    text = f"{len(entry['table'])} genes in the form of {entry['platform']}."
    yield section("order", "Order", text=[text], tables=tables)


def parameters(subject: Subject, entry: Entry) -> Iterator[Section]:
    """Parameters and versions of all results."""
    tables: dict[str, pd.DataFrame] = {}
    versions: dict[str, Any] = {}
    for kind in dict.fromkeys(map(result_kind, CONTENTS)):
        shown = subject.result(kind) or {}
        versions |= shown.get("versions", {})
        if "params" in shown:
            tables[kind] = facts(shown["params"])
    tables |= {"structure": facts(entry["structure"]), "versions": facts(versions)}
    yield section("parameters", "Parameters and versions", tables=tables)


CONTENTS: list[Contents] = [cells, genes, types, evaluation, explanation, selection]
CONTENTS += [stability, enrichment, order, parameters]


def facts(values: Mapping[str, Any]) -> pd.DataFrame:
    """Return names and values, in the order of the names, as rows."""
    rows = {name: plain(values[name]) for name in sorted(values)}
    return pd.DataFrame({"name": list(rows), "value": list(rows.values())}, dtype=object)


def plain(value: Any) -> str:
    """Return a parameter in text, as it was given."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(value[name])}" for name in sorted(value))
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
