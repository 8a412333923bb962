"""Quality of panels, and the variation that they leave unexplained."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks, options
from .._anndata import columns, names, read, results, summaries
from .._anndata import platform as platforms
from .._anndata.tool import Result, tool
from ..cells.cells import StructureSpec
from ..criterion.panel import n_matched
from ..data.threads import few_threads
from ..errors import InvalidValue, listed, naming, note, short, show_stage
from ..measures import catalogue
from ..measures.space import Domains
from ..options import Request
from ..vendors.genes import said_of, sets_of, within
from ._measures import Evaluation
from ._panel import basis_of, request_for, say_overridden, say_unrecorded

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from anndata import AnnData

    from .._anndata.names import Named
    from .._anndata.target import Preserve as Given
    from ..options import Platform, Preserve
    from ._panel import GenePanel


#: Columns of the table of measures, with those that compare a value with others.
_NUMBERS = ("value", "all_genes", "random", "random_best", "bound", "low", "high")
_COLUMNS = ("measure", "panel", "n_genes", *_NUMBERS, "reading", "description")


@tool("evaluation", summaries.evaluation, kind_of_several="comparison")
def evaluate_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    sizes: Sequence[int] | None = None,
    measures: str | Sequence[str] | None = None,
    domains: str | None = None,
    spatial: str | None = None,
    library_key: str | None = None,
    counts_layer: str | None = None,
    gene_sets: str | Path | Mapping[str, Collection[str]] | None = None,
    platform: Platform | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
    random_state: int | None = 0,
) -> Result:
    """Evaluate panels: the structure they preserve, and the variation they leave unexplained.

    The preserved share of the structure needs no labels.  It is 0 without genes and 1 for all
    genes.  A share of 0.3 can be good: compare it with random panels and with the bound for this
    size.

    Parameters
    ----------
    <adata>
    panel : str, list, path or dict of these, default "glfs"
        <panel>
        A dict has several panels by their names, which are evaluated by the same measures.
    <labels>
    sizes : sequence of int, default None
        Numbers of first genes of the panel that are evaluated too.
    measures : str or sequence of str, default None
        Measures, or groups of them.  None: ``"default"``.  ``"all"``: whatever has its arguments.
        By default there are the groups

        - ``"preserved"``: ``preserved``, ``optimality``, ``best_preserved``;
          ``preserved_in_batch`` if the structure has batches; ``preserved_on_platform``
        - ``"neighbors"``: ``knn_preservation``
        - ``"genes"``: ``imputed``, ``mean_correlation``, ``n_effective``
        - ``"labels"``, with `labels`: ``accuracy``, ``macro_f1``, ``rare_f1``, by the majority of
          the 15 nearest cells, for which genes count by their variance.
        - ``"space"``, with `domains` or `spatial`: ``domain_accuracy``, ``domain_macro_f1``,
          ``morans_i``, ``morans_i_kept``
        - ``"counts"``, with `counts_layer`: ``counts_share``, ``counts_spearman``,
          ``counts_on_platform``
        - ``"gene_sets"``, with `gene_sets`: ``gene_set_coverage``

        and only where they are named, since they take longer:

        - ``"laprls"``: ``accuracy_laprls``, ``macro_f1_laprls``, ``rare_f1_laprls``, by LapRLS with
          a Gaussian kernel, in 5-fold cross-validation over at most 100,000 cells
        - ``"space_laprls"``: ``domain_accuracy_laprls``, ``domain_macro_f1_laprls``
        - ``"silhouette"``: ``silhouette``, of at most 1,000 cells
        - ``"clusters"``: ``cluster_preservation_coarse``, ``cluster_preservation_fine``, of
          at most 20,000 cells
        - ``"forecast"``, with `labels`, `counts_layer` and a platform: ``accuracy_on_platform``,
          ``accuracy_without_spillover``, ``mecr_reference``, ``mecr_on_platform``
    domains : str, default None
        Column of ``.obs`` with labels of places in the tissue, such as layers or regions, to be
        predicted from expression averaged over neighbours in space; as `labels`.
    spatial : str, default None
        Where the cells are in space, for domains and for Moran's I: a key of ``.obsm`` with
        coordinates, by which the 15 nearest cells are neighbours, or a key of ``.uns`` with a graph
        of ``sq.gr.spatial_neighbors``.  None: with `domains` ``"spatial_neighbors"``, or where
        there is none ``"spatial"``; otherwise nothing is said of space.
    library_key : str, default None
        Column of ``.obs`` with the section of each cell, as in squidpy: cells of other sections are
        no neighbours.  None: the regions of a table of spatialdata, or one section, unless the
        graph says otherwise.
    counts_layer : str, default None
        Layer of raw counts, or ``"X"``, for the share of the counts that the panel takes.
    gene_sets : str, path or dict, default None
        GMT file, or dict of set names to genes, such as ``gseapy.get_library(name, organism)``
        returns.
    platform : Platform, default None
        Target platform, as in :func:`~glfs_bio.pp.select_genes`.  None: the platform of the
        selection.
    <layer of a panel>
    <symbols>
    <preserve>
        So it is for several panels; if the structures of their selections differ, a target is
        needed.
    <key_added by a panel> _evaluation
        ``"glfs_comparison"`` is that of several.  Columns in ``.obs`` and ``.var`` begin with it.
    <inplace>
    random_state : int, default 0
        Seed of the random panels, the clusters, the folds and the draws of the platform.

    Returns
    -------
    None, or with ``inplace=False`` the dict of ``.uns[key_added]``.  Tables of several panels have
    a column ``panel``.  Written:

    ``.uns[key_added]["measures"]`` : DataFrame, one row per measure, panel and size
        ``measure``; ``panel``, its name; ``n_genes``; ``value``; and for comparison, NaN where
        there is none: ``all_genes``, the value of all genes, as 50 principal components;
        ``random``, the mean of 20 random panels of the same size, from genes that vary (of domains,
        and in space of many cells, of five), and ``random_best``, their best; ``bound``, which no
        panel of this size exceeds; ``low`` and ``high``, the interval of 90 % of what a platform is
        expected to show; ``reading``, how labels were read and of how many cells, such as ``"15-NN,
        leave-one-out; 700 cells"``, or the batch; ``description``.  Shares are NaN for a panel of
        all genes that vary, which has nothing to be compared with.  ``optimality`` is ``preserved``
        relative to the bound without constraints, and ``best_preserved`` the share of the selection
        of :func:`~glfs_bio.pp.select_genes` of this size.
    ``.uns[key_added]["per_label"]`` : DataFrame, one row per label and reading
        ``kind``, ``"label"`` or ``"domain"``; ``reading``, ``"knn"`` or ``"laprls"``; ``label``;
        ``n_cells``, ``recall``, ``precision``, ``f1``, ``confused_with`` (``""`` for none),
        ``confused_share``, ``rare``, and ``too_few``: too few cells for a majority of nearest
        cells, or for one in each fold of LapRLS.  With `counts_layer` also ``counts_share`` of the
        counts of the label, ``counts_ratio``, relative to that of all, and ``counts_spearman``.
    ``.uns[key_added]["confusion"]`` : DataFrame, one row per reading, label and prediction
        Of one panel: ``reading``, ``label``, ``predicted`` and ``n_cells``.
    ``.uns[key_added]["unexplained"]`` : DataFrame, one row per axis
        Unexplained axes, the largest first: ``share`` of the unexplained variation; ``genes_up``
        and ``genes_down``, the genes at both ends; with `labels`, ``labels`` that vary most along
        it.
    ``.uns[key_added]["gene_sets"]`` : DataFrame, one row per gene set
        ``term``; ``n_overlap``, number of genes of the panel in it, 0 if it is not covered;
        ``n_set``, of genes in the data; and ``genes``, those of the panel, joined by ``";"``.
    ``.uns[key_added]["forecast"]`` : dict of DataFrame
        ``"per_label"``: ``label``, ``recall`` on the platform, for as many cells as here, with its
        interval of 90 %, ``recall_low`` and ``recall_high``, and with spillover
        ``recall_without_spillover``.  ``"leaks"``: of the cells of ``label``, the ``share`` for
        which ``predicted`` is predicted because of spillover; ``neighbors`` is the frequency of
        ``predicted`` among the neighbours; the largest of each label, and others from 0.01.
        ``"exclusive_markers"``: the 50 pairs of markers, ``gene`` and ``other``, that exclude each
        other, with the largest ``coexpression`` on the platform: of the cells that express one the
        share that express both; ``coexpression_reference`` and
        ``coexpression_without_spillover``.  A marker is expressed in a quarter of the cells of a
        label; two exclude each other if the share is at most 0.05 in the reference.
        ``"counts_per_bit"``: mean ``counts`` in a cell of the genes that share a ``bit``.
    ``.uns[key_added]["genes"]`` : DataFrame, one row per name of the panel
        ``gene``; ``in_data``, whether the data have it; for a platform that offers some genes,
        ``orderable``.
    ``.uns[key_added]["overlap"]`` : DataFrame, one row per pair of panels
        Of several panels: ``panel``, ``other``, number of ``shared`` genes, ``jaccard`` index of
        the genes, and ``jaccard_with_substitutes``, if a gene also matches its substitutes.
    <params and versions>
    ``.obs[f"{key_added}_unexplained"]`` : float
        Of one panel: posterior variance at each cell, relative to the mean cell without genes.
    ``.var[f"{key_added}_r2"]`` : float
        Of one panel: R² of the structure of each unmeasured gene; NaN for genes of the panel.

    See Also
    --------
    explain_panel : Explain each gene of a panel.
    glfs_bio.pl.curve, glfs_bio.pl.labels, glfs_bio.pl.confusion, glfs_bio.pl.comparison

    Notes
    -----
    Labels are read by fewer than 15 nearest cells where labels of eight cells or fewer, which
    cannot be a majority of 15, have more than a tenth of the cells: as many as the smallest label
    has other cells, those that together have a tenth of the cells aside.

    Neighbours in space share averages, which alone would tell domains apart.  So the tissue is cut
    into blocks of about 100 cells, these are dealt to five folds, a cell is predicted from cells of
    the other folds, and averages end at the borders of the folds; of at most 20,000 cells.
    Moran's I is as in ``sq.gr.spatial_autocorr``, every neighbour counting alike, with 1,000 genes
    in the place of all where there are more than 20,000 cells.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> evaluation = glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels", inplace=False)
    >>> table = evaluation["measures"].set_index("measure")
    >>> bool(table.loc["preserved", "value"] > table.loc["preserved", "random_best"])
    True
    """
    checks.seed(random_state)
    Request.of(platform=platform)
    panels = _panels(adata, panel, symbols)
    most = max(len(genes.genes) for genes in panels.values())
    has_sizes = sizes is not None and np.size(sizes) > 0
    sizes = sorted({*checks.whole_numbers("sizes", sizes, at_most=most)}) if has_sizes else []
    request = _request(adata, panels, preserve, layer, symbols=symbols, platform=platform)
    groups = catalogue.asked_for(
        measures,
        cells=adata.n_obs or None,
        labels=labels,
        domains=spatial if domains is None else domains,
        counts_layer=counts_layer,
        gene_sets=gene_sets,
        platform=request.platform,
    )
    if not adata.n_obs:
        note(f"Left out with these cells: {listed(catalogue.NEEDED_BY['cells'], 99)}.")
    coded = None if labels is None else columns.labels(adata, labels, at_least=2)
    regions = None if domains is None else columns.labels(adata, domains, "domains", at_least=2)
    counts = None if counts_layer is None else read.counts(adata, counts_layer)
    graph = tissue = sets = spills = None
    if domains is not None or spatial is not None:
        graph = columns.neighbours(adata, spatial, library_key)
        if graph.nnz == 0:
            raise InvalidValue("`library_key` leaves every cell alone: name the sections")
    elif library_key is not None:
        raise InvalidValue(f"`library_key={short(library_key)}` needs `spatial`: name it too")
    if regions is not None and graph is not None:
        tissue = Domains.of(graph, regions.codes, regions.names, random_state)
        if not tissue.fold.any():
            raise InvalidValue(f"`domains={short(domains)}` has no label in two places: change it")
    if gene_sets is not None:
        called = read.symbols(adata, symbols)
        with naming(path="gene_sets"):
            sets = within(sets_of(gene_sets), list(called.dropna())), called
    spilling = request.platform
    if coded is not None and "forecast" in groups and spilling is not None and spilling.spillover:
        spills = platforms.spillover_of(spilling, spilling.spillover, str(labels), coded)
    elif platform is not None and platform.spillover:
        note("`spillover` is part of a forecast: `measures` has to name `'forecast'`.")
    basis = basis_of(adata, request)
    evaluation = Evaluation(
        adata, basis, groups, random_state, coded, counts, graph, tissue, sets, spills
    )
    if coded is not None and adata.n_obs:
        columns.log_few(coded, evaluation.readings)
    prefixes = evaluation.prefixes(panels, sizes)
    rows: list[dict[str, Any]] = []
    written: dict[str, Any] = {}
    with few_threads(basis.criterion.rank):
        for number, prefix in enumerate(prefixes, 1):
            rows += evaluation.rows(prefix)
            show_stage(f"evaluating {prefix.name}", number, len(prefixes))
        largest = {prefix.name: prefix for prefix in prefixes}  # the last of each panel
        tables = {name: evaluation.tables(prefix) for name, prefix in largest.items()}
        if isinstance(panel, Mapping):
            content = _joined(tables)
            content["overlap"] = _overlap({name: prefix.panel for name, prefix in largest.items()})
        else:
            content = tables[prefixes[-1].name]
            written = evaluation.columns(prefixes[-1], str(key_added))
    content = {"measures": _measures(rows, groups), **content}
    params = {"gene_sets": said_of(gene_sets), **basis.record()}
    evaluated = [genes.key_and_genes for genes in panels.values()]
    made_of = results.made_of(adata, basis.layer, evaluated)
    return Result(content, None, params, made_of, **written)


def _panels(adata: AnnData, panel: Any, symbols: str | None) -> dict[str, Named]:
    """Return panels by their names; one panel is called by its key."""
    lookup = partial(names.panel, adata, symbols=symbols, missing="warn")
    if not isinstance(panel, Mapping):
        genes = lookup(panel)
        return {genes.key or "panel": genes}
    called = [str(name) for name in panel]
    is_distinct = 0 < len(called) == len({*called})
    if not is_distinct or any("/" in name or not name.strip() for name in called):
        raise InvalidValue(f"`panel` has the names {short(called)}: give each its own, without /")
    return {str(name): lookup(genes) for name, genes in panel.items()}


def _request(
    adata: AnnData, panels: Mapping[str, Named], preserve: Any, layer: str | None, **replaced: Any
) -> Request:
    """Return what panels are evaluated by: what the selections among them have in common."""
    requests: dict[str, Request] = {}
    for panel in panels.values():
        results.check_genes(adata, panel.key, "panel")
        say_unrecorded(adata, panel.key)
        if panel.key is not None and panel.key in adata.uns:
            requests[panel.key] = results.request_of(adata, panel.key)
    differ = len({request.across for request in requests.values()}) > 1
    replaced["across"] = "mean" if differ else None
    if len({request.structure.text() for request in requests.values()}) > 1:
        layers = {request.structure.layer for request in requests.values()}
        has_structure = isinstance(preserve, options.Preserve) and preserve.use_rep is not None
        if preserve is None or (layer is None and len(layers) > 1 and not has_structure):
            text = f"`panel` has selections of different structures ({listed(requests)})"
            raise InvalidValue(f"{text}: pass `preserve='structure'`, and `layer` if theirs differ")
        replaced["structure"] = StructureSpec(layer=layer or next(iter(layers)))
    if len(panels) > 1 and preserve is None:
        preserve = "structure"
    key = next(iter(requests), None)
    request = request_for(adata, key, preserve=preserve, layer=layer, **replaced)
    say_overridden(adata, key, request)
    return request


def _measures(rows: list[dict[str, Any]], groups: Mapping[str, set[str]]) -> pd.DataFrame:
    """Return the table of the measures that are groups."""
    table = pd.DataFrame(rows, columns=_COLUMNS)
    table = table[table["measure"].isin(set().union(*groups.values()))].reset_index(drop=True)
    table["reading"] = table["reading"].astype(object).fillna("")
    table["description"] = table["measure"].map(catalogue.DESCRIPTIONS)
    return table.astype(dict.fromkeys(_NUMBERS, float))


def _joined(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tables of several panels as one each, with a column for the panel."""
    content: dict[str, Any] = {}
    for table in dict.fromkeys(table for of_panel in tables.values() for table in of_panel):
        frames = {name: tables[name][table] for name in tables if table in tables[name]}
        if table == "forecast":
            content[table] = _joined(frames)
        elif table != "confusion":
            joined = pd.concat(frames, names=["panel"])
            content[table] = joined.reset_index("panel").reset_index(drop=True)
    return content


def _overlap(panels: Mapping[str, GenePanel]) -> pd.DataFrame:
    """Count the genes that each pair of panels shares, by name and by substitutes."""
    substitutes = {name: panel.measured.substitutes() for name, panel in panels.items()}
    rows = []
    for first, second in combinations(panels, 2):
        genes, genes_of_second = panels[first].genes, panels[second].genes
        n_shared = len(np.intersect1d(genes, genes_of_second))
        n_both = len(genes) + len(genes_of_second)
        matched = n_matched(genes, genes_of_second, substitutes[first] + substitutes[second])
        jaccards = (n / (n_both - n) for n in (n_shared, matched))
        rows.append((first, second, n_shared, *jaccards))
    names_of = ["panel", "other", "shared", "jaccard", "jaccard_with_substitutes"]
    return pd.DataFrame(rows, columns=names_of)
