"""A selection as one HTML file for a colleague."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import checks
from .._anndata import read, selection, target
from .._extras import needs
from .._files import as_path, check_target, replacing
from .._progress import progress
from . import _sections, _subject

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

#: Search for a gene, whatever the organism and the kind of name.
LINK = "https://www.ncbi.nlm.nih.gov/gene/?term={gene}"


def write_report(
    adata: AnnData,
    path: str | Path,
    *,
    key: str = "glfs",
    groupby: str | None = None,
    symbols: str | None = None,
    evaluation_key: str | None = None,
    explanation_key: str | None = None,
    substitutes_key: str | None = None,
    stability_key: str | None = None,
    enrichment_key: str | None = None,
    layer: str | None = None,
    link: str | None = LINK,
    title: str = "Selected genes",
    overwrite: bool = False,
    random_state: int = 0,
    show_progress: bool = True,
) -> None:
    """Write what was selected, and how, as one HTML file that opens without network.

    It holds a summary; the UMAP of the panel beside that of all genes; the selected genes, a table
    to sort; how good the panel is and what it misses; why each gene is in it; substitutes; limits;
    what panels of every size keep, and the path along λ where there is one; stability; enrichment;
    parameters and versions.  What :func:`~glfs_bio.tl.evaluate_panel`,
    :func:`~glfs_bio.tl.explain_panel` and other functions compute is there if it is in `adata`.
    The same `adata` gives the same file.

    UMAPs take most of the time.  Call :func:`~glfs_bio.tl.panel_umap` first to keep them in `adata`
    and use them in every report and picture.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.  It is not changed.
    path
        File to write, ``.html``.
    key
        Which selection: the `key_added` of ``select_genes``.
    groupby
        Column of ``.obs`` that colours the cells.
    symbols
        Column of ``.var`` with the names to show; genes without one go by their ``.var_names``.
    evaluation_key, explanation_key, substitutes_key
        The `key_added` of :func:`~glfs_bio.tl.evaluate_panel`,
        :func:`~glfs_bio.tl.explain_panel` and :func:`~glfs_bio.tl.substitutes`.  None:
        ``f"{key}_evaluation"`` and so on, or else ``"glfs_evaluation"`` and so on, where these are
        there.  Results of a panel with other genes are never shown.  Where they were not named,
        the report says so instead.
    stability_key, enrichment_key
        The `key_added` of :func:`~glfs_bio.tl.stability` and of :func:`~glfs_bio.tl.enrich`.  None:
        ``f"{key}_stability"`` and ``f"{key}_enrichment"``, where these are there.  Frequencies of a
        selection with other parameters are never shown.  Where they were not named, the report says
        instead what they are of.
    layer
        Layer with the expression, in place of ``.X``.
    link
        Address of a page about a gene, with ``{gene}`` in the place of its name.  None: no links.
    title
        Heading.
    overwrite
        Whether a file that is there may be replaced.
    random_state
        Seed of the UMAPs.
    show_progress
        Whether a bar on stderr shows the progress.

    Raises
    ------
    KeyError
        No such selection, result, layer or column.
    FileExistsError, FileNotFoundError
        `path` exists and `overwrite` is not set, or its folder does not exist.
    ImportError
        No ``jinja2`` or ``scanpy``, which come with the extra ``report``.
    ValueError
        Another ending, a `link` that is no web address or has no ``{gene}``, no gene selected, or a
        result that is named and is of another selection.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "report.html"
    ...     glfs_bio.io.write_report(adata, path, show_progress=False)
    ...     text = path.read_text(encoding="utf-8")
    >>> "5 of 765 genes" in text
    True
    """
    needs("A report", "jinja2", "scanpy")
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    if path.suffix.lower() not in {".html", ".htm"}:
        msg = f"path={str(path)!r} must end with .html."
        raise ValueError(msg)
    checks.texts(title=title)
    checks.texts(groupby=groupby, link=link, or_none=True)
    checks.flags(show_progress=show_progress)
    checks.seed(random_state)
    if link is not None and not (link.startswith(("https://", "http://")) and "{gene}" in link):
        msg = f"link={link!r} must be a web address, https://…, with {{gene}} in it."
        raise ValueError(msg)
    read.check(adata)
    if groupby is not None and groupby not in adata.obs:
        msg = f"groupby={groupby!r} is not in adata.obs: {read.listed(adata.obs.columns)}."
        raise KeyError(msg)
    frame = selection.ranked(adata, key)
    entry = selection.record(adata, key, "pp.select_genes", "kept")
    named = {
        "evaluation": evaluation_key,
        "explanation": explanation_key,
        "substitutes": substitutes_key,
        "stability": stability_key,
        "enrichment": enrichment_key,
    }
    results = _subject.results(adata, key, frame.index, named)
    read.matrix(adata, layer)
    subject = _subject.Subject(
        adata,
        key,
        frame=frame,
        entry=entry,
        called=selection.names(adata, symbols).fillna(adata.var_names.to_series()),
        groupby=groupby,
        symbols=symbols,
        layer=layer,
        link=link,
        results=results,
        random_state=random_state,
    )
    text = _page(subject, title, show_progress=show_progress)
    with replacing(path, overwrite=overwrite) as name:
        name.write_text(text, encoding="utf-8")


def _page(subject: _subject.Subject, title: str, *, show_progress: bool) -> str:
    """The page; everything that comes from the data is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("glfs_bio.io"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["told"] = _sections.told
    environment.filters["goal"] = target.told

    def filled(name: str, content: dict[str, Any]) -> str:
        return environment.get_template(f"report/{name}.html").render(content)

    sections = []
    with progress(show=show_progress) as bar:
        task = bar.add_task("", total=len(_sections.SECTIONS))
        for heading, function in _sections.SECTIONS.items():
            bar.update(task, description=f"report: {heading}")
            content = function(subject)
            if content is not None:
                name = function.__name__
                sections.append({"id": name, "heading": heading, "body": filled(name, content)})
            bar.advance(task)
    lead = filled("lead", _sections.lead(subject))
    return environment.get_template("report.html").render(title=title, lead=lead, sections=sections)
