"""How good a panel is, and what it misses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, provenance, read, write
from .._anndata.all_genes import view_of_all_genes
from .._progress import progress
from ..criterion.failures import WithFailures
from ..data.threads import few_threads
from ..measures import cells as measures
from ..measures.cells import View
from ..measures.genes import imputed, redundancy, totals
from ..measures.labels import label_scores
from ..solvers.greedy import select
from ._panel import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from anndata import AnnData

    from .._anndata.columns import Labels
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index, Matrix
    from ..options import Platform, Preserve
    from ._panel import Panel

#: Steps that the progress is shown by.
N_STEPS = 4
#: Genes and labels that a direction is told by.
_GENES, _LABELS = 6, 3


def evaluate_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    counts_layer: str | None = None,
    platform: Platform | None = None,
    n_random: int = 20,
    n_axes: int = 5,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str = "glfs_evaluation",
    inplace: bool = True,
    random_state: int | None = 0,
) -> dict[str, Any] | None:
    """Judge any panel of genes: what it keeps of the cells, and what it misses.

    The share of the structure that is preserved needs no labels and is on one scale for every panel
    of the same cells.  It is 0 without genes and 1 with all of them.  A share of .3 can be good:
    few genes do not keep what twenty thousand do.  The random panels and the best possible share of
    the same size tell how good.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    panel
        Names of genes, one name, a file of them, or the key of a selection, of a boolean column of
        ``.var``, or of what ``sc.tl.rank_genes_groups`` wrote: the first 10 genes of each group.
    labels
        Column of ``.obs`` with labels of the cells, such as types; cells without one are left out.
    counts_layer
        Layer of raw counts, or ``"X"``: what share of the counts the panel takes.
    platform
        The assay that measures the panel, as in :func:`~glfs_bio.pp.select_genes`.  None: that of
        a selection.
    n_random
        Random panels of the same size, of genes that vary.
    n_axes
        Unexplained axes to list.
    symbols
        Column of ``.var`` with names that genes may be given by.
    preserve
        What the panel should preserve: what :func:`~glfs_bio.pp.select_genes` takes, or a
        :class:`~glfs_bio.Preserve`.  None: what a selection was made for, and the structure for
        other panels.
    key_added
        Key of ``.uns``, and prefix of the columns of ``.obs`` and ``.var``.
    inplace
        Write to `adata`; otherwise return what ``.uns`` gets.  There is no `copy`: to keep an
        object, pass ``adata.copy()``.
    random_state
        Seed of the random panels, of clusters, and of failures.  An interrupt leaves `adata` as it
        was.

    Returns
    -------
    None, or with `inplace=False` the dict.  Written:

    ``.uns[key_added]``
        Of the structure: ``preserved``, the share that the panel keeps; ``optimality``, at least
        that share of what the best panel of as many genes keeps; ``best_preserved``, what the panel
        of :func:`~glfs_bio.pp.select_genes` of that size keeps, and ``most_preserved``, what no
        panel of that size exceeds; ``random_preserved``, of random panels, shape (n_random,);
        ``preserved_with_failures``, with such a platform; where the structure has batches
        ``batches``, their names, and ``preserved_in_batches``, the share that is preserved of each.

        Of the cells as the panel shows them: ``knn_preservation``, the share of the 15 nearest
        cells in 50 principal components of all genes that are nearest cells in the panel;
        ``cluster_preservation_coarse`` and ``cluster_preservation_fine``: normalised mutual
        information of 5–10 and of 20–40 clusters in both.  With `labels` ``accuracy``, ``macro_f1``
        and ``rare_f1`` of leave-one-out prediction from the 15 nearest cells (rare: at most 5 % of
        the cells), ``accuracy_all_genes``, the same in 50 principal components of all genes,
        ``per_label`` (a table, with ``recall``, ``f1``, ``confused_with``) and ``confusion``,
        numbers of cells, labels × predictions, in the order of ``per_label``.

        Of the genes: ``imputed``, the median R² of the structure of unmeasured genes; of those of
        the panel ``mean_correlation`` and ``n_effective``, an effective number of genes.  With
        `counts_layer` ``counts_share``, of all counts, ``counts_spearman``: whether the panel's
        total follows the total of the cell, and ``counts_per_label``, a table with ``ratio``: how
        much more of a label's counts than of all the panel takes.

        What it misses: ``unexplained``, a table of directions, the worst first: ``share`` of what
        is left open, the genes on both sides (``genes_up``, ``genes_down``), and with `labels` the
        labels that vary most along it (``labels``).

        ``table``, all numbers, one row per ``measure``; ``n_genes``; ``genes``; ``absent``, names
        that are not in the data; ``params``; ``versions``.
    ``.obs[f"{key_added}_unexplained"]``
        The error that the panel leaves at each cell, in units of that of a mean cell without any
        gene.  A cell of which there is more to be known has more left open.
    ``.var[f"{key_added}_r2"]``
        R² of the structure of each unmeasured gene, as the panel predicts it; NaN for the panel.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene, column or matrix that cannot be used; `adata` is left as it was.

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
        "counts_layer": counts_layer,
        "platform": platform,
        "n_random": n_random,
        "n_axes": n_axes,
        "symbols": symbols,
        "random_state": random_state,
    }
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    inputs = Inputs.of(adata, labels, counts_layer, n_random, n_axes, random_state)
    with progress() as bar:
        task = bar.add_task("the structure of the cells", total=N_STEPS)
        found = find(adata, panel, symbols=symbols, preserve=preserve, platform=platform)
        entry, of_cells, r2 = evaluated(
            adata, found, inputs, lambda what: bar.update(task, advance=1, description=what)
        )
    entry["params"] = write.parameters(params) | found.basis.record()
    entry["made_of"] = provenance.made_of(adata, found.layer, [found.named])
    entry["versions"] = write.versions()
    entry["table"] = _table(entry)
    if not inplace:
        return entry
    adata.obs[f"{key_added}_unexplained"] = of_cells
    adata.var[f"{key_added}_r2"] = r2
    adata.uns[key_added] = entry
    return None


