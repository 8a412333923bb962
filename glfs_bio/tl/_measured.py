"""What is measured of a panel when it is evaluated or compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import labels as labels_of
from .._anndata import per_gene, read
from .._anndata.counts import counts
from .._anndata.structure import of_all_cells
from ..cells.pca import principal_components
from ..criterion.failures import WithFailures
from ..criterion.panel import MeasuredPanel
from ..data.threads import few_threads
from ..measures import cells as measures
from ..measures.genes import imputed, redundancy, totals
from ..measures.labels import label_scores
from ..solvers.greedy import select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anndata import AnnData

    from .._typing import Array, Index, Matrix
    from ._structure import Judged

#: Steps that the progress is shown by.
N_STEPS = 4
#: Genes and labels that a direction is told by.
_GENES, _LABELS = 6, 3


@dataclass(frozen=True)
class Asked:
    """What is asked of a panel, read and checked: see :func:`evaluate_panel`."""

    codes: Index | None
    categories: list[str] | None
    counts: Matrix | None
    failure: Array | None
    n_random: int
    n_directions: int
    random_state: int | None

    @classmethod
    def of(
        cls,
        adata: AnnData,
        labels: str | None,
        counts_layer: str | None,
        failure: str | Mapping[str, float] | float | None,
        n_random: int,
        n_directions: int,
        random_state: int | None,
    ) -> Asked:
        """Read the columns and the layer.

        Raises
        ------
        KeyError, TypeError, ValueError
            A column, layer or number that cannot be used.
        """
        checks.whole_number("n_random", n_random, at_least=0)
        checks.whole_number("n_directions", n_directions, at_least=1)
        checks.seed(random_state)
        read.unique_names(adata)
        codes, categories = (
            (None, None) if labels is None else labels_of.codes(adata, labels, "labels")
        )
        return cls(
            codes,
            None if categories is None else [str(name) for name in categories],
            None if counts_layer is None else counts(adata, counts_layer).source,
            None if failure is None else per_gene.probabilities(adata, failure, "failure"),
            n_random,
            n_directions,
            random_state,
        )


def evaluated(
    adata: AnnData, found: Judged, asked: Asked, now: Callable[[str], None]
) -> tuple[dict[str, Any], Array, Array]:
    """What :func:`evaluate_panel` writes to ``.uns``, ``.obs`` and ``.var``.

    `now` is told what comes next, :data:`N_STEPS` times.
    """
    criterion, genes = found.structure.criterion, found.structure.genes
    data = read.matrix(adata, found.structure.layer)
    now("what the panel keeps")
    entry: dict[str, Any] = {
        "n_genes": len(found.panel),
        "genes": adata.var_names[found.named.genes].to_numpy(dtype=object),
        **_structure(found, asked),
        **_batches(adata, found),
    }
    if found.named.absent:
        entry["absent"] = np.array(found.named.absent, dtype=object)
    if asked.failure is not None:
        fails = asked.failure[genes]
        mean = WithFailures(criterion, fails, random_state=asked.random_state)
        entry["kept_with_failures"] = float(mean.kept(found.panel)[-1])
    now("what it misses")
    of_cells = of_all_cells(
        found.structure, MeasuredPanel(criterion, found.panel).unexplained_cells(), adata.n_obs
    )
    entry["missed"] = _missed(adata, found, asked)
    r2 = np.full(adata.n_vars, np.nan)
    r2[genes] = imputed(criterion.sets, found.panel).of_structure
    entry["imputed"] = float(np.nanmedian(r2)) if np.isfinite(r2).any() else float("nan")
    now("nearest cells and clusters")
    entry |= _cells(found, data, asked)
    now("the panel's genes")
    entry |= _genes(found, data, asked)
    return entry, of_cells, r2


def _structure(found: Judged, asked: Asked) -> dict[str, Any]:
    """What the panel keeps beside the best, and beside random ones."""
    criterion, panel = found.structure.criterion, found.panel
    every, none = np.arange(criterion.n_genes), np.empty(0, dtype=np.intp)
    with few_threads(criterion.rank, criterion.n_genes):
        kept = float(criterion.kept(panel)[-1])
        best = select(criterion, len(panel), include=none, candidates=every)
        most = np.fmin(best.kept[-1] / best.of_best_possible[-1], 1.0)
        varying = np.flatnonzero(np.any([one.variance > 0 for one in criterion.sets], axis=0))
        draw = np.random.default_rng(asked.random_state)
        size = min(len(panel), len(varying))
        random = [
            criterion.kept(draw.choice(varying, size, replace=False))[-1]
            for _ in range(asked.n_random)
        ]
    return {
        "kept": kept,
        "of_best_possible": float(kept / most),
        "best_kept": float(best.kept[-1]),
        "most_kept": float(most),
        "random_kept": np.array(random),
    }


def _batches(adata: AnnData, found: Judged) -> dict[str, Any]:
    """What the panel keeps of each batch, where there are several."""
    cells, batch_key = found.structure.cells, found.structure.params["batch_key"]
    if len(cells) == 1:
        return {}
    names = adata.obs[batch_key].iloc[[rows[0] for rows in cells]]
    return {
        "batches": names.astype(str).to_numpy(dtype=object),
        "kept_in_batches": found.structure.criterion.kept_in_sets(found.panel)[-1],
    }


def _cells(found: Judged, data: Matrix, asked: Asked) -> dict[str, Any]:
    """The cells as the panel shows them, beside the principal components of all genes."""
    where = measures.coordinates(data, found.named.genes)
    everything = principal_components(data, measures.SETTINGS.n_comps, asked.random_state)
    near = measures.nearest(where)
    kept = measures.neighbors_kept(near, measures.nearest(everything))
    clusters = measures.clusters_kept(
        measures.clusterings(where, random_state=asked.random_state),
        measures.clusterings(everything, random_state=asked.random_state),
    )
    entry: dict[str, Any] = {
        "neighbors_kept": float(kept.mean()),
        "clusters_kept_coarse": clusters.coarse,
        "clusters_kept_fine": clusters.fine,
    }
    if asked.codes is not None and asked.categories is not None:
        scores = label_scores(where, asked.codes, asked.categories, near=near)
        entry["accuracy"] = scores.accuracy
        entry["macro_f1"] = scores.macro_f1
        entry["rare_f1"] = scores.rare_f1
        entry["per_label"] = scores.per_label
        entry["confusion"] = scores.confusion.to_numpy()
    return entry


def _genes(found: Judged, data: Matrix, asked: Asked) -> dict[str, Any]:
    """What the panel's genes repeat, and what share of the counts they take."""
    repeated = redundancy(data, found.named.genes)
    entry: dict[str, Any] = {
        "mean_correlation": repeated.mean_correlation,
        "n_effective": repeated.n_effective,
    }
    if asked.counts is not None:
        names = () if asked.categories is None else asked.categories
        taken = totals(asked.counts, found.named.genes, asked.codes, names)
        entry["counts_share"] = taken.share
        entry["counts_spearman"] = taken.spearman
        if taken.per_label is not None:
            entry["counts_per_label"] = taken.per_label
    return entry


