"""A selection as one HTML file for a colleague: its results are found, and put on a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import read, stale
from .._anndata import results as stored
from .._docs import documented
from .._extras import needs
from .._files import as_path, bad_file, check_target, replacing
from .._progress import progress
from ..errors import MAPPING, NONE, OBS, InvalidType, InvalidValue, NotFound, arg, call, listed
from . import _sections
from ._subject import Result, Subject, inches

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from anndata import AnnData

#: Search for a gene, whatever the organism and the kind of name.
LINK = "https://www.ncbi.nlm.nih.gov/gene/?term={gene}"
#: Kinds of results that a report may show.
_SHOWN = (
    *("evaluation", "explanation", "substitutes", "markers", "stability", "enrichment", "order"),
)


@documented
def write_report(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    labels: str | None = None,
    symbols: str | None = None,
    results: Mapping[str, str] | None = None,
    umaps: bool | None = None,
    link: str | None = LINK,
    title: str = "Selected genes",
    overwrite: bool = False,
) -> None:
    """Write a report of a selection as one HTML file that opens without network.

    It holds a summary; the UMAP of the panel next to that of all genes; the contributions of the
    selected genes, and a sortable table of them; with `labels`, a dot plot of the genes by type and
    the markers of each type; the evaluation of the panel and the variation that it leaves
    unexplained; why each gene is in it; substitutes; constraints; the structure preserved by the
    first genes, and the path along λ where there is one; stability; significant gene sets; the
    order, with its checks; parameters and versions.
    What :func:`~glfs_bio.tl.evaluate_panel`, :func:`~glfs_bio.tl.explain_panel` and other functions
    compute is there if it is in `adata`.  The same `adata` gives the same file.

    UMAPs take most of the time, minutes for many cells.  Call :func:`~glfs_bio.tl.panel_umap` first
    to keep them in `adata` for every report and plot.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.  It is not changed.
    path : str or path
        File to write, ``.html``.
    <key>
    labels : str, default None
        Column of ``.obs`` that colours the cells, and groups them where it has labels.
    symbols : str, default None
        Column of ``.var`` with the names to show.  None: ``.var_names``, as for genes without a
        name.
    results : dict of str to str, default None
        Keys of the results, by ``"evaluation"``, ``"explanation"``, ``"substitutes"``,
        ``"markers"``, ``"order"``, ``"stability"`` and ``"enrichment"``.  None, or without a key:
        ``f"{key}_evaluation"`` and so on, if they exist.  Results of another panel or of other
        parameters are not shown, and the report says so.
    umaps : bool, default None
        Whether to compute UMAPs that are not in `adata`.  None: of up to 20,000 cells; of more,
        none are drawn unless they are there.
    link : str, default the search of NCBI Gene
        Web address of a page on a gene, with ``{gene}`` instead of its name.  None: no links.
    title : str, default "Selected genes"
        Heading.
    <overwrite>

    Raises
    ------
    ValueError
        If a named result is of another selection.

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
    ...     glfs_bio.io.write_report(adata, path, umaps=False)
    ...     text = path.read_text(encoding="utf-8")
    >>> "5 of 765 genes" in text
    True
    """
    needs("A report", "jinja2", "scanpy")
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    if path.suffix.lower() not in {".html", ".htm"}:
        raise bad_file(path, "must end with .html")
    checks.texts(title=title)
    checks.texts(labels=labels, link=link, or_none=True)
    if umaps is not None:
        checks.flags(umaps=umaps)
    if link is not None and not (link.startswith(("https://", "http://")) and "{gene}" in link):
        raise InvalidValue("link", link, "must be a web address, https://…, with {gene} in it")
    if not isinstance(results, Mapping | None):
        raise InvalidType("results", results, f"must be a {MAPPING} of names and keys, or {NONE}")
    for what in results or {}:
        checks.one_of("results", what, _SHOWN)
    read.check(adata)
    if labels is not None and labels not in adata.obs:
        raise NotFound("labels", labels, f"is not in {OBS}", f"choose from {listed(adata.obs)}")
    frame = stored.ranked(adata, key)
    subject = Subject(
        adata,
        key,
        frame=frame,
        entry=stored.entry(adata, key, "selection", "preserved"),
        called=read.symbols(adata, symbols).fillna(adata.var_names.to_series()),
        labels=labels,
        symbols=symbols,
        link=link,
        results=_results(adata, key, frame.index, results or {}),
        umaps=umaps,
    )
    from matplotlib import style

    with style.context("default"):  # a page is white wherever it was made
        text = _page(subject, title)
    with replacing(path, overwrite=overwrite) as name:
        name.write_text(text, encoding="utf-8")


def _page(subject: Subject, title: str) -> str:
    """The page; everything that comes from the data is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("glfs_bio.io"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for show in (_sections.plain, _sections.digits, _sections.percent, inches):
        environment.filters[show.__name__] = show
    environment.filters["target"] = stored.preserved_of

    def filled(name: str, content: dict[str, Any]) -> str:
        return environment.get_template(f"report/{name}.html").render(content)

    sections = []
    with progress() as bar:
        task = bar.add_task("", total=len(_sections.SECTIONS))
        for heading, function in _sections.SECTIONS.items():
            bar.update(task, description=f"report: {heading}")
            content = function(subject)
            if content is not None:
                name = function.__name__
                body = filled(name, {"of_another": None, **content})
                sections.append({"id": name, "heading": heading, "body": body})
            bar.advance(task)
    lead = filled("lead", _sections.lead(subject))
    return environment.get_template("report.html").render(title=title, lead=lead, sections=sections)


def _results(
    adata: AnnData, key: str, genes: pd.Index, named: Mapping[str, str]
) -> dict[str, Result]:
    """Return the results in the object; `genes` are the selected genes."""
    found = {}
    for what in _SHOWN:
        given = named.get(what)
        where = f"{key}_{what}" if given is None else given
        if given is None and where not in adata.uns:
            continue
        entry = stored.entry(adata, where, what, argument="results")
        unlike = _unlike(adata, key, genes, what, entry)
        if given is not None and unlike is not None:
            raise InvalidValue(
                "results",
                given,
                f"is not of the selection under {arg('key', key)} ({unlike})",
                f"run {call(stored.KINDS[what])} again",
            )
        found[what] = Result(where, entry, unlike)
    return found


def _unlike(
    adata: AnnData, key: str, genes: pd.Index, what: str, entry: dict[str, Any]
) -> str | None:
    """Say why a result is not of the selection."""
    is_stability = what == "stability"
    why = stale.stale(adata, entry, key=key if is_stability else None)
    if is_stability:
        return why
    if why is not None:
        return why
    names = stale.panel_of(entry) or []
    n_same = len(np.intersect1d(names, genes.astype(str)))
    if n_same == len(names) == len(genes):
        return None
    return (
        f"their panel is another (not selected: {len(names) - n_same} of its {len(names)} genes; "
        f"not in it: {len(genes) - n_same} of the {len(genes)} that are selected)"
    )