@dataclass(frozen=True)
class Inputs:
    """What is asked of a panel, read and checked: see :func:`evaluate_panel`."""

    labels: Labels | None
    counts: Matrix | None
    n_random: int
    n_axes: int
    random_state: int | None

    @classmethod
    def of(
        cls,
        adata: AnnData,
        labels: str | None,
        counts_layer: str | None,
        n_random: int,
        n_axes: int,
        random_state: int | None,
    ) -> Inputs:
        """Read the columns and the layer.

        Raises
        ------
        KeyError, TypeError, ValueError
            A column, layer or number that cannot be used.
        """
        checks.whole_number("n_random", n_random, at_least=0)
        checks.whole_number("n_axes", n_axes, at_least=1)
        checks.seed(random_state)
        read.unique_names(adata)
        return cls(
            None if labels is None else columns.labels(adata, labels, "labels"),
            None if counts_layer is None else read.counts(adata, counts_layer).source,
            n_random,
            n_axes,
            random_state,
        )


def evaluated(
    adata: AnnData, found: Panel, inputs: Inputs, now: Callable[[str], None]
) -> tuple[dict[str, Any], Array, Array]:
    """What :func:`evaluate_panel` writes to ``.uns``, ``.obs`` and ``.var``.

    `now` is told what comes next, :data:`N_STEPS` times.
    """
    basis = found.basis
    data = read.matrix(adata, basis.structure.parameters.layer)
    now("what the panel keeps")
    entry: dict[str, Any] = {
        "n_genes": len(found.genes),
        "genes": adata.var_names[found.genes].to_numpy(dtype=object),
        **_structure(found, inputs),
        **_batches(adata, found),
    }
    if found.named.absent:
        entry["absent"] = np.array(found.named.absent, dtype=object)
    if basis.failure is not None:
        mean = WithFailures(basis.criterion, basis.failure, random_state=inputs.random_state)
        entry["preserved_with_failures"] = float(mean.preserved(found.genes)[-1])
    now("what it misses")
    of_cells = basis.structure.of_all_cells(found.measured.unexplained_cells(), adata.n_obs)
    entry["unexplained"] = _unexplained(adata, found, inputs)
    r2 = imputed(basis.structure.sets, found.genes).of_structure
    entry["imputed"] = float(np.nanmedian(r2)) if np.isfinite(r2).any() else float("nan")
    now("nearest cells and clusters")
    all_genes = view_of_all_genes(adata, found.layer, inputs.random_state)
    entry |= _cells(found, data, inputs, all_genes)
    now("the panel's genes")
    entry |= _genes(found, data, inputs)
    return entry, of_cells, r2


