"""Quality of a panel, and the variation that it leaves unexplained."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, read, results, stale, summaries
from .._anndata.all_genes import view_of_all_genes
from .._docs import documented
from .._progress import progress, tell
from ..cells.graph import MOST_EXACT
from ..data.matrix import RowMatrix
from ..errors import naming
from ..measures import cells as measures
from ..measures import labels as readers
from ..measures.cells import View
from ..measures.genes import imputed, redundancy, sums, totals
from ..measures.space import RANDOM
from ..options import Request
from ..solvers.greedy import select
from . import _on_platform as on_platform
from ._enrich import said_of, sets_of, within
from ._panel import find
from ._space import InSpace, OfAllGenes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from anndata import AnnData

    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index, Matrix
    from ..labels import Labels
    from ..options import Platform, Preserve, StructureSpec
    from ..vendors.spillover import Spillover
    from ._panel import Found

#: Steps that the progress is shown by.
N_STEPS = 4
#: Genes and labels that describe an axis.
_GENES, _LABELS = 6, 3


@documented
def evaluate_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    readings: Sequence[str] = readers.READINGS,
    domains: str | None = None,
    spatial: str | None = None,
    library_key: str | None = None,
    counts_layer: str | None = None,
    gene_sets: str | Path | Mapping[str, Collection[str]] | None = None,
    platform: Platform | None = None,
    n_random: int = 20,
    n_axes: int = 5,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
    random_state: int | None = 0,
) -> dict[str, Any] | None:
    """Evaluate a panel: the structure it preserves, and the variation it leaves unexplained.

    The preserved share of the structure needs no labels.  It is 0 without genes and 1 for all
    genes, on one scale for all panels of the same cells.  A share of 0.3 can be good, since a few
    genes cannot preserve the variation of thousands: compare it with random panels and with the
    bound for this size.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
    <labels> str, default None
    <readings>
    <domains, spatial, library_key>
    counts_layer : str, default None
        Layer of raw counts, or ``"X"``, for the share of the counts that the panel takes.
    <gene_sets> str, path or dict, default None
    platform : Platform, default None
        Target platform, as in :func:`~glfs_bio.pp.select_genes`.  None: the platform of the
        selection.
    n_random : int, default 20
        Number of random panels of the same size, from genes that vary.
    n_axes : int, default 5
        Number of unexplained axes to list.
    <layer of a panel>
    <symbols>
    <preserve>
    key_added : str, default None
        Key of ``.uns``, and prefix of the columns in ``.obs`` and ``.var``.  None: that of the
        panel and ``_evaluation``, such as ``"glfs_evaluation"``, which is also that of a list.
    <inplace>
    random_state : int, default 0
        Seed of the random panels, the clusters, the folds and the draws of the platform.

    Returns
    -------
    None, or with ``inplace=False`` the dict of ``.uns[key_added]``.  Written:

    ``.uns[key_added]["preserved"]`` : float
        Preserved share of the target.  It and all shares below are NaN for a panel of all genes
        that vary, which has nothing to be compared with.
    ``.uns[key_added]["optimality"]`` : float
        Lower bound on ``preserved`` relative to the best panel of this size without constraints.
    ``.uns[key_added]["best_preserved"]`` : float
        Preserved share of the selection of :func:`~glfs_bio.pp.select_genes` of this size.
    ``.uns[key_added]["most_preserved"]`` : float
        Upper bound on the preserved share of any panel of this size.
    ``.uns[key_added]["random_preserved"]`` : float, shape (n_random,)
        Preserved shares of the random panels.
    ``.uns[key_added]["preserved_on_platform"]`` : float
        Mean, or minimum, of the preserved share over draws of efficiencies and failures, and
        ``preserved_on_platform_low`` and ``preserved_on_platform_high``, its interval of 90 %.
    ``.uns[key_added]["forecast"]`` : DataFrame, one row per label
        With `platform`, `labels` and `counts_layer`: ``recall`` there and its interval of 90 %
        for as many cells as here, ``recall_low`` and ``recall_high``; with spillover also
        ``recall_without_spillover``.
    ``.uns[key_added]["accuracy_on_platform"]`` : float
        The same of the accuracy, with ``accuracy_on_platform_low`` and
        ``accuracy_on_platform_high``.
    ``.uns[key_added]["accuracy_without_spillover"]`` : float
        With spillover: the accuracy on the platform without it.
    ``.uns[key_added]["neighbor_frequencies"]`` : float, shape (n_labels, n_labels)
        Frequencies of the labels of neighbouring cells (columns) of cells of each label (rows).
    ``.uns[key_added]["leaks"]`` : DataFrame, one row per pair of labels
        Labels that spillover confuses, the largest ``share`` first: of the cells of ``label`` it is
        the share for which ``predicted`` is predicted because of spillover.  ``neighbors`` is the
        frequency of ``predicted`` among the neighbours.  The largest share of each label is listed,
        and others from 0.01.
    ``.uns[key_added]["mecr_reference"]``, ``.uns[key_added]["mecr_on_platform"]`` : float
        Mutually exclusive co-expression rate: of the cells that express one of two markers that
        exclude each other, the share that express both; the mean over pairs of markers, in the
        reference and as forecast.  A marker is expressed in a quarter of the cells of a label; two
        exclude each other if the share is at most 0.05 in the reference.
    ``.uns[key_added]["exclusive_markers"]`` : DataFrame, one row per pair of markers
        The 50 pairs with the largest ``coexpression`` on the platform, with
        ``coexpression_reference`` and ``coexpression_without_spillover``.
    ``.uns[key_added]["counts_on_platform"]`` : float
        Mean counts of the panel in a cell there.
    ``.uns[key_added]["counts_per_bit"]`` : float, shape (n_bits,)
        The same of the genes that share a bit of the codebook.
    ``.uns[key_added]["not_orderable"]`` : str, shape (n_names,)
        Genes that cannot be ordered.
    ``.uns[key_added]["batches"]`` : str, shape (n_batches,)
        Names of the batches, if the structure has batches.
    ``.uns[key_added]["preserved_in_batches"]`` : float, shape (n_batches,)
        Preserved share of each batch.
    ``.uns[key_added]["knn_preservation"]`` : float
        Share of the nearest cells in 50 principal components of all genes that are also nearest
        cells in the panel.
    ``.uns[key_added]["n_neighbors"]`` : int
        Nearest cells of this: 15, or half of the other cells where that is fewer.
    ``.uns[key_added]["cluster_preservation_coarse"]`` : float
        Normalised mutual information of 5 to 10 clusters in the panel and in all genes.
    ``.uns[key_added]["cluster_preservation_fine"]`` : float
        Normalised mutual information of 20 to 40 clusters, of at most 20,000 cells.
    ``.uns[key_added]["cluster_ari"]`` : float
        Adjusted Rand index of 10 clusters in the panel and in all genes, the mean of five splits
        of these cells: each fifth cell is in the same one, and each split is clustered by itself.
        ``cluster_ari_sd``, its standard deviation over the splits, and
        ``cluster_ari_in_splits``, shape (5,).  NaN below 500 cells.
    ``.uns[key_added]["readings"]`` : dict of str
        With `labels`: how they were read, such as ``"15-NN, leave-one-out"``, by reading.  LapRLS
        reads 100,000 cells of more, evenly over their order.  What follows is of the nearest cells.
        Of LapRLS there are ``accuracy_laprls``, ``accuracy_all_genes_laprls``, ``macro_f1_laprls``,
        ``rare_f1_laprls`` and ``confusion_laprls``, and columns with this ending in ``per_label``:
        ``recall_laprls``, ``precision_laprls``, ``f1_laprls``, ``confused_with_laprls``,
        ``confused_share_laprls`` and ``too_few_laprls``.
    ``.uns[key_added]["n_labelled"]`` : int
        Number of cells with a label.
    ``.uns[key_added]["n_neighbors_of_labels"]`` : int
        Nearest cells that predict labels: 15.  Where labels of eight cells or fewer, which cannot
        be a majority of 15, have more than a tenth of the cells: as many as the smallest label has
        other cells, those that together have a tenth of the cells aside.  0, and no accuracy, if no
        label has two cells.
    ``.uns[key_added]["accuracy"]`` : float
        Share of the cells whose label is predicted.
    ``.uns[key_added]["accuracy_all_genes"]`` : float
        The same in 50 principal components of all genes.
    ``.uns[key_added]["macro_f1"]`` : float
        Mean F1 of the labels.
    ``.uns[key_added]["rare_f1"]`` : float
        Mean F1 of labels with at most 5 % of the cells.
    ``.uns[key_added]["silhouette"]`` : float
        Mean silhouette of the labels, from −1 to 1: how much nearer cells are to those of their
        own label than to those of the nearest other one.  Distances are Euclidean, as of the
        nearest cells.  Of more than 1,000 cells so many are taken, evenly over their order.
    ``.uns[key_added]["silhouette_all_genes"]`` : float
        The same in 50 principal components of all genes.
    ``.uns[key_added]["per_label"]`` : DataFrame, one row per label
        ``n_cells``, ``recall``, ``precision``, ``f1``, ``confused_with`` (``""`` for none),
        ``confused_share``, ``rare``, and ``too_few``: too few cells for a majority of nearest
        cells, or for one in each fold of LapRLS.
    ``.uns[key_added]["confusion"]`` : int, shape (n_labels, n_labels)
        Number of cells by label (rows) and prediction (columns).
    ``.uns[key_added]["domain_accuracy"]`` : float
        With `domains`: share of the cells whose domain is predicted from the panel's expression,
        averaged over the cell and its neighbours.  Neighbours share averages, which alone would
        tell domains apart.  So the tissue is cut into blocks of about 100 cells, these are dealt
        to five folds, a cell is predicted from cells of the other folds, and averages end at the
        borders of the folds.  ``domain_accuracy_all_genes``, and ``random_domain_accuracy`` of at
        most five random panels, for comparison; ``domain_macro_f1``; ``domain_readings``, how
        they were read; and ``n_in_domains``, the number of cells, at most 20,000.  Of LapRLS with
        the ending ``_laprls``.
    ``.uns[key_added]["per_domain"]`` : DataFrame, one row per domain
        As ``per_label``.
    ``.uns[key_added]["morans_i"]`` : float
        With `domains` or `spatial`: mean Moran's I of the genes of the panel, every neighbour of
        a cell counting alike, as in ``sq.gr.spatial_autocorr``; ``morans_i_all_genes``, that of
        all genes that vary, or of 1,000 of them where there are more than 20,000 cells
        (``n_genes_in_space``, their number); and ``random_morans_i``, of the random panels, of so
        many cells of at most five.
    ``.uns[key_added]["morans_i_kept"]`` : float
        Share of the Moran's I of all genes, added up, that the regression on the panel explains:
        0 without genes and 1 for all genes.  It says little where ``morans_i_all_genes`` is near
        0.  ``random_morans_i_kept``, of the random panels.
    ``.uns[key_added]["imputed"]`` : float
        Median R² of the structure of unmeasured genes, predicted from the panel.
    ``.uns[key_added]["mean_correlation"]`` : float
        Mean absolute correlation of the genes of the panel.
    ``.uns[key_added]["n_effective"]`` : float
        Effective number of genes of the panel.
    ``.uns[key_added]["counts_share"]`` : float
        With `counts_layer`: share of the panel in all counts.
    ``.uns[key_added]["counts_spearman"]`` : float
        Rank correlation of the total counts of the panel and of all genes.
    ``.uns[key_added]["counts_per_label"]`` : DataFrame, one row per label
        ``n_cells``; ``share`` of the label's counts; ``ratio``, relative to ``counts_share``;
        ``spearman``.
    ``.uns[key_added]["gene_set_coverage"]`` : float
        With `gene_sets`: share of the gene sets with at least one gene of the panel, of those with
        a gene in the data.
    ``.uns[key_added]["gene_sets"]`` : DataFrame, one row per gene set
        ``n_overlap``, number of genes of the panel in it, 0 if it is not covered; ``n_set``, of
        genes in the data; and ``genes``, those of the panel, joined by ``";"``.
    ``.uns[key_added]["unexplained"]`` : DataFrame, one row per axis
        Unexplained axes, the largest first: ``share`` of the unexplained variation; ``genes_up``
        and ``genes_down``, the genes at both ends; with `labels`, ``labels`` that vary most along
        it.
    ``.uns[key_added]["table"]`` : DataFrame
        All numbers, in the columns ``measure`` and ``value``.
    ``.uns[key_added]["genes"]`` : str, shape (n_genes,)
        Genes of the panel.
    ``.uns[key_added]["absent"]`` : str, shape (n_names,)
        Names that are missing in the data, if any.
    ``.obs[f"{key_added}_unexplained"]`` : float
        Posterior variance at each cell, relative to the mean cell without genes.
    ``.var[f"{key_added}_r2"]`` : float
        R² of the structure of each unmeasured gene; NaN for genes of the panel.

    See Also
    --------
    compare_panels : Evaluate several panels.
    explain_panel : Explain each gene of a panel.
    glfs_bio.pl.preserved, glfs_bio.pl.labels, glfs_bio.pl.unexplained

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panel = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
    >>> found = glfs_bio.tl.evaluate_panel(adata, panel, "bulk_labels", inplace=False)
    >>> bool(found["preserved"] > found["random_preserved"].max())
    True
    """
    params: dict[str, Any] = {
        "labels": labels,
        "readings": readings,
        "domains": domains,
        "spatial": spatial,
        "library_key": library_key,
        "counts_layer": counts_layer,
        "gene_sets": said_of(gene_sets),
        "platform": platform,
        "n_random": n_random,
        "n_axes": n_axes,
        "symbols": symbols,
        "random_state": random_state,
    }
    key_added = results.key_for(adata, "evaluation", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    inputs = Asked.of(
        *(adata, labels, readings, counts_layer, n_random, n_axes, random_state),
        platform=platform,
        places=(domains, spatial, library_key),
        sets=(gene_sets, symbols),
    )
    with progress() as bar:
        task = bar.add_task("the structure of the cells", total=N_STEPS)
        found = find(
            adata, panel, symbols=symbols, preserve=preserve, layer=layer, platform=platform
        )
        all_genes = AllGenes.of(adata, found.basis.structure.spec, inputs)
        panels = [found.genes, *_random_in_space(found, inputs)]
        expressed = Expressed.of(adata, panels, found.layer, inputs.counts)
        entry, of_cells, r2 = evaluated(
            *(adata, found, inputs, all_genes, expressed),
            lambda what: bar.update(task, advance=1, description=what),
        )
    entry = results.envelope(
        "evaluation",
        params | found.basis.record(),
        stale.made_of(adata, found.layer, [found.named]),
        **inputs.said(),
        **entry,
        table=_table(entry),
    )
    if not inplace:
        return dict(results.kept(entry))
    columns = {"obs": {f"{key_added}_unexplained": of_cells}, "var": {f"{key_added}_r2": r2}}
    results.store(adata, key_added, entry, **columns)
    tell(*summaries.evaluation(entry))
    return None


@dataclass(frozen=True)
class Asked:
    """Labels, counts and numbers of an evaluation, read and checked: see :func:`evaluate_panel`."""

    labels: Labels | None
    readings: Sequence[str]
    counts: RowMatrix | None
    n_random: int
    n_axes: int
    random_state: int | None
    space: InSpace | None
    #: Column of the labels.
    column: str | None = None
    #: Of the platform of the call.
    spillover: Spillover | None = None
    #: Gene sets, without genes that the cells do not have, and the name of each gene.
    sets: dict[str, list[str]] | None = None
    called: pd.Series | None = None

    @classmethod
    def of(
        cls,
        adata: AnnData,
        labels: str | None,
        readings: Sequence[str],
        counts_layer: str | None,
        n_random: int,
        n_axes: int,
        random_state: int | None,
        *,
        platform: Platform | None = None,
        places: tuple[str | None, str | None, str | None],
        sets: tuple[str | Path | Mapping[str, Collection[str]] | None, str | None],
    ) -> Asked:
        """Read the columns, the layer, the places and the sets.

        Places: domains, coordinates or graph, sections; sets: gene sets, column that names genes.
        """
        checks.whole_number("n_random", n_random, at_least=0)
        checks.whole_number("n_axes", n_axes, at_least=1)
        checks.seed(random_state)
        Request.of(platform=platform)
        read.unique_names(adata)
        known, readings = columns.read_by(adata, labels, readings)
        columns.log_neighbors(adata.n_obs)
        counts = None if counts_layer is None else read.counts(adata, counts_layer)
        return cls(
            known,
            readings,
            counts,
            n_random,
            n_axes,
            random_state,
            InSpace.of(adata, *places, readings, random_state),
            labels,
            on_platform.spillover_of(platform, labels, known, counts),
            *_gene_sets(adata, *sets),
        )

    def said(self) -> dict[str, Any]:
        """Return how labels and domains are read, for ``.uns``."""
        said = {} if self.labels is None else columns.said(self.labels, self.readings)
        return said if self.space is None else said | self.space.said()

    @cached_property
    def totals(self) -> Array | None:
        """Counts of every cell."""
        return None if self.counts is None else sums(self.counts)

    def scores(
        self, view: View, values: Callable[[Index], Array]
    ) -> dict[str, readers.LabelScores]:
        """Return what the readings of a view, and of values of some cells, say of labels."""
        if self.labels is None:
            return {}
        codes, names = self.labels.codes, self.labels.names
        with naming(codes="labels"):
            return readers.scores_by(
                *(self.readings, view.coordinates, values(readers.cells_read(codes)), codes, names),
                near=view.nearest,
                random_state=self.random_state,
            )

    def silhouette(self, view: View) -> float:
        """Return the mean silhouette of the labels in a view; NaN without labels."""
        if self.labels is None:
            return float("nan")
        return readers.silhouette(view.coordinates, self.labels.codes)


def _gene_sets(
    adata: AnnData, given: str | Path | Mapping[str, Collection[str]] | None, symbols: str | None
) -> tuple[dict[str, list[str]] | None, pd.Series | None]:
    """Return gene sets, of genes of the cells, and the name of each gene; None without sets."""
    if given is None:
        return None, None
    called = read.symbols(adata, symbols)
    with naming(path="gene_sets"):
        return within(sets_of(given), list(called.dropna())), called


@dataclass(frozen=True)
class Expressed:
    """Genes of panels over all cells, in memory."""

    #: Rows of ``.var``, sorted, shape (n_genes,)
    genes: Index
    #: Expression, shape (n_cells, n_genes), and counts
    values: Matrix
    counts: Matrix | None

    @classmethod
    def of(
        cls, adata: AnnData, panels: Iterable[Index], layer: str | None, counts: RowMatrix | None
    ) -> Expressed:
        """Read the genes of panels, in one pass over each matrix."""
        genes = np.unique(np.concatenate(list(panels)))
        counted = None if counts is None else RowMatrix(counts, genes=genes).loaded()
        return cls(genes, read.columns(adata, genes, layer), counted)

    def only(self, panel: Index) -> Expressed:
        """The genes of a panel, in its order."""
        places = np.searchsorted(self.genes, panel)
        counts = None if self.counts is None else self.counts[:, places]
        return Expressed(panel, self.values[:, places], counts)


@dataclass(frozen=True)
class AllGenes:
    """What panels are compared with."""

    view: View
    #: By reading.
    accuracy: dict[str, float]
    silhouette: float
    space: OfAllGenes | None

    @classmethod
    def of(cls, adata: AnnData, spec: StructureSpec, inputs: Asked) -> AllGenes:
        """Return it as it is stored, or else compute it."""
        view = view_of_all_genes(adata, spec, inputs.random_state)
        scores = inputs.scores(view, lambda cells: view.coordinates[cells])
        space = None
        if inputs.space is not None:
            data = read.heard(adata, read.row_matrix(adata, spec.layer), spec.ignore)
            space = inputs.space.by_all_genes(data, view.coordinates)
        accuracy = {reading: one.accuracy for reading, one in scores.items()}
        return cls(view, accuracy, inputs.silhouette(view), space)


def evaluated(
    adata: AnnData,
    found: Found,
    inputs: Asked,
    all_genes: AllGenes,
    expressed: Expressed,
    now: Callable[[str], None],
) -> tuple[dict[str, Any], Array, Array]:
    """Return the results of :func:`evaluate_panel` for ``.uns``, ``.obs`` and ``.var``.

    Of `expressed`, genes of this panel are looked at, and of random ones in space.  `now` is called
    with the name of each of the :data:`N_STEPS` steps.
    """
    with found.few_threads():
        basis, own = found.basis, expressed.only(found.genes)
        now("what the panel keeps")
        entry: dict[str, Any] = {
            "n_genes": len(found.genes),
            "genes": adata.var_names[found.genes].to_numpy(dtype=object),
            **_structure(found, inputs),
            **_batches(adata, found),
        }
        if found.named.absent:
            entry["absent"] = np.array(found.named.absent, dtype=object)
        entry |= on_platform.kept(adata, found, inputs, own.counts)
        now("what it misses")
        of_cells = basis.structure.of_all_cells(found.measured.unexplained_cells(), adata.n_obs)
        entry["unexplained"] = _unexplained(adata, found, inputs)
        r2 = imputed(basis.structure.sets, found.genes).of_structure
        entry["imputed"] = float(np.nanmedian(r2)) if np.isfinite(r2).any() else float("nan")
        now("nearest cells and clusters")
        entry |= _cells(adata, found, own, inputs, all_genes)
        if all_genes.space is not None:
            random = [expressed.only(one).values for one in _random_in_space(found, inputs)]
            entry |= all_genes.space.beside(own.values, random, is_all=found.is_all)
        now("the panel's genes")
        entry |= _genes(own, inputs)
        entry |= _covered(found, inputs)
    return entry, of_cells, r2


def _table(entry: dict[str, Any]) -> pd.DataFrame:
    """Return all numbers, one row each."""
    numbers = {name: value for name, value in entry.items() if np.isscalar(value)}
    return pd.DataFrame({"measure": list(numbers), "value": list(numbers.values())})


def _structure(found: Found, inputs: Asked) -> dict[str, Any]:
    """Return the preserved share, with the bound and random panels for comparison."""
    criterion, panel = found.basis.criterion, found.genes
    every, none = np.arange(criterion.n_genes), np.empty(0, dtype=np.intp)
    preserved = float(found.preserved[-1])
    if found.is_all:
        names = ("preserved", "optimality", "best_preserved", "most_preserved")
        return dict.fromkeys(names, np.nan) | {"random_preserved": np.empty(0)}
    best = select(criterion, len(panel), include=none, candidates=every)
    most = np.fmin(best.preserved[-1] / best.optimality[-1], 1.0)
    if not criterion.has_anything:
        most = np.nan
    random = [criterion.preserved(one)[-1] for one in _random_panels(found, inputs)]
    return {
        "preserved": preserved,
        "optimality": float(preserved / most),
        "best_preserved": float(best.preserved[-1]),
        "most_preserved": float(most),
        "random_preserved": np.array(random),
    }


def _random_in_space(found: Found, inputs: Asked) -> list[Index]:
    """Return random panels that are looked at in space, few of many cells."""
    if inputs.space is None:
        return []
    many = inputs.space.graph.shape[0] > MOST_EXACT
    return _random_panels(found, inputs)[: RANDOM if many else None]


def _random_panels(found: Found, inputs: Asked) -> list[Index]:
    """Return panels of the same size, of genes that vary; none beside a panel of all of these."""
    varying = np.any([one.variance > 0 for one in found.basis.criterion.sets], axis=0)
    draw = np.random.default_rng(inputs.random_state)
    size = min(len(found.genes), int(varying.sum()))
    return [
        draw.choice(np.flatnonzero(varying), size, replace=False)
        for _ in range(0 if found.is_all else inputs.n_random)
    ]


def _batches(adata: AnnData, found: Found) -> dict[str, Any]:
    """Return the preserved share of each batch, if there are several."""
    structure = found.basis.structure
    if len(structure.rows) == 1:
        return {}
    batches: Any = read.batches(adata, structure.spec.batch_key)
    return {
        "batches": batches[[rows[0] for rows in structure.rows]].astype(object),
        "preserved_in_batches": found.basis.criterion.preserved_in_sets(found.genes)[-1]
        * (np.nan if found.is_all else 1.0),
    }


def _cells(
    adata: AnnData, found: Found, own: Expressed, inputs: Asked, all_genes: AllGenes
) -> dict[str, Any]:
    """Compare the cells in the panel with the cells in all genes."""
    panel = View.of(measures.coordinates(own.values), inputs.random_state)
    k = measures.n_neighbors_of(len(panel.nearest))
    near = all_genes.view.nearest
    preserved = measures.knn_preservation(panel.nearest[:, :k], near[:, :k])
    clusters = measures.cluster_preservation(panel.clusters, all_genes.view.clusters)
    can_be = np.nan if found.is_all else 1.0  # compared
    ari = measures.ari_in_splits(panel.by_split, all_genes.view.by_split) * can_be
    entry: dict[str, Any] = {
        "n_neighbors": k,
        "knn_preservation": float(preserved.mean()) * can_be,
        "cluster_preservation_coarse": clusters.coarse * can_be,
        "cluster_preservation_fine": clusters.fine * can_be,
        "cluster_ari": float(ari.mean()),
        "cluster_ari_sd": float(ari.std(ddof=1)),
        "cluster_ari_in_splits": ari,
    }
    if inputs.labels is not None:
        k = readers.n_neighbors_of(inputs.labels.codes)
        entry["n_neighbors_of_labels"] = k
        scores = inputs.scores(panel, lambda cells: readers.standardised(own.values[cells]))
        entry |= readers.kept(scores)
        for reading, accuracy in all_genes.accuracy.items():
            entry[readers.suffixed("accuracy_all_genes", reading)] = accuracy
        entry["silhouette"] = inputs.silhouette(panel)
        entry["silhouette_all_genes"] = all_genes.silhouette
        entry |= on_platform.forecast(adata, found, inputs, own.counts, near[:, : max(k, 1)])
    return entry


def _genes(own: Expressed, inputs: Asked) -> dict[str, Any]:
    """Return the redundancy of the panel, and its share of the counts."""
    repeated = redundancy(own.values)
    entry: dict[str, Any] = {
        "mean_correlation": repeated.mean_correlation,
        "n_effective": repeated.n_effective,
    }
    if inputs.totals is not None and own.counts is not None:
        codes, names = (
            (None, ()) if inputs.labels is None else (inputs.labels.codes, inputs.labels.names)
        )
        taken = totals(inputs.totals, sums(own.counts), codes, names)
        entry["counts_share"] = taken.share
        entry["counts_spearman"] = taken.spearman
        if taken.per_label is not None:
            entry["counts_per_label"] = taken.per_label
    return entry


def _covered(found: Found, inputs: Asked) -> dict[str, Any]:
    """Return the share of the gene sets with a gene of the panel, and how many each has."""
    if inputs.sets is None or inputs.called is None:
        return {}
    panel = pd.Index(inputs.called.iloc[found.genes].dropna())
    of_panel = [panel.intersection(genes, sort=False) for genes in inputs.sets.values()]
    table = pd.DataFrame(
        {
            "n_overlap": [len(genes) for genes in of_panel],
            "n_set": [len(genes) for genes in inputs.sets.values()],
            "genes": [";".join(genes) for genes in of_panel],
        },
        index=pd.Index(inputs.sets, name="term", dtype=object),
    )
    return {"gene_set_coverage": float((table["n_overlap"] > 0).mean()), "gene_sets": table}


def _unexplained(adata: AnnData, found: Found, inputs: Asked) -> pd.DataFrame:
    """Return the unexplained axes, named by their genes and labels."""
    names = adata.var_names.to_numpy()
    rows = []
    for one in found.measured.unexplained_axes(inputs.n_axes):
        order = np.argsort(-one.genes)
        row: dict[str, Any] = {
            "share": one.share,
            "genes_up": _leading_genes(names, order, one.genes),
            "genes_down": _leading_genes(names, order[::-1], -one.genes),
        }
        if inputs.labels is not None:
            codes = inputs.labels.codes[found.basis.structure.rows[one.block]]
            row["labels"] = _labels(one.cells, codes, inputs.labels.names)
        rows.append(row)
    return pd.DataFrame(rows)


def _leading_genes(names: Any, order: Index, along: Array) -> str:
    """Return the first genes on one side of an axis."""
    return ", ".join(names[gene] for gene in order[:_GENES] if along[gene] > 0)


def _labels(cells: Array, codes: Index, categories: list[str]) -> str:
    """Return the labels with the largest share of an axis relative to their number of cells."""
    squares = cells**2
    share = np.array([squares[codes == code].sum() for code in range(len(categories))])
    share = share / squares.sum()
    size = np.array([np.mean(codes == code) for code in range(len(categories))])
    more = np.divide(share, size, out=np.zeros_like(share), where=size > 0)
    order = [code for code in np.argsort(-more)[:_LABELS] if more[code] > 1.0]
    return ", ".join(f"{categories[code]} ({100 * share[code]:.0f} %)" for code in order)
