"""A selection with its results as one HTML file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from .. import checks
from .._anndata import read
from .._anndata import results as stored
from .._docs import documented
from .._extras import needs
from .._files import as_path, check_target, replacing
from .._progress import with_bar
from ..errors import InvalidType, InvalidValue, short, show_stage
from ..pl._panel import embedding
from . import _sections
from ._sections import Subject

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

#: Search for a gene, whatever the organism and the kind of name.
_LINK = "https://www.ncbi.nlm.nih.gov/gene/?term="


@with_bar
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
    structure preserved by the first genes; parameters and versions.  What
    :func:`~glfs_bio.tl.evaluate_panel`, :func:`~glfs_bio.tl.explain_panel`,
    :func:`~glfs_bio.tl.extend_panel`, :func:`~glfs_bio.tl.stability`, :func:`~glfs_bio.tl.enrich`
    and :func:`~glfs_bio.tl.order_panel` wrote under ``f"{key}_evaluation"`` and so on is there if
    it is in `adata`.  Results of another panel or of other parameters are not shown, and the report
    says so.  The same `adata` gives the same file.

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

    See Also
    --------
    write_genes : Write the genes alone.

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
    needs("A report", "jinja2", "scanpy")
    path = as_path(path)
    check_target(path, overwrite=overwrite)
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
    genes, entry = stored.ranked(adata, key), stored.entry(adata, key, "selection", "preserved")
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

    environment = Environment(autoescape=True, loader=PackageLoader("glfs_bio.io"))
    environment.undefined = StrictUndefined
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["breakable"] = breakable
    environment.filters["digits"] = _sections.digits
    environment.filters["inches"] = _sections.inches
    environment.filters["link"] = lambda gene: _LINK + quote(str(gene), safe="")
    sections: list[_sections.Section] = []
    for number, tell in enumerate(_sections.CONTENTS, 1):
        show_stage(f"report: {tell.__name__}", number, len(_sections.CONTENTS))
        sections += subject.sections(tell)
    template = environment.get_template("report.html")
    return template.render(title=title, lead=_lead(subject), sections=sections)


def _lead(subject: Subject) -> list[str]:
    """Return the first sentences of the page."""
    entry = subject.entry
    n_genes, n_cells = int(entry["n_genes"]), subject.adata.n_obs
    target, n_tested = stored.preserved_of(entry), int(entry["n_tested"])
    texts = [f"{n_genes:,} of {n_tested:,} genes selected in {n_cells:,} cells."]
    if "table" in entry:
        n_added = len(entry["table"])
        texts.append(f"{n_genes - n_added} of them were given, and {n_added} added.")
    share = _sections.percent(entry["preserved"][-1])
    texts.append(f"They preserve {share} of {target}, of which all genes preserve 100\u00a0%.")
    best = float(entry.get("optimality", [np.nan])[-1])
    within = f" {stored.constraints_of(entry)}".rstrip()
    if best >= 1.0:
        texts.append(f"It is proven that no panel of {n_genes} genes preserves more{within}.")
    elif np.isfinite(best):
        share = _sections.percent(np.floor(1000.0 * best) / 1000.0)
        texts.append(f"That is at least {share} of what the best panel of this size{within} does.")
    if not entry.get("converged", True):
        texts.append("The solver did NOT converge.")
    return texts