def _table(entry: dict[str, Any]) -> pd.DataFrame:
    """All numbers, a row each."""
    numbers = {name: value for name, value in entry.items() if np.isscalar(value)}
    return pd.DataFrame({"measure": list(numbers), "value": list(numbers.values())})


def _structure(found: Panel, inputs: Inputs) -> dict[str, Any]:
    """What the panel keeps beside the best, and beside random ones."""
    criterion, panel = found.basis.criterion, found.genes
    every, none = np.arange(criterion.n_genes), np.empty(0, dtype=np.intp)
    with few_threads(criterion.rank, criterion.n_genes):
        preserved = float(criterion.preserved(panel)[-1])
        best = select(criterion, len(panel), include=none, candidates=every)
        most = np.fmin(best.preserved[-1] / best.optimality[-1], 1.0)
        if not criterion.has_anything:
            most = np.nan
        varying = np.flatnonzero(np.any([one.variance > 0 for one in criterion.sets], axis=0))
        draw = np.random.default_rng(inputs.random_state)
        size = min(len(panel), len(varying))
        random = [
            criterion.preserved(draw.choice(varying, size, replace=False))[-1]
            for _ in range(inputs.n_random)
        ]
    return {
        "preserved": preserved,
        "optimality": float(preserved / most),
        "best_preserved": float(best.preserved[-1]),
        "most_preserved": float(most),
        "random_preserved": np.array(random),
    }


def _batches(adata: AnnData, found: Panel) -> dict[str, Any]:
    """What the panel keeps of each batch, where there are several."""
    structure = found.basis.structure
    if len(structure.rows) == 1:
        return {}
    batch_key = structure.parameters.batch_key
    names = adata.obs[batch_key].iloc[[rows[0] for rows in structure.rows]]
    return {
        "batches": names.astype(str).to_numpy(dtype=object),
        "preserved_in_batches": found.basis.criterion.preserved_in_sets(found.genes)[-1],
    }


def _cells(found: Panel, data: Matrix, inputs: Inputs, all_genes: View) -> dict[str, Any]:
    """The cells as the panel shows them, compared with all genes."""
    panel = View.of(measures.coordinates(data, found.genes), inputs.random_state)
    preserved = measures.knn_preservation(panel.nearest, all_genes.nearest)
    clusters = measures.cluster_preservation(panel.clusters, all_genes.clusters)
    entry: dict[str, Any] = {
        "knn_preservation": float(preserved.mean()),
        "cluster_preservation_coarse": clusters.coarse,
        "cluster_preservation_fine": clusters.fine,
    }
    if inputs.labels is not None:
        codes, names = inputs.labels.codes, inputs.labels.names
        scores = label_scores(panel.coordinates, codes, names, near=panel.nearest)
        entry["accuracy"] = scores.accuracy
        by_all = label_scores(all_genes.coordinates, codes, names, near=all_genes.nearest)
        entry["accuracy_all_genes"] = by_all.accuracy
        entry["macro_f1"] = scores.macro_f1
        entry["rare_f1"] = scores.rare_f1
        entry["per_label"] = scores.per_label
        entry["confusion"] = scores.confusion.to_numpy()
    return entry


def _genes(found: Panel, data: Matrix, inputs: Inputs) -> dict[str, Any]:
    """What the panel's genes repeat, and what share of the counts they take."""
    repeated = redundancy(data, found.genes)
    entry: dict[str, Any] = {
        "mean_correlation": repeated.mean_correlation,
        "n_effective": repeated.n_effective,
    }
    if inputs.counts is not None:
        codes, names = (
            (None, ()) if inputs.labels is None else (inputs.labels.codes, inputs.labels.names)
        )
        taken = totals(inputs.counts, found.genes, codes, names)
        entry["counts_share"] = taken.share
        entry["counts_spearman"] = taken.spearman
        if taken.per_label is not None:
            entry["counts_per_label"] = taken.per_label
    return entry


def _unexplained(adata: AnnData, found: Panel, inputs: Inputs) -> pd.DataFrame:
    """Directions that stay open, named by their genes and labels."""
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
