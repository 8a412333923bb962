"""The measures of a panel, computed by the groups that are wanted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._anndata import read
from .._anndata.structure import view_of_all_genes
from ..cells.graph import MOST_EXACT
from ..criterion.criterion import OnPlatform
from ..data.matrix import RowMatrix, divided, moments
from ..measures import cells as measures
from ..measures import labels as readers
from ..measures.catalogue import by_random, row
from ..measures.cells import View, dense
from ..measures.genes import imputed, redundancy, sums, totals, totals_by_label
from ..measures.space import RANDOM, Autocorrelation
from ..solvers.greedy import select
from ..solvers.panel import Problem
from ..vendors import forecast as forecasts
from ._panel import GenePanel, are_all, are_varying, with_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anndata import AnnData

    from .._anndata.names import Named
    from .._typing import Array, Index, Matrix
    from ..measures.space import Domains
    from ..vendors.forecast import Forecast, Spillover
    from ._panel import Basis

    Row = dict[str, Any]
    #: What readings say of labels, by their names.
    Scores = Mapping[str, readers.LabelScores]

#: Readings of labels and of domains, by the groups of their measures.
READINGS = {"labels": "knn", "laprls": "laprls"}
READINGS_IN_SPACE = {"space": "knn", "space_laprls": "laprls"}
#: Random panels that a panel is compared with.
N_RANDOM = 20
#: Pairs of markers that exclude each other that are listed.
_PAIRS = 50
#: Unexplained axes that are listed, and the genes and labels that describe each.
_AXES, _GENES, _LABELS = 5, 6, 3
#: Scores of labels, and of domains.
_OF_LABELS, _OF_DOMAINS = ("accuracy", "macro_f1", "rare_f1"), ("accuracy", "macro_f1")


@dataclass(frozen=True)
class Prefix:
    """The first genes of a panel, or all of them."""

    name: str
    panel: GenePanel
    #: Rows of ``.var``.
    genes: Index
    random_state: int | None
    #: Rows of ``.var`` that are in memory, sorted, and their expression and counts in all cells.
    loaded: Index
    values_loaded: Matrix
    counts_loaded: Matrix | None
    #: Results beside the measures.
    tables: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def comparable(self) -> float:
        """1, or NaN for all genes that vary, with which nothing can be compared."""
        return np.nan if are_all(self.panel.basis.criterion, self.genes)[-1] else 1.0

    def values_of(self, genes: Index) -> Matrix:
        """Return the expression of genes that are in memory, in their order."""
        return self.values_loaded[:, np.searchsorted(self.loaded, genes)]

    @cached_property
    def values(self) -> Matrix:
        """Expression of its genes, shape (n_cells, n_genes)."""
        return self.values_of(self.genes)

    @cached_property
    def counts(self) -> Any:
        """Counts of its genes, None without."""
        columns = np.searchsorted(self.loaded, self.genes)
        return None if self.counts_loaded is None else self.counts_loaded[:, columns]

    @cached_property
    def view(self) -> View:
        """The cells as its genes show them."""
        return View(measures.coordinates(self.values), self.random_state)

    @cached_property
    def r2(self) -> Array:
        """R² of the structure of each unmeasured gene."""
        return imputed(self.panel.basis.structure.sets, self.genes)


@dataclass(frozen=True)
class Evaluation:
    """What panels are evaluated by, and the measures that are wanted."""

    adata: AnnData
    basis: Basis
    #: Measures by their groups.
    groups: Mapping[str, set[str]]
    random_state: int | None
    #: Labels, the matrix of counts, the graph of neighbours in space, domains in it, and gene sets
    #: with the name of each gene: None where no measure that is wanted needs them.
    labels: Any
    counts: Any
    graph: Any
    domains: Domains | None
    gene_sets: Any
    spillover: Spillover | None
    #: Preserved shares of selections and random panels, by size.
    _best: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    _random: dict[int, list[float]] = field(default_factory=dict)

    @property
    def readings(self) -> list[str]:
        """How labels are read."""
        return [reading for group, reading in READINGS.items() if group in self.groups]

    def prefixes(self, panels: Mapping[str, Named], sizes: Sequence[int]) -> list[Prefix]:
        """Return the first genes of panels, and after them each whole panel."""
        sized = [
            (name, GenePanel(panel, self.basis), panel.genes[:size])
            for name, panel in panels.items()
            for size in (*(size for size in sizes if size < len(panel.genes)), len(panel.genes))
        ]
        read_together = [genes for _, _, genes in sized]
        for size in {*map(len, read_together)}:
            read_together += self._random_in_space(size)
        genes = np.unique(np.concatenate(read_together))
        counts = None if self.counts is None else RowMatrix(self.counts, genes=genes).loaded()
        values = read.columns(self.adata, genes, self.basis.layer) if self.adata.n_obs else None
        return [Prefix(*of_size, self.random_state, genes, values, counts) for of_size in sized]

    def rows(self, prefix: Prefix) -> list[Row]:
        """Return the measures of the groups that are wanted."""
        panel, rows = {"panel": prefix.name, "n_genes": len(prefix.genes)}, []
        for groups, compute in _OF_GROUPS.items():
            if self.groups.keys() & groups:
                rows += [panel | measure for measure in compute(self, prefix)]
        return rows

    def tables(self, prefix: Prefix) -> dict[str, Any]:
        """Return the tables of a panel."""
        absent, orderable = prefix.panel.named.absent, self.basis.detection.orderable
        names = self.adata.var_names[prefix.genes]
        genes = pd.DataFrame({"gene": [*names, *absent]})
        genes["in_data"] = np.arange(len(genes)) < len(names)
        if orderable is not None:
            genes["orderable"] = [*orderable[prefix.genes], *[False] * len(absent)]
        return {"genes": genes, "unexplained": self._unexplained(prefix), **prefix.tables}

    def columns(self, prefix: Prefix, key: str) -> dict[str, dict[str, Array]]:
        """Return columns of cells and genes for a panel."""
        cells = prefix.panel.measured.unexplained_cells()
        of_cells = self.basis.structure.of_all_cells(cells, self.adata.n_obs)
        return {"obs": {f"{key}_unexplained": of_cells}, "var": {f"{key}_r2": prefix.r2}}

    @cached_property
    def all_genes(self) -> View:
        """The cells as all genes show them."""
        spec, clustered = self.basis.structure.spec, "clusters" in self.groups
        return view_of_all_genes(self.adata, spec, self.random_state, clustered=clustered)

    @cached_property
    def genes_in_space(self) -> Autocorrelation:
        """Moran's I of all genes."""
        data = read.without_ignored(self.adata, self.basis.structure.spec)
        _, variance, _ = moments(data)
        return Autocorrelation.of(self.graph, data, np.flatnonzero(variance > 0))

    @cached_property
    def domains_of_all_genes(self) -> Scores:
        """What readings of all genes say of domains."""
        return self._scores_of_domains(None)

    @cached_property
    def scores_of_all_genes(self) -> Scores:
        """What readings of all genes say of labels."""
        return self._scores(self.all_genes, lambda cells: self.all_genes.coordinates[cells])

    @cached_property
    def totals(self) -> Array:
        """Counts of every cell."""
        return sums(self.counts)

    @cached_property
    def on_platform(self) -> OnPlatform:
        """F over draws of what the platform detects."""
        basis = self.basis
        return OnPlatform(basis.criterion, basis.detection, random_state=self.random_state)

    def _scores(self, view: View, values: Callable[[Index], Array]) -> Scores:
        """Return what the readings of a view, and of values of some cells, say of labels."""
        codes, names, readings = self.labels.codes, self.labels.names, self.readings
        of_cells = values(readers.cells_read(codes)) if "laprls" in readings else None
        score = partial(readers.scores_by, neighbors=view.nearest, random_state=self.random_state)
        return score(readings, view.coordinates, of_cells, codes, names)

    def _scores_of_domains(self, panel: Matrix | None) -> Scores:
        """Return what readings of a panel say of domains, if there are any; None: of all genes."""
        if self.domains is None:
            return {}
        coordinates = values = self.all_genes.coordinates
        if panel is not None:
            coordinates, values = measures.coordinates(panel), readers.standardised(panel)
        readings = [name for group, name in READINGS_IN_SPACE.items() if group in self.groups]
        return self.domains.scores(readings, coordinates, values, self.random_state)

    def _best_of_size(self, n_genes: int) -> tuple[Array, Array]:
        """Return what the first genes each of a selection preserve, and the upper bounds."""
        if n_genes not in self._best:
            criterion = self.basis.criterion
            problem = Problem.of(criterion.n_genes)
            best = select(replace(problem, criterion=criterion, n_genes=n_genes))
            most = np.fmin(best.preserved / best.optimality, 1.0)
            most = most if criterion.has_anything else np.full(n_genes, np.nan)
            self._best[n_genes] = best.preserved, most
        return self._best[n_genes]

    def _random_panels(self, size: int) -> list[Index]:
        """Return random panels, of genes that vary."""
        varying = np.flatnonzero(are_varying(self.basis.criterion))
        draw = np.random.default_rng(self.random_state)
        size = min(size, len(varying))
        return [draw.choice(varying, size, replace=False) for _ in range(N_RANDOM)]

    def _random_in_space(self, size: int) -> list[Index]:
        """Return random panels that are looked at in space, few of many cells."""
        if self.graph is None or not READINGS_IN_SPACE.keys() & self.groups.keys():
            return []
        return self._random_panels(size)[: RANDOM if self.adata.n_obs > MOST_EXACT else None]

    def _preserved(self, prefix: Prefix) -> list[Row]:
        criterion, detection, size = self.basis.criterion, self.basis.detection, len(prefix.genes)
        preserved = float(prefix.panel.preserved[size - 1])
        if np.isnan(prefix.comparable):
            return [row(name, np.nan) for name in ("preserved", "optimality", "best_preserved")]
        best, most = (of[size - 1] for of in self._best_of_size(len(prefix.panel.genes)))
        if size not in self._random:
            panels = self._random_panels(size)
            self._random[size] = [criterion.preserved(genes)[-1] for genes in panels]
        rows = [
            row("preserved", preserved, all_genes=1.0, bound=most, **by_random(self._random[size])),
            row("optimality", preserved / most),
            row("best_preserved", best, all_genes=1.0, bound=most),
        ]
        structure = self.basis.structure
        if len(structure.rows) > 1:
            shares = criterion.preserved_in_sets(prefix.genes)[-1]
            for cells, share in zip(structure.sets, shares, strict=True):
                rows.append(row("preserved_in_batch", share, all_genes=1.0, reading=cells.label))
        if detection.varies:
            low, high = forecasts.ends(self.on_platform.preserved_in_draws(prefix.genes))
            preserved = self.on_platform.preserved(prefix.genes)[-1]
            rows.append(row("preserved_on_platform", preserved, low=low, high=high))
        return rows

    def _neighbors(self, prefix: Prefix) -> list[Row]:
        k = measures.n_neighbors_of(self.adata.n_obs)
        nearest = prefix.view.nearest[:, :k], self.all_genes.nearest[:, :k]
        preserved = measures.knn_preservation(*nearest).mean() * prefix.comparable
        return [row("knn_preservation", preserved, all_genes=1.0, reading=f"{k} nearest cells")]

    def _genes(self, prefix: Prefix) -> list[Row]:
        median = np.nanmedian(prefix.r2) if np.isfinite(prefix.r2).any() else np.nan
        correlation, n_effective = redundancy(prefix.values)
        redundant = [row("mean_correlation", correlation), row("n_effective", n_effective)]
        return [row("imputed", median), *redundant]

    def _labels(self, prefix: Prefix) -> list[Row]:
        codes, values = self.labels.codes, prefix.values
        scores = self._scores(prefix.view, lambda cells: readers.standardised(values[cells]))
        prefix.tables["per_label"] = readers.table(scores, "label")
        prefix.tables["confusion"] = readers.confusions(scores)
        if self.counts is not None:
            counts = totals_by_label(self.totals, sums(prefix.counts), codes, self.labels.names)
            prefix.tables["per_label"] = prefix.tables["per_label"].join(counts, on="label")
        return _rows_of_scores(scores, self.scores_of_all_genes)

    def _silhouette(self, prefix: Prefix) -> list[Row]:
        codes, views = self.labels.codes, (prefix.view, self.all_genes)
        of_panel, of_all = (readers.silhouette(view.coordinates, codes) for view in views)
        return [row("silhouette", of_panel, all_genes=of_all)]

    def _clusters(self, prefix: Prefix) -> list[Row]:
        clusters, in_all, rows = prefix.view.clusters, self.all_genes.clusters, []
        for name, numbers in (("coarse", measures.COARSE), ("fine", measures.FINE)):
            nmi = measures.cluster_preservation(clusters, in_all, numbers) * prefix.comparable
            rows.append(row(f"cluster_preservation_{name}", nmi, all_genes=1.0))
        return rows

    def _space(self, prefix: Prefix) -> list[Row]:
        panels = [] if np.isnan(prefix.comparable) else self._random_in_space(len(prefix.genes))
        random = [prefix.values_of(genes) for genes in panels]
        panel, genes = prefix.values, self.genes_in_space
        scores, *of_random = map(self._scores_of_domains, (panel, *random[:RANDOM]))
        rows = _rows_of_scores(scores, self.domains_of_all_genes, "domain_", of_random)
        if scores:
            tables = [prefix.tables.get("per_label"), readers.table(scores, "domain")]
            prefix.tables["per_label"] = pd.concat(tables, ignore_index=True)
        for name, measure, of_all, scale in (
            ("morans_i", genes.mean, float(genes.of_genes.mean()), 1.0),
            ("morans_i_kept", genes.preserved, 1.0, prefix.comparable),
        ):
            drawn = by_random([measure(values) for values in random])
            rows.append(row(name, measure(panel) * scale, all_genes=of_all, **drawn))
        return rows

    def _counts(self, prefix: Prefix) -> list[Row]:
        counts, detection = prefix.counts, self.basis.detection
        share, spearman = totals(self.totals, sums(counts))
        rows = [row("counts_share", share), row("counts_spearman", spearman)]
        if counts is not None and self.basis.request.platform is not None:
            means = np.asarray(counts.mean(axis=0, dtype=np.float64))
            if detection.efficiency is not None:
                means = means * detection.efficiency[prefix.genes]
            rows.append(row("counts_on_platform", means.sum()))
            if detection.codewords is not None:
                loads = (detection.codewords[prefix.genes].T * means).sum(axis=1)
                per_bit = pd.DataFrame({"bit": np.arange(len(loads)), "counts": loads})
                prefix.tables.setdefault("forecast", {})["counts_per_bit"] = per_bit
        return rows

    def _gene_sets(self, prefix: Prefix) -> list[Row]:
        sets, called = self.gene_sets
        panel = pd.Index(called.iloc[prefix.genes].dropna())
        shared = {term: panel.intersection(genes, sort=False) for term, genes in sets.items()}
        rows = [(term, len(shared[term]), len(sets[term]), ";".join(shared[term])) for term in sets]
        table = pd.DataFrame(rows, columns=["term", "n_overlap", "n_set", "genes"])
        prefix.tables["gene_sets"] = table
        return [row("gene_set_coverage", (table["n_overlap"] > 0).mean())]

    def _forecast(self, prefix: Prefix) -> list[Row]:
        if not (self.basis.detection.differs or self.spillover):
            return []
        forecast = self._forecast_of_labels(prefix)
        accuracy, low, high = map(float, forecast.accuracies)
        rows = [row("accuracy_on_platform", accuracy, low=low, high=high)]
        tables = prefix.tables.setdefault("forecast", {})
        tables["per_label"] = forecast.per_label.reset_index()
        leaks, pairs = forecast.leaks, forecast.pairs
        if self.spillover is not None:
            rows.append(row("accuracy_without_spillover", forecast.accuracy_without_spillover))
        if len(leaks):
            tables["leaks"] = leaks
        if len(pairs):
            names = self.adata.var_names[prefix.genes].to_numpy(dtype=object)
            rows.append(row("mecr_reference", pairs["coexpression_reference"].to_numpy().mean()))
            rows.append(row("mecr_on_platform", pairs["coexpression"].to_numpy().mean()))
            markers = pairs.assign(gene=names[pairs["gene"]], other=names[pairs["other"]])
            markers = markers.sort_values("coexpression", ascending=False, kind="stable")
            tables["exclusive_markers"] = markers.head(_PAIRS).reset_index(drop=True)
        return rows

    def _forecast_of_labels(self, prefix: Prefix) -> Forecast:
        """Return how labels are predicted by rates: means over a cell and those nearest to it."""
        counts: Any = prefix.counts
        codes, names = self.labels.codes, self.labels.names
        cells = np.flatnonzero(codes >= 0)
        if len(cells) > forecasts.CELLS:
            draw = np.random.default_rng(self.random_state)
            cells = np.sort(draw.choice(cells, forecasts.CELLS, replace=False))
        nearest = self.all_genes.nearest[cells, : max(readers.n_neighbors_of(codes), 1)]
        reference = dense(counts[cells])
        around = sum((dense(counts[neighbors]) for neighbors in nearest.T), reference)
        rates, detection = around / (1 + nearest.shape[1]), self.basis.detection.only(prefix.genes)
        return forecasts.of_labels(
            reference, rates, codes[cells], names, detection, self.random_state, self.spillover
        )

    def _unexplained(self, prefix: Prefix) -> pd.DataFrame:
        """Return the unexplained axes, named by their genes and labels."""
        names = self.adata.var_names.to_numpy()
        rows = []
        for axis in prefix.panel.measured.unexplained_axes(_AXES):
            order = np.argsort(-axis.genes)
            up = order[axis.genes[order] > 0][:_GENES]
            down = order[axis.genes[order] < 0][::-1][:_GENES]
            described: Row = {"share": axis.share, "genes_up": ", ".join(names[up])}
            described["genes_down"] = ", ".join(names[down])
            if self.labels is not None and self.adata.n_obs:
                codes = self.labels.codes[self.basis.structure.rows[axis.block]]
                described["labels"] = _leading_labels(axis.cells, codes, self.labels.names)
            rows.append(described)
        return pd.DataFrame(rows)