def _missed(adata: AnnData, found: Judged, asked: Asked) -> pd.DataFrame:
    """Directions that stay open, named by their genes and labels."""
    names = adata.var_names[found.structure.genes].to_numpy()
    rows = []
    for one in MeasuredPanel(found.structure.criterion, found.panel).unexplained_axes(
        asked.n_directions
    ):
        order = np.argsort(-one.genes)
        row: dict[str, Any] = {
            "share": one.share,
            "genes_up": _told(names, order, one.genes),
            "genes_down": _told(names, order[::-1], -one.genes),
        }
        if asked.codes is not None and asked.categories is not None:
            codes = asked.codes[found.structure.cells[one.block]]
            row["labels"] = _labels(one.cells, codes, asked.categories)
        rows.append(row)
    return pd.DataFrame(rows)


def _told(names: Any, order: Index, along: Array) -> str:
    """The first genes on one side."""
    return ", ".join(names[gene] for gene in order[:_GENES] if along[gene] > 0)


def _labels(cells: Array, codes: Index, categories: list[str]) -> str:
    """Labels whose cells hold most of what is open in proportion to their number."""
    squares = cells**2
    share = np.array([squares[codes == code].sum() for code in range(len(categories))])
    share = share / squares.sum()
    size = np.array([np.mean(codes == code) for code in range(len(categories))])
    more = np.divide(share, size, out=np.zeros_like(share), where=size > 0)
    order = [code for code in np.argsort(-more)[:_LABELS] if more[code] > 1.0]
    return ", ".join(f"{categories[code]} ({100 * share[code]:.0f} %)" for code in order)