#: How measures are computed, by their groups.
_OF_GROUPS = {
    ("preserved",): Evaluation._preserved,
    ("neighbors",): Evaluation._neighbors,
    ("labels", "laprls"): Evaluation._labels,
    ("silhouette",): Evaluation._silhouette,
    ("clusters",): Evaluation._clusters,
    ("genes",): Evaluation._genes,
    ("space", "space_laprls"): Evaluation._space,
    ("counts",): Evaluation._counts,
    ("gene_sets",): Evaluation._gene_sets,
    ("forecast",): Evaluation._forecast,
}


def _rows_of_scores(
    scores: Scores, of_all_genes: Scores, prefix: str = "", of_random: Sequence[Scores] = ()
) -> list[Row]:
    """Return the rows of scores by each reading, beside those of all genes and random panels."""
    rows = []
    for reading, name in product(scores, _OF_DOMAINS if prefix else _OF_LABELS):
        value, of_all = (getattr(of[reading], name) for of in (scores, of_all_genes))
        drawn = by_random([getattr(of_panel[reading], name) for of_panel in of_random])
        described = {"all_genes": of_all, "reading": scores[reading].reading, **drawn}
        measure = prefix + name + ("" if reading == "knn" else f"_{reading}")
        rows.append(row(measure, value, **described))
    return rows


def _leading_labels(cells: Array, codes: Index, categories: list[str]) -> str:
    """Return the labels with the largest share of an axis relative to their number of cells."""
    is_of = codes == np.arange(len(categories))[:, None]
    share = np.array([(cells[members] ** 2).sum() for members in is_of]) / (cells**2).sum()
    more = divided(share, is_of.mean(axis=1))
    order = [code for code in np.argsort(-more)[:_LABELS] if more[code] > 1.0]
    return with_shares(categories, share, order)
